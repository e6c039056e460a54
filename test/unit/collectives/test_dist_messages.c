/*
 * test_dist_messages.c: uneven all-to-alls, gathers, scatters, sends and receives
 * (dist_messages.h): every element
 * moves to its place, in the times that the documents promise; ends that do not agree are named;
 * random programs do the same in every mode of the engine.
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

#include "collectives/runtime/distributed.h"
#include "collectives/verify/expect_moves.h"

enum { RANKS_MAX = 6, TIMES = 16, SETS = 7, N_MAX = 30000, BACKLOG = 4, SEED = 11 };

struct machine {
    uint32_t ranks;
    const char *mapper, *algorithm;
    int threads;
    enum cw_sync sync;
    uint32_t workers;
};
static const struct machine usual = {4, "leader_only", "pairwise_all_to_all", 32, CW_SEQUENTIAL, 1};

struct world {
    struct config *config, *config_of_group;
    struct dist *dist;
    uint32_t ranks;
    const void *program;
    int64_t time_ps[RANKS_MAX][TIMES]; /* at which a rank has continued */
    uint32_t times[RANKS_MAX];
    uint64_t trace_hash;
    bool verifies;            /* tensors are filled from the seed's stream */
    uint64_t messages, moved; /* of calls that have ended; elements of these */
    int code;
    char text[2000];
};

struct seen {
    struct world *world;
    const struct dist_completion *completion;
};

static int read_message(void *arg, uint32_t result, uint32_t shard, uint64_t first, uint64_t count,
                        void *dst, struct cw_error *error)
{
    const struct seen *const seen = arg;
    const struct dist_moved moved = dist_moved(seen->completion, result);
    return dist_read(seen->world->dist, moved.result, shard, first, count, dst, error);
}

/* All elements are those of the seed's stream. */
static void verify(struct world *world, const struct dist_completion *completion)
{
    const uint32_t shards = dist_facts(world->dist)->parts > 1 ? dist_facts(world->dist)->parts : 1;
    struct expect_part *const part = calloc(completion->message_count + 1, sizeof *part);
    for (uint64_t i = 0; i < completion->message_count; i++) {
        const struct dist_moved moved = dist_moved(completion, i);
        part[i] = (struct expect_part){.result = (uint32_t)i,
                                       .from = moved.from,
                                       .n_elem = moved.input_elems,
                                       .at = moved.first_in,
                                       .to = moved.first_out,
                                       .count = moved.count};
        world->messages++;
        world->moved += moved.count;
    }
    const struct expect_moves moves = {.shards = shards,
                                       .dtype = DTYPE_INT32,
                                       .seed = SEED,
                                       .part = part,
                                       .part_count = completion->message_count};
    struct seen seen = {world, completion};
    struct cw_error error;
    uint64_t wrong = 1;
    assert_int_equal(expect_moves_verify(&moves, read_message, &seen, &wrong, &error), CW_OK);
    assert_int_equal(wrong, 0);
    free(part);
}

static int completed(void *arg, const struct dist_completion *completion, struct cw_error *error)
{
    struct world *const world = arg;
    (void)error;
    if (world->verifies)
        verify(world, completion);
    return CW_OK;
}

static struct world *run_on(const struct machine *machine, const void *program, mp_worker_fn worker)
{
    char set[SETS][80];
    const char *sets[SETS];
    static const uint32_t ranks[] = {4, 1, 3};
    uint32_t count = 0;
    snprintf(set[count++], 80, "system.sips.count=%u", machine->ranks);
    snprintf(set[count++], 80, "sip.cube_mesh.w=2");
    snprintf(set[count++], 80, "sip.cube_mesh.h=1");
    snprintf(set[count++], 80, "defaults.slot_size=256");
    if (strcmp(machine->algorithm, usual.algorithm) == 0) {
        snprintf(set[count++], 80, "algorithms.pairwise_all_to_all.mapper=%s", machine->mapper);
        snprintf(set[count++], 80, "algorithms.pairwise_all_to_all.threads=%d", machine->threads);
    }
    for (uint32_t i = 0; i < count; i++)
        sets[i] = set[i];
    const struct config_request request = {
        .algorithm = machine->algorithm, .sets = sets, .set_count = count};
    struct world *const world = calloc(1, sizeof *world);
    const struct config_request of_group = {
        .algorithm = usual.algorithm, .sets = sets, .set_count = count};
    world->config = must_load(&request);
    world->config_of_group = must_load(&of_group);
    world->program = program;
    world->ranks = machine->ranks;
    const struct dist_group_spec group = {
        .name = "odd", .ranks = ranks, .count = 3, .config = world->config_of_group};
    const struct dist_options options = {
        .config = world->config,
        .groups = &group,
        .group_count = machine->ranks == RANKS_MAX ? 1 : 0,
        .completed = completed,
        .arg = world,
        .machine = {.engine = {.sync = machine->sync,
                               .worker_count = machine->workers,
                               .tuning.stress_rate_p32 = UINT64_C(1) << 29},
                    .needs.launches = BACKLOG}};
    struct cw_error error = {0};
    struct cw_stats stats;
    world->dist = must_create(&options);
    world->code = dist_spawn(world->dist, worker, world, &error);
    snprintf(world->text, sizeof world->text, "%s", cw_error_text(&error));
    cw_sim_stats(lp_system_sim(dist_system(world->dist)), &stats);
    world->trace_hash = stats.trace_hash;
    return world;
}

static void free_world(struct world *world)
{
    dist_free(world->dist);
    config_free(world->config);
    config_free(world->config_of_group);
    free(world);
}

