/*
 * test_layouts.c: every algorithm, with every built-in mapper, on tensors of every layout
 * (RUNTIME.md, "Mappers and validators"): either the values are right on every shard, copies
 * included, or the call is refused with the tensor's layout and the layout that is legal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/test_dist_support.h"

#include "collectives/runtime/dist_tensor.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum { RANKS_MAX = 18, CUBES_MAX = 2, PES = 4, BLOCK = 24, N_MAX = RANKS_MAX * BLOCK, ROOT = 1 };

/* Of PES PEs in each cube. birs_inter takes more than 16 ranks. */
static const struct machine {
    const char *topology;
    uint32_t cubes, sips;
} machines[] = {{"torus_2d", CUBES_MAX, 4},
                {"fully_connected", CUBES_MAX, 4},
                {"ring_1d", 1, 4},
                {"pair_switch", 1, 4},
                {"pair_switch", 1, RANKS_MAX},
                {"switch", CUBES_MAX, 4}}; /* which reduces */

static const char *const mappers[] = {"", "leader_only", "pe0_all_cubes", "all_pes", "rank_per_pe"};

static const struct dp_policy layouts[] = {
    {.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_cubes = 1, .num_pes = 1},
    {.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_pes = 1},
    {.cube = DP_ROW_WISE, .pe = DP_COLUMN_WISE},
    {.cube = DP_ROW_WISE, .pe = DP_COLUMN_WISE, .num_cubes = 1},
    {.cube = DP_ROW_WISE, .pe = DP_COLUMN_WISE, .num_pes = PES / 2},
    {.cube = DP_ROW_WISE, .pe = DP_REPLICATE},
    {.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_pes = PES / 2},
    {.cube = DP_REPLICATE, .pe = DP_REPLICATE, .num_pes = 1},
    {.cube = DP_REPLICATE, .pe = DP_REPLICATE},
    {.cube = DP_REPLICATE, .pe = DP_COLUMN_WISE},
};
enum { LAYOUTS = COUNT_OF(layouts) };

/* A call: its algorithm's collective, on an input and an output of these layouts. */
struct world {
    struct dist *dist;
    struct config *config;
    enum ccl_collective collective;
    uint32_t ranks;
    struct dp_policy in, out;
    bool together; /* the algorithm adds all shards of a rank */
    uint64_t wrong;
};

static float value(uint64_t rank, uint64_t part, uint64_t e)
{
    return (float)(1 + (rank * 7 + part * 3 + e) % 5);
}

/* By RUNTIME.md, "Collectives". */
static float expected(const struct world *world, uint64_t rank, uint64_t part, uint64_t parts,
                      uint64_t e)
{
    const uint64_t element = world->collective == CCL_REDUCE_SCATTER ? rank * BLOCK + e : e;
    float sum = 0;
    switch (world->collective) {
    case CCL_ALL_GATHER:
        return value(e / BLOCK, part, e % BLOCK);
    case CCL_ALL_TO_ALL:
        return value(e / BLOCK, part, rank * BLOCK + e % BLOCK);
    case CCL_BROADCAST:
        return value(ROOT, part, e);
    case CCL_REDUCE:
        if (rank != ROOT)
            return value(rank, part, e);
        /* fallthrough */
    default:
        for (uint64_t from = 0; from < world->ranks; from++)
            for (uint64_t p = 0; p < parts; p++)
                sum += world->together || p == part ? value(from, p, element) : 0;
        return sum;
    }
}

static void fill(struct tensor *tensor, uint64_t rank)
{
    float values[CUBES_MAX * PES * N_MAX];
    const uint64_t parts = tensor_parts(tensor);
    for (uint64_t part = 0; part < parts; part++)
        for (uint64_t e = 0; e < tensor->shard_elems; e++)
            values[part * tensor->shard_elems + e] = value(rank, part, e);
    dist_tensor_copy_from(tensor, DTYPE_F32, values, parts * tensor->shard_elems);
}

static void compare(struct world *world, const struct tensor *tensor, uint64_t rank)
{
    float got[N_MAX];
    struct cw_error error;
    for (uint32_t i = 0; i < tensor->shard_count; i++) {
        if (dist_read(world->dist, tensor, i, 0, tensor->shard_elems, got, &error) != CW_OK)
            mp_fail(CW_BUG, "%s", error.text);
        for (uint64_t e = 0; e < tensor->shard_elems; e++)
            world->wrong +=
                got[e] != expected(world, rank, tensor->shard[i].part, tensor_parts(tensor), e);
    }
}

