/*
 * test_core_phold.c: PHOLD as a model and as a function.
 */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/phold/phold.h"
#include "test/support/sanitized.h"

/* ThreadSanitizer takes minutes for what else takes seconds, and sees as much in a part of it. */
#ifdef __SANITIZE_THREAD__
enum { TIMES_FEWER = 6 };
#else
enum { TIMES_FEWER = 1 };
#endif

static struct phold_options small(void)
{
    struct phold_options options = phold_defaults();
    options.lps = 64;
    options.engine.end_ps = 20000000;
    return options;
}

static struct cw_stats run(const struct phold_options *options)
{
    struct cw_stats stats = {0};
    struct cw_error error;
    double setup_s = -1;
    if (phold_run(options, CW_SEQUENTIAL, 1, &stats, &setup_s, &error) != CW_OK)
        fail_msg("%s", error.text);
    assert_true(setup_s >= 0);
    return stats;
}

static void the_population_is_conserved(void **state)
{
    (void)state;
    const struct phold_options options = small();
    const struct cw_stats stats = run(&options);
    assert_int_equal(stats.events_alive, 64 * 16);
    assert_int_equal(stats.events_alive_max, 64 * 16 + 1); /* and the one being handled */
}

/* 1,024 renewals with mean 1.1 us and deviation 1 us: 18,529 in 20 us, give or take 124. */
static void events_come_at_the_expected_rate(void **state)
{
    (void)state;
    struct phold_options options = small();
    assert_in_range(run(&options).events_committed, 18529 - 620, 18529 + 620);
    options.mean_ps = 0; /* every 0.1 us, on the spot */
    assert_int_equal(run(&options).events_committed, 1024 * 199);
    options.lookahead_ps = 10000000;
    assert_int_equal(run(&options).events_committed, 1024);
}

static void a_seed_gives_the_same_run_and_another_seed_another(void **state)
{
    (void)state;
    struct phold_options options = small();
    const uint64_t hash = run(&options).trace_hash;
    assert_true(run(&options).trace_hash == hash);
    options.seed = 2;
    assert_true(run(&options).trace_hash != hash);
}

/* Changes with the model only: every machine and compiler must come to it. */
static void the_default_run_is_pinned(void **state)
{
    (void)state;
    const struct phold_options options = small();
    const struct cw_stats stats = run(&options);
    assert_int_equal(stats.events_committed, 18511);
    assert_true(stats.trace_hash == 0x073a11db7086ef02);
}

static void state_and_grain_do_not_change_the_events(void **state)
{
    (void)state;
    struct phold_options options = small();
    options.engine.end_ps = 2000000;
    const uint64_t hash = run(&options).trace_hash;
    options.state_bytes = 4096;
    options.grain_ns = 100;
    assert_true(run(&options).trace_hash == hash);
}

static void without_remote_events_every_lp_keeps_its_own(void **state)
{
    (void)state;
    struct phold_options options = small();
    options.mean_ps = 0;
    options.remote_p32 = 0;
    const uint64_t alone = run(&options).trace_hash;
    options.remote_p32 = 1ull << 32;
    assert_true(run(&options).trace_hash != alone);
}

static void hot_lps_get_their_share(void **state)
{
    (void)state;
    struct phold_options options = small();
    struct cw_stats workers[2];
    struct cw_stats stats;
    struct cw_error error;
    double setup_s;
    options.remote_p32 = 1ull << 32;
    options.hot_p32 = 1ull << 31; /* the first half, which is the first worker's */
    options.hot_share_p32 = 1ull << 32;
    options.workers = workers;
    options.engine.end_ps = 10000000;
    assert_int_equal(phold_run(&options, CW_ADAPTIVE, 2, &stats, &setup_s, &error), CW_OK);
    /* the first event of each LP, and no other, is handled by a cold LP */
    assert_int_equal(workers[1].events_committed, options.lps / 2 * options.population);
    options.workers = NULL;
    assert_true(run(&options).trace_hash == stats.trace_hash);
}

