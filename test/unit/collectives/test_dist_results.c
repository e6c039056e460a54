/*
 * test_dist_results.c: tensors of calls in flight (dist_results.h): who may touch them, and that
 * `completed` sees what each rank's result was when the call ended there, whatever the rank has
 * done with the tensor since. test_dist_programs.c has random programs of them.
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
#include "collectives/config/config_load.h"
#include "collectives/runtime/distributed.h"

enum { RANKS = 4, N_MAX = 8 * RANKS, BACKLOG = 3 };

static const struct dp_policy one = {
    .cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_cubes = 1, .num_pes = 1};

struct way {
    enum cw_sync sync;
    uint32_t workers;
};
static const struct way sequential = {CW_SEQUENTIAL, 1};

struct world {
    struct config *config;
    struct dist *dist;
    const void *program;
    bool copies; /* by the host, in simulated time */
    bool cubes;  /* four of each SIP */
    int (*check)(struct world *world, const struct dist_completion *completion);
    uint32_t completed;     /* calls */
    int64_t time_ps[RANKS]; /* at which a rank has ended */
};

static int on_completed(void *arg, const struct dist_completion *completion, struct cw_error *error)
{
    struct world *const world = arg;
    (void)error;
    world->completed++;
    return world->check != NULL ? world->check(world, completion) : CW_OK;
}

