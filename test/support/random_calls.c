/*
 * random_calls.c: draws machines and programs of calls from a seed, and interprets the programs
 * step by step on plain arrays.
 */
#include "test/support/random_calls.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/data/input.h"

#define BIT(x)     (1u << (x))
#define REDUCTIONS (BIT(CALLS_ALL_REDUCE) | BIT(CALLS_SCALED) | BIT(CALLS_AVERAGE))
#define MOVES      (BIT(CALLS_BROADCAST) | BIT(CALLS_BARRIER))
#define EXCHANGES  (BIT(CALLS_ALL_TO_ALL) | BIT(CALLS_UNEVEN) | BIT(CALLS_SENDS))
#define ANYWHERE   (BIT(CALLS_LEADER) | BIT(CALLS_CUBES) | BIT(CALLS_PES))

static const struct calls_algorithm algorithms[] = {
    {"ring_allreduce", REDUCTIONS | MOVES | BIT(CALLS_GATHER), ANYWHERE, .lanes = true},
    {"tree_allreduce", REDUCTIONS | MOVES, BIT(CALLS_LEADER), .lanes = true},
    {"lrab_hierarchical_allreduce", BIT(CALLS_ALL_REDUCE) | MOVES | BIT(CALLS_GATHER),
     BIT(CALLS_CUBES), .together = true},
    {"lrab_pipelined_allreduce", BIT(CALLS_ALL_REDUCE) | MOVES, BIT(CALLS_CUBES), .together = true},
    {"pe_hierarchical_allreduce", BIT(CALLS_ALL_REDUCE) | BIT(CALLS_BARRIER), BIT(CALLS_PES),
     .together = true},
    {"ring_rs_ag", REDUCTIONS | MOVES, ANYWHERE, .exclusive = true, .lanes = true},
    {"direct_rs_ag", REDUCTIONS | MOVES, ANYWHERE, .exclusive = true, .lanes = true},
    {"halving_doubling", REDUCTIONS | MOVES, ANYWHERE, .exclusive = true, .lanes = true},
    {"recursive_doubling", REDUCTIONS | MOVES, ANYWHERE, .exclusive = true, .lanes = true},
    {"double_binary_tree", REDUCTIONS | MOVES, ANYWHERE, .exclusive = true, .lanes = true},
    {"hierarchical", BIT(CALLS_ALL_REDUCE), BIT(CALLS_CUBES), .together = true, .exclusive = true},
    {"auto_all_reduce", REDUCTIONS | MOVES, ANYWHERE, .exclusive = true, .lanes = true},
    {"rings_reduce_scatter", BIT(CALLS_SCATTER) | MOVES, ANYWHERE, .exclusive = true,
     .lanes = true},
    {"direct_reduce_scatter", BIT(CALLS_SCATTER) | MOVES, ANYWHERE, .exclusive = true,
     .lanes = true},
    {"halving_reduce_scatter", BIT(CALLS_SCATTER) | MOVES, ANYWHERE, .exclusive = true,
     .lanes = true, .powers = true},
    {"rings_all_gather", BIT(CALLS_GATHER) | MOVES, ANYWHERE, .exclusive = true, .lanes = true},
    {"direct_all_gather", BIT(CALLS_GATHER) | MOVES, ANYWHERE, .exclusive = true, .lanes = true},
    {"doubling_all_gather", BIT(CALLS_GATHER) | MOVES, ANYWHERE, .exclusive = true, .lanes = true,
     .powers = true},
    {"pairwise_all_to_all", EXCHANGES, ANYWHERE, .exclusive = true, .lanes = true},
    {"pairwise_all_to_all", EXCHANGES, ANYWHERE, .exclusive = true, .lanes = true},
    {"pairwise_all_to_all", EXCHANGES, ANYWHERE, .exclusive = true, .lanes = true},
    {"auto_all_to_all", EXCHANGES, BIT(CALLS_LEADER), .exclusive = true}};

