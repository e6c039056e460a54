/*
 * test_moves.c: the benches ccl_all_gather, ccl_all_to_all, ccl_broadcast and ccl_barrier: bits,
 * times against bounds, threads, over the machines there are.
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

static const json_t *result_of(const json_t *root, const char *key)
{
    return json_object_get(json_array_get(json_object_get(root, "results"), 0), key);
}

static void tensors_arrive_bit_for_bit_on_every_machine(void **state)
{
    (void)state;
    static const char *const machines[] = {
        "--preset six_3x2 --n-elem 6000",
        "--set system.sips.topology=mesh_2d_no_wrap --set system.sips.count=9 --n-elem 9000",
        "--set system.sips.topology=switch --set system.sips.count=5 --n-elem 5000",
        "--set fabric.contention=chunk --n-elem 8000",
        "--set fabric.contention=none --set defaults.n_slots=1 --n-elem 12000",
        "--set defaults.buffer_kind=hbm --set defaults.backpressure=poll --n-elem 5000",
        "--set defaults.buffer_kind=sram --set defaults.wiring=pe0 --n-elem 5000",
        "--set algorithms.lrab_hierarchical_allreduce.topology=ring_1d "
        "--set algorithms.lrab_hierarchical_allreduce.mapper=leader_only "
        "--set system.sips.topology=pair_switch --n-elem 7000",
        "--preset tiny --n-elem 100",
    };
    static const char *const benches[] = {"ccl_all_gather", "ccl_broadcast"};
    for (size_t i = 0; i < COUNT_OF(machines) * COUNT_OF(benches); i++) {
        json_t *root = run_json("run --bench %s %s --dtype bf16 --iters 2 --verify-data",
                                benches[i % 2], machines[i / 2]);
        assert_int_equal(json_integer_value(result_of(root, "wrong")), 0);
        assert_non_null(json_string_value(result_of(root, "data_hash")));
        assert_true(json_ps(root, "bound_ns") <= json_ps(root, "time_ns"));
        assert_string_equal(json_string_value(result_of(root, "collective")),
                            i % 2 == 0 ? "all_gather" : "broadcast");
        json_decref(root);
    }
}

/* By every operation, and in f32 sums of narrow types; also where ranks have one neighbour, or
 * none. */
static void a_reduce_adds_bit_for_bit_up_a_tree(void **state)
{
    (void)state;
    static const char *const machines[] = {
        "--preset six_3x2 --n-elem 6000 --dtype f16",
        "--set system.sips.topology=mesh_2d_no_wrap --set system.sips.count=9 --n-elem 9000 "
        "--dtype bf16 --set defaults.accumulate=f32",
        "--set system.sips.topology=torus_2d --set system.sips.count=16 --n-elem 3000 --op min",
        "--set system.sips.count=2 --op prod --dtype f32 --n-elem 5000",
        "--set system.sips.count=1 --n-elem 5000",
        "--set defaults.buffer_kind=hbm --set defaults.n_slots=1 --dtype int8 --op max --n-elem "
        "20000",
        "--algorithm relay_reduce --set algorithms.relay_reduce.topology=tree_binary "
        "--set algorithms.relay_reduce.mapper=all_pes --set system.sips.count=7 --n-elem 3000",
        "--set system.sips.topology=switch --set system.sips.count=5 --n-elem 5000"};
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        json_t *root = run_json("run --bench ccl_reduce %s --iters 2 --verify-data", machines[i]);
        assert_int_equal(json_integer_value(result_of(root, "wrong")), 0);
        assert_string_equal(json_string_value(result_of(root, "proof")), "order");
        assert_string_equal(json_string_value(result_of(root, "algorithm")), "relay_reduce");
        assert_true(json_ps(root, "bound_ns") <= json_ps(root, "time_ns"));
        json_decref(root);
    }
}

/* Blocks of one element and of several chunks of tiles; every topology; shards of one PE, of every
 * cube and of every PE. */
static void an_all_to_all_swaps_blocks_bit_for_bit(void **state)
{
    (void)state;
    static const char *const machines[] = {
        "--n-elem 4",
        "--preset six_3x2 --n-elem 60000",
        "--preset tiny --n-elem 100",
        "--set system.sips.topology=ring_1d --set system.sips.count=2 --n-elem 100002",
        "--set system.sips.topology=mesh_2d_no_wrap --set system.sips.count=9 --n-elem 9000",
        "--set system.sips.topology=switch --set system.sips.count=33 --n-elem 33000",
        "--set system.sips.topology=pair_switch --set system.sips.count=8 --n-elem 8000",
        "--preset pod64 --n-elem 64000 --set algorithms.pairwise_all_to_all.threads=1",
        "--set fabric.contention=chunk --n-elem 8000",
        "--set fabric.contention=none --set defaults.n_slots=1 --n-elem 12000",
        "--set defaults.buffer_kind=hbm --set defaults.backpressure=poll --n-elem 5000",
        "--set algorithms.pairwise_all_to_all.mapper=all_pes --n-elem 4000",
        "--set algorithms.pairwise_all_to_all.mapper=pe0_all_cubes --n-elem 20000",
        "--set algorithms.pairwise_all_to_all.world_size=3 --n-elem 30000",
    };
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        json_t *root = run_json("run --bench ccl_all_to_all %s --dtype bf16 --iters 2 "
                                "--verify-data",
                                machines[i]);
        if (json_integer_value(result_of(root, "wrong")) != 0)
            fail_msg("%s: wrong values", machines[i]);
        assert_true(json_ps(root, "bound_ns") <= json_ps(root, "time_ns"));
        assert_string_equal(json_string_value(result_of(root, "proof")), "moved");
        assert_string_equal(json_string_value(result_of(root, "algorithm")), "pairwise_all_to_all");
        json_decref(root);
    }
}

