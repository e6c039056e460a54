/*
 * handle_events.c: decides how each event is handled. handle_batch() runs loops for the usual cases
 * (handle_safe_run(), handle_speculative_run(), handle_gathered_run()). An event that needs a
 * precaution ends such a loop; worker_step() handles that event alone.
 *
 * Entered by the thread that runs the worker. It touches the data of that worker alone, but for the
 * words that promise.h and gvt.h share.
 */
#include "core/run/handle_events.h"

#include "core/at_random.h"
#include "core/run/balance.h"
#include "core/worker/commit.h"
#include "core/invariant.h"
#include "core/worker/simulation.h"
#include "core/speculation/event_limit.h"
#include "core/speculation/fossil.h"
#include "core/speculation/gvt.h"
#include "core/speculation/lazy_cancel.h"
#include "core/speculation/promise.h"
#include "core/speculation/rollback.h"
#include "core/speculation/stress.h"
#include "core/speculation/timewarp.h"
#include "core/worker/worker.h"

/* Speculative events between two looks at the promise that stops this worker. */
enum { SPECULATIVE_STEP = 16 };
/* Events between two looks at the time, while one thread has all events. With a receiver of records
 * an event may take ten times as long, and a trial that loses should end soon. */
enum { BATCH_GATHERED = 4096, BATCH_GATHERED_RECORDS = 512, BATCH_GATHERED_OFTEN = 8 };
/* In a sampled turn (balance.h): this many events, or that part of a batch. */
enum { EVENTS_MEASURED_MIN = 32, MEASURED_SHARE = 8 };

enum verdict { NOTHING, SAFE, SPECULATIVE, BLOCKED };

/* ---- may an event be handled, and how? ------------------------------------------------------- */

/* Whether safe events are speculated on, too. Near the limit, where the window is small, they would
 * then need a round of GVT each. */
static bool speculate_on_safe(const struct timewarp *tw)
{
    const enum cw_sync sync = tw->worker->sim->config.sync;
    const enum memory_level level = tw->throttle.level;
    return !tw->throttle.disabled &&
           ((sync == CW_OPTIMISTIC && level < MEMORY_TIGHT) ||
            (sync == CW_STRESS && tw->stress.keep_all && level < MEMORY_SCARCE));
}

/* How far speculation may reach: to the end, and no further than the window beyond GVT. */
static int64_t horizon_ps(const struct timewarp *tw)
{
    const struct cw_sim *const sim = tw->worker->sim;
    const int64_t window_ps = sim->config.tuning.window_ps;
    int64_t horizon_ps = sim->end_ps;
    if (window_ps > 0 && tw->gvt.now.time_ps < horizon_ps - window_ps)
        horizon_ps = tw->gvt.now.time_ps + window_ps;
    return horizon_ps;
}

/* Whether the least event may be handled, and how. */
static enum verdict classify_least(struct timewarp *tw, const struct entry *least)
{
    const struct cw_sim *const sim = tw->worker->sim;
    if (least == NULL || least->time_ps >= sim->end_ps)
        return NOTHING;
    if (tw->failures.failed && !gvt_is_before_failed(tw, least->event))
        return BLOCKED;
    if ((least->time_ps < tw->gvt.safe_ps && !speculate_on_safe(tw)) || tw->gathered ||
        !key_before(tw->gvt.now, key_of(least)))
        return tw->stress.on && stress_keeps_undo(tw, least) ? SPECULATIVE : SAFE;
    if (tw->throttle.patience > 0 || tw->undo_log.live >= tw->throttle.allowance ||
        least->time_ps >= horizon_ps(tw) ||
        (tw->failures.stuck && !key_before(key_of(least), tw->failures.stuck_at)))
        return BLOCKED;
    return SPECULATIVE;
}

/* ---- one event, with all precautions --------------------------------------------------------- */

static void begin_lazy_cancel(struct timewarp *tw, struct cw_event *event)
{
    lazy_cancel_begin(tw, event);
    rollback_work_off(tw);
}

