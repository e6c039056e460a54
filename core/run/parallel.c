/*
 * parallel.c: creates the workers, runs a drain on their threads, and settles its result
 * (parallel.h). The workers' own loop is in worker_loop.c.
 */
#include "core/run/parallel.h"

#include "core/run/balance.h"
#include "core/run/migrate.h"
#include "core/run/gather.h"
#include "core/os/clock.h"
#include "core/os/host_limits.h"
#include "core/os/pin.h"
#include "core/os/threads.h"
#include "core/invariant.h"
#include "core/run/listen.h"
#include "core/worker/simulation.h"
#include "core/speculation/event_limit.h"
#include "core/speculation/gvt.h"
#include "core/speculation/promise.h"
#include "core/exchange/gvt_slot.h"
#include "core/speculation/lazy_cancel.h"
#include "core/speculation/stress.h"
#include "core/speculation/timewarp.h"
#include "core/speculation/wait.h"
#include "core/run/worker_loop.h"
#include "core/worker/worker.h"

/* The number of threads for the workers: at most one per core; surplus workers share a thread,
 * batch by batch. With more threads than cores a worker would have to wait for a time slice, and
 * delay the others. `thread_count` overrides this, and the stress mode has a thread per worker. */
static uint32_t thread_count(const struct cw_sim *sim, uint32_t cores)
{
    const uint32_t n = sim->worker_count, given = sim->config.tuning.thread_count;
    if (given > 0)
        return given < n ? given : n;
    return sim->config.sync == CW_STRESS || n < cores ? n : cores;
}

static bool timewarp_create(struct cw_sim *sim, struct worker *worker)
{
    struct memory *const memory = &sim->memory;
    struct gvt_slot *const slot = &sim->slots[worker->index];
    struct timewarp *const tw = memory_take(memory, sizeof *tw);
    if (tw == NULL)
        return false;
    worker->timewarp = tw;
    tw->worker = worker;
    tw->index = worker->index;
    tw->lp_logs = sim->lp_logs;
    tw->front.time_ps = INT64_MIN;
    record_outbox_init(&tw->outbox, memory, recorder_lane(&sim->recorder, worker->index),
                       worker->index, sim->worker_count);
    stress_init(tw);
    lazy_cancel_init(&tw->lazy, memory, sim->config.tuning.lazy_cancellation);
    undo_log_init(&tw->undo_log, memory);
    throttle_init(&tw->throttle, sim->config.sync, memory->bytes_max, sim->worker_count);
    quota_init(&tw->quota, memory->bytes_max, sim->worker_count);
    for (int i = 0; i < 2; i++)
        sync_store_release(&slot->transit_ps[i], CW_TIME_MAX); /* no worker runs yet */
    return peers_create(&tw->peers, memory, sim->config.least_delay_ps, sim->worker_count,
                        worker->index);
}

static void timewarp_free(struct cw_sim *sim, struct worker *worker)
{
    struct memory *const memory = &sim->memory;
    struct timewarp *const tw = worker->timewarp;
    if (tw == NULL)
        return;
    peers_free(&tw->peers);
    memory_give(memory, tw->rollback.cancels,
                tw->rollback.cancel_capacity * sizeof(struct cw_event *));
    lazy_cancel_free(&tw->lazy, memory);
    record_outbox_free(&tw->outbox);
    undo_log_free(&tw->undo_log);
    event_limit_free(tw);
    memory_give(memory, tw, sizeof *tw);
    worker->timewarp = NULL;
}