static uint32_t below(struct cw_rng *rng, uint32_t n) { return cw_rng_below(rng, n); }

static const char *one_of(struct cw_rng *rng, const char *const *choices)
{
    uint32_t count = 0;
    while (choices[count] != NULL)
        count++;
    return choices[below(rng, count)];
}
#define ONE_OF(rng, ...) one_of(rng, (const char *const[]){__VA_ARGS__, NULL})

__attribute__((format(printf, 2, 3))) static void set(struct calls_machine *machine,
                                                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(machine->set[machine->sets++], CALLS_SET_BYTES, format, args);
    va_end(args);
}

/* ---- machines -------------------------------------------------------------------------------- */

static void draw_parts(struct calls_machine *machine, struct cw_rng *rng)
{
    static const uint32_t cubes[][2] = {{1, 1}, {1, 1}, {2, 1}, {2, 2}};
    const uint32_t shape = below(rng, 4);
    machine->ranks = below(rng, 8) == 0 ? 9 + below(rng, 2) : 2 + below(rng, 7);
    machine->cubes = cubes[shape][0] * cubes[shape][1];
    machine->pes = 4 * (1 + below(rng, 2));
    set(machine, "system.sips.count=%u", machine->ranks);
    set(machine, "system.sips.topology=%s",
        ONE_OF(rng, "ring_1d", "torus_2d", "mesh_2d_no_wrap", "switch", "fully_connected"));
    set(machine, "sip.cube_mesh.w=%u", cubes[shape][0]);
    set(machine, "sip.cube_mesh.h=%u", cubes[shape][1]);
    set(machine, "cube.pe_layout.pe_per_corner=%u", machine->pes / 4);
    set(machine, "fabric.contention=%s", ONE_OF(rng, "none", "message", "message", "chunk"));
}

static void draw_queues(struct calls_machine *machine, struct cw_rng *rng)
{
    static const uint32_t slots[] = {1, 2, 3, 8, 8}, bytes[] = {64, 256, 256, 1024, 4096};
    set(machine, "defaults.n_slots=%u", slots[below(rng, 5)]);
    set(machine, "defaults.slot_size=%u", bytes[below(rng, 5)]);
    set(machine, "defaults.credit_return_mode=%s", ONE_OF(rng, "fast_path", "fabric"));
    set(machine, "defaults.backpressure=%s", ONE_OF(rng, "sleep", "sleep", "poll"));
    set(machine, "defaults.recv_fairness=%s", ONE_OF(rng, "weak", "strict"));
    set(machine, "defaults.vc=%s", ONE_OF(rng, "dual", "dual", "single"));
    set(machine, "defaults.recv_blocks_on_credit=%s", ONE_OF(rng, "true", "true", "false"));
    machine->launches = below(rng, 9);
}

/* Ranks in an order of their own; among some, those side by side or apart. */
static void draw_ranks(struct calls_group *group, uint32_t world, struct cw_rng *rng)
{
    uint32_t all[CALLS_RANKS];
    const uint32_t way = below(rng, 6);
    for (uint32_t i = 0; i < world; i++)
        all[i] = i;
    for (uint32_t i = world; way >= 3 && i-- > 1;) {
        const uint32_t k = below(rng, i + 1), kept = all[i];
        all[i] = all[k];
        all[k] = kept;
    }
    group->count = below(rng, 10) == 0 ? 1 : 2 + below(rng, world - 1);
    const uint32_t first = below(rng, world - group->count + 1);
    for (uint32_t i = 0; i < group->count; i++)
        group->ranks[i] = all[first + i];
}

