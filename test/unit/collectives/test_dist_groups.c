/*
 * test_dist_groups.c: process groups beside the world (dist_world.h): their results, and what they
 * take side by side and in turn. test_dist_programs.c has random programs of them.
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

#include "collectives/config/config_load.h"
#include "collectives/runtime/distributed.h"

enum { RANKS = 8, GROUPS = 5, N_MAX = 3000, TIMES = 8 };

static const struct dp_policy one = {
    .cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_cubes = 1, .num_pes = 1};

static const uint32_t low[] = {0, 1, 2, 3}, high[] = {4, 5, 6, 7};
static const struct dist_group_spec specs[] = {{.name = "low", .ranks = low, .count = 4},
                                               {.name = "high", .ranks = high, .count = 4}};

/* How a program runs. */
struct way {
    enum cw_sync sync;
    uint32_t workers;
};

struct world {
    struct config *config, *of_groups;
    struct dist *dist;
    uint64_t trace_hash;
    int64_t time_ps[RANKS][TIMES]; /* at which a rank has continued */
    uint32_t times[RANKS];
};

struct program {
    const char *algorithm, *topology; /* of the SIPs */
    const char *of_groups;            /* an algorithm of their own; NULL: none */
    mp_worker_fn worker;
    const struct dist_group_spec *specs;
    uint32_t groups;
    bool groups_only;
    bool late;         /* the groups are made by the program */
    const char *fails; /* the program is to fail, with these words; NULL: it is not */
};

static struct world *run(const struct program *program, const struct way *way)
{
    char sips[64];
    snprintf(sips, sizeof sips, "system.sips.topology=%s", program->topology);
    const char *const sets[] = {"system.sips.count=8", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
                                sips};
    const struct config_request request = {
        .algorithm = program->algorithm, .sets = sets, .set_count = 4};
    struct world *const world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->config = must_load(&request);
    const struct config_request request_of_groups = {
        .algorithm = program->of_groups, .sets = sets, .set_count = 4};
    struct dist_group_spec own[GROUPS];
    assert_true(program->groups <= GROUPS);
    if (program->of_groups != NULL)
        world->of_groups = must_load(&request_of_groups);
    for (uint32_t i = 0; i < program->groups; i++) {
        own[i] = program->specs[i];
        own[i].config = world->of_groups;
    }
    const struct dist_options options = {
        .config = world->config,
        .groups = own,
        .group_count = program->late ? 0 : program->groups,
        .late_groups = program->late,
        .groups_only = program->groups_only,
        .machine = {.engine = {.sync = way->sync,
                               .worker_count = way->workers,
                               .tuning.stress_rate_p32 = UINT64_C(1) << 29}}};
    world->dist = must_create(&options);
    struct cw_error error;
    const int code = dist_spawn(world->dist, program->worker, world, &error);
    if (program->fails != NULL) {
        assert_int_equal(code, CW_PROGRAM_FAILED);
        if (strstr(cw_error_text(&error), program->fails) == NULL)
            fail_msg("%s", cw_error_text(&error));
    } else if (code != CW_OK)
        fail_msg("%s, %s: %s", program->algorithm, program->topology, error.text);
    struct cw_stats stats;
    cw_sim_stats(lp_system_sim(dist_system(world->dist)), &stats);
    world->trace_hash = stats.trace_hash;
    return world;
}

static void free_world(struct world *world)
{
    dist_free(world->dist);
    config_free(world->config);
    config_free(world->of_groups);
    free(world);
}

static void note_time(struct world *world, int rank)
{
    assert_true(world->times[rank] < TIMES);
    world->time_ps[rank][world->times[rank]++] = dist_time_ps();
}

static uint32_t sum_of_ranks(const struct dist_group_spec *spec)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < spec->count; i++)
        sum += 1 + spec->ranks[i];
    return sum;
}

/* ---- side by side, and in turn --------------------------------------------------------------- */

static struct dist_group *group_of(struct world *world, uint32_t i)
{
    return dist_group_at(world->dist, i);
}

