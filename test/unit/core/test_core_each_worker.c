/*
 * test_core_each_worker.c: the host's work for each worker: each worker once, on the thread that
 * runs it in a drain; the values that the calls write are there when they have returned. Where
 * workers' states lie.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cw.h"
#include "core/os/clock.h"

enum { WORKERS_MAX = 8 };

/* The calls and their threads: each worker writes to its own places only. */
struct seen {
    uint32_t calls[WORKERS_MAX], order[WORKERS_MAX];
    pthread_t called_on[WORKERS_MAX], drained_on[WORKERS_MAX];
    uint32_t *next; /* the calls of one thread so far, if all are on one */
    uint32_t given; /* by the caller, before */
};

static size_t no_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return 0;
}

static void no_init(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp, (void)state;
}

static void note_thread(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    struct seen *const seen = (struct seen *)(uintptr_t)cw_model_data(ctx);
    (void)state;
    seen->drained_on[event->lp] = pthread_self();
}

static void note_call(void *arg, uint32_t worker)
{
    struct seen *const seen = arg;
    seen->calls[worker] += seen->given;
    seen->called_on[worker] = pthread_self();
    if (seen->next != NULL)
        seen->order[worker] = (*seen->next)++;
}

/* As many LPs as workers, one for each. */
static struct cw_sim *create(enum cw_sync sync, uint32_t workers, uint32_t threads,
                             struct seen *seen)
{
    const struct cw_model model = {.name = "notes",
                                   .data = seen,
                                   .lp_count = workers,
                                   .state_bytes = no_bytes,
                                   .init = no_init,
                                   .handle = note_thread};
    const struct cw_config config = {.sync = sync,
                                     .worker_count = workers,
                                     .tuning.thread_count = threads,
                                     .end_ps = CW_TIME_MAX,
                                     .tuning.pin_workers = true};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    return sim;
}

static void drain(struct cw_sim *sim, uint32_t lps)
{
    struct cw_error error;
    for (uint32_t lp = 0; lp < lps; lp++)
        assert_int_equal(cw_inject(sim, lp, cw_sim_now(sim), 0, 0, lp, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_OK);
}

static void each_worker_is_called_once_on_its_own_thread(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= WORKERS_MAX; workers++)
        for (uint32_t threads = 1; threads <= workers; threads++) {
            struct seen seen = {.given = 0};
            struct cw_sim *const sim = create(CW_ADAPTIVE, workers, threads, &seen);
            for (uint32_t times = 1; times <= 3; times++) {
                memset(seen.calls, 0, sizeof seen.calls);
                seen.given = times;
                cw_each_worker(sim, note_call, &seen);
                for (uint32_t i = 0; i < WORKERS_MAX; i++)
                    assert_int_equal(seen.calls[i], i < workers ? times : 0);
                if (times != 2)
                    drain(sim, workers);
                for (uint32_t i = 0; i < workers; i++)
                    assert_true(pthread_equal(seen.called_on[i], seen.drained_on[i]));
            }
            assert_true(pthread_equal(seen.called_on[0], pthread_self()));
            uint32_t changes = 0; /* neighbours share a thread */
            for (uint32_t i = 1; i < workers; i++)
                changes += !pthread_equal(seen.called_on[i], seen.called_on[i - 1]);
            assert_int_equal(changes, threads - 1);
            cw_sim_free(sim);
        }
}

static void one_thread_takes_its_workers_in_ascending_order(void **state)
{
    (void)state;
    uint32_t next = 0;
    struct seen seen = {.next = &next, .given = 1};
    struct cw_sim *const sim = create(CW_CONSERVATIVE, 1, 0, &seen);
    cw_each_worker(sim, note_call, &seen);
    assert_int_equal(next, 1);
    cw_sim_free(sim);
    struct cw_sim *const many = create(CW_OPTIMISTIC, WORKERS_MAX, 1, &seen);
    next = 0;
    cw_each_worker(many, note_call, &seen);
    for (uint32_t i = 0; i < WORKERS_MAX; i++) {
        assert_int_equal(seen.order[i], i);
        assert_true(pthread_equal(seen.called_on[i], pthread_self()));
    }
    cw_sim_free(many);
}

