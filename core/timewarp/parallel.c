/*
 * parallel.c: the host's side of the modes that handle events out of order: what the workers need,
 * starting them, and what they leave behind (simulation.h). The workers' own loop is worker.c's.
 */
#include "core/host/host_limits.h"
#include "core/timewarp/record_merge.h"
#include "core/host/pin.h"
#include "core/simulation.h"
#include "core/host/threads.h"
#include "core/timewarp/timewarp.h"
#include "core/timewarp/wait.h"

void simulation_abort(struct cw_sim *sim, const struct worker *worker)
{
    /* orders everything: the failure is written; pairs with simulation_aborted() */
    if (sync_claim(&sim->aborted, 1 + (uint64_t)(worker - sim->workers)) && sim->slots != NULL &&
        worker->timewarp != NULL)
        wait_wake(worker->timewarp, true);
}

/* Workers beyond the number of cores take turns on a thread: the system's turns are long, and
 * whoever has none holds the others up. */
static uint32_t thread_count(const struct cw_sim *sim, uint32_t cores)
{
    const uint32_t n = sim->worker_count, given = sim->config.thread_count;
    if (given > 0)
        return given < n ? given : n;
    return sim->config.sync == CW_STRESS || n < cores ? n : cores;
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
    const uint32_t cores = host_limits_cores();
    sim->thread_count = thread_count(sim, cores);
    sim->crowded = sim->thread_count > cores;
    sim->can_fence_all = sync_can_fence_all();
    const int64_t *const least_ps = sim->config.least_delay_ps;
    for (size_t i = 0; i < delays; i++)
        sim->path_delays_ps[i] = i / n == i % n ? CW_TIME_MAX : least_ps == NULL ? 0 : least_ps[i];
    gvt_close_delays(sim->path_delays_ps, n);
    for (uint32_t i = 0; i < n; i++)
        if (!timewarp_create(sim, &sim->workers[i], i))
            return memory_error(&sim->memory, error);
    for (uint32_t from = 0; from < n; from++)
        for (uint32_t to = 0; to < n; to++)
            sim->workers[from].timewarp->out[to] = &sim->workers[to].timewarp->in[from];
    sim->pin = sim->config.pin_workers ? pin_create(sim->thread_count) : NULL;
    return CW_OK;
}

void parallel_free(struct cw_sim *sim)
{
    const uint32_t n = sim->worker_count;
    if (sim->config.sync == CW_SEQUENTIAL || sim->workers == NULL)
        return;
    threads_end(sim->threads);
    for (uint32_t i = 0; i < n && sim->slots != NULL; i++) {
        record_outbox_discard(sim->slots[i].sealed, &sim->memory);
        record_outbox_discard(sim->slots[i].spent, &sim->memory);
        timewarp_free(sim, &sim->workers[i]);
    }
    pin_free(sim->pin);
    record_merger_free(&sim->merger, &sim->memory);
    memory_give(&sim->memory, sim->slots, n * sizeof *sim->slots);
    memory_give(&sim->memory, sim->path_delays_ps, (size_t)n * n * sizeof(int64_t));
    memory_give(&sim->memory, sim->lp_logs, sim->model.lp_count * sizeof *sim->lp_logs);
}

/* What the last drain knew does not hold for what has been injected since. */
static void forget_bounds(struct cw_sim *sim)
{
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        struct gvt *const gvt = &sim->workers[i].timewarp->gvt;
        gvt->now = (struct key){.time_ps = INT64_MIN};
        gvt->safe_ps = INT64_MIN;
        gvt->over = gvt->called = false;
        sim->workers[i].timewarp->promised_ps = sim->workers[i].timewarp->collected_ps = INT64_MIN;
        sync_store_release(&sim->slots[i].promise_ps, (uint64_t)INT64_MIN); /* nobody runs yet */
    }
}

/* What a thread does: neighbours among the workers share one. */
static void enter_workers(void *argument, uint32_t index)
{
    struct cw_sim *const sim = argument;
    const uint64_t n = sim->worker_count;
    const uint32_t first = (uint32_t)(n * index / sim->thread_count);
    const uint32_t end = (uint32_t)(n * (index + 1) / sim->thread_count);
    pin_thread(sim->pin, index);
    if (end - first == 1)
        worker_run(&sim->workers[first]);
    else
        worker_run_in_turn(&sim->workers[first], end - first);
}

static int run_workers(struct cw_sim *sim, struct cw_error *error)
{
    const uint32_t n = sim->thread_count;
    uint32_t started;
    if (sim->threads == NULL)
        sim->threads = threads_start(&sim->memory, n, !sim->crowded, &started);
    if (sim->threads == NULL && started == 0)
        return memory_error(&sim->memory, error);
    if (sim->threads == NULL)
        return cw_error_set(error, CW_NO_RESOURCE,
                            "the system starts no more than %u of %u threads", (unsigned)started,
                            (unsigned)n);
    threads_run(sim->threads, enter_workers, sim);
    return CW_OK;
}

/* The least event that has failed at GVT, in the total order: what a sequential run fails at. */
static const struct timewarp *least_failed(const struct cw_sim *sim, struct entry *least)
{
    const struct timewarp *by = NULL;
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const struct timewarp *const tw = sim->workers[i].timewarp;
        if (!tw->failed)
            continue;
        const struct entry entry = entry_of_event((struct cw_event *)(uintptr_t)tw->failed_event);
        if (by == NULL || entry_before(&entry, least)) {
            by = tw;
            *least = entry;
        }
    }
    return by;
}

/* Delivers what is left of the records. After a failure the states stay as speculation left them.
 */
static int settle(struct cw_sim *sim, struct cw_error *error)
{
    const struct gvt *const gvt = &sim->workers[0].timewarp->gvt;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        sim->slots[i].sealed = record_outbox_seal(&sim->workers[i].timewarp->outbox);
    struct entry entry;
    const struct timewarp *const failed = gvt->failed ? least_failed(sim, &entry) : NULL;
    record_merge_deliver(sim, gvt->now, failed == NULL ? NULL : &entry);
    if (simulation_aborted(sim))
        return memory_error(&sim->memory, error);
    if (failed == NULL)
        return stress_result(sim, error);
    *error = failed->failure;
    return error->exit_code;
}

int parallel_drain(struct cw_sim *sim, struct cw_error *error)
{
    forget_bounds(sim);
    pin_begin(sim->pin);
    const int started = run_workers(sim, error);
    pin_end(sim->pin);
    if (started != CW_OK)
        return started;
    if (!simulation_aborted(sim))
        return settle(sim, error);
    /* pairs with the claim in simulation_abort(); all threads have come to rest besides */
    *error = sim->workers[sync_load_acquire(&sim->aborted) - 1].failure;
    return error->exit_code;
}