static void mesh_tokens_go_in_rounds(void **state)
{
    (void)state;
    struct phold_options options = small();
    options.traffic = PHOLD_MESH;
    options.engine.end_ps = 1; /* time 0 alone: every token makes its first hop */
    assert_int_equal(run(&options).events_committed, 1024);
    options.engine.end_ps = 1000; /* a hop takes 1 ns at least */
    assert_int_equal(run(&options).events_committed, 1024);
    options.engine.end_ps = 1001;
    const uint64_t second = run(&options).events_committed - 1024; /* half of them took 1 ns */
    assert_in_range(second, 432, 592);
    options.engine.end_ps = 5000000;
    const struct cw_stats stats = run(&options);
    assert_int_equal(stats.events_alive, 1024);
    /* 17 events a round; few tokens need more than one us for theirs. */
    assert_in_range(stats.events_committed, 1024 * 17 * 4, 1024 * 17 * 5);
}

/* Each limit makes another allocation the first to fail. On one thread: not for ThreadSanitizer. */
static void under_any_memory_limit_a_run_ends_well_or_with_exit_code_4(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip();
#endif
    struct phold_options options = small();
    options.lps = 1024;
    options.engine.end_ps = 3000000;
    for (int traffic = 0; traffic < 2; traffic++) {
        options.traffic = (enum phold_traffic)traffic;
        options.engine.memory_bytes_max = 0;
        const uint64_t hash = run(&options).trace_hash;
        unsigned refused = 0, well = 0;
        for (options.engine.memory_bytes_max = 1000; well < 3;
             options.engine.memory_bytes_max += 20000) {
            struct cw_stats stats = {0};
            struct cw_error error;
            double setup_s;
            const int result = phold_run(&options, CW_SEQUENTIAL, 1, &stats, &setup_s, &error);
            assert_true(result == CW_OK || result == CW_NO_RESOURCE);
            well += result == CW_OK;
            refused += result != CW_OK;
            if (result == CW_OK)
                assert_true(stats.trace_hash == hash);
            else
                assert_non_null(strstr(error.text, "out of memory"));
        }
        assert_true(refused > 30);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* The least limit, to 1 %, under which the sequential mode ends well. */
static uint64_t sequential_need(struct phold_options options)
{
    uint64_t too_little = 0, enough = 128 << 20;
    while (enough - too_little > enough / 100) {
        struct cw_stats stats;
        struct cw_error error;
        double setup_s;
        options.engine.memory_bytes_max = (too_little + enough) / 2;
        const int result = phold_run(&options, CW_SEQUENTIAL, 1, &stats, &setup_s, &error);
        *(result == CW_OK ? &enough : &too_little) = options.engine.memory_bytes_max;
    }
    return enough;
}

static void is_enough(const struct phold_options *options, enum cw_sync sync, uint64_t expected,
                      uint32_t threads_least, uint32_t threads_most)
{
    for (uint32_t threads = threads_least; threads <= threads_most; threads *= 2) {
        struct cw_stats stats;
        struct cw_error error;
        double setup_s;
        if (phold_run(options, sync, threads, &stats, &setup_s, &error) != CW_OK)
            fail_msg("%s, %u threads: %s", cw_sync_name[sync], threads, error.text);
        assert_int_equal(stats.trace_hash, expected);
    }
}

static void a_fifth_more_memory_than_the_sequential_mode_needs_is_enough(void **state)
{
    (void)state;
    struct phold_options options = phold_defaults();
    options.engine.end_ps = 3000000 / TIMES_FEWER;
    uint64_t expected = run(&options).trace_hash;
    options.engine.memory_bytes_max = sequential_need(options) / 5 * 6;
    for (enum cw_sync sync = CW_CONSERVATIVE; sync <= CW_ADAPTIVE; sync++)
        is_enough(&options, sync, expected, 1, 2);
    options.traffic = PHOLD_MESH; /* all that is pending has its turn at once */
    options.engine.memory_bytes_max = 0;
    expected = run(&options).trace_hash;
    options.engine.memory_bytes_max = sequential_need(options) / 5 * 6;
    for (enum cw_sync sync = CW_CONSERVATIVE; sync <= CW_ADAPTIVE; sync++)
        is_enough(&options, sync, expected, 1, 4);
}

/* 1.5 MiB of sequential need for each worker are enough for the memory that a worker takes beside
 * its events. Sanitizers would take minutes for 64 workers and see as much with fewer. */
static void a_fifth_more_is_enough_for_64_workers(void **state)
{
    (void)state;
    if (sanitized)
        skip();
    struct phold_options options = phold_defaults();
    options.lps = 16384;
    options.population = 40;
    options.traffic = PHOLD_MESH;
    options.engine.end_ps = 300000;
    options.engine.tuning.thread_count = 2;
    const uint64_t expected = run(&options).trace_hash;
    options.engine.memory_bytes_max = sequential_need(options) / 5 * 6;
    assert_true(options.engine.memory_bytes_max >= UINT64_C(64) * 3 / 2 << 20);
    for (enum cw_sync sync = CW_CONSERVATIVE; sync <= CW_ADAPTIVE; sync++)
        is_enough(&options, sync, expected, 64, 64);
}

/* A worker of a small model takes more than its share of that: 250 KiB for each are enough.
 * Sanitizers would take minutes for 32 workers, too. */
static void small_models_need_some_more_for_each_worker(void **state)
{
    (void)state;
    static const uint32_t workers[] = {2, 8, 32};
    const size_t count = sizeof workers / sizeof *workers - sanitized;
    for (int traffic = 0; traffic < 2; traffic++)
        for (size_t i = 0; i < count; i++) {
            struct phold_options options = phold_defaults();
            options.lps = 144;
            options.traffic = (enum phold_traffic)traffic;
            options.engine.end_ps = 100000;
            options.engine.tuning.thread_count = 2;
            const uint64_t expected = run(&options).trace_hash;
            const uint64_t beside = (uint64_t)workers[i] * 250 << 10;
            options.engine.memory_bytes_max = sequential_need(options) / 5 * 6 + beside;
            for (enum cw_sync sync = CW_CONSERVATIVE; sync <= CW_ADAPTIVE; sync++)
                is_enough(&options, sync, expected, workers[i], workers[i]);
        }
}

static void without_memory_for_undo_logs_the_stress_mode_ends_with_exit_code_4(void **state)
{
    (void)state;
    struct phold_options options = phold_defaults();
    struct cw_stats stats;
    struct cw_error error;
    double setup_s;
    options.engine.end_ps = 3000000;
    options.engine.memory_bytes_max = sequential_need(options) / 20 * 23;
    assert_int_equal(phold_run(&options, CW_STRESS, 2, &stats, &setup_s, &error), CW_NO_RESOURCE);
    assert_non_null(strstr(error.text, "the stress mode can keep what it takes to undo none of"));
}

/* Few events and no lookahead: nearly all that is handled ahead is in vain. */
static void adaptive_undoes_less_than_it_commits_however_few_the_events(void **state)
{
    (void)state;
    static const struct {
        uint32_t lps, population, threads;
    } models[] = {{4, 1, 2}, {8, 2, 8}, {16, 1, 8}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct phold_options options = phold_defaults();
        struct cw_stats stats;
        struct cw_error error;
        double setup_s;
        options.lps = models[i].lps;
        options.population = models[i].population;
        options.lookahead_ps = 0;
        options.remote_p32 = UINT64_C(1) << 32;
        options.engine.end_ps =
            INT64_C(400000000000) / TIMES_FEWER / (models[i].lps * models[i].population);
        assert_int_equal(
            phold_run(&options, CW_ADAPTIVE, models[i].threads, &stats, &setup_s, &error), CW_OK);
        assert_true(stats.events_committed > 300000 / TIMES_FEWER);
        assert_true(2 * stats.events_committed >= stats.events_processed);
    }
}

enum { BUSY_PROGRAMS = 8 };

static void start_busy_programs(pid_t programs[BUSY_PROGRAMS])
{
    for (int i = 0; i < BUSY_PROGRAMS; i++) {
        programs[i] = fork();
        assert_true(programs[i] >= 0);
        if (programs[i] > 0)
            continue;
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)sched_setscheduler(0, SCHED_OTHER,
                                 &(struct sched_param){0}); /* at no real-time priority */
        (void)execl("/bin/sh", "busy", "-c", "while :; do :; done", (char *)NULL);
        _exit(1);
    }
}

static void end_busy_programs(const pid_t programs[BUSY_PROGRAMS])
{
    for (int i = 0; i < BUSY_PROGRAMS; i++) {
        (void)kill(programs[i], SIGKILL);
        (void)waitpid(programs[i], NULL, 0);
    }
}

/* Workers that wait for each other 10,000 times. Beside busy programs a worker that gave its core
 * away at each wait would get it back after a time slice of each of them: 10 s and more. The
 * machine may stop for other reasons, so the best of three tries counts. */
static void threads_that_wait_get_their_share_beside_busy_programs(void **state)
{
    (void)state;
    static const double TIMES_SLOWER_MOST = 30, LEAST_S = 0.1 / TIMES_FEWER;
    static const uint32_t threads[] = {2, 8};
    pid_t programs[BUSY_PROGRAMS];
    struct phold_options options = phold_defaults();
    options.lps = 256;
    options.population = 1;
    options.engine.end_ps = 1000000000 / TIMES_FEWER;
    start_busy_programs(programs);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        double least = 1e9;
        for (int tries = 0; tries < 3 && least > TIMES_SLOWER_MOST; tries++) {
            struct cw_stats stats;
            struct cw_error error;
            double setup_s;
            const double alone_s = fmax(run(&options).run_s, LEAST_S);
            assert_int_equal(
                phold_run(&options, CW_CONSERVATIVE, threads[i], &stats, &setup_s, &error), CW_OK);
            least = fmin(least, stats.run_s / alone_s);
        }
        print_message("%u workers beside %d programs: %.1f times as slow\n", (unsigned)threads[i],
                      (int)BUSY_PROGRAMS, least);
        assert_true(least <= TIMES_SLOWER_MOST);
    }
    end_busy_programs(programs);
}

