/*
 * test_alloc_faults.c: memory that runs out: each allocation of the engine fails in turn, alone or
 * with all after it, and limits of all sizes, in every mode, under schedules of the explorer. The
 * run then ends with exit code 4 and the message of core/ENGINE.md, "Memory limit", or it is right;
 * nothing is left allocated. The same of models at the edges (harsh_model.h), whose handlers fail
 * where they are speculated.
 *
 * FAULTS_SEED=7 FAULTS_SEEDS=1 replays one model; FAULTS_SEEDS=100 runs as many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/harsh_model.h"
#include "test/support/random_model.h"
#include "test/stress/explorer.h"
#include "test/stress/failing_memory.h"

enum { SEEDS_DEFAULT = 3, LPS_MAX = 12, WORKERS = 3, HARSH_LPS = 8, HARSH_TTL = 6 };

/* A random model of either kind, and the outcome of its sequential run. */
struct subject {
    struct random_outcome (*play)(const void *model, const struct random_run *run);
    const void *model;
    struct random_outcome expected;
};

/* Faults of the whole program, to know that there were any. */
static uint64_t runs, out_of_memory;

/* Or that the stress mode, which is to undo events, could undo none. */
static bool says_out_of_memory(const struct random_run *run, const struct random_outcome *outcome)
{
    static const char needs[] = "out of memory: the simulation needs at least ";
    static const char undone[] = "out of memory: within ";
    return outcome->exit_code == CW_NO_RESOURCE &&
           (strncmp(outcome->text, needs, sizeof needs - 1) == 0 ||
            (run->sync == CW_STRESS && strncmp(outcome->text, undone, sizeof undone - 1) == 0));
}

static struct random_outcome play_random(const void *model, const struct random_run *run)
{
    return random_model_run(model, run);
}

static struct random_outcome play_harsh(const void *model, const struct random_run *run)
{
    return harsh_model_run(model, run);
}

/* `what` is how the memory runs out. True: it did not, and the run is right. */
static bool run_and_judge(const struct subject *subject, const struct random_run *run,
                          const char *what)
{
    char note[400], text[2500];
    snprintf(note, sizeof note,
             "model %llu, %s on %u workers, %s\nreplay: FAULTS_SEED=%llu FAULTS_SEEDS=1 "
             "build/explore-asan/test/stress/test_alloc_faults",
             (unsigned long long)run->seed, cw_sync_name[run->sync], run->workers, what,
             (unsigned long long)run->seed);
    explorer_note("%s", note);
    explorer_begin(EXPLORE_RUNS, run->seed);
    const struct random_outcome got = subject->play(subject->model, run);
    (void)explorer_end();
    runs++;
    if (failing_memory_blocks() != 0 || failing_memory_mapped() != 0)
        fail_msg("%llu blocks and %llu mapped bytes are left allocated: %s",
                 (unsigned long long)failing_memory_blocks(),
                 (unsigned long long)failing_memory_mapped(), note);
    if (says_out_of_memory(run, &got)) {
        out_of_memory++;
        return false;
    }
    if (random_outcome_differs(&got, &subject->expected, text, sizeof text))
        fail_msg("%s: %s", text, note);
    return true;
}

/* Fails one allocation after the other, until the run has fewer. */
static void fail_each(const struct subject *subject, const struct random_run *run, bool for_good)
{
    for (uint64_t n = 1;; n++) {
        char what[80];
        snprintf(what, sizeof what, "allocation %llu fails%s", (unsigned long long)n,
                 for_good ? ", and all after it" : "");
        failing_memory_arm(n, for_good);
        const bool right = run_and_judge(subject, run, what);
        const uint64_t count = failing_memory_count();
        failing_memory_arm(0, false);
        if (count < n) {
            assert_true(right);
            return;
        }
    }
}

typedef void (*fault_fn)(const struct subject *subject, const struct random_run *run);

