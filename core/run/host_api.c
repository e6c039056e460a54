/*
 * host_api.c: the functions that the host calls: create, inject, drain, read (cw.h).
 *
 * On one thread, the host's. A drain depends on the synchronisation mode: sequential.c or
 * run/parallel.c.
 */
#include <stdlib.h>
#include <string.h>

#include "core/at_random.h"
#include "core/cw.h"
#include "core/os/clock.h"
#include "core/os/fault_guard.h"
#include "core/run/listen.h"
#include "core/run/sequential.h"
#include "core/worker/simulation.h"
#include "core/run/progress.h"
#include "core/run/parallel.h"
#include "core/worker/worker.h"

enum { SENDS_PER_EVENT_MAX_DEFAULT = 65536, SENDS_PER_EVENT_MAX = 1 << 22, WORKERS_MAX = 1024 };
/* From this many bytes of states on, starting the threads pays. */
enum { SHARED_INIT_BYTES_MIN = 4 << 20 };

const char *const cw_sync_name[CW_SYNCS] = {"sequential", "conservative", "optimistic", "adaptive",
                                            "stress"};

const char *const cw_balance_name[CW_BALANCES] = {"off", "on"};

/* Without lookahead between two workers, neither could ever continue. */
static int check_lookahead(const struct cw_config *config, struct cw_error *error)
{
    for (uint32_t from = 0; from < config->worker_count; from++)
        for (uint32_t to = 0; to < config->worker_count; to++)
            if (from != to &&
                (config->least_delay_ps == NULL ||
                 config->least_delay_ps[(size_t)from * config->worker_count + to] == 0))
                return cw_error_set(
                    error, CW_USAGE,
                    "the conservative mode needs a least delay between workers, and "
                    "there is none from worker %u to worker %u; use the adaptive mode",
                    (unsigned)from, (unsigned)to);
    return CW_OK;
}

static int simulation_check(const struct cw_config *config, const struct cw_model *model,
                            struct cw_error *error)
{
    if (config->worker_count == 0)
        return cw_error_set(error, CW_USAGE, "0 workers; at least 1 is needed");
    if (config->worker_count > WORKERS_MAX)
        return cw_error_set(error, CW_USAGE, "%u workers; at most %u are possible",
                            (unsigned)config->worker_count, (unsigned)WORKERS_MAX);
    if (config->sync >= CW_SYNCS)
        return cw_error_set(error, CW_BUG, "a mode %u; there are %u", (unsigned)config->sync,
                            (unsigned)CW_SYNCS);
    if (config->tuning.gather >= CW_GATHERS && config->tuning.gather != CW_GATHER_OFTEN)
        return cw_error_set(error, CW_BUG,
                            "cw_tuning.gather is %u; legal: CW_GATHER_NEVER, CW_GATHER_IF_FASTER",
                            (unsigned)config->tuning.gather);
    if (config->tuning.balance >= CW_BALANCES && config->tuning.balance != CW_BALANCE_RANDOM)
        return cw_error_set(error, CW_BUG,
                            "cw_tuning.balance is %u; legal: CW_BALANCE_OFF, CW_BALANCE_ON",
                            (unsigned)config->tuning.balance);
    if (config->end_ps <= 0)
        return cw_error_set(error, CW_BUG,
                            "the run ends at %lld ps (end_ps); legal: above 0, and CW_TIME_MAX "
                            "until no event is left",
                            (long long)config->end_ps);
    if (config->tuning.window_ps < 0)
        return cw_error_set(error, CW_BUG, "a window of %lld ps",
                            (long long)config->tuning.window_ps);
    if (model->lp_count == 0)
        return cw_error_set(error, CW_BUG, "model %s has no LPs", model->name);
    if (model->state_bytes == NULL || model->init == NULL || model->handle == NULL)
        return cw_error_set(error, CW_BUG, "model %s lacks a function", model->name);
    if (config->tuning.sends_per_event_max > SENDS_PER_EVENT_MAX)
        return cw_error_set(error, CW_USAGE, "%u sends from one event; at most %u can be allowed",
                            (unsigned)config->tuning.sends_per_event_max,
                            (unsigned)SENDS_PER_EVENT_MAX);
    const size_t pairs = (size_t)config->worker_count * config->worker_count;
    for (size_t i = 0; i < pairs && config->least_delay_ps != NULL; i++)
        if (config->least_delay_ps[i] < 0)
            return cw_error_set(error, CW_BUG, "a least delay of %lld ps between workers",
                                (long long)config->least_delay_ps[i]);
    for (uint32_t lp = 0; lp < model->lp_count && config->lp_worker != NULL; lp++)
        if (config->lp_worker[lp] >= config->worker_count)
            return cw_error_set(
                error, CW_BUG, "LP %u belongs to worker %u, but there are %u workers", (unsigned)lp,
                (unsigned)config->lp_worker[lp], (unsigned)config->worker_count);
    if (config->tuning.listener > model->lp_count)
        return cw_error_set(error, CW_BUG, "LP %u only listens, but there are %u LPs",
                            (unsigned)config->tuning.listener - 1, (unsigned)model->lp_count);
    if (config->tuning.stress_rate_p32 > UINT64_C(1) << 32)
        return cw_error_set(error, CW_BUG, "a stress rate above 1");
    return config->sync == CW_CONSERVATIVE ? check_lookahead(config, error) : CW_OK;
}

