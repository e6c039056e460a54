/*
 * cost.c: the estimate of a schedule's time (cost.h): its first pieces are carried out
 * (cost_walk.h) on a machine (cost_machine.h) that is otherwise idle. A kernel's estimate is
 * the time of its steps.
 *
 * Pieces after the first few take as long as these in the mean, but for the first half of them.
 */
#include "collectives/choice/cost.h"

#include <string.h>

#include "collectives/choice/cost_machine.h"
#include "collectives/hook.h"
#include "collectives/schedule/schedule_program.h"
#include "collectives/schedule/schedule_values.h"

enum { PIECES_MAX = 12 };
enum { RANKS_MAX = 4096 }; /* like ones, of the process group, that are carried out one by one */
/* Groups of lanes (cost_machine.h): fewer where steps are many; on graphs, where the steps of all
 * pieces are. */
enum { GROUPS_MAX = 16, GROUPS_FEW = 2, GROUPS_STEPS_MAX = 4096, GROUPS_PIECES_MAX = 1 << 16 };
enum { NEVER = -1 };

/* A step of rank 0 sends to another rank of the process group. */
static bool leaves_rank(const struct schedule *s, const struct schedule_step *step)
{
    return schedule_op_sends((enum schedule_op)step->op) && step->send_to >= s->members;
}

/* Chunks, tiles and pieces of a call, as schedule_program.h has them. Times are those of tiles,
 * also of what coarse tiles stand for; events are those of coarse tiles. */
static void measure(struct cost *c, bool in_coarse_tiles)
{
    const struct schedule *const s = c->s;
    const struct ccl_config *const ccl = c->call->ccl;
    uint32_t most = 1;
    c->blocks = schedule_blocks(s, SCHEDULE_INPUT);
    c->chunks = s->rank[0].chunks[SCHEDULE_INPUT] / c->blocks / (c->lanes ? s->parts : 1);
    c->block_elems = c->call->n_elem / c->blocks;
    c->chunk_elems = (c->block_elems + c->chunks - 1) / c->chunks;
    c->slots = ccl->queues.n_slots;
    c->tile_bytes = lp_tile_bytes(&ccl->queues) / c->times.itemsize * c->times.itemsize;
    for (uint32_t i = 0; i < s->rank[0].step_count; i++) /* members' messages wait in no circle */
        if (s->members == 1 || leaves_rank(s, &s->rank[0].step[i]))
            most = s->rank[0].step[i].count > most ? s->rank[0].step[i].count : most;
    c->piece_tiles = c->slots;
    while (c->piece_tiles > 1 && c->piece_tiles * most > c->slots)
        c->piece_tiles /= 2;
    c->piece_tiles = program_piece_tiles(ccl, c->piece_tiles);
    if (in_coarse_tiles && lp_is_coarse(&ccl->queues)) {
        const uint32_t coarse = lp_coarse(&ccl->queues);
        c->tile_bytes = lp_move_bytes(&ccl->queues) / c->times.itemsize * c->times.itemsize;
        c->piece_tiles = c->piece_tiles > coarse ? c->piece_tiles / coarse : 1;
    }
}

static void count_pieces(struct cost *c)
{
    const uint64_t of_piece = (uint64_t)c->piece_tiles * c->tile_bytes;
    c->all_pieces = (c->chunk_elems * c->times.itemsize + of_piece - 1) / of_piece;
}

/* All threads have come to their ends: no ring was full forever. */
static bool all_ended(const struct cost *c)
{
    for (uint32_t i = 0; i < c->threads; i++)
        if (c->thread[i].piece < c->pieces)
            return false;
    return true;
}

/* Messages of several chunks take turns on a link, so all lanes come to its end together. */
static bool messages_mix(const struct cost *c)
{
    return c->call->hw->contention == HW_CONTENTION_CHUNK &&
           c->tile_bytes > c->call->ccl->queues.vc_chunk_bytes;
}