int parallel_create(struct cw_sim *sim, struct cw_error *error)
{
    const uint32_t n = sim->worker_count;
    const size_t delays = (size_t)n * n;
    sim->slots = memory_take(&sim->memory, n * sizeof *sim->slots);
    sim->path_delays_ps = memory_take(&sim->memory, delays * sizeof(int64_t));
    sim->lp_logs = memory_take(&sim->memory, sim->model.lp_count * sizeof *sim->lp_logs);
    if (sim->slots == NULL || sim->path_delays_ps == NULL || sim->lp_logs == NULL)
        return memory_error(&sim->memory, error);
    sim->cores = host_limits_cores();
    sim->thread_count = thread_count(sim, sim->cores);
    if (!recorder_init(&sim->recorder, &sim->memory, n, sim->thread_count > 1, sim->config.record,
                       sim->config.record_arg))
        return memory_error(&sim->memory, error);
    sim->crowded = sim->thread_count > sim->cores;
    sim->can_fence_all = sync_can_fence_all();
    gvt_path_delays(sim->path_delays_ps, sim->config.least_delay_ps, n);
    for (uint32_t i = 0; i < n; i++)
        if (!timewarp_create(sim, &sim->workers[i]))
            return memory_error(&sim->memory, error);
    for (uint32_t to = 0; to < n; to++) {
        struct peers *const peers = &sim->workers[to].timewarp->peers;
        for (uint32_t i = 0; i < peers->in_count; i++)
            peers_join(peers, &peers->in[i], to, &sim->workers[peers->in[i].from].timewarp->peers);
    }
    if (migrate_create(sim, error) != CW_OK || balance_create(sim, error) != CW_OK)
        return error->exit_code;
    sim->pin = sim->config.tuning.pin_workers ? pin_create(sim->thread_count) : NULL;
    return gather_create(sim, error);
}

void parallel_free(struct cw_sim *sim)
{
    const uint32_t n = sim->worker_count;
    if (sim->config.sync == CW_SEQUENTIAL || sim->workers == NULL)
        return;
    threads_end(sim->threads);
    for (uint32_t i = 0; i < n && sim->slots != NULL; i++)
        timewarp_free(sim, &sim->workers[i]);
    pin_free(sim->pin);
    gather_free(sim);
    balance_free(sim);
    migrate_free(sim);
    recorder_free(&sim->recorder);
    memory_give(&sim->memory, sim->slots, n * sizeof *sim->slots);
    memory_give(&sim->memory, sim->path_delays_ps, (size_t)n * n * sizeof(int64_t));
    memory_give(&sim->memory, sim->lp_logs, sim->model.lp_count * sizeof *sim->lp_logs);
}

/* Whether turns may be cut short (worker_loop.c): each worker has its own thread and core, and
 * turns have nothing else to report or check. */
static bool has_short_turns(const struct cw_sim *sim, const struct worker *worker)
{
    const struct cw_config *const config = &sim->config;
    return (config->sync == CW_ADAPTIVE || config->sync == CW_CONSERVATIVE) &&
           sim->thread_count == sim->worker_count && !sim->crowded && !config->check_changes &&
           config->events_max == 0 && config->tuning.worker_look == NULL &&
           worker->clock.log == NULL;
}

/* The last drain's bounds do not hold for events injected since. */
static void forget_bounds(struct cw_sim *sim)
{
    recorder_begin(&sim->recorder);
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        struct timewarp *const tw = sim->workers[i].timewarp;
        struct gvt *const gvt = &tw->gvt;
        gvt->now = gvt->reported = (struct key){.time_ps = INT64_MIN};
        gvt->over = tw->ended = false;
        tw->wait.end_polls = 0;
        tw->short_turns = has_short_turns(sim, &sim->workers[i]);
        peers_forget_arrivals(&tw->peers); /* everything handled is committed */
        /* no worker runs yet */
        promise_forget(tw, INT64_MIN);
        promise_count_anew(tw);
    }
}

/* The main function of the recorder's thread. */
static void enter_recorder(struct cw_sim *sim)
{
    if (recorder_run(&sim->recorder))
        return;
    (void)memory_error(&sim->memory, &sim->recorder_failure);
    /* as in abort_run(): orders everything, the failure included */
    if (sync_claim(&sim->aborted, 1 + (uint64_t)sim->worker_count))
        wait_wake(sim, sim->worker_count, true);
}

