/*
 * ipcq.c: a PE's queue block: pointers, arrivals, credits (lp/QUEUES.md). queue_ends.c knows the
 * other end of a queue. Runs in handlers only, on the PE's cube.
 *
 * I-IPCQ-1: a tile's data and the new peer_head_cache become visible in one event (invariants I6
 * and I7 of lp/QUEUES.md).
 * I-IPCQ-2: no pointer ever decreases (I2).
 * I-IPCQ-3: tiles of a queue become visible in order. A tile may overtake its predecessor on the
 * way, with contention `none`, or if the predecessor comes from HBM or SRAM. It then waits for its
 * turn; as many tiles may as there are slots.
 * I-IPCQ-4: the tiles from my_tail to my_tail + promised are promised by recv_async, or taken
 * before their turn; the first of them is not taken. No other receive takes a tile among them.
 */
#include "lp/queues/ipcq.h"

#include "lp/queues/later_ways.h"
#include "lp/queues/queue_ends.h"
#include "lp/queues/slot_map.h"
#include "lp/replay_watch.h"

void lp_ipcq_install(struct lp_view *view, uint32_t pe, uint32_t plan)
{
    const struct lp_pe *p = lp_pe(view->m, view->cube, pe);
    cw_check(view->ctx, plan < LP_PLANS && view->m->plan[1 + plan] != NULL);
    const uint16_t directions = lp_directions(view->m->plan[1 + plan], lp_pe_index(view, pe));
    const bool grows = p->plan == 1 + plan && (directions & ~p->installed) != 0;
    if (p->plan != 0 && !grows)
        cw_fail(view->ctx, CW_PROGRAM_FAILED,
                "IpcqDuplicateInstall: PE %u.%u.%u got a second IpcqInitMsg, which names no new "
                "queues; a process group installs each PE once",
                view->sip, view->cube_in_sip, pe);
    *CW_MUT(view->ctx, &p->plan) = (uint8_t)(1 + plan);
    *CW_MUT(view->ctx, &p->installed) = directions;
}

bool lp_ipcq_visible(struct lp_view *view, const struct lp_transfer *transfer)
{
    const uint32_t pe = lp_pe_in_cube(view->m, transfer->dst);
    const struct lp_pe *p = lp_pe(view->m, view->cube, pe);
    const enum hw_dir dir = (enum hw_dir)transfer->dir;
    cw_check(view->ctx, transfer->dir < HW_DIRS_MAX);
    if (__builtin_expect((p->installed >> transfer->dir & 1) == 0, 0))
        cw_fail(view->ctx, CW_PROGRAM_FAILED,
                "IpcqNotInstalled: a tile from PE %u reaches PE %u.%u.%u before the PE's "
                "IpcqInitMsg; launch kernels when the installation is over",
                transfer->src, view->sip, view->cube_in_sip, pe);
    struct lp_queue *queue = CW_MUT(view->ctx, &p->queue[dir]);
    if (lp_is_coarse(&view->m->config)) {
        struct lp_coarse_queue *const own =
            &CW_MUT(view->ctx, lp_coarse_of(view->m, p))->queue[dir];
        own->visible_ps = cw_now(view->ctx);
        own->sigma_ps = transfer->sigma_ps;
    }
    if (view->m->emit.arrivals) {
        const struct lp_arrival arrival = {.t_ps = cw_now(view->ctx),
                                           .pe = transfer->dst,
                                           .seq = transfer->seq,
                                           .dir = transfer->dir};
        cw_emit(view->ctx, LP_RECORD_ARRIVAL, &arrival, sizeof arrival);
    }
    const uint32_t ahead = transfer->seq - queue->peer_head_cache;
    if (ahead > 0) {
        LP_INVARIANT("I-IPCQ-3", view->ctx, ahead < view->m->config.n_slots,
                     "PE %u, direction %u: head as seen %u, tile %u", pe, transfer->dir,
                     queue->peer_head_cache, transfer->seq);
        lp_slot_flip(view, p, dir, LP_SLOT_EARLY, transfer->seq);
        queue->early++;
        return false;
    }
    queue->peer_head_cache++;
    for (; queue->early > 0 && lp_slot_bit(view->m, p, dir, LP_SLOT_EARLY, queue->peer_head_cache);
         queue->peer_head_cache++) {
        lp_slot_flip(view, p, dir, LP_SLOT_EARLY, queue->peer_head_cache);
        queue->early--;
    }
    LP_INVARIANT("I-IPCQ-1", view->ctx,
                 queue->peer_head_cache - queue->my_tail <= view->m->config.n_slots,
                 "PE %u, direction %u: head as seen %u, tail %u", pe, transfer->dir,
                 queue->peer_head_cache, queue->my_tail);
    LP_INVARIANT("I-IPCQ-3", view->ctx, queue->peer_head_cache > transfer->seq,
                 "PE %u, direction %u: head as seen %u, tile %u", pe, transfer->dir,
                 queue->peer_head_cache, transfer->seq);
    return true;
}