static uint32_t group_count(const struct cost *c)
{
    const uint32_t ranks = c->alike ? 1 : c->s->rank_count;
    const bool irregular = c->call->hw->sip_topology->is_irregular;
    const uint64_t pieces = c->all_pieces < PIECES_MAX ? c->all_pieces : PIECES_MAX;
    const uint64_t steps = (uint64_t)c->s->rank[0].step_count * ranks * (irregular ? pieces : 1);
    const uint64_t most = irregular ? GROUPS_PIECES_MAX : GROUPS_STEPS_MAX;
    uint32_t groups = c->share < GROUPS_MAX ? c->share : GROUPS_MAX;
    while (groups > GROUPS_FEW && groups * steps > most)
        groups /= 2;
    return c->lanes && !messages_mix(c) ? groups : 1;
}

/* What the first pieces take. */
struct taken {
    int64_t ps; /* or COST_LONG; or NEVER, where rings fill up forever */
    double events;
};

/* Carries out the first pieces. False: out of memory. */
static bool estimate_pieces(struct cost c, uint32_t pieces, bool *mixed, struct taken *taken)
{
    c.pieces = pieces;
    c.groups = group_count(&c);
    const bool made = cost_machine_make(&c);
    *mixed = c.mixed;
    *taken = (struct taken){.ps = NEVER};
    if (made && !c.mixed) {
        cost_walk(&c);
        taken->ps = c.too_long ? COST_LONG : all_ended(&c) ? c.ended_ps : NEVER;
        taken->events = c.events;
    }
    cost_machine_free(&c);
    return made;
}

/* The pieces after the first ones take as long as the second half of these in the mean: the time of
 * all of them, less the time of the first half alone. Threads that come to their end early make
 * room for others, in both times alike. */
static bool estimate(const struct cost *c, bool *mixed, struct taken *taken)
{
    const uint32_t pieces = c->all_pieces < PIECES_MAX ? (uint32_t)c->all_pieces : PIECES_MAX;
    struct taken fewer;
    if (!estimate_pieces(*c, pieces, mixed, taken))
        return false;
    if (*mixed || taken->ps == COST_LONG || taken->ps == NEVER || c->all_pieces == pieces)
        return true;
    struct cost unlimited = *c;
    unlimited.limit_ps = 0;
    if (!estimate_pieces(unlimited, pieces / 2, mixed, &fewer))
        return false;
    const uint64_t left = c->all_pieces - pieces;
    const uint32_t half = pieces - pieces / 2;
    taken->ps += (int64_t)left * ((taken->ps - fewer.ps) / half);
    taken->events += (double)left * (taken->events - fewer.events) / half;
    return true;
}

enum ccl_mappers cost_mapper(const struct ccl_config *ccl)
{
    return strcmp(ccl->mapper, "all_pes") == 0         ? CCL_MAPPER_ALL_PES
           : strcmp(ccl->mapper, "pe0_all_cubes") == 0 ? CCL_MAPPER_PE0_ALL_CUBES
                                                       : CCL_MAPPER_LEADER_ONLY;
}

uint32_t cost_lanes(const struct hw_config *hw, enum ccl_mappers mapper)
{
    return mapper == CCL_MAPPER_ALL_PES         ? hw_cubes(hw) * hw_pes(hw)
           : mapper == CCL_MAPPER_PE0_ALL_CUBES ? hw_cubes(hw)
                                                : 1;
}

/* PEs of a rank with schedules of their own; 1: the schedule is the rank's. */
static uint32_t lanes_of(const struct cost_request *request)
{
    return request->schedule->members > 1 ? 1 : cost_lanes(request->call->hw, request->mapper);
}