/* The first worker of a thread; for the index after the last thread, the number of workers.
 * Consecutive workers share a thread. */
static uint32_t first_worker_on(const struct cw_sim *sim, uint32_t thread)
{
    return (uint32_t)((uint64_t)sim->worker_count * thread / sim->thread_count);
}

/* The drain has ended for these workers; worker 0 continues: settle(). */
static void close_logs(struct cw_sim *sim, uint32_t first, uint32_t end)
{
    for (uint32_t i = first > 0 ? first : 1; i < end; i++)
        if (sim->workers[i].clock.log != NULL)
            interval_log_close(sim->workers[i].clock.log, clock_ticks(),
                               worker_counts(&sim->workers[i]));
}

/* The main function of each thread in a drain. The recorder has the last one. */
static void enter_workers(void *argument, uint32_t index)
{
    struct cw_sim *const sim = argument;
    event_order_by(&sim->model);
    if (index == sim->thread_count) {
        enter_recorder(sim);
        return;
    }
    const uint32_t first = first_worker_on(sim, index), end = first_worker_on(sim, index + 1);
    if (index > 0 || sync_load_acquire(&sim->paused) == 0) /* a single thread is not pinned */
        pin_thread(sim->pin, index);
    gather_run(sim, index, &sim->workers[first], end - first, worker_run);
    if (index == 0)
        recorder_close(&sim->recorder);
    close_logs(sim, first, end);
}

/* Starts the threads, unless they already run. */
static int have_threads(struct cw_sim *sim, struct cw_error *error)
{
    const uint32_t n = sim->thread_count + sim->recorder.threaded;
    uint32_t started;
    if (sim->threads != NULL && threads_are_here(sim->threads))
        return CW_OK;
    threads_end(sim->threads);
    sim->threads = threads_start(&sim->memory, n, n <= sim->cores, &started);
    if (sim->threads == NULL && started == 0)
        return memory_error(&sim->memory, error);
    if (sim->threads == NULL)
        return cw_error_set(error, CW_NO_RESOURCE,
                            "the system starts no more than %u of %u threads", (unsigned)started,
                            (unsigned)n);
    return CW_OK;
}

/* Thread 0 has begun alone, and now lets the others run their workers. */
static bool start_others(struct cw_sim *sim)
{
    if (have_threads(sim, &sim->workers[0].failure) != CW_OK) {
        abort_run(sim, &sim->workers[0]);
        return false;
    }
    threads_begin(sim->threads, enter_workers, sim);
    return true;
}

static int run_workers(struct cw_sim *sim, struct cw_error *error)
{
    if (gather_begin(sim, start_others)) {
        enter_workers(sim, 0);
        if (gather_has_started(sim))
            threads_finish(sim->threads);
        else
            close_logs(sim, first_worker_on(sim, 1), sim->worker_count);
        return CW_OK;
    }
    const int result = have_threads(sim, error);
    if (result == CW_OK)
        threads_run(sim->threads, enter_workers, sim);
    return result;
}

/* The host's part for each worker. */
struct host_calls {
    const struct cw_sim *sim;
    cw_worker_fn fn;
    void *arg;
};

/* The main function of each thread in parallel_each_worker(). */
static void enter_host_calls(void *argument, uint32_t index)
{
    const struct host_calls *const calls = argument;
    if (index == calls->sim->thread_count)
        return; /* the recorder's thread */
    const uint32_t end = first_worker_on(calls->sim, index + 1);
    pin_thread(calls->sim->pin, index);
    for (uint32_t i = first_worker_on(calls->sim, index); i < end; i++)
        worker_call_host(&calls->sim->workers[i], calls->fn, calls->arg);
}

