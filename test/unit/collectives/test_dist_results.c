/*
 * test_dist_results.c: tensors of calls in flight (dist_results.h): who may touch them, and that
 * `completed` sees what each rank's result was when the call ended there, whatever the rank has
 * done with the tensor since. Random programs are compared, bit for bit, with a sequential
 * interpreter of their steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/random_model.h"
#include "test/support/test_dist_support.h"

#include "collectives/compute/compute_call.h"
#include "collectives/compute/matmul_verify.h"
#include "collectives/config/config_load.h"
#include "collectives/data/input.h"
#include "collectives/data/op_log_write.h"
#include "collectives/data/op_replay.h"
#include "collectives/runtime/distributed.h"

enum {
    RANKS = 4,
    SETS = 3,
    GROUPS = 4,
    SMALL = 3,
    TENSORS = 5,
    STEPS = 20,
    N_MAX = 300,
    BACKLOG = 3
};

static const struct dp_policy one = {
    .cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_cubes = 1, .num_pes = 1};

/* Sets of groups that are all ranks: the world, rows, columns. */
static const uint32_t members[GROUPS][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}};
static const struct dist_group_spec specs[GROUPS] = {
    {.name = "row 0", .ranks = members[0], .count = 2},
    {.name = "row 1", .ranks = members[1], .count = 2},
    {.name = "column 0", .ranks = members[2], .count = 2},
    {.name = "column 1", .ranks = members[3], .count = 2}};

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
    bool groups; /* there are those above */
    bool cubes;  /* four of each SIP */
    bool logs;   /* all that changes contents, and does it again */
    int (*check)(struct world *world, const struct dist_completion *completion);
    uint32_t completed; /* calls */
    uint64_t trace_hash;
    int64_t time_ps[RANKS]; /* at which a rank has ended */
};

static int on_completed(void *arg, const struct dist_completion *completion, struct cw_error *error)
{
    struct world *const world = arg;
    (void)error;
    world->completed++;
    return world->check != NULL ? world->check(world, completion) : CW_OK;
}

struct logged {
    FILE *stream;
    struct op_log *log;
};

static struct logged begin_log(struct world *world)
{
    const struct op_log_header header = {
        .dtype = DTYPE_INT32, .redop = REDOP_SUM, .machine = world->config->hw};
    struct cw_error error;
    struct logged logged = {.stream = tmpfile()};
    assert_non_null(logged.stream);
    logged.log = op_log_create(logged.stream, &header, &error);
    assert_non_null(logged.log);
    dist_log(world->dist, logged.log);
    return logged;
}

