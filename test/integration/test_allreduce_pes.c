/*
 * test_allreduce_pes.c: pe_hierarchical_allreduce: all-reduce of a shard of every PE. For bf16 the
 * result is computed a second time (allreduce_order.h) and compared by its hash; the other types
 * and operations are compared with the program's own expectation (--verify-data).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/allreduce_order.h"
#include "test/support/run_cubewarp.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum { ELEMENTS = 21, PES_MAX = 12 };

/* A cube's PEs: which corner each group of them is at, as it is written in topology.yaml. */
struct pe_grid {
    const char *corners[4];
    uint32_t per_corner;
    uint32_t root_x; /* the root is in the lower row */
};

static const json_t *result_of(const json_t *root, const char *key)
{
    const json_t *value = json_object_get(json_array_get(json_object_get(root, "results"), 0), key);
    assert_non_null(value);
    return value;
}

/* Where a PE is in the grid of two rows: NW and NE above. */
static uint32_t place_of(const struct pe_grid *grid, uint32_t pe)
{
    const char *corner = grid->corners[pe / grid->per_corner];
    return (corner[0] == 'S' ? 2 * grid->per_corner : 0) +
           (corner[1] == 'E' ? grid->per_corner : 0) + pe % grid->per_corner;
}

static float cube_value(const struct pe_grid *grid, uint64_t seed, uint64_t first_shard, uint32_t e)
{
    float x[PES_MAX];
    const uint32_t pes = 4 * grid->per_corner;
    for (uint32_t pe = 0; pe < pes; pe++)
        x[place_of(grid, pe)] = order_input(seed, (first_shard + pe) * ELEMENTS + e);
    return order_reduce_grid(x, 2 * grid->per_corner, 2, grid->root_x, 1);
}

static void expected_hash(const struct shape *s, const struct pe_grid *grid, uint64_t seed,
                          char hash[17])
{
    static float out[SIPS_MAX * CUBES_MAX * PES_MAX * ELEMENTS];
    const uint32_t sips = s->sip_w * s->sip_h, cubes = s->cube_w * s->cube_h;
    const uint32_t pes = 4 * grid->per_corner, shards = sips * cubes * pes;
    assert_true(sips <= SIPS_MAX && cubes <= CUBES_MAX && pes <= PES_MAX);
    for (uint32_t e = 0; e < ELEMENTS; e++) {
        float sip[SIPS_MAX], cube[CUBES_MAX];
        for (uint32_t i = 0; i < sips; i++) {
            for (uint32_t c = 0; c < cubes; c++)
                cube[c] = cube_value(grid, seed, ((uint64_t)i * cubes + c) * pes, e);
            sip[i] = order_reduce_grid(cube, s->cube_w, s->cube_h, s->root_x, s->root_y);
        }
        order_reduce_sips(s, sip);
        for (uint32_t i = 0; i < shards; i++)
            out[i * ELEMENTS + e] = sip[i / (cubes * pes)];
    }
    order_hash(out, (uint64_t)shards * ELEMENTS, hash);
}

static void check_hash(const struct shape *s, const struct pe_grid *grid, const char *root)
{
    char hash[17];
    const uint64_t seed = 5;
    expected_hash(s, grid, seed, hash);
    json_t *json = run_json(
        "run --algorithm pe_hierarchical_allreduce --n-elem %d --dtype bf16 --seed %llu "
        "--set system.sips.topology=%s --set system.sips.count=%u --set system.sips.w=%u "
        "--set system.sips.h=%u --set sip.cube_mesh.w=%u --set sip.cube_mesh.h=%u "
        "--set cube.pe_layout.pe_per_corner=%u --set cube.pe_layout.corners=[%s,%s,%s,%s] "
        "--set algorithms.pe_hierarchical_allreduce.root=%s "
        "--set algorithms.pe_hierarchical_allreduce.rank_invariant=%s --set defaults.slot_size=16",
        ELEMENTS, (unsigned long long)seed, order_topo_name[s->topo], s->sip_w * s->sip_h, s->sip_w,
        s->sip_h, s->cube_w, s->cube_h, grid->per_corner, grid->corners[0], grid->corners[1],
        grid->corners[2], grid->corners[3], root, s->rank_invariant ? "true" : "false");
    const char *got = json_string_value(result_of(json, "data_hash"));
    if (got == NULL || strcmp(got, hash) != 0)
        fail_msg("%s of %u x %u SIPs, %u x %u cubes, %u PEs a corner, root %s: hash %s, expected "
                 "%s",
                 order_topo_name[s->topo], s->sip_w, s->sip_h, s->cube_w, s->cube_h,
                 grid->per_corner, root, got ? got : "null", hash);
    json_decref(json);
}