/* Whole cubes, or PEs of one; of an all-to-all on leaders as many as it has threads. */
static void draw_lanes(struct calls_machine *machine, struct calls_group *group, struct cw_rng *rng)
{
    if (machine->cubes > 1 && below(rng, 2) == 0) { /* whole cubes */
        const uint32_t cubes = 1 + below(rng, machine->cubes - 1);
        group->first_pe = machine->pes * below(rng, machine->cubes - cubes + 1);
        group->pes = machine->pes * cubes;
    } else {
        group->pes = 2 + below(rng, machine->pes - 1); /* schedules may have two threads */
        group->first_pe =
            machine->pes * below(rng, machine->cubes) + below(rng, machine->pes - group->pes + 1);
    }
    if (group->threads > group->pes)
        group->threads = 1;
}

static void draw_algorithm(struct calls_group *group, struct cw_rng *rng)
{
    do
        group->algorithm = &algorithms[below(rng, sizeof algorithms / sizeof *algorithms)];
    while (group->algorithm->powers && (group->count & (group->count - 1)) != 0);
    do
        group->layout = (enum calls_layout)below(rng, 3);
    while ((group->algorithm->layouts & BIT(group->layout)) == 0);
    static const uint32_t threads[] = {1, 2, 32};
    group->threads = threads[below(rng, 3)];
}

static bool has_same_ranks(const struct calls_group *a, const struct calls_group *b)
{
    return a->count == b->count && memcmp(a->ranks, b->ranks, a->count * sizeof *a->ranks) == 0;
}

/* A late group is one that no other has the ranks of. */
static bool is_late(const struct calls_machine *machine, uint32_t g)
{
    const struct calls_group *const group = machine->group, *const world = &group[0];
    if (world->algorithm != &algorithms[0] && world->algorithm != &algorithms[1])
        return false;
    for (uint32_t i = 0; i < g; i++)
        if (has_same_ranks(&group[i], &group[g]))
            return false;
    return true;
}

static void draw_groups(struct calls_machine *machine, struct cw_rng *rng)
{
    struct calls_group *const group = machine->group;
    bool late = false;
    snprintf(group[0].name, sizeof group[0].name, "world");
    group[0].count = machine->ranks;
    draw_algorithm(&group[0], rng);
    if (below(rng, 3) == 0) { /* on which late groups run */
        group[0].algorithm = &algorithms[below(rng, 2)];
        group[0].layout = CALLS_LEADER;
    }
    for (uint32_t i = 0; i < machine->ranks; i++)
        group[0].ranks[i] = i;
    machine->groups = 1 + below(rng, CALLS_GROUPS);
    for (uint32_t g = 1; g < machine->groups; g++) {
        draw_ranks(&group[g], machine->ranks, rng);
        draw_algorithm(&group[g], rng);
        snprintf(group[g].name, sizeof group[g].name, "g%u", g);
        if (g + 2 >= machine->groups && below(rng, 3) == 0 && is_late(machine, g))
            late = true;
        group[g].late = late && is_late(machine, g); /* the last ones are late */
        if (late && !group[g].late) {
            machine->groups = g;
            break;
        }
        if (group[g].late) {
            group[g].algorithm = group[0].algorithm;
            group[g].layout = group[0].layout;
        } else if (group[g].algorithm->lanes && below(rng, 4) == 0)
            draw_lanes(machine, &group[g], rng);
    }
    set(machine, "defaults.buffer_kind=%s",
        late ? "tcm" : ONE_OF(rng, "tcm", "tcm", "tcm", "hbm", "sram"));
}

void calls_machine_draw(struct calls_machine *machine, uint64_t seed)
{
    static const enum cw_sync syncs[] = {CW_CONSERVATIVE, CW_OPTIMISTIC, CW_ADAPTIVE, CW_STRESS,
                                         CW_STRESS};
    struct cw_rng rng = cw_rng_seeded(seed, 1);
    memset(machine, 0, sizeof *machine);
    machine->seed = seed;
    draw_parts(machine, &rng);
    draw_queues(machine, &rng);
    draw_groups(machine, &rng);
    machine->sync = syncs[below(&rng, 5)];
    machine->workers = 1 + below(&rng, 8);
    machine->stress_rate_p32 = UINT64_C(1) << (25 + below(&rng, 6));
    machine->stress_seed = seed;
    machine->logs = below(&rng, 8) == 0;
    machine->queues = below(&rng, 2) == 0 ? 1 : 2 + below(&rng, 3);
    for (uint32_t g = 1; g < machine->groups; g++)
        if (!machine->group[g].late)
            machine->group[g].queue = below(&rng, machine->queues);
}