static struct world *must_run(const struct machine *machine, const void *program,
                              mp_worker_fn worker)
{
    struct world *const world = run_on(machine, program, worker);
    if (world->code != CW_OK)
        fail_msg("%u ranks, %s: %s", machine->ranks, machine->mapper, world->text);
    return world;
}

static void must_fail(const struct machine *machine, const void *program, mp_worker_fn worker,
                      int code, const char *text)
{
    struct world *const world = run_on(machine, program, worker);
    if (world->code != code || strstr(world->text, text) == NULL)
        fail_msg("code %d: %s", world->code, world->text);
    free_world(world);
}

static void note_time(struct world *world, int rank)
{
    assert_true(world->times[rank] < TIMES);
    world->time_ps[rank][world->times[rank]++] = dist_time_ps();
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Element e of a shard of the tensor `tag` of a rank. */
static int32_t value_of(uint32_t rank, uint32_t tag, uint32_t shard, uint64_t e)
{
    return (int32_t)(((rank * 16 + tag) * 32 + shard) << 16 ^ (uint32_t)e * 0x9e3779b1u);
}

static struct tensor *zeros(const struct world *world, uint64_t n)
{
    return n > 0 ? dist_tensor_zeros(n, DTYPE_INT32, &dist_facts(world->dist)->policy) : NULL;
}

static struct tensor *filled(const struct world *world, uint64_t n, uint32_t rank, uint32_t tag)
{
    struct tensor *const tensor = zeros(world, n);
    if (tensor == NULL)
        return NULL;
    int32_t *const values = malloc(n * tensor->shard_count * sizeof *values);
    for (uint32_t i = 0; i < tensor->shard_count; i++)
        for (uint64_t e = 0; e < n; e++)
            values[i * n + e] = value_of(rank, tag, i, e);
    dist_tensor_copy_from(tensor, DTYPE_INT32, values, n * tensor->shard_count);
    free(values);
    return tensor;
}

/* Elements from `to` on of each shard are those from `from` on of another tensor. */
static void expect_part(const struct world *world, const struct tensor *tensor, uint64_t to,
                        uint64_t count, uint32_t rank, uint32_t tag, uint64_t from)
{
    static int32_t got[N_MAX];
    struct cw_error error;
    assert_true(count <= N_MAX);
    for (uint32_t i = 0; count > 0 && i < tensor->shard_count; i++) {
        assert_int_equal(dist_read(world->dist, tensor, i, to, count, got, &error), CW_OK);
        for (uint64_t e = 0; e < count; e++)
            if (got[e] != value_of(rank, tag, i, from + e))
                fail_msg("shard %u: element %llu is not element %llu of rank %u", i,
                         (unsigned long long)(to + e), (unsigned long long)(from + e), rank);
    }
}

/* ---- all-to-all ------------------------------------------------------------------------------ */

/* [s][d]: elements from rank s to rank d. */
struct splits {
    uint64_t of[RANKS_MAX][RANKS_MAX];
    bool even; /* by dist_all_to_all() */
    bool waits_alone;
};

static struct splits random_splits(uint32_t ranks, uint64_t seed)
{
    struct cw_rng rng = cw_rng_seeded(seed, 7);
    struct splits splits = {0};
    for (uint32_t s = 0; s < ranks; s++)
        for (uint32_t d = 0; d < ranks; d++) {
            const uint32_t kind = cw_rng_below(&rng, 4);
            splits.of[s][d] = kind == 0 ? 0 : cw_rng_below(&rng, kind == 1 ? 5 : 2500);
        }
    return splits;
}

static void exchanges(int rank, void *arg)
{
    struct world *const world = arg;
    const struct splits *const splits = world->program;
    uint64_t in[RANKS_MAX], out[RANKS_MAX], in_sum = 0, out_sum = 0, at = 0;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    for (uint32_t i = 0; i < world->ranks; i++) {
        in_sum += in[i] = splits->of[rank][i];
        out_sum += out[i] = splits->of[i][rank];
    }
    struct tensor *const input = filled(world, in_sum, (uint32_t)rank, 1);
    struct tensor *const output = zeros(world, out_sum);
    note_time(world, rank);
    if (splits->even)
        dist_all_to_all(output, input);
    else if (splits->waits_alone)
        dist_wait(dist_all_to_all_v_async(NULL, output, out, input, in));
    else
        dist_all_to_all_v(output, out, input, in);
    note_time(world, rank);
    for (uint32_t s = 0; s < world->ranks; at += out[s++]) {
        uint64_t from = 0;
        for (int d = 0; d < rank; d++)
            from += splits->of[s][d];
        expect_part(world, output, at, out[s], s, 1, from);
    }
}

static void every_part_comes_to_its_place(void **state)
{
    (void)state;
    static const struct machine machines[] = {
        {1, "leader_only", "pairwise_all_to_all", 32, CW_SEQUENTIAL, 1},
        {2, "leader_only", "pairwise_all_to_all", 32, CW_SEQUENTIAL, 1},
        {3, "leader_only", "pairwise_all_to_all", 32, CW_SEQUENTIAL, 1},
        {5, "leader_only", "pairwise_all_to_all", 2, CW_SEQUENTIAL, 1},
        {6, "leader_only", "pairwise_all_to_all", 1, CW_SEQUENTIAL, 1},
        {4, "all_pes", "pairwise_all_to_all", 32, CW_SEQUENTIAL, 1}};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            struct splits splits = random_splits(machines[i].ranks, seed);
            splits.waits_alone = seed == 2;
            free_world(must_run(&machines[i], &splits, exchanges));
        }
}