/* What a schedule takes: the time, or the events of the threads that are carried out. */
static int estimate_schedule(const struct cost_request *request, bool events, struct cost *c,
                             struct taken *taken, struct cw_error *error)
{
    const uint32_t lanes = lanes_of(request);
    *c = (struct cost){.s = request->schedule,
                       .call = request->call,
                       .times = cost_times_of(request->call),
                       .lanes = lanes > 1,
                       .share = 1 + request->beside,
                       .limit_ps = request->limit_ps};
    if (c->lanes)
        c->share = (lanes + c->s->parts - 1) / c->s->parts;
    *taken = (struct taken){.ps = 0};
    if (c->s->rank[0].chunks[SCHEDULE_INPUT] == 0 || request->call->n_elem == 0)
        return CW_OK;
    measure(c, events);
    if (c->block_elems == 0) /* too few elements for the ranks: the call is refused */
        return CW_OK;
    count_pieces(c);
    const bool irregular = c->call->hw->sip_topology->is_irregular;
    c->alike = c->s->sketch || (!irregular && cost_are_alike(c));
    c->by_link = irregular && !c->alike;
    c->mean = c->s->sketch || c->s->rank_count / c->s->members > RANKS_MAX;
    bool mixed = false, made = estimate(c, &mixed, taken);
    if (made && mixed) {
        c->alike = false;
        made = estimate(c, &mixed, taken);
    }
    while (made && taken->ps == NEVER && c->piece_tiles > 1) {
        c->piece_tiles /= 2;
        count_pieces(c);
        made = estimate(c, &mixed, taken);
    }
    if (made && taken->ps == NEVER)
        return cw_error_set(error, CW_USAGE, "%s: rings of %u slots fill up forever", c->s->name,
                            c->slots);
    return made ? CW_OK : cw_error_memory(error, "an estimate");
}

