/*
 * tl_memory.c: the calls that move data between memories of a PE and its cube (load, store, copy),
 * and between TCM and another PE's memory (store_to, load_from; hw/HARDWARE.md, "Loads and
 * stores"). PE_DMA does the work (pe_dma.c). Runs in handlers only.
 */
#include "lp/kernel/tl_memory.h"

#include "lp/fabric/pe_dma.h"
#include "lp/kernel/tl_coarse.h"
#include "lp/kernel/tl_queue.h"

/* A run of received tiles is several values, a record each. */
static void emit_moves(struct tl *tl)
{
    const struct tl_call *call = &tl->kernel->call;
    if (!tl->view->m->emit.ops || call->kind == CALL_STORE_TO || call->kind == CALL_LOAD_FROM)
        return; /* these two calls have records of their own */
    const uint32_t full = tl_full_tile_bytes(tl);
    const bool tiles = call->a.space == LP_SPACE_TILE;
    const uint8_t kind = call->kind == CALL_LOAD   ? LP_OP_LOAD
                         : call->kind == CALL_COPY ? LP_OP_COPY
                                                   : LP_OP_STORE;
    for (uint32_t done = 0; done < call->bytes;) {
        const uint32_t left = call->bytes - done;
        struct lp_op record = {.kind = kind,
                               .bytes = tiles && left > full ? full : left,
                               .a = call->a,
                               .dst = call->dst};
        record.a.at += tiles ? done / full : done;
        record.dst.at += done;
        tl_emit_op(tl, &record);
        done += record.bytes;
    }
}

/* An operation enters PE_DMA; the kernel waits for it, or continues. */
static void effect_move(struct tl *tl, enum lp_dma_kind kind)
{
    struct tl_call *call = &tl->kernel->call;
    const enum hw_vc vc = lp_vc(tl->view->m, HW_VC_COMPUTE);
    const struct lp_context *c = lp_context(tl->view->m, tl->p, tl->context);
    if (*lp_move_state(c, call->move) != LP_MOVE_FREE)
        tl_fail(tl, "",
                ": %s with handle %u, whose last operation has not been waited for (wait_dma)",
                tl_call_name[call->kind], call->move - 1u);
    if (!lp_dma_has_room(tl->view, tl->pe, vc)) {
        tl_wait_for_channel(tl, vc);
        return;
    }
    const struct hw_dma_op op = {.bytes = call->bytes,
                                 .number = tl_next_number(tl),
                                 .seq = call->peer,
                                 .kind = kind & 15,
                                 .queue = tl->launch->queue & 7,
                                 .dir = LP_OWNER(tl->context, call->move),
                                 .memory = call->memory,
                                 .slice = call->slice};
    if (call->move > 0)
        *CW_MUT(tl->view->ctx, lp_move_state(c, call->move)) = LP_MOVE_UNDER_WAY;
    if (kind == LP_DMA_LOAD_FROM) {
        struct lp_move *move = CW_MUT(tl->view->ctx, &c->move[call->move]);
        move->from_at = tl_offset_of(tl, call->a);
        move->to_at = tl_offset_of(tl, call->dst);
    }
    const bool coarse = lp_is_coarse(&tl->view->m->config);
    if (coarse)
        tl_coarse_move(tl, (uint8_t)kind);
    lp_dma_push(tl->view, tl->pe, vc, op, coarse ? tl_coarse_move_op(tl) : tl_exact_op(tl));
    if (kind != LP_DMA_LOAD && kind != LP_DMA_STORE_TO && call->dst.space == LP_SPACE_HBM)
        lp_note_written(tl->view, tl->p, tl->launch->queue, tl->launch->batch);
    if (kind == LP_DMA_STORE_TO) /* the value is bound; STORED comes when it is there */
        TL_EMIT_OP(tl, .kind = LP_OP_STORE_TO, .bytes = call->bytes, .seq = op.dir,
                   .peer = call->peer, .a = call->a, .dst = call->dst);
    if (call->move > 0) {
        emit_moves(tl);
        call->step = STEP_DONE;
        return;
    }
    call->step = STEP_DMA;
    tl_wait_for(tl, LP_WAIT_DMA);
}

void tl_effect_load(struct tl *tl) { effect_move(tl, LP_DMA_LOAD); }

/* A store whose source is in HBM or SRAM is a copy. */
void tl_effect_store(struct tl *tl)
{
    const struct tl_call *call = &tl->kernel->call;
    effect_move(tl, tl_memory_of(call->a) == HW_MEMORY_TCM ? LP_DMA_STORE : LP_DMA_COPY);
}

void tl_effect_copy(struct tl *tl) { effect_move(tl, LP_DMA_COPY); }

void tl_effect_store_to(struct tl *tl)
{
    const struct lp_model *m = tl->view->m;
    const struct tl_call *call = &tl->kernel->call;
    if (call->peer >= m->hw.sip_count * m->cubes * m->pes)
        tl_fail(tl, "", ": store_to PE %u, which does not exist", call->peer);
    effect_move(tl, LP_DMA_STORE_TO);
}

void tl_effect_load_from(struct tl *tl) { effect_move(tl, LP_DMA_LOAD_FROM); }

void tl_effect_copy_tile(struct tl *tl)
{
    effect_move(tl, tl->view->m->tile_memory == HW_MEMORY_TCM ? LP_DMA_STORE : LP_DMA_COPY);
}

void tl_moved(struct tl *tl)
{
    const enum tl_call_kind kind = (enum tl_call_kind)tl->kernel->call.kind;
    if (lp_is_coarse(&tl->view->m->config))
        tl_coarse_moved(tl);
    if (kind == CALL_COPY_TILE)
        tl_emit_recv(tl);
    else
        emit_moves(tl);
}

void tl_effect_wait_dma(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    const uint8_t *const state =
        lp_move_state(lp_context(tl->view->m, tl->p, tl->context), call->move);
    if (*state == LP_MOVE_UNDER_WAY) {
        tl_wait_for(tl, LP_WAIT_DMA);
        return;
    }
    if (*state == LP_MOVE_FREE)
        tl_fail(tl, "", ": wait_dma for handle %u, which names no operation", call->move - 1u);
    if (lp_is_coarse(&tl->view->m->config))
        tl_coarse_moved(tl);
    *CW_MUT(tl->view->ctx, state) = LP_MOVE_FREE;
    call->step = STEP_DONE;
}
