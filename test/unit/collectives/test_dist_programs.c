/*
 * test_dist_programs.c: random programs of calls (test/support/random_calls.h):
 * collectives of overlapping groups, uneven all-to-alls, sends, computations,
 * handles that are waited for in any order or not at all. Each result, as
 * `completed` finds it and as its rank does, has the interpreter's bits; and a
 * second run, of a mode, threads and rollbacks that the seed draws, has the
 * sequential run's trace hash, memory, and times at which ranks continue.
 *
 * PROGRAM_SEED and PROGRAM_SEEDS choose the seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/random_calls.h"
#include "test/support/random_model.h"
#include "test/support/test_dist_support.h"

#include "collectives/compute/compute_call.h"
#include "collectives/compute/matmul_verify.h"
#include "collectives/data/input.h"
#include "collectives/data/op_log_write.h"
#include "collectives/data/op_replay.h"
#include "collectives/runtime/distributed.h"

enum { TIMES = 4 * CALLS_STEPS, VALUES_MAX = 1 << 17 };

/* What a rank has begun by a step and not waited for. */
struct begun {
    struct dist_work *work;
    uint32_t uses; /* bits of tensors */
    bool exclusive;
    struct tensor *sent[CALLS_MESSAGES], *received[CALLS_MESSAGES];
};

struct world;
struct rank {
    struct world *world;
    uint32_t rank;
    struct tensor *tensor[CALLS_TENSORS];
    struct begun begun[CALLS_STEPS];
};

struct world {
    const struct calls_machine *machine;
    const struct calls_program *program;
    struct config *config[CALLS_GROUPS];
    struct dist *dist;
    struct dist_group *group[CALLS_GROUPS];
    uint32_t seen[CALLS_GROUPS]; /* numbered calls that have completed */
    struct rank rank[CALLS_RANKS];
    int64_t time_ps[CALLS_RANKS][TIMES];
    uint32_t times[CALLS_RANKS];
    uint64_t trace_hash, memory_hash;
    bool logs;
    FILE *log_file;
    struct op_log *log; /* of all that changes contents */
    int code;
    char text[2000];
};

/* ---- values
 * ----------------------------------------------------------------------------------
 */

static size_t to_bits(enum dtype dtype, const int32_t *values, uint32_t count, void *bits)
{
    static double wide[VALUES_MAX];
    assert_true(count <= VALUES_MAX);
    for (uint32_t i = 0; i < count; i++)
        wide[i] = values[i];
    dtype_from_f64(dtype, bits, wide, count);
    return count * dtype_bytes(dtype);
}

static uint8_t expected[VALUES_MAX * 4], got[VALUES_MAX * 4];

static enum dtype dtype_of(const struct calls_program *program, uint32_t tensor)
{
    return program->pool[program->tensor[tensor].pool].dtype;
}

static void write_tensor(const struct rank *rank, uint32_t tensor, const int32_t *values,
                         uint64_t fill)
{
    const struct calls_program *const program = rank->world->program;
    if (fill != 0) {
        dist_fill_input(rank->tensor[tensor], fill);
        return;
    }
    const uint32_t count = calls_values(program, tensor);
    const enum dtype dtype = dtype_of(program, tensor);
    (void)to_bits(dtype, values, count, got);
    dist_tensor_copy_from(rank->tensor[tensor], dtype, got, count);
}

static void expect_held(const struct rank *rank, uint32_t step, uint32_t tensor)
{
    const struct calls_program *const program = rank->world->program;
    const uint32_t count = calls_values(program, tensor);
    const enum dtype dtype = dtype_of(program, tensor);
    const size_t bytes =
        to_bits(dtype, calls_held(program, step, false, rank->rank, tensor), count, expected);
    dist_tensor_copy_to(rank->tensor[tensor], dtype, got, count);
    if (memcmp(got, expected, bytes) != 0)
        mp_fail(CW_PROGRAM_FAILED, "before step %u, tensor %u of rank %u holds other values", step,
                tensor, rank->rank);
}

