/*
 * test_dist_compute.c: computations of one rank alone as calls
 * (collectives/compute/compute_call.h): how long they take beside nothing, beside collectives, and
 * in turns with them; a product's bits; the same in every mode of the engine.
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

#include "collectives/compute/compute_call.h"
#include "collectives/compute/matmul_verify.h"
#include "collectives/runtime/distributed.h"

enum { RANKS = 4, TIMES = 8, PES = 16, SEED = 3, BACKLOG = 2 };

static const struct dp_policy one = {
    .cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_cubes = 1, .num_pes = 1};

struct world {
    struct config *config;
    struct dist *dist;
    int64_t time_ps[RANKS][TIMES];
    uint32_t completed; /* computations that the program around the workers has heard of */
    double flops;
    uint64_t trace_hash;
};

static int completed(void *arg, const struct dist_completion *completion, struct cw_error *error)
{
    struct world *const world = arg;
    (void)error;
    if (completion->collective != CCL_COMPUTE)
        return CW_OK;
    assert_non_null(completion->group);
    assert_non_null(completion->computation);
    assert_int_equal(completion->world_size, 1);
    assert_in_range(completion->first_rank, 0, RANKS - 1);
    world->flops += compute_flops(completion->computation);
    world->completed++;
    return CW_OK;
}

/* Four SIPs of two cubes. `fails`: with this text; NULL: it does not. */
static struct world *run_on(enum cw_sync sync, uint32_t workers, mp_worker_fn worker,
                            const char *fails)
{
    static const char *const sets[] = {"system.sips.count=4", "sip.cube_mesh.w=2",
                                       "sip.cube_mesh.h=1"};
    const struct config_request request = {
        .algorithm = "ring_allreduce", .sets = sets, .set_count = 3};
    struct world *const world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->config = must_load(&request);
    const struct dist_options options = {
        .config = world->config,
        .machine = {.engine = {.sync = sync,
                               .worker_count = workers,
                               .tuning.stress_rate_p32 = UINT64_C(1) << 29},
                    .needs.launches = BACKLOG},
        .completed = completed,
        .arg = world};
    world->dist = must_create(&options);
    struct cw_error error;
    const int code = dist_spawn(world->dist, worker, world, &error);
    if (code != CW_OK && fails == NULL)
        fail_msg("%s", error.text);
    if (code == CW_OK && fails != NULL)
        fail_msg("accepted: expected \"%s\"", fails);
    if (fails != NULL && strstr(error.text, fails) == NULL)
        fail_msg("expected \"%s\", got \"%s\"", fails, error.text);
    struct cw_stats stats;
    cw_sim_stats(lp_system_sim(dist_system(world->dist)), &stats);
    world->trace_hash = stats.trace_hash;
    return world;
}

static void free_world(struct world *world)
{
    dist_free(world->dist);
    config_free(world->config);
    free(world);
}

static void begin(int rank)
{
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
}

static struct compute_request busy(uint32_t first, int64_t ps)
{
    return (struct compute_request){
        .kind = COMPUTE_TIME, .first = first, .count = 1, .time_ps = ps};
}

/* ---- alone ----------------------------------------------------------------------------------- */

/* Rank 2 alone computes: longer by what its computation takes longer, to the picosecond. */
static void alone_worker(int rank, void *arg)
{
    struct world *const world = arg;
    static const int64_t times_ps[] = {0, 1, 123456789};
    begin(rank);
    for (uint32_t i = 0; rank == 2 && i < 3; i++) {
        const int64_t from_ps = dist_time_ps();
        const struct compute_request request = busy(3, times_ps[i]);
        dist_compute(&request, NULL);
        world->time_ps[rank][i] = dist_time_ps() - from_ps;
    }
}

static void a_rank_computes_without_the_others(void **state)
{
    (void)state;
    struct world *const world = run_on(CW_SEQUENTIAL, 1, alone_worker, NULL);
    assert_true(world->time_ps[2][0] > 0); /* the launch's way there and back */
    assert_int_equal(world->time_ps[2][1], world->time_ps[2][0] + 1);
    assert_int_equal(world->time_ps[2][2], world->time_ps[2][0] + 123456789);
    assert_int_equal(world->completed, 3);
    free_world(world);
}

