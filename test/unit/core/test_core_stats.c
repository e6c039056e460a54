/*
 * test_core_stats.c: the engine's counts, and its figures of a run while it lasts: rollbacks
 * of a known number, cause and length; workers' figures and their sums; rounds of GVT in order.
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/phold/phold.h"
#include "core/run/sequential.h"
#include "core/worker/activity_clock.h"

/* ---- a model of which every rollback is known ------------------------------------------------ */

/*
 * LP 0 is worker 0's, LPs 1 and 2 are worker 1's. LP 1 handles five events at once, the first of
 * which sends one to LP 2. LP 0's only event, which is before all of them, waits until LP 2 has
 * handled its own, and then sends LP 1 a straggler.
 */
enum { LATE = 5 };

struct known {
    atomic_bool *reached; /* LP 2's event was handled */
};

static size_t known_state_bytes(const void *data, uint32_t lp)
{
    (void)data;
    (void)lp;
    return sizeof(uint64_t);
}

static void known_init(const void *data, uint32_t lp, void *state)
{
    (void)data;
    (void)lp;
    (void)state;
}

static void known_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct known *const known = cw_model_data(ctx);
    const uint64_t *const count = state;
    ++*CW_MUT(ctx, count);
    if (event->lp == 0) {
        while (!atomic_load(known->reached))
            sched_yield();
        cw_send(ctx, 1, 40, 0, 0, 1, NULL, 0);
    } else if (event->lp == 1 && event->entity == 1 && event->number == 0) {
        cw_send(ctx, 2, 100, 0, 1, LATE, NULL, 0);
    } else if (event->lp == 2) {
        atomic_store(known->reached, true);
    }
}

static void run_known(enum cw_sync sync, struct cw_stats *stats, struct cw_stats workers[2])
{
    atomic_bool reached = false;
    const struct known known = {.reached = &reached};
    const struct cw_model model = {.name = "known",
                                   .data = &known,
                                   .lp_count = 3,
                                   .state_bytes = known_state_bytes,
                                   .init = known_init,
                                   .handle = known_handle};
    const uint32_t owners[3] = {0, 1, 1};
    const struct cw_config config = {
        .sync = sync, .worker_count = 2, .lp_worker = owners, .end_ps = CW_TIME_MAX};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    assert_int_equal(cw_inject(sim, 0, 10, 0, 0, 0, NULL, 0, &error), CW_OK);
    for (uint64_t i = 0; i < LATE; i++)
        assert_int_equal(cw_inject(sim, 1, 100 + (int64_t)i, 0, 1, i, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_OK);
    cw_sim_stats(sim, stats);
    assert_int_equal(cw_sim_worker_count(sim), 2);
    for (uint32_t i = 0; i < 2; i++)
        cw_sim_worker_stats(sim, i, &workers[i]);
    assert_int_equal(*(const uint64_t *)cw_state(sim, 1), LATE + 1);
    assert_int_equal(*(const uint64_t *)cw_state(sim, 2), 1);
    cw_sim_free(sim);
}

static void a_straggler_counts_as_primary_and_what_it_cancels_as_secondary(void **state)
{
    (void)state;
    static const enum cw_sync modes[] = {CW_OPTIMISTIC, CW_ADAPTIVE};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct cw_stats stats;
        struct cw_stats workers[2];
        run_known(modes[i], &stats, workers);
        assert_int_equal(stats.events_committed, 2 + LATE + 1);
        assert_int_equal(stats.events_processed, 2 + 2 * (LATE + 1));
        assert_int_equal(stats.events_rolled_back, LATE + 1);
        assert_int_equal(stats.rollbacks, 2);
        assert_int_equal(stats.rollbacks_primary, 1);
        assert_int_equal(stats.rollbacks_secondary, 1);
        assert_int_equal(stats.rollbacks_injected, 0);
        assert_int_equal(stats.rollback_events_max, LATE);
        assert_int_equal(stats.anti_messages, 0); /* the cancelled event was the worker's own */
        assert_int_equal(workers[0].rollbacks, 0);
        assert_int_equal(workers[0].events_committed, 1);
        assert_int_equal(workers[1].rollbacks, 2);
        assert_int_equal(workers[1].events_rolled_back, LATE + 1);
    }
}

/* ---- PHOLD ----------------------------------------------------------------------------------- */

enum { WORKERS = 3 };

struct rows {
    struct cw_progress last;
    size_t count;
    size_t wrong; /* rows that do not fit the one before */
    pthread_t thread;
};