/* Sends of the event's last handling that were not sent again are cancelled. */
static void end_lazy_cancel(struct timewarp *tw)
{
    lazy_cancel_end(tw);
    rollback_work_off(tw);
}

static void enter_handler(struct timewarp *tw, const struct entry *entry, bool speculative)
{
    struct worker *const worker = tw->worker;
    if (tw->stress.on)
        stress_move(tw, entry_lp(entry));
    struct lp_block *const block = worker->sim->lp_states.blocks[entry_lp(entry)];
    if (entry->event->reserved & EVENT_LAZY)
        begin_lazy_cancel(tw, entry->event);
    worker_set_context(worker, block, entry->event, worker->sim->config.tuning.sends_per_event_max);
    const bool slow = worker->sim->config.check_changes || tw->lazy.log != NULL;
    worker->ctx.keep = speculative || slow;
    worker->ctx.undo = slow ? NULL : &tw->undo_log.undo;
    worker->speculative = speculative;
    tw->counted = worker->committed; /* earlier events are counted already: handle_failure() */
    if (__builtin_expect(worker->sim->config.check_changes, 0))
        change_check_begin(&worker->change_check, block->state, block->state_bytes);
    worker->sim->model.handle(&worker->ctx, block->state, entry->event);
    if (__builtin_expect(worker->sim->config.check_changes, 0))
        worker_check_changes(worker, block);
}

/* The call that enter_handler() made is over, and so is the work that it needed memory for. */
static void leave_handler(struct timewarp *tw)
{
    struct worker *const worker = tw->worker;
    worker->ctx.event = NULL;
    worker->speculative = false;
    worker_leave_engine(worker);
    worker->processed++;
}

/* Makes a safe event that was just handled known. */
static inline void commit_safe(struct timewarp *tw, struct event_pool *pool, struct lp_block *block,
                               struct cw_event *event)
{
    struct worker *const worker = tw->worker;
    struct commit_records *const records = &worker->records;
    const struct entry entry = entry_of_event(event);
    CW_INVARIANT("I-SAFE-2",
                 tw->lp_logs[event->lp].live == 0 &&
                     (tw->gathered || event->time_ps < tw->gvt.safe_ps ||
                      !key_before(tw->gvt.now, key_of(&entry))),
                 "LP %u commits an event at %lld ps with %llu logs; the safe bound is %lld ps",
                 (unsigned)event->lp, (long long)event->time_ps,
                 (unsigned long long)tw->lp_logs[event->lp].live, (long long)tw->gvt.safe_ps);
    if (event->reserved != 0) /* or else unwritten: the hash reads it as part of a word */
        event->reserved = 0;
    if (__builtin_expect(records->used > 0, 0)) {
        fossil_emit_records(tw, event, records->bytes, records->used);
        records->used = 0;
    }
    tw->safe++;
    commit_hash(worker, block, event);
    commit_free(worker, pool, event);
}

static void handle_safe(struct timewarp *tw, const struct entry *entry)
{
    enter_handler(tw, entry, false);
    leave_handler(tw);
    if (event_limit_is_on(tw))
        event_limit_note(tw, entry->event);
    commit_safe(tw, worker_pool_of(tw->worker, entry_lp(entry)),
                tw->worker->sim->lp_states.blocks[entry_lp(entry)], entry->event);
    if (tw->stress.on && key_before(tw->stress.final, key_of(entry)))
        tw->stress.final = key_of(entry);
    end_lazy_cancel(tw);
}

/* Whether the LP's newest log is of an event that does not come before the one of the log below.
 * For assertions. */
static inline bool is_in_order(const struct lp_logs *of)
{
    if (of->live < 2)
        return true;
    const struct entry newest = entry_of_event(of->newest->event);
    const struct entry older = entry_of_event(of->newest->older->event);
    return !entry_before(&newest, &older);
}

/* Puts the records of an event that was just handled into the open log. Without memory the event is
 * undone, so it still counts as being handled. */