/* Replayed, the log ends with the same memory. */
static void check_log(struct world *world, struct logged *logged)
{
    struct op_log_replay replay = {0};
    struct cw_error error;
    assert_int_equal(op_log_finish(logged->log, data_pass_digest(dist_data(world->dist)), &error),
                     CW_OK);
    rewind(logged->stream);
    if (op_log_replay(logged->stream, "log", &replay, &error) != CW_OK)
        fail_msg("%s", error.text);
    assert_int_equal(replay.digest, replay.expected);
    op_log_free(logged->log);
    fclose(logged->stream);
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
        .groups = specs,
        .group_count = world->groups ? GROUPS : 0,
        .machine = {.engine = {.sync = way->sync,
                               .worker_count = way->workers,
                               .tuning.stress_rate_p32 = UINT64_C(1) << 29},
                    .needs = {.launches = BACKLOG, .peers = RANKS, .contexts = 2}},
        .says_choices = true,
        .op_log = world->logs,
        .completed = on_completed,
        .arg = world};
    world->dist = must_create(&options);
    struct cw_error error = {.exit_code = CW_OK};
    struct logged logged = {NULL};
    if (world->logs)
        logged = begin_log(world);
    const int code = dist_spawn(world->dist, worker, world, &error);
    if (code != CW_OK && fails == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(code, fails == NULL ? CW_OK : world->copies ? CW_USAGE : CW_PROGRAM_FAILED);
    if (fails != NULL && strstr(error.text, fails) == NULL)
        fail_msg("\"%s\" does not have \"%s\"", error.text, fails);
    struct cw_stats stats;
    cw_sim_stats(lp_system_sim(dist_system(world->dist)), &stats);
    world->trace_hash = stats.trace_hash;
    if (world->logs)
        check_log(world, &logged);
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

/* ---- random programs ------------------------------------------------------------------------- */

enum kind { ALL_REDUCE, SCALED, AVERAGE, BROADCAST, GATHER, SCATTER, BARRIER, KINDS };

/* Tensors 0 to SMALL - 1 have n elements, the others as many for each rank. Before the call each
 * rank may write new numbers into tensors of its own choice. */
struct step {
    uint32_t set; /* of groups, which all make the call */
    enum kind kind;
    enum redop op;
    uint32_t small, large, root;
    bool blocks, waits[RANKS]; /* waits: for all its handles, before the call */
    bool writes[RANKS][TENSORS];
};

struct program {
    uint64_t seed;
    uint32_t n, calls; /* calls: of all groups */
    bool groups;
    uint32_t step_of[SETS][STEPS]; /* the step of a set's n-th call */
    bool scheduled; /* for a schedule: calls in flight share no tensor, and its queues carry no
        all-gather */
    struct step step[STEPS];
    /* What each rank's tensors hold after each step, if nothing is in flight. */
    int32_t holds[STEPS][RANKS][TENSORS][RANKS * N_MAX];
};

static uint32_t elements(const struct program *program, uint32_t tensor)
{
    return tensor < SMALL ? program->n : RANKS * program->n;
}

/* Writes are of the program's own values, and of the seed's stream. */
static bool is_filled(uint32_t step, uint32_t tensor) { return (step + tensor) % 2 == 0; }

/* What a rank writes before a step. */
static void make_values(const struct program *program, uint32_t step, uint32_t rank,
                        uint32_t tensor, int32_t *values)
{
    struct cw_rng rng =
        cw_rng_seeded(program->seed, 100 + (step * RANKS + rank) * TENSORS + tensor);
    const uint32_t n = elements(program, tensor);
    if (is_filled(step, tensor))
        input_fill(DTYPE_INT32, program->seed + step, input_first(rank, 1, 0, n), values, n);
    for (uint32_t i = 0; i < n && !is_filled(step, tensor); i++)
        values[i] = (int32_t)cw_rng_below(&rng, 2001) - 1000;
}

static uint32_t reduced(const struct step *step, uint32_t a, uint32_t b)
{
    const int32_t x = (int32_t)a, y = (int32_t)b;
    return step->op == REDOP_MAX   ? (uint32_t)(x > y ? x : y)
           : step->op == REDOP_MIN ? (uint32_t)(x < y ? x : y)
                                   : a + b;
}

/* The group of a set that a rank is in; GROUPS: the world. */
static uint32_t group_of(uint32_t set, uint32_t rank)
{
    return set == 0 ? GROUPS : set == 1 ? rank / 2 : 2 + rank % 2;
}

static uint32_t size_of(uint32_t group) { return group == GROUPS ? RANKS : 2; }

static uint32_t member(uint32_t group, uint32_t i)
{
    return group == GROUPS ? i : members[group][i];
}

/* Of an element of a tensor of all ranks of a group; a rank's factor is its number and 2. */
static int32_t reduction(const struct step *step, uint32_t group, uint32_t tensor, uint32_t i,
                         int32_t before[RANKS][TENSORS][RANKS * N_MAX])
{
    uint32_t sum = 0;
    for (uint32_t m = 0; m < size_of(group); m++) {
        const uint32_t rank = member(group, m);
        const uint32_t factor = step->kind == SCALED ? rank + 2 : 1;
        const uint32_t value = (uint32_t)before[rank][tensor][i] * factor;
        sum = m == 0 ? value : reduced(step, sum, value);
    }
    return step->kind == AVERAGE ? (int32_t)sum / (int32_t)size_of(group) : (int32_t)sum;
}

/* One step on all ranks, on what they hold. */
static void interpret(const struct program *program, const struct step *step,
                      int32_t before[RANKS][TENSORS][RANKS * N_MAX],
                      int32_t after[RANKS][TENSORS][RANKS * N_MAX])
{
    const uint32_t n = program->n;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        int32_t *const small = after[rank][step->small], *const large = after[rank][step->large];
        const uint32_t group = group_of(step->set, rank);
        const uint32_t root = member(group, step->root % size_of(group));
        for (uint32_t i = 0; i < n; i++)
            switch (step->kind) {
            case ALL_REDUCE:
            case SCALED:
            case AVERAGE:
                small[i] = reduction(step, group, step->small, i, before);
                break;
            case BROADCAST:
                small[i] = before[root][step->small][i];
                break;
            case GATHER:
                for (uint32_t from = 0; from < RANKS; from++)
                    large[from * n + i] = before[from][step->small][i];
                break;
            case SCATTER:
                small[i] = reduction(step, group, step->large, rank * n + i, before);
                break;
            default:
                break;
            }
    }
}

