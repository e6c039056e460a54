/*
 * test_schedules.c: algorithms that are schedules, on the machine: every one of them on every
 * topology that it takes, in one shard per rank and in lanes, with sizes that are no multiple of
 * anything; the same on any number of threads, in every mode, and again from the op log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

#define SMALL "--preset tiny --set system.sips.count=%u --set system.sips.topology=%s "

static const char *const all_reduces[] = {"ring_rs_ag",         "torus_rs_ag",
                                          "direct_rs_ag",       "halving_doubling",
                                          "recursive_doubling", "double_binary_tree"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const json_t *first_row(const json_t *root, const char *key)
{
    return json_object_get(json_array_get(json_object_get(root, "results"), 0), key);
}

/* The bits are those of the order that the schedule's formulas give. */
static void verified(const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    json_t *const root = run_json("run %s --verify-data", line);
    const json_t *const wrong = first_row(root, "wrong");
    if (!json_is_integer(wrong) || json_integer_value(wrong) != 0)
        fail_msg("run %s: wrong values", line);
    json_decref(root);
}

static void bits_are_right_for_any_ranks_and_size(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 7, 1000, 8192 + 3};
    static const char *const topologies[] = {"ring_1d", "torus_2d", "mesh_2d_no_wrap", "switch"};
    for (size_t a = 0; a < COUNT(all_reduces); a++)
        for (uint32_t n = 2; n <= 9; n++)
            verified("--algorithm %s " SMALL "--n-elem %u --dtype %s", all_reduces[a], n,
                     topologies[(a + n) % COUNT(topologies)], sizes[(a + n) % COUNT(sizes)],
                     n % 2 ? "f32" : "bf16");
}

static void lanes_are_right(void **state)
{
    (void)state;
    static const char *const mappers[] = {"all_pes", "pe0_all_cubes"};
    for (size_t a = 0; a < COUNT(all_reduces); a++)
        for (size_t m = 0; m < COUNT(mappers); m++)
            verified("--algorithm %s " SMALL "--set algorithms.%s.mapper=%s --n-elem 777",
                     all_reduces[a], 6, "torus_2d", all_reduces[a], mappers[m]);
}

/* All cubes' shards are operands, and all have the result. */
static void hierarchies_are_right(void **state)
{
    (void)state;
    static const char *const shapes[] = {"lrab", "lines", "direct"};
    static const char *const topologies[] = {"ring_1d", "torus_2d", "mesh_2d_no_wrap",
                                             "fully_connected"};
    static const uint32_t sizes[] = {1, 7, 1000, 40000 + 3};
    for (size_t a = 0; a < COUNT(all_reduces); a++)
        for (uint32_t n = 1; n <= 7; n++)
            verified("--algorithm hierarchical " SMALL "--set algorithms.hierarchical.between=%s "
                     "--set algorithms.hierarchical.inside=%s --set sip.cube_mesh.w=%u "
                     "--n-elem %u --dtype %s",
                     n, topologies[(a + n) % COUNT(topologies)], all_reduces[a],
                     shapes[(a + n) % COUNT(shapes)], n % 3 + 1, sizes[(a + n) % COUNT(sizes)],
                     n % 2 ? "f32" : "bf16");
    verified("--algorithm hierarchical " SMALL "--set algorithms.hierarchical.mapper=all_pes "
             "--n-elem 5000",
             3, "torus_2d");
    for (uint32_t n = 2; n <= 5; n++) /* schedules between SIPs that take more PEs are left out */
        verified("--algorithm hierarchical " SMALL "--set sip.cube_mesh.w=1 --set "
                 "cube.pe_layout.corners=[SE] --set cube.pe_layout.pe_per_corner=%u --n-elem 1000",
                 n, "switch", n % 3 + 1);
    verified("--algorithm hierarchical " SMALL "--set defaults.root=corner --set "
             "algorithms.hierarchical.inside=lrab --n-elem 5000 --input integers",
             3, "switch");
}