uint32_t calls_shards(const struct calls_machine *machine, const struct calls_group *group)
{
    const uint32_t all = machine->cubes * machine->pes, pes = group->pes == 0 ? all : group->pes;
    const uint32_t cubes = pes < machine->pes ? 1 : pes / machine->pes;
    return group->layout == CALLS_LEADER ? 1 : group->layout == CALLS_CUBES ? cubes : pes;
}

/* ---- programs -------------------------------------------------------------------------------- */

uint32_t calls_elements(const struct calls_program *program, uint32_t tensor)
{
    const struct calls_tensor *const t = &program->tensor[tensor];
    return program->pool[t->pool].n * t->times;
}

uint32_t calls_values(const struct calls_program *program, uint32_t tensor)
{
    return calls_elements(program, tensor) * program->pool[program->tensor[tensor].pool].shards;
}

uint32_t calls_rank_in(const struct calls_group *group, uint32_t rank)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (group->ranks[i] == rank)
            return i;
    return CALLS_NONE;
}

int32_t calls_moved(uint32_t step, uint32_t from, uint32_t tag, uint32_t shard, uint32_t element)
{
    return (int32_t)((((step * 16 + from) * 16 + tag) * 32 + shard) << 16 ^
                     element * UINT32_C(0x9e3779b1));
}

bool calls_is_numbered(enum calls_kind kind)
{
    return kind != CALLS_SENDS && kind != CALLS_COMPUTE && kind != CALLS_NEW_GROUP;
}

static int32_t *new_values(const struct calls_program *program, uint32_t tensor)
{
    int32_t *const values = calloc(calls_values(program, tensor), sizeof *values);
    if (values == NULL)
        abort();
    return values;
}

/* Whole numbers up to this one are exact. */
static int64_t whole_max(enum dtype dtype)
{
    return dtype == DTYPE_INT32 ? INT64_MAX : (int64_t)dtype_whole_max(dtype);
}

static int32_t *draw_values(const struct calls_program *program, uint32_t tensor,
                            struct cw_rng *rng)
{
    const int64_t max = whole_max(program->pool[program->tensor[tensor].pool].dtype);
    const int32_t side = max < 4096 ? 10 : 1000;
    int32_t *const values = new_values(program, tensor);
    const uint32_t count = calls_values(program, tensor);
    for (uint32_t i = 0; i < count; i++)
        values[i] = (int32_t)below(rng, 2 * (uint32_t)side + 1) - side;
    return values;
}

const int32_t *calls_held(const struct calls_program *program, uint32_t step, bool after,
                          uint32_t rank, uint32_t tensor)
{
    if (after && step < program->steps && program->step[step].writes[rank] == tensor)
        return program->step[step].written[rank];
    while (step-- > 0) {
        const struct calls_step *const s = &program->step[step];
        if (s->result[rank] != NULL && s->out == tensor)
            return s->result[rank];
        if (s->writes[rank] == tensor)
            return s->written[rank];
    }
    return program->initial[tensor][rank];
}

static bool is_same_pool(const struct calls_group *a, const struct calls_group *b)
{
    return a->layout == b->layout && a->first_pe == b->first_pe && a->pes == b->pes;
}

static uint32_t add_tensor(struct calls_program *program, uint32_t pool, uint32_t times)
{
    program->tensor[program->tensors] = (struct calls_tensor){pool, times};
    return program->tensors++;
}