static void equal_parts_take_the_time_of_equal_blocks(void **state)
{
    (void)state;
    static const char *const mappers[] = {"leader_only", "all_pes"};
    for (size_t i = 0; i < 2; i++) {
        struct machine machine = usual;
        struct splits splits = {0};
        machine.mapper = mappers[i];
        for (uint32_t k = 0; k < 16; k++)
            splits.of[k / 4][k % 4] = 777;
        struct world *const uneven = must_run(&machine, &splits, exchanges);
        splits.even = true;
        struct world *const even = must_run(&machine, &splits, exchanges);
        assert_memory_equal(uneven->time_ps, even->time_ps, sizeof even->time_ps);
        assert_true(even->time_ps[0][1] > even->time_ps[0][0]);
        free_world(uneven);
        free_world(even);
    }
}

static void nothing_to_move_takes_no_time(void **state)
{
    (void)state;
    const struct splits splits = {0};
    struct world *const world = must_run(&usual, &splits, exchanges);
    for (uint32_t rank = 0; rank < 4; rank++)
        assert_int_equal(world->time_ps[rank][0], world->time_ps[rank][1]);
    free_world(world);
}

/* ---- gather and scatter ---------------------------------------------------------------------- */

/* To and from each rank in turn, `elems` of each shard, in a group or the world. */
static void to_every_root(struct world *world, struct dist_group *group, uint32_t own,
                          uint32_t ranks, uint64_t elems)
{
    for (uint32_t root = 0; root < ranks; root++) {
        const bool is_root = own == root;
        struct tensor *const all = is_root ? zeros(world, ranks * elems) : NULL,
                             *const given = is_root ? filled(world, ranks * elems, root, 3) : NULL,
                             *const each = zeros(world, elems);
        dist_wait(dist_gather_async(group, all, filled(world, elems, own, 2), root));
        for (uint32_t r = 0; is_root && r < ranks; r++)
            expect_part(world, all, r * elems, elems, r, 2, 0);
        dist_wait(dist_scatter_async(group, each, given, root));
        expect_part(world, each, 0, elems, root, 3, own * elems);
    }
}

static void gathers_and_scatters(int rank, void *arg)
{
    struct world *const world = arg;
    const uint64_t elems = *(const uint64_t *)world->program;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    to_every_root(world, NULL, (uint32_t)rank, world->ranks, elems);
}

static void every_root_gathers_and_scatters(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 777, 3000};
    static const char *const mappers[] = {"leader_only", "all_pes"};
    for (uint32_t i = 0; i < 6; i++) {
        struct machine machine = usual;
        machine.ranks = 1 + i % 5;
        machine.mapper = mappers[i % 2];
        machine.threads = i == 4 ? 1 : 32;
        free_world(must_run(&machine, &sizes[i % 3], gathers_and_scatters));
    }
}

/* A gather is an all-to-all whose blocks go to one rank. */
static void gathers_once(int rank, void *arg)
{
    struct world *const world = arg;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    struct tensor *const input = filled(world, 2000, (uint32_t)rank, 1), *const output =
                                                                             rank == 2
                                                                                 ? zeros(world,
                                                                                         8000)
                                                                                 : NULL;
    note_time(world, rank);
    dist_gather(output, input, 2);
    note_time(world, rank);
}

static void a_gather_takes_the_time_of_such_an_all_to_all(void **state)
{
    (void)state;
    struct splits splits = {0};
    for (uint32_t r = 0; r < 4; r++)
        splits.of[r][2] = 2000;
    struct world *const all = must_run(&usual, &splits, exchanges);
    struct world *const gather = must_run(&usual, NULL, gathers_once);
    assert_true(all->time_ps[2][1] > all->time_ps[2][0]);
    assert_memory_equal(all->time_ps, gather->time_ps, sizeof all->time_ps);
    free_world(all);
    free_world(gather);
}

/* One rank's call is not that of the others, rank 3's by default. */
static void rooted_misuses(int rank, void *arg)
{
    struct world *const world = arg;
    const uint32_t which = *(const uint32_t *)world->program;
    const bool odd = rank == 3;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    struct tensor *const one = zeros(world, 5), *const four = zeros(world, 20);
    struct tensor *const of_root = rank == 1 ? four : NULL;
    switch (which) {
    case 0:
        dist_gather(of_root, one, odd ? 4 : 1);
        break;
    case 1:
        dist_gather(NULL, one, 1);
        break;
    case 2:
        dist_scatter(one, NULL, 1);
        break;
    case 3:
        dist_scatter(one, odd ? four : of_root, 1);
        break;
    case 4:
        dist_gather(of_root, odd ? NULL : one, 1);
        break;
    case 5:
        dist_gather(rank == 1 ? zeros(world, 19) : NULL, one, 1);
        break;
    case 6:
        dist_scatter(odd ? zeros(world, 6) : one, of_root, 1);
        break;
    case 7:
        dist_gather(rank == 1 || odd ? four : NULL, one, odd ? 3 : 1);
        break;
    case 8:
        if (odd)
            dist_gather(of_root, one, 1);
        else
            dist_scatter(one, of_root, 1);
        break;
    case 9:
        if (odd)
            dist_all_to_all(zeros(world, 20), four);
        else
            dist_gather(of_root, one, 1);
        break;
    default:
        dist_gather(rank == 1 ? one : NULL, one, 1);
    }
}

