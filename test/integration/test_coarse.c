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
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(what_is_no_whole_number_of_tiles_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