/* Three small tensors for each layout, and two large ones for each size of a group there. */
static void draw_tensors(struct calls_program *program, struct calls_machine *machine,
                         struct cw_rng *rng)
{
    static const enum dtype dtypes[] = {DTYPE_INT32, DTYPE_INT32, DTYPE_F32, DTYPE_F16};
    for (uint32_t g = 0; g < machine->groups; g++) {
        struct calls_group *const group = &machine->group[g];
        group->pool = 0;
        while (group->pool < program->pools && !is_same_pool(program->pool[group->pool].of, group))
            group->pool++;
        if (group->pool == program->pools) {
            const uint32_t n = below(rng, 5) == 0 ? 300 : below(rng, 3) == 0 ? 3 : 40;
            program->pool[program->pools++] =
                (struct calls_pool){.of = group,
                                    .dtype = dtypes[below(rng, 4)],
                                    .shards = calls_shards(machine, group),
                                    .n = 1 + below(rng, n)};
            for (uint32_t i = 0; i < 3; i++)
                (void)add_tensor(program, group->pool, 1);
        }
        uint32_t large = 0;
        for (uint32_t t = 0; t < program->tensors; t++)
            large +=
                program->tensor[t].pool == group->pool && program->tensor[t].times == group->count;
        for (; large < 2; large++)
            (void)add_tensor(program, group->pool, group->count);
    }
    for (uint32_t t = 0; t < program->tensors; t++)
        for (uint32_t rank = 0; rank < program->machine->ranks; rank++)
            program->initial[t][rank] = draw_values(program, t, rng);
}

/* A tensor of a pool, of `times` n elements, but for one. */
static uint32_t draw_tensor(const struct calls_program *program, uint32_t pool, uint32_t times,
                            uint32_t other, struct cw_rng *rng)
{
    uint32_t found[CALLS_TENSORS], count = 0;
    for (uint32_t t = 0; t < program->tensors; t++)
        if (program->tensor[t].pool == pool && program->tensor[t].times == times && t != other)
            found[count++] = t;
    return found[below(rng, count)];
}

/* ---- the interpreter ------------------------------------------------------------------------- */

static uint32_t reduced(enum redop op, uint32_t a, uint32_t b)
{
    const int32_t x = (int32_t)a, y = (int32_t)b;
    return op == REDOP_MAX   ? (uint32_t)(x > y ? x : y)
           : op == REDOP_MIN ? (uint32_t)(x < y ? x : y)
                             : a + b;
}

/* Element i of shard `shard` of `in`, over all ranks of the group. *sum: of absolute values. */
static int32_t reduction(const struct calls_program *program, uint32_t s, uint32_t shard,
                         uint32_t i, int64_t *sum)
{
    const struct calls_step *const step = &program->step[s];
    const struct calls_group *const group = &program->machine->group[step->group];
    const uint32_t shards = program->pool[group->pool].shards,
                   n = calls_elements(program, step->in);
    const uint32_t first = group->algorithm->together ? 0 : shard,
                   end = group->algorithm->together ? shards : shard + 1;
    uint32_t total = 0;
    bool any = false;
    *sum = 0;
    for (uint32_t m = 0; m < group->count; m++) {
        const int32_t *const held = calls_held(program, s, true, group->ranks[m], step->in);
        for (uint32_t k = first; k < end; k++) {
            const uint32_t value =
                (uint32_t)held[k * n + i] * (step->kind == CALLS_SCALED ? group->ranks[m] + 2 : 1);
            *sum += llabs((int32_t)value);
            total = any ? reduced(step->op, total, value) : value;
            any = true;
        }
    }
    return step->kind == CALLS_AVERAGE ? (int32_t)total / (int32_t)group->count : (int32_t)total;
}

