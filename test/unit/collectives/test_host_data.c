/*
 * test_host_data.c: a worker's own values (DECISIONS.md): written into tensors from the program's
 * buffers, reduced, read back; and buffers that are none for the tensor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/test_dist_support.h"

enum { N = 40, CUBES = 4, PES = 4, RANKS = 4, ROUNDS = 3 };

static const struct dp_policy rows = {.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_pes = 1};
static const struct dp_policy copies = {.cube = DP_ROW_WISE, .pe = DP_REPLICATE};
static const struct dp_policy columns = {.cube = DP_REPLICATE, .pe = DP_COLUMN_WISE};
static const struct dp_policy all = {.cube = DP_ROW_WISE, .pe = DP_COLUMN_WISE};

struct world {
    struct config *config;
    struct dist *dist;
    uint64_t done; /* workers that came to their end */
};

static struct world make_world(bool no_data)
{
    static const char *const sets[] = {"sip.cube_mesh.w=2", "sip.cube_mesh.h=2",
                                       "cube.pe_layout.pe_per_corner=1",
                                       "defaults.host_copy=simulated"};
    const struct config_request request = {.sets = sets, .set_count = 4};
    struct world world = {.config = must_load(&request)};
    const struct dist_options options = {
        .config = world.config,
        .machine.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1},
        .no_data = no_data};
    world.dist = must_create(&options);
    return world;
}

static void free_world(struct world *world)
{
    dist_free(world->dist);
    config_free(world->config);
}

static void run_well(struct world *world, mp_worker_fn worker)
{
    struct cw_error error;
    if (dist_spawn(world->dist, worker, world, &error) != CW_OK)
        fail_msg("%s", error.text);
    assert_int_equal(world->done, RANKS);
}

static void run_badly(struct world *world, mp_worker_fn worker, const char *text)
{
    struct cw_error error;
    assert_int_equal(dist_spawn(world->dist, worker, world, &error), CW_PROGRAM_FAILED);
    if (strstr(error.text, text) == NULL)
        fail_msg("%s", error.text);
}

static void begin(int rank)
{
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
}

/* ---- there and back -------------------------------------------------------------------------- */

static void write_and_read(int rank, enum dtype dtype, const struct dp_policy *policy)
{
    uint8_t src[CUBES * PES * N * DTYPE_BYTES_MAX], dst[sizeof src];
    struct tensor *const tensor = dist_tensor_zeros(N, dtype, policy);
    const uint64_t count = (uint64_t)tensor_parts(tensor) * N, bytes = count * dtype_bytes(dtype);
    memset(dst, 0xff, sizeof dst);
    dist_tensor_copy_to(tensor, dtype, dst, count);
    for (uint64_t i = 0; i < bytes; i++) {
        assert_int_equal(dst[i], 0);
        src[i] = (uint8_t)(i * 7 + (uint64_t)rank);
    }
    dist_fill_input(tensor, 1); /* an earlier fill does not come back */
    dist_tensor_copy_from(tensor, dtype, src, count);
    dist_tensor_copy_to(tensor, dtype, dst, count);
    assert_memory_equal(dst, src, bytes);
    assert_int_equal(dst[bytes < sizeof dst ? bytes : 0], bytes < sizeof dst ? 0xff : src[0]);
    for (uint32_t i = 0; i < tensor->shard_count; i++) { /* each copy of a part */
        struct cw_error error;
        assert_int_equal(dist_read(mp_runtime(), tensor, i, 0, N, dst, &error), CW_OK);
        assert_memory_equal(dst, src + tensor->shard[i].part * tensor->shard_bytes,
                            tensor->shard_bytes);
    }
}

static void goes_there_and_back(int rank, void *arg)
{
    begin(rank);
    write_and_read(rank, DTYPE_F16, &rows);
    write_and_read(rank, DTYPE_F32, &copies);
    write_and_read(rank, DTYPE_BF16, &columns);
    write_and_read(rank, DTYPE_F32, &all);
    ((struct world *)arg)->done++;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct world world = make_world(false);
    run_well(&world, goes_there_and_back);
    free_world(&world);
}

/* ---- with collectives ------------------------------------------------------------------------ */

