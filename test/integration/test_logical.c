/*
 * test_logical.c: all-reduce over logical topologies (ALGORITHMS.md, RUNTIME.md): the bits
 * and the times of ring_allreduce and tree_allreduce, and their refusals. The tree's bits are
 * computed here a second time; the ring's are those of lrab, whose phase 3 it is.
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

#include "test/support/allreduce_order.h"
#include "test/support/run_cubewarp.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *hash_of(const json_t *root)
{
    const json_t *result = json_array_get(json_object_get(root, "results"), 0);
    return json_string_value(json_object_get(result, "data_hash"));
}

static long long wrong_of(const json_t *root)
{
    const json_t *result = json_array_get(json_object_get(root, "results"), 0);
    const json_t *wrong = json_object_get(result, "wrong");
    assert_true(json_is_integer(wrong));
    return json_integer_value(wrong);
}

/* SIPs of one cube in a ring: lrab is phase 3 alone, over the same links. */
static void the_ring_is_lrab_s_phase_3(void **state)
{
    (void)state;
    static const char machine[] = "--set system.sips.topology=ring_1d --set system.sips.count=5 "
                                  "--set sip.cube_mesh.w=1 --set sip.cube_mesh.h=1";
    for (unsigned n = 0; n < 4; n++) {
        static const char *const sizes[] = {"16", "2048", "5000", "30000"};
        json_t *lrab = run_json("run %s --n-elem %s --verify-data", machine, sizes[n]);
        json_t *ring = run_json("run %s --n-elem %s --algorithm ring_allreduce --verify-data",
                                machine, sizes[n]);
        json_t *one_way = run_json("run %s --n-elem %s --algorithm ring_allreduce --verify-data "
                                   "--set algorithms.ring_allreduce.topology=ring_1d_unidir",
                                   machine, sizes[n]);
        assert_int_equal(json_ps(ring, "time_ns"), json_ps(lrab, "time_ns"));
        assert_int_equal(json_ps(one_way, "time_ns"), json_ps(lrab, "time_ns"));
        assert_string_equal(hash_of(ring), hash_of(lrab));
        assert_string_equal(hash_of(one_way), hash_of(lrab));
        json_decref(lrab);
        json_decref(ring);
        json_decref(one_way);
    }
}

/* Rank r: its own, plus its left child's, plus its right child's; the root's go to all. */
static void tree_hash(uint32_t ranks, uint32_t elements, char hash[17])
{
    float *out = malloc((size_t)ranks * elements * sizeof *out);
    float value[64];
    assert_non_null(out);
    assert_true(ranks <= COUNT_OF(value));
    for (uint32_t e = 0; e < elements; e++) {
        for (uint32_t rank = ranks; rank-- > 0;) {
            value[rank] = order_input(1, (uint64_t)rank * elements + e);
            if (2 * rank + 1 < ranks)
                value[rank] = order_plus(value[rank], value[2 * rank + 1]);
            if (2 * rank + 2 < ranks)
                value[rank] = order_plus(value[rank], value[2 * rank + 2]);
        }
        for (uint32_t rank = 0; rank < ranks; rank++)
            out[rank * elements + e] = value[0];
    }
    order_hash(out, ranks * elements, hash);
    free(out);
}

static void the_tree_adds_the_left_then_the_right_child(void **state)
{
    (void)state;
    static const uint32_t ranks[] = {1, 2, 3, 4, 6, 11};
    for (size_t i = 0; i < COUNT_OF(ranks); i++) {
        char hash[17];
        tree_hash(ranks[i], 1500, hash);
        json_t *root = run_json("run --algorithm tree_allreduce --dtype bf16 --n-elem 1500 "
                                "--set system.sips.topology=ring_1d --set system.sips.count=%u "
                                "--verify-data",
                                ranks[i]);
        assert_string_equal(hash_of(root), hash);
        assert_int_equal(wrong_of(root), 0);
        json_decref(root);
    }
}

