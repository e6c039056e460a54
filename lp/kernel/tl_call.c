/*
 * tl_call.c: the beginning of every call, and what the effects of calls have in common: to wait, to
 * fail, to emit a record (tl_call.h). Runs in handlers only.
 */
#include "lp/kernel/tl_call.h"

#include <stdarg.h>
#include <stdio.h>

#define TL_CALL_NAME(NAME, text, ...) [CALL_##NAME] = text,
const char *const tl_call_name[CALL_KINDS] = {TL_CALLS(TL_CALL_NAME)};

struct tl_call *tl_start(struct tl *tl, enum tl_call_kind kind, uint32_t bytes)
{
    struct tl_call *call = &tl->kernel->call;
    tl->kernel->calls++;
    *call = (struct tl_call){.kind = (uint8_t)kind,
                             .step = tl->view->m->first_step,
                             .bytes = bytes,
                             .start_ps = tl->local_ps};
    return call;
}

/* ---- failures and records -------------------------------------------------------------------- */

void tl_fail(const struct tl *tl, const char *fault, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char at[TL_SOURCE_TEXT_BYTES];
    cw_fail(tl->view->ctx, CW_PROGRAM_FAILED, "%sPE %u.%u.%u, kernel %s%s%s", fault, tl->view->sip,
            tl->view->cube_in_sip, tl->pe, tl->launch->kernel->name, text,
            tl_source_text(tl->entered ? tl_here : tl->kernel->source, at, sizeof at));
}

/* The operands of a kernel that does not run on queue 0 name its queue, and are in its share of
 * TCM.
 */
static __attribute__((noinline, cold)) void name_queue(const struct tl *tl, struct lp_op *op)
{
    struct lp_operand *const operand[] = {&op->a, &op->dst, lp_op_reads_b(op) ? &op->b : NULL};
    const uint32_t slot = op->dst.at;
    for (uint32_t i = 0; i < sizeof operand / sizeof *operand; i++)
        if (operand[i] != NULL) {
            operand[i]->at = tl_offset_of(tl, *operand[i]);
            operand[i]->queue = tl->launch->queue;
        }
    if (op->kind == LP_OP_SEND)
        op->dst.at = slot;
}

void tl_emit_op(struct tl *tl, struct lp_op *op)
{
    if (__builtin_expect(tl->launch->queue > 0, 0))
        name_queue(tl, op);
    op->pe = lp_pe_index(tl->view, tl->pe);
    op->dtype = op->dtype ? op->dtype : tl->launch->args.dtype;
    op->t_start_ps = tl->kernel->call.start_ps;
    op->t_end_ps = tl->local_ps;
    cw_emit(tl->view->ctx, LP_RECORD_OP, op, sizeof *op);
}

void tl_emit_mark(struct tl *tl, enum lp_mark mark, uint32_t phase)
{
    const struct lp_kernel_record record = {tl->local_ps, lp_pe_index(tl->view, tl->pe),
                                            tl->kernel->launch, mark, phase};
    cw_emit(tl->view->ctx, LP_RECORD_KERNEL, &record, sizeof record);
}

/* ---- time and waiting ------------------------------------------------------------------------ */

bool tl_in_step(struct tl *tl)
{
    const int64_t delay_ps = tl->local_ps - cw_now(tl->view->ctx);
    if (delay_ps == 0)
        return true;
    LP_INVARIANT("I-TL-1", tl->view->ctx, tl->kernel->wait == LP_WAIT_NONE,
                 "PE %u, context %u: wait %u", tl->pe, tl->context, tl->kernel->wait);
    const struct lp_signal signal = {.pe = tl->pe, .context = (uint8_t)tl->context};
    const struct lp_sender sender = lp_next_sender(tl->view, tl->pe);
    if (lp_traces_causes(tl->view->m))
        lp_cause_kernel_sent(tl->view->ctx, tl->context, sender, tl->local_ps);
    lp_send_signal(tl->view->ctx, tl->view->lp, delay_ps, LP_EVENT_KERNEL, sender, &signal);
    return false;
}

void tl_wait_for(struct tl *tl, enum lp_wait wait)
{
    tl->kernel->wait = (uint8_t)wait;
    if (tl->kernel->call.waited == wait)
        return;
    tl->kernel->call.waited = (uint8_t)wait;
    tl->kernel->wait_ps = tl->local_ps;
}

void tl_wait_for_channel(struct tl *tl, enum hw_vc vc)
{
    tl_wait_for(tl, LP_WAIT_CHANNEL);
    tl->kernel->wait_vc = (uint8_t)vc;
}

uint32_t tl_full_tile_bytes(const struct tl *tl)
{
    const uint32_t itemsize = tl_itemsize((enum lp_dtype)tl->launch->args.dtype);
    return lp_move_bytes(&tl->view->m->config) / itemsize * itemsize;
}
