/*
 * test_core_parallel.c: random models (test/support/random_model.h) on several workers, in every
 * mode, against the sequential engine: the same trace hash, the same records in the same order, the
 * same failure; and how far they speculate.
 *
 * PARALLEL_SEED=7 PARALLEL_SEEDS=1 replays one model; PARALLEL_SEEDS=2000 runs as many. The default
 * is the number with which test/mutants/run.py finds the bugs that it plants.
 * RANDOM_RUNS=4 makes so many runs of each model; PARALLEL_TEST=models leaves all others out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/at_random.h"
#include "test/support/random_model.h"

static const enum cw_gather gather_ways[] = {CW_GATHER_NEVER, CW_GATHER_IF_FASTER, CW_GATHER_OFTEN};

enum { SEEDS_DEFAULT = 10, TTL = 30 };

static void compare_one(const struct random_model *m, const struct random_run *run,
                        const struct random_outcome *expected)
{
    const struct random_outcome got = random_model_run(m, run);
    char text[2500];
    if (random_outcome_differs(&got, expected, text, sizeof text))
        fail_msg("seed %llu, %s on %u workers, %s cancellation, balance %s, %s, steps of %lld ps: "
                 "%s\n"
                 "replay: PARALLEL_SEED=%llu PARALLEL_SEEDS=1 "
                 "build/check/test/unit/core/test_core_parallel",
                 (unsigned long long)run->seed, cw_sync_name[run->sync], run->workers,
                 run->lazy ? "lazy" : "aggressive", balance_name(run->balance),
                 run->gather == CW_GATHER_NEVER   ? "apart"
                 : run->gather == CW_GATHER_OFTEN ? "gathered often"
                                                  : "gathered if faster",
                 (long long)run->step_ps, text, (unsigned long long)run->seed);
}

/* Every mode on 1, 2, 3, 4 and 8 workers. Every other seed with lazy cancellation, where the mode
 * undoes anything; of three seeds two with parts that move at random. Threads that stay apart, that
 * begin gathered, and that gather again and again. A fifth of the runs
 * is made of many short drains. */
static void compare_all(const struct random_model *m, uint64_t seed)
{
    static const uint32_t counts[] = {1, 2, 3, 4, 8};
    enum {
        COUNTS = sizeof counts / sizeof *counts,
        GATHERS = sizeof gather_ways / sizeof *gather_ways,
        RUNS = (CW_SYNCS - CW_CONSERVATIVE) * COUNTS * GATHERS
    };
    const struct random_outcome expected = random_model_run(
        m, &(struct random_run){.sync = CW_SEQUENTIAL, .workers = 1, .seed = seed});
    for (uint32_t i = 0; i < RUNS; i++) {
        const struct random_run run = {.sync = CW_CONSERVATIVE + i / (COUNTS * GATHERS),
                                       .workers = counts[i / GATHERS % COUNTS],
                                       .seed = seed,
                                       .balance =
                                           seed % 3 == 0 ? CW_BALANCE_OFF : CW_BALANCE_RANDOM,
                                       .lazy = seed % 2 == 0,
                                       .gather = gather_ways[i % GATHERS],
                                       .step_ps = (seed + i) % 5 == 0 ? 1 + (int64_t)seed : 0};
        if (random_run_is_drawn(seed, i, RUNS) && random_model_runs(m, run.sync, run.workers))
            compare_one(m, &run, &expected);
    }
}

static void every_mode_commits_what_the_sequential_one_does(void **state)
{
    (void)state;
    const uint64_t first = random_from_environment("PARALLEL_SEED", 1);
    const uint64_t seeds = random_from_environment("PARALLEL_SEEDS", SEEDS_DEFAULT);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        const struct random_model m = random_model_draw(seed, RANDOM_LPS_MAX, TTL);
        compare_all(&m, seed);
    }
}

static void every_mode_reports_the_least_failure_and_the_records_before_it(void **state)
{
    (void)state;
    const uint64_t first = random_from_environment("PARALLEL_SEED", 1);
    const uint64_t seeds = random_from_environment("PARALLEL_SEEDS", SEEDS_DEFAULT);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct random_model m = random_model_draw(seed, RANDOM_LPS_MAX, TTL);
        m.fail_ps = 1500 + (int64_t)(seed * 37);
        compare_all(&m, seed);
    }
}