/* I-STAT-1: the figures of a row fit together, and only grow from row to row. */
static bool row_fits(const struct cw_progress *a, const struct cw_progress *b)
{
    return b->round == a->round + 1 && b->run_s >= a->run_s && b->gvt_ps >= a->gvt_ps &&
           b->safe_ps >= b->gvt_ps && b->events_committed >= a->events_committed &&
           b->events_processed >= b->events_committed + b->events_rolled_back && b->ahead_ps >= 0 &&
           b->memory_bytes > 0 && b->idle_share >= 0 && b->idle_share <= 1;
}

/* The engine calls it, so it counts the faults instead of ending the test. */
static void keep_row(void *argument, const struct cw_progress *progress)
{
    struct rows *const rows = argument;
    rows->wrong += !pthread_equal(rows->thread, pthread_self());
    rows->wrong += rows->count > 0 && !row_fits(&rows->last, progress);
    rows->last = *progress;
    rows->count++;
}

static struct phold_options small(void)
{
    struct phold_options options = phold_defaults();
    options.lps = 256;
    options.lookahead_ps = 0;
    options.engine.end_ps = 60000000; /* 200,000 events */
    return options;
}

static struct cw_stats run_phold(const struct phold_options *options, enum cw_sync sync,
                                 uint32_t workers)
{
    struct cw_stats stats;
    struct cw_error error;
    double setup_s;
    if (phold_run(options, sync, workers, &stats, &setup_s, &error) != CW_OK)
        fail_msg("%s", error.text);
    return stats;
}

#define ASSERT_SUM(field)                                                                          \
    do {                                                                                           \
        uint64_t sum = 0;                                                                          \
        for (uint32_t worker = 0; worker < WORKERS; worker++)                                      \
            sum += workers[worker].field;                                                          \
        assert_int_equal(sum, stats.field);                                                        \
    } while (0)

static void the_workers_figures_sum_to_the_simulations(void **state)
{
    (void)state;
    static const enum cw_sync modes[] = {CW_OPTIMISTIC, CW_ADAPTIVE, CW_STRESS};
    struct cw_stats workers[WORKERS];
    struct phold_options options = small();
    options.workers = workers;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        const struct cw_stats stats = run_phold(&options, modes[i], WORKERS);
        ASSERT_SUM(events_committed);
        ASSERT_SUM(events_processed);
        ASSERT_SUM(events_rolled_back);
        ASSERT_SUM(rollbacks);
        ASSERT_SUM(rollbacks_primary);
        ASSERT_SUM(rollbacks_secondary);
        ASSERT_SUM(rollbacks_injected);
        ASSERT_SUM(anti_messages);
        ASSERT_SUM(undo_bytes);
        ASSERT_SUM(safe_events);
        ASSERT_SUM(messages_sent);
        ASSERT_SUM(turns);
        ASSERT_SUM(turns_idle);
        ASSERT_SUM(promises_raised);
        assert_true(stats.messages_sent > stats.anti_messages);
        assert_true(stats.turns > stats.turns_idle);
        assert_true(stats.turns >= stats.promises_raised);
        assert_int_equal(stats.events_processed, stats.events_committed + stats.events_rolled_back);
        assert_true(stats.events_rolled_back >= stats.rollbacks);
        assert_true(stats.events_rolled_back <= stats.rollbacks * stats.rollback_events_max);
        assert_int_equal(stats.rollbacks, stats.rollbacks_primary + stats.rollbacks_secondary +
                                              stats.rollbacks_injected);
        assert_true(modes[i] != CW_STRESS || stats.rollbacks_injected > 100);
        assert_true(stats.gvt_rounds > 0);
        assert_true(stats.gvt_round_mean_s > 0);
        assert_true(stats.gvt_round_mean_s * (double)stats.gvt_rounds < 2 * stats.run_s);
    }
}

static void a_worker_alone_rolls_back_only_if_something_is_injected(void **state)
{
    (void)state;
    struct phold_options options = small();
    options.engine.end_ps = 5000000;
    const struct cw_stats quiet = run_phold(&options, CW_OPTIMISTIC, 1);
    assert_int_equal(quiet.rollbacks, 0);
    assert_int_equal(quiet.rollback_events_max, 0);
    const struct cw_stats stress = run_phold(&options, CW_STRESS, 1);
    assert_true(stress.rollbacks_injected > 100);
    assert_int_equal(stress.rollbacks, stress.rollbacks_primary + stress.rollbacks_secondary +
                                           stress.rollbacks_injected);
}

static double sum_of_shares(const struct cw_stats *stats)
{
    double sum = 0;
    for (int i = 0; i < CW_ACTIVITIES; i++) {
        assert_true(stats->time_share[i] >= 0);
        sum += stats->time_share[i];
    }
    return sum;
}

