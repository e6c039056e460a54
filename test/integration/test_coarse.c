/*
 * test_coarse.c: coarse tiles (lp/QUEUES.md): one tile each changes nothing; larger ones keep the
 * bits, take fewer events, and take about the time of their tiles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

static const json_t *row_of(const json_t *root, const char *key)
{
    return json_object_get(json_array_get(json_object_get(root, "results"), 0), key);
}

static double time_of(const json_t *root) { return json_number_value(row_of(root, "time_ns")); }

static const char *trace_of(const json_t *root)
{
    return json_string_value(json_object_get(json_object_get(root, "engine"), "trace_hash"));
}

/* A coarse tile of one tile is that tile: times, bits and the order of all events. */
static void one_tile_each_changes_nothing(void **state)
{
    (void)state;
    static const char *const runs[] = {
        "--preset tiny --bytes 64KiB", "--preset tiny --bytes 64KiB --algorithm hierarchical",
        "--preset tiny --bytes 64KiB --algorithm lrab_pipelined_allreduce"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        json_t *exact = run_json("run --verify-data %s", runs[i]);
        json_t *coarse = run_json("run --verify-data --coarse 4KiB %s", runs[i]);
        assert_true(time_of(exact) == time_of(coarse));
        assert_non_null(trace_of(exact));
        assert_string_equal(trace_of(exact), trace_of(coarse));
        json_decref(exact);
        json_decref(coarse);
    }
}

/* The sums are those of the algorithm's own order, tile by tile. */
static void the_bits_are_the_same(void **state)
{
    (void)state;
    static const char *const runs[] = {"--algorithm lrab_hierarchical_allreduce",
                                       "--algorithm lrab_pipelined_allreduce",
                                       "--algorithm ring_rs_ag",
                                       "--algorithm hierarchical",
                                       "--algorithm double_binary_tree",
                                       "--algorithm tree_allreduce --dtype f32",
                                       "--algorithm recursive_doubling --dtype bf16",
                                       "--bench ccl_all_gather",
                                       "--bench ccl_all_to_all --algorithm pairwise_all_to_all"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        json_t *exact = run_json("run --preset tiny --bytes 100000 --verify-data %s", runs[i]);
        json_t *coarse =
            run_json("run --preset tiny --bytes 100000 --verify-data --coarse 32KiB %s", runs[i]);
        assert_int_equal(json_integer_value(row_of(coarse, "wrong")), 0);
        assert_string_equal(json_string_value(row_of(exact, "data_hash")),
                            json_string_value(row_of(coarse, "data_hash")));
        json_decref(exact);
        json_decref(coarse);
    }
}

static double events_of(const json_t *root)
{
    return json_number_value(json_object_get(json_object_get(root, "engine"), "events_committed"));
}

/* Within 3 %, and never below the bound that no machine of this kind passes. Events: at least so
 * many times fewer. The table of all errors is perf/results/coarse.md. */
static void times_are_near_those_of_tiles(void **state)
{
    (void)state;
    static const struct {
        const char *run;
        double fewer;
    } cases[] = {
        {"--bytes 256KiB --algorithm lrab_hierarchical_allreduce", 4},
        {"--bytes 256KiB --algorithm lrab_pipelined_allreduce", 6},
        {"--bytes-per-rank 4MiB --algorithm ring_rs_ag --set algorithms.ring_rs_ag.mapper=all_pes",
         1.5},
        {"--bytes-per-rank 4MiB --algorithm ring_rs_ag "
         "--set algorithms.ring_rs_ag.mapper=pe0_all_cubes",
         6},
        {"--bytes 256KiB --algorithm ring_allreduce", 1.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *exact = run_json("run --no-data %s", cases[i].run);
        json_t *coarse = run_json("run --no-data --coarse 64KiB %s", cases[i].run);
        const double error = time_of(coarse) / time_of(exact) - 1;
        if (error > 0.03 || error < -0.03)
            fail_msg("%s: %.1f %%", cases[i].run, 100 * error);
        assert_true(time_of(coarse) >= json_number_value(row_of(coarse, "bound_ns")));
        assert_true(events_of(exact) >= cases[i].fewer * events_of(coarse));
        json_decref(exact);
        json_decref(coarse);
    }
}

/* Any machine, algorithm and size: it ends, its bits are right, and no time is below the bound. */
static void random_runs_end_with_the_right_bits(void **state)
{
    (void)state;
    static const char *const algorithms[] = {
        "ring_rs_ag",         "torus_rs_ag",  "halving_doubling",         "recursive_doubling",
        "double_binary_tree", "hierarchical", "lrab_pipelined_allreduce", "tree_allreduce"};
    uint64_t random = 20261128;
    for (int i = 0; i < 12; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const unsigned r = (unsigned)(random >> 33);
        json_t *coarse = run_json(
            "run --preset tiny --verify-data --algorithm %s --n-elem %u --coarse %u "
            "--set defaults.n_slots=%u --set defaults.recv_blocks_on_credit=%s "
            "--set fabric.contention=%s --threads %u",
            algorithms[r % 8], 1 + r % 40009, 4096u << (r / 8 % 5), 4 + r / 64 % 8,
            r / 512 % 2 ? "true" : "false", r / 1024 % 3 ? "message" : "chunk", 1 + r / 4096 % 2);
        assert_int_equal(json_integer_value(row_of(coarse, "wrong")), 0);
        assert_true(time_of(coarse) >= json_number_value(row_of(coarse, "bound_ns")));
        json_decref(coarse);
    }
}

/* The note has its place only where such errors are known. */
static void known_errors_are_noted(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "run --no-data --preset tiny --bytes 64KiB --coarse 64KiB --algorithm "
                    "ring_rs_ag");
    assert_non_null(strstr(output.out, "# Coarse tiles      : of 16 tiles; times are approximate, "
                                       "by more than 10 % for some of the schedules"));
    run_output_free(&output);
    output = run_line(0, "run --no-data --preset tiny --bytes 64KiB --coarse 64KiB --algorithm "
                         "lrab_pipelined_allreduce");
    assert_non_null(strstr(output.out, "times are approximate (perf/results/coarse.md)"));
    run_output_free(&output);
    output = run_line(0, "run --no-data --preset tiny --bytes 64KiB");
    assert_null(strstr(output.out, "Coarse"));
    run_output_free(&output);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const char *const runs[] = {"--algorithm lrab_pipelined_allreduce",
                                       "--algorithm hierarchical"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct run_output output =
            run_line(0,
                     "verify --preset tiny --bytes 256KiB --coarse 16KiB --sync stress "
                     "--threads 3 %s",
                     runs[i]);
        assert_non_null(strstr(output.out, "\nidentical\n"));
        run_output_free(&output);
    }
}

static void what_is_no_whole_number_of_tiles_is_refused(void **state)
{
    (void)state;
    struct run_output output = run_line(2, "run --coarse 6000");
    assert_non_null(strstr(output.err, "6000 bytes; legal: a multiple of a tile's 4096 bytes "
                                       "(defaults.slot_size), at most"));
    run_output_free(&output);
    output = run_line(2, "run --coarse 8KiB --set defaults.whole_tensor=true");
    assert_non_null(strstr(output.err, "a tensor is one tile already"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_tile_each_changes_nothing),
        cmocka_unit_test(the_bits_are_the_same),
        cmocka_unit_test(times_are_near_those_of_tiles),
        cmocka_unit_test(random_runs_end_with_the_right_bits),
        cmocka_unit_test(known_errors_are_noted),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(what_is_no_whole_number_of_tiles_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
