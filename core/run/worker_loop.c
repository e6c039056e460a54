/*
 * worker_loop.c: the loop of a worker in the parallel modes, worker_loop(): receive, advance GVT,
 * collect, handle, send, wait. Before it stand the parts of a turn, after it the threads: one
 * worker on a thread of its own, or several that take turns.
 *
 * Workers share the mailboxes, the GVT slots, the memory account and const configuration.
 */
#include "core/run/worker_loop.h"

#include "core/run/balance.h"
#include "core/run/migrate.h"
#include "core/run/handle_events.h"
#include "core/run/gather.h"
#include "core/os/fault_guard.h"
#include "core/worker/simulation.h"
#include "core/run/progress.h"
#include "core/speculation/event_limit.h"
#include "core/speculation/fossil.h"
#include "core/speculation/gvt.h"
#include "core/speculation/make_room.h"
#include "core/speculation/promise.h"
#include "core/speculation/timewarp.h"
#include "core/speculation/wait.h"
#include "core/worker/worker.h"

/* Polls of the receiver of records after the last event; of them, polls without a pause. */
enum { END_POLLS_MAX = 1 << 14, END_POLLS_SPUN = 64 };
/* A poll counts as this many more if other programs had the core meanwhile. */
enum { END_POLLS_AWAY = 256 };

/* ---- parts of a turn ------------------------------------------------------------------------- */

/* Commits events that are final, and adapts speculation to its success and to memory. */
static void collect(struct timewarp *tw, bool bound_raised, bool round_ended)
{
    struct worker *const worker = tw->worker;
    if ((tw->undo_log.live > 0 && (round_ended || promise_ps(tw) > tw->collected_ps)) ||
        undo_log_is_idle(&tw->undo_log))
        fossil_collect(tw);
    if (bound_raised || round_ended) {
        tw->throttle.pending = pending_count(&worker->pending);
        throttle_adjust(&tw->throttle, round_ended, tw->undo_log.live, tw->safe);
        /* without lookahead, waiting frees at most one or two events */
        tw->throttle.prefer_waiting &= promise_may_rise(tw);
    }
    throttle_read_memory(&tw->throttle, &worker->sim->memory, worker->committed);
    throttle_read_logs(&tw->throttle, tw->undo_log.live, tw->undo_log.used_bytes);
    make_room(tw);
}

/* After a round of GVT: the duties of worker 0, and all that a round may begin. */
static void end_round(struct timewarp *tw)
{
    struct worker *const worker = tw->worker;
    const uint64_t events_max = worker->sim->config.events_max;
    tw->throttle.window_sum += tw->throttle.window;
    if (events_max > 0)
        event_limit_settle(tw);
    if (tw->gvt.over)
        return;
    if (tw->index == 0) {
        if (events_max > 0 && progress_committed(worker->sim) > events_max)
            worker_too_many_events(worker);
        progress_report_round(tw);
        balance_look(tw);
    }
    migrate_begin(tw);
    if (recorder_is_behind(&worker->sim->recorder, &tw->outbox))
        wait_for_recorder(tw);
}

/* Whether short turns may follow: nothing is to be undone, committed or reported. */
static bool may_take_short_turns(const struct timewarp *tw)
{
    return tw->short_turns && tw->undo_log.live == 0 && tw->gvt.stage == GVT_BEGIN &&
           tw->promise.blocked_by_delay_ps > 0 && tw->throttle.level < MEMORY_TIGHT &&
           !tw->throttle.disabled && !tw->failures.failed && !tw->failures.stuck;
}

/* Where few events lie within the lookahead, a turn's upkeep costs as much as its events. It waits
 * for THROTTLE_SHORT_EVENTS events and one batch at most (ENGINE.md, "Turns"). */
static void take_short_turns(struct timewarp *tw)
{
    struct activity_clock *const clock = &tw->worker->clock;
    unsigned events = 0, empty = 0;
    while (events < THROTTLE_SHORT_EVENTS && empty < THROTTLE_SHORT_EMPTY) {
        (void)refresh_safe_bound(tw);
        const unsigned handled = handle_safe_batch(tw);
        (void)activity_go(clock, CW_GVT);
        promise_renew(tw);
        empty += handled == 0;
        events += handled;
        tw->turns += handled > 0;
    }
}

