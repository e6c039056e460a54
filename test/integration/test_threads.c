/*
 * test_threads.c: the same events, times and bits on any number of threads: `cubewarp verify` in
 * every mode, through all partitioners, over topologies with and without a switch; and PHOLD.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"
#include "test/support/sanitized.h"

static const char *const modes[] = {"conservative", "optimistic", "adaptive", "stress"};

static void verify(const char *machine, const char *mode, int threads, const char *partition)
{
    struct run_output output =
        run_line(0, "verify %s --n-elem 2500 --verify-data --sync %s --threads %d --partition %s",
                 machine, mode, threads, partition);
    assert_non_null(strstr(output.out, "\nidentical\n"));
    run_output_free(&output);
}

/* With a sanitizer each mode and number of threads has one of the partitions. */
static void every_mode_gives_the_bits_of_one_thread(void **state)
{
    (void)state;
    static const char *const partitions[] = {"sip", "block", "metis"};
    static const char torus[] = "--preset six_3x2 --set sip.cube_mesh.w=2 --set sip.cube_mesh.h=2";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        for (int threads = 1; threads <= 4; threads++)
            for (size_t p = 0; p < 3; p++)
                if (!sanitized || p == (i + (size_t)threads) % 3)
                    verify(torus, modes[i], threads, partitions[p]);
}

static void a_metis_that_does_not_load_is_named_with_the_reason(void **state)
{
    (void)state;
    char folder[] = "/tmp/cubewarp-test-XXXXXX", library[64];
    assert_non_null(mkdtemp(folder));
    snprintf(library, sizeof library, "%s/libmetis.so.5", folder);
    FILE *const empty = fopen(library, "w");
    assert_non_null(empty);
    assert_int_equal(fclose(empty), 0);
    char *const before = getenv("LD_LIBRARY_PATH") ? strdup(getenv("LD_LIBRARY_PATH")) : NULL;
    assert_int_equal(setenv("LD_LIBRARY_PATH", folder, 1), 0);
    struct run_output output = run_line(4, "run --n-elem 64 --threads 2 --partition metis");
    if (before != NULL)
        assert_int_equal(setenv("LD_LIBRARY_PATH", before, 1), 0);
    else
        assert_int_equal(unsetenv("LD_LIBRARY_PATH"), 0);
    free(before);
    const char *const at = strstr(output.err, "libmetis.so.5 does not load: ");
    assert_non_null(at);
    assert_non_null(strstr(at, library));
    run_output_free(&output);
    assert_int_equal(unlink(library), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void a_switch_and_more_threads_than_sips_make_no_difference(void **state)
{
    (void)state;
    static const char star[] = "--set system.sips.count=3 --set system.sips.topology=switch --set "
                               "sip.cube_mesh.w=2 --set sip.cube_mesh.h=1";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        verify(star, modes[i], 2, "sip");
        verify(star, modes[i], 5, "block");
        verify(star, modes[i], 4, "metis");
        verify(star, modes[i], 8, "sip");
    }
}

static void chunks_polling_and_slots_in_hbm_make_no_difference(void **state)
{
    (void)state;
    static const char odd[] = "--set system.sips.topology=mesh_2d_no_wrap --set sip.cube_mesh.w=2 "
                              "--set sip.cube_mesh.h=2 --set fabric.contention=chunk --set "
                              "defaults.backpressure=poll --set defaults.n_slots=1 --set "
                              "defaults.buffer_kind=hbm";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        verify(odd, modes[i], 3, "block");
}

static void the_machine_as_shipped_is_no_exception(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        verify("", modes[i], 3, "sip");
}

static void a_window_only_bounds_speculation(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "verify --preset six_3x2 --bytes 16 --sync optimistic --threads 2 --window 20");
    assert_non_null(strstr(output.out, "\nidentical\n"));
    run_output_free(&output);
}

/* A tile of 1 KiB to the next cube: of all 8 PEs 8 KiB over its UCIe link of 128 GB/s, 64 ns; each
 * link is busy for that long, and no tile waits for another one for the whole of it. */
