/*
 * tl_call.c: takes a call through its steps (tl_call.h). The effects are in tl_memory.c,
 * tl_queue.c, tl_one_sided.c, tl_compute.c and tl_context.c. Runs in handlers only.
 */
#include "lp/kernel/tl_call.h"

#include <stdarg.h>
#include <stdio.h>

#include "lp/fabric/pe_dma.h"
#include "lp/kernel/tl_compute.h"
#include "lp/kernel/tl_context.h"
#include "lp/kernel/tl_cost.h"
#include "lp/kernel/tl_memory.h"
#include "lp/kernel/tl_one_sided.h"
#include "lp/kernel/tl_queue.h"

const struct tl_call_ops tl_call_ops[CALL_KINDS] = {
    [CALL_LOAD] = {"load", ISSUE_MEMORY, false, tl_effect_load},
    [CALL_STORE] = {"store", ISSUE_MEMORY, false, tl_effect_store},
    [CALL_COPY] = {"copy", ISSUE_MEMORY, false, tl_effect_copy},
    [CALL_STORE_TO] = {"store_to", ISSUE_MEMORY, false, tl_effect_store_to},
    [CALL_LOAD_FROM] = {"load_from", ISSUE_MEMORY, false, tl_effect_load_from},
    [CALL_WAIT_DMA] = {"wait_dma", ISSUE_CPU, false, tl_effect_wait_dma},
    [CALL_SEND] = {"send", ISSUE_IPCQ, false, tl_effect_send},
    [CALL_RECV] = {"recv", ISSUE_IPCQ, false, tl_effect_recv},
    [CALL_RECV_ANY] = {"recv_any", ISSUE_IPCQ, false, tl_effect_recv},
    [CALL_RECV_ALL] = {"recv_all", ISSUE_IPCQ, false, tl_effect_recv_all},
    [CALL_RECV_INTO] = {"recv_into", ISSUE_IPCQ, false, tl_effect_recv},
    [CALL_MOVE_TILE] = {"recv_into", ISSUE_FREE, true, tl_effect_move_tile},
    [CALL_COPY_TILE] = {"recv_into", ISSUE_FREE, false, tl_effect_copy_tile},
    [CALL_RECV_ASYNC] = {"recv_async", ISSUE_IPCQ, false, tl_effect_recv_async},
    [CALL_WAIT] = {"wait", ISSUE_CPU, false, tl_effect_wait},
    [CALL_PUT] = {"put", ISSUE_IPCQ, false, tl_effect_put},
    [CALL_NOTIFY] = {"notify", ISSUE_IPCQ, false, tl_effect_notify},
    [CALL_WAIT_NOTIFY] = {"wait_notify", ISSUE_CPU, false, tl_effect_wait_notify},
    [CALL_MATH] = {"math", ISSUE_FREE, true, tl_effect_math},
    [CALL_CAST] = {"cast", ISSUE_FREE, true, tl_effect_cast},
    [CALL_DOT] = {"dot", ISSUE_FREE, true, tl_effect_dot},
    [CALL_FORK] = {"fork", ISSUE_CPU, false, tl_effect_fork},
    [CALL_JOIN] = {"join", ISSUE_CPU, false, tl_effect_join},
    [CALL_BARRIER] = {"barrier", ISSUE_CPU, false, tl_effect_barrier},
    [CALL_END] = {"end", ISSUE_FREE, false, tl_effect_end},
};

/* Whether a call reads its operands through PE_FETCH_STORE, which reaches TCM only. */
static bool fetches(const struct lp_call *call)
{
    return call->kind >= CALL_MATH && call->kind <= CALL_DOT;
}