static void shares_of_time_sum_to_1(void **state)
{
    (void)state;
    static const enum cw_sync modes[] = {CW_SEQUENTIAL, CW_OPTIMISTIC, CW_ADAPTIVE};
    struct cw_stats workers[WORKERS];
    struct phold_options options = small();
    options.workers = workers;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        const uint32_t n = modes[i] == CW_SEQUENTIAL ? 1 : WORKERS;
        const struct cw_stats stats = run_phold(&options, modes[i], n);
        assert_true(fabs(sum_of_shares(&stats) - 1) < 1e-9);
        assert_true(stats.time_share[CW_HANDLING] > 0);
        assert_true(stats.time_share[CW_QUEUE] > 0);
        assert_true(n == 1 || stats.time_share[CW_GVT] > 0);
        for (uint32_t worker = 0; worker < n; worker++)
            assert_true(fabs(sum_of_shares(&workers[worker]) - 1) < 1e-9);
    }
    const struct cw_stats one = run_phold(&options, CW_OPTIMISTIC, 1);
    assert_true(one.time_share[CW_ROLLBACK] == 0); /* nothing was rolled back */
}

/* I-STAT-1: the rows of one round fit together. */
static void every_round_is_told_in_order(void **state)
{
    (void)state;
    static const enum cw_sync modes[] = {CW_SEQUENTIAL, CW_OPTIMISTIC, CW_ADAPTIVE, CW_STRESS};
    struct rows rows = {.thread = pthread_self()};
    struct phold_options options = small();
    options.engine.tuning.each_round = keep_row;
    options.engine.tuning.progress_arg = &rows;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        const uint32_t n = modes[i] == CW_SEQUENTIAL ? 1 : WORKERS;
        rows.count = 0;
        const struct cw_stats stats = run_phold(&options, modes[i], n);
        assert_true(rows.count > 1);
        assert_int_equal(rows.wrong, 0);
        assert_true(n == 1 || rows.count == stats.gvt_rounds);
        assert_int_equal(rows.last.events_committed, stats.events_committed);
        assert_int_equal(rows.last.events_processed, stats.events_processed);
        assert_int_equal(rows.last.events_rolled_back, stats.events_rolled_back);
        assert_int_equal(rows.last.history_events, 0);
        assert_true(rows.last.gvt_ps < options.engine.end_ps);
        assert_true(rows.last.run_s == stats.run_s);
    }
}

/* A window that no controller moves is the same at every time. */
static void the_window_is_told_as_it_was(void **state)
{
    (void)state;
    struct phold_options options = small();
    options.lookahead_ps = 100000;
    const struct cw_stats none = run_phold(&options, CW_CONSERVATIVE, 2);
    assert_int_equal(none.window_first, 0);
    assert_int_equal(none.window_last, 0);
    assert_true(none.window_mean == 0);
    options.lookahead_ps = 0;
    struct cw_stats workers[WORKERS];
    options.workers = workers;
    const struct cw_stats adaptive = run_phold(&options, CW_ADAPTIVE, WORKERS);
    assert_true(adaptive.window_first > 0);
    uint64_t most = 0;
    double mean = 0;
    for (uint32_t worker = 0; worker < WORKERS; worker++) {
        assert_int_equal(workers[worker].window_first, adaptive.window_first);
        mean += workers[worker].window_mean / WORKERS;
        most = workers[worker].window_last > most ? workers[worker].window_last : most;
    }
    assert_true(fabs(adaptive.window_mean - mean) < 1e-6 * mean);
    assert_true(adaptive.window_last <= most);
}

/* Distances between samples do not keep step with anything: each of 16 parts of every period from
 * 16 to 8,192 has its share of 16,384 samples, 1,024, within five standard deviations. */
static void check_spread(const uint64_t *at, size_t count)
{
    for (uint64_t period = 16; period <= 8192; period *= 2) {
        uint32_t hits[16] = {0};
        for (size_t i = 0; i < count; i++)
            hits[at[i] % period * 16 / period]++;
        for (size_t part = 0; part < 16; part++)
            assert_in_range(hits[part], count / 16 - 160, count / 16 + 160);
    }
}

