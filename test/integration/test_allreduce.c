/*
 * test_allreduce.c: the bits of all-reduce (ALGORITHMS.md, COMMANDS.md "Inputs"). For bf16 the
 * result is computed a second time (allreduce_order.h), and compared by its hash; the other types
 * and operations are compared with the program's own expectation (--verify-data), over topologies,
 * memories and contention modes, and degenerate shapes.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/allreduce_order.h"
#include "test/support/run_cubewarp.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const json_t *result_of(const json_t *root, const char *key)
{
    const json_t *value = json_object_get(json_array_get(json_object_get(root, "results"), 0), key);
    assert_non_null(value);
    return value;
}

static void check_hash(const struct shape *s, uint64_t seed, const char *more)
{
    order_check("lrab_hierarchical_allreduce", s, seed, more);
}

/* ---- the bits -------------------------------------------------------------------------------- */

static void sums_have_the_bits_of_the_specified_order(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {RING, 1, 1, 1, 1, 0, 0, false},  {RING, 1, 1, 4, 1, 2, 0, false},
        {RING, 1, 1, 1, 5, 0, 2, false},  {RING, 1, 1, 3, 3, 1, 1, false},
        {RING, 2, 1, 2, 2, 1, 1, false},  {RING, 5, 1, 1, 1, 0, 0, false},
        {TORUS, 2, 1, 2, 1, 1, 0, false}, {TORUS, 1, 3, 1, 2, 0, 1, false},
        {TORUS, 3, 2, 4, 3, 2, 1, false}, {TORUS, 4, 4, 1, 1, 0, 0, false},
        {MESH, 3, 1, 2, 2, 1, 1, false},  {MESH, 1, 4, 2, 2, 1, 1, false},
        {MESH, 3, 3, 3, 2, 1, 1, false},
    };
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        check_hash(&shapes[i], 1 + i, "");
}

static void any_cube_may_be_the_root(void **state)
{
    (void)state;
    struct shape s = {TORUS, 2, 2, 4, 3, 0, 0, false};
    for (uint32_t root = 0; root < 12; root++) {
        s.root_x = root % 4;
        s.root_y = root / 4;
        check_hash(&s, 7, "");
    }
}

static void rank_invariant_adds_in_rank_order_on_every_rank(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {RING, 1, 1, 2, 2, 1, 1, true},  {RING, 5, 1, 2, 1, 1, 0, true},
        {TORUS, 2, 2, 1, 1, 0, 0, true}, {TORUS, 3, 2, 2, 2, 1, 1, true},
        {TORUS, 3, 4, 1, 1, 0, 0, true}, {TORUS, 1, 4, 1, 1, 0, 0, true},
    };
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        check_hash(&shapes[i], 3, "");
}

static void timing_does_not_change_the_bits(void **state)
{
    (void)state;
    static const struct shape s = {TORUS, 3, 2, 3, 2, 1, 1, false};
    static const char *const more[] = {
        "--set defaults.buffer_kind=hbm",
        "--set defaults.buffer_kind=sram",
        "--set defaults.n_slots=1",
        "--set defaults.backpressure=poll",
        "--set defaults.recv_blocks_on_credit=false",
        "--set fabric.contention=none",
        "--set fabric.contention=chunk --set defaults.vc_chunk_size=16",
        "--set links.sip_link.bw_gbs=0.1",
        "--set nodes.pe_dma.queue_depth=1",
        "--set cube.noc.w=3 --set cube.noc.h=1",
        "--set defaults.wiring=pe0",
        "--iters 3",
    };
    for (size_t i = 0; i < COUNT_OF(more); i++)
        check_hash(&s, 11, more[i]);
}

/* ---- all types and operations ---------------------------------------------------------------- */