/* I-THREADS-1 orders the calls after the caller's earlier writes, and before its later reads. */
void parallel_each_worker(struct cw_sim *sim, cw_worker_fn fn, void *arg)
{
    struct host_calls calls = {.sim = sim, .fn = fn, .arg = arg};
    struct cw_error error; /* the next drain reports it; here the calling thread does all */
    if (sim->thread_count < 2 || have_threads(sim, &error) != CW_OK) {
        for (uint32_t i = 0; i < sim->worker_count; i++)
            worker_call_host(&sim->workers[i], fn, arg);
        return;
    }
    threads_run(sim->threads, enter_host_calls, &calls);
    pin_end(sim->pin);
}

/* The failure of the worker that has the event `failed`. */
static const struct cw_error *failure_of(const struct cw_sim *sim, const struct cw_event *failed)
{
    uint32_t by = 0;
    while (by + 1 < sim->worker_count && sim->workers[by].timewarp->failures.event != failed)
        by++;
    return &sim->workers[by].timewarp->failures.error;
}

static bool any_has_failed(const struct cw_sim *sim)
{
    bool any = false;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        any |= sim->workers[i].timewarp->failures.failed;
    return any;
}

/* At the end of a run each event is pending or has a log, and all logs are counted. After a
 * failure, undone events may be left on any worker whose sends were kept and are not counted. */
static void check_settled(const struct cw_sim *sim)
{
    uint64_t live = 0, lp_live = 0, alive = 0, pending = 0;
    const bool failed = any_has_failed(sim);
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const struct worker *const worker = &sim->workers[i];
        const struct timewarp *const tw = worker->timewarp;
        live += tw->undo_log.live;
        alive += event_pool_alive(&worker->pool);
        pending += pending_count(&worker->pending) + worker->listened.count;
        CW_INVARIANT(
            "I-QUOTA-2",
            failed || tw->undo_log.live > 0 ||
                tw->peers.sent_for_good == tw->peers.messages - 2 * tw->peers.anti_messages,
            "worker %u has counted %llu messages for good, of %llu and %llu cancellations",
            (unsigned)i, (unsigned long long)tw->peers.sent_for_good,
            (unsigned long long)tw->peers.messages, (unsigned long long)tw->peers.anti_messages);
    }
    /* over all workers: worker 0 may hold other workers' events (gather.h) */
    CW_INVARIANT("I-TW-2", failed || alive == pending + live,
                 "there are %llu events, %llu pending, %llu with a log", (unsigned long long)alive,
                 (unsigned long long)pending, (unsigned long long)live);
    for (uint32_t lp = 0; CW_ASSERTING && lp < sim->model.lp_count; lp++)
        lp_live += sim->lp_logs[lp].live;
    CW_INVARIANT("I-TW-1", lp_live == live, "%llu logs, %llu of LPs", (unsigned long long)live,
                 (unsigned long long)lp_live);
}

/*
 * I-FAIL-1: when a run ends at the failed event f, every event before f in the total order is
 * committed: none is pending, or could be undone. A sequential run fails at f, too. Proof:
 *   1. Let K be GVT in the round that ends the run. f has the key K. An effect's key is greater
 *      than its cause's, and all causes left at the cuts have the key K or a later one (I-GVT-1).
 *      So no event and no cancellation at K or before it can still appear, unless it was sent
 *      between the cuts.
 *   2. A worker that has sent an event at K between its cuts reports no failed event, and then the
 *      run does not end.
 *   3. So each worker with an event at K left has reported a failed one, before which nothing is
 *      pending there. f is the least of these. All workers compute it from the same reports.
 *   4. So no event before f is pending anywhere. Each was handled, and nothing can undo it: that
 *      would be an event before it, or a cancellation.
 *   5. f failed when it was safe or at GVT: its LP was as in a sequential run. No event before f
 *      has failed: it would be pending, or the least failed one.
 * A move may undo an event before f at the key K after f has failed. It is pending again, so by
 * step 3 the run continues until it has been handled.
 *
 * I-FAIL-2: no event commits that an event before it could still undo (fossil.c). Let e be handled
 * speculatively at the key K, after f. An event of e's LP between f and e may be pending on the
 * worker of f: it waits after f. So e does not commit. A safe event after f, and one at GVT, was
 * its worker's least when it was handled, and commits then.
 */