static void samples_keep_step_with_no_period(void **state)
{
    (void)state;
    enum { COUNT = 16384 };
    uint64_t *const at = calloc(COUNT, sizeof *at);
    uint64_t committed = 0, turn = 0;
    assert_non_null(at);
    for (size_t i = 0; i < COUNT; i++) {
        at[i] = sequential_next_look(committed);
        assert_true(at[i] > committed && at[i] - committed <= 2 * 8192);
        committed = at[i] + EVENTS_BEFORE_SAMPLE + EVENTS_PER_SAMPLE;
    }
    assert_in_range(committed / COUNT, 8190, 8194); /* one in 1,024 events is timed */
    check_spread(at, COUNT);
    struct activity_clock clock;
    activity_init(&clock);
    for (size_t i = 0; i < COUNT; i++) {
        activity_begin(&clock, CW_GVT, 0);
        activity_end(&clock, false);
        at[i] = turn += clock.turns_left;
    }
    assert_in_range(turn / COUNT, TURNS_PER_SAMPLE - 2, TURNS_PER_SAMPLE + 2);
    check_spread(at, COUNT);
    free(at);
}

/* A sample of that many ticks in the queue and in handlers, and a few more of the test's own. */
static void sample_of(struct activity_clock *clock, uint64_t queue, uint64_t handling, bool away)
{
    activity_begin(clock, CW_QUEUE, 0);
    clock->since -= queue;
    (void)activity_go(clock, CW_HANDLING);
    clock->since -= handling;
    (void)activity_go(clock, CW_QUEUE);
    activity_stop(clock);
    clock->since -= UINT64_C(100) * queue; /* nobody's */
    activity_forget_interrupted(clock, away);
    activity_end(clock, false);
}

enum { QUEUE_TICKS = 150000, HANDLING_TICKS = 850000 }; /* much more than a test's own */

static double queue_share(const struct activity_clock *clock)
{
    double share[CW_ACTIVITIES];
    activity_shares(clock, share);
    return share[CW_QUEUE];
}

/* A thread that lost its core in every tenth sample, also in the first one, for a hundred times as
 * long as its events take: always in the queue. */
static void what_others_took_while_the_thread_was_away_does_not_count(void **state)
{
    (void)state;
    struct activity_clock clock;
    activity_init(&clock);
    for (int i = 0; i < 100; i++) {
        const bool away = i % 10 == 0;
        sample_of(&clock, QUEUE_TICKS + (away ? 100 * HANDLING_TICKS : 0), HANDLING_TICKS, away);
    }
    assert_true(fabs(queue_share(&clock) - 0.15) < 0.01);
}

/* What a machine that stood still took, unseen by the thread, is no time of the engine's; a long
 * event's is. */
static void a_sample_of_many_means_does_not_count(void **state)
{
    (void)state;
    struct activity_clock clock;
    activity_init(&clock);
    for (int i = 0; i < 100; i++)
        sample_of(&clock, QUEUE_TICKS, HANDLING_TICKS, false);
    sample_of(&clock, UINT64_C(1000) * (QUEUE_TICKS + HANDLING_TICKS), 0, false);
    assert_true(fabs(queue_share(&clock) - 0.15) < 0.01);
    sample_of(&clock, 100 * HANDLING_TICKS, 0, false);
    assert_true(queue_share(&clock) > 0.5);
}

/* What a sample begins with is left out. */
static void the_events_before_a_sample_do_not_count(void **state)
{
    (void)state;
    struct activity_clock clock;
    activity_init(&clock);
    activity_begin(&clock, CW_QUEUE, 0);
    clock.since -= UINT64_C(100) * HANDLING_TICKS;
    (void)activity_go(&clock, CW_HANDLING);
    activity_forget(&clock);
    clock.since -= HANDLING_TICKS;
    (void)activity_go(&clock, CW_QUEUE);
    clock.since -= QUEUE_TICKS;
    activity_end(&clock, false);
    assert_true(fabs(queue_share(&clock) - 0.15) < 0.01);
}

static void a_thread_that_sleeps_is_away(void **state)
{
    (void)state;
    const uint64_t before = clock_times_away();
    assert_int_equal(nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL), 0);
    assert_true(clock_times_away() > before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_straggler_counts_as_primary_and_what_it_cancels_as_secondary),
        cmocka_unit_test(the_workers_figures_sum_to_the_simulations),
        cmocka_unit_test(a_worker_alone_rolls_back_only_if_something_is_injected),
        cmocka_unit_test(shares_of_time_sum_to_1),
        cmocka_unit_test(samples_keep_step_with_no_period),
        cmocka_unit_test(what_others_took_while_the_thread_was_away_does_not_count),
        cmocka_unit_test(a_sample_of_many_means_does_not_count),
        cmocka_unit_test(the_events_before_a_sample_do_not_count),
        cmocka_unit_test(a_thread_that_sleeps_is_away),
        cmocka_unit_test(every_round_is_told_in_order),
        cmocka_unit_test(the_window_is_told_as_it_was),
    };
    return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
