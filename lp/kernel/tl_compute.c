/*
 * tl_compute.c: the kernel calls that compute: PE_MATH and PE_GEMM, with what PE_FETCH_STORE takes
 * to bring operands to them and the result back (20-hardware.md, "Blocks of a PE"). They concern
 * nobody else, so they only move the kernel's own time on. Runs in handlers only.
 */
#include "lp/kernel/tl_call.h"

/* ---- starting ----------------------------------------------------------------------------------
 */

void tl_check_math(struct tl *tl, enum tl_call_kind kind, uint32_t math)
{
    if (math < LP_MATH_SUM || math > LP_MATH_PROD)
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s: %s with operation %u; legal: %d (sum) to %d (prod)",
                tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name,
                tl_call_ops[kind].name, math, LP_MATH_SUM, LP_MATH_PROD);
}

static void check_type(struct tl *tl, const char *which, uint32_t dtype)
{
    if (dtype < LP_F16 || dtype > LP_F32)
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s: cast %s type %u; legal: %d (f16) to %d (f32)",
                tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name, which, dtype,
                LP_F16, LP_F32);
}

void tl_math(struct tl *tl, enum lp_math math, uint32_t dst, struct lp_operand a,
             struct lp_operand b, uint32_t elements)
{
    const uint64_t bytes = (uint64_t)elements * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
    tl_check_math(tl, CALL_MATH, math);
    tl_check_range(tl, CALL_MATH, tl_tcm(dst), bytes);
    tl_check_range(tl, CALL_MATH, a, bytes);
    tl_check_range(tl, CALL_MATH, b, bytes);
    struct lp_call *call =
        tl_start(tl, CALL_MATH, elements * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype));
    call->math = (uint8_t)math;
    call->a = a;
    call->b = b;
    call->dst = tl_tcm(dst);
}

void tl_cast(struct tl *tl, uint32_t dst, struct lp_operand a, enum lp_dtype from, enum lp_dtype to,
             uint32_t elements)
{
    check_type(tl, "from", from);
    check_type(tl, "to", to);
    tl_check_range(tl, CALL_CAST, tl_tcm(dst), (uint64_t)elements * tl_itemsize(to));
    tl_check_range(tl, CALL_CAST, a, (uint64_t)elements * tl_itemsize(from));
    struct lp_call *call = tl_start(tl, CALL_CAST, elements * tl_itemsize(from));
    call->dtype = (uint8_t)from;
    call->math = (uint8_t)to;
    call->a = a;
    call->dst = tl_tcm(dst);
}

/* No dimension is 0, or so large that sizes overflow. */
static void tl_compute_check_shape(struct tl *tl, uint32_t m, uint32_t n, uint32_t k)
{
    const uint32_t most = 1u << 20;
    if (m == 0 || n == 0 || k == 0 || m > most || n > most || k > most)
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s: dot of %u x %u elements, inner dimension %u; legal: 1 to "
                "%u each",
                tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name, m, n, k,
                most);
}

void tl_dot(struct tl *tl, uint32_t dst, struct lp_operand a, struct lp_operand b, uint32_t m,
            uint32_t n, uint32_t k, bool add)
{
    const uint32_t itemsize = tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
    tl_compute_check_shape(tl, m, n, k);
    tl_check_range(tl, CALL_DOT, tl_tcm(dst), (uint64_t)m * n * itemsize);
    tl_check_range(tl, CALL_DOT, a, (uint64_t)m * k * itemsize);
    tl_check_range(tl, CALL_DOT, b, (uint64_t)k * n * itemsize);
    struct lp_call *call = tl_start(tl, CALL_DOT, m * n * itemsize);
    call->math = add ? LP_MATH_SUM : 0;
    call->a = a;
    call->b = b;
    call->dst = tl_tcm(dst);
    call->rows = m;
    call->peer = k;
}

/* ---- effects -----------------------------------------------------------------------------------
 */

/* Overheads of an operation that PE_SCHEDULER issues, and its operands' and result's ways. */
static int64_t around_ps(const struct tl *tl, uint64_t operand_bytes, uint64_t result_bytes)
{
    return tl_issue_ps(tl, ISSUE_COMPUTE, 0) + tl_fetch_ps(tl, operand_bytes, result_bytes);
}

static int64_t math_ps(const struct tl *tl, uint32_t elements)
{
    return tl_block_ps(tl, HW_NODE_PE_MATH, 0, hw_math_ps(&tl->run->m->hw, elements));
}

void tl_effect_math(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const uint32_t elements = call->bytes / tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
    tl->local_ps += around_ps(tl, 2ull * call->bytes, call->bytes) + math_ps(tl, elements);
    TL_EMIT_OP(tl, .kind = LP_OP_MATH, .math = call->math, .bytes = call->bytes, .a = call->a,
               .b = call->b, .dst = call->dst);
    call->step = STEP_DONE;
}

void tl_effect_cast(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const uint32_t elements = call->bytes / tl_itemsize((enum lp_dtype)call->dtype);
    const uint64_t result = (uint64_t)elements * tl_itemsize((enum lp_dtype)call->math);
    tl->local_ps += around_ps(tl, call->bytes, result) + math_ps(tl, elements);
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