struct lp_call *tl_start(struct tl *tl, enum tl_call_kind kind, uint32_t bytes)
{
    struct lp_call *call = &tl->kernel->call;
    tl->kernel->calls++;
    *call = (struct lp_call){.kind = (uint8_t)kind,
                             .step = tl->run->m->first_step,
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
    cw_fail(tl->run->ctx, CW_PROGRAM_FAILED, "%sPE %u.%u.%u, kernel %s%s%s", fault, tl->run->sip,
            tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name, text,
            tl_source_text(tl->entered ? tl_here : tl->kernel->source, at, sizeof at));
}

void tl_emit_op(struct tl *tl, struct lp_op *op)
{
    op->pe = lp_pe_index(tl->run, tl->pe);
    op->dtype = op->dtype ? op->dtype : tl_args(tl)->dtype;
    op->t_start_ps = tl->kernel->call.start_ps;
    op->t_end_ps = tl->local_ps;
    cw_emit(tl->run->ctx, LP_RECORD_OP, op, sizeof *op);
}

void tl_emit_mark(struct tl *tl, enum lp_mark mark, uint32_t phase)
{
    const struct lp_kernel_record record = {tl->local_ps, lp_pe_index(tl->run, tl->pe),
                                            tl->kernel->launch, mark, phase};
    cw_emit(tl->run->ctx, LP_RECORD_KERNEL, &record, sizeof record);
}

/* ---- time and waiting ------------------------------------------------------------------------ */

bool tl_in_step(struct tl *tl)
{
    const int64_t delay_ps = tl->local_ps - cw_now(tl->run->ctx);
    if (delay_ps == 0)
        return true;
    LP_INVARIANT("I-TL-1", tl->run->ctx, tl->kernel->wait == LP_WAIT_NONE,
                 "PE %u, context %u: wait %u", tl->pe, tl->context, tl->kernel->wait);
    const struct lp_signal signal = {.pe = tl->pe, .context = (uint8_t)tl->context};
    const struct lp_sender sender = lp_next_sender(tl->run, tl->pe);
    if (lp_traces_causes(tl->run->m))
        lp_cause_kernel_sent(tl->run->ctx, tl->context, sender, tl->local_ps);
    lp_send_signal(tl->run->ctx, tl->run->lp, delay_ps, LP_EVENT_KERNEL, sender, &signal);
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

/* ---- steps ----------------------------------------------------------------------------------- */

uint32_t tl_full_tile_bytes(const struct tl *tl)
{
    return tl_tile_elems(tl) * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

/* Bytes of the current operand: of the call, or of a factor of a product. */
static uint64_t operand_bytes(const struct tl *tl)
{
    const struct lp_call *call = &tl->kernel->call;
    if (call->kind != CALL_DOT)
        return call->bytes;
    const uint32_t itemsize = tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
    const uint64_t inner = call->peer;
    if (call->operand == 0)
        return call->rows * inner * itemsize;
    return call->rows > 0 ? call->bytes / call->rows * inner : 0;
}

/* The memory that an operand is loaded from before the operation; TCM: it is not loaded. PE_DMA
 * reads the source of a send, a put, a store or a copy itself, if it is in HBM or SRAM. */
static enum hw_memory loaded_from(const struct tl *tl, const struct lp_operand *operand)
{
    if (operand->space == LP_SPACE_TILE)
        return tl->run->m->tile_memory;
    return fetches(&tl->kernel->call) ? (enum hw_memory)tl_memory_of(*operand) : HW_MEMORY_TCM;
}

static const struct lp_operand *current_operand(const struct lp_call *call)
{
    return call->operand == 0 ? &call->a : &call->b;
}

/* Bytes of the operand's next load: of received tiles one tile, else the operand as a whole. */
static uint64_t next_load_bytes(const struct tl *tl)
{
    const struct lp_call *call = &tl->kernel->call;
    const uint64_t bytes = operand_bytes(tl);
    if (current_operand(call)->space != LP_SPACE_TILE)
        return call->tile == 0 ? bytes : 0;
    const uint32_t full = tl_full_tile_bytes(tl);
    const uint64_t done = (uint64_t)call->tile * full;
    return done >= bytes ? 0 : bytes - done < full ? bytes - done : full;
}

/* Operands in HBM or SRAM, and those in slots there, are loaded, the first operand first. True:
 * none is left. */
static bool load_operands(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const uint32_t operands = fetches(call) ? 2 : 1; /* a tile's dimensions are in b's place */
    while (call->operand < operands) {
        if (loaded_from(tl, current_operand(call)) != HW_MEMORY_TCM && next_load_bytes(tl) > 0) {
            tl->local_ps += tl_issue_ps(tl, ISSUE_MEMORY, 1 + 2 * call->tile + call->operand);
            call->step = STEP_OPERAND;
            return false;
        }
        call->operand++;
        call->tile = 0;
    }
    return true;
}

static void load_operand(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const struct lp_model *m = tl->run->m;
    const enum hw_vc vc = lp_vc(m, HW_VC_COMPUTE);
    if (!lp_dma_has_room(tl->run, tl->pe, vc)) {
        tl_wait_for_channel(tl, vc);
        return;
    }
    const struct hw_dma_op op = {.bytes = (uint32_t)next_load_bytes(tl),
                                 .number = tl_next_number(tl),
                                 .kind = LP_DMA_LOAD,
                                 .dir = LP_OWNER(tl->context, 0),
                                 .memory = (uint8_t)loaded_from(tl, current_operand(call)),
                                 .slice = (uint8_t)tl->pe};
    lp_dma_push(tl->run, tl->pe, vc, op);
    call->step = STEP_OPERAND_DMA;
    tl_wait_for(tl, LP_WAIT_DMA);
}

bool tl_advance(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    for (;;) {
        const struct tl_call_ops *ops = &tl_call_ops[call->kind];
        switch (call->step) {
        case STEP_OPERANDS:
            if (load_operands(tl))
                call->step = STEP_ISSUE;
            break;
        case STEP_OPERAND:
            if (!tl_in_step(tl))
                return false;
            load_operand(tl);
            return false;
        case STEP_OPERAND_DMA:
            call->tile++;
            call->step = STEP_OPERANDS;
            break;
        case STEP_ISSUE:
            tl->local_ps += tl_issue_ps(tl, ops->issue, 0);
            call->step = STEP_EFFECT;
            break;
        case STEP_EFFECT:
            if (!ops->alone && !tl_in_step(tl))
                return false;
            ops->effect(tl);
            if (tl->kernel->wait != LP_WAIT_NONE || call->kind == CALL_NONE)
                return false;
            break;
        case STEP_DMA:
            tl_moved(tl);
            call->step = STEP_DONE;
            break;
        default:
            return true;
        }
    }
}