/* The tensors of all ranks, as the call has left them. */
static int completed(void *arg, const struct dist_completion *completion, struct cw_error *error)
{
    struct world *const world = arg;
    const struct calls_program *const program = world->program;
    if (completion->collective == CCL_COMPUTE || completion->collective == CCL_SEND_RECV)
        return CW_OK;
    uint32_t g = 0;
    while (g < world->machine->groups && world->group[g] != completion->group)
        g++;
    assert_true(g < world->machine->groups && completion->number < program->calls[g]);
    const uint32_t s = program->step_of[g][completion->number];
    const struct calls_step *const step = &program->step[s];
    const struct calls_group *const group = &world->machine->group[g];
    world->seen[g]++;
    assert_int_equal(completion->world_size, group->count);
    for (uint32_t m = 0; m < group->count; m++) {
        const int32_t *const result = step->result[group->ranks[m]];
        if (result == NULL)
            continue;
        const uint32_t n = calls_elements(program, step->out);
        const enum dtype dtype = dtype_of(program, step->out);
        for (uint32_t shard = 0; shard < program->pool[group->pool].shards; shard++) {
            const size_t bytes = to_bits(dtype, result + shard * n, n, expected);
            if (dist_read(world->dist, completion->tensors[m], shard, 0, n, got, error) != CW_OK)
                return error->exit_code;
            if (memcmp(got, expected, bytes) != 0)
                return cw_error_set(error, CW_PROGRAM_FAILED,
                                    "step %u: shard %u of the result of rank %u has other values",
                                    s, shard, group->ranks[m]);
        }
    }
    return CW_OK;
}

/* ---- tensors of a step's own
 * ----------------------------------------------------------------- */

static struct tensor *fresh(const struct calls_group *group, const struct world *world, uint32_t n)
{
    const struct calls_pool *const pool = &world->program->pool[group->pool];
    const struct dp_policy policy =
        pool->of == &world->machine->group[0]
            ? dist_facts(world->dist)->policy
            : dist_group_policy(world->group[pool->of - world->machine->group]);
    return n > 0 ? dist_tensor_zeros(n, pool->dtype, &policy) : NULL;
}

/* Values that every type has, of elements from `element` on of what a rank
 * sends. */
static void moved_bits(const struct calls_pool *pool, uint32_t step, uint32_t from, uint32_t tag,
                       uint32_t shard, uint32_t element, uint32_t count, void *bits)
{
    static int32_t values[VALUES_MAX];
    for (uint32_t i = 0; i < count; i++)
        values[i] = pool->dtype == DTYPE_INT32
                        ? calls_moved(step, from, tag, shard, element + i)
                        : calls_moved(step, from, tag, shard, element + i) % 1024;
    (void)to_bits(pool->dtype, values, count, bits);
}

static void fill_moved(const struct calls_pool *pool, struct tensor *tensor, uint32_t step,
                       uint32_t from, uint32_t tag)
{
    if (tensor == NULL)
        return;
    const uint32_t n = (uint32_t)tensor->shard_elems;
    for (uint32_t shard = 0; shard < tensor->shard_count; shard++)
        moved_bits(pool, step, from, tag, shard, 0, n, got + shard * n * dtype_bytes(pool->dtype));
    dist_tensor_copy_from(tensor, pool->dtype, got, (uint64_t)n * tensor->shard_count);
}

static void expect_moved(const struct rank *rank, const struct tensor *tensor, uint32_t at,
                         uint32_t count, uint32_t step, uint32_t from, uint32_t tag,
                         uint32_t element)
{
    const struct world *const world = rank->world;
    const struct calls_pool *const pool =
        &world->program->pool[world->machine->group[world->program->step[step].group].pool];
    const size_t bytes = count * dtype_bytes(pool->dtype);
    struct cw_error error;
    for (uint32_t shard = 0; count > 0 && shard < tensor->shard_count; shard++) {
        moved_bits(pool, step, from, tag, shard, element, count, expected);
        assert_int_equal(dist_read(world->dist, tensor, shard, at, count, got, &error), CW_OK);
        if (memcmp(got, expected, bytes) != 0)
            mp_fail(CW_PROGRAM_FAILED,
                    "step %u: what rank %u of the group has sent is not at element "
                    "%u of rank %u",
                    step, from, at, rank->rank);
    }
}