static void low_alone(int rank, void *arg)
{
    struct world *const world = arg;
    join_group(rank);
    const int64_t begin_ps = dist_time_ps();
    if (rank >= 4)
        return;
    struct tensor *const t = filled_tensor(1000, (float)rank);
    dist_wait(dist_all_reduce_async(group_of(world, 0), t, REDOP_SUM));
    world->time_ps[rank][0] = dist_time_ps() - begin_ps;
    expect_tensor_sums(t, 1000, 0 + 1 + 2 + 3, 4);
}

static void low_and_high(int rank, void *arg)
{
    struct world *const world = arg;
    join_group(rank);
    const int64_t begin_ps = dist_time_ps();
    struct dist_group *const group = group_of(world, rank < 4 ? 0 : 1);
    struct tensor *const t = filled_tensor(1000, (float)rank);
    assert_int_equal(dist_group_rank(group), rank % 4);
    assert_int_equal(dist_group_size(group), 4);
    dist_wait(dist_all_reduce_async(group, t, REDOP_SUM));
    world->time_ps[rank][0] = dist_time_ps() - begin_ps;
    expect_tensor_sums(t, 1000, (float)(rank < 4 ? 0 + 1 + 2 + 3 : 4 + 5 + 6 + 7), 4);
}

static const uint32_t even[] = {0, 2, 4, 6}, mixed[] = {5, 1, 7}, two[] = {6, 3};
static const struct dist_group_spec overlapping[GROUPS] = {
    {.name = "low", .ranks = low, .count = 4},
    {.name = "even", .ranks = even, .count = 4},
    {.name = "mixed", .ranks = mixed, .count = 3},
    {.name = "two", .ranks = two, .count = 2},
    {.name = "high", .ranks = high, .count = 4}};

/* To every root of groups that overlap; the others' tensors stay as they are. */
static void reduces_to_every_root(int rank, void *arg)
{
    struct world *const world = arg;
    join_group(rank);
    for (uint32_t g = 0; g < GROUPS && group_of(world, g) != NULL; g++) {
        struct dist_group *const group = group_of(world, g);
        const uint32_t own = dist_group_rank(group), ranks = dist_group_size(group);
        for (uint32_t root = 0; root < ranks && own < ranks; root++) {
            struct tensor *const t = filled_tensor(N_MAX, (float)(1 + rank));
            dist_wait(dist_reduce_async(group, t, root, REDOP_SUM));
            if (own == root)
                expect_tensor_sums(t, N_MAX, (float)sum_of_ranks(&overlapping[g]), ranks);
            else
                expect_tensor_sums(t, N_MAX, (float)(1 + rank), 1);
        }
    }
}

static void groups_reduce_to_any_rank(void **state)
{
    (void)state;
    static const char *const algorithms[] = {"ring_allreduce", "tree_allreduce",
                                             "lrab_hierarchical_allreduce"};
    const struct way way = {CW_SEQUENTIAL, 1};
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        const struct program program = {.algorithm = algorithms[i],
                                        .topology = "switch",
                                        .worker = reduces_to_every_root,
                                        .specs = overlapping,
                                        .groups = i < 2 ? GROUPS : 2,
                                        .groups_only = true};
        free_world(run(&program, &way));
    }
}

/* Rings of neighbours on fully connected SIPs share no link. */
static void groups_on_sips_of_their_own_take_the_time_of_one(void **state)
{
    (void)state;
    const struct way way = {CW_SEQUENTIAL, 1};
    struct program program = {.algorithm = "ring_allreduce",
                              .topology = "fully_connected",
                              .worker = low_alone,
                              .specs = specs,
                              .groups = 2,
                              .groups_only = true};
    struct world *const alone = run(&program, &way);
    program.worker = low_and_high;
    struct world *const both = run(&program, &way);
    for (int rank = 0; rank < RANKS; rank++) {
        assert_true(both->time_ps[rank][0] > 0);
        assert_int_equal(both->time_ps[rank][0], alone->time_ps[rank % 4][0]);
    }
    free_world(alone);
    free_world(both);
}

