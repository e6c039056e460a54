/*
 * test_collectives.c: host programs that call several collectives, with several types, in one
 * process group: the values that each leaves, how long it took, and refusals.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/test_dist_support.h"

#include "collectives/config/config_load.h"
#include "collectives/runtime/distributed.h"
#include "collectives/verify/expect_moves.h"
#include "collectives/data/input.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
enum { N = 3000, CALLS_MAX = 16, SEED = 5 };

/* The figures of a collective that has completed. */
struct seen {
    enum ccl_collective collective;
    char algorithm[40];
    int64_t time_ps;
    uint64_t wrong;
};

struct world {
    struct config *config;
    struct dist *dist;
    struct seen seen[CALLS_MAX];
    uint32_t completed;
};

static int read_result(void *arg, uint32_t rank, uint32_t shard, uint64_t first, uint64_t count,
                       void *dst, struct cw_error *error)
{
    const struct dist_completion *completion = arg;
    return dist_read(completion->dist, completion->tensors[rank], shard, first, count, dst, error);
}

static int completed(void *arg, const struct dist_completion *completion, struct cw_error *error)
{
    struct world *world = arg;
    assert_true(world->completed < CALLS_MAX);
    struct seen *seen = &world->seen[world->completed++];
    struct dist_completion view = *completion;
    *seen = (struct seen){.collective = completion->collective,
                          .time_ps =
                              completion->times->last_end_ps - completion->times->first_start_ps};
    snprintf(seen->algorithm, sizeof seen->algorithm, "%s", completion->algorithm->name);
    if (completion->collective != CCL_ALL_GATHER && completion->collective != CCL_BROADCAST)
        return CW_OK;
    const struct tensor *tensor = completion->tensors[0];
    const uint32_t parts = completion->collective == CCL_ALL_GATHER ? completion->world_size : 1;
    const struct expect_moves moves = {.collective = completion->collective,
                                       .ranks = completion->world_size,
                                       .shards = tensor->shard_count,
                                       .root = completion->root,
                                       .dtype = tensor->dtype,
                                       .n_elem = tensor->shard_elems / parts,
                                       .seed = SEED};
    return expect_moves_verify(&moves, read_result, &view, &seen->wrong, error);
}

static struct world *make_world(const char *const *sets, size_t count)
{
    const struct config_request request = {.sets = sets, .set_count = count};
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->config = must_load(&request);
    const struct dist_options options = {
        .config = world->config,
        .machine.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1},
        .completed = completed,
        .arg = world};
    world->dist = must_create(&options);
    return world;
}

static void free_world(struct world *world)
{
    dist_free(world->dist);
    config_free(world->config);
    free(world);
}

static void run_well(struct world *world, mp_worker_fn worker)
{
    struct cw_error error;
    world->completed = 0;
    if (dist_spawn(world->dist, worker, world, &error) != CW_OK)
        fail_msg("%s", error.text);
    for (uint32_t i = 0; i < world->completed; i++)
        assert_int_equal(world->seen[i].wrong, 0);
}

static void run_badly(struct world *world, mp_worker_fn worker, const char *part)
{
    struct cw_error error = {0};
    assert_int_equal(dist_spawn(world->dist, worker, world, &error), CW_PROGRAM_FAILED);
    if (strstr(error.text, part) == NULL)
        fail_msg("%s\nsays nothing of %s", error.text, part);
}

static const struct dp_policy rows = {.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_pes = 1};

static void begin(int rank)
{
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
}

/* ---- several calls --------------------------------------------------------------------------- */

static void calls_everything(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    const uint64_t ranks = (uint64_t)dist_get_world_size();
    struct tensor *half = dist_tensor_zeros(N, DTYPE_F16, &rows);
    struct tensor *brain = dist_tensor_zeros(2 * N, DTYPE_BF16, &rows);
    struct tensor *single = dist_tensor_zeros(N, DTYPE_F32, &rows);
    struct tensor *all = dist_tensor_zeros(ranks * N, DTYPE_F16, &rows);
    dist_fill_input(half, SEED);
    dist_all_gather(all, half);
    dist_barrier();
    dist_fill_input(brain, SEED);
    dist_broadcast(brain, 1);
    dist_fill_input(single, SEED);
    dist_all_reduce(single, REDOP_MAX);
    dist_barrier();
    dist_fill_input(half, SEED);
    dist_broadcast(half, 0);
    dist_all_reduce(brain, REDOP_SUM);
}