static inline void log_records_of_event(struct timewarp *tw)
{
    struct commit_records *const records = &tw->worker->records;
    tw->worker->watch.in_engine = true; /* a fault from here on is not the handler's */
    if (__builtin_expect(records->used == 0, 1))
        return;
    if (!undo_log_add_records(&tw->undo_log, records->bytes, records->used))
        worker_out_of_memory(tw->worker);
    records->used = 0;
}

/* The open log belongs to `event`, which was just handled. */
static inline void close_log(struct timewarp *tw, struct lp_block *block, struct cw_event *event,
                             int64_t time_ps, uint32_t lp)
{
    undo_log_close(&tw->undo_log, &tw->lp_logs[lp], event, time_ps, block->hash);
    CW_INVARIANT("I-TW-1", is_in_order(&tw->lp_logs[lp]),
                 "LP %u has handled an event at %lld ps after a later one", (unsigned)lp,
                 (long long)time_ps);
    commit_hash(tw->worker, block, event);
}

static void handle_speculative(struct timewarp *tw, const struct entry *entry)
{
    struct cw_event *const event = entry->event;
    undo_log_open(&tw->undo_log);
    if (tw->stress.on)
        stress_note_state(tw, entry_lp(entry));
    enter_handler(tw, entry, true);
    log_records_of_event(tw);
    leave_handler(tw);
    const uint16_t notes = event->reserved;
    event->reserved = 0;
    close_log(tw, tw->worker->sim->lp_states.blocks[entry_lp(entry)], event, entry->time_ps,
              entry_lp(entry));
    event->reserved = notes | EVENT_PROCESSED;
    tw->throttle.usage.processed++;
    if (key_before(tw->front, key_of(entry)))
        tw->front = key_of(entry);
    end_lazy_cancel(tw);
    const struct cw_event *const undone = tw->stress.on ? stress_draw_undo(tw, entry) : NULL;
    if (undone != NULL)
        rollback_event(tw, undone);
}

/* Handles the least event, if it may be handled. `timed`: in a sampled turn (activity_clock.h). */
static inline enum verdict worker_step(struct timewarp *tw, bool timed)
{
    struct pending *const pending = &tw->worker->pending;
    if (timed)
        (void)activity_go(&tw->worker->clock, CW_QUEUE);
    const struct entry *const least = pending_peek(pending);
    if (least == NULL && pending->out_of_memory)
        worker_fail_for_memory(tw->worker);
    if (least != NULL && least->event->reserved & EVENT_CANCELLED) {
        struct cw_event *const event = least->event;
        CW_INVARIANT("I-TW-2",
                     tw->rollback.cancelled > 0 &&
                         !(event->reserved & (EVENT_PROCESSED | EVENT_LAZY)),
                     "a cancelled event with the notes %u is freed, %llu are pending",
                     (unsigned)event->reserved, (unsigned long long)tw->rollback.cancelled);
        pending_pop(pending, least);
        event_pool_put(&tw->worker->pool, event);
        tw->rollback.cancelled--;
        return SAFE;
    }
    const enum verdict verdict = classify_least(tw, least);
    if (verdict != SAFE && verdict != SPECULATIVE)
        return verdict;
    if (verdict == SPECULATIVE &&
        !undo_log_room(&tw->undo_log, sizeof(struct log) + 2 * sizeof(uint64_t))) { /* stress.c */
        tw->throttle.refused = true;
        return BLOCKED;
    }
    const struct entry entry = *least;
    pending_pop(pending, least);
    if (!tw->stress.on) /* another worker's LP, read ahead in vain, may be moving */
        (void)worker_fetch_ahead(tw->worker, tw->worker->sim->lp_states.blocks);
    if (timed)
        (void)activity_go(&tw->worker->clock, CW_HANDLING);
    tw->failures.stuck = false;
    if (tw->lp_logs[entry_lp(&entry)].live > 0) /* is it a straggler? */
        rollback_straggler(tw, &entry);
    if (verdict == SAFE) {
        fossil_commit_lp(tw, entry_lp(&entry));
        handle_safe(tw, &entry);
    } else {
        handle_speculative(tw, &entry);
    }
    return verdict;
}