static void verify_names_busy_times_and_queues_as_they_are(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "verify --bench ipcq_shift --tiles 1 --bytes 1KiB --set system.sips.count=1");
    const char *const busy = strstr(output.out, "busiest[0] busy_ns ");
    const char *const queue = strstr(output.out, "busiest[0] longest queue_ns ");
    double figures[4];
    assert_non_null(busy);
    assert_non_null(queue);
    assert_int_equal(sscanf(busy, "busiest[0] busy_ns %lf %lf same", &figures[0], &figures[1]), 2);
    assert_int_equal(
        sscanf(queue, "busiest[0] longest queue_ns %lf %lf same", &figures[2], &figures[3]), 2);
    assert_true(figures[0] == 64 && figures[1] == 64);
    assert_true(figures[2] < 64 && figures[3] == figures[2]);
    run_output_free(&output);
}

/* Where nothing is speculated a window would do nothing. */
static void a_window_needs_a_mode_that_speculates(void **state)
{
    (void)state;
    static const char *const commands[] = {"run", "verify"};
    static const struct {
        const char *options, *mode;
    } refused[] = {{"", "not for sequential, the default on one thread (--sync)\n"},
                   {"--sync sequential", "not for sequential\n"},
                   {"--sync conservative", "not for conservative\n"},
                   {"--sync conservative --threads 2", "not for conservative\n"}};
    static const char *const taken[] = {"--threads 2", "--sync adaptive", "--sync optimistic",
                                        "--sync stress"};
    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
            struct run_output output = run_line(2, "%s --preset tiny --bytes 16 --window 20 %s",
                                                commands[c], refused[i].options);
            if (strstr(output.err,
                       "--window is for the modes that speculate: adaptive, optimistic, "
                       "stress; ") == NULL ||
                strstr(output.err, refused[i].mode) == NULL)
                fail_msg("%s %s: %s", commands[c], refused[i].options, output.err);
            run_output_free(&output);
        }
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
            struct run_output output =
                run_line(0, "%s --preset tiny --bytes 16 --window 20 %s", commands[c], taken[i]);
            run_output_free(&output);
        }
    }
}

/* Sanitizers take minutes for 5 us, and see as much in less. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define PHOLD_END "1us"
#else
#define PHOLD_END "5us"
#endif

static void phold_commits_what_it_commits_on_one_thread(void **state)
{
    (void)state;
    static const char *const models[] = {"", "--lookahead 0", "--traffic mesh",
                                         "--population 1 --lookahead 0.01 --remote 50%"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++)
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
            if (m == 1 && i == 0)
                continue; /* refused: no lookahead */
            for (int threads = 1; threads <= 8; threads += threads < 4 ? 1 : 4) {
                struct run_output output = run_line(
                    0, "phold --lps 256 --end " PHOLD_END " %s --sync %s --threads %d --verify",
                    models[m], modes[i], threads);
                assert_non_null(strstr(output.out, "identical\n"));
                run_output_free(&output);
            }
        }
}

static const char sizes[] = "run --preset six_3x2 --verify-data --quiet --bytes 64:1KiB:x4";

static void results_and_csv_are_the_same_to_the_byte_for_any_number_of_threads(void **state)
{
    (void)state;
    char *result = NULL, *csv = NULL;
    for (int threads = 1; threads <= 4; threads++) {
        json_t *const root = run_json("%s --threads %d", sizes, threads);
        assert_int_equal(json_object_del(root, "engine"), 0);
        assert_int_equal(json_object_del(root, "provenance"), 0); /* the line, the date */
        char *const text = json_dumps(root, 0);
        json_decref(root);
        struct run_output output = run_line(0, "%s --threads %d --csv -", sizes, threads);
        if (threads == 1) {
            result = strdup(text);
            csv = strdup(output.out);
        }
        assert_string_equal(text, result);
        assert_string_equal(output.out, csv);
        free(text);
        run_output_free(&output);
    }
    free(result);
    free(csv);
}

/* The two counts of the line on the stress mode. */
struct stress_counts {
    unsigned long long injected; /* rollbacks */
    unsigned long long
        moved; /* states: one before every fourth event that is handled, in the mean */
};