static void one_program_calls_several_collectives_with_several_types(void **state)
{
    (void)state;
    static const char *const machines[] = {
        "system.sips.topology=torus_2d", "system.sips.topology=ring_1d",
        "system.sips.topology=mesh_2d_no_wrap", "system.sips.topology=switch"};
    static const enum ccl_collective order[] = {CCL_ALL_GATHER, CCL_BARRIER, CCL_BROADCAST,
                                                CCL_ALL_REDUCE, CCL_BARRIER, CCL_BROADCAST,
                                                CCL_ALL_REDUCE};
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        const char *const sets[] = {machines[i], "system.sips.count=9", "sip.cube_mesh.w=2",
                                    "sip.cube_mesh.h=1"};
        struct world *world = make_world(sets, COUNT_OF(sets));
        run_well(world, calls_everything);
        assert_int_equal(world->completed, COUNT_OF(order));
        for (size_t k = 0; k < COUNT_OF(order); k++) {
            assert_int_equal(world->seen[k].collective, order[k]);
            assert_true(world->seen[k].time_ps > 0);
        }
        /* the same call on the same idle machine takes as long again */
        assert_int_equal(world->seen[1].time_ps, world->seen[4].time_ps);
        assert_string_equal(world->seen[0].algorithm, "ring_all_gather");
        assert_string_equal(world->seen[1].algorithm, "relay_barrier");
        assert_string_equal(world->seen[2].algorithm, "relay_broadcast");
        assert_string_equal(world->seen[3].algorithm, "lrab_hierarchical_allreduce");
        free_world(world);
    }
}

static void calls_on_leaders(int rank, void *arg)
{
    const struct world *world = arg;
    const struct dp_policy policy = dist_facts(world->dist)->policy;
    begin(rank);
    const uint64_t ranks = (uint64_t)dist_get_world_size();
    struct tensor *t = dist_tensor_zeros(N, DTYPE_F32, &policy);
    struct tensor *all = dist_tensor_zeros(ranks * N, DTYPE_F32, &policy);
    for (uint32_t root = 0; root < ranks; root++) {
        dist_fill_input(t, SEED);
        dist_broadcast(t, root);
    }
    dist_barrier();
    dist_fill_input(t, SEED);
    if (strcmp(world->config->ccl.topology, "tree_binary") != 0)
        dist_all_gather(all, t);
    dist_all_reduce(t, REDOP_SUM);
}

static void every_rank_can_be_the_root_on_every_logical_topology(void **state)
{
    (void)state;
    static const char *const algorithms[][2] = {
        {"defaults.algorithm=ring_allreduce", "system.sips.topology=pair_switch"},
        {"defaults.algorithm=tree_allreduce", "system.sips.topology=mesh_2d_no_wrap"},
        {"defaults.algorithm=ring_allreduce", "defaults.world_size=3"}};
    for (size_t i = 0; i < COUNT_OF(algorithms); i++) {
        struct world *world = make_world(algorithms[i], 2);
        run_well(world, calls_on_leaders);
        free_world(world);
    }
}

static void gathers_on_leaders(int rank, void *arg)
{
    const struct world *world = arg;
    const struct dp_policy policy = dist_facts(world->dist)->policy;
    begin(rank);
    struct tensor *t = dist_tensor_zeros(N, DTYPE_BF16, &policy);
    struct tensor *all =
        dist_tensor_zeros((uint64_t)dist_get_world_size() * N, DTYPE_BF16, &policy);
    dist_fill_input(t, SEED);
    dist_all_gather(all, t);
    if (strstr(world->config->ccl.topology, "ring_1d") != NULL)
        dist_all_reduce(t, REDOP_SUM);
}

static void all_gather_goes_along_any_grid(void **state)
{
    (void)state;
    static const char *const topologies[] = {"ring_1d", "ring_1d_unidir", "mesh_2d", "torus_2d",
                                             "mesh_2d_no_wrap"};
    static const uint32_t counts[] = {1, 4, 9};
    for (size_t i = 0; i < COUNT_OF(topologies) * COUNT_OF(counts); i++) {
        char topology[80], count[40];
        snprintf(topology, sizeof topology, "algorithms.ring_all_gather.topology=%s",
                 topologies[i % COUNT_OF(topologies)]);
        snprintf(count, sizeof count, "system.sips.count=%u", counts[i / COUNT_OF(topologies)]);
        const char *const sets[] = {"defaults.algorithm=ring_all_gather", topology, count,
                                    "system.sips.topology=ring_1d", "defaults.n_slots=1"};
        struct world *world = make_world(sets, COUNT_OF(sets));
        run_well(world, gathers_on_leaders);
        const bool ring = strstr(topology, "ring_1d") != NULL;
        assert_int_equal(world->completed, ring ? 2 : 1);
        assert_int_equal(world->seen[0].collective, CCL_ALL_GATHER);
        /* for the all-reduce, too, an algorithm is found where there is one */
        if (ring)
            assert_string_equal(world->seen[1].algorithm, "ring_allreduce");
        free_world(world);
    }
}

static void has_two_groups(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    struct tensor *t = dist_tensor_zeros(N, DTYPE_F32, &rows);
    dist_fill_input(t, SEED);
    dist_broadcast(t, 2);
    dist_destroy_process_group();
    dist_init_process_group("ahbm");
    dist_barrier();
    dist_destroy_process_group();
}