/* A run with a limit near the number of events before its failure: the limit and the failing event
 * end it in every mode alike, with the same words. */
static void a_limit_near_a_failure_ends_every_mode_alike(void **state)
{
    (void)state;
    static const int64_t near[] = {-7, -1, 0, 1, 2, 40};
    enum { MODES = CW_SYNCS - CW_CONSERVATIVE, WORKERS = 4, NEAR = sizeof near / sizeof *near };
    const uint64_t first = random_from_environment("PARALLEL_SEED", 1);
    const uint64_t seeds = random_from_environment("PARALLEL_SEEDS", SEEDS_DEFAULT);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct random_model m = random_model_draw(seed, 16, TTL / 2);
        m.fail_ps = 600 + (int64_t)(seed * 37);
        m.listens = seed % 2 == 1;
        struct random_run run = {.sync = CW_SEQUENTIAL, .workers = 1, .seed = seed};
        const uint64_t before = random_model_run(&m, &run).committed;
        for (uint32_t i = 0; i < NEAR && before > 7; i++) {
            run = (struct random_run){.sync = CW_SEQUENTIAL,
                                      .workers = 1,
                                      .seed = seed,
                                      .events_max = (uint64_t)((int64_t)before + near[i])};
            const struct random_outcome expected = random_model_run(&m, &run);
            for (int sync = CW_CONSERVATIVE; sync < CW_SYNCS; sync++)
                for (run.workers = 1; run.workers <= WORKERS; run.workers++) {
                    const uint32_t number =
                        (i * MODES + (uint32_t)sync - CW_CONSERVATIVE) * WORKERS + run.workers - 1;
                    run.sync = (enum cw_sync)sync;
                    run.gather = gather_ways[seed % 3];
                    run.balance = seed % 2 == 0 ? CW_BALANCE_OFF : CW_BALANCE_RANDOM;
                    if (!random_run_is_drawn(seed, number, NEAR * MODES * WORKERS) ||
                        !random_model_runs(&m, run.sync, run.workers))
                        continue;
                    const struct random_outcome got = random_model_run(&m, &run);
                    if (got.exit_code != expected.exit_code || strcmp(got.text, expected.text) != 0)
                        fail_msg("seed %lu, %s, %u workers, limit %lu, failing after %lu: \"%s\" "
                                 "instead of \"%s\"",
                                 (unsigned long)seed, cw_sync_name[sync], run.workers,
                                 (unsigned long)run.events_max, (unsigned long)before, got.text,
                                 expected.text);
                }
        }
    }
}

static void one_thread_handles_a_share_of_the_events_if_they_gather_often(void **state)
{
    (void)state;
    uint64_t gathered = 0, committed = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const struct random_model m = random_model_draw(seed, RANDOM_LPS_MAX, TTL);
        const struct random_outcome often = random_model_run(
            &m, &(struct random_run){
                    .sync = CW_ADAPTIVE, .workers = 3, .seed = seed, .gather = CW_GATHER_OFTEN});
        const struct random_outcome never = random_model_run(
            &m, &(struct random_run){.sync = CW_ADAPTIVE, .workers = 3, .seed = seed});
        assert_int_equal(never.gathered, 0);
        gathered += often.gathered;
        committed += often.committed;
    }
    assert_in_range(gathered, 1, committed - 1);
}

static void the_stress_mode_does_undo_events(void **state)
{
    (void)state;
    const struct random_model m = random_model_draw(3, RANDOM_LPS_MAX, TTL);
    for (uint32_t workers = 1; workers <= 3; workers += 2) {
        const struct random_run run = {.sync = CW_STRESS, .workers = workers, .seed = 3};
        assert_true(random_model_run(&m, &run).injected > 100);
    }
}

/* In every mode. I-MOVE-1, I-MOVE-2, I-MOVE-3, I-MOVE-4, I-MOVE-5 and I-MOVE-6 are asserted
 * meanwhile. */
