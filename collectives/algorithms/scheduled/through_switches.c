/*
 * through_switches.c: collectives through switches that reduce and multicast (ALGORITHMS.md): each
 * rank gives its part of a message to a tree of switches, and receives it from there. The tensor is
 * shared among the trees, one thread for each.
 *
 * A message goes from all ranks to all, from all to one, or from one to the others; `struct
 * message` says which. All ranks send their parts of a tree's messages in one order, and receive a
 * message after they have sent their part of the next one, so that messages overlap.
 */
#include "collectives/algorithms/scheduled/scheduled.h"
#include "collectives/schedule/schedule_builder.h"
#include "hw/topology/trees.h"

#include <stdlib.h>

enum {
    CHUNKS_MAX = 256, /* of a block, for each tree */
    LAG_MAX = 5
};

/* A chunk of a block of all ranks; `to` or `from` a rank, or of all. */
#define ALL_RANKS UINT32_MAX
struct message {
    uint32_t chunk; /* of the block, for each tree */
    uint32_t block; /* of the larger buffer, where it has several */
    uint32_t from, to;
    bool to_others; /* not to `from` */
    bool sums;      /* of an all-reduce by pulls: `from` has received it before */
};

/* The plan of a thread. */
struct plan {
    const struct ccl_call *call;
    uint32_t ranks, chunks; /* chunks of a block, for each tree */
    uint32_t lag;           /* a message is received when so many later ones have been sent */
    enum hw_reduce_mode mode;
};

static uint32_t message_count(const struct plan *p)
{
    switch (p->call->collective) {
    case CCL_ALL_REDUCE:
        return p->mode == HW_REDUCE_PULL ? 2 * p->chunks : p->chunks;
    case CCL_BROADCAST:
        return p->chunks;
    default:
        return p->chunks * p->ranks;
    }
}

/* With pulls a chunk is first added up for one rank, which then sends it to all. The rank must have
 * received the sum by then: so the first `lag` + 1 chunks are added up, then each chunk's second
 * message comes before another chunk's first one. */
static struct message pulled_message(const struct plan *p, uint32_t i)
{
    const uint32_t turns = 2 * (p->chunks - 1 - p->lag), k = i - p->lag - 1; /* wraps below it */
    const bool in_turn = i > p->lag && k < turns;
    const bool first = i <= p->lag || (in_turn && k % 2 == 1);
    const uint32_t chunk = i <= p->lag ? i
                           : !in_turn  ? i - p->chunks
                           : first     ? p->lag + 1 + k / 2
                                       : k / 2;
    const uint32_t owner = chunk % p->ranks;
    return first ? (struct message){.chunk = chunk, .from = ALL_RANKS, .to = owner}
                 : (struct message){.chunk = chunk, .from = owner, .to = ALL_RANKS, .sums = true};
}