static void calls(int rank, void *arg)
{
    struct world *const world = arg;
    const enum ccl_collective collective = world->collective;
    const bool gathers = collective == CCL_ALL_GATHER, scatters = collective == CCL_REDUCE_SCATTER;
    const uint64_t n = (uint64_t)world->ranks * BLOCK;
    dist_init_process_group("ahbm");
    ahbm_set_device(dist_device_of(rank));
    struct tensor *const in = dist_tensor_zeros(gathers ? BLOCK : n, DTYPE_F32, &world->in);
    struct tensor *const out = gathers || scatters || collective == CCL_ALL_TO_ALL
                                   ? dist_tensor_zeros(scatters ? BLOCK : n, DTYPE_F32, &world->out)
                                   : in;
    fill(in, (uint64_t)rank);
    switch (collective) {
    case CCL_ALL_GATHER:
        dist_all_gather(out, in);
        break;
    case CCL_ALL_TO_ALL:
        dist_all_to_all(out, in);
        break;
    case CCL_REDUCE_SCATTER:
        dist_reduce_scatter(out, in, REDOP_SUM);
        break;
    case CCL_BROADCAST:
        dist_broadcast(in, ROOT);
        break;
    case CCL_REDUCE:
        dist_reduce(in, ROOT, REDOP_SUM);
        break;
    default:
        dist_all_reduce(in, REDOP_SUM);
    }
    compare(world, out, (uint64_t)rank);
}

/* False: the machine or the mapper is none for the algorithm. */
static bool make_world(struct world *world, const char *algorithm, const char *mapper,
                       const struct machine *machine)
{
    char chosen[80], mapped[80], validator[80], topology[60], cubes[40], sips[40];
    struct config_errors errors = {0};
    struct cw_error error;
    snprintf(chosen, sizeof chosen, "defaults.algorithm=%s", algorithm);
    snprintf(validator, sizeof validator, "algorithms.%s.validator=null", algorithm);
    snprintf(topology, sizeof topology, "system.sips.topology=%s", machine->topology);
    snprintf(sips, sizeof sips, "system.sips.count=%u", machine->sips);
    snprintf(cubes, sizeof cubes, "sip.cube_mesh.w=%u", machine->cubes);
    snprintf(mapped, sizeof mapped, "algorithms.%s.mapper=%s", algorithm, mapper);
    const char *const sets[] = {chosen,
                                validator,
                                topology,
                                cubes,
                                sips,
                                "sip.cube_mesh.h=1",
                                "cube.pe_layout.pe_per_corner=1",
                                "defaults.min_slice_align=32",
                                "nodes.switch.reduce=push",
                                mapped};
    const struct config_request request = {.sets = sets,
                                           .set_count = COUNT_OF(sets) - (mapper[0] == '\0')};
    *world = (struct world){.ranks = machine->sips};
    const int code = config_load(&request, &world->config, &errors);
    config_errors_free(&errors);
    if (code != CW_OK)
        return false;
    const struct dist_options options = {
        .config = world->config, .machine.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1}};
    world->dist =
        dist_world_size_for(world->config) == machine->sips ? dist_create(&options, &error) : NULL;
    if (world->dist == NULL)
        config_free(world->config);
    return world->dist != NULL;
}

static bool names_both_layouts(const char *text)
{
    return (strstr(text, "'s tensor has ") != NULL || strstr(text, "'s output has ") != NULL) &&
           strstr(text, " shard") != NULL && strstr(text, "; legal: ") != NULL;
}

/* Output and input have different numbers of shards: the call itself compares them. */
static bool names_both_counts(const char *text)
{
    return strstr(text, "dist_all_gather: an output of ") != NULL ||
           strstr(text, "dist_all_to_all: an output of ") != NULL;
}

/* Every pair of layouts of input and output. A machine or a mapper that is none for the algorithm
 * is so for all of them. Returns how many calls were carried out. */
static uint32_t run_layouts(struct world *world, const char *what)
{
    uint32_t done = 0, by_layout = 0, by_machine = 0;
    const bool two = world->collective == CCL_ALL_GATHER || world->collective == CCL_ALL_TO_ALL ||
                     world->collective == CCL_REDUCE_SCATTER;
    for (uint32_t i = 0; i < LAYOUTS; i++)
        for (uint32_t k = 0; k < LAYOUTS; k++) {
            struct cw_error error = {0};
            if (k != i && !two)
                continue;
            world->in = layouts[i];
            world->out = layouts[k];
            world->wrong = 0;
            const int code = dist_spawn(world->dist, calls, world, &error);
            const bool layout = code != CW_OK && names_both_layouts(cw_error_text(&error));
            if (code == CW_PROGRAM_FAILED && names_both_counts(cw_error_text(&error)))
                continue;
            done += code == CW_OK;
            by_layout += layout;
            by_machine += code == CW_USAGE && !layout;
            if (code == CW_OK && world->wrong > 0)
                fail_msg("%s, layouts %u and %u: %llu wrong values", what, i, k,
                         (unsigned long long)world->wrong);
            if ((code != CW_OK && code != CW_USAGE && code != CW_PROGRAM_FAILED) ||
                (code == CW_PROGRAM_FAILED && !layout) || (by_machine > 0 && done + by_layout > 0))
                fail_msg("%s, layouts %u and %u: code %d: %s", what, i, k, code,
                         cw_error_text(&error));
        }
    return done;
}