static void a_sequential_simulation_has_one_worker(void **state)
{
    (void)state;
    struct seen seen = {.given = 1};
    struct cw_sim *const sim = create(CW_SEQUENTIAL, 4, 0, &seen);
    cw_each_worker(sim, note_call, &seen);
    for (uint32_t i = 0; i < WORKERS_MAX; i++)
        assert_int_equal(seen.calls[i], i == 0);
    assert_true(pthread_equal(seen.called_on[0], pthread_self()));
    cw_sim_free(sim);
}

/* ---- injections ------------------------------------------------------------------------------ */

enum { INJECTING_LPS = 40, INJECTED = 300 };

static void pass_on(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state;
    if (event->number % 3 == 0)
        cw_send(ctx, (event->lp + 1) % INJECTING_LPS, 7, 1, event->lp + 1, event->number + 1, NULL,
                0);
}

/* Injects so many events to each LP of a worker; worker UINT32_MAX: of all. */
static void inject_some(void *arg, uint32_t worker)
{
    struct cw_sim *const sim = arg;
    struct cw_error error;
    for (uint32_t i = 0; i < INJECTED; i++)
        for (uint32_t lp = 0; lp < INJECTING_LPS; lp++)
            if (worker == UINT32_MAX || cw_lp_worker(sim, lp) == worker)
                if (cw_inject(sim, lp, cw_sim_now(sim) + i % 17, 0, lp + 1, i, &i, sizeof i,
                              &error) != CW_OK)
                    abort();
}

static uint64_t hash_of_injections(enum cw_sync sync, uint32_t workers, bool by_workers)
{
    const struct cw_model model = {.name = "injected",
                                   .lp_count = INJECTING_LPS,
                                   .state_bytes = no_bytes,
                                   .init = no_init,
                                   .handle = pass_on};
    const struct cw_config config = {.sync = sync,
                                     .worker_count = workers,
                                     .tuning.thread_count = workers,
                                     .end_ps = CW_TIME_MAX};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    for (int drains = 0; drains < 3; drains++) {
        if (by_workers)
            cw_each_worker(sim, inject_some, sim);
        else
            inject_some(sim, UINT32_MAX);
        assert_int_equal(cw_drain(sim, &error), CW_OK);
    }
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    cw_sim_free(sim);
    return stats.trace_hash;
}

static void workers_may_inject_to_their_own_lps(void **state)
{
    (void)state;
    const uint64_t expected = hash_of_injections(CW_SEQUENTIAL, 1, false);
    assert_int_equal(hash_of_injections(CW_SEQUENTIAL, 1, true), expected);
    for (uint32_t workers = 1; workers <= WORKERS_MAX; workers++) {
        assert_int_equal(hash_of_injections(CW_ADAPTIVE, workers, true), expected);
        assert_int_equal(hash_of_injections(CW_OPTIMISTIC, workers, true), expected);
    }
}

/* ---- times ---------------------------------------------------------------------------------- */

/* Worker 0 takes longer than the others. */
static void take_time(void *arg, uint32_t worker)
{
    const double start_s = clock_s(), *const least_s = arg;
    while (clock_s() - start_s < least_s[worker > 0])
        ;
}

static void the_times_of_calls_are_told(void **state)
{
    (void)state;
    double least_s[2] = {0.004, 0.001};
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct cw_sim *const sim = create(CW_ADAPTIVE, 4, threads, NULL);
        const struct cw_times before = cw_sim_times(sim);
        cw_each_worker(sim, take_time, least_s);
        cw_each_worker(sim, take_time, least_s);
        const struct cw_times after = cw_sim_times(sim);
        assert_int_equal(after.host_calls - before.host_calls, 2);
        assert_true(after.longest_s - before.longest_s >= 2 * 0.004);
        assert_true(after.work_s - before.work_s >= 2 * (0.004 + 3 * 0.001));
        assert_true(after.host_s - before.host_s >= after.longest_s - before.longest_s);
        assert_true(after.run_s == before.run_s);
        cw_sim_free(sim);
    }
}

/* ---- states ---------------------------------------------------------------------------------- */

enum { LARGE_LPS = 64, LARGE_BYTES = 128 << 10 };

static size_t large_bytes(const void *data, uint32_t lp)
{
    (void)data;
    return LARGE_BYTES + lp;
}

/* Each LP once. */
static void note_init(const void *data, uint32_t lp, void *state)
{
    pthread_t *const initialised_on = (pthread_t *)(uintptr_t)data;
    uint8_t *const bytes = state;
    initialised_on[lp] = pthread_self();
    bytes[0]++;
    bytes[LARGE_BYTES + lp - 1] += (uint8_t)lp;
}