static struct message message_at(const struct plan *p, uint32_t i)
{
    const uint32_t chunk = i / p->ranks, block = i % p->ranks;
    switch (p->call->collective) {
    case CCL_ALL_REDUCE:
        return p->mode == HW_REDUCE_PULL
                   ? pulled_message(p, i)
                   : (struct message){.chunk = i, .from = ALL_RANKS, .to = ALL_RANKS};
    case CCL_BROADCAST:
        return (struct message){.chunk = i, .from = 0, .to = ALL_RANKS, .to_others = true};
    case CCL_REDUCE_SCATTER:
        return (struct message){.chunk = chunk, .block = block, .from = ALL_RANKS, .to = block};
    default: /* all-gather: a switch that is read sends to all that it is written to */
        return (struct message){.chunk = chunk,
                                .block = block,
                                .from = block,
                                .to = ALL_RANKS,
                                .to_others = p->mode == HW_REDUCE_PUSH};
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* A thread of a rank, and its tree. */
struct place {
    const struct plan *plan;
    struct schedule_builder *b;
    uint32_t rank, thread, tree, trees;
};

static bool gives(const struct place *at, const struct message *m)
{
    return m->from == ALL_RANKS || m->from == at->rank;
}

static bool wants(const struct place *at, const struct message *m)
{
    return (m->to == ALL_RANKS || m->to == at->rank) && !(m->to_others && m->from == at->rank);
}

/* The chunk of a buffer: of a block, chunks of all trees follow each other, tree by tree. */
static struct schedule_chunks chunk_in(const struct place *at, const struct message *m,
                                       enum schedule_buffer buffer)
{
    const enum ccl_collective collective = at->plan->call->collective;
    const bool many = (buffer == SCHEDULE_INPUT && collective == CCL_REDUCE_SCATTER) ||
                      (buffer == SCHEDULE_OUTPUT && collective == CCL_ALL_GATHER);
    const uint32_t block = many ? m->block : 0;
    return (struct schedule_chunks){.at = (block * at->trees + at->tree) * at->plan->chunks +
                                          m->chunk,
                                    .buffer = (uint8_t)buffer};
}

static void add_give(const struct place *at, const struct message *m)
{
    struct schedule_step step = {.op = SCHEDULE_SEND,
                                 .channel = (uint8_t)at->tree,
                                 .count = 1,
                                 .src = chunk_in(at, m, m->sums ? SCHEDULE_OUTPUT : SCHEDULE_INPUT),
                                 .send_to = at->rank};
    step.src.none = !gives(at, m);
    step.dst.none = !wants(at, m);
    if (step.src.none)
        step.src =
            (struct schedule_chunks){chunk_in(at, m, SCHEDULE_INPUT).at, SCHEDULE_INPUT, true, {0}};
    (void)schedule_add(at->b, at->rank, at->thread, step);
}

static void add_take(const struct place *at, const struct message *m)
{
    struct schedule_step step = {.op = SCHEDULE_RECV,
                                 .channel = (uint8_t)at->tree,
                                 .count = 1,
                                 .dst = chunk_in(at, m, SCHEDULE_OUTPUT),
                                 .recv_from = at->rank};
    step.dst.none = !wants(at, m);
    (void)schedule_add(at->b, at->rank, at->thread, step);
}

/* What the rank has already, and nobody sends it. */
static void keep_own(const struct place *at)
{
    const struct message own = {.block = at->rank};
    const enum ccl_collective collective = at->plan->call->collective;
    const bool keeps = (collective == CCL_ALL_GATHER && at->plan->mode == HW_REDUCE_PUSH) ||
                       (collective == CCL_BROADCAST && at->rank == 0);
    if (!keeps)
        return;
    (void)schedule_add(at->b, at->rank, at->thread,
                       (struct schedule_step){.op = SCHEDULE_COPY,
                                              .count = at->plan->chunks,
                                              .src = chunk_in(at, &own, SCHEDULE_INPUT),
                                              .dst = chunk_in(at, &own, SCHEDULE_OUTPUT)});
}

static void add_thread(struct place *at, uint32_t part)
{
    const uint32_t count = message_count(at->plan);
    at->thread = schedule_thread(at->b, at->rank, part);
    for (uint32_t i = 0; i < count; i++) {
        const struct message m = message_at(at->plan, i);
        add_give(at, &m);
        if (i >= at->plan->lag) {
            const struct message before = message_at(at->plan, i - at->plan->lag);
            add_take(at, &before);
        }
    }
    for (uint32_t i = count - at->plan->lag; i < count; i++) {
        const struct message left = message_at(at->plan, i);
        add_take(at, &left);
    }
    keep_own(at);
}

/* ---- the schedule ---------------------------------------------------------------------------- */

/* Threads: one for each tree, on a PE of its own. */
static uint32_t threads_of(const struct ccl_call *call, uint32_t trees)
{
    const uint32_t lanes = scheduled_lanes(call);
    const uint32_t pes = lanes > 1 ? lanes : hw_cubes(call->hw) * hw_pes(call->hw);
    return trees < pes ? trees : pes;
}

/* Chunks are no smaller than a tile, and there are so many that the messages overlap. */
static uint32_t chunks_for(const struct ccl_call *call, uint32_t threads, enum hw_reduce_mode mode)
{
    const uint64_t blocks = call->collective == CCL_REDUCE_SCATTER ? call->world_size : 1;
    const uint64_t bytes = call->n_elem * tl_itemsize(call->dtype) / blocks / threads;
    const uint64_t most = bytes / lp_tile_bytes(&call->ccl->queues);
    const uint64_t least =
        call->collective == CCL_ALL_REDUCE && mode == HW_REDUCE_PULL ? call->world_size : 1;
    const uint64_t chunks = most < CHUNKS_MAX ? most : CHUNKS_MAX;
    return (uint32_t)(chunks > least ? chunks / least * least : least);
}

/* So many messages overlap, as far as rings have slots; with pulls, as far as there are chunks. */
static uint32_t lag_of(const struct plan *p)
{
    const bool pulls = p->call->collective == CCL_ALL_REDUCE && p->mode == HW_REDUCE_PULL;
    const uint32_t slots = p->call->ccl->queues.n_slots,
                   most = pulls ? p->chunks : message_count(p);
    const uint32_t lag = slots - 1 < LAG_MAX ? slots - 1 : LAG_MAX;
    return lag < most ? lag : most - 1;
}

static bool take_sums(struct schedule *s, const struct hw_trees *trees, uint32_t count)
{
    const size_t each = 2 * (size_t)trees->sips - 1;
    s->sums = malloc(count * each * sizeof *s->sums);
    for (uint32_t i = 0; s->sums != NULL && i < count; i++)
        hw_tree_sums(trees, i, s->sums + i * each);
    s->trees = s->sums != NULL ? count : 0;
    return s->sums != NULL;
}

static struct schedule *build(const struct ccl_call *call, const char *name,
                              const struct hw_trees *trees, struct cw_error *error)
{
    const uint32_t threads = threads_of(call, trees->count), ranks = call->world_size;
    const enum hw_reduce_mode mode =
        hw_reduce_of(call->hw, trees->root[0] - call->hw->sip_count)->mode;
    struct plan plan = {
        .call = call, .ranks = ranks, .chunks = chunks_for(call, threads, mode), .mode = mode};
    plan.lag = lag_of(&plan);
    const uint32_t blocks_in = call->collective == CCL_REDUCE_SCATTER ? ranks : 1,
                   blocks_out = call->collective == CCL_ALL_GATHER ? ranks : 1;
    if (scheduled_has_room(call, 2ull * message_count(&plan) * threads * ranks, error) != CW_OK)
        return NULL;
    const bool lanes = scheduled_lanes(call) > 1;
    struct schedule_builder *const b =
        schedule_builder_create(name, call->collective, ranks, lanes ? threads : 1);
    struct schedule *const head = schedule_builder_head(b);
    if (head == NULL || !take_sums(head, trees, threads)) {
        schedule_builder_free(b);
        (void)cw_error_memory(error, "a schedule");
        return NULL;
    }
    head->in_place = call->collective == CCL_ALL_REDUCE || call->collective == CCL_BROADCAST;
    head->keeps_numbers = call->collective == CCL_ALL_REDUCE;
    head->any_root = call->collective == CCL_BROADCAST;
    for (uint32_t r = 0; r < ranks; r++) {
        struct place at = {.plan = &plan, .b = b, .rank = r, .trees = threads};
        schedule_chunks_of(b, r, threads * plan.chunks * blocks_in,
                           threads * plan.chunks * blocks_out, 0);
        for (at.tree = 0; at.tree < threads; at.tree++)
            add_thread(&at, lanes ? at.tree : 0);
    }
    return schedule_build(b, error);
}

static struct schedule *schedule_through(const struct ccl_call *call, const char *name,
                                         struct cw_error *error)
{
    struct hw_trees trees;
    struct schedule *made = NULL;
    if (!hw_trees_make(call->hw, &trees))
        (void)cw_error_memory(error, "a schedule");
    else if (trees.count == 0)
        (void)cw_error_set(error, CW_USAGE, "%s: no switches reduce", name);
    else
        made = build(call, name, &trees, error);
    hw_trees_free(&trees);
    return made;
}

/* ---- the algorithms -------------------------------------------------------------------------- */

static int through_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    bool any = false;
    for (uint32_t i = 0; i < HW_SWITCH_KINDS; i++)
        any |= call->hw->reduce[i].mode != HW_REDUCE_NONE;
    if (hw_tree_count(call->hw) == 0) {
        (void)ccl_refuse(refusal, "defaults.module",
                         any ? "%s goes through switches that reduce, and none of these, alone or "
                               "with others that reduce, joins all SIPs"
                             : "%s goes through switches that reduce, and this machine has none",
                         call->ccl->algorithm);
        return ccl_legal(refusal, any ? "legal are the topology switch, and graphs with switches "
                                        "that lead to each other"
                                      : "nodes.switch.reduce=push or pull says that they do");
    }
    if (call->world_size != call->hw->sip_count || call->ccl->ranks.list != NULL ||
        call->ccl->ranks.mapped || call->ccl->ranks.per_sip > 0) {
        (void)ccl_refuse(refusal, "defaults.world_size",
                         "%s: its switches wait for a part of each SIP", call->ccl->algorithm);
        return ccl_legal(refusal, "legal is a rank on each SIP, in the order of the SIPs");
    }
    if (lp_is_coarse(&call->ccl->queues)) {
        (void)ccl_refuse(refusal, "defaults.coarse",
                         "%s: switches put tiles together, and no coarse ones",
                         call->ccl->algorithm);
        return ccl_legal(refusal, "leave it out");
    }
    return CW_OK;
}

/* A broadcast's schedule is made for root 0 (schedule.h, any_root). */
static void through_kernel_args(const struct ccl_call *call, struct tl_args *args)
{
    args->scalar[0] = call->collective == CCL_BROADCAST ? call->root : 0;
}

#define THROUGH(entry, does)                                                                       \
    static struct schedule *entry##_schedule(const struct ccl_call *call, struct cw_error *error)  \
    {                                                                                              \
        return schedule_through(call, #entry, error);                                              \
    }                                                                                              \
    const struct ccl_algorithm ccl_##entry = {                                                     \
        .name = #entry,                                                                            \
        .collective = (does),                                                                      \
        .kernel = &schedule_kernel,                                                                \
        .machine = {.by_sip = true, .tcm_bytes = schedule_tcm_bytes},                              \
        .check = through_check,                                                                    \
        .kernel_args = through_kernel_args,                                                        \
        .schedule = entry##_schedule}

THROUGH(switch_all_reduce, CCL_ALL_REDUCE);
THROUGH(switch_reduce_scatter, CCL_REDUCE_SCATTER);
THROUGH(switch_all_gather, CCL_ALL_GATHER);
THROUGH(switch_broadcast, CCL_BROADCAST);
