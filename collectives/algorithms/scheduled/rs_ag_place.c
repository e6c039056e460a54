/*
 * rs_ag_place.c: finds a rank's peers and the chunks of its groups, and adds steps on them to its
 * threads (rs_ag_place.h).
 */
#include "collectives/algorithms/scheduled/rs_ag_place.h"

#include "collectives/schedule/schedule_walk.h"

const struct rs_ag_part *rs_ag_part_of(const struct rs_ag_place *p)
{
    return &p->plan->part[p->part];
}

const struct rs_ag_dim *rs_ag_dim_of(const struct rs_ag_place *p, uint32_t d)
{
    return &rs_ag_part_of(p)->dim[d];
}

void rs_ag_settle(struct rs_ag_place *p)
{
    const struct rs_ag_part *const part = rs_ag_part_of(p);
    uint32_t size = 1, first = 0;
    for (uint32_t d = part->dims; d-- > 0; size *= part->dim[d].n) {
        p->at[d] = p->number / part->dim[d].stride % part->dim[d].n;
        p->group[d] = size;
    }
    for (uint32_t d = 0; d < part->dims; d++) {
        p->first[d] = first;
        first += p->at[d] * p->group[d];
    }
}

uint32_t rs_ag_group_size(const struct rs_ag_place *p, uint32_t d) { return p->group[d]; }

uint32_t rs_ag_rank_numbered(const struct rs_ag_place *p, uint32_t number)
{
    const uint32_t *const rank_of = rs_ag_part_of(p)->rank_of;
    return rank_of != NULL ? rank_of[number] : number;
}

uint32_t rs_ag_peer_at(const struct rs_ag_place *p, uint32_t d, uint32_t at)
{
    const struct rs_ag_dim *const dim = rs_ag_dim_of(p, d);
    return rs_ag_rank_numbered(p, p->number - p->at[d] * dim->stride + at * dim->stride);
}

/* The rank that chunk `i` of a group belongs to: before dimension d its places are this rank's, in
 * d it is at `at`, and after d its places are the digits of i, the last dimension's least
 * significant. */
static uint32_t owner_of(const struct rs_ag_place *p, uint32_t d, uint32_t at, uint32_t i)
{
    uint32_t number = at * rs_ag_dim_of(p, d)->stride;
    for (uint32_t k = 0; k < d; k++)
        number += p->at[k] * rs_ag_dim_of(p, k)->stride;
    for (uint32_t k = rs_ag_part_of(p)->dims; k-- > d + 1;) {
        number += i % rs_ag_dim_of(p, k)->n * rs_ag_dim_of(p, k)->stride;
        i /= rs_ag_dim_of(p, k)->n;
    }
    return rs_ag_rank_numbered(p, number);
}

/* ---- where chunks are ------------------------------------------------------------------------ */

enum ccl_collective rs_ag_collective_of(const struct rs_ag_place *p)
{
    return p->plan->call->collective;
}

/* Chunks of a part that belong to groups before that of place `at` of dimension d. */
static uint32_t chunks_before(const struct rs_ag_place *p, uint32_t d, uint32_t at)
{
    return p->first[d] + at * p->group[d];
}

/* Consecutive chunks of a group lie one after the other in all buffers: an all-reduce has the
 * groups of a part one after the other. */
static bool lie_together(const struct rs_ag_place *p)
{
    return rs_ag_collective_of(p) == CCL_ALL_REDUCE;
}

/* Chunk i of the group of place `at` of dimension d, in a buffer. Collectives other than an
 * all-reduce have a block per rank in the larger buffer. */
static struct schedule_chunks chunk_at(const struct rs_ag_place *p, uint32_t d, uint32_t at,
                                       uint32_t i, enum schedule_buffer buffer)
{
    const enum ccl_collective collective = rs_ag_collective_of(p);
    const uint32_t before = chunks_before(p, d, at);
    struct schedule_chunks chunks = {.buffer = (uint8_t)buffer};
    if (lie_together(p))
        chunks.at = p->part * p->ranks + before + i;
    else if (buffer == (collective == CCL_ALL_GATHER ? SCHEDULE_OUTPUT : SCHEDULE_INPUT))
        chunks.at = owner_of(p, d, at, i) * p->plan->parts + p->part;
    else if (buffer != SCHEDULE_SCRATCH)
        chunks.at = p->part; /* its own, the only one */
    else                     /* begins with the group of the first dimension */
        chunks.at = p->part * p->scratch + (d > 0 ? before - p->first[1] : 0) + i;
    return chunks;
}

enum schedule_buffer rs_ag_sums_after(const struct rs_ag_place *p, uint32_t d)
{
    const bool last = d + 1 == rs_ag_part_of(p)->dims;
    return rs_ag_collective_of(p) == CCL_REDUCE_SCATTER && !last ? SCHEDULE_SCRATCH
                                                                 : SCHEDULE_OUTPUT;
}