static void expect_product(const struct rank *rank, const struct calls_step *step,
                           const struct tensor *operands)
{
    struct world *const world = rank->world;
    const struct compute_request *const request = &step->compute;
    const uint64_t seed = world->program->seed,
                   first = (uint64_t)rank->rank * request->k * (request->m + request->n);
    const struct compute_job *const job = dist_compute_job(request);
    const size_t itemsize = dtype_bytes(request->dtype);
    const uint64_t elems = operands->shard_elems;
    assert_true(elems * operands->shard_count * itemsize <= sizeof got);
    dist_tensor_copy_to(operands, request->dtype, got, elems * operands->shard_count);
    for (uint32_t i = 0; i < job->pes; i++) {
        const struct compute_block block = compute_block_of(job, i);
        const uint8_t *const result =
            got + ((job->request.first + i) * elems + matmul_result(&block.shape)) * itemsize;
        uint64_t wrong;
        assert_true(
            compute_verify(job, i, seed, first, world->config[0]->ccl.arithmetic, result, &wrong));
        if (wrong > 0)
            mp_fail(CW_PROGRAM_FAILED, "a product of rank %u has other bits", rank->rank);
    }
}

/* ---- workers
 * ---------------------------------------------------------------------------------
 */

static void note_time(const struct rank *rank)
{
    struct world *const world = rank->world;
    assert_true(world->times[rank->rank] < TIMES);
    world->time_ps[rank->rank][world->times[rank->rank]++] = dist_time_ps();
}

static void check_own_tensors(const struct rank *rank, uint32_t s)
{
    const struct world *const world = rank->world;
    const struct calls_step *const step = &world->program->step[s];
    const struct calls_group *const group = &world->machine->group[step->group];
    const struct begun *const begun = &rank->begun[s];
    const uint32_t own = calls_rank_in(group, rank->rank);
    if (step->kind == CALLS_UNEVEN)
        for (uint32_t from = 0, at = 0; from < group->count; at += step->splits[from++][own]) {
            uint32_t element = 0;
            for (uint32_t to = 0; to < own; to++)
                element += step->splits[from][to];
            expect_moved(rank, begun->received[0], at, step->splits[from][own], s, from, 0,
                         element);
        }
    for (uint32_t i = 0; i < step->messages; i++)
        if (step->message[i].to == own)
            expect_moved(rank, begun->received[i], 0, step->message[i].n, s, step->message[i].from,
                         1 + i, 0);
    if (step->kind == CALLS_COMPUTE && begun->received[0] != NULL)
        expect_product(rank, step, begun->received[0]);
}

static void end(struct rank *rank, uint32_t s)
{
    struct begun *const begun = &rank->begun[s];
    if (begun->work == NULL)
        return;
    dist_wait(begun->work);
    begun->work = NULL;
    note_time(rank);
    check_own_tensors(rank, s);
    for (uint32_t i = 0; i < CALLS_MESSAGES; i++) {
        if (begun->sent[i] != NULL)
            dist_tensor_free(begun->sent[i]);
        if (begun->received[i] != NULL && (s + i) % 2 == 0)
            dist_tensor_free(begun->received[i]);
    }
}

/* exclusive: those alone that let no other call use their tensors. */
static void end_users(struct rank *rank, uint32_t tensors, bool exclusive)
{
    for (uint32_t s = 0; s < CALLS_STEPS; s++)
        if ((rank->begun[s].uses & tensors) != 0 && (!exclusive || rank->begun[s].exclusive))
            end(rank, s);
}