/* Notes in the interval log whether the turn had something to do. */
__attribute__((noinline)) static void log_turn(struct timewarp *tw, bool handled)
{
    struct interval_log *const log = tw->worker->clock.log;
    if (!handled)
        interval_log_wait(log, clock_ticks(), tw->promise.blocked_by, worker_counts(tw->worker));
    else if (log->waiting)
        interval_log_work(log);
}

/* Lets the receiver of this worker's records continue. Returns whether it waits for other workers.
 */
static inline bool poll_record_receiver(const struct timewarp *tw)
{
    const struct cw_config *const config = &tw->worker->sim->config;
    struct interval_log *const log = tw->worker->clock.log;
    if (config->tuning.worker_look == NULL)
        return false;
    const uint64_t begin = log == NULL ? 0 : clock_ticks();
    const bool waits = config->tuning.worker_look(config->tuning.worker_arg, tw->index);
    if (log != NULL)
        interval_log_long(log, CW_INTERVAL_DATA, begin, clock_ticks(), 0, 1);
    return waits;
}

/* The drain is over. This worker's part of it has ended, too, unless the receiver of its records
 * waits for other workers' records. After a failure, or after many polls, they may never come. */
static void end_drain(struct timewarp *tw)
{
    tw->ended =
        !poll_record_receiver(tw) || tw->gvt.failed != NULL || ++tw->wait.end_polls > END_POLLS_MAX;
    if (!tw->ended && tw->worker->clock.log != NULL)
        log_turn(tw, false);
    if (!tw->ended && tw->wait.end_polls > END_POLLS_SPUN && sync_yield_timed() > 0)
        tw->wait.end_polls += END_POLLS_AWAY;
}

/* A turn that is timed begins, if it is time for one. */
static inline void begin_turn(struct timewarp *tw)
{
    if (--tw->worker->clock.turns_left == 0)
        worker_begin_timed(tw->worker, CW_GVT, gvt_moment(&tw->gvt));
}

/* The turn ends, and the waiting that was part of it. */
static inline void end_turn(struct timewarp *tw)
{
    const struct activity_clock *const clock = &tw->worker->clock;
    if (__builtin_expect(clock->on, 0))
        worker_end_timed(tw->worker,
                         tw->wait.idle_turns > 0 && gvt_moment(&tw->gvt) == clock->moment);
}

/* Handles a batch of events. Returns whether there was one. */
static inline bool handle(struct timewarp *tw)
{
    struct activity_clock *const clock = &tw->worker->clock;
    (void)poll_record_receiver(tw);
    if (__builtin_expect(clock->log != NULL, 0) && clock->log->waiting)
        interval_log_look(clock->log, clock_ticks());
    const bool handled = handle_batch(tw);
    (void)activity_go(clock, CW_GVT);
    return handled;
}