/* `fails`: how the program's error begins; NULL: it is to have none. */
static void run(struct world *world, const char *algorithm, const struct way *way,
                mp_worker_fn worker, const char *fails)
{
    const char *const sets[] = {
        "system.sips.count=4", world->cubes ? "sip.cube_mesh.w=2" : "sip.cube_mesh.w=1",
        world->cubes ? "sip.cube_mesh.h=2" : "sip.cube_mesh.h=1", "defaults.host_copy=simulated"};
    const struct config_request request = {
        .algorithm = algorithm, .sets = sets, .set_count = world->copies ? 4 : 3};
    world->config = must_load(&request);
    const struct dist_options options = {
        .config = world->config,
        .machine = {.engine = {.sync = way->sync,
                               .worker_count = way->workers,
                               .tuning.stress_rate_p32 = UINT64_C(1) << 29},
                    .needs = {.launches = BACKLOG, .peers = RANKS, .contexts = 2}},
        .says_choices = true,
        .completed = on_completed,
        .arg = world};
    world->dist = must_create(&options);
    struct cw_error error = {.exit_code = CW_OK};
    const int code = dist_spawn(world->dist, worker, world, &error);
    if (code != CW_OK && fails == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(code, fails == NULL ? CW_OK : world->copies ? CW_USAGE : CW_PROGRAM_FAILED);
    if (fails != NULL && strstr(error.text, fails) == NULL)
        fail_msg("\"%s\" does not have \"%s\"", error.text, fails);
    dist_free(world->dist);
    config_free(world->config);
}

static void begin(int rank)
{
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
}

static void fill(struct tensor *tensor, int32_t first)
{
    int32_t values[N_MAX];
    for (int32_t i = 0; i < (int32_t)tensor->shard_elems; i++)
        values[i] = first + i;
    dist_tensor_copy_from(tensor, DTYPE_INT32, values, tensor->shard_elems);
}

static struct tensor *filled(uint32_t n, int32_t first)
{
    struct tensor *const tensor = dist_tensor_zeros(n, DTYPE_INT32, &one);
    fill(tensor, first);
    return tensor;
}

/* ---- who may touch them ---------------------------------------------------------------------- */

enum touch {
    FILL,
    WRITE,
    FREE,
    FREED,
    WAIT_TWICE,
    READ_RESULT,
    READ_INPUT,
    READ_SCALED_INPUT,
    SHARE_SCALED,
    SHARE_INPUT,
    SHARE_SCHEDULE,
    MIX_OPERATIONS,
    TOUCHES
};

static void touches(int rank, void *arg)
{
    const struct world *const world = arg;
    const enum touch touch = *(const enum touch *)world->program;
    int32_t values[RANKS * 8];
    begin(rank);
    struct tensor *const tensor = filled(8, rank), *const all = filled(RANKS * 8, 0);
    struct dist_work *work =
        touch == READ_INPUT || touch == SHARE_INPUT ? dist_all_gather_async(NULL, all, tensor)
        : touch == READ_SCALED_INPUT ? dist_reduce_scatter_scaled_async(NULL, tensor, all, 3)
        : touch == SHARE_SCALED
            ? dist_all_reduce_scaled_async(NULL, tensor, 3)
            : dist_all_reduce_async(NULL, tensor,
                                    touch == MIX_OPERATIONS && rank > 0 ? REDOP_AVG : REDOP_SUM);
    if (touch == FILL)
        dist_fill_input(tensor, 1);
    else if (touch == WRITE)
        fill(tensor, 0);
    else if (touch == FREE)
        dist_tensor_free(tensor);
    else if (touch == FREED || touch == WAIT_TWICE) {
        dist_wait(work);
        dist_barrier();
        if (touch == FREED) {
            dist_tensor_free(tensor);
            work = dist_all_reduce_async(NULL, tensor, REDOP_SUM);
        }
    } else if (touch == READ_RESULT)
        dist_tensor_copy_to(tensor, DTYPE_INT32, values, 8);
    else if (touch == READ_INPUT)
        dist_tensor_copy_to(tensor, DTYPE_INT32, values, 8);
    else if (touch == READ_SCALED_INPUT)
        dist_tensor_copy_to(all, DTYPE_INT32, values, RANKS * 8);
    else if (touch == SHARE_INPUT)
        dist_wait(dist_all_gather_async(NULL, filled(RANKS * 8, 0), tensor));
    else
        dist_wait(dist_all_gather_async(NULL, all, tensor));
    dist_wait(work);
}

static void tensors_of_calls_in_flight_are_busy(void **state)
{
    (void)state;
    static const struct {
        const char *algorithm, *fails; /* NULL: it is legal */
        uint32_t completed;
    } cases[TOUCHES] = {
        [FILL] = {"ring_allreduce",
                  "dist_fill_input: the tensor is busy: call 0, all_reduce, has not ended on this "
                  "rank; legal: after dist_wait() for it"},
        [WRITE] = {"ring_allreduce", "dist_tensor_copy_from: the tensor is busy: call 0"},
        [FREE] = {"ring_allreduce", "dist_tensor_free: the tensor is busy: call 0"},
        [FREED] = {"ring_allreduce", "all_reduce: a tensor of rank 0 has been freed", 2},
        [WAIT_TWICE] = {"ring_allreduce", "legal: each handle once, on the rank that made the call",
                        2},
        [READ_RESULT] = {"ring_allreduce", "dist_tensor_copy_to: the tensor is busy: call 0"},
        [READ_INPUT] = {"ring_allreduce", NULL, 1},
        [READ_SCALED_INPUT] = {"ring_allreduce",
                               "dist_tensor_copy_to: the tensor is busy: call 0, reduce_scatter"},
        [SHARE_SCALED] =
            {"ring_allreduce",
             "rank 0: all_gather uses a tensor of call 0, all_reduce, which has not ended on the "
             "rank; the host scales the values of all_reduce; legal: after dist_wait() for call 0"},
        [SHARE_INPUT] = {"ring_allreduce", NULL, 2},
        [SHARE_SCHEDULE] = {"ring_rs_ag", "several PEs share the steps of all_reduce"},
        [MIX_OPERATIONS] = {"ring_allreduce", "do not name the same operation and root"}};
    for (enum touch touch = FILL; touch < TOUCHES; touch++) {
        struct world world = {.program = &touch};
        run(&world, cases[touch].algorithm, &sequential, touches, cases[touch].fails);
        assert_int_equal(world.completed, cases[touch].completed);
    }
}

/* ---- results that a rank overwrites at once -------------------------------------------------- */

enum overwrite {
    BY_WRITE,
    BY_FILL,
    BY_SUCCESSOR,
    BY_SUM,
    BY_AVERAGE,
    BY_SCALED_SUM,
    BY_SCALED_INPUT,
    OVERWRITES
};

/* The root of a broadcast leaves first. */
static void overwrites(int rank, void *arg)
{
    const struct world *const world = arg;
    begin(rank);
    struct tensor *const tensor = filled(RANKS * 8, 100 * rank), *const part = filled(8, 0);
    dist_wait(dist_broadcast_async(NULL, tensor, 0));
    switch (*(const enum overwrite *)world->program) {
    case BY_WRITE:
        fill(tensor, 7);
        break;
    case BY_FILL:
        dist_fill_input(tensor, 1);
        break;
    case BY_SUCCESSOR:
        dist_tensor_free(tensor);
        fill(dist_tensor_zeros(RANKS * 8, DTYPE_INT32, &one), 9);
        break;
    case BY_SUM:
        dist_wait(dist_all_reduce_async(NULL, tensor, REDOP_SUM));
        break;
    case BY_AVERAGE:
        dist_wait(dist_all_reduce_async(NULL, tensor, REDOP_AVG));
        break;
    case BY_SCALED_SUM:
        dist_wait(dist_all_reduce_scaled_async(NULL, tensor, 3));
        break;
    default:
        dist_wait(dist_reduce_scatter_scaled_async(NULL, part, tensor, 3));
        break;
    }
}

static int check_broadcast(struct world *world, const struct dist_completion *completion)
{
    int32_t values[RANKS * 8];
    struct cw_error error;
    for (uint32_t rank = 0; rank < RANKS && completion->number == 0; rank++) {
        if (dist_read(world->dist, completion->tensors[rank], 0, 0, RANKS * 8, values, &error) !=
            CW_OK)
            fail_msg("%s", error.text);
        for (int32_t i = 0; i < RANKS * 8; i++)
            assert_int_equal(values[i], i);
    }
    return CW_OK;
}

static void fills_and_calls(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    struct tensor *const tensor = filled(8, rank), *const other = filled(8, 0);
    dist_wait(dist_broadcast_async(NULL, tensor, 0));
    fill(other, 1);
    dist_wait(dist_broadcast_async(NULL, other, 0));
}

static void a_result_that_is_overwritten_at_once_is_verified(void **state)
{
    (void)state;
    for (enum overwrite overwrite = BY_WRITE; overwrite < OVERWRITES; overwrite++) {
        struct world world = {.program = &overwrite, .check = check_broadcast};
        run(&world, "ring_allreduce", &sequential, overwrites, NULL);
        assert_int_equal(world.completed, overwrite <= BY_SUCCESSOR ? 1 : 2);
    }
}

static void copies_beside_a_call_in_flight_are_refused(void **state)
{
    (void)state;
    const enum overwrite overwrite = BY_SCALED_SUM, late = BY_SUCCESSOR;
    struct world world = {.program = &late, .copies = true};
    run(&world, "ring_allreduce", &sequential, overwrites, NULL); /* nothing is called */
    world = (struct world){.program = &overwrite, .copies = true, .check = check_broadcast};
    run(&world, "ring_allreduce", &sequential, overwrites, NULL); /* nothing is copied */
    run(&world, "ring_allreduce", &sequential, fills_and_calls,
        "defaults.host_copy=simulated: a tensor was made or filled for the next call while call 0, "
        "broadcast, had not ended on all ranks; legal: instant, or calls that wait");
}

/* Three calls on one tensor that has a shard on each PE that takes part. Each element of a part is
 * its rank's number, times 100, the part's, times 10, and its own. */
enum { CHAIN = 3, PARTS_MAX = 64, PART = 5 };

static void calls_in_a_row(int rank, void *arg)
{
    const struct world *const world = arg;
    struct dist_work *work[CHAIN];
    int32_t values[PARTS_MAX * PART];
    begin(rank);
    struct tensor *const tensor =
        dist_tensor_zeros(PART, DTYPE_INT32, &dist_facts(world->dist)->policy);
    const int32_t parts = (int32_t)tensor_parts(tensor);
    assert_in_range(parts, 2, PARTS_MAX);
    for (int32_t i = 0; i < parts * PART; i++)
        values[i] = 100 * rank + i / PART * 10 + i % PART;
    dist_tensor_copy_from(tensor, DTYPE_INT32, values, (uint64_t)parts * PART);
    for (int i = 0; i < CHAIN; i++)
        work[i] = dist_all_reduce_async(NULL, tensor, REDOP_SUM);
    for (int i = CHAIN - 1; i >= 0; i--)
        dist_wait(work[i]);
}

/* Each call adds all parts of all ranks, which after the first are alike. */
static int check_row(struct world *world, const struct dist_completion *completion)
{
    const int32_t parts = (int32_t)tensor_parts(completion->tensors[0]);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        for (uint32_t shard = 0; shard < completion->tensors[rank]->shard_count; shard++) {
            int32_t values[PART];
            struct cw_error error;
            if (dist_read(world->dist, completion->tensors[rank], shard, 0, PART, values, &error) !=
                CW_OK)
                fail_msg("%s", error.text);
            for (int32_t i = 0; i < PART; i++) {
                int32_t sum = parts * (100 * (0 + 1 + 2 + 3) + RANKS * i) +
                              RANKS * 10 * (parts * (parts - 1) / 2);
                for (uint64_t call = 0; call < completion->number; call++)
                    sum *= RANKS * parts;
                if (values[i] != sum)
                    fail_msg("call %llu, rank %u, shard %u: element %d is %d instead of %d",
                             (unsigned long long)completion->number, rank, shard, i, values[i],
                             sum);
            }
        }
    return CW_OK;
}

static void calls_on_one_tensor_are_verified_one_by_one(void **state)
{
    (void)state;
    static const struct way ways[] = {{CW_SEQUENTIAL, 1}, {CW_OPTIMISTIC, 3}, {CW_STRESS, 4}};
    static const char *const algorithms[] = {
        "lrab_hierarchical_allreduce", "lrab_pipelined_allreduce", "pe_hierarchical_allreduce"};
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            struct world world = {.cubes = true, .check = check_row};
            run(&world, algorithms[i], &ways[k], calls_in_a_row, NULL);
            assert_int_equal(world.completed, CHAIN);
        }
}