/* Element i of a shard of the m-th rank's result. */
static int32_t result_of(const struct calls_program *program, uint32_t s, uint32_t m,
                         uint32_t shard, uint32_t i, int64_t *sum)
{
    const struct calls_step *const step = &program->step[s];
    const struct calls_group *const group = &program->machine->group[step->group];
    const uint32_t n = program->pool[group->pool].n, in = calls_elements(program, step->in);
    uint32_t from = step->root, at = i;
    switch (step->kind) {
    case CALLS_BROADCAST:
        break;
    case CALLS_GATHER:
        from = i / n;
        at = i % n;
        break;
    case CALLS_ALL_TO_ALL:
        from = i / n;
        at = m * n + i % n;
        break;
    default:
        return reduction(program, s, shard, step->kind == CALLS_SCATTER ? m * n + i : i, sum);
    }
    return calls_held(program, s, true, group->ranks[from], step->in)[shard * in + at];
}

/* False: a sum is not exact, and has no result. */
static bool interpret(struct calls_program *program, uint32_t s)
{
    struct calls_step *const step = &program->step[s];
    const struct calls_group *const group = &program->machine->group[step->group];
    const struct calls_pool *const pool = &program->pool[group->pool];
    const uint32_t n = calls_elements(program, step->out);
    int32_t *result[CALLS_RANKS] = {NULL};
    bool exact = true;
    for (uint32_t m = 0; m < group->count; m++) {
        result[m] = new_values(program, step->out);
        for (uint32_t shard = 0; shard < pool->shards; shard++)
            for (uint32_t i = 0; i < n; i++) {
                int64_t sum = 0;
                result[m][shard * n + i] = result_of(program, s, m, shard, i, &sum);
                exact &=
                    step->op == REDOP_MAX || step->op == REDOP_MIN || sum <= whole_max(pool->dtype);
            }
    }
    for (uint32_t m = 0; m < group->count; m++)
        if (exact)
            step->result[group->ranks[m]] = result[m];
        else
            free(result[m]);
    return exact;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static struct compute_request draw_request(const struct calls_machine *machine, struct cw_rng *rng)
{
    static const enum dtype dtypes[] = {DTYPE_F16, DTYPE_BF16, DTYPE_FP8_E4M3, DTYPE_FP8_E5M2};
    const uint32_t all = machine->cubes * machine->pes, first = below(rng, all);
    struct compute_request request = {.kind = (enum compute_kind)below(rng, 3),
                                      .first = first,
                                      .count = below(rng, all - first + 1)};
    if (request.kind == COMPUTE_PRODUCT) {
        request.dtype = dtypes[below(rng, 4)];
        request.m = 1 + below(rng, 40);
        request.n = 1 + below(rng, 40);
        request.k = 1 + below(rng, 60);
    } else if (request.kind == COMPUTE_ROOFLINE) {
        request.flops = below(rng, 100000);
        request.bytes = below(rng, 20000);
        request.block = below(rng, 2) == 0 ? TL_BLOCK_GEMM : TL_BLOCK_MATH;
    } else
        request.time_ps = below(rng, 3000000);
    return request;
}

static void draw_messages(struct calls_step *step, uint32_t ranks, struct cw_rng *rng)
{
    if (step->kind == CALLS_UNEVEN) {
        const uint32_t most = below(rng, 4) == 0 ? 400 : 40;
        const bool sparse = below(rng, 3) == 0;
        for (uint32_t from = 0; from < ranks; from++)
            for (uint32_t to = 0; to < ranks; to++)
                if (below(rng, sparse ? 8 : 2) == 0)
                    step->splits[from][to] = (uint16_t)below(rng, most);
        return;
    }
    const uint32_t count = 1 + below(rng, CALLS_MESSAGES);
    for (uint32_t i = 0; i < count; i++) {
        struct calls_message *const message = &step->message[step->messages++];
        message->from = below(rng, ranks);
        message->to = below(rng, ranks - 1);
        message->to += message->to >= message->from;
        message->n = 1 + below(rng, below(rng, 4) == 0 ? 600 : 40);
    }
}

/* Integers alone are divided, and all shards of a rank are added by sum, max and min alone. */
static bool is_possible(const struct calls_program *program, const struct calls_step *step)
{
    const struct calls_group *const group = &program->machine->group[step->group];
    if ((group->algorithm->kinds & BIT(step->kind)) == 0)
        return false;
    if (step->kind == CALLS_SENDS && group->count < 2)
        return false;
    /* These take the machine's queues between SIPs, which are those of the first PE. */
    const bool by_leader = (step->kind == CALLS_BROADCAST && group->algorithm->exclusive) ||
                           (step->kind != CALLS_ALL_REDUCE && step->kind != CALLS_BARRIER &&
                            group->algorithm->together);
    if (by_leader && (program->pool[group->pool].shards > 1 || group->first_pe > 0))
        return false;
    return step->kind != CALLS_AVERAGE || program->pool[group->pool].dtype == DTYPE_INT32;
}

static void draw_call(struct calls_program *program, struct calls_step *step, uint32_t groups,
                      struct cw_rng *rng)
{
    static const enum redop ops[] = {REDOP_SUM, REDOP_SUM, REDOP_MAX, REDOP_MIN};
    step->group = below(rng, groups);
    const struct calls_group *const group = &program->machine->group[step->group];
    do
        step->kind = (enum calls_kind)below(rng, CALLS_COMPUTE);
    while (!is_possible(program, step));
    const bool reduces = step->kind == CALLS_ALL_REDUCE || step->kind == CALLS_SCATTER;
    step->op = reduces ? ops[below(rng, 4)] : REDOP_SUM;
    step->root = below(rng, group->count);
    const uint32_t n = group->count;
    if (step->kind == CALLS_UNEVEN || step->kind == CALLS_SENDS)
        draw_messages(step, n, rng);
    else if (step->kind == CALLS_GATHER || step->kind == CALLS_SCATTER ||
             step->kind == CALLS_ALL_TO_ALL) {
        step->in =
            draw_tensor(program, group->pool, step->kind == CALLS_GATHER ? 1 : n, CALLS_NONE, rng);
        step->out =
            draw_tensor(program, group->pool, step->kind == CALLS_SCATTER ? 1 : n, step->in, rng);
    } else
        step->in = step->out = draw_tensor(program, group->pool, 1, CALLS_NONE, rng);
}

/* Where the stream's values are whole numbers. */
static void draw_fill(const struct calls_program *program, struct calls_step *step, uint32_t rank,
                      struct cw_rng *rng)
{
    const uint32_t tensor = step->writes[rank], n = calls_elements(program, tensor);
    const struct calls_pool *const pool = &program->pool[program->tensor[tensor].pool];
    if (pool->dtype != DTYPE_INT32)
        return;
    step->fill[rank] = 1 + below(rng, 1000);
    for (uint32_t shard = 0; shard < pool->shards; shard++)
        input_fill(DTYPE_INT32, step->fill[rank], input_first(rank, pool->shards, shard, n),
                   step->written[rank] + shard * n, n);
}

static void draw_ranks_own(struct calls_program *program, struct calls_step *step,
                           struct cw_rng *rng)
{
    for (uint32_t rank = 0; rank < program->machine->ranks; rank++) {
        const uint32_t way = below(rng, 6);
        step->waits[rank] = way == 0 ? 1 : way == 1 ? (uint8_t)(2 + below(rng, CALLS_STEPS)) : 0;
        step->pauses_ps[rank] = below(rng, 8) == 0 ? 1 + below(rng, 4000000) : 0;
        step->writes[rank] = CALLS_NONE;
        if (below(rng, 4) == 0) {
            const uint32_t tensor = below(rng, program->tensors);
            step->writes[rank] = (uint8_t)tensor;
            step->written[rank] = draw_values(program, tensor, rng);
            if (below(rng, 2) == 0)
                draw_fill(program, step, rank, rng);
        }
    }
}

void calls_program_draw(struct calls_program *program, struct calls_machine *machine)
{
    struct cw_rng rng = cw_rng_seeded(machine->seed, 2);
    memset(program, 0, sizeof *program);
    program->machine = machine;
    program->seed = machine->seed;
    draw_tensors(program, machine, &rng);
    program->steps = 4 + below(&rng, CALLS_STEPS - 3);
    /* The log has fills that nobody has read, and so nobody has carried out. */
    program->leaves = !machine->logs && below(&rng, 6) == 0;
    uint32_t groups = 0; /* that there are by now */
    while (groups < machine->groups && !machine->group[groups].late)
        groups++;
    for (uint32_t s = 0; s < program->steps; s++) {
        struct calls_step *const step = &program->step[s];
        draw_ranks_own(program, step, &rng);
        if (groups < machine->groups && below(&rng, 3) == 0) {
            step->kind = CALLS_NEW_GROUP;
            step->group = groups++;
            continue;
        }
        if (below(&rng, 6) == 0) {
            step->kind = CALLS_COMPUTE;
            step->rank = below(&rng, machine->ranks);
            step->compute = draw_request(machine, &rng);
            step->compute.queue = s % machine->queues;
            step->blocks = below(&rng, 6) == 0;
            continue;
        }
        draw_call(program, step, groups, &rng);
        step->blocks = below(&rng, 6) == 0;
        if (step->kind < CALLS_UNEVEN && !interpret(program, s)) {
            if (step->kind != CALLS_SCATTER)
                step->kind = CALLS_ALL_REDUCE;
            step->op = REDOP_MAX;
            (void)interpret(program, s);
        }
        if (calls_is_numbered(step->kind))
            program->step_of[step->group][program->calls[step->group]++] = s;
    }
}

void calls_program_free(struct calls_program *program)
{
    for (uint32_t rank = 0; rank < CALLS_RANKS; rank++) {
        for (uint32_t t = 0; t < CALLS_TENSORS; t++)
            free(program->initial[t][rank]);
        for (uint32_t s = 0; s < CALLS_STEPS; s++) {
            free(program->step[s].written[rank]);
            free(program->step[s].result[rank]);
        }
    }
}

void calls_print(FILE *to, const struct calls_machine *machine, const struct calls_program *program)
{
    static const char *const kinds[CALLS_KINDS] = {
        "all_reduce", "scaled",       "average", "broadcast", "all_gather", "reduce_scatter",
        "all_to_all", "all_to_all_v", "sends",   "barrier",   "compute",    "new_group"};
    static const char *const layouts[] = {"leader", "cubes", "pes"};
    for (uint32_t i = 0; i < machine->sets; i++)
        fprintf(to, "  %s\n", machine->set[i]);
    fprintf(to, "  launches %u, queues %u; %s, %u workers\n", machine->launches, machine->queues,
            cw_sync_name[machine->sync], machine->workers);
    for (uint32_t g = 0; g < machine->groups; g++) {
        const struct calls_group *const group = &machine->group[g];
        fprintf(to, "  %s%s: %s, %s, lanes %u+%u, threads %u, queue %u, ranks", group->name,
                group->late ? " (late)" : "", group->algorithm->name, layouts[group->layout],
                group->first_pe, group->pes, group->threads, group->queue);
        for (uint32_t i = 0; i < group->count; i++)
            fprintf(to, " %u", group->ranks[i]);
        fprintf(to, "\n");
    }
    for (uint32_t s = 0; s < program->steps; s++) {
        const struct calls_step *const step = &program->step[s];
        fprintf(to, "  step %u: %s of %s, tensors %u, %u, root %u%s, rank %u\n", s,
                kinds[step->kind], machine->group[step->group].name, step->in, step->out,
                step->root, step->blocks ? ", blocks" : "", step->rank);
    }
}
