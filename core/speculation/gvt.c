/*
 * gvt.c: a worker's part in a round (gvt.h).
 */
#include "core/speculation/gvt.h"

#include "core/os/clock.h"
#include "core/invariant.h"
#include "core/worker/simulation.h"
#include "core/exchange/gvt_slot.h"
#include "core/speculation/receive.h"
#include "core/speculation/timewarp.h"
#include "core/speculation/wait.h"
#include "core/worker/worker.h"

void gvt_path_delays(int64_t *delays_ps, const int64_t *least_delay_ps, uint32_t n)
{
    for (uint32_t to = 0; to < n; to++)
        for (uint32_t from = 0; from < n; from++)
            delays_ps[(size_t)to * n + from] = least_delay_ps == NULL ? (n > 1 ? 0 : CW_TIME_MAX)
                                               : from == to           ? CW_TIME_MAX
                                                            : least_delay_ps[(size_t)from * n + to];
    for (uint32_t via = 0; via < n && least_delay_ps != NULL; via++)
        for (uint32_t to = 0; to < n; to++) {
            int64_t *const row = &delays_ps[(size_t)to * n];
            const int64_t rest_ps = row[via];
            for (uint32_t from = 0; from < n && rest_ps < CW_TIME_MAX; from++) {
                const int64_t through = add_saturating(delays_ps[(size_t)via * n + from], rest_ps);
                row[from] = through < row[from] ? through : row[from];
            }
        }
}

uint64_t gvt_moment(const struct gvt *gvt) { return gvt->round * 4 + (uint64_t)gvt->stage; }

static void reach(struct timewarp *tw, enum gvt_phase phase)
{
    struct cw_sim *const sim = tw->worker->sim;
    /* release: pairs with the acquire in gvt_can_continue() */
    sync_store_release(&sim->gvt_rounds.reached, tw->gvt.round * GVT_PHASES + phase);
    wait_wake(sim, tw->index, true);
}

/* This worker has made a cut. The last worker to make it publishes that for all: it has
 * acquired the writes of each worker before that worker's cut. */
static void count_cut(struct timewarp *tw, enum gvt_phase phase)
{
    struct cw_sim *const sim = tw->worker->sim;
    if ((sync_add_ordered(&sim->gvt_rounds.cuts, 1) + 1) % sim->worker_count == 0)
        reach(tw, phase);
}

static void first_cut(struct timewarp *tw, struct gvt_slot *slot)
{
    (void)peers_publish(&tw->peers);
    slot->published = record_outbox_publish(&tw->outbox); /* I-GVT-3 */
    peers_begin_crossing(&tw->peers);
    tw->gvt.stage = GVT_FIRST_CUT;
    count_cut(tw, GVT_ALL_MADE_FIRST_CUT);
}

struct key gvt_least_pending(struct timewarp *tw)
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

struct key gvt_least_left(struct timewarp *tw)
{
    const struct key key = gvt_least_pending(tw);
    if (!tw->failures.failed)
        return key;
    const struct entry entry = entry_of_event((struct cw_event *)(uintptr_t)tw->failures.event);
    const struct key failed = key_of(&entry);
    return key_before(failed, key) ? failed : key;
}

bool gvt_is_before_failed(const struct timewarp *tw, const struct cw_event *event)
{
    return cw_event_before(event, tw->failures.event);
}

/* Lowers the in-transit minimum of each worker that this one has sent to between its cuts
 * (I-GVT-4). */
static void report_crossings(struct timewarp *tw)
{
    const struct peers *const peers = &tw->peers;
    for (uint32_t i = 0; i < peers->crossed_count; i++) {
        const struct peer_out *const out = &peers->out[peers->crossed[i]];
        sync_lower(&tw->worker->sim->slots[out->to].transit_ps[tw->gvt.round % 2],
                   out->crossing_ps);
    }
}

/* The worker's failed event, if nothing is pending that comes before it; else NULL. */
static const struct cw_event *failed_for_good(struct timewarp *tw)
{
    const struct entry *const least =
        tw->failures.failed ? pending_peek(&tw->worker->pending) : NULL;
    return tw->failures.failed && (least == NULL || !gvt_is_before_failed(tw, least->event))
               ? tw->failures.event
               : NULL;
}

void gvt_report_figures(const struct timewarp *tw, struct stats_report *report)
{
    const struct worker *const worker = tw->worker;
    *report = (struct stats_report){
        .committed = worker->committed - tw->limit.count,
        .processed = worker->processed,
        .rolled_back = worker->undone,
        .idle_ticks = worker->clock.sum[CW_IDLE],
        .ticks = activity_ticks(&worker->clock),
        .safe_ps = tw->gvt.safe_ps,
        .reached_ps = tw->undo_log.live > 0 ? tw->front.time_ps : INT64_MIN,
        .history = (uint32_t)tw->undo_log.live,
        .window = (uint32_t)tw->throttle.window,
    };
}