static void every_algorithm_and_layout_is_right_or_refused(void **state)
{
    (void)state;
    static const char *const adds_all[] = {"lrab_hierarchical_allreduce",
                                           "lrab_pipelined_allreduce", "pe_hierarchical_allreduce",
                                           "hierarchical"};
    const struct ccl_algorithm *algorithm;
    for (uint32_t i = 0; (algorithm = ccl_algorithm_at(i)) != NULL; i++) {
        uint32_t done = 0;
        if (algorithm->collective == CCL_BARRIER)
            continue;
        for (size_t m = 0; m < COUNT_OF(machines); m++)
            for (size_t k = 0; k < COUNT_OF(mappers); k++) {
                char what[120];
                struct world world;
                snprintf(what, sizeof what, "%s, mapper '%s', %s", algorithm->name, mappers[k],
                         machines[m].topology);
                if (!make_world(&world, algorithm->name, mappers[k], &machines[m]))
                    continue;
                world.collective = algorithm->collective;
                for (size_t a = 0; a < COUNT_OF(adds_all); a++)
                    world.together |= strcmp(algorithm->name, adds_all[a]) == 0;
                done += run_layouts(&world, what);
                dist_free(world.dist);
                config_free(world.config);
            }
        if (done == 0)
            fail_msg("%s carried out no call", algorithm->name);
    }
}

/* Ranks whose tensors are cut in different ways make no group's tensor. */
static void uneven_ranks(int rank, void *arg)
{
    struct world *const world = arg;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    struct tensor *const tensor =
        dist_tensor_zeros(BLOCK, DTYPE_F32, rank == 2 ? &world->out : &world->in);
    dist_all_reduce(tensor, REDOP_SUM);
}

static void ranks_with_different_layouts_are_refused(void **state)
{
    (void)state;
    struct world world;
    struct cw_error error = {0};
    assert_true(make_world(&world, "lrab_hierarchical_allreduce", "", &machines[0]));
    world.in = layouts[1];
    world.out = layouts[7];
    assert_int_equal(dist_spawn(world.dist, uneven_ranks, &world, &error), CW_PROGRAM_FAILED);
    const char *const text = cw_error_text(&error);
    if (strstr(text, "all_reduce: rank 2's tensor has 2 shards (a copy on each of 2 cubes, on PE 0 "
                     "of each), rank ") == NULL ||
        strstr(text, "'s 2 shards (cube_rows: rows over 2 cubes, on PE 0 of each); all ranks' "
                     "tensors must be alike") == NULL)
        fail_msg("%s", cw_error_text(&error));
    dist_free(world.dist);
    config_free(world.config);
}

static void a_refusal_names_both_layouts(void **state)
{
    (void)state;
    static const struct {
        const char *algorithm, *mapper;
        uint32_t layout;
        const char *text;
    } cases[] = {
        {"ring_rs_ag", "", 1,
         "validator of ring_rs_ag: rank 0's tensor has 2 shards (cube_rows: rows over 2 cubes, on "
         "PE 0 of each), and PE 0 of cube 1 has a shard that no kernel takes; legal: one shard "
         "(single_shard_per_rank), on PE 0 of cube 0"},
        {"ring_rs_ag", "all_pes", 4,
         "validator of ring_rs_ag: rank 0's tensor has 4 shards (rows over 2 cubes, columns over 2 "
         "PEs of each), and PE 2 of cube 0 takes a shard and has none; legal: 8 shards "
         "(multi_pe_sip_local: rows over 2 cubes, columns over 4 PEs of each)"},
        {"hierarchical", "", 2,
         "validator of hierarchical: rank 0's tensor has 8 shards (multi_pe_sip_local: rows over 2 "
         "cubes, columns over 4 PEs of each), and PE 1 of cube 0 has a shard that no kernel takes; "
         "legal: 2 shards (cube_rows: rows over 2 cubes, on PE 0 of each)"},
        {"hierarchical", "", 0,
         "validator of hierarchical: rank 0's tensor has one shard (single_shard_per_rank), on PE "
         "0 of cube 0, and PE 0 of cube 1 takes a shard and has none; legal: 2 shards (cube_rows: "
         "rows over 2 cubes, on PE 0 of each)"},
        {"lrab_hierarchical_allreduce", "", 7,
         "validator of lrab_hierarchical_allreduce: rank 0's tensor has 2 shards (a copy on each "
         "of 2 cubes, on PE 0 of each), and the copies of a part would be added up; legal: 2 "
         "shards (cube_rows: rows over 2 cubes, on PE 0 of each)"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct world world;
        struct cw_error error = {0};
        assert_true(make_world(&world, cases[i].algorithm, cases[i].mapper, &machines[0]));
        world.collective = CCL_ALL_REDUCE;
        world.in = world.out = layouts[cases[i].layout];
        assert_int_equal(dist_spawn(world.dist, calls, &world, &error), CW_USAGE);
        if (strstr(cw_error_text(&error), cases[i].text) == NULL)
            fail_msg("%s", cw_error_text(&error));
        dist_free(world.dist);
        config_free(world.config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_and_layout_is_right_or_refused),
        cmocka_unit_test(ranks_with_different_layouts_are_refused),
        cmocka_unit_test(a_refusal_names_both_layouts),
    };
    return cmocka_run_group_tests_name("layouts", tests, NULL, NULL);
}