/* A small training loop: each round's gradient comes from the round before. */
static void trains(int rank, void *arg)
{
    float value[CUBES * N], expected[N];
    begin(rank);
    struct tensor *const tensor = dist_tensor_zeros(N, DTYPE_F32, &rows);
    for (int i = 0; i < CUBES * N; i++)
        value[i] = (float)(rank + i / N + i % N);
    for (int round = 0; round < ROUNDS; round++) {
        dist_tensor_copy_from(tensor, DTYPE_F32, value, CUBES * N);
        dist_all_reduce(tensor, REDOP_SUM);
        dist_tensor_copy_to(tensor, DTYPE_F32, value, CUBES * N);
        for (int e = 0; e < N; e++) /* whole numbers below 2^24: exact */
            expected[e] = round == 0 ? (float)(RANKS * CUBES * e + RANKS * 6 + CUBES * 6)
                                     : expected[e] * RANKS * CUBES;
        for (int i = 0; i < CUBES * N; i++)
            assert_true(value[i] == expected[i % N]);
    }
    ((struct world *)arg)->done++;
}

static void a_loop_reduces_its_own_values(void **state)
{
    (void)state;
    struct world world = make_world(false);
    run_well(&world, trains);
    free_world(&world);
}

static int64_t now_ps(const struct dist *dist)
{
    return cw_sim_now(lp_system_sim(dist_system((struct dist *)(uintptr_t)dist)));
}

/* A write takes time, although only when a collective needs it. */
static void reads_between(int rank, void *arg)
{
    struct world *const world = arg;
    float value[CUBES * N] = {0};
    begin(rank);
    struct tensor *const tensor = dist_tensor_zeros(N, DTYPE_F32, &rows);
    int64_t took_ps[2];
    for (int i = 0; i < 2; i++) {
        const int64_t before_ps = now_ps(world->dist);
        dist_tensor_copy_from(tensor, DTYPE_F32, value, CUBES * N);
        dist_all_reduce(tensor, REDOP_SUM);
        took_ps[i] = now_ps(world->dist) - before_ps;
        const int64_t reduced_ps = now_ps(world->dist);
        dist_tensor_copy_to(tensor, DTYPE_F32, value, CUBES * N);
        assert_true(now_ps(world->dist) == reduced_ps);
    }
    const struct lp_times *const times = lp_system_times(dist_system(world->dist));
    assert_true(took_ps[1] > times->host_ps - times->submitted_ps);
    world->done++;
}

static void a_read_takes_no_simulated_time(void **state)
{
    (void)state;
    struct world world = make_world(false);
    run_well(&world, reads_between);
    free_world(&world);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void brings_too_little(int rank, void *arg)
{
    static const float value[CUBES * N];
    (void)arg;
    begin(rank);
    dist_tensor_copy_from(dist_tensor_zeros(N, DTYPE_F32, &rows), DTYPE_F32, value, N);
}

static void brings_another_type(int rank, void *arg)
{
    static const float value[CUBES * N];
    (void)arg;
    begin(rank);
    dist_tensor_copy_from(dist_tensor_zeros(N, DTYPE_F16, &rows), DTYPE_F32, value, CUBES * N);
}

static void wants_too_much(int rank, void *arg)
{
    float value[2 * CUBES * N];
    (void)arg;
    begin(rank);
    dist_tensor_copy_to(dist_tensor_zeros(N, DTYPE_F32, &rows), DTYPE_F32, value, 2 * CUBES * N);
}

static void a_buffer_for_another_tensor_is_refused(void **state)
{
    (void)state;
    struct world world = make_world(false);
    run_badly(&world, brings_too_little,
              "dist_tensor_copy_from: a buffer of 40 elements of f32 for a tensor of 4 parts of 40 "
              "of f32 each; legal: 160 elements of f32");
    run_badly(&world, brings_another_type,
              "dist_tensor_copy_from: a buffer of 160 elements of f32 for a tensor of 4 parts of "
              "40 of f16 each; legal: 160 elements of f16");
    run_badly(&world, wants_too_much,
              "dist_tensor_copy_to: a buffer of 320 elements of f32 for a tensor of 4 parts of 40 "
              "of f32 each; legal: 160 elements of f32");
    free_world(&world);
}

static void reads_nothing(int rank, void *arg)
{
    float value[CUBES * N] = {0};
    (void)arg;
    begin(rank);
    struct tensor *const tensor = dist_tensor_zeros(N, DTYPE_F32, &rows);
    dist_tensor_copy_from(tensor, DTYPE_F32, value, CUBES * N);
    dist_tensor_copy_to(tensor, DTYPE_F32, value, CUBES * N);
}

static void a_world_without_data_has_nothing_to_read(void **state)
{
    (void)state;
    struct world world = make_world(true);
    run_badly(&world, reads_nothing, "dist_tensor_copy_to: this world has no data to read");
    free_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_read_takes_no_simulated_time),
        cmocka_unit_test(a_loop_reduces_its_own_values),
        cmocka_unit_test(a_buffer_for_another_tensor_is_refused),
        cmocka_unit_test(a_world_without_data_has_nothing_to_read),
    };
    return cmocka_run_group_tests_name("the program's own data", tests, NULL, NULL);
}
