/*
 * gvt.c: a worker's part in a round (gvt.h).
 */
#include "core/timewarp/gvt.h"

#include "core/host/clock.h"
#include "core/invariant.h"
#include "core/simulation.h"
#include "core/stats.h"
#include "core/exchange/gvt_slot.h"
#include "core/timewarp/receive.h"
#include "core/timewarp/timewarp.h"
#include "core/timewarp/wait.h"
#include "core/worker.h"

/* A worker needs a round from here on: */
enum {
    LOOKS_BEFORE_ROUND = 64,  /* turns in a row that found nothing to do */
    LIVE_BEFORE_ROUND = 1024, /* logs */
    /* Events handled since the last round. The host waits for their records, which only a round
     * delivers. Near the memory limit a worker may handle and undo the same events again and
     * again: only a round lets them commit. */
    EVENTS_BEFORE_ROUND = 16384,
    RECORD_BYTES_BEFORE_ROUND = 1 << 20, /* of records that were not published */
};

uint64_t gvt_moment(const struct gvt *gvt) { return gvt->round * 4 + (uint64_t)gvt->stage; }

void gvt_close_delays(int64_t *delays_ps, uint32_t n)
{
    for (uint32_t via = 0; via < n; via++)
        for (uint32_t from = 0; from < n; from++)
            for (uint32_t to = 0; to < n; to++) {
                const int64_t through = add_saturating(delays_ps[(size_t)from * n + via],
                                                       delays_ps[(size_t)via * n + to]);
                int64_t *const direct = &delays_ps[(size_t)from * n + to];
                *direct = through < *direct ? through : *direct;
            }
}

static bool all_have(const struct cw_sim *sim, bool second, uint64_t round)
{
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const struct gvt_slot *const slot = &sim->slots[i];
        /* acquire: pairs with the releases in first_cut() and second_cut() */
        if (sync_load_acquire(second ? &slot->second_cut : &slot->first_cut) < round)
            return false;
    }
    return true;
}

bool gvt_can_go_on(const struct gvt *gvt, const struct cw_sim *sim)
{
    if (gvt->stage != GVT_BEGIN)
        return all_have(sim, gvt->stage == GVT_SECOND_CUT, gvt->round);
    for (uint32_t i = 0; i < sim->worker_count; i++)
        if (sync_load_acquire(&sim->slots[i].first_cut) > gvt->round) /* as in all_have() */
            return true;
    return false;
}

static void first_cut(struct timewarp *tw, struct gvt_slot *slot)
{
    struct cw_sim *const sim = tw->worker->sim;
    (void)links_publish(&tw->links);
    slot->published = record_outbox_publish(&tw->outbox); /* I-GVT-3 */
    for (uint32_t to = 0; to < sim->worker_count; to++)
        tw->links.sent_least[to] = KEY_NEVER;
    /* release: our messages are published; pairs with the acquire in all_have() */
    sync_store_release(&slot->first_cut, tw->gvt.round);
    tw->gvt.stage = GVT_FIRST_CUT;
    wait_wake(sim, tw->index, true);
}

/* The key of the least event that this worker has to handle. Frees the cancelled ones before it. */
static struct key least_pending(struct timewarp *tw)
{
    struct pending *const pending = &tw->worker->pending;
    const struct entry *least;
    while ((least = pending_peek(pending)) != NULL && least->event->reserved & EVENT_CANCELLED) {
        struct cw_event *const event = least->event;
        pending_pop(pending, least);
        event_pool_put(&tw->worker->pool, event);
        tw->rollback.cancelled--;
    }
    if (least == NULL && pending->out_of_memory)
        worker_fail_for_memory(tw->worker);
    return least == NULL ? KEY_NEVER : key_of(least);
}

static void second_cut(struct timewarp *tw, struct gvt_slot *slot)
{
    struct cw_sim *const sim = tw->worker->sim;
    CW_INVARIANT("I-GVT-2",
                 all_have(sim, false, tw->gvt.round) &&
                     sync_load_acquire(&slot->second_cut) + 1 == tw->gvt.round,
                 "worker %u writes its report of round %llu, its last was of %llu",
                 (unsigned)tw->index, (unsigned long long)tw->gvt.round,
                 (unsigned long long)sync_load_acquire(&slot->second_cut));
    receive_all(tw);
    (void)links_publish(&tw->links);
    slot->least = least_pending(tw);
    for (uint32_t to = 0; to < sim->worker_count; to++)
        slot->sent[to] = tw->links.sent_least[to];
    slot->failed = tw->current.failed;
    if (tw->current.failed) {
        const struct key key = tw->current.stuck_at;
        slot->least = key_before(key, slot->least) ? key : slot->least;
        slot->failed = !key_before(slot->least, key);
    }
    stats_report(tw, &slot->report);
    /* release: the report; pairs with the acquire in all_have() */
    sync_store_release(&slot->second_cut, tw->gvt.round);
    tw->gvt.stage = GVT_SECOND_CUT;
    wait_wake(sim, tw->index, true);
}

