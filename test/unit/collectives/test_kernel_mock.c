/*
 * test_kernel_mock.c: kernels on the mock runtime (mock_tl.h), step by step without a machine: the
 * shipped ones over logical topologies, and one over directions with names of its own.
 */
#include "test/support/mock_tl.h"

#include <stdio.h>

#include "collectives/algorithm.h"

/* ---- a kernel with directions of its own -----------------------------------------------------
 * Rank 0 is the hub of a star: it adds the other ranks' tensors in rank order and sends the sum
 * back to them in the same order. */

enum scalar { RANKS };
enum phase { LOAD, GATHER, SPREAD, STORE };
static const char *const phase_name[] = {"launch, load", "gather", "spread", "store"};

struct frame {
    uint16_t line;
    uint32_t rank, i; /* the rank and the tile at hand */
    struct lp_operand value;
};

static enum hw_dir towards(const struct tl *tl, uint32_t rank)
{
    char name[LP_DIR_NAME_BYTES];
    snprintf(name, sizeof name, "to_%u", rank);
    return tl_dir(tl, name);
}

static uint32_t offset(const struct tl *tl, uint32_t tile)
{
    return tile * tl_tile_elems(tl) * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

static enum tl_status run(struct tl *tl, void *state)
{
    struct frame *f = state;
    const struct tl_args *args = tl_args(tl);
    const uint32_t itemsize = tl_itemsize((enum lp_dtype)args->dtype);
    const uint32_t bytes = (uint32_t)args->n_elem * itemsize;
    const uint32_t ranks = (uint32_t)args->scalar[RANKS];
    TL_BEGIN(&f->line);
    tl_phase(tl, LOAD);
    TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl), bytes));
    f->value = tl_tcm(0);
    tl_phase(tl, GATHER);
    if (args->rank == 0) {
        for (f->rank = 1; f->rank < ranks; f->rank++)
            for (f->i = 0; f->i < tl_tiles(tl); f->i++) {
                TL_CALL(&f->line, tl_recv(tl, towards(tl, f->rank), tl_tile_bytes(tl, f->i)));
                TL_CALL(&f->line, tl_math(tl, (enum lp_math)args->math, offset(tl, f->i),
                                          tl_tcm(offset(tl, f->i)), tl_last(tl_received(tl)),
                                          tl_tile_bytes(tl, f->i) / itemsize));
            }
        tl_phase(tl, SPREAD);
        for (f->rank = 1; f->rank < ranks; f->rank++)
            for (f->i = 0; f->i < tl_tiles(tl); f->i++)
                TL_CALL(&f->line, tl_send(tl, towards(tl, f->rank), tl_tcm(offset(tl, f->i)),
                                          tl_tile_bytes(tl, f->i)));
    } else {
        for (f->i = 0; f->i < tl_tiles(tl); f->i++)
            TL_CALL(&f->line, tl_send(tl, tl_dir(tl, "hub"), tl_tcm(offset(tl, f->i)),
                                      tl_tile_bytes(tl, f->i)));
        tl_phase(tl, SPREAD);
        for (f->i = 0; f->i < tl_tiles(tl); f->i++) {
            TL_CALL(&f->line, tl_recv(tl, tl_dir(tl, "hub"), tl_tile_bytes(tl, f->i)));
            if (f->i == 0)
                f->value = tl_received(tl);
        }
    }
    tl_phase(tl, STORE);
    TL_CALL(&f->line, tl_store(tl, tl_shard(tl), tl_last(f->value), bytes));
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {.name = "star_allreduce",
                                        .frame_bytes = sizeof(struct frame),
                                        .run = run,
                                        .phase = phase_name,
                                        .phase_count = sizeof phase_name / sizeof *phase_name};

static void kernel_args(const struct ccl_call *call, struct tl_args *args)
{
    args->scalar[RANKS] = call->world_size;
}

static void lead(struct lp_neighbours *map, uint32_t rank, const char *dir, const char *opposite)
{
    struct lp_neighbour *entry = &map->at[map->count++];
    *entry = (struct lp_neighbour){.rank = rank};
    snprintf(entry->dir, sizeof entry->dir, "%s", dir);
    snprintf(entry->opposite, sizeof entry->opposite, "%s", opposite);
}

/* Replaces the topology's directions: the hub leads to everybody, everybody to the hub. */
static enum ccl_neighbors neighbors(uint32_t rank, uint32_t world_size, const int64_t *parameter,
                                    struct lp_neighbours *map)
{
    (void)parameter;
    char name[LP_DIR_NAME_BYTES];
    map->count = 0;
    for (uint32_t to = 1; rank == 0 && to < world_size && to <= HW_DIRS_MAX; to++) {
        snprintf(name, sizeof name, "to_%u", to);
        lead(map, to, name, "hub");
    }
    snprintf(name, sizeof name, "to_%u", rank);
    if (rank > 0)
        lead(map, 0, "hub", name);
    return CCL_NEIGHBORS_CHANGED;
}

static const struct ccl_algorithm star_allreduce = {.name = "star_allreduce",
                                                    .kernel = &kernel,
                                                    .kernel_args = kernel_args,
                                                    .neighbors = neighbors};

/* ---- on the mock ----------------------------------------------------------------------------- */

enum { N = 50, SLOT = 64 };

/* Small whole numbers: sums are exact, and every rank's is another. */
static void fill(float *tensor, uint32_t rank)
{
    for (uint32_t e = 0; e < N; e++)
        tensor[e] = (float)(rank * 100 + e);
}