static void expect_no_wrong_value(const char *args)
{
    json_t *root = run_json("run --verify-data %s", args);
    if (json_integer_value(result_of(root, "wrong")) != 0 ||
        !json_is_integer(result_of(root, "wrong")))
        fail_msg("%s: wrong values", args);
    assert_true(json_ps(root, "bound_ns") <= json_ps(root, "time_ns"));
    json_decref(root);
}

static void every_type_and_operation_is_exact_everywhere(void **state)
{
    (void)state;
    static const char *const machines[] = {
        "system.sips.count=1",
        "system.sips.count=3 --set system.sips.topology=ring_1d",
        "system.sips.count=4",
        ("system.sips.count=6 --set system.sips.topology=mesh_2d_no_wrap --set system.sips.w=3 "
         "--set system.sips.h=2"),
        "system.sips.count=3 --set system.sips.topology=switch",
    };
    static const char *const types[] = {"f16", "bf16", "f32"};
    static const char *const ops[] = {"sum", "max", "min", "prod"};
    static const char *const memories[] = {"tcm", "hbm", "sram"};
    static const char *const contentions[] = {"none", "message", "chunk"};
    uint32_t run = 0;
    for (size_t m = 0; m < COUNT_OF(machines); m++)
        for (size_t t = 0; t < COUNT_OF(types); t++)
            for (size_t o = 0; o < COUNT_OF(ops); o++, run++) {
                char args[512];
                snprintf(args, sizeof args,
                         "--n-elem %u --dtype %s --op %s --set %s --set defaults.buffer_kind=%s "
                         "--set fabric.contention=%s --set sip.cube_mesh.w=2 "
                         "--set sip.cube_mesh.h=3 --set defaults.slot_size=256",
                         1 + run * 17 % 500, types[t], ops[o], machines[m], memories[run % 3],
                         contentions[run / 3 % 3]);
                expect_no_wrong_value(args);
            }
}

static void degenerate_machines_reduce_too(void **state)
{
    (void)state;
    static const char *const machines[] = {
        "system.sips.count=1 --set sip.cube_mesh.w=1 --set sip.cube_mesh.h=1",
        "system.sips.count=1 --set sip.cube_mesh.w=1 --set sip.cube_mesh.h=4",
        "system.sips.count=1 --set sip.cube_mesh.w=4 --set sip.cube_mesh.h=1",
        "system.sips.count=2 --set system.sips.topology=ring_1d",
        "system.sips.count=2 --set system.sips.w=2 --set system.sips.h=1",
        "system.sips.count=2 --set system.sips.w=1 --set system.sips.h=2",
        "system.sips.count=1 --set system.sips.topology=mesh_2d_no_wrap",
        "system.sips.count=1 --set system.sips.topology=switch",
        "system.sips.count=1 --set system.sips.topology=pair_switch",
        "system.sips.count=2 --set system.sips.topology=switch",
        "cube.noc.w=1 --set cube.noc.h=1",
        "cube.pe_layout.corners=[SE] --set cube.pe_layout.pe_per_corner=1",
        "cube.pe_layout.corners=[SW,NE,NW] --set cube.pe_layout.pe_per_corner=3",
    };
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        char args[400];
        snprintf(args, sizeof args, "--n-elem 1 --set %s", machines[i]);
        expect_no_wrong_value(args);
        snprintf(args, sizeof args, "--n-elem 3000 --dtype bf16 --set %s", machines[i]);
        expect_no_wrong_value(args);
    }
}

static void tensors_larger_than_slots_and_rings_arrive_whole(void **state)
{
    (void)state;
    expect_no_wrong_value("--n-elem 2048");
    expect_no_wrong_value("--n-elem 2049");
    expect_no_wrong_value("--n-elem 9000 --set defaults.n_slots=1");
    expect_no_wrong_value(
        "--n-elem 9000 --set defaults.n_slots=1 --set defaults.backpressure=poll");
    expect_no_wrong_value("--n-elem 3001 --dtype f32 --set defaults.slot_size=64 "
                          "--set defaults.n_slots=2 --set defaults.buffer_kind=hbm");
    expect_no_wrong_value(
        "--n-elem 5000 --set defaults.n_slots=1 --set defaults.rank_invariant=true");
    expect_no_wrong_value("--n-elem 5000 --set defaults.slot_size=1000 "
                          "--set defaults.vc_chunk_size=7 --set fabric.contention=chunk");
}