static struct dist_work *exchange(struct rank *rank, uint32_t s, struct dist_group *group)
{
    const struct world *const world = rank->world;
    const struct calls_step *const step = &world->program->step[s];
    const struct calls_group *const of = &world->machine->group[step->group];
    const uint32_t own = calls_rank_in(of, rank->rank);
    uint64_t in[CALLS_RANKS], out[CALLS_RANKS];
    uint32_t in_sum = 0, out_sum = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        in_sum += step->splits[own][i];
        out_sum += step->splits[i][own];
        in[i] = step->splits[own][i];
        out[i] = step->splits[i][own];
    }
    struct begun *const begun = &rank->begun[s];
    begun->sent[0] = fresh(of, world, in_sum);
    begun->received[0] = fresh(of, world, out_sum);
    fill_moved(&world->program->pool[of->pool], begun->sent[0], s, own, 0);
    return dist_all_to_all_v_async(group, begun->received[0], out, begun->sent[0], in);
}

static struct dist_work *send(struct rank *rank, uint32_t s, struct dist_group *group)
{
    const struct world *const world = rank->world;
    const struct calls_step *const step = &world->program->step[s];
    const struct calls_group *const of = &world->machine->group[step->group];
    const uint32_t own = calls_rank_in(of, rank->rank);
    struct begun *const begun = &rank->begun[s];
    struct dist_p2p_op ops[CALLS_MESSAGES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < step->messages; i++) {
        const struct calls_message *const message = &step->message[i];
        if (message->from != own && message->to != own)
            continue;
        struct tensor *const tensor = fresh(of, world, message->n);
        const bool sends = message->from == own;
        if (sends)
            fill_moved(&world->program->pool[of->pool], tensor, s, own, 1 + i);
        *(sends ? &begun->sent[i] : &begun->received[i]) = tensor;
        ops[count++] = (struct dist_p2p_op){sends ? DIST_SEND : DIST_RECV, tensor,
                                            sends ? message->to : message->from};
    }
    return count > 0 ? dist_batch_isend_irecv(group, ops, count) : NULL;
}

static struct dist_work *compute(struct rank *rank, uint32_t s)
{
    const struct calls_step *const step = &rank->world->program->step[s];
    struct tensor *operands = NULL;
    if (step->rank != rank->rank)
        return NULL;
    if (step->compute.kind == COMPUTE_PRODUCT) {
        operands = dist_compute_operands(&step->compute);
        dist_fill_operands(operands, &step->compute, rank->world->program->seed);
        rank->begun[s].received[0] = operands;
    }
    return dist_compute_async(&step->compute, operands);
}

static struct dist_work *call(struct rank *rank, uint32_t s, struct dist_group *group)
{
    const struct calls_step *const step = &rank->world->program->step[s];
    struct tensor *const in = rank->tensor[step->in], *const out = rank->tensor[step->out];
    switch (step->kind) {
    case CALLS_ALL_REDUCE:
        return dist_all_reduce_async(group, in, step->op);
    case CALLS_SCALED:
        return dist_all_reduce_scaled_async(group, in, rank->rank + 2);
    case CALLS_AVERAGE:
        return dist_all_reduce_async(group, in, REDOP_AVG);
    case CALLS_BROADCAST:
        return dist_broadcast_async(group, in, step->root);
    case CALLS_GATHER:
        return dist_all_gather_async(group, out, in);
    case CALLS_SCATTER:
        return dist_reduce_scatter_async(group, out, in, step->op);
    case CALLS_ALL_TO_ALL:
        return dist_all_to_all_async(group, out, in);
    case CALLS_UNEVEN:
        return exchange(rank, s, group);
    case CALLS_SENDS:
        return send(rank, s, group);
    case CALLS_COMPUTE:
        return compute(rank, s);
    default:
        return dist_barrier_async(group);
    }
}

