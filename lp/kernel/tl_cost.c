/*
 * tl_cost.c: costs of a PE's blocks, and how late each use is (tl_cost.h). A use of a block is
 * numbered by the launch, the context, the call in it, and `part`, where a call uses a block more
 * than once. Pure.
 */
#include "lp/kernel/tl_cost.h"

void tl_cost_init(struct lp_model *m)
{
    const struct hw_config *const hw = &m->hw;
    const int64_t cpu_ps = hw->overhead_ps[HW_NODE_PE_CPU];
    const int64_t scheduler_ps = hw->overhead_ps[HW_NODE_PE_SCHEDULER];
    m->issue_ps[ISSUE_CPU] = cpu_ps;
    m->issue_ps[ISSUE_IPCQ] = cpu_ps + hw->overhead_ps[HW_NODE_PE_IPCQ];
    m->issue_ps[ISSUE_MEMORY] = cpu_ps + scheduler_ps + hw->overhead_ps[HW_NODE_PE_MMU];
    m->issue_ps[ISSUE_COMPUTE] = cpu_ps + scheduler_ps;
    m->first_step = m->tile_memory == HW_MEMORY_TCM ? STEP_ISSUE : STEP_OPERANDS;
}

static int64_t late_ps(const struct tl *tl, enum hw_node_kind block, uint32_t part, int64_t cost_ps)
{
    const struct hw_jitter_place place = {tl->view->sip, tl->view->cube_in_sip, tl->pe,
                                          part * TL_CONTEXTS_MAX + tl->kernel->stream, 0};
    const uint64_t operation = lp_operation(tl->kernel->launch, tl->kernel->calls);
    return lp_late_node_ps(&tl->view->m->hw, block, place, operation, cost_ps, tl->local_ps);
}

int64_t tl_block_ps(const struct tl *tl, enum hw_node_kind block, uint32_t part, int64_t cost_ps)
{
    if (__builtin_expect(!tl->view->m->hw.watched, 1))
        return cost_ps;
    if (tl->view->m->hw.jittered)
        cost_ps += late_ps(tl, block, part, cost_ps);
    if (block == HW_NODE_PE_MATH || block == HW_NODE_PE_GEMM || block == HW_NODE_PE_FETCH_STORE)
        tl_note_part(tl,
                     block == HW_NODE_PE_MATH   ? LP_PART_MATH
                     : block == HW_NODE_PE_GEMM ? LP_PART_GEMM
                                                : LP_PART_FETCH,
                     cost_ps);
    return cost_ps;
}

int64_t tl_late_ps(const struct tl *tl, enum hw_node_kind block, int64_t cost_ps)
{
    return tl->view->m->hw.jittered ? cost_ps + late_ps(tl, block, 0, cost_ps) : cost_ps;
}

static int64_t overhead_ps(const struct tl *tl, enum hw_node_kind block, uint32_t part)
{
    return tl_block_ps(tl, block, part, tl->view->m->hw.overhead_ps[block]);
}

int64_t tl_issue_ps(const struct tl *tl, enum tl_issue issue, uint32_t part)
{
    if (issue == ISSUE_FREE)
        return 0;
    if (__builtin_expect(!tl->view->m->hw.watched, 1))
        return tl->view->m->issue_ps[issue];
    if (lp_traces_causes(tl->view->m))
        lp_cause_call(issue);
    if (!tl->view->m->hw.jittered)
        return tl->view->m->issue_ps[issue];
    const int64_t cpu_ps = overhead_ps(tl, HW_NODE_PE_CPU, part);
    switch (issue) {
    case ISSUE_IPCQ:
        return cpu_ps + overhead_ps(tl, HW_NODE_PE_IPCQ, part);
    case ISSUE_MEMORY:
        return cpu_ps + overhead_ps(tl, HW_NODE_PE_SCHEDULER, part) +
               overhead_ps(tl, HW_NODE_PE_MMU, part);
    case ISSUE_COMPUTE:
        return cpu_ps + overhead_ps(tl, HW_NODE_PE_SCHEDULER, part);
    default:
        return cpu_ps;
    }
}

int64_t tl_fetch_ps(const struct tl *tl, uint64_t operand_bytes, uint64_t result_bytes)
{
    const struct hw_config *hw = &tl->view->m->hw;
    return tl_block_ps(tl, HW_NODE_PE_FETCH_STORE, 0, hw_fetch_ps(hw, operand_bytes)) +
           tl_block_ps(tl, HW_NODE_PE_FETCH_STORE, 1, hw_fetch_ps(hw, result_bytes));
}