static void presets_reduce_without_an_error(void **state)
{
    (void)state;
    expect_no_wrong_value("--preset tiny --n-elem 100");
    expect_no_wrong_value("--preset default --n-elem 100");
    json_t *root = run_json("run --preset six_3x2 --verify-data --n-elem 100");
    const json_t *topology = json_object_get(root, "topology");
    assert_int_equal(json_integer_value(json_object_get(topology, "sips")), 6);
    assert_int_equal(json_integer_value(result_of(root, "wrong")), 0);
    json_decref(root);
}

/* ---- other figures of a run ------------------------------------------------------------------ */

static void a_centre_root_is_faster_than_a_corner(void **state)
{
    (void)state;
    json_t *centre = run_json("run --n-elem 4096 --no-data"),
           *corner = run_json("run --n-elem 4096 --no-data --algorithm intercube_allreduce");
    assert_true(json_ps(centre, "time_ns") < json_ps(corner, "time_ns"));
    json_decref(centre);
    json_decref(corner);
}

static void the_same_run_commits_the_same_events(void **state)
{
    (void)state;
    json_t *runs[3];
    const char *trace[3], *data[3];
    for (int i = 0; i < 3; i++) {
        runs[i] = run_json("run --n-elem 777 --seed %d", i < 2 ? 5 : 6);
        trace[i] =
            json_string_value(json_object_get(json_object_get(runs[i], "engine"), "trace_hash"));
        data[i] = json_string_value(result_of(runs[i], "data_hash"));
    }
    assert_string_equal(trace[0], trace[1]);
    assert_string_equal(data[0], data[1]);
    assert_string_equal(trace[0], trace[2]); /* timing does not depend on values */
    assert_string_not_equal(data[0], data[2]);
    for (int i = 0; i < 3; i++)
        json_decref(runs[i]);
}

static void iterations_start_from_the_same_inputs_and_are_averaged(void **state)
{
    (void)state;
    json_t *once = run_json("run --n-elem 777"), *thrice = run_json("run --n-elem 777 --iters 3");
    assert_string_equal(json_string_value(result_of(once, "data_hash")),
                        json_string_value(result_of(thrice, "data_hash")));
    assert_int_equal(json_ps(once, "time_ns"), json_ps(thrice, "time_ns"));
    assert_int_equal(json_ps(once, "host_time_ns"), json_ps(thrice, "host_time_ns"));
    json_decref(once);
    json_decref(thrice);
}

static void without_data_the_times_are_the_same_and_nothing_is_hashed(void **state)
{
    (void)state;
    json_t *with = run_json("run --n-elem 777"), *without = run_json("run --n-elem 777 --no-data");
    assert_true(json_is_null(result_of(without, "data_hash")));
    assert_true(json_is_null(result_of(without, "wrong")));
    assert_true(json_is_string(result_of(with, "data_hash")));
    assert_true(json_is_null(result_of(with, "wrong"))); /* not verified */
    assert_int_equal(json_ps(with, "time_ns"), json_ps(without, "time_ns"));
    json_decref(with);
    json_decref(without);
}