static struct stress_counts stress_counts(const struct run_output *output)
{
    const char *const line = strstr(output->out, "# stress: ");
    struct stress_counts counts = {0};
    assert_non_null(line);
    assert_int_equal(sscanf(line, "# stress: %llu rollbacks injected, %llu states moved",
                            &counts.injected, &counts.moved),
                     2);
    return counts;
}

/* How often an event is handled depends on the threads' pace, and so does the number of rollbacks.
 * Their share in the events that were handled does not. */
static void stress_undoes_at_every_rate_with_and_without_a_window(void **state)
{
    (void)state;
    static const char *const machines[] = {
        "", "--preset six_3x2 --set sip.cube_mesh.w=2 --set sip.cube_mesh.h=2"};
    static const struct {
        const char *text;
        double least, most; /* of the share; an event is undone twice at most */
    } rates[] = {{"1%", 0.003, 0.03}, {"10%", 0.05, 0.2}, {"0.5", 0.22, 0.7}};
    for (size_t m = 0; m < 2; m++)
        for (size_t i = 0; i < 3; i++) {
            struct run_output output =
                run_line(0, "verify %s --n-elem 800 --sync stress --threads 3 --stress-rate %s",
                         machines[m], rates[i].text);
            assert_non_null(strstr(output.out, "\nidentical\n"));
            const struct stress_counts counts = stress_counts(&output);
            const double share = (double)counts.injected / (4.0 * (double)counts.moved);
            assert_true(share > rates[i].least && share < rates[i].most);
            run_output_free(&output);
            output = run_line(0,
                              "verify %s --n-elem 800 --sync stress --threads 3 --stress-rate %s "
                              "--window 100",
                              machines[m], rates[i].text);
            assert_non_null(strstr(output.out, "\nidentical\n"));
            assert_true(stress_counts(&output).injected > 0);
            run_output_free(&output);
        }
}

static void lazy_cancellation_changes_no_result_and_is_reported(void **state)
{
    (void)state;
    static const char *const lazy[] = {"optimistic", "adaptive", "stress"};
    for (size_t i = 0; i < 3; i++) {
        struct run_output output =
            run_line(0, "verify --n-elem 800 --sync %s --threads 3 --cancellation lazy", lazy[i]);
        assert_non_null(strstr(output.out, "\nidentical\n"));
        run_output_free(&output);
    }
    json_t *const root =
        run_json("run --preset six_3x2 --bytes 16 --sync stress --cancellation lazy");
    const json_t *const engine = json_object_get(root, "engine");
    assert_string_equal(json_string_value(json_object_get(engine, "cancellation")), "lazy");
    assert_true(json_integer_value(json_object_get(engine, "sends_reused")) > 0);
    json_decref(root);
}

static void a_stress_run_says_how_often_it_undid(void **state)
{
    (void)state;
    static const char line[] = "run --preset six_3x2 --bytes 16 --sync stress --stress-rate 0.1";
    struct run_output table = run_line(0, line);
    json_t *const root = run_json(line);
    const json_t *const count =
        json_object_get(json_object_get(root, "engine"), "rollbacks_injected");
    assert_true(json_integer_value(count) > 0); /* one thread: the same each time */
    assert_int_equal(json_integer_value(count), stress_counts(&table).injected);
    run_output_free(&table);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode_gives_the_bits_of_one_thread),
        cmocka_unit_test(a_metis_that_does_not_load_is_named_with_the_reason),
        cmocka_unit_test(a_switch_and_more_threads_than_sips_make_no_difference),
        cmocka_unit_test(chunks_polling_and_slots_in_hbm_make_no_difference),
        cmocka_unit_test(the_machine_as_shipped_is_no_exception),
        cmocka_unit_test(a_window_only_bounds_speculation),
        cmocka_unit_test(verify_names_busy_times_and_queues_as_they_are),
        cmocka_unit_test(a_window_needs_a_mode_that_speculates),
        cmocka_unit_test(phold_commits_what_it_commits_on_one_thread),
        cmocka_unit_test(results_and_csv_are_the_same_to_the_byte_for_any_number_of_threads),
        cmocka_unit_test(stress_undoes_at_every_rate_with_and_without_a_window),
        cmocka_unit_test(lazy_cancellation_changes_no_result_and_is_reported),
        cmocka_unit_test(a_stress_run_says_how_often_it_undid),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