static void bits_are_right_on_every_machine(void **state)
{
    (void)state;
    static const char *const machines[] = {
        "--preset six_3x2",
        "--set system.sips.topology=mesh_2d_no_wrap --set system.sips.count=9",
        "--set system.sips.topology=switch --set system.sips.count=7",
        "--set system.sips.topology=pair_switch --set system.sips.count=6",
        "--set fabric.contention=chunk",
        "--set fabric.contention=none --set defaults.n_slots=1",
        "--set defaults.buffer_kind=sram --set defaults.backpressure=poll",
        "--set defaults.buffer_kind=hbm --set defaults.wiring=pe0",
    };
    static const char *const algorithms[] = {"ring_allreduce", "tree_allreduce"};
    static const char *const types[] = {"--dtype bf16 --op max", "--dtype f16 --op sum"};
    for (size_t i = 0; i < COUNT_OF(machines) * COUNT_OF(algorithms); i++) {
        json_t *root = run_json("run %s --algorithm %s %s --n-elem 2500 --verify-data",
                                machines[i / 2], algorithms[i % 2], types[i / 2 % 2]);
        assert_int_equal(wrong_of(root), 0);
        json_decref(root);
    }
}

static void a_world_may_be_smaller_than_the_machine(void **state)
{
    (void)state;
    for (unsigned ranks = 1; ranks <= 4; ranks++) {
        json_t *tree = run_json("run --algorithm tree_allreduce --n-elem 100 --verify-data "
                                "--set algorithms.tree_allreduce.world_size=%u",
                                ranks);
        assert_int_equal(wrong_of(tree), 0);
        json_decref(tree);
        json_t *ring = run_json("run --algorithm ring_allreduce --n-elem 100 --verify-data "
                                "--set defaults.world_size=%u --set defaults.rank_invariant=true",
                                ranks);
        assert_int_equal(wrong_of(ring), 0);
        json_decref(ring);
    }
}

/* The same trace on several threads: credits of a logical topology may be the least delay. */
static void threads_change_nothing(void **state)
{
    (void)state;
    static const char *const algorithms[] = {"ring_allreduce", "tree_allreduce"};
    for (size_t i = 0; i < COUNT_OF(algorithms); i++) {
        struct run_output output =
            run_line(0,
                     "verify --algorithm %s --n-elem 3000 --threads 3 --sync optimistic "
                     "--preset six_3x2",
                     algorithms[i]);
        run_output_free(&output);
    }
}

static void refuse(const char *text, const char *line)
{
    struct run_output output = run_line(2, "%s", line);
    if (strstr(output.err, text) == NULL)
        fail_msg("%s\nsaid %s\ninstead of %s", line, output.err, text);
    run_output_free(&output);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    refuse("topology: ring_allreduce sends E and receives from W of a ring; ring_1d and "
           "ring_1d_unidir are legal",
           "run --algorithm ring_allreduce --set algorithms.ring_allreduce.topology=tree_binary");
    refuse("topology: tree_allreduce goes to the parent and the children of a tree; tree_binary is "
           "legal",
           "run --algorithm tree_allreduce --set algorithms.tree_allreduce.topology=ring_1d");
    refuse("validator cube_rows: rank 0's tensor has 1 shards; legal: one row of the tensor on PE "
           "0 of each cube",
           "run --algorithm tree_allreduce --set algorithms.tree_allreduce.validator=cube_rows");
    refuse("topology: this bench uses the machine's own queues, which `none` is; ring_allreduce "
           "has ring_1d",
           "run --bench ipcq_pingpong --algorithm ring_allreduce");
    refuse("world_size 3: lrab_hierarchical_allreduce takes all 4 SIPs; leave it out",
           "run --set defaults.world_size=3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ring_is_lrab_s_phase_3),
        cmocka_unit_test(the_tree_adds_the_left_then_the_right_child),
        cmocka_unit_test(bits_are_right_on_every_machine),
        cmocka_unit_test(a_world_may_be_smaller_than_the_machine),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests_name("logical", tests, NULL, NULL);
}