static size_t lp_worker_bytes(const struct cw_sim *sim)
{
    return (size_t)sim->model.lp_count * sizeof(uint32_t);
}

static size_t least_delay_bytes(const struct cw_sim *sim)
{
    return (size_t)sim->config.worker_count * sim->config.worker_count * sizeof(int64_t);
}

/* Copies the owner of each LP and the promises of the partition. They stay const from here on. */
static int copy_partition(struct cw_sim *sim, const struct cw_config *config,
                          struct cw_error *error)
{
    sim->config.lp_worker = NULL;
    sim->config.least_delay_ps = NULL;
    if (config->least_delay_ps == NULL && config->sync == CW_SEQUENTIAL)
        return CW_OK;
    const uint32_t lp_count = sim->model.lp_count;
    uint32_t *const lp_worker = memory_take(&sim->memory, lp_worker_bytes(sim));
    if (lp_worker == NULL)
        return memory_error(&sim->memory, error);
    for (uint32_t lp = 0; lp < lp_count; lp++)
        lp_worker[lp] = config->lp_worker != NULL
                            ? config->lp_worker[lp]
                            : (uint32_t)((uint64_t)lp * config->worker_count / lp_count);
    sim->config.lp_worker = lp_worker;
    if (config->least_delay_ps == NULL)
        return CW_OK;
    int64_t *const least = memory_take(&sim->memory, least_delay_bytes(sim));
    if (least == NULL)
        return memory_error(&sim->memory, error);
    memcpy(least, config->least_delay_ps, least_delay_bytes(sim));
    sim->config.least_delay_ps = least;
    return CW_OK;
}

static void init_worker(struct cw_sim *sim, struct worker *worker)
{
    worker->sim = sim;
    worker->lp_count = sim->model.lp_count;
    worker->index = (uint32_t)(worker - sim->workers);
    worker->hash_off = sim->config.tuning.hash_off;
    worker->check_below_ps = INT64_MIN;
    worker->listener = NO_LISTENER;
    if (sim->config.sync == CW_SEQUENTIAL && sim->config.least_delay_ps != NULL)
        worker->check_below_ps = CW_TIME_MAX;
    else if (sim->worker_count > 1 && sim->config.sync != CW_SEQUENTIAL)
        worker->lp_worker = sim->config.lp_worker;
    if (worker->lp_worker != NULL)
        worker->listener = sim->listener;
    worker->ctx.model_data = sim->model.data;
    activity_init(&worker->clock);
    event_pool_init(&worker->pool, &sim->memory);
    pending_init(&worker->pending, &sim->memory);
    commit_records_init(&worker->records, &sim->memory);
    change_check_init(&worker->change_check, &sim->memory);
}

/* The logs of all workers, if the host wants to read them. */
static int create_interval_logs(struct cw_sim *sim, struct cw_error *error)
{
    for (uint32_t i = 0; i < sim->worker_count && sim->config.tuning.interval_bytes > 0; i++) {
        struct activity_clock *const clock = &sim->workers[i].clock;
        struct interval_log *const log =
            interval_log_create(&sim->memory, sim->config.tuning.interval_bytes, clock->cost);
        if (log == NULL)
            return memory_error(&sim->memory, error);
        activity_log_to(clock, log);
    }
    sim->origin_ticks = clock_ticks();
    return CW_OK;
}