static void parts_move_and_the_result_stays(void **state)
{
    enum { SEEDS = 6 };
    (void)state;
    for (enum cw_sync sync = CW_CONSERVATIVE; sync < CW_SYNCS; sync++) {
        uint64_t moves = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct random_model m = random_model_draw(seed, RANDOM_LPS_MAX, 2 * TTL);
            m.lookahead_ps += sync == CW_CONSERVATIVE;
            struct random_run run = {.sync = CW_SEQUENTIAL, .workers = 1, .seed = seed};
            const struct random_outcome expected = random_model_run(&m, &run);
            run = (struct random_run){.sync = sync,
                                      .workers = 2 + (uint32_t)seed % 3 * 3,
                                      .seed = seed,
                                      .window_ps = 300, /* so that there are many rounds */
                                      .balance = CW_BALANCE_RANDOM,
                                      .lazy = seed % 2 == 0};
            const struct random_outcome got = random_model_run(&m, &run);
            char text[2500];
            if (random_outcome_differs(&got, &expected, text, sizeof text))
                fail_msg("seed %llu, %s on %u workers: %s", (unsigned long long)seed,
                         cw_sync_name[sync], run.workers, text);
            moves += got.moves;
        }
        print_message("%s: %llu moves\n", cw_sync_name[sync], (unsigned long long)moves);
        assert_true(moves > SEEDS);
    }
}

static void the_conservative_mode_wants_a_least_delay(void **state)
{
    (void)state;
    const struct random_model m = {.lps = 2, .spread_ps = 1, .grid_ps = 1, .fail_ps = CW_TIME_MAX};
    const struct random_run run = {.sync = CW_CONSERVATIVE, .workers = 2};
    const struct random_outcome outcome = random_model_run(&m, &run);
    assert_int_equal(outcome.exit_code, CW_USAGE);
    assert_string_equal(outcome.text,
                        "the conservative mode needs a least delay between workers, and there is "
                        "none from worker 0 to worker 1; use the adaptive mode");
}

/* ---- the window ------------------------------------------------------------------------------ */

enum { STEP_PS = 10, WINDOW_PS = 20, STEPS = 20000 }; /* less than a batch */

static size_t no_state(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return 0;
}

static void no_init(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp, (void)state;
}

/* Each LP goes its own way, without end as far as the others know. */
static void go_on(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state;
    if (event->number < STEPS)
        cw_send(ctx, event->lp, STEP_PS, 0, event->lp, event->number + 1, NULL, 0);
}

struct farthest {
    int64_t ahead_ps;
};

static void look(void *arg, const struct cw_progress *progress)
{
    struct farthest *const farthest = arg;
    if (progress->ahead_ps > farthest->ahead_ps)
        farthest->ahead_ps = progress->ahead_ps;
}

/* Two workers that take turns, so that one is ahead of the other by all that it may. */
static int64_t farthest_ahead(int64_t window_ps)
{
    struct farthest farthest = {0};
    const struct cw_model model = {.name = "two ways",
                                   .lp_count = 2,
                                   .state_bytes = no_state,
                                   .init = no_init,
                                   .handle = go_on};
    const struct cw_config config = {.sync = CW_OPTIMISTIC,
                                     .worker_count = 2,
                                     .tuning.thread_count = 1,
                                     .end_ps = CW_TIME_MAX,
                                     .tuning.window_ps = window_ps,
                                     .tuning.each_round = look,
                                     .tuning.progress_arg = &farthest};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    for (uint32_t lp = 0; lp < 2; lp++)
        assert_int_equal(cw_inject(sim, lp, 0, 0, lp, 0, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_OK);
    cw_sim_free(sim);
    return farthest.ahead_ps;
}

static void speculation_stays_within_the_window(void **state)
{
    (void)state;
    assert_true(farthest_ahead(WINDOW_PS) <= WINDOW_PS);
    assert_true(farthest_ahead(0) > WINDOW_PS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speculation_stays_within_the_window),
        cmocka_unit_test(every_mode_commits_what_the_sequential_one_does),
        cmocka_unit_test(every_mode_reports_the_least_failure_and_the_records_before_it),
        cmocka_unit_test(a_limit_near_a_failure_ends_every_mode_alike),
        cmocka_unit_test(one_thread_handles_a_share_of_the_events_if_they_gather_often),
        cmocka_unit_test(the_stress_mode_does_undo_events),
        cmocka_unit_test(parts_move_and_the_result_stays),
        cmocka_unit_test(the_conservative_mode_wants_a_least_delay),
    };
    if (getenv("PARALLEL_TEST") != NULL)
        cmocka_set_test_filter("every_mode*");
    return cmocka_run_group_tests_name("parallel", tests, NULL, NULL);
}