/* ---- the usual cases, without a detour ------------------------------------------------------- */

static inline void call_handler(struct worker *worker, struct lp_block *block,
                                const struct cw_event *event)
{
    worker_set_context(worker, block, event, worker->sim->config.tuning.sends_per_event_max);
    worker->sim->model.handle(&worker->ctx, block->state, event);
}

/* Safe events of LPs that have no history. Handles at most `most`, and returns how many. */
static unsigned handle_safe_run(struct timewarp *tw, unsigned most)
{
    struct worker *const worker = tw->worker;
    const struct cw_sim *const sim = worker->sim;
    const int64_t end_ps = sim->end_ps;
    const int64_t bound_ps = tw->gvt.safe_ps < end_ps ? tw->gvt.safe_ps : end_ps;
    const bool any_logs = tw->undo_log.live > 0;
    const struct entry *least;
    unsigned handled = 0;
    worker->ctx.keep = false;
    while (handled < most && (least = pending_peek(&worker->pending)) != NULL &&
           least->time_ps < bound_ps) {
        struct cw_event *const event = least->event;
        const uint32_t lp = entry_lp(least);
        struct lp_block *const block = sim->lp_states.blocks[lp];
        if (__builtin_expect(event->reserved != 0 || (any_logs && tw->lp_logs[lp].live > 0), 0))
            break;
        pending_pop(&worker->pending, least);
        (void)worker_fetch_ahead(worker, sim->lp_states.blocks);
        call_handler(worker, block, event);
        worker->ctx.event = NULL; /* a fault from here on is not the handler's */
        worker->processed++;
        commit_safe(tw, &worker->pool, block, event);
        handled++;
    }
    return handled;
}

/* Counts the events that handle_gathered_run() has handled. */
static void count_gathered(struct timewarp *tw)
{
    const uint64_t events = tw->worker->committed - tw->counted;
    tw->worker->processed += events;
    tw->safe += events;
    tw->gathered_events += events;
    tw->counted = tw->worker->committed;
}

/* handle_gathered_run(), with the pool of all records; NULL: each is of the pool of its LP's owner.
 * Inlined: once with a pool that is at a fixed place in the worker. */
static inline __attribute__((always_inline)) unsigned
handle_gathered_of(struct timewarp *tw, struct event_pool *pool, unsigned most)
{
    struct worker *const worker = tw->worker;
    const struct cw_sim *const sim = worker->sim;
    const int64_t end_ps = sim->end_ps;
    const struct entry *least;
    unsigned handled = 0;
    worker->ctx.keep = false;
    tw->counted = worker->committed;
    while (handled < most && (least = pending_peek(&worker->pending)) != NULL &&
           least->time_ps < end_ps) {
        struct cw_event *const event = least->event;
        struct lp_block *const block = sim->lp_states.blocks[entry_lp(least)];
        pending_pop(&worker->pending, least);
        (void)worker_fetch_ahead(worker, sim->lp_states.blocks);
        call_handler(worker, block, event);
        worker->ctx.event = NULL; /* as in handle_safe_run() */
        CW_INVARIANT("I-GATHER-2", tw->lp_logs[event->lp].live == 0 && event->reserved == 0,
                     "LP %u handles an event at %lld ps with %llu logs, while events are gathered",
                     (unsigned)event->lp, (long long)event->time_ps,
                     (unsigned long long)tw->lp_logs[event->lp].live);
        if (__builtin_expect(worker->records.used > 0, 0)) {
            fossil_emit_records(tw, event, worker->records.bytes, worker->records.used);
            worker->records.used = 0;
        }
        commit_hash(worker, block, event);
        commit_free(worker, pool != NULL ? pool : worker_pool_of(worker, event->lp), event);
        handled++;
    }
    count_gathered(tw);
    return handled;
}