/* ---- opposite orders ------------------------------------------------------------------------- */

/* Ranks of both groups call in opposite orders; nobody waits in between. */
static void opposite_orders(int rank, void *arg)
{
    struct world *const world = arg;
    join_group(rank);
    struct dist_group *const groups[] = {group_of(world, 0), group_of(world, 1)};
    struct dist_work *work[2];
    if (dist_group_rank(groups[0]) == UINT32_MAX)
        return;
    for (int i = 0; i < 2; i++) {
        const int g = rank % 2 == 0 ? i : 1 - i;
        const struct dp_policy policy = dist_group_policy(groups[g]);
        struct tensor *const t = dist_tensor_zeros(1000, DTYPE_F32, &policy);
        work[i] = dist_all_reduce_async(groups[g], t, REDOP_SUM);
    }
    dist_wait(work[0]);
    dist_wait(work[1]);
}

static const struct dist_group_spec on_shared_pes[] = {{.name = "a", .ranks = low, .count = 4},
                                                       {.name = "b", .ranks = low, .count = 4}};
static const struct dist_group_spec on_own_pes[] = {
    {.name = "a", .ranks = low, .count = 4, .first_pe = 0, .pes = 4},
    {.name = "b", .ranks = low, .count = 4, .first_pe = 4, .pes = 4}};

static void opposite_orders_end_on_pes_of_their_own_alone(void **state)
{
    (void)state;
    const struct way way = {CW_SEQUENTIAL, 1};
    struct program program = {.algorithm = "ring_allreduce",
                              .topology = "ring_1d",
                              .worker = opposite_orders,
                              .specs = on_own_pes,
                              .groups = 2,
                              .groups_only = true};
    free_world(run(&program, &way));
    program.specs = on_shared_pes;
    program.fails =
        "waits for its PE, which runs kernel ring_allreduce of group b, call 0 (all_reduce), "
        "rank 3, which waits for data from W (at ";
    free_world(run(&program, &way));
}

/* The same, and each rank waits for its first call before its second. */
static void opposite_orders_that_wait(int rank, void *arg)
{
    struct world *const world = arg;
    join_group(rank);
    for (int i = 0; i < 2 && rank < 4; i++)
        dist_wait(dist_all_reduce_async(group_of(world, (uint32_t)(rank % 2 == 0 ? i : 1 - i)),
                                        filled_tensor(10, 1), REDOP_SUM));
}

static void waits_in_opposite_orders_name_both_groups(void **state)
{
    (void)state;
    const struct way way = {CW_SEQUENTIAL, 1};
    const struct program program = {
        .algorithm = "ring_allreduce",
        .topology = "ring_1d",
        .worker = opposite_orders_that_wait,
        .specs = on_shared_pes,
        .groups = 2,
        .groups_only = true,
        .fails = "rank 0 waits forever: call 0 of group a, all_reduce, lacks rank 1, 3 of 4: rank "
                 "1 of the world is in another group's call: call 0 of group b, all_reduce, lacks "
                 "rank 0, 2 of 4; legal: "};
    free_world(run(&program, &way));
}

/* ---- misuse ---------------------------------------------------------------------------------- */

