/*
 * test_dimensions.c: collectives on SIPs that are a product of dimensions (torus_3d,
 * fully_connected, levels): bits, times against bounds, threads, names of links.
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

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define SMALL           "--set sip.cube_mesh.w=2 --set sip.cube_mesh.h=2 "

/* How SIPs are joined, how many there are, and other settings. */
static const char *const machines[][3] = {
    {"torus_3d", "12", ""},
    {"torus_3d", "8", "--set fabric.contention=chunk"},
    {"torus_3d", "7", ""},
    {"fully_connected", "2", ""},
    {"fully_connected", "9", ""},
    {"[{\"torus_2d\":[2,2]},{\"switch\":3,\"bw_gbs\":50}]", "12", ""},
    {"[{\"switch\":3},{\"mesh_2d_no_wrap\":[2,2]}]", "12", "--set fabric.contention=none"},
    {"[{\"ring_1d\":3},{\"fully_connected\":4,\"latency_ns\":200},{\"switch\":1}]", "12",
     "--set defaults.credit_return_mode=fabric"},
};

/* The options of a machine; good until the next call. */
static const char *options_of(size_t machine)
{
    static char text[300];
    snprintf(text, sizeof text, SMALL "--set system.sips.topology=%s --set system.sips.count=%s %s",
             machines[machine][0], machines[machine][1], machines[machine][2]);
    return text;
}

static const json_t *dimensions_result(const json_t *root, const char *key)
{
    return json_object_get(json_array_get(json_object_get(root, "results"), 0), key);
}

static void every_collective_is_right_bit_for_bit(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "--n-elem 3000",
        "--algorithm lrab_pipelined_allreduce --n-elem 5000",
        "--n-elem 900 --set defaults.rank_invariant=true",
        "--algorithm ring_allreduce --n-elem 3000",
        "--algorithm tree_allreduce --n-elem 3000",
        "--bench ccl_all_gather --n-elem 2520",
        "--bench ccl_broadcast --n-elem 3000",
    };
    for (size_t i = 0; i < COUNT_OF(machines) * COUNT_OF(calls); i++) {
        json_t *root = run_json("run %s %s --verify-data", options_of(i / COUNT_OF(calls)),
                                calls[i % COUNT_OF(calls)]);
        assert_int_equal(json_integer_value(dimensions_result(root, "wrong")), 0);
        assert_true(json_ps(root, "bound_ns") <= json_ps(root, "time_ns"));
        json_decref(root);
    }
}

static void any_number_of_threads_gives_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(machines); i++)
        for (unsigned threads = 2; threads <= 5; threads += 3) {
            struct run_output output =
                run_line(0, "verify %s --n-elem 1200 --threads %u", options_of(i), threads);
            run_output_free(&output);
        }
}

static void a_logical_torus_has_layers(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "run " SMALL "--set system.sips.topology=torus_3d --set system.sips.count=8 "
                    "--bench ccl_broadcast --set "
                    "algorithms.relay_broadcast.topology=torus_3d --algorithm relay_broadcast "
                    "--n-elem 3000 --verify-data");
    assert_non_null(strstr(output.out, "Wrong values      : 0 OK"));
    run_output_free(&output);
    output = run_line(2, "run " SMALL "--set system.sips.count=6 --bench ccl_broadcast --set "
                         "algorithms.relay_broadcast.topology=torus_3d --algorithm relay_broadcast "
                         "--n-elem 3000");
    assert_non_null(strstr(output.err, "torus_3d needs a perfect cube of ranks"));
    run_output_free(&output);
}

/* A level's links are as sip_link's, but for the figures that the level gives. */
static void a_level_has_links_of_its_own(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "topo --set system.sips.topology=[{\"switch\":2,\"bw_gbs\":50},"
                    "{\"ring_1d\":2,\"latency_ns\":300,\"distance_mm\":0}] --path 0.0.0 3.0.0");
    assert_non_null(strstr(output.out, "  -level_1  sip 0 switch               flight        2.100"
                                       "   4096 B take     81.920"));
    assert_non_null(strstr(output.out, "  -level_2  sip 1 S                    flight      300.000"
                                       "   4096 B take     40.960"));
    run_output_free(&output);
}

/* The time of an all-to-all of 1 MiB per SIP, in ns, verified. */
static double exchange_ns(const char *more)
{
    json_t *const root = run_json("run %s " SMALL "--bench ccl_all_to_all --algorithm "
                                  "pairwise_all_to_all --bytes 1MiB --verify-data",
                                  more);
    const double ns = json_real_value(dimensions_result(root, "time_ns"));
    assert_int_equal(json_integer_value(dimensions_result(root, "wrong")), 0);
    json_decref(root);
    return ns;
}

/*
 * In an all-to-all each SIP sends 56 of its 64 blocks of 16 KiB to other leaves, over its link to
 * the spine: at 25 GB/s in 36.7 us. In a dragonfly the 8 SIPs of a group send 64 blocks to each
 * other group, over 50 GB/s in 21 us.
 */
static void leaves_and_groups_share_what_leads_out_of_them(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "topo --preset fat_tree_64 --path 0.0.0 8.0.0");
    assert_non_null(strstr(output.out, "  -level_2  sip 0 switch               flight      252.100"
                                       "   4096 B take    163.840"));
    assert_null(strstr(output.out, "-level_1"));
    run_output_free(&output);
    output = run_line(0, "topo --preset fat_tree_64 --path 0.0.0 1.0.0");
    assert_null(strstr(output.out, "-level_2"));
    run_output_free(&output);
    const double narrow = exchange_ns("--preset fat_tree_64");
    const double full = exchange_ns("--preset fat_tree_64 --set "
                                    "system.sips.topology=[{\"switch\":8,\"bw_gbs\":50},"
                                    "{\"switch\":8,\"bw_gbs\":50,\"latency_ns\":250}]");
    assert_true(narrow >= 56 * 16384 / 25.0);
    assert_true(narrow - full >= 0.9 * 56 * 16384 * (1 / 25.0 - 1 / 50.0));
    const double groups = exchange_ns("--preset dragonfly_64");
    assert_true(groups >= 64 * 16384 / 50.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_collective_is_right_bit_for_bit),
        cmocka_unit_test(any_number_of_threads_gives_the_same),
        cmocka_unit_test(a_logical_torus_has_layers),
        cmocka_unit_test(a_level_has_links_of_its_own),
        cmocka_unit_test(leaves_and_groups_share_what_leads_out_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
