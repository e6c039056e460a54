/*
 * test_explore_harsh.c: schedules (explorer.h) of small random models at the edges
 * (test/support/harsh_model.h), in every mode on 1 to 4 workers, with plenty of memory, little, and
 * little at times, against the sequential engine. The engine's assertions are on.
 *
 * HARSH_SEED=7 HARSH_SEEDS=1 replays a schedule; HARSH_SEEDS=100000 explores as many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/at_random.h"
#include "test/stress/explorer.h"
#include "test/support/harsh_model.h"

enum { SEEDS_DEFAULT = 1500, LPS_MAX = 14, TTL_MAX = 16, WORKERS_MAX = 4, SCHEDULES_PER_MODEL = 8 };

#if defined(__SANITIZE_ADDRESS__)
#define PROGRAM "build/explore-asan/test/stress/test_explore_harsh"
#else
#define PROGRAM "build/explore/test/stress/test_explore_harsh"
#endif

struct schedule {
    struct random_run run;
    enum explorer_policy policy;
};

/* A run that the model allows, as it follows from its seed. */
static struct schedule draw(const struct harsh_model *m, uint64_t seed)
{
    struct cw_rng rng = cw_rng_seeded(seed, 5);
    struct schedule s = {.policy = cw_rng_below(&rng, EXPLORE_POLICIES)};
    do {
        const uint32_t workers = 1 + cw_rng_below(&rng, WORKERS_MAX);
        const uint32_t memory = cw_rng_below(&rng, 6);
        s.run = (struct random_run){
            .sync = CW_CONSERVATIVE + cw_rng_below(&rng, CW_SYNCS - CW_CONSERVATIVE),
            .workers = workers,
            .threads = cw_rng_below(&rng, 3) == 0 ? 1 + cw_rng_below(&rng, workers) : workers,
            .seed = seed,
            .balance = cw_rng_below(&rng, 4) == 0 ? CW_BALANCE_RANDOM : CW_BALANCE_OFF,
            .gather = cw_rng_below(&rng, 3) == 0 ? CW_GATHER_OFTEN : CW_GATHER_NEVER,
            .lazy = cw_rng_below(&rng, 2) == 0,
            .check_changes = cw_rng_below(&rng, 5) == 0,
            .pressed = memory < 2,
            .memory_bytes_max =
                memory == 2 ? 200000 + workers * UINT64_C(90000) + cw_rng_below(&rng, 400000)
                            : UINT64_C(1) << 30};
    } while (!harsh_model_runs(m, &s.run));
    return s;
}

static void every_schedule_of_a_model_at_the_edges_is_right(void **state)
{
    (void)state;
    const uint64_t first = random_from_environment("HARSH_SEED", 1);
    const uint64_t seeds = random_from_environment("HARSH_SEEDS", SEEDS_DEFAULT);
    struct harsh_model m = {0};
    struct random_outcome expected = {0};
    uint64_t model = UINT64_MAX, out_of_memory = 0, steps = 0, rolled_back = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        if (model != seed / SCHEDULES_PER_MODEL) {
            harsh_model_free(&m);
            model = seed / SCHEDULES_PER_MODEL;
            m = harsh_model_draw(model, LPS_MAX, TTL_MAX);
            expected = harsh_model_learn(&m, model);
        }
        const struct schedule s = draw(&m, seed);
        explorer_note("schedule %llu: %s on %u workers, %u threads, %s cancellation, limit %llu, "
                      "policy %s\nreplay: HARSH_SEED=%llu HARSH_SEEDS=1 " PROGRAM,
                      (unsigned long long)seed, cw_sync_name[s.run.sync], s.run.workers,
                      s.run.threads, s.run.lazy ? "lazy" : "aggressive",
                      (unsigned long long)s.run.memory_bytes_max, explorer_policy_name[s.policy],
                      (unsigned long long)seed);
        explorer_begin(s.policy, seed);
        const struct random_outcome got = harsh_model_run(&m, &s.run);
        steps += explorer_end();
        rolled_back += got.rolled_back;
        const bool limited = s.run.pressed || s.run.memory_bytes_max < UINT64_C(1) << 30;
        out_of_memory += limited && harsh_ran_out_of_memory(&got);
        if (limited && harsh_ran_out_of_memory(&got))
            continue;
        char text[2500];
        if (random_outcome_differs(&got, &expected, text, sizeof text))
            fail_msg(
                "%s\nschedule %llu: %s on %u workers\nreplay: HARSH_SEED=%llu HARSH_SEEDS=1 " //
                PROGRAM,
                text, (unsigned long long)seed, cw_sync_name[s.run.sync], s.run.workers,
                (unsigned long long)seed);
    }
    harsh_model_free(&m);
    print_message("%llu schedules, %llu steps, %llu out of memory, %llu events undone\n",
                  (unsigned long long)seeds, (unsigned long long)steps,
                  (unsigned long long)out_of_memory, (unsigned long long)rolled_back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_schedule_of_a_model_at_the_edges_is_right),
    };
    return cmocka_run_group_tests_name("explore harsh", tests, NULL, NULL);
}