/* Each rank makes another mistake. */
static void mistakes(int rank, void *arg)
{
    struct world *const world = arg;
    float value;
    join_group(rank);
    assert_int_equal(dist_group_rank(NULL), rank); /* the world */
    struct tensor *const t = filled_tensor(4, 0);
    switch (rank) {
    case 0:
        (void)dist_all_gather_async(group_of(world, 0), NULL, t);
        break;
    case 1:
        (void)dist_reduce_scatter_async(NULL, NULL, t, REDOP_SUM);
        break;
    case 2:
        (void)dist_all_to_all_async(NULL, t, NULL);
        break;
    case 3:
        (void)dist_all_reduce_async(group_of(world, 0), NULL, REDOP_SUM);
        break;
    case 4:
        dist_tensor_copy_to(NULL, DTYPE_F32, &value, 1);
        break;
    case 5:
        dist_tensor_free(NULL);
        break;
    case 6:
        dist_wait_until_ps(INT64_MAX);
        break;
    default:
        (void)dist_new_group(NULL, 3);
    }
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "rank 0: dist_all_gather: no tensor (NULL)",
        "rank 1: dist_reduce_scatter: no tensor",
        "rank 2: dist_all_to_all: no tensor",
        "rank 3: dist_all_reduce: no tensor",
        "rank 4: dist_tensor_copy_to: no tensor",
        "rank 5: dist_tensor_free: no tensor",
        "rank 6: dist_wait_until_ps: 9223372036854775807 ps; legal: up to 4611686018427387903 ps",
        "rank 7: dist_new_group: no ranks; legal: at least one"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct way way = {CW_SEQUENTIAL, 1};
        const struct program program = {.algorithm = "ring_allreduce",
                                        .topology = "ring_1d",
                                        .worker = mistakes,
                                        .specs = specs,
                                        .groups = 1,
                                        .fails = texts[i]};
        free_world(run(&program, &way));
    }
}

/* ---- late groups ----------------------------------------------------------------------------- */

static const uint32_t pair[] = {1, 0}, four[] = {5, 2, 4, 3}, three[] = {3, 1, 2}, lone[] = {6};
static const struct dist_group_spec widths[] = {{.ranks = pair, .count = 2},
                                                {.ranks = lone, .count = 1},
                                                {.ranks = four, .count = 4},
                                                {.ranks = three, .count = 3}};
enum { WIDTHS = sizeof widths / sizeof *widths };

/* All ranks make each group when the one before has been laid; then all are in flight. */
static void late_widths(int rank, void *arg)
{
    struct world *const world = arg;
    struct dist_work *work[WIDTHS] = {NULL};
    struct tensor *tensor[WIDTHS];
    join_group(rank);
    for (uint32_t g = 0; g < WIDTHS; g++) {
        struct dist_group *const group = dist_new_group(widths[g].ranks, widths[g].count);
        tensor[g] = filled_tensor(1000, (float)(rank + 1));
        assert_ptr_equal(group, group_of(world, g));
    }
    for (uint32_t g = 0; g < WIDTHS; g++)
        if (dist_group_rank(group_of(world, g)) != UINT32_MAX)
            work[g] = dist_all_reduce_async(group_of(world, g), tensor[g], REDOP_SUM);
    for (uint32_t g = 0; g < WIDTHS; g++)
        if (work[g] != NULL) {
            dist_wait(work[g]);
            expect_tensor_sums(tensor[g], 1000, (float)sum_of_ranks(&widths[g]), widths[g].count);
        }
}

/* A rank of a binary tree of four has three queues, one of two has one: queues that have been laid
 * have no room between them. */
static void late_groups_may_be_wider_than_those_before(void **state)
{
    (void)state;
    const struct way way = {CW_SEQUENTIAL, 1};
    const struct program program = {.algorithm = "tree_allreduce",
                                    .topology = "ring_1d",
                                    .worker = late_widths,
                                    .specs = widths,
                                    .groups = WIDTHS,
                                    .late = true};
    free_world(run(&program, &way));
}

/* ---- memories of others ---------------------------------------------------------------------- */

enum { SLICE = 64, STARS = 2 };
static const uint32_t star_a[] = {3, 0, 1, 2}, star_b[] = {4, 5, 0, 6};
static const struct dist_group_spec stars[STARS] = {{.ranks = star_a, .count = 4},
                                                    {.ranks = star_b, .count = 4}};

