/*
 * tl_one_sided.c: the calls that write into another PE's memories, and notify it, without its help
 * (lp/QUEUES.md, "One-sided operations"). Their arrival is in one_sided.c. Runs in handlers only.
 */
#include "lp/fabric/pe_dma.h"
#include "lp/kernel/tl_coarse.h"
#include "lp/kernel/tl_call.h"
#include "lp/queues/one_sided.h"

static void check_peers(struct tl *tl)
{
    if (tl->view->m->needs.peers == 0)
        tl_fail(tl, "", ": %s, but the algorithm declares no peers for one-sided operations",
                tl_call_name[tl->kernel->call.kind]);
}

/* The place of the call's peer among the PE's peers. */
static const struct lp_peer *peer_of_call(struct tl *tl)
{
    const struct lp_model *const m = tl->view->m;
    const struct tl_call *const call = &tl->kernel->call;
    check_peers(tl);
    const struct lp_peer *const peer =
        lp_peer_place(tl->view, tl->pe, lp_peer_key(m, tl->launch->queue, call->peer));
    const struct hw_place place = hw_place_of(&m->hw, call->peer);
    if (peer == NULL)
        tl_fail(tl, "",
                ": %s with PE %u.%u.%u, which is one more than the PEs that this PE may exchange "
                "puts and notifications with; legal: %u PEs, as the algorithm declares (peers)",
                tl_call_name[call->kind], place.sip, place.cube, place.pe, m->needs.peers);
    return peer;
}

/* A put or a notification takes its place in the channel, or waits for one. */
static bool push_one_sided(struct tl *tl, struct hw_dma_op op)
{
    const enum hw_vc vc = lp_vc(tl->view->m, HW_VC_COMM);
    if (!lp_dma_has_room(tl->view, tl->pe, vc)) {
        tl_wait_for_channel(tl, vc);
        return false;
    }
    op.number = tl_next_number(tl);
    op.queue = tl->launch->queue & 7;
    lp_dma_push(tl->view, tl->pe, vc, op, tl_exact_op(tl));
    tl->kernel->call.step = STEP_DONE;
    return true;
}

void tl_effect_put(struct tl *tl)
{
    const struct tl_call *call = &tl->kernel->call;
    (void)peer_of_call(tl);
    if (!push_one_sided(tl, (struct hw_dma_op){.bytes = call->bytes,
                                               .seq = call->peer,
                                               .kind = LP_DMA_PUT,
                                               .dir = call->math,
                                               .memory = (uint8_t)(tl_memory_of(call->a) |
                                                                   tl_memory_of(call->dst) << 4),
                                               .slice = (uint8_t)tl->pe}))
        return;
    const uint32_t seq = (*CW_MUT(tl->view->ctx, &lp_one_sided(tl->view->m, tl->p)->puts_issued))++;
    TL_EMIT_OP(tl, .kind = LP_OP_PUT, .math = call->math, .bytes = call->bytes, .seq = seq,
               .peer = call->peer, .a = call->a, .dst = call->dst);
}

void tl_effect_notify(struct tl *tl)
{
    const struct tl_call *call = &tl->kernel->call;
    (void)peer_of_call(tl);
    if (!push_one_sided(tl, (struct hw_dma_op){.bytes = LP_NOTIFY_BYTES,
                                               .seq = call->peer,
                                               .kind = LP_DMA_NOTIFY,
                                               .dir = call->tag}))
        return;
    const uint32_t seq =
        (*CW_MUT(tl->view->ctx, &lp_one_sided(tl->view->m, tl->p)->notifies_issued))++;
    TL_EMIT_OP(tl, .kind = LP_OP_NOTIFY, .dir = call->tag, .bytes = LP_NOTIFY_BYTES, .seq = seq,
               .peer = call->peer);
}

void tl_effect_wait_notify(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    const struct lp_peer *const peer = peer_of_call(tl);
    if (peer->pending[call->tag] == 0) {
        tl_wait_for(tl, LP_WAIT_NOTIFY);
        return;
    }
    CW_MUT(tl->view->ctx, peer)->pending[call->tag]--;
    TL_EMIT_OP(tl, .kind = LP_OP_WAIT_NOTIFY, .dir = call->tag, .peer = call->peer);
    call->step = STEP_DONE;
}