static void init_states_of(void *arg, uint32_t worker)
{
    struct cw_sim *const sim = arg;
    lp_states_init(&sim->lp_states, &sim->model,
                   sim->worker_count > 1 ? sim->config.lp_worker : NULL, worker);
}

/* Each worker's own states by its own thread, unless that costs more than it gains. */
static void init_states(struct cw_sim *sim)
{
    if (sim->lp_states.blocks_bytes >= SHARED_INIT_BYTES_MIN)
        cw_each_worker(sim, init_states_of, sim);
    else
        lp_states_init(&sim->lp_states, &sim->model, NULL, 0);
    lp_states_ready(&sim->lp_states);
}

static int simulation_build(struct cw_sim *sim, const struct cw_config *config,
                            struct cw_error *error)
{
    int result = copy_partition(sim, config, error);
    const bool sequential = config->sync == CW_SEQUENTIAL;
    const struct lp_owners owners = {
        .lp_worker = sequential || config->worker_count == 1 ? NULL : sim->config.lp_worker,
        .workers = sequential ? 1 : config->worker_count};
    if (result == CW_OK)
        result = lp_states_create(&sim->lp_states, &sim->memory, &sim->model, &owners,
                                  config->sync == CW_STRESS, error);
    if (result != CW_OK)
        return result;
    sim->worker_count = sequential ? 1 : config->worker_count;
    sim->listener = config->tuning.listener - 1; /* 0, which is none, becomes NO_LISTENER */
    sim->workers = memory_take(&sim->memory, sim->worker_count * sizeof *sim->workers);
    if (sim->workers == NULL)
        return memory_error(&sim->memory, error);
    for (uint32_t i = 0; i < sim->worker_count; i++)
        init_worker(sim, &sim->workers[i]);
    if (create_interval_logs(sim, error) != CW_OK)
        return error->exit_code;
    sim->config.check_changes |= config->sync == CW_STRESS;
    for (uint32_t i = 0; i < sim->worker_count && sim->config.check_changes; i++) {
        sim->workers[i].ctx.keep = true;
        if (!change_check_reserve(&sim->workers[i].change_check, sim->lp_states.state_bytes_max))
            return memory_error(&sim->memory, error);
    }
    if (!sequential)
        result = parallel_create(sim, error);
    if (result == CW_OK)
        init_states(sim);
    return result;
}

struct cw_sim *cw_sim_create(const struct cw_config *config, const struct cw_model *model,
                             struct cw_error *error)
{
    *error = (struct cw_error){.exit_code = CW_OK};
    if (simulation_check(config, model, error) != CW_OK)
        return NULL;
    struct cw_sim *const sim = aligned_alloc(_Alignof(struct cw_sim), sizeof *sim);
    if (sim == NULL) {
        cw_error_set(error, CW_NO_RESOURCE, "out of memory: a simulation needs %zu bytes",
                     sizeof *sim);
        return NULL;
    }
    *sim = (struct cw_sim){.config = *config, .model = *model};
    if (sim->config.tuning.sends_per_event_max == 0)
        sim->config.tuning.sends_per_event_max = SENDS_PER_EVENT_MAX_DEFAULT;
    memory_init(&sim->memory, config->memory_bytes_max);
    sim->memory.sharers = config->worker_count > 0 ? config->worker_count : 1;
    if (simulation_build(sim, config, error) != CW_OK) {
        cw_sim_free(sim);
        return NULL;
    }
    return sim;
}

/* Each worker writes its own queue, pool and part of the states alone; the account of memory is for
 * any worker. */
static void clear_of_worker(void *arg, uint32_t index)
{
    struct cw_sim *const sim = arg;
    struct worker *const worker = &sim->workers[index];
    pending_free(&worker->pending);
    pending_init(&worker->pending, &sim->memory);
    listen_free(worker);
    event_pool_free(&worker->pool);
    lp_states_drop(&sim->lp_states, index);
}