static struct tl_args args_of(uint32_t rank, uint32_t ranks)
{
    return (struct tl_args){
        .n_elem = N, .rank = rank, .dtype = LP_F32, .math = LP_MATH_SUM, .scalar = {ranks}};
}

static void launch_all(struct mock *m, const struct ccl_algorithm *algorithm)
{
    const struct ccl_config ccl = {.topology = "ring_1d",
                                   .queues = {.slots = HW_MEMORY_HBM, .slot_bytes = m->slot_bytes}};
    const struct hw_config hw = {.sip_count = m->pes, .tcm_bytes = 1 << 20};
    for (uint32_t rank = 0; rank < m->pes; rank++) {
        float tensor[N];
        struct tl_args args = args_of(rank, m->pes);
        const struct ccl_call call = {.hw = &hw,
                                      .ccl = &ccl,
                                      .rank = rank,
                                      .world_size = m->pes,
                                      .n_elem = N,
                                      .dtype = LP_F32};
        if (algorithm->kernel_args != NULL)
            algorithm->kernel_args(&call, &args);
        fill(tensor, rank);
        mock_launch(m, rank, algorithm->kernel, args, tensor, sizeof tensor);
    }
}

static void check_sums(const struct mock *m)
{
    for (uint32_t rank = 0; rank < m->pes; rank++) {
        const float *const tensor = mock_tensor(m, rank);
        for (uint32_t e = 0; e < N; e++)
            assert_true(tensor[e] == (float)(m->pes * (m->pes - 1) / 2 * 100 + m->pes * e));
    }
}

static struct mock *star(uint32_t ranks, uint32_t n_slots)
{
    static const char *const name[] = {"", "to_1", "to_2", "to_3", "to_4"};
    struct mock *m = mock_create(ranks, SLOT, n_slots);
    for (uint32_t rank = 1; rank < ranks; rank++)
        mock_join(m, 0, (enum hw_dir)rank, name[rank], rank, HW_DIR_N, "hub");
    return m;
}

static void the_star_adds_everybody_s_tensor(void **state)
{
    (void)state;
    for (uint32_t ranks = 1; ranks <= 5; ranks++)
        for (uint32_t first = 0; first < ranks; first++) {
            struct mock *m = star(ranks, 1 + first % 2);
            launch_all(m, &star_allreduce);
            assert_true(mock_run_from(m, first));
            check_sums(m);
            assert_int_equal(m->pe[0].phase_count, 4);
            mock_free(m);
        }
}

extern const struct ccl_algorithm ccl_ring_allreduce, ccl_tree_allreduce;

static void the_ring_adds_everybody_s_tensor(void **state)
{
    (void)state;
    for (uint32_t ranks = 1; ranks <= 6; ranks++) {
        struct mock *m = mock_create(ranks, SLOT, 1);
        for (uint32_t rank = 0; ranks > 1 && rank < ranks; rank++)
            mock_join(m, rank, HW_DIR_E, "E", (rank + 1) % ranks, HW_DIR_W, "W");
        launch_all(m, &ccl_ring_allreduce);
        assert_true(mock_run_from(m, ranks / 2));
        check_sums(m);
        mock_free(m);
    }
}

static void the_tree_adds_everybody_s_tensor(void **state)
{
    (void)state;
    for (uint32_t ranks = 1; ranks <= 9; ranks++) {
        struct mock *m = mock_create(ranks, SLOT, 2);
        for (uint32_t rank = 1; rank < ranks; rank++)
            mock_join(m, rank, HW_DIR_PARENT, "parent", (rank - 1) / 2,
                      rank % 2 ? HW_DIR_CHILD_LEFT : HW_DIR_CHILD_RIGHT,
                      rank % 2 ? "child_left" : "child_right");
        launch_all(m, &ccl_tree_allreduce);
        assert_true(mock_run(m));
        check_sums(m);
        mock_free(m);
    }
}

static void a_rank_that_is_missing_is_a_deadlock(void **state)
{
    (void)state;
    float tensor[N] = {0};
    struct mock *m = star(3, 2);
    for (uint32_t rank = 0; rank < 2; rank++) /* rank 2 never begins */
        mock_launch(m, rank, star_allreduce.kernel, args_of(rank, 3), tensor, sizeof tensor);
    assert_false(mock_run(m));
    mock_free(m);
}

/* The example's neighbors() hook leads back everywhere: each entry's opposite is an entry there. */
static void the_star_s_neighbours_lead_back(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 4; rank++) {
        struct lp_neighbours map = {.count = 3}; /* the map that it gets does not matter */
        assert_int_equal(star_allreduce.neighbors(rank, 4, NULL, &map), CCL_NEIGHBORS_CHANGED);
        assert_int_equal(map.count, rank == 0 ? 3 : 1);
        for (uint32_t i = 0; i < map.count; i++) {
            struct lp_neighbours back = {0};
            uint32_t found = 0;
            (void)star_allreduce.neighbors(map.at[i].rank, 4, NULL, &back);
            for (uint32_t k = 0; k < back.count; k++)
                found += strcmp(back.at[k].dir, map.at[i].opposite) == 0 &&
                         strcmp(back.at[k].opposite, map.at[i].dir) == 0 && back.at[k].rank == rank;
            assert_int_equal(found, 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_star_adds_everybody_s_tensor),
        cmocka_unit_test(the_ring_adds_everybody_s_tensor),
        cmocka_unit_test(the_tree_adds_everybody_s_tensor),
        cmocka_unit_test(a_rank_that_is_missing_is_a_deadlock),
        cmocka_unit_test(the_star_s_neighbours_lead_back),
    };
    return cmocka_run_group_tests_name("kernel_mock", tests, NULL, NULL);
}