/* Every rank's input is its number + 1 throughout; all ranks allocate alike. */
static void reduce_scatter_in_stars(int rank, void *arg)
{
    static float values[4 * SLICE];
    struct world *const world = arg;
    struct tensor *in[STARS], *out[STARS];
    struct dist_work *work[STARS] = {NULL};
    join_group(rank);
    for (uint32_t g = 0; g < STARS; g++) {
        in[g] = dist_tensor_zeros(stars[g].count * SLICE, DTYPE_F32, &one);
        out[g] = dist_tensor_zeros(SLICE, DTYPE_F32, &one);
        for (uint32_t i = 0; i < stars[g].count * SLICE; i++)
            values[i] = (float)(rank + 1);
        dist_tensor_copy_from(in[g], DTYPE_F32, values, stars[g].count * SLICE);
    }
    for (uint32_t g = 0; g < STARS; g++)
        if (dist_group_rank(group_of(world, g)) != UINT32_MAX)
            work[g] = dist_reduce_scatter_async(group_of(world, g), out[g], in[g], REDOP_SUM);
    for (uint32_t g = 0; g < STARS; g++) {
        if (work[g] == NULL)
            continue;
        dist_wait(work[g]);
        dist_tensor_copy_to(out[g], DTYPE_F32, values, SLICE);
        for (uint32_t i = 0; i < SLICE; i++)
            assert_true(values[i] == (float)sum_of_ranks(&stars[g]));
    }
}

/* Rank 0 has three peers in each of two groups. */
static void a_pe_has_room_for_its_peers_of_all_groups(void **state)
{
    (void)state;
    const struct way way = {CW_SEQUENTIAL, 1};
    static const char *const algorithms[] = {"mesh", "rhd"};
    for (size_t i = 0; i < 2; i++) {
        const struct program program = {.algorithm = "ring_allreduce",
                                        .of_groups = algorithms[i],
                                        .topology = i == 0 ? "switch" : "torus_2d",
                                        .worker = reduce_scatter_in_stars,
                                        .specs = stars,
                                        .groups = STARS,
                                        .groups_only = true};
        free_world(run(&program, &way));
    }
}

/* ---- lookahead ------------------------------------------------------------------------------- */

static const uint32_t far_a[] = {0, 4}, far_b[] = {6, 2}, far_c[] = {1, 5, 3, 7};
static const struct dist_group_spec far_apart[] = {
    {.ranks = far_a, .count = 2}, {.ranks = far_b, .count = 2}, {.ranks = far_c, .count = 4}};

static void reduces_far_apart(int rank, void *arg)
{
    struct world *const world = arg;
    join_group(rank);
    for (uint32_t g = 0; g < 3; g++) {
        struct dist_group *const group = dist_new_group(far_apart[g].ranks, far_apart[g].count);
        if (dist_group_rank(group) == UINT32_MAX)
            continue;
        struct tensor *const t = filled_tensor(N_MAX, (float)(rank + 1));
        dist_wait(dist_all_reduce_async(group, t, REDOP_SUM));
        note_time(world, rank);
        expect_tensor_sums(t, N_MAX, (float)sum_of_ranks(&far_apart[g]), far_apart[g].count);
    }
}

/* Credits go at once from worker to worker, also where no link joins SIPs of the two. */
static void queues_join_workers_that_no_link_joins(void **state)
{
    (void)state;
    static const struct way sequential = {CW_SEQUENTIAL, 1}, workers = {CW_CONSERVATIVE, 4};
    for (int late = 0; late < 2; late++) {
        const struct program program = {.algorithm = "ring_allreduce",
                                        .topology = "ring_1d",
                                        .worker = reduces_far_apart,
                                        .specs = far_apart,
                                        .groups = 3,
                                        .late = late == 1};
        struct world *const expected = run(&program, &sequential), *const got =
                                                                       run(&program, &workers);
        assert_memory_equal(got->time_ps, expected->time_ps, sizeof got->time_ps);
        assert_true(got->trace_hash == expected->trace_hash);
        free_world(got);
        free_world(expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_reduce_to_any_rank),
        cmocka_unit_test(groups_on_sips_of_their_own_take_the_time_of_one),
        cmocka_unit_test(opposite_orders_end_on_pes_of_their_own_alone),
        cmocka_unit_test(waits_in_opposite_orders_name_both_groups),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(late_groups_may_be_wider_than_those_before),
        cmocka_unit_test(a_pe_has_room_for_its_peers_of_all_groups),
        cmocka_unit_test(queues_join_workers_that_no_link_joins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