static struct program *random_program(uint64_t seed, bool scheduled, bool groups)
{
    uint32_t calls[SETS] = {0};
    static const enum redop ops[] = {REDOP_SUM, REDOP_MAX, REDOP_MIN};
    struct program *const program = calloc(1, sizeof *program);
    struct cw_rng rng = cw_rng_seeded(seed, 1);
    assert_non_null(program);
    program->seed = seed;
    program->scheduled = scheduled;
    program->groups = groups;
    program->n = 1 + cw_rng_below(&rng, N_MAX);
    static int32_t before[RANKS][TENSORS][RANKS * N_MAX];
    memset(before, 0, sizeof before);
    for (uint32_t s = 0; s < STEPS; s++) {
        struct step *const step = &program->step[s];
        step->kind = (enum kind)cw_rng_below(&rng, KINDS);
        step->set = groups ? cw_rng_below(&rng, SETS) : 0;
        if ((scheduled && step->kind == GATHER) ||
            (step->set > 0 && (step->kind == GATHER || step->kind == SCATTER)))
            step->kind = ALL_REDUCE;
        program->calls += step->set == 0 ? 1 : 2;
        program->step_of[step->set][calls[step->set]++] = s;
        step->op = step->kind == ALL_REDUCE || step->kind == SCATTER ? ops[cw_rng_below(&rng, 3)]
                                                                     : REDOP_SUM;
        step->small = cw_rng_below(&rng, SMALL);
        step->large = SMALL + cw_rng_below(&rng, TENSORS - SMALL);
        step->root = cw_rng_below(&rng, RANKS);
        step->blocks = cw_rng_below(&rng, 6) == 0;
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            step->waits[rank] = cw_rng_below(&rng, 4) == 0;
            for (uint32_t tensor = 0; tensor < TENSORS; tensor++) {
                step->writes[rank][tensor] = s == 0 || cw_rng_below(&rng, 5) == 0;
                if (step->writes[rank][tensor])
                    make_values(program, s, rank, tensor, before[rank][tensor]);
            }
        }
        memcpy(program->holds[s], before, sizeof before);
        interpret(program, step, before, program->holds[s]);
        memcpy(before, program->holds[s], sizeof before);
    }
    return program;
}

/* The tensor that a step changes on a rank. */
static uint32_t result_of(const struct step *step)
{
    return step->kind == GATHER ? step->large : step->small;
}

static int check_results(struct world *world, const struct dist_completion *completion)
{
    const struct program *const program = world->program;
    uint32_t group = 0;
    while (group < GROUPS && (completion->group == NULL || !program->groups ||
                              completion->group != dist_group_at(world->dist, group)))
        group++;
    const uint32_t s = program->step_of[group == GROUPS ? 0 : 1 + group / 2][completion->number];
    const struct step *const step = &program->step[s];
    static int32_t values[RANKS * N_MAX];
    const uint32_t result = result_of(step), n = elements(program, result);
    if (step->kind == BARRIER)
        return CW_OK;
    assert_int_equal(completion->world_size, size_of(group));
    for (uint32_t m = 0; m < size_of(group); m++) {
        const uint32_t rank = member(group, m);
        const int32_t *const expected = program->holds[s][rank][result];
        struct cw_error error;
        if (dist_read(world->dist, completion->tensors[m], 0, 0, n, values, &error) != CW_OK)
            fail_msg("%s", error.text);
        for (uint32_t i = 0; i < n; i++)
            if (values[i] != expected[i])
                fail_msg("seed %llu, step %u, rank %u: element %u of %u is %d instead of %d",
                         (unsigned long long)program->seed, s, rank, i, n, values[i], expected[i]);
    }
    return CW_OK;
}

/* A rank's handles, and the tensors that their calls use. */
struct handles {
    struct dist_work *work[STEPS];
    uint32_t uses[STEPS]; /* bits */
};

static void wait_for_users(struct handles *handles, uint32_t tensors)
{
    for (uint32_t s = 0; s < STEPS; s++)
        if (handles->work[s] != NULL && (handles->uses[s] & tensors) != 0) {
            dist_wait(handles->work[s]);
            handles->work[s] = NULL;
        }
}

static struct dist_work *call(const struct step *step, int rank, struct tensor *const *tensor,
                              struct dist_group *group)
{
    struct tensor *const small = tensor[step->small], *const large = tensor[step->large];
    switch (step->kind) {
    case ALL_REDUCE:
        return dist_all_reduce_async(group, small, step->op);
    case SCALED:
        return dist_all_reduce_scaled_async(group, small, rank + 2);
    case AVERAGE:
        return dist_all_reduce_async(group, small, REDOP_AVG);
    case BROADCAST:
        return dist_broadcast_async(group, small,
                                    step->root % size_of(group_of(step->set, (uint32_t)rank)));
    case GATHER:
        return dist_all_gather_async(group, large, small);
    case SCATTER:
        return dist_reduce_scatter_async(group, small, large, step->op);
    default:
        return dist_barrier_async(group);
    }
}