static void rooted_calls_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "dist_gather: root 4; legal: 0 to 3",
        "dist_gather: rank 1 is the root and gives no output (NULL); legal: a tensor with a block "
        "for each of 4 ranks",
        "dist_scatter: rank 1 is the root and gives no input (NULL)",
        "dist_scatter: rank 3 gives an input, and rank 1 is the root; legal: NULL on all other "
        "ranks",
        "dist_gather: no input (NULL); legal: a tensor of every rank",
        "dist_gather: the root's output has 1 shards of 19 elements of int32, its input 1 of 5 of "
        "int32; legal: as many shards, and elements for each of 4 ranks",
        "scatter: rank 1 sends 5 elements to rank 3, which receives 6 from it",
        "gather: rank 0 names root 1, rank 3 root 3; both must be equal",
        "rank 0 calls scatter where rank 3 called gather",
        "rank 0 calls gather where rank 3 called all_to_all",
        "dist_gather: input and output are one tensor"};
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++)
        must_fail(&usual, &i, rooted_misuses, CW_PROGRAM_FAILED, texts[i]);
}

/* ---- sends ----------------------------------------------------------------------------------- */

struct one_send {
    uint32_t from, to;
    uint64_t n;
};

static void sends_once(int rank, void *arg)
{
    struct world *const world = arg;
    const struct one_send *const send = world->program;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    struct tensor *const tensor = (uint32_t)rank == send->from
                                      ? filled(world, send->n, (uint32_t)rank, 1)
                                      : zeros(world, send->n);
    note_time(world, rank);
    if ((uint32_t)rank == send->from)
        dist_send(tensor, send->to);
    if ((uint32_t)rank == send->to)
        dist_recv(tensor, send->from);
    note_time(world, rank);
    if ((uint32_t)rank == send->to)
        expect_part(world, tensor, 0, send->n, send->from, 1, 0);
}

/* The pair takes as long, to the picosecond; ranks without elements continue at once. */
static void one_pair_takes_the_time_of_a_lone_send(void **state)
{
    (void)state;
    static const char *const mappers[] = {"leader_only", "all_pes"};
    static const struct one_send sends[] = {{0, 1, 1}, {2, 0, 64}, {3, 1, 2000}, {1, 2, 30000}};
    for (size_t m = 0; m < 2; m++)
        for (size_t i = 0; i < sizeof sends / sizeof *sends; i++) {
            struct machine machine = usual;
            struct splits splits = {.waits_alone = true};
            machine.mapper = mappers[m];
            splits.of[sends[i].from][sends[i].to] = sends[i].n;
            struct world *const pair = must_run(&machine, &splits, exchanges);
            struct world *const send = must_run(&machine, &sends[i], sends_once);
            assert_memory_equal(pair->time_ps, send->time_ps, sizeof send->time_ps);
            for (uint32_t rank = 0; rank < 4; rank++)
                assert_int_equal(send->time_ps[rank][1] > send->time_ps[rank][0],
                                 rank == sends[i].from || rank == sends[i].to);
            free_world(pair);
            free_world(send);
        }
}

/* Each rank sends to all others, twice to the next one, and receives as much, in one batch. */
static void batches(int rank, void *arg)
{
    struct world *const world = arg;
    const uint32_t ranks = world->ranks, own = (uint32_t)rank;
    struct dist_p2p_op ops[4 * RANKS_MAX];
    uint32_t count = 0;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    for (uint32_t k = ranks - 1; k > 0; k--)
        for (uint32_t twice = 0; twice < 1 + (k == 1); twice++) {
            const uint32_t to = (own + k) % ranks, from = (own + ranks - k) % ranks;
            const uint64_t n = 100 + 1000 * twice;
            ops[count++] =
                (struct dist_p2p_op){DIST_SEND, filled(world, n + to, own, 1 + twice), to};
            ops[count++] = (struct dist_p2p_op){DIST_RECV, zeros(world, n + own), from};
        }
    dist_wait(dist_batch_isend_irecv(NULL, ops, count));
    note_time(world, rank);
    uint32_t seen[RANKS_MAX] = {0};
    for (uint32_t i = 0; i < count; i++)
        if (ops[i].op == DIST_RECV)
            expect_part(world, ops[i].tensor, 0, ops[i].tensor->shard_elems, ops[i].peer,
                        1 + seen[ops[i].peer]++, 0);
}

static void a_batch_moves_several_tensors_at_once(void **state)
{
    (void)state;
    static const char *const mappers[] = {"leader_only", "all_pes"};
    for (uint32_t i = 0; i < 4; i++) {
        struct machine machine = usual;
        machine.mapper = mappers[i % 2];
        machine.threads = i < 2 ? 32 : 1;
        machine.ranks = i == 2 ? 6 : 3;
        free_world(must_run(&machine, NULL, batches));
    }
}

/* Tensors of several types, of which some end within a tile, from rank 0 to rank 1. */
static void sends_of_several_types(int rank, void *arg)
{
    static const enum dtype dtypes[] = {DTYPE_F16, DTYPE_INT8, DTYPE_F64, DTYPE_INT32};
    static uint8_t bytes[4000];
    struct world *const world = arg;
    struct dist_p2p_op ops[4];
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    for (uint32_t i = 0; i < 4 && rank < 2; i++) {
        const uint64_t n = 301 + 10 * i;
        struct tensor *const tensor =
            dist_tensor_zeros(n, dtypes[i], &dist_facts(world->dist)->policy);
        for (uint32_t b = 0; b < n * tensor->item_bytes; b++)
            bytes[b] = (uint8_t)(7 * i + b % 251 + b / 251);
        if (rank == 0)
            dist_tensor_copy_from(tensor, dtypes[i], bytes, n);
        ops[i] =
            (struct dist_p2p_op){rank == 0 ? DIST_SEND : DIST_RECV, tensor, 1 - (uint32_t)rank};
    }
    if (rank < 2)
        dist_wait(dist_batch_isend_irecv(NULL, ops, 4));
    for (uint32_t i = 0; i < 4 && rank == 1; i++) {
        dist_tensor_copy_to(ops[i].tensor, dtypes[i], bytes, ops[i].tensor->shard_elems);
        for (uint32_t b = 0; b < ops[i].tensor->shard_bytes; b++)
            assert_int_equal(bytes[b], (uint8_t)(7 * i + b % 251 + b / 251));
    }
}