/* While worker 0 has the events of all workers, the least event is final. Handles at most `most`,
 * and returns how many. As little beside the handler as in a sequential run. */
static unsigned handle_gathered_run(struct timewarp *tw, unsigned most)
{
    struct worker *const worker = tw->worker;
    return worker->many_pools ? handle_gathered_of(tw, NULL, most)
                              : handle_gathered_of(tw, &worker->pool, most);
}

/* Handles events that come after all that were handled ahead of the safe bound. So neither they nor
 * their sends can be stragglers. Handles at most `most`, and returns how many. */
static unsigned handle_speculative_run(struct timewarp *tw, unsigned most)
{
    struct worker *const worker = tw->worker;
    const struct cw_sim *const sim = worker->sim;
    const int64_t bound_ps = horizon_ps(tw);
    const struct entry *least = pending_peek(&worker->pending);
    struct cw_event *latest = NULL;
    unsigned handled = 0;
    if (least == NULL || !key_before(tw->front, key_of(least)) ||
        tw->undo_log.live >= tw->throttle.allowance)
        return 0;
    if (most > tw->throttle.allowance - tw->undo_log.live)
        most = (unsigned)(tw->throttle.allowance - tw->undo_log.live);
    worker->ctx.keep = true;
    worker->ctx.undo = &tw->undo_log.undo;
    worker->speculative = true;
    while (handled < most && (least = pending_peek(&worker->pending)) != NULL &&
           least->time_ps < bound_ps && least->event->reserved == 0 &&
           undo_log_room(&tw->undo_log, sizeof(struct log))) {
        struct cw_event *const event = least->event;
        const int64_t time_ps = least->time_ps;
        const uint32_t lp = entry_lp(least);
        struct lp_block *const block = sim->lp_states.blocks[lp];
        pending_pop(&worker->pending, least);
        __builtin_prefetch(
            &tw->lp_logs[entry_lp(worker_fetch_ahead(worker, sim->lp_states.blocks))]);
        undo_log_open(&tw->undo_log);
        worker_leave_engine(worker);
        call_handler(worker, block, event);
        log_records_of_event(tw);
        close_log(tw, block, event, time_ps, lp);
        event->reserved = EVENT_PROCESSED;
        worker->processed++;
        latest = event;
        handled++;
    }
    if (latest != NULL) { /* after a failure handle_failure() moves the front */
        const struct entry entry = entry_of_event(latest);
        tw->front = key_of(&entry);
    }
    worker->ctx.event = NULL;
    worker->speculative = false;
    worker_leave_engine(worker);
    tw->throttle.usage.processed += handled;
    return handled;
}

/* In a sampled turn: some events, each of which is work of its part. Returns how many. */
static unsigned handle_measured(struct timewarp *tw)
{
    unsigned handled = 0, most = tw->throttle.batch / MEASURED_SHARE;
    uint64_t since = clock_ticks();
    const struct entry *least;
    if (tw->worker->sim->balance == NULL)
        return 0;
    if (most < EVENTS_MEASURED_MIN)
        most = EVENTS_MEASURED_MIN;
    while (handled < tw->throttle.batch && handled < most &&
           (least = pending_peek(&tw->worker->pending)) != NULL) {
        const uint32_t lp = entry_lp(least);
        const enum verdict verdict = worker_step(tw, false);
        if (verdict != SAFE && verdict != SPECULATIVE)
            break;
        const uint64_t now = clock_ticks();
        balance_note(tw, lp, now - since);
        since = now;
        handled++;
    }
    return handled;
}

/* A few events one by one, if this turn is sampled. Returns how many. */
static unsigned handle_timed(struct timewarp *tw)
{
    unsigned handled = 0;
    if (__builtin_expect(!tw->worker->clock.on, 1))
        return 0;
    while (handled < EVENTS_PER_SAMPLE) {
        const enum verdict verdict = worker_step(tw, true);
        if (verdict != SAFE && verdict != SPECULATIVE)
            break;
        handled++;
    }
    (void)activity_go(&tw->worker->clock, ACTIVITY_BATCH);
    return handled + handle_measured(tw);
}