static void second_cut(struct timewarp *tw, struct gvt_slot *slot)
{
    CW_INVARIANT("I-GVT-2",
                 gvt_can_continue(&tw->worker->sim->gvt_rounds, tw->gvt.round, tw->gvt.stage) &&
                     slot->round + 1 == tw->gvt.round,
                 "worker %u writes its report of round %llu, its last was of %llu",
                 (unsigned)tw->index, (unsigned long long)tw->gvt.round,
                 (unsigned long long)slot->round);
    receive_all(tw);
    (void)peers_publish(&tw->peers);
    struct key least = gvt_least_left(tw);
    slot->failed = failed_for_good(tw);
    tw->gvt.reported = least;
    slot->pending_ps = least.time_ps;
    if (!key_before(least, tw->peers.sent_least)) {
        slot->failed = NULL;
        least = tw->peers.sent_least;
    }
    slot->least = least;
    slot->round = tw->gvt.round;
    /* All workers have read the times of the last round before their first cuts of this round; they
     * report new times after their first cuts of the next round. */
    sync_store_release(&slot->transit_ps[(tw->gvt.round + 1) % 2], CW_TIME_MAX);
    report_crossings(tw);
    gvt_report_figures(tw, &slot->report);
    tw->gvt.stage = GVT_SECOND_CUT;
    count_cut(tw, GVT_ALL_MADE_SECOND_CUT);
}

/*
 * The event at which the run ends: the least, in the total order, of the events that have failed at
 * GVT. NULL: another event is left there. It may come before the failed ones, by its LP, its
 * type or its payload, and then must still commit. The same in each worker (I-FAIL-1).
 */
static const struct cw_event *least_failed(const struct cw_sim *sim, struct key now)
{
    const struct cw_event *least = NULL;
    for (uint32_t b = 0; b < sim->worker_count; b++) {
        const struct gvt_slot *const slot = &sim->slots[b];
        if (key_before(now, slot->least))
            continue;
        if (slot->failed == NULL)
            return NULL;
        if (least == NULL || cw_event_before(slot->failed, least))
            least = slot->failed;
    }
    return least;
}

/* Computes GVT from all reports, the same in each worker. Returns S of I-SAFE-1. */
static int64_t compute(struct gvt *gvt, const struct cw_sim *sim, uint32_t index)
{
    const uint32_t n = sim->worker_count;
    const int64_t *const delays_ps = &sim->path_delays_ps[(size_t)index * n];
    const struct key last = gvt->now;
    int64_t safe_ps = CW_TIME_MAX, told_ps = CW_TIME_MAX;
    bool any_failed = false;
    gvt->now = KEY_NEVER;
    for (uint32_t b = 0; b < n; b++) {
        const struct gvt_slot *const slot = &sim->slots[b];
        CW_INVARIANT("I-GVT-2", slot->round == gvt->round,
                     "worker %u computes round %llu, worker %u has reported to %llu",
                     (unsigned)index, (unsigned long long)gvt->round, (unsigned)b,
                     (unsigned long long)slot->round);
        /* the last acquire of `reached` orders this load, too */
        const int64_t transit_ps = (int64_t)sync_load_acquire(&slot->transit_ps[gvt->round % 2]);
        told_ps = transit_ps < told_ps ? transit_ps : told_ps;
        const int64_t least_ps = transit_ps < slot->pending_ps ? transit_ps : slot->pending_ps;
        const int64_t bound_ps = add_saturating(least_ps, delays_ps[b]);
        safe_ps = bound_ps < safe_ps ? bound_ps : safe_ps;
        gvt->now = key_before(slot->least, gvt->now) ? slot->least : gvt->now;
        any_failed |= slot->failed != NULL;
    }
    CW_INVARIANT("I-GVT-1", !key_before(gvt->now, last),
                 "GVT falls from %lld to %lld ps in round %llu", (long long)last.time_ps,
                 (long long)gvt->now.time_ps, (unsigned long long)gvt->round);
    CW_INVARIANT("I-GVT-4", told_ps >= gvt->now.time_ps,
                 "a message for %lld ps was sent between the cuts, GVT is %lld ps",
                 (long long)told_ps, (long long)gvt->now.time_ps);
    gvt->failed = any_failed ? least_failed(sim, gvt->now) : NULL;
    gvt->over = gvt->failed != NULL || gvt->now.time_ps >= sim->end_ps;
    return safe_ps;
}

/*
 * One thread that runs all workers waits for none. Of them worker 0 alone calls a round because it
 * waits: it has the first turn, so the round is over after two turns of each worker. The last
 * worker would end a round before the first one does, and call the next round in the same turn.
 * Then a round would always be in progress, and events would never be gathered.
 */
static uint64_t looks_before_round(const struct timewarp *tw)
{
    if (!tw->throttle.disabled)
        return GVT_LOOKS_BEFORE_ROUND;
    return tw->index != 0 ? UINT64_MAX : 1;
}

