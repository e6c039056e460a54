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
#include "collectives/schedule/schedule_values.h"

enum { PIECES_MAX = 12 };
enum { RANKS_MAX = 4096 }; /* like ones, of the process group, that are carried out one by one */
/* Groups of lanes (cost_machine.h): fewer where steps are many. */
enum { GROUPS_MAX = 16, GROUPS_FEW = 2, GROUPS_STEPS_MAX = 4096 };
enum { NEVER = -1 };

/* A step of rank 0 sends to another rank of the process group. */
static bool leaves_rank(const struct schedule *s, const struct schedule_step *step)
{
    return schedule_op_sends((enum schedule_op)step->op) && step->send_to >= s->members;
}

/* Chunks, tiles and pieces of a call, as schedule_program.h has them. */
static void measure(struct cost *c)
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
    const uint64_t steps = (uint64_t)c->s->rank[0].step_count * ranks;
    uint32_t groups = c->share < GROUPS_MAX ? c->share : GROUPS_MAX;
    while (groups > GROUPS_FEW && groups * steps > GROUPS_STEPS_MAX)
        groups /= 2;
    return c->lanes && !messages_mix(c) ? groups : 1;
}

/* Carries out the first pieces: when they end, in *ps; or COST_LONG, or NEVER, where rings
 * fill up forever. False: out of memory. */
static bool estimate_pieces(struct cost c, uint32_t pieces, bool *mixed, int64_t *ps)
{
    c.pieces = pieces;
    c.groups = group_count(&c);
    const bool made = cost_machine_make(&c);
    *mixed = c.mixed;
    *ps = NEVER;
    if (made && !c.mixed) {
        cost_walk(&c);
        *ps = c.too_long ? COST_LONG : all_ended(&c) ? c.ended_ps : NEVER;
    }
    cost_machine_free(&c);
    return made;
}

/* The pieces after the first ones take as long as the second half of these in the mean: the time of
 * all of them, less the time of the first half alone. Threads that come to their end early make
 * room for others, in both times alike. */
static bool estimate(const struct cost *c, bool *mixed, int64_t *ps)
{
    const uint32_t pieces = c->all_pieces < PIECES_MAX ? (uint32_t)c->all_pieces : PIECES_MAX;
    int64_t fewer_ps = 0;
    if (!estimate_pieces(*c, pieces, mixed, ps))
        return false;
    if (*mixed || *ps == COST_LONG || *ps == NEVER || c->all_pieces == pieces)
        return true;
    struct cost unlimited = *c;
    unlimited.limit_ps = 0;
    if (!estimate_pieces(unlimited, pieces / 2, mixed, &fewer_ps))
        return false;
    *ps += (int64_t)(c->all_pieces - pieces) * ((*ps - fewer_ps) / (pieces - pieces / 2));
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

int cost_estimate(const struct cost_request *request, int64_t *ps, struct cw_error *error)
{
    if (request->schedule == NULL)
        return cost_steps_estimate(request->algorithm, request->call, ps, error);
    const uint32_t lanes =
        request->schedule->members > 1 ? 1 : cost_lanes(request->call->hw, request->mapper);
    struct cost c = {.s = request->schedule,
                     .call = request->call,
                     .times = cost_times_of(request->call),
                     .lanes = lanes > 1,
                     .share = 1 + request->beside,
                     .limit_ps = request->limit_ps};
    if (c.lanes)
        c.share = (lanes + c.s->parts - 1) / c.s->parts;
    *ps = 0;
    if (c.s->rank[0].chunks[SCHEDULE_INPUT] == 0 || request->call->n_elem == 0)
        return CW_OK;
    measure(&c);
    if (c.block_elems == 0) /* too few elements for the ranks: the call is refused */
        return CW_OK;
    count_pieces(&c);
    c.alike = c.s->sketch || cost_are_alike(&c);
    c.mean = c.s->sketch || c.s->rank_count / c.s->members > RANKS_MAX;
    bool mixed = false, made = estimate(&c, &mixed, ps);
    if (made && mixed) {
        c.alike = false;
        made = estimate(&c, &mixed, ps);
    }
    while (made && *ps == NEVER && c.piece_tiles > 1) {
        c.piece_tiles /= 2;
        count_pieces(&c);
        made = estimate(&c, &mixed, ps);
    }
    if (made && *ps == NEVER)
        return cw_error_set(error, CW_USAGE, "%s: rings of %u slots fill up forever", c.s->name,
                            c.slots);
    return made ? CW_OK : cw_error_memory(error, "an estimate");
}