bool lp_ipcq_credit(struct lp_view *view, const struct lp_signal *signal)
{
    cw_check(view->ctx, signal->pe < view->m->pes && signal->dir < HW_DIRS_MAX);
    const struct lp_pe *p = lp_pe(view->m, view->cube, signal->pe);
    if (__builtin_expect(lp_port_from(view->m, cw_now(view->ctx)) != 0, 0) &&
        (int32_t)(signal->arg - p->queue[signal->dir].peer_tail_cache) <= 0)
        return false; /* a later one has come before it, by another way */
    struct lp_queue *queue = CW_MUT(view->ctx, &p->queue[signal->dir]);
    cw_check(view->ctx,
             signal->arg - queue->peer_tail_cache - 1 < view->m->config.n_slots); /* I-IPCQ-2 */
    queue->peer_tail_cache = signal->arg;
    LP_INVARIANT("I-IPCQ-2", view->ctx,
                 queue->my_head - queue->peer_tail_cache < view->m->config.n_slots,
                 "PE %u, direction %u: head %u, the receiver's tail %u", signal->pe, signal->dir,
                 queue->my_head, queue->peer_tail_cache);
    return true;
}

/* Advances the tail, and sends the credit for it, unless that goes through PE_DMA. Returns how long
 * the credit's emission takes. */
static int64_t advance_tail(struct lp_view *view, uint32_t pe, enum hw_dir dir, uint32_t tiles)
{
    const struct lp_model *m = view->m;
    const struct lp_pe *const p = lp_pe(m, view->cube, pe);
    struct lp_queue *queue = CW_MUT(view->ctx, &p->queue[dir]);
    queue->my_tail += tiles;
    if (m->config.credit_fabric)
        return 0;
    const struct lp_plan *const plan = lp_plan_at(m, p);
    struct lp_wire end = {.peer_dir = HW_DIRS_MAX};
    cw_check(view->ctx, lp_queue_end(plan, lp_pe_index(view, pe), dir, &end));
    if (__builtin_expect(lp_port_from(m, cw_now(view->ctx)) != 0, 0) && end.tree == 0)
        end.credit_ps = lp_credit_later_ps(m, lp_pe_index(view, pe), &end);
    const struct hw_place to = lp_place_of(m, end.peer);
    const struct lp_signal signal = {.pe = to.pe, .arg = queue->my_tail, .dir = end.peer_dir};
    const struct lp_sender sender = lp_next_sender(view, pe);
    const uint32_t to_lp = lp_of_cube(m, to.sip, to.cube);
    const struct lp_sender seen = {lp_entity_at(m, sender.entity, view->sip, to.sip),
                                   sender.number};
    lp_send_signal(view->ctx, to_lp, end.credit_ps, LP_EVENT_CREDIT, seen, &signal);
    lp_watch_crossing(view->ctx, m, view->sip, to.sip, cw_now(view->ctx) + end.credit_ps);
    if (lp_traces_causes(m))
        lp_cause_credit_sent(view->ctx, to_lp, sender, cw_now(view->ctx) + end.credit_ps, end.peer);
    return end.credit_ps;
}

/* The first of the promised tiles is received: it leaves the queue, and so do the tiles after it
 * that are taken. Returns how many. */
static uint32_t end_promises(struct lp_view *view, const struct lp_pe *p, enum hw_dir dir)
{
    struct lp_queue *queue = CW_MUT(view->ctx, &p->queue[dir]);
    uint32_t tiles = 1;
    for (queue->promised--; queue->promised > 0 && tiles < view->m->config.n_slots &&
                            lp_slot_bit(view->m, p, dir, LP_SLOT_TAKEN, queue->my_tail + tiles);
         queue->promised--)
        lp_slot_flip(view, p, dir, LP_SLOT_TAKEN, queue->my_tail + tiles++);
    return tiles;
}

int64_t lp_ipcq_take(struct lp_view *view, uint32_t pe, enum hw_dir dir, uint32_t seq)
{
    const struct lp_pe *const p = lp_pe(view->m, view->cube, pe);
    const struct lp_queue *const queue = &p->queue[dir];
    if (queue->promised == 0 || seq == queue->my_tail)
        return advance_tail(view, pe, dir, queue->promised == 0 ? 1 : end_promises(view, p, dir));
    lp_slot_flip(view, p, dir, LP_SLOT_TAKEN, seq);
    if (seq == queue->my_tail + queue->promised)
        CW_MUT(view->ctx, queue)->promised++;
    LP_INVARIANT("I-IPCQ-4", view->ctx,
                 seq - queue->my_tail < queue->promised &&
                     !lp_slot_bit(view->m, p, dir, LP_SLOT_TAKEN, queue->my_tail),
                 "PE %u, direction %u: tail %u, %u promised, tile %u", pe, dir, queue->my_tail,
                 queue->promised, seq);
    return 0;
}