/* The most safe events until the next look at the others. 0: this worker is held back. */
static unsigned batch_most(struct timewarp *tw)
{
    quota_note(&tw->quota, tw->peers.sent_for_good, tw->worker->reached_ps);
    const uint64_t quota = quota_left(&tw->quota, tw->peers.sent_for_good);
    return quota < tw->throttle.batch ? (unsigned)quota : tw->throttle.batch;
}

unsigned handle_safe_batch(struct timewarp *tw)
{
    const unsigned most = batch_most(tw);
    (void)activity_go(&tw->worker->clock, ACTIVITY_BATCH);
    const unsigned handled = handle_safe_run(tw, most);
    if (handled > 0)
        throttle_adjust_batch(&tw->throttle, handled < most);
    return handled;
}

bool handle_batch(struct timewarp *tw)
{
    const struct cw_config *const config = &tw->worker->sim->config;
    const unsigned most = batch_most(tw);
    if (most == 0)
        return false;
    unsigned handled = handle_timed(tw), ahead = 0;
    const bool runs = !config->check_changes && config->events_max == 0 && !tw->failures.failed &&
                      !tw->failures.stuck;
    if (tw->gathered && runs)
        return handle_gathered_run(tw,
                                   config->tuning.gather == CW_GATHER_OFTEN ? BATCH_GATHERED_OFTEN
                                   : config->tuning.worker_record != NULL   ? BATCH_GATHERED_RECORDS
                                                                            : BATCH_GATHERED) +
                   handled >
               0;
    const unsigned ahead_max =
        throttle_speculative_batch(&tw->throttle, pending_count(&tw->worker->pending));
    enum verdict verdict = SAFE;
    while (handled < most && ahead < ahead_max) {
        if (runs && !speculate_on_safe(tw))
            handled += handle_safe_run(tw, most - handled);
        if (runs && tw->throttle.patience == 0) {
            const unsigned rest = ahead_max - ahead;
            const unsigned step =
                promise_may_rise(tw) && rest > SPECULATIVE_STEP ? SPECULATIVE_STEP : rest;
            const unsigned done = handle_speculative_run(tw, step);
            ahead += done;
            if (done > 0 && promise_has_risen(tw))
                break;
            if (done == step)
                continue;
        }
        verdict = worker_step(tw, false);
        if (verdict != SAFE && verdict != SPECULATIVE)
            break;
        handled += verdict == SAFE;
        ahead += verdict == SPECULATIVE;
    }
    if (handled + ahead > 0)
        throttle_adjust_batch(&tw->throttle, verdict == BLOCKED);
    return handled + ahead > 0;
}

/* ---- a handler has failed -------------------------------------------------------------------- */

/* A speculative event is undone, and waits until it is safe. A safe event stays the least event of
 * this worker, and the run ends when GVT gets there. */
void handle_failure(struct timewarp *tw)
{
    struct worker *const worker = tw->worker;
    struct cw_event *const event = (struct cw_event *)(uintptr_t)worker->ctx.event;
    const bool speculative = worker->speculative;
    const struct entry entry = entry_of_event(event);
    if (tw->gathered)
        count_gathered(tw);
    worker->speculative = false;
    worker->records.used = 0;
    tw->throttle.refused |= worker->out_of_memory;
    worker->out_of_memory = false;
    end_lazy_cancel(tw);
    if (speculative) {
        tw->failures.stuck_at = key_of(&entry);
        if (key_before(tw->front, tw->failures.stuck_at))
            tw->front = tw->failures.stuck_at;
        rollback_open(tw);
        tw->failures.stuck = true;
        if (!pending_push(&worker->pending, entry))
            worker_fail_for_memory(worker);
    } else {
        tw->failures.failed = true;
        tw->failures.event = event;
        tw->failures.error = worker->failure;
    }
    worker->ctx.event = NULL;
}