static void groups_follow_each_other(void **state)
{
    (void)state;
    struct world *world = make_world(NULL, 0);
    for (int i = 0; i < 2; i++) {
        run_well(world, has_two_groups);
        assert_int_equal(world->completed, 2);
    }
    free_world(world);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void calls_different_collectives(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    struct tensor *t = dist_tensor_zeros(8, DTYPE_F16, &rows);
    if (rank == 2)
        dist_broadcast(t, 0);
    dist_all_reduce(t, REDOP_SUM);
}

static void names_different_roots(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    dist_broadcast(dist_tensor_zeros(8, DTYPE_F16, &rows), rank == 3);
}

static void has_other_tensors(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    dist_all_reduce(dist_tensor_zeros(rank == 1 ? 9 : 8, DTYPE_F16, &rows), REDOP_SUM);
}

static void names_no_rank_as_root(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    dist_broadcast(dist_tensor_zeros(8, DTYPE_F16, &rows), 4);
}

static void gathers_into_too_little(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    dist_all_gather(dist_tensor_zeros(8, DTYPE_F16, &rows), dist_tensor_zeros(8, DTYPE_F16, &rows));
}

static void puts_the_tensor_elsewhere(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    if (rank == 2)
        ahbm_set_device(0);
    dist_all_reduce(dist_tensor_zeros(8, DTYPE_F16, &rows), REDOP_SUM);
}

static void goes_on_without_a_group(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    dist_destroy_process_group();
    dist_barrier();
}

static void calls_that_do_not_fit_each_other_are_refused(void **state)
{
    (void)state;
    static const struct {
        mp_worker_fn worker;
        const char *text;
    } cases[] = {
        {calls_different_collectives, "rank 2 calls broadcast where rank 3 called all_reduce"},
        {names_different_roots,
         "broadcast: rank 0 and rank 3 do not name the same operation and root"},
        {has_other_tensors, "all_reduce: rank 1 has shards of 9 elements of f16, rank 3 of 8 of "
                            "f16; all ranks' tensors must be alike"},
        {names_no_rank_as_root, "dist_broadcast: root 4; there are 4 ranks"},
        {gathers_into_too_little,
         "dist_all_gather: an output of 16 shards of 8 elements of f16 for an input of 16 of 8 of "
         "f16 and 4 ranks"},
        {goes_on_without_a_group,
         "dist_barrier before dist_init_process_group: the queues are not installed"},
        {puts_the_tensor_elsewhere,
         "rank 2's tensor is on SIP 0, and the rank is SIP 2: call ahbm_set_device(2) before the "
         "tensor is made"},
    };
    struct world *world = make_world(NULL, 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        run_badly(world, cases[i].worker, cases[i].text);
    run_well(world, calls_everything); /* and the world is as good as new */
    assert_int_equal(world->completed, 7);
    free_world(world);
}

static void broadcasts_rows(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    dist_broadcast(dist_tensor_zeros(8, DTYPE_F16, &rows), 0);
}

static void shards_without_queues_are_refused(void **state)
{
    (void)state;
    static const char *const sets[] = {"defaults.algorithm=ring_allreduce"};
    struct world *world = make_world(sets, 1);
    run_badly(world, broadcasts_rows,
              "broadcast: rank 0's tensor has 16 shards (cube_rows: rows over 16 cubes, on PE 0 of "
              "each), and PE 0 of cube 1 has no queues to other SIPs; legal: one shard "
              "(single_shard_per_rank), on PE 0 of cube 0");
    free_world(world);
}

static void gathers_on_a_tree(int rank, void *arg)
{
    const struct dp_policy one = {
        .cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_cubes = 1, .num_pes = 1};
    (void)arg;
    begin(rank);
    struct tensor *t = dist_tensor_zeros(8, DTYPE_F16, &one);
    dist_all_gather(dist_tensor_zeros(32, DTYPE_F16, &one), t);
}

static void an_all_gather_does_not_go_along_a_tree(void **state)
{
    (void)state;
    static const char *const sets[] = {"defaults.algorithm=tree_allreduce"};
    struct world *world = make_world(sets, 1);
    struct cw_error error = {0};
    assert_int_equal(dist_spawn(world->dist, gathers_on_a_tree, world, &error), CW_USAGE);
    assert_non_null(strstr(error.text, "topology: an all-gather goes along lines of ranks"));
    free_world(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_program_calls_several_collectives_with_several_types),
        cmocka_unit_test(every_rank_can_be_the_root_on_every_logical_topology),
        cmocka_unit_test(all_gather_goes_along_any_grid),
        cmocka_unit_test(groups_follow_each_other),
        cmocka_unit_test(calls_that_do_not_fit_each_other_are_refused),
        cmocka_unit_test(shards_without_queues_are_refused),
        cmocka_unit_test(an_all_gather_does_not_go_along_a_tree),
    };
    return cmocka_run_group_tests_name("collectives", tests, NULL, NULL);
}
