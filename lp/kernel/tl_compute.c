/*
 * tl_compute.c: the calls that compute: PE_MATH and PE_GEMM, and the time that PE_FETCH_STORE takes
 * to bring operands to them and the result back (hw/HARDWARE.md, "Blocks of a PE"). They concern
 * only their own kernel, so they only advance its own time. Runs in handlers only.
 */
#include "lp/kernel/tl_compute.h"

#include "lp/kernel/tl_coarse.h"
#include "lp/kernel/tl_cost.h"

/* Overheads of an operation that PE_SCHEDULER issues, and the ways of its operands and its result.
 */
static int64_t around_ps(const struct tl *tl, uint64_t operand_bytes, uint64_t result_bytes)
{
    return tl_issue_ps(tl, ISSUE_COMPUTE, 0) + tl_fetch_ps(tl, operand_bytes, result_bytes);
}

/* The same of an operation of PE_MATH. */
static int64_t around_math_ps(const struct tl *tl, uint64_t operand_bytes, uint64_t result_bytes)
{
    if (tl->view->m->hw.math_free_operands)
        return tl_issue_ps(tl, ISSUE_COMPUTE, 0);
    return around_ps(tl, operand_bytes, result_bytes);
}

static int64_t math_ps(const struct tl *tl, uint32_t elements)
{
    return tl_block_ps(tl, HW_NODE_PE_MATH, 0, hw_math_ps(&tl->view->m->hw, elements));
}

void tl_effect_math(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    const uint64_t bytes = tl_each_bytes(tl, call->bytes);
    const uint32_t elements = (uint32_t)(bytes / tl_itemsize((enum lp_dtype)tl_args(tl)->dtype));
    tl_pay(tl, around_math_ps(tl, 2 * bytes, bytes) + math_ps(tl, elements));
    TL_EMIT_OP(tl, .kind = LP_OP_MATH, .math = call->math, .bytes = call->bytes, .a = call->a,
               .b = call->b, .dst = call->dst);
    call->step = STEP_DONE;
}

void tl_effect_cast(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    const uint64_t bytes = tl_each_bytes(tl, call->bytes);
    const uint32_t elements = (uint32_t)(bytes / tl_itemsize((enum lp_dtype)call->dtype));
    const uint64_t result = (uint64_t)elements * tl_itemsize((enum lp_dtype)call->math);
    tl_pay(tl, around_math_ps(tl, bytes, result) + math_ps(tl, elements));
    TL_EMIT_OP(tl, .kind = LP_OP_CAST, .math = call->math, .dtype = call->dtype,
               .bytes = call->bytes, .a = call->a, .dst = call->dst);
    call->step = STEP_DONE;
}

void tl_effect_dot(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    const uint32_t itemsize = tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
    const uint64_t m = call->rows, k = call->peer;
    const uint64_t n = m ? call->bytes / tl_dot_itemsize(tl, call) / m : 0;
    const uint64_t old_itemsize = call->dir & LP_SUMS_FROM_F32 ? sizeof(float) : itemsize;
    const uint64_t operands = (m * k + k * n) * itemsize + (call->math ? m * n * old_itemsize : 0);
    tl->local_ps +=
        around_ps(tl, operands, call->bytes) +
        tl_block_ps(tl, HW_NODE_PE_GEMM, 0,
                    hw_gemm_ps(&tl->view->m->hw, (uint32_t)m, (uint32_t)n, (uint32_t)k));
    TL_EMIT_OP(tl, .kind = LP_OP_GEMM, .math = call->math, .bytes = call->bytes, .seq = call->rows,
               .peer = call->peer, .dir = call->dir, .a = call->a, .b = call->b, .dst = call->dst);
    call->step = STEP_DONE;
}

/* ---- work without operands ------------------------------------------------------------------- */