static void refuse(const struct phold_options *options, const char *text)
{
    struct cw_stats stats;
    struct cw_error error;
    double setup_s;
    assert_int_equal(phold_run(options, CW_SEQUENTIAL, 1, &stats, &setup_s, &error), CW_USAGE);
    assert_string_equal(error.text, text);
}

static void impossible_options_are_refused(void **state)
{
    (void)state;
    struct phold_options options = small();
    options.lps = 0;
    refuse(&options, "--lps 0: at least 1 is needed");
    options = small();
    options.state_bytes = 20;
    refuse(&options, "--state-bytes 20: a multiple of 8 from 16 to 16777216 is needed");
    options = small();
    options.traffic = PHOLD_MESH;
    options.lps = 60;
    refuse(&options, "--lps 60: a torus needs a square number of LPs from 4 on, such as 49 or 64");
    options.lps = 1;
    refuse(&options, "--lps 1: a torus needs a square number of LPs from 4 on, such as 4 or 9");
    options = small();
    options.lookahead_ps = CW_TIME_MAX - 1;
    refuse(&options, "--lookahead and --mean together overflow the time");
    options = small();
    options.mean_ps = 0;
    options.lookahead_ps = 0;
    refuse(&options, "--mean 0 --lookahead 0: no time would ever pass; one of them must be "
                     "positive");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_population_is_conserved),
        cmocka_unit_test(events_come_at_the_expected_rate),
        cmocka_unit_test(a_seed_gives_the_same_run_and_another_seed_another),
        cmocka_unit_test(the_default_run_is_pinned),
        cmocka_unit_test(state_and_grain_do_not_change_the_events),
        cmocka_unit_test(without_remote_events_every_lp_keeps_its_own),
        cmocka_unit_test(hot_lps_get_their_share),
        cmocka_unit_test(mesh_tokens_go_in_rounds),
        cmocka_unit_test(under_any_memory_limit_a_run_ends_well_or_with_exit_code_4),
        cmocka_unit_test(a_fifth_more_memory_than_the_sequential_mode_needs_is_enough),
        cmocka_unit_test(a_fifth_more_is_enough_for_64_workers),
        cmocka_unit_test(small_models_need_some_more_for_each_worker),
        cmocka_unit_test(without_memory_for_undo_logs_the_stress_mode_ends_with_exit_code_4),
        cmocka_unit_test(adaptive_undoes_less_than_it_commits_however_few_the_events),
        cmocka_unit_test(threads_that_wait_get_their_share_beside_busy_programs),
        cmocka_unit_test(impossible_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