void cw_sim_clear(struct cw_sim *sim)
{
    if (sim->failure.exit_code == CW_OK && sim->lp_states.blocks_bytes >= SHARED_INIT_BYTES_MIN)
        cw_each_worker(sim, clear_of_worker, sim);
}

void cw_sim_free(struct cw_sim *sim)
{
    if (sim == NULL)
        return;
    parallel_free(sim);
    for (uint32_t i = 0; i < sim->worker_count && sim->workers != NULL; i++) {
        struct worker *const worker = &sim->workers[i];
        interval_log_free(worker->clock.log);
        change_check_free(&worker->change_check);
        commit_records_free(&worker->records);
        pending_free(&worker->pending);
        listen_free(worker);
        event_pool_free(&worker->pool);
    }
    memory_give(&sim->memory, sim->workers, sim->worker_count * sizeof *sim->workers);
    lp_states_free(&sim->lp_states);
    memory_give(&sim->memory, (void *)(uintptr_t)sim->config.lp_worker, lp_worker_bytes(sim));
    memory_give(&sim->memory, (void *)(uintptr_t)sim->config.least_delay_ps,
                least_delay_bytes(sim));
    free(sim);
}

static int check_injection(const struct cw_sim *sim, uint32_t lp, int64_t time_ps, uint64_t number,
                           const void *payload, unsigned payload_bytes, struct cw_error *error)
{
    if (sim->failure.exit_code != CW_OK) {
        *error = sim->failure;
        return error->exit_code;
    }
    if (lp >= sim->model.lp_count)
        return cw_error_set(error, CW_BUG, "injection to LP %u, but there are %u LPs", (unsigned)lp,
                            (unsigned)sim->model.lp_count);
    if (time_ps < sim->now_ps)
        return cw_error_set(error, CW_BUG, "injection to LP %u at %lld ps, before now, %lld ps",
                            (unsigned)lp, (long long)time_ps, (long long)sim->now_ps);
    if (time_ps == CW_TIME_MAX)
        return cw_error_set(error, CW_BUG, "injection to LP %u at the end of time", (unsigned)lp);
    if (number > CW_NUMBER_MAX)
        return cw_error_set(error, CW_BUG,
                            "injection to LP %u of number %llu; the greatest is %llu", (unsigned)lp,
                            (unsigned long long)number, CW_NUMBER_MAX);
    if (payload_bytes > CW_PAYLOAD_BYTES_MAX)
        return cw_error_set(error, CW_BUG, "injection to LP %u of %u payload bytes; the most is %u",
                            (unsigned)lp, payload_bytes, CW_PAYLOAD_BYTES_MAX);
    if (payload == NULL && payload_bytes > 0)
        return cw_error_set(error, CW_BUG, "injection to LP %u of %u payload bytes at NULL",
                            (unsigned)lp, payload_bytes);
    return CW_OK;
}

/* Changes nothing but the worker of the LP and the account of memory, so that workers may inject at
 * the same time, each to its own LPs. */
int cw_inject(struct cw_sim *sim, uint32_t lp, int64_t time_ps, uint16_t type, uint32_t entity,
              uint64_t number, const void *payload, uint16_t payload_bytes, struct cw_error *error)
{
    const int checked = check_injection(sim, lp, time_ps, number, payload, payload_bytes, error);
    if (checked != CW_OK)
        return checked;
    event_order_by(&sim->model);
    struct worker *const worker =
        &sim->workers[sim->worker_count > 1 ? sim->config.lp_worker[lp] : 0];
    struct cw_event *const event = lp != worker->listener || listen_reserve(worker)
                                       ? event_pool_get(&worker->pool, payload_bytes)
                                       : NULL;
    if (event == NULL)
        return memory_error(&sim->memory, error);
    const struct event_header header = {
        .time_ps = time_ps,
        .number = number,
        .entity = entity,
        .lp = lp,
        .type = type,
        .payload_bytes = payload_bytes,
    };
    event_write(event, &header);
    if (payload_bytes > 0)
        memcpy(event->payload, payload, payload_bytes);
    if (lp == worker->listener)
        listen_add(worker, entry_of(&header, event));
    else if (!pending_push(&worker->pending, entry_of(&header, event))) {
        event_pool_put(&worker->pool, event);
        return memory_error(&sim->memory, error);
    }
    return CW_OK;
}