static struct random_run run_of(uint64_t seed, enum cw_sync sync, uint32_t workers)
{
    return (struct random_run){.sync = sync,
                               .workers = workers,
                               .seed = seed,
                               .lazy = (seed + workers) % 2 == 0,
                               .memory_bytes_max = UINT64_C(1) << 30};
}

static void for_all_modes(fault_fn fault)
{
    const uint64_t first = random_from_environment("FAULTS_SEED", 1);
    const uint64_t seeds = random_from_environment("FAULTS_SEEDS", SEEDS_DEFAULT);
    const uint64_t before = out_of_memory;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        const struct random_model m = random_model_draw(seed, LPS_MAX, 20);
        const struct random_run alone = {.sync = CW_SEQUENTIAL, .workers = 1, .seed = seed};
        const struct subject subject = {
            .play = play_random, .model = &m, .expected = random_model_run(&m, &alone)};
        for (enum cw_sync sync = CW_SEQUENTIAL; sync < CW_SYNCS; sync++)
            for (uint32_t workers = 1; workers <= (sync == CW_SEQUENTIAL ? 1 : WORKERS); workers++)
                if (random_model_runs(&m, sync, workers)) {
                    const struct random_run run = run_of(seed, sync, workers);
                    fault(&subject, &run);
                }
    }
    assert_true(out_of_memory > before);
}

static void fail_one(const struct subject *subject, const struct random_run *run)
{
    fail_each(subject, run, false);
}

static void fail_rest(const struct subject *subject, const struct random_run *run)
{
    fail_each(subject, run, true);
}

/* From no memory to enough, in steps of a quarter. */
static void limit(const struct subject *subject, const struct random_run *run)
{
    struct random_run limited = *run;
    for (uint64_t bytes = 1 << 10;; bytes += bytes / 4) {
        char what[80];
        snprintf(what, sizeof what, "with %llu bytes", (unsigned long long)bytes);
        limited.memory_bytes_max = bytes;
        const bool right = run_and_judge(subject, &limited, what);
        if (bytes >= 1 << 30) {
            assert_true(right);
            return;
        }
    }
}

static void every_allocation_may_fail_once(void **state)
{
    (void)state;
    for_all_modes(fail_one);
}

static void every_allocation_may_be_the_last_that_succeeds(void **state)
{
    (void)state;
    for_all_modes(fail_rest);
}

static void every_limit_is_kept_or_reported(void **state)
{
    (void)state;
    for_all_modes(limit);
    print_message("%llu runs, %llu of them out of memory\n", (unsigned long long)runs,
                  (unsigned long long)out_of_memory);
}

/* Most events fail at first, as they are speculated: a failure must not stand in the place of the
 * reason for which the run ends. */
static void a_refusal_is_told_where_handlers_fail_too(void **state)
{
    (void)state;
    const uint64_t first = random_from_environment("FAULTS_SEED", 1);
    const uint64_t seeds = 20 * random_from_environment("FAULTS_SEEDS", SEEDS_DEFAULT);
    const uint64_t before = out_of_memory, runs_before = runs;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct harsh_model m = harsh_model_draw(seed, HARSH_LPS, HARSH_TTL);
        m.suspicious = true;
        m.large_states = false;
        m.drains = 1;
        m.records_p = 50;
        const struct subject subject = {
            .play = play_harsh, .model = &m, .expected = harsh_model_learn(&m, seed)};
        const struct random_run run = run_of(seed, CW_OPTIMISTIC, WORKERS);
        fail_each(&subject, &run, false);
        harsh_model_free(&m);
    }
    assert_true(out_of_memory > before);
    print_message("%llu runs\n", (unsigned long long)(runs - runs_before));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail_once),
        cmocka_unit_test(every_allocation_may_be_the_last_that_succeeds),
        cmocka_unit_test(every_limit_is_kept_or_reported),
        cmocka_unit_test(a_refusal_is_told_where_handlers_fail_too),
    };
    return cmocka_run_group_tests_name("alloc faults", tests, NULL, NULL);
}
