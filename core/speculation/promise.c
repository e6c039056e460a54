/*
 * promise.c: reads the senders' promises, and makes this worker's own (promise.h).
 */
#include "core/speculation/promise.h"

#include "core/invariant.h"
#include "core/worker/simulation.h"
#include "core/exchange/gvt_slot.h"
#include "core/speculation/receive.h"
#include "core/speculation/timewarp.h"
#include "core/speculation/wait.h"
#include "core/worker/worker.h"

void promise_forget(struct timewarp *tw, int64_t bound_ps)
{
    tw->gvt.safe_ps = tw->promise.promised_ps = tw->collected_ps = bound_ps;
    /* release: as in promise_renew() */
    sync_store_release(&tw->worker->sim->slots[tw->index].promise_ps, (uint64_t)bound_ps);
}

void promise_count_anew(struct timewarp *tw)
{
    quota_begin(&tw->quota, tw->peers.sent_for_good);
    worker_reach_anew(tw->worker);
}

/* The safe bound that the promises of this worker's senders imply; no other worker can hold it up.
 * Notes the worker that limits it: of several, the last one after this worker in the order in which
 * cores take turns. */
static int64_t bound_of_promises(struct timewarp *tw)
{
    const struct gvt_slot *const slots = tw->worker->sim->slots;
    struct peers *const peers = &tw->peers;
    int64_t bound_ps = CW_TIME_MAX;
    tw->promise.blocked_by = tw->index;
    for (uint32_t i = 0; i < peers->in_count; i++) {
        struct peer_in *const in = &peers->in[i];
        mailbox_fetch(&in->mailbox);
        /* acquire: messages published before are in our mailbox; pairs with promise_renew() */
        const int64_t promised_ps = (int64_t)sync_load_acquire(&slots[in->from].promise_ps);
        in->promised_ps = promised_ps;
        const int64_t arrival_ps = add_saturating(promised_ps, in->least_delay_ps);
        if (arrival_ps <= bound_ps) {
            bound_ps = arrival_ps;
            tw->promise.blocked_by = in->from;
            tw->promise.blocked_by_ps = promised_ps;
            tw->promise.blocked_by_delay_ps = in->least_delay_ps;
        }
    }
    return bound_ps;
}

bool refresh_safe_bound(struct timewarp *tw)
{
    const int64_t bound_ps = bound_of_promises(tw);
    const bool all = receive_some(tw);
    CW_INVARIANT("I-STRESS-2", all || tw->stress.on,
                 "worker %u leaves messages, and this is not the stress mode", (unsigned)tw->index);
    if (all)
        peers_settle(&tw->peers, INT64_MIN);
    if (!all || bound_ps <= tw->gvt.safe_ps) /* not all: I-STRESS-2 */
        return false;
    tw->gvt.safe_ps = bound_ps;
    return true;
}

int64_t promise_ps(struct timewarp *tw)
{
    const struct entry *const least = pending_peek(&tw->worker->pending);
    if (least == NULL && tw->worker->pending.out_of_memory)
        worker_fail_for_memory(tw->worker);
    int64_t promise_ps = tw->gvt.safe_ps;
    if (least != NULL && least->time_ps < promise_ps)
        promise_ps = least->time_ps;
    return promise_ps;
}

void promise_renew(struct timewarp *tw)
{
    struct cw_sim *const sim = tw->worker->sim;
    const int64_t now_ps = promise_ps(tw);
    const bool sent = peers_publish(&tw->peers), risen = now_ps != tw->promise.promised_ps;
    CW_INVARIANT("I-PROM-1", now_ps >= tw->promise.promised_ps,
                 "worker %u promises %lld ps after %lld ps", (unsigned)tw->index, (long long)now_ps,
                 (long long)tw->promise.promised_ps);
    CW_INVARIANT("I-SAFE-2", now_ps <= tw->gvt.safe_ps,
                 "worker %u promises %lld ps, its safe bound is %lld ps", (unsigned)tw->index,
                 (long long)now_ps, (long long)tw->gvt.safe_ps);
    tw->promise.promised_ps = now_ps;
    tw->promise.raised += risen;
    if (risen)
        /* release: all that we have sent is published; pairs with bound_of_promises() */
        sync_store_release(&sim->slots[tw->index].promise_ps, (uint64_t)now_ps);
    if (sent || risen)
        wait_wake(sim, tw->index, false);
}

/* From a time to a later one. The safe bound is far below 0 until a promise is known. */
static inline int64_t distance_ps(int64_t from_ps, int64_t to_ps)
{
    const uint64_t distance = (uint64_t)to_ps - (uint64_t)from_ps;
    return distance < INT64_MAX ? (int64_t)distance : INT64_MAX;
}

/* How far the latest speculative event is beyond the safe bound. */
static int64_t ahead_ps(const struct timewarp *tw)
{
    return tw->front.time_ps > tw->gvt.safe_ps ? distance_ps(tw->gvt.safe_ps, tw->front.time_ps)
                                               : 0;
}

bool promise_may_rise(const struct timewarp *tw)
{
    return tw->throttle.sync == CW_ADAPTIVE && tw->promise.blocked_by != tw->index &&
           tw->promise.blocked_by_delay_ps > 0;
}

bool promise_has_risen(const struct timewarp *tw)
{
    if (!promise_may_rise(tw))
        return false;
    const struct gvt_slot *const slots = tw->worker->sim->slots;
    const int64_t promised_ps =
        (int64_t)sync_load_acquire(&slots[tw->promise.blocked_by].promise_ps);
    if (promised_ps == tw->promise.blocked_by_ps)
        return false;
    const int64_t bound_ps = add_saturating(promised_ps, tw->promise.blocked_by_delay_ps);
    return bound_ps > tw->gvt.safe_ps && distance_ps(tw->gvt.safe_ps, bound_ps) >= ahead_ps(tw) / 4;
}