static void a_batch_may_have_several_types(void **state)
{
    (void)state;
    struct machine machine = usual;
    free_world(must_run(&machine, NULL, sends_of_several_types));
    machine.ranks = 2;
    free_world(must_run(&machine, NULL, sends_of_several_types));
}

/* Rank 0 sends and receives in one batch; the others send only what depends on what they have
 * received, and all that they exchange goes over one thread of each. */
static void around(int rank, void *arg)
{
    struct world *const world = arg;
    const uint32_t own = (uint32_t)rank, to = (own + 1) % world->ranks,
                   from = (own + world->ranks - 1) % world->ranks;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    struct tensor *const sent = filled(world, 9000, own, 1), *const received = zeros(world, 9000);
    const struct dist_p2p_op ops[] = {{DIST_SEND, sent, to}, {DIST_RECV, received, from}};
    if (rank == 0) {
        dist_wait(dist_batch_isend_irecv(NULL, ops, 2));
    } else {
        dist_recv(received, from);
        dist_send(sent, to);
    }
    expect_part(world, received, 0, 9000, from, 1, 0);
    note_time(world, rank);
}

static void a_batch_goes_both_ways_at_once(void **state)
{
    (void)state;
    static const char *const mappers[] = {"leader_only", "all_pes"};
    for (uint32_t i = 0; i < 8; i++) {
        struct machine machine = usual;
        machine.mapper = mappers[i % 2];
        machine.ranks = 2 + i / 2;
        machine.threads = i < 4 ? 32 : 1;
        free_world(must_run(&machine, NULL, around));
    }
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* In the group of the world's ranks 4, 1 and 3, while the world reduces on rings of its own. */
static void in_a_group(int rank, void *arg)
{
    struct world *const world = arg;
    static const uint32_t of_world[] = {4, 1, 3};
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    struct dist_group *const group = dist_group_at(world->dist, 0);
    const uint32_t own = dist_group_rank(group);
    struct tensor *const sum = zeros(world, 300);
    struct dist_work *const all = dist_all_reduce_async(NULL, sum, REDOP_MAX);
    if (own < 3) {
        uint64_t in[3], out[3];
        for (uint32_t i = 0; i < 3; i++) {
            in[i] = 10 * own + i;
            out[i] = 10 * i + own;
        }
        struct tensor *const input = filled(world, 30 * own + 3, own, 1), *const output = zeros(
                                                                              world, 30 + 3 * own);
        dist_wait(dist_all_to_all_v_async(group, output, out, input, in));
        for (uint32_t s = 0, at = 0; s < 3; at += out[s++])
            expect_part(world, output, at, out[s], s, 1, 10 * s * own + own * (own - 1) / 2);
        struct tensor *const sent = filled(world, 700, own, 2), *const received = zeros(world, 700);
        struct dist_work *const send = dist_isend(group, sent, (own + 1) % 3);
        dist_wait(dist_irecv(group, received, (own + 2) % 3));
        expect_part(world, received, 0, 700, (own + 2) % 3, 2, 0);
        dist_wait(send);
        assert_int_equal(of_world[own], rank);
        to_every_root(world, group, own, 3, 900);
    }
    dist_wait(all);
}

static void without_its_end(int rank, void *arg)
{
    struct world *const world = arg;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    if (rank == 1)
        dist_wait(dist_irecv(dist_group_at(world->dist, 0), zeros(world, 9), 2));
}

static void from_outside(int rank, void *arg)
{
    struct world *const world = arg;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    if (rank == 0)
        (void)dist_isend(dist_group_at(world->dist, 0), zeros(world, 9), 2);
}

static void groups_have_messages_of_their_own(void **state)
{
    (void)state;
    static const struct machine rings = {RANKS_MAX, "leader_only", "ring_allreduce",
                                         32,        CW_SEQUENTIAL, 1};
    free_world(must_run(&rings, NULL, in_a_group));
    must_fail(&rings, NULL, without_its_end, CW_PROGRAM_FAILED,
              "odd: rank 1 receives 9 elements of int32 from rank 2, which does not send them");
    must_fail(&rings, NULL, from_outside, CW_PROGRAM_FAILED, "rank 0 is not in the group odd");
}

/* ---- verification ---------------------------------------------------------------------------- */

/* An all-to-all of which rank r sends 3 r + 100 d elements to rank d; a gather and a scatter of 70
 * elements; then a batch in which each
 * rank sends one tensor to the next rank and two to the one after it. */
static void fills_and_moves(int rank, void *arg)
{
    struct world *const world = arg;
    const uint64_t ranks = world->ranks, own = (uint64_t)rank;
    uint64_t in[RANKS_MAX], out[RANKS_MAX], in_sum = 0, out_sum = 0;
    world->verifies = true;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    for (uint64_t i = 0; i < ranks; i++) {
        in_sum += in[i] = 3 * own + 100 * i;
        out_sum += out[i] = 3 * i + 100 * own;
    }
    struct tensor *const input = zeros(world, in_sum);
    dist_fill_input(input, SEED);
    dist_all_to_all_v(zeros(world, out_sum), out, input, in);
    struct tensor *const block = zeros(world, 70), *const blocks = zeros(world, 70 * ranks);
    dist_fill_input(block, SEED);
    dist_gather(own == 1 ? blocks : NULL, block, 1);
    dist_fill_input(blocks, SEED);
    dist_scatter(block, own == 2 ? blocks : NULL, 2);
    struct dist_p2p_op ops[6];
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t apart = 1 + (i % 3 > 0), to = ((uint32_t)own + apart) % world->ranks;
        ops[i] = (struct dist_p2p_op){
            i < 3 ? DIST_SEND : DIST_RECV, zeros(world, 500 + i % 3),
            i < 3 ? to : ((uint32_t)own + world->ranks - apart) % world->ranks};
        if (i < 3)
            dist_fill_input(ops[i].tensor, SEED);
    }
    dist_wait(dist_batch_isend_irecv(NULL, ops, 6));
}