/* Waits, pauses, writes: of the rank alone. */
static void before_step(struct rank *rank, uint32_t s)
{
    const struct calls_step *const step = &rank->world->program->step[s];
    const uint32_t own = rank->rank, tensor = step->writes[own], waits = step->waits[own];
    for (uint32_t k = CALLS_STEPS; waits == 1 && k-- > 0;)
        end(rank, k);
    if (waits > 1)
        end(rank, waits - 2);
    if (step->pauses_ps[own] > 0) {
        dist_wait_until_ps(dist_time_ps() + step->pauses_ps[own]);
        note_time(rank);
    }
    if (tensor != CALLS_NONE) {
        end_users(rank, 1u << tensor, false);
        expect_held(rank, s, tensor);
        write_tensor(rank, tensor, step->written[own], step->fill[own]);
    }
}

/* Of several groups of the same ranks the first is found. */
static void find_groups(const struct world *world)
{
    const struct calls_group *const group = world->machine->group;
    for (uint32_t g = 1; g < world->machine->groups && !group[g].late; g++) {
        uint32_t first = 1;
        while (group[first].count != group[g].count ||
               memcmp(group[first].ranks, group[g].ranks, sizeof group[g].ranks) != 0)
            first++;
        if (dist_new_group(group[g].ranks, group[g].count) != world->group[first])
            mp_fail(CW_PROGRAM_FAILED, "dist_new_group() has found another group than %u", first);
    }
}

static void make_group(struct rank *rank, uint32_t g)
{
    struct world *const world = rank->world;
    const struct calls_group *const group = &world->machine->group[g];
    for (uint32_t s = 0; s < CALLS_STEPS; s++)
        end(rank, s);
    find_groups(world);
    world->group[g] = dist_new_group(group->ranks, group->count);
    note_time(rank);
}

static void do_step(struct rank *rank, uint32_t s)
{
    const struct world *const world = rank->world;
    const struct calls_step *const step = &world->program->step[s];
    const struct calls_group *const group = &world->machine->group[step->group];
    struct begun *const begun = &rank->begun[s];
    if (step->kind == CALLS_NEW_GROUP) {
        make_group(rank, step->group);
        return;
    }
    if (step->kind != CALLS_COMPUTE && calls_rank_in(group, rank->rank) == CALLS_NONE)
        return;
    const bool scaled = step->kind == CALLS_SCALED || step->kind == CALLS_AVERAGE;
    /* calls on different queues take no turns */
    begun->exclusive = scaled || group->algorithm->exclusive || world->machine->queues > 1;
    if (step->kind < CALLS_UNEVEN) {
        end_users(rank, 1u << step->in | 1u << step->out, !begun->exclusive);
        begun->uses = 1u << step->in | 1u << step->out;
    }
    if (step->blocks && step->kind == CALLS_BARRIER && step->group == 0) {
        dist_barrier();
        note_time(rank);
    } else if (step->blocks && step->kind == CALLS_ALL_REDUCE && step->group == 0) {
        dist_all_reduce(rank->tensor[step->in], step->op);
        note_time(rank);
    } else {
        begun->work = call(rank, s, world->group[step->group]);
        if (step->blocks)
            end(rank, s);
    }
}

static void worker(int number, void *arg)
{
    struct world *const world = arg;
    const struct calls_program *const program = world->program;
    struct rank *const rank = &world->rank[number];
    rank->world = world;
    rank->rank = (uint32_t)number;
    dist_init_process_group("ahbm");
    ahbm_set_device(number);
    find_groups(world);
    for (uint32_t t = 0; t < program->tensors; t++) {
        const struct calls_pool *const pool = &program->pool[program->tensor[t].pool];
        rank->tensor[t] = fresh(pool->of, world, calls_elements(program, t));
        if (rank->tensor[t]->shard_count != pool->shards)
            mp_fail(CW_USAGE, "a tensor of %s has %u shards, not %u", pool->of->name,
                    rank->tensor[t]->shard_count, pool->shards);
        write_tensor(rank, t, program->initial[t][number], 0);
    }
    for (uint32_t s = 0; s < program->steps; s++) {
        before_step(rank, s);
        do_step(rank, s);
    }
    if (!program->leaves) {
        for (uint32_t s = 0; s < CALLS_STEPS; s++)
            end(rank, (s * 7 + rank->rank) % CALLS_STEPS);
        for (uint32_t t = 0; t < program->tensors; t++)
            expect_held(rank, program->steps, t);
    }
}