/*
 * Turns for which a worker begins no round, after one, only to make progress. A round costs every
 * worker a time for each worker. Without a rest, one worker that waits would have all workers take
 * part in one round after the other. Where promises release events, a worker seldom needs a round
 * to make progress; where the delay is 0 they do not, so there is no rest.
 */
static uint64_t rest_after_round(const struct timewarp *tw)
{
    const uint64_t workers = tw->worker->sim->worker_count;
    const bool promises =
        tw->promise.blocked_by == tw->index || tw->promise.blocked_by_delay_ps > 0;
    return workers > GVT_WORKERS_FEW && promises ? workers * GVT_REST_TURNS : 0;
}

/* Whether only a round can let the worker continue, as far as it knows. */
static bool needs_round(const struct timewarp *tw)
{
    const size_t live = tw->undo_log.live;
    if (tw->turns < tw->gvt.rest_until && !tw->throttle.disabled)
        return false;
    return tw->gvt.wanted || tw->wait.idle_turns >= looks_before_round(tw) ||
           live >= GVT_LIVE_BEFORE_ROUND || (live > 0 && live >= tw->throttle.allowance);
}

/* A round costs each worker some cache lines. So a worker begins one only if it cannot continue
 * without, or has much to commit. */
static bool is_wanted(const struct timewarp *tw)
{
    const size_t live = tw->undo_log.live;
    return needs_round(tw) || record_outbox_bytes(&tw->outbox) >= GVT_RECORD_BYTES_BEFORE_ROUND ||
           (tw->throttle.level >= MEMORY_TIGHT &&
            (live > 0 || record_outbox_bytes(&tw->outbox) > 0)) ||
           tw->worker->processed - tw->gvt.processed_then >= GVT_EVENTS_BEFORE_ROUND ||
           tw->failures.failed || tw->failures.stuck ||
           quota_wants_round(&tw->quota, tw->peers.sent_for_good);
}

/* Worker 0: asks for the records of the events before the last round's GVT to be delivered. */
static void deliver_records(struct timewarp *tw)
{
    struct cw_sim *const sim = tw->worker->sim;
    struct interval_log *const log = tw->worker->clock.log;
    const uint64_t begun = log == NULL ? 0 : clock_ticks();
    if (!recorder_ask(&sim->recorder, sim->slots, tw->gvt.now))
        worker_fail_for_memory(tw->worker); /* at once: a handler could yet fail in this turn */
    if (log != NULL)
        interval_log_long(log, CW_INTERVAL_RECORDS, begun, clock_ticks(), 0, 0);
}

bool gvt_step(struct timewarp *tw)
{
    struct cw_sim *const sim = tw->worker->sim;
    struct gvt *const gvt = &tw->gvt;
    struct gvt_slot *const slot = &sim->slots[tw->index];
    if (gvt->stage == GVT_BEGIN) {
        const bool called = gvt_can_continue(&sim->gvt_rounds, gvt->round, gvt->stage);
        if (!called && !is_wanted(tw))
            return false;
        gvt->round++;
        gvt->begun = clock_ticks();
        if (!called)
            reach(tw, GVT_CALLED);
        first_cut(tw, slot);
    }
    if (gvt->stage == GVT_FIRST_CUT) {
        if (!gvt_can_continue(&sim->gvt_rounds, gvt->round, gvt->stage))
            return false;
        /* All have published the records of the events before the last round's GVT (I-GVT-3). */
        if (tw->index == 0)
            deliver_records(tw);
        second_cut(tw, slot);
    }
    if (!gvt_can_continue(&sim->gvt_rounds, gvt->round, gvt->stage))
        return false;
    const int64_t safe_ps = compute(gvt, sim, tw->index);
    receive_all(tw); /* all that was published before the reports (I-SAFE-1) */
    peers_settle(&tw->peers, gvt->now.time_ps);
    if (safe_ps > gvt->safe_ps)
        gvt->safe_ps = safe_ps;
    CW_INVARIANT("I-SAFE-1", gvt->safe_ps >= gvt->now.time_ps,
                 "worker %u has the safe bound %lld ps, GVT is %lld ps", (unsigned)tw->index,
                 (long long)gvt->safe_ps, (long long)gvt->now.time_ps);
    quota_settle(&tw->quota, tw->peers.sent_for_good, gvt->now.time_ps);
    gvt->rounds++;
    const uint64_t end = clock_ticks();
    gvt->ticks += end - gvt->begun;
    if (__builtin_expect(tw->worker->clock.log != NULL, 0)) /* memory: a figure to show */
        interval_log_round(tw->worker->clock.log, gvt->begun, end, tw->throttle.window,
                           tw->index == 0 ? sync_load_acquire(&sim->memory.taken) : 0);
    gvt->wanted = false;
    gvt->processed_then = tw->worker->processed;
    gvt->rest_until = tw->turns + rest_after_round(tw);
    gvt->stage = GVT_BEGIN;
    return true;
}