/* Pieces, memories of slots, contention, and one slot. */
static void options_of_the_machine(void **state)
{
    (void)state;
    static const char *const options[] = {"--set defaults.buffer_kind=hbm",
                                          "--set defaults.buffer_kind=sram",
                                          "--set fabric.contention=none",
                                          "--set fabric.contention=chunk",
                                          "--set defaults.n_slots=2",
                                          "--set defaults.slot_size=256",
                                          "--set defaults.vc=single",
                                          "--set defaults.backpressure=poll",
                                          "--set defaults.strict_validation=true",
                                          "--set defaults.host_copy=simulated"};
    static const char *const some[] = {"ring_rs_ag", "torus_rs_ag", "hierarchical"};
    for (size_t i = 0; i < COUNT(options); i++)
        for (size_t a = 0; a < COUNT(some); a++)
            verified("--algorithm %s " SMALL "%s --n-elem 5001 --iters 2", some[a], 4, "torus_2d",
                     options[i]);
}

static double us_of_run(const char *args)
{
    json_t *const root = run_json("run --algorithm halving_doubling %s --verify-data "
                                  "--set system.sips.count=64",
                                  args);
    const json_t *const first = json_array_get(json_object_get(root, "results"), 0);
    assert_int_equal(json_integer_value(json_object_get(first, "wrong")), 0);
    const double us = 1e-6 * (double)json_ps(root, "time_ns");
    json_decref(root);
    return us;
}

/* Small chunks share slots where the size is known: windows of 32 chunks, not of 8. With a log that
 * goes through several sizes it is not. */
static void small_chunks_travel_in_large_windows(void **state)
{
    (void)state;
    char path[] = "/tmp/cubewarp-windows-XXXXXX", args[128];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    snprintf(args, sizeof args, "--bytes 4KiB:64KiB:x16 --op-log %s", path);
    assert_true(us_of_run("--bytes 4KiB") < 0.8 * us_of_run(args));
    (void)us_of_run("--bytes 100");
    (void)us_of_run("--bytes 60KiB --dtype f32");
    (void)us_of_run("--n-elem 30001");
    (void)us_of_run("--n-elem 30001 --threads 2");
    (void)remove(path);
}

/* 64 KiB on each PE of 2 x 2 SIPs: 96 % of the rate of all eight links between neighbours. */
/* Without a size on the command line it is the configured one, of the dtype asked for. */
static void the_configured_size_is_a_size(void **state)
{
    (void)state;
    static const char *const algorithms[] = {"auto", "halving_doubling"};
    for (size_t i = 0; i < COUNT(algorithms); i++) {
        const char *const line = "run --algorithm %s --dtype f32 --no-data " SMALL "%s500";
        json_t *const named = run_json(line, algorithms[i], 32, "switch", "--n-elem ");
        json_t *const configured =
            run_json(line, algorithms[i], 32, "switch", "--set defaults.n_elem=");
        assert_true(json_equal(first_row(named, "time_ns"), first_row(configured, "time_ns")));
        assert_true(json_equal(first_row(named, "algorithm"), first_row(configured, "algorithm")));
        json_decref(named);
        json_decref(configured);
    }
}

static void both_links_of_a_ring_of_two_are_used(void **state)
{
    (void)state;
    json_t *const root = run_json("run --algorithm torus_rs_ag --bytes 64KiB --no-data "
                                  "--set system.sips.count=4 --set system.sips.topology=torus_2d "
                                  "--set algorithms.torus_rs_ag.mapper=all_pes");
    const double us = 1e-6 * (double)json_ps(root, "time_ns");
    assert_true(us > 31.46 && us < 34);
    json_decref(root);
}

/* A switch of 17 places would take two threads. A SIP of one PE has one, so the places form a ring:
 * 2 (N - 1) / N of the tensor all the same, for N = 2 x 17. */
static void a_switch_of_many_is_a_ring_where_a_sip_has_one_pe(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "run --preset a100_nodes --set "
                    "system.sips={\"count\":34,\"topology\":[{\"switch\":2},{\"switch\":17}]} "
                    "--bytes 64KiB --dtype f32 --verify-data");
    assert_non_null(strstr(output.out, "1.94 x the tensor, by torus_rs_ag"));
    run_output_free(&output);
}