/* A product beside an all-reduce: its operands are overwritten as soon as the rank has left. */
static const struct matmul_shape shape = {.m = 8, .n = 8, .k = 8, .tile = 4};
static struct {
    struct compute_job job;
    struct matmul_beside beside;
    struct tensor *operands[RANKS];
    uint64_t seen; /* products */
} products;

static void multiplies(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    struct tensor *const tensor = dist_tensor_zeros(8, DTYPE_F16, &one);
    struct tensor *const operands = dist_tensor_zeros(matmul_elems(&shape), DTYPE_F16, &one);
    products.operands[rank] = operands;
    dist_fill_input(operands, 1);
    dist_wait(dist_all_reduce_beside_async(tensor, REDOP_SUM, operands, &products.job,
                                           &products.beside.kernel));
    dist_fill_input(operands, 2);
    dist_barrier();
}

static int check_products(struct world *world, const struct dist_completion *completion)
{
    for (uint32_t rank = 0; rank < RANKS && completion->beside; rank++) {
        uint8_t c[8 * 8 * 2];
        uint64_t wrong = 99;
        struct cw_error error;
        if (dist_read(world->dist, products.operands[rank], 0, matmul_result(&shape),
                      (uint64_t)shape.m * shape.n, c, &error) != CW_OK)
            fail_msg("%s", error.text);
        assert_true(matmul_verify(&shape, DTYPE_F16, 1, rank * matmul_elems(&shape), c, &wrong));
        assert_int_equal(wrong, 0);
        products.seen++;
    }
    return CW_OK;
}