static void check_failed(const struct cw_sim *sim, const struct cw_event *failed)
{
    for (uint32_t i = 0; CW_ASSERTING && i < sim->worker_count; i++) {
        const struct entry *const least = pending_peek(&sim->workers[i].pending);
        CW_INVARIANT("I-FAIL-1",
                     least == NULL || least->event->reserved & EVENT_CANCELLED ||
                         !cw_event_before(least->event, failed),
                     "the run ends at an event for %lld ps, worker %u has one before it",
                     (long long)failed->time_ps, (unsigned)i);
    }
    for (uint32_t lp = 0; CW_ASSERTING && lp < sim->model.lp_count; lp++) {
        const struct log *log = sim->lp_logs[lp].newest;
        for (uint64_t i = sim->lp_logs[lp].live; i > 0; i--, log = log->older)
            CW_INVARIANT("I-FAIL-1", !cw_event_before(log->event, failed),
                         "the run ends at an event for %lld ps, LP %u has not committed one before "
                         "it",
                         (long long)failed->time_ps, (unsigned)lp);
    }
}

/* A run with too many events fails even if it ends before a round could notice. An event that fails
 * counts as well: after the last one that is allowed it is not handled at all. */
static bool exceeds_limit(const struct cw_sim *sim, const struct cw_event *failed)
{
    uint64_t events = failed != NULL;
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const struct worker *const worker = &sim->workers[i];
        events += worker->committed;
        events -= failed != NULL ? event_limit_after(worker->timewarp, failed) : 0;
    }
    return sim->config.events_max > 0 && events > sim->config.events_max;
}

/* Delivers the remaining records, and handles the listener's events. After a failure the states
 * stay as speculation left them. */
static int settle(struct cw_sim *sim, struct cw_error *error)
{
    const struct gvt *const gvt = &sim->workers[0].timewarp->gvt;
    check_settled(sim);
    for (uint32_t i = 0; i < sim->worker_count; i++)
        (void)record_outbox_publish(&sim->workers[i].timewarp->outbox);
    const struct cw_event *const failed = gvt->failed;
    if (failed != NULL)
        check_failed(sim, failed);
    struct interval_log *const log = sim->workers[0].clock.log;
    const uint64_t begun = clock_ticks();
    if (!recorder_finish(&sim->recorder, gvt->now, failed))
        return memory_error(&sim->memory, error);
    if (log != NULL)
        interval_log_long(log, CW_INTERVAL_RECORDS, begun, clock_ticks(), 0, 0);
    if (listen_handle(sim, parallel_each_worker, failed, error) != CW_OK)
        return error->exit_code;
    if (exceeds_limit(sim, failed))
        return cw_error_set(error, CW_PROGRAM_FAILED,
                            "more than %llu events, the most that this run may handle",
                            (unsigned long long)sim->config.events_max);
    if (failed == NULL)
        return stress_result(sim, error);
    simulation_failed_at(sim, failed);
    *error = *failure_of(sim, failed);
    return error->exit_code;
}

int parallel_drain(struct cw_sim *sim, struct cw_error *error)
{
    forget_bounds(sim);
    sim->memory.is_shared = sim->worker_count > 1; /* no worker runs yet, or any more */
    const int started = run_workers(sim, error);
    sim->memory.is_shared = false;
    pin_end(sim->pin);
    if (started != CW_OK)
        return started;
    if (!simulation_aborted(sim))
        return settle(sim, error);
    /* pairs with the claim in abort_run(); also, all threads have stopped */
    const uint64_t by = sync_load_acquire(&sim->aborted) - 1;
    *error = by == sim->worker_count ? sim->recorder_failure : sim->workers[by].failure;
    return error->exit_code;
}
