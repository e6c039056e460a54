/*
 * tl_compute.c: the calls that compute: PE_MATH and PE_GEMM, and the time that PE_FETCH_STORE takes
 * to bring operands to them and the result back (hw/HARDWARE.md, "Blocks of a PE"). They concern
 * only their own kernel, so they only move its own time on. Runs in handlers only.
 */
#include "lp/kernel/tl_compute.h"

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
    if (tl->run->m->hw.math_free_operands)
        return tl_issue_ps(tl, ISSUE_COMPUTE, 0);
    return around_ps(tl, operand_bytes, result_bytes);
}

static int64_t math_ps(const struct tl *tl, uint32_t elements)
{
    return tl_block_ps(tl, HW_NODE_PE_MATH, 0, hw_math_ps(&tl->run->m->hw, elements));
}

void tl_effect_math(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const uint32_t elements = call->bytes / tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
    tl->local_ps += around_math_ps(tl, 2ull * call->bytes, call->bytes) + math_ps(tl, elements);
    TL_EMIT_OP(tl, .kind = LP_OP_MATH, .math = call->math, .bytes = call->bytes, .a = call->a,
               .b = call->b, .dst = call->dst);
    call->step = STEP_DONE;
}

void tl_effect_cast(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const uint32_t elements = call->bytes / tl_itemsize((enum lp_dtype)call->dtype);
    const uint64_t result = (uint64_t)elements * tl_itemsize((enum lp_dtype)call->math);
    tl->local_ps += around_math_ps(tl, call->bytes, result) + math_ps(tl, elements);
    TL_EMIT_OP(tl, .kind = LP_OP_CAST, .math = call->math, .dtype = call->dtype,
               .bytes = call->bytes, .a = call->a, .dst = call->dst);
    call->step = STEP_DONE;
}

void tl_effect_dot(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const uint32_t itemsize = tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
    const uint64_t m = call->rows, k = call->peer, n = m ? call->bytes / itemsize / m : 0;
    const uint64_t operands = (m * k + k * n + (call->math ? m * n : 0)) * itemsize;
    tl->local_ps += around_ps(tl, operands, call->bytes) +
                    tl_block_ps(tl, HW_NODE_PE_GEMM, 0,
                                hw_gemm_ps(&tl->run->m->hw, (uint32_t)m, (uint32_t)n, (uint32_t)k));
    TL_EMIT_OP(tl, .kind = LP_OP_GEMM, .math = call->math, .bytes = call->bytes, .seq = call->rows,
               .peer = call->peer, .a = call->a, .b = call->b, .dst = call->dst);
    call->step = STEP_DONE;
}