static void a_product_that_is_overwritten_at_once_is_verified(void **state)
{
    (void)state;
    struct cw_error error;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load("ring_allreduce", &error);
    assert_non_null(algorithm);
    products.job =
        (struct compute_job){.shape = shape, .tcm = 1 << 16, .kernel = algorithm->kernel};
    assert_true(matmul_beside(&products.beside, algorithm->kernel));
    struct world world = {.check = check_products};
    run(&world, "ring_allreduce", &sequential, multiplies, NULL);
    assert_int_equal(products.seen, RANKS);
}

/* The root allocates, and calls, before the others do: scratch takes the same place on all ranks.
 */
static void allocates_early(int rank, void *arg)
{
    int32_t values[8];
    (void)arg;
    begin(rank);
    struct tensor *const tensor = filled(8, rank);
    dist_wait(dist_broadcast_async(NULL, tensor, 0));
    struct tensor *const input = filled(RANKS * 8, 0), *const output = filled(8, 0);
    dist_wait(dist_reduce_scatter_async(NULL, output, input, REDOP_SUM));
    dist_tensor_copy_to(output, DTYPE_INT32, values, 8);
    for (int32_t i = 0; i < 8; i++)
        if (values[i] != RANKS * (8 * rank + i))
            mp_fail(CW_PROGRAM_FAILED, "element %d is %d", i, values[i]);
}

static void scratch_is_alike_on_ranks_that_are_apart(void **state)
{
    (void)state;
    struct world world = {NULL};
    run(&world, "ring_allreduce", &sequential, allocates_early, NULL);
    assert_int_equal(world.completed, 2);
}

/* Whichever rank leaves first, its average is divided by then. */
static void averages(int rank, void *arg)
{
    struct world *const world = arg;
    int32_t values[8];
    begin(rank);
    struct tensor *const tensor = filled(8, 10 * rank);
    dist_wait(dist_all_reduce_async(NULL, tensor, REDOP_AVG));
    world->time_ps[rank] = dist_time_ps();
    dist_tensor_copy_to(tensor, DTYPE_INT32, values, 8);
    for (int32_t i = 0; i < 8; i++)
        if (values[i] != (0 + 10 + 20 + 30) / 4 + i)
            mp_fail(CW_PROGRAM_FAILED, "element %d is %d", i, values[i]);
}

static void an_average_is_one_as_soon_as_a_rank_continues(void **state)
{
    (void)state;
    struct world world = {NULL};
    run(&world, "tree_allreduce", &sequential, averages, NULL);
    assert_int_equal(world.completed, 1);
    bool apart = false;
    for (uint32_t rank = 1; rank < RANKS; rank++)
        apart |= world.time_ps[rank] != world.time_ps[0];
    assert_true(apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_of_calls_in_flight_are_busy),
        cmocka_unit_test(a_result_that_is_overwritten_at_once_is_verified),
        cmocka_unit_test(copies_beside_a_call_in_flight_are_refused),
        cmocka_unit_test(calls_on_one_tensor_are_verified_one_by_one),
        cmocka_unit_test(a_product_that_is_overwritten_at_once_is_verified),
        cmocka_unit_test(scratch_is_alike_on_ranks_that_are_apart),
        cmocka_unit_test(an_average_is_one_as_soon_as_a_rank_continues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