/* Tensors that a call reads or writes. */
static uint32_t used_by(const struct step *step)
{
    return step->kind == BARRIER                           ? 0
           : step->kind == GATHER || step->kind == SCATTER ? 1u << step->small | 1u << step->large
                                                           : 1u << step->small;
}

static void expect_held(const struct program *program, uint32_t step, uint32_t rank,
                        uint32_t tensor, const struct tensor *from)
{
    int32_t values[RANKS * N_MAX];
    const uint32_t n = elements(program, tensor);
    dist_tensor_copy_to(from, DTYPE_INT32, values, n);
    if (memcmp(values, program->holds[step][rank][tensor], n * sizeof *values) != 0)
        mp_fail(CW_PROGRAM_FAILED, "seed %llu, after step %u: rank %u holds other numbers in %u",
                (unsigned long long)program->seed, step, rank, tensor);
}

static void runs_steps(int rank, void *arg)
{
    struct world *const world = arg;
    const struct program *const program = world->program;
    struct tensor *tensor[TENSORS];
    struct handles handles = {{NULL}, {0}};
    int32_t values[RANKS * N_MAX];
    begin(rank);
    for (uint32_t i = 0; i < TENSORS; i++)
        tensor[i] = dist_tensor_zeros(elements(program, i), DTYPE_INT32, &one);
    for (uint32_t s = 0; s < STEPS; s++) {
        const struct step *const step = &program->step[s];
        if (step->waits[rank])
            wait_for_users(&handles, UINT32_MAX);
        for (uint32_t i = 0; i < TENSORS; i++) {
            if (!step->writes[rank][i])
                continue;
            wait_for_users(&handles, 1u << i);
            if (s > 0)
                expect_held(program, s - 1, (uint32_t)rank, i, tensor[i]);
            make_values(program, s, (uint32_t)rank, i, values);
            if (is_filled(s, i))
                dist_fill_input(tensor[i], program->seed + s);
            else
                dist_tensor_copy_from(tensor[i], DTYPE_INT32, values, elements(program, i));
        }
        const bool scaled = step->kind == SCALED || step->kind == AVERAGE;
        if (scaled || program->scheduled || step->blocks)
            wait_for_users(&handles, used_by(step));
        const uint32_t g = group_of(step->set, (uint32_t)rank);
        struct dist_work *const work =
            call(step, rank, tensor, g < GROUPS ? dist_group_at(world->dist, g) : NULL);
        if (step->blocks || (scaled && s % 2 == 0)) {
            dist_wait(work);
        } else {
            handles.work[s] = work;
            handles.uses[s] = used_by(step);
        }
        if (scaled && s % 2 != 0) /* nothing may follow before it has ended */
            wait_for_users(&handles, used_by(step));
    }
    wait_for_users(&handles, UINT32_MAX);
    for (uint32_t i = 0; i < TENSORS; i++)
        expect_held(program, STEPS - 1, (uint32_t)rank, i, tensor[i]);
    world->time_ps[rank] = dist_time_ps();
}

static void random_programs_are_verified_in_every_mode(void **state)
{
    (void)state;
    static const struct way ways[] = {{CW_CONSERVATIVE, 2}, {CW_OPTIMISTIC, 3}, {CW_ADAPTIVE, 4},
                                      {CW_STRESS, 1},       {CW_STRESS, 2},     {CW_STRESS, 4}};
    static const char *const algorithms[] = {"ring_allreduce", "lrab_hierarchical_allreduce",
                                             "ring_rs_ag"};
    const uint64_t first = random_from_environment("RESULT_SEED", 1);
    const uint64_t seeds = random_from_environment("RESULT_SEEDS", 3);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        const char *const algorithm = algorithms[seed % 3];
        const bool groups = seed % 3 != 1 && seed / 3 % 2 == 1;
        struct program *const program = random_program(seed, seed % 3 == 2, groups);
        struct world expected = {.program = program, .groups = groups, .check = check_results};
        expected.logs = true;
        run(&expected, algorithm, &sequential, runs_steps, NULL);
        assert_int_equal(expected.completed, program->calls);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            struct world got = {.program = program,
                                .groups = groups,
                                .logs = ways[i].workers == 3,
                                .check = check_results};
            run(&got, algorithm, &ways[i], runs_steps, NULL);
            if (got.completed != expected.completed || got.trace_hash != expected.trace_hash ||
                memcmp(got.time_ps, expected.time_ps, sizeof got.time_ps) != 0)
                fail_msg("seed %llu, %s, %s on %u workers: another trace, or other times",
                         (unsigned long long)seed, algorithm, cw_sync_name[ways[i].sync],
                         ways[i].workers);
        }
        free(program);
    }
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
        cmocka_unit_test(random_programs_are_verified_in_every_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