/* ---- worlds
 * ----------------------------------------------------------------------------------
 */

static struct config *config_of(const struct calls_machine *machine,
                                const struct calls_group *group)
{
    static const char *const mappers[] = {"leader_only", "pe0_all_cubes", "all_pes"};
    char mapper[CALLS_SET_BYTES], threads[CALLS_SET_BYTES];
    const char *sets[CALLS_SETS + 2];
    const char *const name = group->algorithm->name;
    uint32_t count = 0;
    for (; count < machine->sets; count++)
        sets[count] = machine->set[count];
    if ((group->algorithm->layouts & (group->algorithm->layouts - 1)) != 0) {
        snprintf(mapper, sizeof mapper, "algorithms.%s.mapper=%s", name, mappers[group->layout]);
        sets[count++] = mapper;
    }
    if (strcmp(name, "pairwise_all_to_all") == 0) {
        snprintf(threads, sizeof threads, "algorithms.%s.threads=%u", name, group->threads);
        sets[count++] = threads;
    }
    const struct config_request request = {.algorithm = name, .sets = sets, .set_count = count};
    return must_load(&request);
}

/* False: there is no room for all groups; `text` says so. */
static bool make_world(struct world *world, const struct calls_machine *machine, bool sequential)
{
    struct dist_group_spec spec[CALLS_GROUPS];
    uint32_t known = 1;
    memset(world, 0, sizeof *world);
    world->machine = machine;
    world->logs = !sequential && machine->logs;
    for (uint32_t g = 0; g < machine->groups; g++)
        world->config[g] = config_of(machine, &machine->group[g]);
    for (; known < machine->groups && !machine->group[known].late; known++) {
        const struct calls_group *const group = &machine->group[known];
        spec[known - 1] = (struct dist_group_spec){.name = group->name,
                                                   .ranks = group->ranks,
                                                   .count = group->count,
                                                   .config = world->config[known],
                                                   .first_pe = group->first_pe,
                                                   .pes = group->pes,
                                                   .queue = group->queue};
    }
    const struct dist_options options = {
        .config = world->config[0],
        .groups = spec,
        .group_count = known - 1,
        .late_groups = known < machine->groups,
        .op_log = world->logs,
        .completed = completed,
        .arg = world,
        .machine = {.engine = {.sync = sequential ? CW_SEQUENTIAL : machine->sync,
                               .worker_count = sequential ? 1 : machine->workers,
                               .tuning = {.stress_rate_p32 = machine->stress_rate_p32,
                                          .stress_seed = machine->stress_seed}},
                    .needs = {.launches = machine->launches,
                              .peers = CALLS_RANKS,
                              .contexts = 2,
                              .queues = machine->queues}}};
    struct cw_error error;
    world->dist = dist_create(&options, &error);
    if (world->dist == NULL) {
        snprintf(world->text, sizeof world->text, "%s", cw_error_text(&error));
        return false;
    }
    for (uint32_t g = 1; g < known; g++)
        world->group[g] = dist_group_at(world->dist, g - 1);
    return true;
}

static void free_world(struct world *world)
{
    dist_free(world->dist);
    for (uint32_t g = 0; g < CALLS_GROUPS; g++)
        config_free(world->config[g]);
}

static void begin_log(struct world *world)
{
    const struct op_log_header header = {
        .dtype = DTYPE_INT32, .redop = REDOP_SUM, .machine = world->config[0]->hw};
    struct cw_error error;
    world->log_file = tmpfile();
    assert_non_null(world->log_file);
    world->log = op_log_create(world->log_file, &header, &error);
    assert_non_null(world->log);
    dist_log(world->dist, world->log);
}