int cost_estimate(const struct cost_request *request, int64_t *ps, struct cw_error *error)
{
    struct cost c;
    struct taken taken;
    if (request->schedule == NULL)
        return cost_steps_estimate(request->algorithm, request->call, ps, error);
    const int code = estimate_schedule(request, false, &c, &taken, error);
    *ps = taken.ps;
    return code;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* How often a rank sends each tile of its input to other ranks. */
static double sent_of(const struct ccl_algorithm *algorithm, const struct ccl_call *call)
{
    const double ranks = call->world_size;
    if (algorithm->moved != NULL)
        return CCL_HOOK("moved()", algorithm->moved, (call));
    switch (algorithm->collective) {
    case CCL_BROADCAST: /* down a tree */
    case CCL_REDUCE:    /* up a tree */
        return (ranks - 1) / ranks;
    case CCL_ALL_REDUCE:
    case CCL_BARRIER: /* up, and down */
        return 2 * (ranks - 1) / ranks;
    default:
        return ranks - 1;
    }
}

/* To the next rank, in the mean over some ranks. */
static uint32_t hops_between(const struct ccl_call *call)
{
    enum { SOME = 16 };
    const uint32_t n = call->world_size, some = n < SOME ? n : SOME;
    uint32_t hops = 0;
    for (uint32_t i = 0; i < some && n > 1; i++) {
        const uint32_t rank = (uint32_t)((uint64_t)i * n / some);
        const struct hw_place from = {.sip = ccl_sip_of(&call->ccl->ranks, rank)},
                              to = {.sip = ccl_sip_of(&call->ccl->ranks, (rank + 1) % n)};
        hops += cost_hops(call->hw, from, to);
    }
    return (hops + some / 2) / some;
}

/* Of a kernel that takes its tiles through queues: each shard by itself; or all of a rank towards
 * one, from there to the other ranks, and back. */
static double kernel_events(const struct cost_request *request, double shards)
{
    const struct ccl_call *const call = request->call;
    const struct ccl_algorithm *const algorithm = request->algorithm;
    const double bytes = (double)call->n_elem * tl_itemsize(call->dtype);
    const uint64_t tile = lp_move_bytes(&call->ccl->queues);
    const double tiles = bytes > (double)tile ? bytes / (double)tile : 1;
    const uint64_t each = (uint64_t)(bytes / tiles);
    const bool together = ccl_adds_all_shards(algorithm);
    const double loads = (algorithm->collective == CCL_BROADCAST ? tiles / call->world_size : 1) *
                         cost_load_events(call, each);
    const double stores =
        algorithm->collective == CCL_BROADCAST ? 0 : cost_store_events(call, each);
    const bool keeps =
        algorithm->collective == CCL_BROADCAST || algorithm->collective == CCL_ALL_GATHER;
    const double sent =
        sent_of(algorithm, call) * (1 + cost_send_events(call, hops_between(call), each) +
                                    (keeps ? 1 + cost_store_events(call, each) : 0));
    const double inside =
        together ? 2 * (shards - 1) *
                       (1 + cost_send_events(call, algorithm->machine.pe_shards ? 0 : 1, each))
                 : 0;
    return call->world_size *
           (shards * (loads + stores) + tiles * ((together ? sent : shards * sent) + inside));
}

/* Each step by itself: of a folded schedule, since only representatives have parts; of one that
 * reaches, since the walk knows messages alone. */
static double counted_events(const struct cost_request *request)
{
    enum { HOPS_SAMPLED = 1024 };
    const struct schedule *const s = request->schedule;
    const struct ccl_call *const call = request->call;
    const uint32_t lanes = lanes_of(request), parts = lanes > 1 ? s->parts : 1;
    const double whole = (double)call->n_elem * tl_itemsize(call->dtype) *
                         (call->collective == CCL_ALL_GATHER ? call->world_size : 1);
    const double chunk = whole / ((double)s->loop_chunks / parts),
                 tile = (double)lp_move_bytes(&call->ccl->queues);
    double events = 0;
    for (uint32_t r = 0; r < s->rank_count; r++) {
        const struct schedule_rank *const rank = &s->rank[r];
        const uint32_t every = rank->step_count / HOPS_SAMPLED + 1;
        const struct hw_place from = {.sip = schedule_rank_at(s, r) / s->members};
        uint32_t sends = 0, hops = 0;
        for (uint32_t i = 0; i < rank->step_count; i++) {
            const struct schedule_step *const step = &rank->step[i];
            const enum schedule_op op = (enum schedule_op)step->op;
            const double bytes = step->count * chunk, tiles = bytes > tile ? bytes / tile : 1;
            const uint64_t each = (uint64_t)(bytes / tiles);
            if (schedule_op_sends(op) && sends++ % every == 0)
                hops =
                    cost_hops(call->hw, from, (struct hw_place){.sip = step->send_to / s->members});
            events +=
                tiles *
                ((schedule_op_receives(op) ? 1 : 0) +
                 (schedule_op_sends(op) ? cost_send_events(call, hops, each) + (op == SCHEDULE_SEND)
                                        : 0) +
                 (schedule_op_reads(op) && op != SCHEDULE_SEND ? cost_load_events(call, each) + 1
                                                               : 0) +
                 (schedule_op_writes(op) ? cost_store_events(call, each) + 1 : 0));
        }
    }
    return events * (lanes > 1 ? (double)lanes / s->parts : 1);
}

int cost_events(const struct cost_request *request, double shards, double *events,
                struct cw_error *error)
{
    const struct schedule *const s = request->schedule;
    struct cost c;
    struct taken taken;
    int code = CW_OK;
    if (s != NULL && (s->fold != NULL || s->reaches)) {
        *events = counted_events(request);
    } else if (s != NULL) {
        code = estimate_schedule(request, true, &c, &taken, error);
        *events = taken.events * (c.alike ? s->rank_count / s->members : 1) *
                  (c.lanes ? (double)lanes_of(request) / s->parts / group_count(&c) : 1);
    } else if (request->algorithm->steps != NULL) {
        code = cost_steps_events(request->algorithm, request->call, events, error);
        *events *= request->call->world_size;
    } else {
        *events = kernel_events(request, shards);
    }
    return code;
}