/* ---- beside a collective --------------------------------------------------------------------- */

enum { LONG_PS = 50000000 };

/* PE 0 of each rank carries out the all-reduce: alone; with a computation on PE 5; with one on PE 0
 * that is called before it; and after it. */
static void beside_worker(int rank, void *arg)
{
    struct world *const world = arg;
    begin(rank);
    struct tensor *const tensor = dist_tensor_zeros(4096, DTYPE_F32, &one);
    int64_t *const ps = world->time_ps[rank];
    for (uint32_t i = 0; i < 4; i++) {
        const struct compute_request request = busy(i == 1 ? 5 : 0, LONG_PS);
        struct dist_work *work = NULL;
        dist_barrier();
        const int64_t from_ps = dist_time_ps();
        if (i == 1 || i == 2)
            work = dist_compute_async(&request, NULL);
        struct dist_work *const reduced = dist_all_reduce_async(NULL, tensor, REDOP_SUM);
        if (i == 3)
            work = dist_compute_async(&request, NULL);
        dist_wait(reduced);
        ps[i] = dist_time_ps() - from_ps;
        if (work != NULL)
            dist_wait(work);
        ps[4 + i] = dist_time_ps() - from_ps;
    }
}

static void computations_have_pes_of_their_own_or_take_turns(void **state)
{
    (void)state;
    struct world *const world = run_on(CW_SEQUENTIAL, 1, beside_worker, NULL);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const int64_t *const ps = world->time_ps[rank];
        const int64_t alone = ps[0];
        assert_true(alone > 0 && alone < LONG_PS);
        /* on a PE of its own: but for the launch's turn on the way from the host */
        assert_in_range(ps[1], alone, alone + 100000);
        assert_in_range(ps[5], LONG_PS, LONG_PS + alone);
        /* before the all-reduce on PE 0, and after it */
        assert_true(ps[2] >= LONG_PS && ps[2] < LONG_PS + alone + 100000);
        assert_in_range(ps[3], alone, alone + 100000);
        assert_true(ps[7] >= LONG_PS + alone / 2);
    }
    assert_int_equal(world->completed, 3 * RANKS);
    free_world(world);
}

/* ---- products -------------------------------------------------------------------------------- */

static const struct compute_request products[] = {
    {.kind = COMPUTE_PRODUCT, .dtype = DTYPE_BF16, .m = 70, .n = 50, .k = 130},
    {.kind = COMPUTE_PRODUCT, .first = 3, .count = 5, .dtype = DTYPE_F16, .m = 33, .n = 64, .k = 9},
    {.kind = COMPUTE_PRODUCT, .first = 8, .dtype = DTYPE_FP8_E4M3, .m = 16, .n = 17, .k = 400}};

/* Each block of C, in the layout of the operands' shards. */
static void check_result(const struct world *world, int rank, const struct compute_request *request,
                         const struct tensor *operands)
{
    const struct lp_system *const system = dist_system(world->dist);
    const size_t itemsize = dtype_bytes(request->dtype);
    const uint64_t elems = operands->shard_elems, in_all = PES * elems;
    const uint64_t first = (uint64_t)rank * request->k * ((uint64_t)request->m + request->n);
    uint8_t *const values = malloc(in_all * itemsize);
    struct compute_job job;
    struct cw_error error;
    uint64_t elements = 0;
    assert_int_equal(
        compute_job_of(&world->config->hw, request, lp_system_free_tcm(system), 0, &job, &error),
        CW_OK);
    dist_tensor_copy_to(operands, request->dtype, values, in_all);
    for (uint32_t i = 0; i < job.pes; i++) {
        const struct compute_block block = compute_block_of(&job, i);
        uint64_t wrong;
        assert_true(compute_verify(
            &job, i, SEED, first, world->config->ccl.arithmetic,
            values + ((job.request.first + i) * elems + matmul_result(&block.shape)) * itemsize,
            &wrong));
        assert_int_equal(wrong, 0);
        elements += (uint64_t)block.shape.m * block.shape.n;
    }
    assert_int_equal(elements, (uint64_t)request->m * request->n);
    free(values);
}