/* Replayed, the log ends with the same memory. */
static int check_log(struct world *world, struct cw_error *error)
{
    struct op_log_replay replay = {0};
    int code = op_log_finish(world->log, world->memory_hash, error);
    rewind(world->log_file);
    if (code == CW_OK)
        code = op_log_replay(world->log_file, "log", &replay, error);
    if (code == CW_OK && replay.digest != world->memory_hash)
        code = cw_error_set(error, CW_PROGRAM_FAILED, "the op log ends with other memory");
    op_log_free(world->log);
    fclose(world->log_file);
    return code;
}

static void run(struct world *world, const struct calls_program *program)
{
    struct cw_error error = {.exit_code = CW_OK};
    struct cw_stats stats;
    world->program = program;
    if (world->logs)
        begin_log(world);
    world->code = dist_spawn(world->dist, worker, world, &error);
    cw_sim_stats(lp_system_sim(dist_system(world->dist)), &stats);
    world->trace_hash = stats.trace_hash;
    world->memory_hash = data_pass_digest(dist_data(world->dist));
    if (world->logs && world->code == CW_OK)
        world->code = check_log(world, &error);
    snprintf(world->text, sizeof world->text, "%s", cw_error_text(&error));
    for (uint32_t g = 0; g < world->machine->groups && world->code == CW_OK; g++)
        if (world->seen[g] != program->calls[g]) {
            world->code = CW_PROGRAM_FAILED;
            snprintf(world->text, sizeof world->text, "%u of %u calls of %s completed",
                     world->seen[g], program->calls[g], world->machine->group[g].name);
        }
}

/* ---- the test
 * --------------------------------------------------------------------------------
 */

static void fail_seed(const struct calls_machine *machine, const struct calls_program *program,
                      const char *which, const char *text)
{
    print_error("PROGRAM_SEED=%llu PROGRAM_SEEDS=1 build/check/test/unit/collectives/"
                "test_dist_programs\n",
                (unsigned long long)machine->seed);
    calls_print(stderr, machine, program);
    fail_msg("seed %llu, %s: %s", (unsigned long long)machine->seed, which, text);
}

static void one_program(uint64_t seed)
{
    static struct calls_machine machine;
    static struct calls_program program;
    static struct world expected_world, world;
    calls_machine_draw(&machine, seed);
    memset(&program, 0, sizeof program);
    for (bool ran = false; !ran; machine.groups -= !ran) { /* as many groups as there is room for */
        ran = make_world(&expected_world, &machine, true);
        if (ran) {
            calls_program_draw(&program, &machine);
            run(&expected_world, &program);
            ran = expected_world.code == CW_OK;
        }
        const bool fits = strstr(expected_world.text, "do not fit") == NULL;
        if (!ran && (fits || machine.groups == 1))
            fail_seed(&machine, &program, "sequential", expected_world.text);
        if (!ran) {
            calls_program_free(&program);
            free_world(&expected_world);
        }
    }
    if (!make_world(&world, &machine, false))
        fail_seed(&machine, &program, "second run", world.text);
    run(&world, &program);
    if (world.code != CW_OK)
        fail_seed(&machine, &program, "second run", world.text);
    if (world.trace_hash != expected_world.trace_hash)
        fail_seed(&machine, &program, "second run", "another trace");
    if (world.memory_hash != expected_world.memory_hash)
        fail_seed(&machine, &program, "second run", "other memory");
    if (memcmp(world.time_ps, expected_world.time_ps, sizeof world.time_ps) != 0)
        fail_seed(&machine, &program, "second run", "ranks continue at other times");
    free_world(&world);
    free_world(&expected_world);
    calls_program_free(&program);
}

static void random_programs_do_what_an_interpreter_says(void **state)
{
    (void)state;
    const uint64_t first = random_from_environment("PROGRAM_SEED", 1);
    const uint64_t seeds = random_from_environment("PROGRAM_SEEDS", 40);
    for (uint64_t seed = first; seed < first + seeds; seed++)
        one_program(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_do_what_an_interpreter_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