static void messages_are_verified(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct machine machine = usual;
        machine.mapper = i == 0 ? "leader_only" : "all_pes";
        machine.ranks = 5;
        struct world *const world = must_run(&machine, NULL, fills_and_moves);
        assert_int_equal(world->messages, 3 * 5 * 5 + 5 * 3);
        assert_int_equal(world->moved, 5 * 3 * (0 + 1 + 2 + 3 + 4) + 5 * 100 * (0 + 1 + 2 + 3 + 4) +
                                           2 * 5 * 70 + 5 * (500 + 501 + 502));
        free_world(world);
    }
}

/* ---- ends that do not agree ------------------------------------------------------------------ */

static void unequal_splits(int rank, void *arg)
{
    struct world *const world = arg;
    const uint64_t in[] = {1, rank == 1 ? 2 : 5, 3, 4}, out[] = {1, 2, 3, 4};
    static const uint64_t four_times[4][4] = {
        {1, 1, 1, 1}, {5, 2, 5, 5}, {3, 3, 3, 3}, {4, 4, 4, 4}};
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    if (world->program != NULL) {
        dist_all_to_all_v(zeros(world, 9), out, filled(world, 10, 0, 0), in);
        return;
    }
    const uint64_t sent[] = {1, 5, 3, rank == 2 ? 6 : 4};
    const uint64_t *const received = four_times[rank];
    uint64_t in_sum = 0, out_sum = 0;
    for (uint32_t i = 0; i < 4; i++) {
        in_sum += sent[i];
        out_sum += received[i];
    }
    dist_all_to_all_v(zeros(world, out_sum), received, filled(world, in_sum, 0, 0), sent);
}

static void a_send_that_nobody_receives(int rank, void *arg)
{
    struct world *const world = arg;
    const struct one_send *const send = world->program;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    if ((uint32_t)rank == send->from)
        (void)dist_isend(NULL, zeros(world, send->n), send->to);
}

static void a_wait_for_such_a_send(int rank, void *arg)
{
    struct world *const world = arg;
    const struct one_send *const send = world->program;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    if ((uint32_t)rank == send->from)
        dist_send(zeros(world, send->n), send->to);
}

static void a_receive_that_nobody_sends(int rank, void *arg)
{
    struct world *const world = arg;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    if (rank == 3)
        dist_recv(zeros(world, 7), 1);
}

static void another_size(int rank, void *arg)
{
    struct world *const world = arg;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    for (uint64_t i = 0; i < 2; i++) {
        if (rank == 0)
            dist_send(zeros(world, 5), 2);
        if (rank == 2)
            dist_recv(zeros(world, 5 + 2 * i), 0);
    }
}

static void another_type(int rank, void *arg)
{
    struct world *const world = arg;
    const struct dp_policy *const policy = &dist_facts(world->dist)->policy;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    if (rank == 0)
        dist_send(dist_tensor_zeros(5, DTYPE_F16, policy), 2);
    if (rank == 2)
        dist_recv(dist_tensor_zeros(5, DTYPE_F32, policy), 0);
}

static void another_order(int rank, void *arg)
{
    struct world *const world = arg;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    struct tensor *const in = zeros(world, 8), *const out = zeros(world, 8),
                         *const own = zeros(world, 3);
    struct dist_work *const first = rank == 1 ? dist_irecv(NULL, own, 0) : NULL;
    struct dist_work *const all = dist_all_to_all_async(NULL, out, in);
    if (rank == 0)
        dist_send(own, 1);
    if (first != NULL)
        dist_wait(first);
    dist_wait(all);
}

static void misuses(int rank, void *arg)
{
    struct world *const world = arg;
    const uint32_t which = *(const uint32_t *)world->program;
    if (which > 0)
        dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    if (rank != 0)
        return;
    struct tensor *const t = zeros(world, 8);
    const struct dist_p2p_op overlap[] = {{DIST_RECV, t, 1}, {DIST_SEND, t, 2}};
    const struct dist_p2p_op none = {DIST_SEND, NULL, 1};
    const uint64_t splits[4] = {2, 2, 2, 2};
    switch (which) {
    case 0:
        dist_send(t, 1);
        break;
    case 1:
        dist_send(t, 0);
        break;
    case 2:
        dist_recv(t, 4);
        break;
    case 3:
        (void)dist_batch_isend_irecv(NULL, overlap, 2);
        break;
    case 4:
        (void)dist_batch_isend_irecv(NULL, overlap, 0);
        break;
    case 5:
        (void)dist_batch_isend_irecv(NULL, &none, 1);
        break;
    case 6:
        dist_all_to_all_v(t, splits, t, splits);
        break;
    case 7:
        dist_all_to_all_v(zeros(world, 7), splits, t, splits);
        break;
    case 8:
        ahbm_set_device(1);
        dist_send(zeros(world, 3), 1);
        break;
    case 9:
        (void)dist_irecv(NULL, t, 1);
        (void)dist_irecv(NULL, t, 2);
        break;
    case 10:
        (void)dist_isend(NULL, t, 1);
        dist_fill_input(t, 1);
        break;
    default:
        dist_send(dist_tensor_zeros(
                      3, DTYPE_F16,
                      &(struct dp_policy){.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_pes = 1}),
                  1);
    }
}

