/*
 * test_explore_ties.c: schedules (explorer.h) of runs that fail where many events tie
 * (test/support/tied_model.h), on 2 to 8 workers, half of them in the stress mode, with moves and
 * with gathering. The engine's assertions are on, among them I-FAIL-1 and I-FAIL-2.
 *
 * TIES_SEED=7 TIES_SEEDS=1 replays a schedule; TIES_SEEDS=100000 explores as many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "test/stress/explorer.h"
#include "test/support/random_model.h"
#include "test/support/tied_model.h"

enum { SEEDS_DEFAULT = 1500, SCHEDULES_PER_MODEL = 8 };

#if defined(__SANITIZE_ADDRESS__)
#define PROGRAM "build/explore-asan/test/stress/test_explore_ties"
#else
#define PROGRAM "build/explore/test/stress/test_explore_ties"
#endif

static void every_schedule_fails_at_the_least_of_the_tied_events(void **state)
{
    (void)state;
    const uint64_t first = random_from_environment("TIES_SEED", 1);
    const uint64_t seeds = random_from_environment("TIES_SEEDS", SEEDS_DEFAULT);
    struct tied_model *const model = malloc(sizeof *model);
    uint64_t drawn = UINT64_MAX, steps = 0;
    assert_non_null(model);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        if (drawn != seed / SCHEDULES_PER_MODEL)
            tied_model_draw(model, seed / SCHEDULES_PER_MODEL);
        drawn = seed / SCHEDULES_PER_MODEL;
        const struct random_run run = tied_run_draw(model, seed);
        const enum explorer_policy policy = seed % EXPLORE_POLICIES;
        char text[2500];
        explorer_note("schedule %llu: %s on %u workers, policy %s\n"
                      "replay: TIES_SEED=%llu TIES_SEEDS=1 " PROGRAM,
                      (unsigned long long)seed, cw_sync_name[run.sync], run.workers,
                      explorer_policy_name[policy], (unsigned long long)seed);
        explorer_begin(policy, seed);
        const bool holds = tied_model_holds(model, &run, text, sizeof text);
        steps += explorer_end();
        if (!holds)
            fail_msg("%s\nschedule %llu: %s on %u workers, policy %s\n"
                     "replay: TIES_SEED=%llu TIES_SEEDS=1 " PROGRAM,
                     text, (unsigned long long)seed, cw_sync_name[run.sync], run.workers,
                     explorer_policy_name[policy], (unsigned long long)seed);
    }
    free(model);
    print_message("%llu schedules, %llu steps\n", (unsigned long long)seeds,
                  (unsigned long long)steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_schedule_fails_at_the_least_of_the_tied_events),
    };
    return cmocka_run_group_tests_name("explore ties", tests, NULL, NULL);
}