enum schedule_buffer rs_ag_sums_before(const struct rs_ag_place *p, uint32_t d)
{
    if (d > 0)
        return rs_ag_sums_after(p, d - 1);
    return p->number < p->plan->folded ? SCHEDULE_OUTPUT : SCHEDULE_INPUT;
}

/* ---- steps ----------------------------------------------------------------------------------- */

uint32_t rs_ag_first_span(const struct rs_ag_place *p, uint32_t d)
{
    return p->one != NULL ? p->one->chunk[d] : 0;
}

uint32_t rs_ag_end_of_spans(const struct rs_ag_place *p, uint32_t d)
{
    return p->one != NULL ? p->one->chunk[d] + 1 : p->peers_only ? 1 : rs_ag_group_size(p, d);
}

/* The rank has steps on the one chunk in dimension d: in earlier ones they have the same places. */
static bool has_one(const struct rs_ag_place *p, uint32_t d)
{
    for (uint32_t k = 0; k < d; k++)
        if (p->one->at[k] != p->at[k])
            return false;
    return true;
}

void rs_ag_end_dimension(struct rs_ag_place *p)
{
    for (uint32_t t = 0; t < p->threads; t++) {
        p->ended[t] = p->steps[t];
        p->begun[t] = false;
    }
}

static void wait_for_thread(const struct rs_ag_place *p, uint32_t thread, uint32_t other,
                            uint32_t steps)
{
    if (other != thread && steps > 0)
        schedule_wait_for(p->b, p->rank, p->thread + thread,
                          (struct schedule_wait){.thread = p->thread + other, .step = steps - 1});
}

/* Waits of the step that was added last to a thread. */
static void add_waits(struct rs_ag_place *p, uint32_t t, const uint32_t *after)
{
    for (uint32_t other = 0; !p->begun[t] && other < p->threads; other++)
        wait_for_thread(p, t, other, p->ended[other]);
    p->begun[t] = true;
    if (after != NULL)
        wait_for_thread(p, t, *after, p->steps[*after]);
}

/* The step, if it moves the one chunk. */
static void add_one(const struct rs_ag_place *p, const struct rs_ag_step *step)
{
    const uint32_t i = p->one->chunk[step->d];
    if (step->at != p->one->at[step->d] || !has_one(p, step->d) || i < step->first ||
        i >= step->first + step->count)
        return;
    schedule_walk_add(p->one->steps,
                      (struct schedule_step){.op = (uint8_t)step->op,
                                             .channel = (uint8_t)p->part,
                                             .count = 1,
                                             .src = chunk_at(p, step->d, step->at, i, step->src),
                                             .dst = chunk_at(p, step->d, step->at, i, step->dst),
                                             .send_to = step->send_to,
                                             .recv_from = step->recv_from});
}

/* The fields are written once, where they stay: a copy of fields that have just been set waits for
 * each of them. */
void rs_ag_add_step(struct rs_ag_place *p, const struct rs_ag_step *step)
{
    if (p->one != NULL) {
        add_one(p, step);
        return;
    }
    const bool together = lie_together(p); /* then chunks have one number in all buffers */
    const uint32_t t = step->thread, each = together ? step->count : 1;
    const enum schedule_op op = step->op;
    for (uint32_t i = 0; i < step->count; i += each) {
        struct schedule_step *const added = schedule_next(p->b, p->rank, p->thread + t);
        if (added == NULL)
            return;
        added->op = (uint8_t)op;
        added->channel = (uint8_t)p->part;
        added->count = each;
        added->src = chunk_at(p, step->d, step->at, step->first + i, step->src);
        added->dst = together
                         ? (struct schedule_chunks){added->src.at, (uint8_t)step->dst, false, {0}}
                         : chunk_at(p, step->d, step->at, step->first + i, step->dst);
        added->send_to = schedule_op_sends(op) ? step->send_to : SCHEDULE_NO_RANK;
        added->recv_from = schedule_op_receives(op) ? step->recv_from : SCHEDULE_NO_RANK;
        added->line = 0;
        p->steps[t]++;
        if (p->threads > 1)
            add_waits(p, t, i == 0 ? step->after : NULL);
    }
}

void rs_ag_keep_own(struct rs_ag_place *p)
{
    const uint32_t last = rs_ag_part_of(p)->dims - 1;
    rs_ag_add_step(p, &(struct rs_ag_step){.op = SCHEDULE_COPY,
                                           .d = last,
                                           .at = p->at[last],
                                           .count = 1,
                                           .src = SCHEDULE_INPUT,
                                           .dst = SCHEDULE_OUTPUT});
}

bool rs_ag_sends_input(const struct rs_ag_place *p, uint32_t d)
{
    return rs_ag_collective_of(p) == CCL_ALL_GATHER && d + 1 == rs_ag_part_of(p)->dims;
}