/* nccl-tests' factor: (n - 1) / n. */
static void busbw_of_an_all_to_all_counts_the_blocks_for_others(void **state)
{
    (void)state;
    json_t *root = run_json("run --bench ccl_all_to_all --bytes 64KiB");
    const double algbw = json_real_value(result_of(root, "algbw_gbs"));
    assert_float_equal(json_real_value(result_of(root, "busbw_gbs")), algbw * 3 / 4, algbw * 1e-9);
    json_decref(root);
}

static void a_barrier_has_no_tensor(void **state)
{
    (void)state;
    json_t *root = run_json("run --bench ccl_barrier --preset pod64");
    assert_true(json_is_null(result_of(root, "data_hash")));
    assert_int_equal(json_integer_value(result_of(root, "bytes")), 0);
    assert_string_equal(json_string_value(result_of(root, "algorithm")), "relay_barrier");
    assert_true(json_ps(root, "bound_ns") < json_ps(root, "time_ns"));
    json_decref(root);
}

static void the_topology_of_the_configured_algorithm_is_used(void **state)
{
    (void)state;
    json_t *tree = run_json("run --bench ccl_broadcast --algorithm relay_broadcast --preset pod64 "
                            "--set algorithms.relay_broadcast.topology=tree_binary --n-elem 64");
    json_t *machine = run_json("run --bench ccl_broadcast --algorithm relay_broadcast "
                               "--preset pod64 --n-elem 64");
    const json_t *one = json_object_get(json_object_get(tree, "topology"), "ipcq_queue_pairs");
    assert_int_equal(json_integer_value(one), 2 * 63);
    assert_int_not_equal(json_ps(tree, "time_ns"), json_ps(machine, "time_ns"));
    json_decref(tree);
    json_decref(machine);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const char *const benches[] = {"ccl_all_gather", "ccl_broadcast", "ccl_barrier",
                                          "ccl_all_to_all"};
    for (size_t i = 0; i < COUNT_OF(benches); i++) {
        struct run_output output = run_line(0,
                                            "verify --bench %s --n-elem 6000 --threads 3 "
                                            "--sync stress --preset six_3x2",
                                            benches[i]);
        run_output_free(&output);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"run --bench ccl_all_gather --n-elem 10",
         "all_gather: 10 elements are no multiple of 4 ranks"},
        {"check --bench ccl_all_gather --n-elem 10",
         "all_gather: 10 elements are no multiple of 4 ranks"},
        {"run --bench ccl_reduce_scatter --algorithm rings_reduce_scatter --n-elem 10",
         "reduce_scatter: 10 elements are no multiple of 4 ranks"},
        {"check --bench ccl_reduce_scatter --algorithm rings_reduce_scatter --n-elem 10",
         "reduce_scatter: 10 elements are no multiple of 4 ranks"},
        {"run --bench ccl_all_to_all --n-elem 10",
         "all_to_all: 10 elements are no multiple of 4 ranks"},
        {"run --bench ccl_all_to_all --algorithm ring_allreduce",
         "ring_allreduce does all_reduce, and ccl_all_to_all is a bench of all_to_all, for which "
         "there are: auto_all_to_all, pairwise_all_to_all"},
        {"run --bench ccl_all_to_all --set algorithms.pairwise_all_to_all.topology=ring_1d",
         "topology: pairwise_all_to_all lays its own queues between any SIPs; legal is none"},
        {"run --bench ccl_all_to_all --set system.sips.topology=switch --set system.sips.count=17 "
         "--set algorithms.pairwise_all_to_all.mapper=all_pes --n-elem 1700",
         "each PE exchanges its shard's blocks with 16 other ranks by queues of its own; legal are "
         "at most 16 ranks"},
        {"run --bench ccl_all_gather --set system.sips.topology=pair_switch",
         ":15: topology: an all-gather goes along lines of ranks"},
        {"run --bench ccl_broadcast --set system.sips.topology=pair_switch",
         ":15: topology: a broadcast goes along queues that join all "
         "ranks, "
         "and pair_switch has none of its own; legal are the logical topologies ring_1d, "},
        {"run --bench ccl_barrier --preset a3_8 "
         "--set algorithms.auto.topology=none",
         "run: --set algorithms.auto.topology=none: topology: a barrier goes along queues that "},
        {"run --bench ccl_barrier --algorithm relay_barrier "
         "--set algorithms.relay_barrier.topology=ring_1d_unidir",
         ": --set algorithms.relay_barrier.topology=ring_1d_unidir: no queues lead from rank 0 to "
         "rank 1 and back; a logical topology that joins all ranks (ring_1d, tree_binary) is "
         "legal"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct run_output output = run_line(2, "%s", cases[i][0]);
        if (strstr(output.err, cases[i][1]) == NULL)
            fail_msg("%s said %s", cases[i][0], output.err);
        run_output_free(&output);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_arrive_bit_for_bit_on_every_machine),
        cmocka_unit_test(a_reduce_adds_bit_for_bit_up_a_tree),
        cmocka_unit_test(an_all_to_all_swaps_blocks_bit_for_bit),
        cmocka_unit_test(busbw_of_an_all_to_all_counts_the_blocks_for_others),
        cmocka_unit_test(a_barrier_has_no_tensor),
        cmocka_unit_test(the_topology_of_the_configured_algorithm_is_used),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests_name("moves", tests, NULL, NULL);
}