/* Counts the turn, and lets short ones follow. */
static inline void count_turn(struct timewarp *tw, bool handled)
{
    if (__builtin_expect(tw->worker->clock.log != NULL, 0))
        log_turn(tw, handled);
    tw->turns++;
    tw->turns_idle += !handled;
    if (handled) {
        tw->wait.waits = 0;
        tw->gvt.wanted = false;
        if (may_take_short_turns(tw))
            take_short_turns(tw);
    } else {
        tw->throttle.waited += tw->throttle.patience > 0;
        tw->throttle.patience -= tw->throttle.patience > 0;
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Turns of a worker that has its thread to itself (`alone`), until it has ended or the thread is to
 * hand it over. Otherwise one turn: the thread waits for all of its workers at once. Not inlined
 * into a function that calls setjmp(), which is slow. */
__attribute__((noinline)) static void worker_loop(struct timewarp *tw, bool alone)
{
    struct worker *const worker = tw->worker;
    struct cw_sim *const sim = worker->sim;
    do {
        bool active = true; /* the turn finds something to do */
        begin_turn(tw);
        if (__builtin_expect(tw->move.stage != MOVE_NONE, 0)) {
            active = migrate_step(tw);
        } else if (tw->gvt.over) {
            end_drain(tw);
        } else {
            worker_check_stop(worker);
            const bool bound_raised = refresh_safe_bound(tw); /* receive */
            const bool round_ended = gvt_step(tw);            /* advance GVT */
            collect(tw, bound_raised, round_ended);           /* collect */
            if (round_ended)
                end_round(tw);
            if (!tw->gvt.over && tw->move.stage == MOVE_NONE) {
                active = handle(tw); /* handle */
                promise_renew(tw);   /* send */
                count_turn(tw, active);
            }
        }
        if (tw->ended)
            return;
        tw->wait.idle_turns = active ? 0 : tw->wait.idle_turns + 1;
        if (alone && !active) { /* wait */
            (void)activity_go(&worker->clock, CW_IDLE);
            wait_turn(tw);
        } else if (alone && sim->crowded && tw->undo_log.live > 0) {
            wait_give_way(&tw->wait);
        }
        end_turn(tw);
        if (alone && sim->gather != NULL)
            gather_look(tw);
    } while (alone && !simulation_paused(sim, false));
}

/* ---- threads --------------------------------------------------------------------------------- */

/* After a jump out of a handler, or out of the code around it. False: the run ends. */
static bool survives_failure(struct worker *worker)
{
    fault_guard_leave(); /* of a function that was jumped out of */
    worker_leave_engine(worker);
    worker->clock.on = false; /* the turn is not timed to its end */
    if (worker->clock.log != NULL)
        interval_log_turn_cut(worker->clock.log);
    if (worker->ctx.event == NULL) { /* not a handler's: memory, or a bug */
        abort_run(worker->sim, worker);
        return false;
    }
    handle_failure(worker->timewarp);
    return true;
}

static void run_alone(struct worker *worker)
{
    /* Nothing here is read after a jump but `worker`, which does not change. */
    if (setjmp(worker->failed) != 0 && !survives_failure(worker)) {
        worker_watch(NULL);
        return;
    }
    worker_watch(worker);
    if (!worker->timewarp->ended && !simulation_paused(worker->sim, false))
        worker_loop(worker->timewarp, true);
    worker_watch(NULL);
}

/* True: the run is over for this worker. */
static bool take_turn(struct worker *worker)
{
    if (setjmp(worker->failed) != 0) /* as in run_alone() */
        return !survives_failure(worker);
    worker_watch(worker);
    worker_loop(worker->timewarp, false);
    return worker->timewarp->ended;
}

/* None of a thread's workers has anything to do: the `turns`-th time in a row. */
static void wait_with_neighbours(struct worker *first, uint32_t count, unsigned turns)
{
    const uint64_t start = clock_ticks();
    wait_together(first, turns);
    for (uint32_t i = 0; i < count; i++)
        activity_slept(&first[i].clock, start);
}

/*
 * A turn of each worker. Returns how many have not ended; *any: whether one of them had anything to
 * do. Another turn of a worker that has ended does nothing but ask its receiver of records again,
 * since
 * 1. its GVT says that the drain is over, and no move is on then: the turn is end_drain() alone;
 * 2. it stays ended: a failure stays, polls are only counted up, and a receiver that waits for
 *    nothing gets no more records to wait for.
 */
static uint32_t take_turns(struct worker *first, uint32_t count, bool together, bool *any)
{
    uint32_t left = 0;
    *any = false;
    for (uint32_t i = 0; i < count; i++) {
        struct timewarp *const tw = first[i].timewarp;
        if (take_turn(&first[i]))
            continue;
        left++;
        *any |= tw->wait.idle_turns == 0;
        if (first->sim->gather != NULL && !together)
            gather_look(tw);
    }
    return left;
}

static void run_in_turn(struct worker *first, uint32_t count, bool together)
{
    unsigned idle = 0; /* rounds in a row in which no worker had anything to do */
    bool any;
    while (!simulation_paused(first->sim, together) &&
           take_turns(first, count, together, &any) > 0) {
        if (together) {
            gather_look_together(first->sim);
            continue;
        }
        idle = any ? 0 : idle + 1;
        if (idle > 0)
            wait_with_neighbours(first, count, idle);
        else if (first->sim->crowded)
            wait_give_way(&first->timewarp->wait);
    }
    worker_watch(NULL);
}

void worker_run(struct worker *first, uint32_t count, bool together)
{
    if (count == 1 && !together)
        run_alone(first);
    else
        run_in_turn(first, count, together);
}