static void open_interval_logs(struct cw_sim *sim, uint64_t now)
{
    for (uint32_t i = 0; i < sim->worker_count; i++)
        if (sim->workers[i].clock.log != NULL)
            interval_log_open(sim->workers[i].clock.log, now, worker_counts(&sim->workers[i]));
}

static void close_interval_logs(struct cw_sim *sim)
{
    for (uint32_t i = 0; i < sim->worker_count; i++)
        if (sim->workers[i].clock.log != NULL)
            interval_log_close(sim->workers[i].clock.log, clock_ticks(),
                               worker_counts(&sim->workers[i]));
}

int cw_drain(struct cw_sim *sim, struct cw_error *error)
{
    return cw_drain_until(sim, CW_TIME_MAX, error);
}

int cw_drain_until(struct cw_sim *sim, int64_t end_ps, struct cw_error *error)
{
    sim->end_ps = end_ps < sim->config.end_ps ? end_ps : sim->config.end_ps;
    if (sim->failure.exit_code != CW_OK) {
        *error = sim->failure;
        return error->exit_code;
    }
    const uint64_t start_ticks = clock_ticks();
    event_order_by(&sim->model);
    sim->drain_start_s = clock_s();
    open_interval_logs(sim, start_ticks);
    if (!sim->config.tuning.leave_signals)
        fault_guard_take_signals();
    const int result = sim->config.sync == CW_SEQUENTIAL ? sequential_drain(sim, &sim->failure)
                                                         : parallel_drain(sim, &sim->failure);
    close_interval_logs(sim);
    sim->times.run_s += clock_s() - sim->drain_start_s;
    sim->run_ticks += clock_ticks() - start_ticks;
    sim->now_ps = cw_sim_now(sim);
    if (result != CW_OK)
        *error = sim->failure;
    else
        progress_report_drained(sim);
    return result;
}

/* The workers have noted their own times of the call. */
static void note_host_call(struct cw_sim *sim, double wall_s)
{
    double longest_s = 0;
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const double own_s = sim->workers[i].host_s;
        sim->times.work_s += own_s;
        longest_s = own_s > longest_s ? own_s : longest_s;
    }
    sim->times.longest_s += longest_s;
    sim->times.host_s += wall_s;
    sim->times.host_calls++;
}

void cw_each_worker(struct cw_sim *sim, cw_worker_fn fn, void *arg)
{
    const double start_s = clock_s();
    if (sim->config.sync == CW_SEQUENTIAL)
        worker_call_host(&sim->workers[0], fn, arg);
    else
        parallel_each_worker(sim, fn, arg);
    note_host_call(sim, clock_s() - start_s);
}

struct cw_times cw_sim_times(const struct cw_sim *sim) { return sim->times; }

uint32_t cw_lp_worker(const struct cw_sim *sim, uint32_t lp)
{
    return sim->worker_count > 1 ? sim->config.lp_worker[lp] : 0;
}

const struct cw_event *cw_failed_event(const struct cw_sim *sim)
{
    return sim->has_failed_event ? &sim->failed : NULL;
}

int64_t cw_sim_now(const struct cw_sim *sim)
{
    int64_t now_ps = 0;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        if (worker_now_ps(&sim->workers[i]) > now_ps)
            now_ps = worker_now_ps(&sim->workers[i]);
    return now_ps;
}

int64_t cw_sim_next(const struct cw_sim *sim)
{
    int64_t next_ps = CW_TIME_MAX;
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const struct worker *const worker = &sim->workers[i];
        const struct entry *const least = pending_peek(&sim->workers[i].pending);
        const struct listened *const listened = &worker->listened;
        if (least != NULL && least->time_ps < next_ps)
            next_ps = least->time_ps;
        for (size_t k = 0; k < listened->count; k++)
            if (listened->entries[k].time_ps < next_ps)
                next_ps = listened->entries[k].time_ps;
    }
    return next_ps;
}

const void *cw_state(const struct cw_sim *sim, uint32_t lp)
{
    return lp < sim->lp_states.count ? sim->lp_states.blocks[lp]->state : NULL;
}