/*
 * Whether all events that are left at GVT have failed for good. Several workers may have events of
 * that key, and those that come before the failed one, by type, payload or LP, must still commit.
 * The failed event is the least of its own worker, since nothing at GVT can arrive any more.
 */
static bool is_failure_certain(const struct cw_sim *sim, struct key now)
{
    bool any = false;
    for (uint32_t b = 0; b < sim->worker_count; b++) {
        const struct gvt_slot *const slot = &sim->slots[b];
        if (!slot->failed && !key_before(now, slot->least))
            return false;
        any |= slot->failed && !key_before(now, slot->least);
        for (uint32_t to = 0; to < sim->worker_count; to++)
            if (!key_before(now, slot->sent[to]))
                return false;
    }
    return any;
}

/* Computes GVT from all reports, the same in each worker. Returns S of I-SAFE-1. */
static int64_t compute(struct gvt *gvt, const struct cw_sim *sim, uint32_t index)
{
    const uint32_t n = sim->worker_count;
    const struct key last = gvt->now;
    int64_t safe_ps = CW_TIME_MAX;
    gvt->now = KEY_NEVER;
    for (uint32_t b = 0; b < n; b++) {
        struct key least = sim->slots[b].least;
        for (uint32_t c = 0; c < n; c++)
            if (key_before(sim->slots[c].sent[b], least))
                least = sim->slots[c].sent[b];
        const int64_t bound_ps =
            add_saturating(least.time_ps, sim->path_delays_ps[(size_t)b * n + index]);
        safe_ps = bound_ps < safe_ps ? bound_ps : safe_ps;
        gvt->now = key_before(least, gvt->now) ? least : gvt->now;
    }
    for (uint32_t b = 0; b < n; b++)
        CW_INVARIANT("I-GVT-2", sync_load_acquire(&sim->slots[b].second_cut) == gvt->round,
                     "worker %u computes round %llu, worker %u has reported to %llu",
                     (unsigned)index, (unsigned long long)gvt->round, (unsigned)b,
                     (unsigned long long)sync_load_acquire(&sim->slots[b].second_cut));
    CW_INVARIANT("I-GVT-1", !key_before(gvt->now, last),
                 "GVT falls from %lld to %lld ps in round %llu", (long long)last.time_ps,
                 (long long)gvt->now.time_ps, (unsigned long long)gvt->round);
    gvt->failed = is_failure_certain(sim, gvt->now);
    gvt->over = gvt->failed || gvt->now.time_ps >= sim->config.end_ps;
    return safe_ps;
}

/* A round costs each worker some cache lines. So a worker begins one only if it cannot go on
 * without, or has much to commit. */
static bool is_wanted(const struct timewarp *tw)
{
    const size_t live = tw->undo_log.live;
    return tw->gvt.called || tw->wait.looks >= LOOKS_BEFORE_ROUND || live >= LIVE_BEFORE_ROUND ||
           (live > 0 && live >= tw->throttle.allowance) ||
           record_outbox_bytes(&tw->outbox) >= RECORD_BYTES_BEFORE_ROUND ||
           (tw->throttle.level >= MEMORY_TIGHT &&
            (live > 0 || record_outbox_bytes(&tw->outbox) > 0)) ||
           tw->processed - tw->gvt.processed_then >= EVENTS_BEFORE_ROUND || tw->current.failed ||
           tw->current.stuck;
}

bool gvt_step(struct timewarp *tw)
{
    struct cw_sim *const sim = tw->worker->sim;
    struct gvt *const gvt = &tw->gvt;
    struct gvt_slot *const slot = &sim->slots[tw->index];
    if (gvt->stage == GVT_BEGIN) {
        if (!is_wanted(tw))
            return false;
        gvt->called = false;
        gvt->round++;
        gvt->begun = clock_ticks();
        first_cut(tw, slot);
    }
    if (gvt->stage == GVT_FIRST_CUT) {
        if (!all_have(sim, false, gvt->round))
            return false;
        /* All have published the records of the events before the last round's GVT (I-GVT-3). */
        if (tw->index == 0 && !recorder_ask(&sim->recorder, sim->slots, gvt->now)) {
            (void)memory_error(&sim->memory, &tw->worker->failure);
            abort_run(sim, tw->worker);
        }
        second_cut(tw, slot);
    }
    if (!all_have(sim, true, gvt->round))
        return false;
    const int64_t safe_ps = compute(gvt, sim, tw->index);
    receive_all(tw); /* all that was published before the reports (I-SAFE-1) */
    if (safe_ps > gvt->safe_ps)
        gvt->safe_ps = safe_ps;
    CW_INVARIANT("I-SAFE-1", gvt->safe_ps >= gvt->now.time_ps,
                 "worker %u has the safe bound %lld ps, GVT is %lld ps", (unsigned)tw->index,
                 (long long)gvt->safe_ps, (long long)gvt->now.time_ps);
    gvt->rounds++;
    gvt->ticks += clock_ticks() - gvt->begun;
    gvt->processed_then = tw->processed;
    gvt->stage = GVT_BEGIN;
    return true;
}