static void every_pe_ends_with_the_sum_in_the_specified_order(void **state)
{
    (void)state;
    static const struct shape centre[] = {
        {RING, 1, 1, 1, 1, 0, 0, false},  {RING, 3, 1, 2, 1, 1, 0, false},
        {TORUS, 2, 2, 2, 3, 1, 1, false}, {MESH, 2, 3, 3, 2, 1, 1, false},
        {TORUS, 3, 2, 1, 2, 0, 1, true},
    };
    static const struct pe_grid grids[] = {
        {{"NW", "NE", "SW", "SE"}, 2, 2},
        {{"NW", "NE", "SW", "SE"}, 1, 1},
        {{"SE", "NW", "SW", "NE"}, 3, 3},
    };
    for (size_t i = 0; i < COUNT_OF(centre); i++)
        for (size_t g = 0; g < COUNT_OF(grids); g++)
            check_hash(&centre[i], &grids[g], "center");
}

/* A root that names a cube says nothing about PEs: their grid then has its root at the centre. */
static void the_root_pe_is_at_the_centre_or_in_the_corner(void **state)
{
    (void)state;
    static const struct shape corner = {TORUS, 2, 1, 3, 2, 2, 1, false},
                              named = {TORUS, 2, 1, 3, 2, 0, 1, false};
    static const struct pe_grid at_corner = {{"NW", "NE", "SW", "SE"}, 3, 5},
                                at_centre = {{"NW", "NE", "SW", "SE"}, 3, 3};
    check_hash(&corner, &at_corner, "corner");
    check_hash(&named, &at_centre, "0,1");
}

static void every_type_operation_memory_and_tensor_size_is_exact(void **state)
{
    (void)state;
    static const char *const types[] = {"f16", "bf16", "f32"};
    static const char *const ops[] = {"sum", "max", "min", "prod"};
    static const char *const memories[] = {"tcm", "hbm", "sram"};
    for (unsigned i = 0; i < 12; i++) {
        json_t *root = run_json(
            "run --algorithm pe_hierarchical_allreduce --verify-data --n-elem %u --dtype %s "
            "--op %s --set defaults.buffer_kind=%s --set defaults.slot_size=256 "
            "--set defaults.n_slots=%u --set sip.cube_mesh.w=2 --set sip.cube_mesh.h=2",
            1 + i * 113, types[i % 3], ops[i % 4], memories[i / 4], 1 + i % 3);
        assert_int_equal(json_integer_value(result_of(root, "wrong")), 0);
        assert_true(json_is_integer(result_of(root, "wrong")));
        assert_true(json_ps(root, "bound_ns") <= json_ps(root, "time_ns"));
        json_decref(root);
    }
}

static void expect_refusal(const char *set, const char *text)
{
    const char *argv[] = {"run", "--algorithm", "pe_hierarchical_allreduce", "--set", set, NULL};
    struct run_output output = run_cubewarp(argv);
    assert_int_equal(output.exit_code, 2);
    if (strstr(output.err, text) == NULL)
        fail_msg("%s: not in: %s", text, output.err);
    run_output_free(&output);
}

static void a_machine_without_all_queues_and_pes_is_refused(void **state)
{
    (void)state;
    expect_refusal("defaults.wiring=pe0",
                   "--set defaults.wiring=pe0: pe_hierarchical_allreduce reduces over the PEs of "
                   "each cube, which wiring: pe0 does not join; all_pes is legal");
    expect_refusal("cube.pe_layout.corners=[NW,SE,NE]",
                   "--set cube.pe_layout.corners=[NW,SE,NE]: pe_hierarchical_allreduce needs a "
                   "full PE grid, and 3 of its 4 corners have PEs; all of NW, NE, SW and SE, in "
                   "any order, are legal");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pe_ends_with_the_sum_in_the_specified_order),
        cmocka_unit_test(the_root_pe_is_at_the_centre_or_in_the_corner),
        cmocka_unit_test(every_type_operation_memory_and_tensor_size_is_exact),
        cmocka_unit_test(a_machine_without_all_queues_and_pes_is_refused),
    };
    return cmocka_run_group_tests_name("allreduce of PEs", tests, NULL, NULL);
}