/* The kernel waits until this time, if it is not past it, for the block. */
static void wait_for_block(struct tl *tl, enum tl_block block, int64_t end_ps)
{
    if (end_ps <= tl->local_ps)
        return;
    tl_note_part(tl,
                 block == TL_BLOCK_GEMM   ? LP_PART_GEMM
                 : block == TL_BLOCK_MATH ? LP_PART_MATH
                                          : LP_PART_CPU,
                 end_ps - tl->local_ps);
    tl->local_ps = end_ps;
}

void tl_effect_work(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    const enum tl_block block = (enum tl_block)call->tag;
    const enum hw_node_kind node = block == TL_BLOCK_GEMM ? HW_NODE_PE_GEMM : HW_NODE_PE_MATH;
    int64_t ps = call->work_ps;
    if (block != TL_BLOCK_PE) {
        tl->local_ps += tl_issue_ps(tl, ISSUE_COMPUTE, 0);
        ps = tl_late_ps(tl, node, tl->view->m->hw.overhead_ps[node] + ps);
    }
    call->until_ps = tl->local_ps + ps;
    if (call->math)
        wait_for_block(tl, block, call->until_ps);
    call->step = STEP_DONE;
}

void tl_effect_wait_work(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    wait_for_block(tl, (enum tl_block)call->tag, call->work_ps);
    call->step = STEP_DONE;
}

/* ---- the types of places in TCM -------------------------------------------------------------- */

/* Takes out the i-th run. */
static void forget_cast(struct lp_casts *casts, uint32_t i)
{
    for (; i + 1 < LP_CASTS; i++) {
        casts->dtype[i] = casts->dtype[i + 1];
        casts->at[i] = casts->at[i + 1];
        casts->bytes[i] = casts->bytes[i + 1];
    }
    casts->dtype[LP_CASTS - 1] = 0;
}

void tl_note_write(struct tl *tl, uint32_t at, uint64_t bytes)
{
    struct lp_casts *const casts = &tl->kernel->casts;
    for (uint32_t i = 0; i < LP_CASTS && casts->dtype[i] != 0;)
        if (at < (uint64_t)casts->at[i] + casts->bytes[i] && casts->at[i] < at + bytes)
            forget_cast(casts, i);
        else
            i++;
}

/* The run of this type that the cast meets or continues; LP_CASTS: there is none. */
static uint32_t run_of_cast(const struct lp_casts *casts, uint32_t at, enum lp_dtype dtype)
{
    for (uint32_t i = 0; i < LP_CASTS && casts->dtype[i] != 0; i++)
        if (casts->dtype[i] == dtype && at >= casts->at[i] &&
            at <= (uint64_t)casts->at[i] + casts->bytes[i])
            return i;
    return LP_CASTS;
}

void tl_note_cast(struct tl *tl, uint32_t at, uint64_t bytes, enum lp_dtype dtype)
{
    struct lp_casts *const casts = &tl->kernel->casts;
    const uint32_t on = run_of_cast(casts, at, dtype);
    uint64_t first = at, end = at + bytes;
    if (on < LP_CASTS) {
        const uint64_t old_end = (uint64_t)casts->at[on] + casts->bytes[on];
        first = casts->at[on];
        end = end > old_end ? end : old_end;
        forget_cast(casts, on);
    }
    tl_note_write(tl, at, bytes);
    if (dtype == (enum lp_dtype)tl_args(tl)->dtype || bytes == 0)
        return;
    if (casts->dtype[LP_CASTS - 1] != 0)
        forget_cast(casts, 0);
    uint32_t i = 0;
    while (casts->dtype[i] != 0)
        i++;
    casts->dtype[i] = (uint8_t)dtype;
    casts->at[i] = (uint32_t)first;
    casts->bytes[i] = (uint32_t)(end - first);
}

enum lp_dtype tl_type_in_tcm(const struct tl *tl, uint32_t at, uint64_t bytes)
{
    const struct lp_casts *const casts = &tl->kernel->casts;
    for (uint32_t i = 0; i < LP_CASTS && casts->dtype[i] != 0; i++)
        if (at >= casts->at[i] && at + bytes <= (uint64_t)casts->at[i] + casts->bytes[i])
            return (enum lp_dtype)casts->dtype[i];
    return 0;
}