/* Three products at once, beside an all-reduce. */
static void product_worker(int rank, void *arg)
{
    struct world *const world = arg;
    enum { PRODUCTS = sizeof products / sizeof *products };
    struct tensor *operands[PRODUCTS];
    struct dist_work *work[PRODUCTS];
    begin(rank);
    struct tensor *const tensor = dist_tensor_zeros(1000, DTYPE_F32, &one);
    for (uint32_t i = 0; i < PRODUCTS; i++) {
        operands[i] = dist_compute_operands(&products[i]);
        dist_fill_operands(operands[i], &products[i], SEED);
        work[i] = dist_compute_async(&products[i], operands[i]);
    }
    dist_all_reduce(tensor, REDOP_SUM);
    for (uint32_t i = PRODUCTS; i-- > 0;)
        dist_wait(work[i]);
    world->time_ps[rank][0] = dist_time_ps();
    for (uint32_t i = 0; i < PRODUCTS; i++)
        check_result(world, rank, &products[i], operands[i]);
}

static void products_have_their_bits_in_every_mode(void **state)
{
    (void)state;
    static const struct {
        enum cw_sync sync;
        uint32_t workers;
    } ways[] = {{CW_SEQUENTIAL, 1}, {CW_OPTIMISTIC, 2}, {CW_STRESS, 1}};
    struct world *worlds[3];
    double flops = 0;
    for (size_t i = 0; i < 3; i++)
        flops += 2.0 * RANKS * products[i].m * products[i].n * products[i].k;
    for (size_t i = 0; i < 3; i++) {
        worlds[i] = run_on(ways[i].sync, ways[i].workers, product_worker, NULL);
        assert_true(worlds[i]->trace_hash == worlds[0]->trace_hash);
        assert_memory_equal(worlds[i]->time_ps, worlds[0]->time_ps, sizeof worlds[i]->time_ps);
        assert_true(worlds[i]->flops == flops);
        assert_int_equal(worlds[i]->completed, 3 * RANKS);
    }
    for (size_t i = 0; i < 3; i++)
        free_world(worlds[i]);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void without_operands(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    dist_compute(&products[0], NULL);
}

static void with_operands_of_another(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    dist_compute(&products[0], dist_compute_operands(&products[1]));
}

static void a_time_with_operands(int rank, void *arg)
{
    (void)arg;
    const struct compute_request request = busy(0, 1);
    begin(rank);
    dist_compute(&request, dist_compute_operands(&products[1]));
}

static void before_the_group(int rank, void *arg)
{
    (void)rank, (void)arg;
    const struct compute_request request = busy(0, 1);
    dist_compute(&request, NULL);
}

static void filled_while_it_runs(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    struct tensor *const operands = dist_compute_operands(&products[0]);
    (void)dist_compute_async(&products[0], operands);
    dist_fill_operands(operands, &products[0], SEED);
}

static void wrong_computations_are_refused(void **state)
{
    (void)state;
    free_world(run_on(CW_SEQUENTIAL, 1, without_operands, "a product needs operands"));
    free_world(run_on(CW_SEQUENTIAL, 1, with_operands_of_another,
                      "operands of another layout than the product's"));
    free_world(run_on(CW_SEQUENTIAL, 1, a_time_with_operands, "a time has no operands"));
    free_world(
        run_on(CW_SEQUENTIAL, 1, before_the_group, "dist_compute before dist_init_process_group"));
    free_world(run_on(CW_SEQUENTIAL, 1, filled_while_it_runs, "the tensor is busy"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_computes_without_the_others),
        cmocka_unit_test(computations_have_pes_of_their_own_or_take_turns),
        cmocka_unit_test(products_have_their_bits_in_every_mode),
        cmocka_unit_test(wrong_computations_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