static void a_range_of_sizes_is_a_row_for_each(void **state)
{
    (void)state;
    json_t *root = run_json("run --bytes 8:64KiB:x4 --dtype f32 --verify-data");
    const json_t *results = json_object_get(root, "results");
    assert_int_equal(json_array_size(results), 7); /* 8, 32, ... 32768; 131072 is beyond */
    for (size_t i = 0; i < 7; i++) {
        const json_t *row = json_array_get(results, i);
        const json_int_t bytes = json_integer_value(json_object_get(row, "bytes"));
        assert_int_equal(bytes, 8 << 2 * i);
        assert_int_equal(json_integer_value(json_object_get(row, "count")), bytes / 4);
        assert_int_equal(json_integer_value(json_object_get(row, "wrong")), 0);
        /* bytes over time, and 2 (n - 1) / n of it with n = 4 ranks of 16 shards */
        const double algbw = json_real_value(json_object_get(row, "algbw_gbs"));
        const double busbw = json_real_value(json_object_get(row, "busbw_gbs"));
        const double ns = json_real_value(json_object_get(row, "time_ns"));
        assert_true(algbw * ns > (double)bytes * 0.999999 && algbw * ns < (double)bytes * 1.000001);
        assert_true(busbw > algbw * 1.968749 && busbw < algbw * 1.968751);
    }
    json_decref(root);
}

/* min, mean and max over ranks: here there is one. */
static void a_rank_s_phases_sum_to_its_time(void **state)
{
    (void)state;
    json_t *root = run_json("run --no-data --n-elem 5000 --set system.sips.count=1");
    const json_t *phases = result_of(root, "phases"), *phase;
    long long sum_ps = 0;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)phases, i, phase)
    {
        const double ns = json_real_value(json_object_get(phase, "mean_ns"));
        assert_true(json_is_string(json_object_get(phase, "name")));
        assert_true(ns == json_real_value(json_object_get(phase, "min_ns")));
        assert_true(ns == json_real_value(json_object_get(phase, "max_ns")));
        sum_ps += llround(ns * 1000);
    }
    assert_true(json_array_size(phases) >= 4); /* at least both reductions and both broadcasts */
    assert_int_equal(sum_ps, json_ps(root, "time_ns"));
    json_decref(root);
}

static void the_machine_is_counted(void **state)
{
    (void)state;
    json_t *root = run_json("run --no-data --preset records");
    const json_t *topology = json_object_get(root, "topology");
    static const struct {
        const char *key;
        json_int_t count;
    } expected[] = {
        {"sips", 4},
        {"cubes", 64},
        {"pes", 512},
        /* intra: 10 edges of the 4 x 2 grid, both ends, in 64 cubes; inter-cube: 24 edges of the
         * 4 x 4 mesh, both ends, 8 PEs, 4 SIPs; global: four of each of the 512 */
        {"ipcq_queue_pairs", 20 * 64 + 48 * 8 * 4 + 4 * 512},
        {"lps", 1 + 64 + 4}, /* the host, cubes, IO dies */
    };
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        assert_int_equal(json_integer_value(json_object_get(topology, expected[i].key)),
                         expected[i].count);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_have_the_bits_of_the_specified_order),
        cmocka_unit_test(any_cube_may_be_the_root),
        cmocka_unit_test(rank_invariant_adds_in_rank_order_on_every_rank),
        cmocka_unit_test(timing_does_not_change_the_bits),
        cmocka_unit_test(every_type_and_operation_is_exact_everywhere),
        cmocka_unit_test(degenerate_machines_reduce_too),
        cmocka_unit_test(tensors_larger_than_slots_and_rings_arrive_whole),
        cmocka_unit_test(presets_reduce_without_an_error),
        cmocka_unit_test(a_centre_root_is_faster_than_a_corner),
        cmocka_unit_test(the_same_run_commits_the_same_events),
        cmocka_unit_test(iterations_start_from_the_same_inputs_and_are_averaged),
        cmocka_unit_test(without_data_the_times_are_the_same_and_nothing_is_hashed),
        cmocka_unit_test(a_range_of_sizes_is_a_row_for_each),
        cmocka_unit_test(a_rank_s_phases_sum_to_its_time),
        cmocka_unit_test(the_machine_is_counted),
    };
    return cmocka_run_group_tests_name("allreduce", tests, NULL, NULL);
}
