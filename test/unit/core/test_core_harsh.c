/*
 * test_core_harsh.c: random models at the edges (test/support/harsh_model.h) on 1 to 8 workers, in
 * every mode, both ways of cancellation, with and without limits of memory, against the sequential
 * engine: the same trace hash, states and records, or the same failure.
 *
 * HARSH_SEED=7 HARSH_SEEDS=1 replays one model; HARSH_SEEDS=2000 runs as many. RANDOM_RUNS=4 makes
 * so many runs of each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/at_random.h"
#include "test/support/harsh_model.h"

enum { SEEDS_DEFAULT = 25, LPS_MAX = HARSH_LPS_MAX, TTL_MAX = 40 };

/* A sanitizer reports a division by zero before the engine can contain it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { FAULTS = 0 };
#else
enum { FAULTS = 1 };
#endif

/* Of one test: how many runs there were, and how many of them ended for lack of memory. */
static uint64_t runs, out_of_memory, rolled_back;

static void compare(const struct harsh_model *m, const struct random_run *run,
                    const struct random_outcome *expected)
{
    if (!harsh_model_runs(m, run))
        return;
    const struct random_outcome got = harsh_model_run(m, run);
    char text[2500];
    runs++;
    rolled_back += got.rolled_back;
    if (harsh_ran_out_of_memory(&got) && run->memory_bytes_max > 0) {
        out_of_memory++;
        return;
    }
    if (random_outcome_differs(&got, expected, text, sizeof text))
        fail_msg("seed %llu, %s on %u workers, %u threads, %s cancellation, limit %llu, balance "
                 "%s: %s\nreplay: HARSH_SEED=%llu HARSH_SEEDS=1 "
                 "build/check/test/unit/core/test_core_harsh",
                 (unsigned long long)run->seed, cw_sync_name[run->sync], run->workers, run->threads,
                 run->lazy ? "lazy" : "aggressive", (unsigned long long)run->memory_bytes_max,
                 balance_name(run->balance), text, (unsigned long long)run->seed);
}

/* A limit between that of which a run cannot begin and one that does not matter. */
static uint64_t limit_for(const struct harsh_model *m, const struct random_run *run)
{
    const uint64_t large = m->large_states ? m->lps / 5 * UINT64_C(300000) + 400000 : 0;
    return 150000 + run->workers * UINT64_C(90000) + large +
           (run->seed * 7919 + run->sync * 31) % 40 * UINT64_C(20000);
}

static void compare_modes(const struct harsh_model *m, uint64_t seed,
                          const struct random_outcome *expected)
{
    static const enum cw_gather gathers[] = {CW_GATHER_NEVER, CW_GATHER_IF_FASTER, CW_GATHER_OFTEN};
    struct cw_rng rng = cw_rng_seeded(seed, 8);
    const uint32_t workers = 1 + cw_rng_below(&rng, HARSH_WORKERS_MAX);
    const uint32_t of = 2 * (2 * (CW_SYNCS - CW_CONSERVATIVE) - 1);
    uint32_t number = 0;
    for (enum cw_sync sync = CW_CONSERVATIVE; sync < CW_SYNCS; sync++)
        for (int lazy = 0; lazy < (sync == CW_CONSERVATIVE ? 1 : 2); lazy++)
            for (int limited = 0; limited < 2; limited++) {
                struct random_run run = {
                    .sync = sync,
                    .workers = workers,
                    .threads = 1 + cw_rng_below(&rng, workers < 3 ? workers : 3),
                    .seed = seed,
                    .balance = cw_rng_below(&rng, 3) == 0 ? CW_BALANCE_RANDOM : CW_BALANCE_OFF,
                    .gather = gathers[cw_rng_below(&rng, 3)],
                    .lazy = lazy,
                    .check_changes = cw_rng_below(&rng, 5) == 0};
                run.memory_bytes_max = limited ? limit_for(m, &run) : 0;
                if (random_run_is_drawn(seed, number++, of))
                    compare(m, &run, expected);
            }
}

static void models_at_the_edges_run_as_in_the_sequential_mode(void **state)
{
    (void)state;
    const uint64_t first = random_from_environment("HARSH_SEED", 1);
    const uint64_t seeds = random_from_environment("HARSH_SEEDS", SEEDS_DEFAULT);
    runs = out_of_memory = rolled_back = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct harsh_model m = harsh_model_draw(seed, LPS_MAX, TTL_MAX);
        m.faults = FAULTS;
        const struct random_outcome expected = harsh_model_learn(&m, seed);
        compare_modes(&m, seed, &expected);
        harsh_model_free(&m);
    }
    print_message("%llu runs, %llu of them out of memory, %llu events undone\n",
                  (unsigned long long)runs, (unsigned long long)out_of_memory,
                  (unsigned long long)rolled_back);
}

/* A model whose chains are long, on few workers, under limits from one at which it may not begin to
 * one at which it need not undo for memory. */
static void long_chains_run_in_little_memory(void **state)
{
    enum { LIMITS = 6, WORKERS_MAX = 4, TTL_LONG = 200 };
    (void)state;
    const uint64_t first = random_from_environment("HARSH_SEED", 1);
    const uint64_t seeds = random_from_environment("HARSH_SEEDS", SEEDS_DEFAULT) / 5 + 1;
    runs = out_of_memory = rolled_back = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct harsh_model m = harsh_model_draw(seed, LPS_MAX, TTL_LONG);
        struct cw_rng rng = cw_rng_seeded(seed, 9);
        const uint32_t workers = 2 + cw_rng_below(&rng, WORKERS_MAX - 1);
        m.large_states = false;
        m.window_ps = m.base_ps = m.sends_max = 0;
        m.end_ps = CW_TIME_MAX;
        m.drains = 1;
        m.fan = 1;
        const struct random_outcome expected = harsh_model_learn(&m, seed);
        for (enum cw_sync sync = CW_OPTIMISTIC; sync < CW_SYNCS; sync++)
            for (uint32_t limit = 0; limit < LIMITS; limit++) {
                const struct random_run run = {.sync = sync,
                                               .workers = workers,
                                               .threads = 1 + (uint32_t)(seed + limit) % 2,
                                               .seed = seed,
                                               .lazy = (seed + limit) % 4 < 2,
                                               .memory_bytes_max = workers * UINT64_C(330000) +
                                                                   limit * UINT64_C(150000)};
                if (random_run_is_drawn(seed, (sync - CW_OPTIMISTIC) * LIMITS + limit,
                                        (CW_SYNCS - CW_OPTIMISTIC) * LIMITS))
                    compare(&m, &run, &expected);
            }
        harsh_model_free(&m);
    }
    print_message("%llu runs, %llu of them out of memory, %llu events undone\n",
                  (unsigned long long)runs, (unsigned long long)out_of_memory,
                  (unsigned long long)rolled_back);
    assert_true(out_of_memory < runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_at_the_edges_run_as_in_the_sequential_mode),
        cmocka_unit_test(long_chains_run_in_little_memory),
    };
    return cmocka_run_group_tests_name("harsh", tests, NULL, NULL);
}