static void ends_that_do_not_agree_are_named(void **state)
{
    (void)state;
    static const struct one_send small = {1, 3, 2}, large = {1, 3, 30000};
    static const struct machine ring = {4, "leader_only", "ring_allreduce", 32, CW_SEQUENTIAL, 1};
    must_fail(&usual, NULL, unequal_splits, CW_PROGRAM_FAILED,
              "all_to_all_v: rank 2 sends 6 elements to rank 3, which receives 4 from it");
    must_fail(&usual, &small, unequal_splits, CW_PROGRAM_FAILED,
              "output_splits[3] is 4, and 3 of the output's 9 elements are left");
    must_fail(&usual, &small, a_send_that_nobody_receives, CW_PROGRAM_FAILED,
              "messages wait forever: rank 1 sends 2 elements of int32 to rank 3, which has no "
              "receive for them");
    must_fail(&usual, &large, a_send_that_nobody_receives, CW_PROGRAM_FAILED,
              "messages wait forever: rank 1 sends 30000 elements of int32 to rank 3, which has no "
              "receive for them");
    must_fail(&usual, &large, a_wait_for_such_a_send, CW_PROGRAM_FAILED,
              "rank 1 waits forever: rank 1 sends 30000 elements of int32 to rank 3, which has no "
              "receive for them");
    must_fail(&usual, NULL, a_receive_that_nobody_sends, CW_PROGRAM_FAILED,
              "rank 3 waits forever: rank 3 receives 7 elements of int32 from rank 1, which does "
              "not send them");
    must_fail(&usual, NULL, another_size, CW_PROGRAM_FAILED,
              "rank 0 sends 5 elements to rank 2, which receives 7 from it");
    must_fail(&usual, NULL, another_type, CW_PROGRAM_FAILED,
              "rank 0 sends elements of f16 to rank 2, which receives f32 from it");
    must_fail(&usual, NULL, another_order, CW_PROGRAM_FAILED,
              "rank 0 sends to rank 1 after 1 collective calls, and rank 1 receives after 0");
    must_fail(&ring, &small, sends_once, CW_USAGE,
              "ring_allreduce moves equal blocks only; legal: pairwise_all_to_all");
}

static void misuses_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "before dist_init_process_group",
        "operation 0 is to rank 0; legal: another rank of 4",
        "operation 0 is from rank 4; legal: another rank of 4",
        "a tensor is received, and is in another operation of the batch, too",
        "no operations; legal: at least one",
        "operation 0 is none",
        "input and output are one tensor",
        "output_splits[3] is 2, and 1 of the output's 7 elements are left",
        "rank 0's tensor is on SIP 1, and the rank is SIP 0",
        "a tensor is received, and is in another operation of the batch, too",
        "the tensor is busy: the batch, send_recv, has not ended on this rank",
        "legal: one shard"};
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++)
        must_fail(&usual, &i, misuses, i == 11 ? CW_USAGE : CW_PROGRAM_FAILED, texts[i]);
}

/* ---- random programs ------------------------------------------------------------------------- */

struct random {
    uint64_t seed;
    bool batches;
};

enum { EVENTS = 14 };

/* Messages and all-to-alls in one order that all ranks know. */
struct event {
    bool all;
    uint32_t from, to;
    uint64_t n;
    struct splits splits;
};

static struct event next_event(struct cw_rng *rng, uint32_t ranks)
{
    struct event event = {.all = cw_rng_below(rng, 6) == 0,
                          .from = cw_rng_below(rng, ranks),
                          .to = cw_rng_below(rng, ranks - 1),
                          .n = 1 + cw_rng_below(rng, cw_rng_below(rng, 2) ? 30 : 3000)};
    event.to += event.to >= event.from;
    if (event.all)
        event.splits = random_splits(ranks, event.n);
    return event;
}

/* What a rank has begun and not yet waited for. */
struct begun {
    struct dist_work *work;
    struct tensor *received[EVENTS];
    uint32_t from[EVENTS], tag[EVENTS], count;
};

static void end(struct world *world, int rank, struct begun *begun)
{
    if (begun->work == NULL)
        return;
    dist_wait(begun->work);
    note_time(world, rank);
    for (uint32_t i = 0; i < begun->count; i++)
        expect_part(world, begun->received[i], 0, begun->received[i]->shard_elems, begun->from[i],
                    begun->tag[i], 0);
    *begun = (struct begun){0};
}