static void one_hash_on_any_number_of_threads(void **state)
{
    (void)state;
    static const char *const modes[] = {"--threads 1", "--threads 2", "--threads 8",
                                        "--threads 3 --sync optimistic",
                                        "--threads 2 --sync stress"};
    static const char *const runs[] = {
        "--algorithm torus_rs_ag --set algorithms.torus_rs_ag.mapper=pe0_all_cubes",
        "--algorithm ring_rs_ag --set algorithms.ring_rs_ag.rings=4",
        "--algorithm double_binary_tree",
        "--algorithm hierarchical --set algorithms.hierarchical.inside=lines "
        "--set algorithms.hierarchical.turns=2"};
    for (size_t r = 0; r < COUNT(runs); r++) {
        char first[64] = "";
        for (size_t m = 0; m < COUNT(modes); m++) {
            json_t *const root = run_json("run " SMALL "%s %s --n-elem 3000 --verify-data", 6,
                                          "torus_2d", runs[r], modes[m]);
            const char *const hash =
                json_string_value(json_object_get(json_object_get(root, "engine"), "trace_hash"));
            assert_non_null(hash);
            if (m == 0)
                snprintf(first, sizeof first, "%s", hash);
            assert_string_equal(hash, first);
            json_decref(root);
        }
    }
}

static void the_op_log_ends_with_the_same_memory(void **state)
{
    (void)state;
    char path[] = "/tmp/cubewarp-schedules-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    struct run_output output =
        run_line(0,
                 "run " SMALL "--algorithm ring_rs_ag --set algorithms.ring_rs_ag.rings=3 "
                 "--n-elem 3001 --verify-data --op-log %s",
                 5, "ring_1d", path);
    run_output_free(&output);
    output = run_line(0, "replay %s", path);
    run_output_free(&output);
    (void)remove(path);
}

static void refusals_name_the_key(void **state)
{
    (void)state;
    struct run_output output =
        run_line(2, "run --preset tiny --set system.sips.count=4 --algorithm ring_rs_ag "
                    "--set algorithms.ring_rs_ag.topology=ring_1d --n-elem 8");
    assert_non_null(strstr(output.err, "legal is none"));
    run_output_free(&output);
    output =
        run_line(2, "run --preset tiny --set system.sips.count=4 --algorithm hierarchical --set "
                    "algorithms.hierarchical.mapper=leader_only --n-elem 8");
    assert_non_null(strstr(output.err, "legal: all_pes, pe0_all_cubes"));
    run_output_free(&output);
    output = run_line(2, "run --preset tiny --set system.sips.count=40 --set "
                         "system.sips.topology=switch --algorithm hierarchical --set "
                         "algorithms.hierarchical.mapper=all_pes --set "
                         "algorithms.hierarchical.between=direct_rs_ag --n-elem 8");
    assert_non_null(strstr(output.err, "direct_rs_ag between SIPs takes 3 of each member's 1 PEs"));
    run_output_free(&output);
    /* the default of 8 elements is less than one for each rank: no estimate falls over it */
    output = run_line(2, "check --set system.sips.count=9 --algorithm auto_reduce_scatter");
    assert_non_null(strstr(output.err, "8 elements are no multiple of 9 ranks; use 9, or "));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_right_for_any_ranks_and_size),
        cmocka_unit_test(lanes_are_right),
        cmocka_unit_test(hierarchies_are_right),
        cmocka_unit_test(options_of_the_machine),
        cmocka_unit_test(small_chunks_travel_in_large_windows),
        cmocka_unit_test(the_configured_size_is_a_size),
        cmocka_unit_test(both_links_of_a_ring_of_two_are_used),
        cmocka_unit_test(a_switch_of_many_is_a_ring_where_a_sip_has_one_pe),
        cmocka_unit_test(one_hash_on_any_number_of_threads),
        cmocka_unit_test(the_op_log_ends_with_the_same_memory),
        cmocka_unit_test(refusals_name_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