static void each_workers_thread_initialises_its_states(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= WORKERS_MAX; workers *= 2)
        for (int sync = 0; sync < CW_SYNCS; sync++) {
            pthread_t initialised_on[LARGE_LPS];
            uint32_t lp_worker[LARGE_LPS];
            const struct cw_model model = {.name = "large",
                                           .data = initialised_on,
                                           .lp_count = LARGE_LPS,
                                           .state_bytes = large_bytes,
                                           .init = note_init,
                                           .handle = note_thread};
            for (uint32_t lp = 0; lp < LARGE_LPS; lp++)
                lp_worker[lp] = lp * 7 % workers;
            int64_t least_ps[WORKERS_MAX * WORKERS_MAX];
            for (uint32_t i = 0; i < WORKERS_MAX * WORKERS_MAX; i++)
                least_ps[i] = 1;
            const struct cw_config config = {.sync = (enum cw_sync)sync,
                                             .worker_count = workers,
                                             .tuning.thread_count =
                                                 workers > 2 ? workers / 2 : workers,
                                             .lp_worker = lp_worker,
                                             .least_delay_ps = least_ps,
                                             .end_ps = CW_TIME_MAX};
            struct cw_error error;
            struct seen seen = {.given = 1};
            struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
            assert_non_null(sim);
            cw_each_worker(sim, note_call, &seen);
            for (uint32_t lp = 0; lp < LARGE_LPS; lp++) {
                const uint8_t *const bytes = cw_state(sim, lp);
                const uint32_t worker = sync == CW_SEQUENTIAL ? 0 : lp_worker[lp];
                assert_true(pthread_equal(initialised_on[lp], seen.called_on[worker]));
                assert_int_equal(bytes[0], 1);
                assert_int_equal(bytes[LARGE_BYTES + lp - 1], lp);
            }
            const uint64_t calls = cw_sim_times(sim).host_calls;
            cw_sim_clear(sim);
            assert_int_equal(cw_sim_times(sim).host_calls, calls + 1);
            cw_sim_free(sim);
        }
}

enum { FEW_LPS = 6, FEW_WORKERS = 3, APART_BYTES = 16 << 20 };

static size_t given_bytes(const void *data, uint32_t lp) { return *(const size_t *)data + lp; }

static void clear_state(const void *data, uint32_t lp, void *state)
{
    memset(state, 0, given_bytes(data, lp));
}

/* core/worker/lp_states.h: no processor that fetches ahead in even steps goes from one to the
 * other. */
static void states_of_two_workers_lie_far_apart(void **state)
{
    (void)state;
    static const size_t sizes[] = {24, 1 << 20};
    static const uint32_t owners[FEW_LPS] = {2, 0, 1, 1, 0, 2};
    for (int i = 0; i < 2; i++) {
        const struct cw_model model = {.name = "apart",
                                       .data = &sizes[i],
                                       .lp_count = FEW_LPS,
                                       .state_bytes = given_bytes,
                                       .init = clear_state,
                                       .handle = note_thread};
        const struct cw_config config = {.sync = CW_STRESS,
                                         .worker_count = FEW_WORKERS,
                                         .lp_worker = owners,
                                         .end_ps = CW_TIME_MAX,
                                         .memory_bytes_max = 32 << 20};
        struct cw_error error;
        struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
        assert_non_null(sim);
        for (uint32_t a = 0; a < FEW_LPS; a++)
            for (uint32_t b = 0; b < a; b++) {
                const intptr_t from = (intptr_t)cw_state(sim, a), to = (intptr_t)cw_state(sim, b);
                const intptr_t apart = from < to ? to - from : from - to;
                assert_true(owners[a] == owners[b] || apart >= APART_BYTES);
            }
        cw_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_worker_is_called_once_on_its_own_thread),
        cmocka_unit_test(one_thread_takes_its_workers_in_ascending_order),
        cmocka_unit_test(a_sequential_simulation_has_one_worker),
        cmocka_unit_test(workers_may_inject_to_their_own_lps),
        cmocka_unit_test(the_times_of_calls_are_told),
        cmocka_unit_test(each_workers_thread_initialises_its_states),
        cmocka_unit_test(states_of_two_workers_lie_far_apart),
    };
    return cmocka_run_group_tests_name("work for each worker", tests, NULL, NULL);
}