static void exchange_all(struct world *world, uint32_t own, uint32_t tag,
                         const struct splits *splits)
{
    uint64_t in[RANKS_MAX], out[RANKS_MAX], in_sum = 0, out_sum = 0, at = 0;
    for (uint32_t i = 0; i < world->ranks; i++) {
        in_sum += in[i] = splits->of[own][i];
        out_sum += out[i] = splits->of[i][own];
    }
    struct tensor *const input = filled(world, in_sum, own, tag), *const output =
                                                                      zeros(world, out_sum);
    dist_wait(dist_all_to_all_v_async(NULL, output, out, input, in));
    for (uint32_t s = 0; s < world->ranks; at += out[s++]) {
        uint64_t from = 0;
        for (uint32_t d = 0; d < own; d++)
            from += splits->of[s][d];
        expect_part(world, output, at, out[s], s, tag, from);
    }
}

/* Each rank begins its messages one by one, or some in a batch, and waits for its handles at
 * moments of its own, in any order. Where a thread has several pairs, there are no batches: one
 * could hold up others (RUNTIME.md, "Collectives"). */
static void random_program(int rank, void *arg)
{
    struct world *const world = arg;
    const uint32_t own = (uint32_t)rank;
    const struct random *const random = world->program;
    struct cw_rng calls = cw_rng_seeded(random->seed, 1),
                  delays = cw_rng_seeded(random->seed, 2 + (uint64_t)rank);
    struct begun begun[EVENTS] = {{0}};
    struct dist_p2p_op ops[EVENTS];
    uint32_t count = 0;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    for (uint32_t e = 0; e < EVENTS; e++) {
        const struct event event = next_event(&calls, world->ranks);
        struct begun *const mine = &begun[e];
        if (!event.all && (event.from == own || event.to == own)) {
            const bool sends = event.from == own;
            struct tensor *const tensor =
                sends ? filled(world, event.n, own, e) : zeros(world, event.n);
            ops[count++] = (struct dist_p2p_op){sends ? DIST_SEND : DIST_RECV, tensor,
                                                sends ? event.to : event.from};
            if (!sends) {
                mine->received[0] = tensor;
                mine->from[0] = event.from;
                mine->tag[0] = e;
                mine->count = 1;
            }
        }
        const bool hold = random->batches && !event.all && cw_rng_below(&delays, 3) == 0;
        if (count > 0 && (!hold || e + 1 == EVENTS)) {
            mine->work = dist_batch_isend_irecv(NULL, ops, count);
            count = 0;
            for (uint32_t k = 0; k < e; k++)
                if (begun[k].work == NULL && begun[k].count > 0) { /* held until now */
                    mine->received[mine->count] = begun[k].received[0];
                    mine->from[mine->count] = begun[k].from[0];
                    mine->tag[mine->count++] = begun[k].tag[0];
                    begun[k].count = 0;
                }
        }
        if (event.all)
            exchange_all(world, own, e, &event.splits);
        const uint32_t early = cw_rng_below(&delays, EVENTS);
        if (cw_rng_below(&delays, 2) == 0)
            end(world, rank, &begun[early]);
    }
    for (uint32_t e = EVENTS; e-- > 0;)
        end(world, rank, &begun[e]);
}

static void random_programs_do_the_same_in_every_mode(void **state)
{
    (void)state;
    static const struct machine ways[] = {{0, NULL, NULL, 0, CW_CONSERVATIVE, 2},
                                          {0, NULL, NULL, 0, CW_OPTIMISTIC, 3},
                                          {0, NULL, NULL, 0, CW_ADAPTIVE, 2},
                                          {0, NULL, NULL, 0, CW_STRESS, 2}};
    const uint64_t first = random_from_environment("MESSAGES_SEED", 1);
    const uint64_t seeds = random_from_environment("MESSAGES_SEEDS", 2);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct machine machine = usual;
        machine.ranks = 2 + seed % 4;
        machine.mapper = seed % 3 == 0 ? "all_pes" : "leader_only";
        machine.threads = seed % 2 == 0 ? 1 : 32;
        const struct random random = {seed, machine.threads > 1 && seed % 3 != 0};
        struct world *const expected = run_on(&machine, &random, random_program);
        if (expected->code != CW_OK)
            fail_msg("MESSAGES_SEED=%llu: %s", (unsigned long long)seed, expected->text);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            machine.sync = ways[i].sync;
            machine.workers = ways[i].workers;
            struct world *const got = run_on(&machine, &random, random_program);
            if (got->code != CW_OK || got->trace_hash != expected->trace_hash ||
                memcmp(got->time_ps, expected->time_ps, sizeof got->time_ps) != 0)
                fail_msg("MESSAGES_SEED=%llu, %s on %u workers: %s", (unsigned long long)seed,
                         cw_sync_name[ways[i].sync], ways[i].workers,
                         got->code != CW_OK ? got->text : "another trace, or other times");
            free_world(got);
        }
        free_world(expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_comes_to_its_place),
        cmocka_unit_test(equal_parts_take_the_time_of_equal_blocks),
        cmocka_unit_test(nothing_to_move_takes_no_time),
        cmocka_unit_test(every_root_gathers_and_scatters),
        cmocka_unit_test(a_gather_takes_the_time_of_such_an_all_to_all),
        cmocka_unit_test(rooted_calls_that_do_not_fit_are_refused),
        cmocka_unit_test(one_pair_takes_the_time_of_a_lone_send),
        cmocka_unit_test(a_batch_moves_several_tensors_at_once),
        cmocka_unit_test(a_batch_may_have_several_types),
        cmocka_unit_test(a_batch_goes_both_ways_at_once),
        cmocka_unit_test(groups_have_messages_of_their_own),
        cmocka_unit_test(messages_are_verified),
        cmocka_unit_test(ends_that_do_not_agree_are_named),
        cmocka_unit_test(misuses_are_refused),
        cmocka_unit_test(random_programs_do_the_same_in_every_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
