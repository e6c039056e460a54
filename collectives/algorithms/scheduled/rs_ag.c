/*
 * rs_ag.c: reduce-scatters and all-gathers along the dimensions of a machine (rs_ag.h).
 */
#include "collectives/algorithms/scheduled/rs_ag.h"

#include <stdlib.h>

#include "collectives/algorithms/scheduled/scheduled.h"

/* ---- a rank's view of a part ----------------------------------------------------------------- */

/* A thread of one rank, while its steps are made. */
struct place {
    const struct rs_ag *plan;
    struct schedule_builder *b;
    uint32_t rank, number, part;
    bool peers_only;             /* of a sketch, another rank than 0 */
    uint32_t ranks;              /* places */
    uint32_t scratch;            /* chunks of each part */
    uint32_t window;             /* chunks that travel together */
    uint32_t at[RS_AG_DIMS_MAX]; /* its place in each dimension */
    /* Threads of the part, from `thread` on: more than one where a direct dimension has many
     * places. Each begins a dimension when all have ended the one before. */
    uint32_t thread, threads;
    uint32_t steps[RS_AG_THREADS_MAX], ended[RS_AG_THREADS_MAX];
    bool begun[RS_AG_THREADS_MAX];
};

static const struct rs_ag_part *part_of(const struct place *p) { return &p->plan->part[p->part]; }

static const struct rs_ag_dim *dim_of(const struct place *p, uint32_t d)
{
    return &part_of(p)->dim[d];
}

/* Ranks, and so chunks, of a group of dimension d. */
static uint32_t group_size(const struct place *p, uint32_t d)
{
    uint32_t size = 1;
    for (uint32_t k = d + 1; k < part_of(p)->dims; k++)
        size *= dim_of(p, k)->n;
    return size;
}

static uint32_t rank_numbered(const struct place *p, uint32_t number)
{
    return p->plan->rank_of != NULL ? p->plan->rank_of[number] : number;
}

static uint32_t peer_at(const struct place *p, uint32_t d, uint32_t at)
{
    const struct rs_ag_dim *const dim = dim_of(p, d);
    return rank_numbered(p, p->number - p->at[d] * dim->stride + at * dim->stride);
}

/* The rank that chunk `i` of a group belongs to: its places are those of this rank before dimension
 * d, `at` in d, and then the digits of i, the last dimension's the least. */
static uint32_t owner_of(const struct place *p, uint32_t d, uint32_t at, uint32_t i)
{
    uint32_t number = at * dim_of(p, d)->stride;
    for (uint32_t k = 0; k < d; k++)
        number += p->at[k] * dim_of(p, k)->stride;
    for (uint32_t k = part_of(p)->dims; k-- > d + 1;) {
        number += i % dim_of(p, k)->n * dim_of(p, k)->stride;
        i /= dim_of(p, k)->n;
    }
    return rank_numbered(p, number);
}

/* ---- where chunks are ------------------------------------------------------------------------ */

static enum ccl_collective collective_of(const struct place *p)
{
    return p->plan->call->collective;
}

/* Chunk i of the group of place `at` of dimension d, in a buffer. An all-reduce has the groups of a
 * part one after the other; the other collectives have a block per rank in the larger buffer. */
static struct schedule_chunks chunk_at(const struct place *p, uint32_t d, uint32_t at, uint32_t i,
                                       enum schedule_buffer buffer)
{
    const enum schedule_buffer larger =
        collective_of(p) == CCL_ALL_GATHER ? SCHEDULE_OUTPUT : SCHEDULE_INPUT;
    struct schedule_chunks chunks = {.buffer = (uint8_t)buffer};
    if (collective_of(p) != CCL_ALL_REDUCE && buffer == larger) {
        chunks.at = owner_of(p, d, at, i) * p->plan->parts + p->part;
    } else if (collective_of(p) != CCL_ALL_REDUCE && buffer != SCHEDULE_SCRATCH) {
        chunks.at = p->part; /* its own, the only one */
    } else {                 /* scratch begins with the group of the first dimension */
        const bool scratch = buffer == SCHEDULE_SCRATCH;
        chunks.at = p->part * (scratch ? p->scratch : p->ranks) + i;
        for (uint32_t k = scratch ? 1 : 0; k <= d; k++)
            chunks.at += (k == d ? at : p->at[k]) * group_size(p, k);
    }
    return chunks;
}

/* Where a rank's sums are after the reduce-scatter along a dimension. */
static enum schedule_buffer sums_after(const struct place *p, uint32_t d)
{
    const bool last = d + 1 == part_of(p)->dims;
    return collective_of(p) == CCL_REDUCE_SCATTER && !last ? SCHEDULE_SCRATCH : SCHEDULE_OUTPUT;
}

static enum schedule_buffer sums_before(const struct place *p, uint32_t d)
{
    if (d > 0)
        return sums_after(p, d - 1);
    return p->number < p->plan->folded ? SCHEDULE_OUTPUT : SCHEDULE_INPUT;
}

/* Consecutive chunks of a group lie one after the other in all buffers. */
static bool lie_together(const struct place *p) { return collective_of(p) == CCL_ALL_REDUCE; }

/* ---- steps ----------------------------------------------------------------------------------- */

/* A step on chunks first ... first + count - 1 of the group of a place. */
struct group_step {
    enum schedule_op op;
    uint32_t d, at, first, count;
    enum schedule_buffer src, dst;
    uint32_t send_to, recv_from; /* ranks */
    uint32_t thread;             /* of the part */
    const uint32_t *after;       /* the last step of this thread comes before; NULL: of none */
};

/* All threads of the part wait for each other before their next steps. */
static void end_dimension(struct place *p)
{
    for (uint32_t t = 0; t < p->threads; t++) {
        p->ended[t] = p->steps[t];
        p->begun[t] = false;
    }
}

static void wait_for_thread(const struct place *p, uint32_t thread, uint32_t other, uint32_t steps)
{
    if (other != thread && steps > 0)
        schedule_wait_for(p->b, p->rank, p->thread + thread,
                          (struct schedule_wait){p->thread + other, steps - 1});
}

static void add_step(struct place *p, struct group_step step)
{
    const uint32_t t = step.thread, each = lie_together(p) ? step.count : 1;
    for (uint32_t i = 0; i < step.count; i += each) {
        p->steps[t] =
            1 + schedule_add(p->b, p->rank, p->thread + t,
                             (struct schedule_step){
                                 .op = (uint8_t)step.op,
                                 .channel = (uint8_t)p->part,
                                 .count = each,
                                 .src = chunk_at(p, step.d, step.at, step.first + i, step.src),
                                 .dst = chunk_at(p, step.d, step.at, step.first + i, step.dst),
                                 .send_to = step.send_to,
                                 .recv_from = step.recv_from});
        for (uint32_t other = 0; !p->begun[t] && other < p->threads; other++)
            wait_for_thread(p, t, other, p->ended[other]);
        p->begun[t] = true;
        if (i == 0 && step.after != NULL)
            wait_for_thread(p, t, *step.after, p->steps[*step.after]);
    }
}

/* An all-gather's own tensor, to its place in the result. */
static void keep_own(struct place *p)
{
    const uint32_t last = part_of(p)->dims - 1;
    add_step(p, (struct group_step){.op = SCHEDULE_COPY,
                                    .d = last,
                                    .at = p->at[last],
                                    .count = 1,
                                    .src = SCHEDULE_INPUT,
                                    .dst = SCHEDULE_OUTPUT});
}

/* The first all-gather of a rank's own tensor. */
static bool sends_input(const struct place *p, uint32_t d)
{
    return collective_of(p) == CCL_ALL_GATHER && d + 1 == part_of(p)->dims;
}

/* ---- along a ring or a line ------------------------------------------------------------------ */

/* How far groups travel, seen from this rank's place. */
struct reach {
    uint32_t n, at;
    uint32_t steps;        /* of the group that travels farthest */
    uint32_t up, down;     /* places upwards and downwards that groups of this place go to */
    uint32_t above, below; /* ... that groups come from, of places above and below */

    bool ring;
};

static struct reach reach_of(const struct rs_ag_dim *dim, uint32_t at)
{
    const uint32_t n = dim->n;
    if (dim->joint == RS_AG_LINE)
        return (struct reach){.n = n,
                              .at = at,
                              .steps = n - 1,
                              .up = n - 1 - at,
                              .down = at,
                              .above = n - 1 - at,
                              .below = at};
    const uint32_t up = dim->way == RS_AG_UP     ? n - 1
                        : dim->way == RS_AG_DOWN ? 0
                        : dim->way == RS_AG_MEET ? n / 2
                                                 : (n - 1) / 2;
    const uint32_t down = n - 1 - up;
    return (struct reach){.n = n,
                          .at = at,
                          .steps = up > down ? up : down,
                          .up = up,
                          .down = down,
                          .above = down,
                          .below = up,
                          .ring = true};
}

/* Windows of a group, one after the other: each goes all the way before the next begins. */
struct window {
    uint32_t d, first, count;
};

/* Windows begin before this chunk. */
static uint32_t end_of_windows(const struct place *p, uint32_t size)
{
    return p->peers_only ? 1 : size;
}

/* Steps along a ring that are made: the first two send to both sides, and receive from them. */
static uint32_t steps_made(const struct place *p, const struct reach *r)
{
    return p->peers_only && r->steps > 2 ? 2 : r->steps;
}

/* The sums of the group `distance` places above (or below) pass this place on their way there. */
static void pass_sums(struct place *p, const struct reach *r, struct window w, uint32_t distance,
                      bool up)
{
    const uint32_t next = (r->at + 1) % r->n, before = (r->at + r->n - 1) % r->n;
    const uint32_t farthest = up ? r->up : r->down;
    if (distance > farthest)
        return;
    const bool begins = r->ring ? distance == farthest : up ? r->below == 0 : r->above == 0;
    add_step(p, (struct group_step){.op = begins ? SCHEDULE_SEND : SCHEDULE_RECV_REDUCE_SEND,
                                    .d = w.d,
                                    .at = (r->at + (up ? distance : r->n - distance)) % r->n,
                                    .first = w.first,
                                    .count = w.count,
                                    .src = sums_before(p, w.d),
                                    .send_to = peer_at(p, w.d, up ? next : before),
                                    .recv_from = peer_at(p, w.d, up ? before : next)});
}

/* The sums of this place's own group have come: from below, from above. The result is sent on at
 * once, upwards if it can be, where an all-gather follows. */
static void take_sums(struct place *p, const struct reach *r, struct window w, bool sends)
{
    const uint32_t next = peer_at(p, w.d, (r->at + 1) % r->n);
    const uint32_t before = peer_at(p, w.d, (r->at + r->n - 1) % r->n);
    struct group_step step = {.op = SCHEDULE_RECV_REDUCE_COPY,
                              .d = w.d,
                              .at = r->at,
                              .first = w.first,
                              .count = w.count,
                              .src = sums_before(p, w.d),
                              .dst = sums_after(p, w.d),
                              .send_to = r->up > 0 ? next : before};
    const enum schedule_op last = sends ? SCHEDULE_RECV_REDUCE_COPY_SEND : step.op;
    if (r->below > 0) {
        step.recv_from = before;
        step.op = r->above == 0 ? last : step.op;
        add_step(p, step);
        step.src = step.dst;
    }
    if (r->above > 0) {
        step.recv_from = next;
        step.op = last;
        add_step(p, step);
    }
}

static void scatter_along(struct place *p, uint32_t d, bool sends)
{
    const struct reach r = reach_of(dim_of(p, d), p->at[d]);
    const uint32_t size = group_size(p, d), end = end_of_windows(p, size);
    for (struct window w = {.d = d}; w.first < end; w.first += w.count) {
        w.count = size - w.first < p->window ? size - w.first : p->window;
        for (uint32_t distance = r.steps; distance > r.steps - steps_made(p, &r); distance--) {
            pass_sums(p, &r, w, distance, true);
            pass_sums(p, &r, w, distance, false);
        }
        take_sums(p, &r, w, sends);
    }
}

/* The group of the place `distance` below (or above) comes, and goes on. */
static void pass_result(struct place *p, const struct reach *r, struct window w, uint32_t distance,
                        bool up)
{
    const uint32_t next = (r->at + 1) % r->n, before = (r->at + r->n - 1) % r->n;
    const uint32_t come = up ? r->below : r->above;
    if (distance > come)
        return;
    const bool ends = r->ring ? distance == come : up ? r->up == 0 : r->down == 0;
    add_step(p, (struct group_step){.op = ends ? SCHEDULE_RECV : SCHEDULE_RECV_COPY_SEND,
                                    .d = w.d,
                                    .at = (r->at + (up ? r->n - distance : distance)) % r->n,
                                    .first = w.first,
                                    .count = w.count,
                                    .dst = SCHEDULE_OUTPUT,
                                    .send_to = peer_at(p, w.d, up ? next : before),
                                    .recv_from = peer_at(p, w.d, up ? before : next)});
}

/* Sends a window of the own group upwards and downwards; `sent`: in one way it is under way. */
static void give_result(struct place *p, const struct reach *r, struct window w, bool sent)
{
    struct group_step step = {.op = SCHEDULE_SEND,
                              .d = w.d,
                              .at = r->at,
                              .first = w.first,
                              .count = w.count,
                              .src = sends_input(p, w.d) ? SCHEDULE_INPUT : SCHEDULE_OUTPUT};
    if (r->up > 0 && !sent) {
        step.send_to = peer_at(p, w.d, (r->at + 1) % r->n);
        add_step(p, step);
    }
    if (r->down > 0 && !(sent && r->up == 0)) {
        step.send_to = peer_at(p, w.d, (r->at + r->n - 1) % r->n);
        add_step(p, step);
    }
    if (sends_input(p, w.d))
        keep_own(p);
}

static void gather_along(struct place *p, uint32_t d, bool sent)
{
    const struct reach r = reach_of(dim_of(p, d), p->at[d]);
    const uint32_t size = group_size(p, d), end = end_of_windows(p, size);
    for (struct window w = {.d = d}; w.first < end; w.first += w.count) {
        w.count = size - w.first < p->window ? size - w.first : p->window;
        give_result(p, &r, w, sent);
        for (uint32_t distance = 1; distance <= steps_made(p, &r); distance++) {
            pass_result(p, &r, w, distance, true);
            pass_result(p, &r, w, distance, false);
        }
    }
}

/* ---- directly -------------------------------------------------------------------------------- */

/* Of the part's threads, the one that exchanges messages with the place `distance` above. Each has
 * so many peers at most; those of rings and lines are the first thread's. */
static uint32_t thread_for(const struct rs_ag_part *part, uint32_t d, uint32_t distance)
{
    uint32_t peers = distance - 1;
    for (uint32_t k = 0; k < part->dims; k++)
        if (part->dim[k].joint != RS_AG_DIRECT)
            peers += 2;
        else if (k < d)
            peers += part->dim[k].n - 1;
    return peers / RS_AG_PEERS_MAX;
}

static uint32_t threads_of(const struct rs_ag_part *part)
{
    uint32_t threads = 1;
    for (uint32_t d = 0; d < part->dims; d++)
        if (part->dim[d].joint == RS_AG_DIRECT)
            threads = thread_for(part, d, part->dim[d].n - 1) + 1;
    return threads;
}

bool rs_ag_fits(const struct rs_ag_part *part) { return threads_of(part) <= RS_AG_THREADS_MAX; }

int rs_ag_refuse(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    (void)ccl_refuse(refusal, "defaults.module",
                     "%s would exchange messages with %u other ranks directly",
                     call->ccl->algorithm, call->world_size - 1);
    return ccl_legal(refusal, "legal are %d ranks; ring_rs_ag and halving_doubling take any number",
                     RS_AG_THREADS_MAX * RS_AG_PEERS_MAX + 1);
}

/* Sends a window to every other place: of that place's group, or of the own one. */
static void send_directly(struct place *p, struct window w, bool own)
{
    const uint32_t n = dim_of(p, w.d)->n, at = p->at[w.d];
    for (uint32_t distance = 1; distance < n; distance++) {
        const uint32_t to = (at + distance) % n;
        add_step(p, (struct group_step){.op = SCHEDULE_SEND,
                                        .d = w.d,
                                        .at = own ? at : to,
                                        .first = w.first,
                                        .count = w.count,
                                        .src = !own                  ? sums_before(p, w.d)
                                               : sends_input(p, w.d) ? SCHEDULE_INPUT
                                                                     : SCHEDULE_OUTPUT,
                                        .send_to = peer_at(p, w.d, to),
                                        .thread = thread_for(part_of(p), w.d, distance)});
    }
}

/* The sum of the own group is formed in the order in which the places follow this one downwards. */
static void scatter_directly(struct place *p, uint32_t d)
{
    const uint32_t n = dim_of(p, d)->n, at = p->at[d], size = group_size(p, d);
    for (struct window w = {.d = d}; w.first < end_of_windows(p, size); w.first += w.count) {
        uint32_t before = 0;
        w.count = size - w.first < p->window ? size - w.first : p->window;
        send_directly(p, w, false);
        for (uint32_t distance = n - 1; distance > 0; distance--) {
            const bool first = distance == n - 1;
            const uint32_t thread = thread_for(part_of(p), d, distance);
            add_step(p, (struct group_step){.op = SCHEDULE_RECV_REDUCE_COPY,
                                            .d = d,
                                            .at = at,
                                            .first = w.first,
                                            .count = w.count,
                                            .src = first ? sums_before(p, d) : sums_after(p, d),
                                            .dst = sums_after(p, d),
                                            .recv_from = peer_at(p, d, (at + distance) % n),
                                            .thread = thread,
                                            .after = first ? NULL : &before});
            before = thread;
        }
    }
}

static void gather_directly(struct place *p, uint32_t d)
{
    const uint32_t n = dim_of(p, d)->n, at = p->at[d], size = group_size(p, d);
    for (struct window w = {.d = d}; w.first < end_of_windows(p, size); w.first += w.count) {
        w.count = size - w.first < p->window ? size - w.first : p->window;
        send_directly(p, w, true);
        if (sends_input(p, d))
            keep_own(p);
        for (uint32_t distance = n - 1; distance > 0; distance--)
            add_step(p, (struct group_step){.op = SCHEDULE_RECV,
                                            .d = d,
                                            .at = (at + distance) % n,
                                            .first = w.first,
                                            .count = w.count,
                                            .dst = SCHEDULE_OUTPUT,
                                            .recv_from = peer_at(p, d, (at + distance) % n),
                                            .thread = thread_for(part_of(p), d, distance)});
    }
}

/* ---- all dimensions -------------------------------------------------------------------------- */

/* The last sum of a line is sent on at once where the gathering begins along the same line. */
static bool turns_at(const struct place *p, uint32_t d)
{
    return collective_of(p) == CCL_ALL_REDUCE && d + 1 == part_of(p)->dims &&
           dim_of(p, d)->joint != RS_AG_DIRECT;
}

static void scatter_all(struct place *p)
{
    for (uint32_t d = 0; d < part_of(p)->dims; d++) {
        if (dim_of(p, d)->joint == RS_AG_DIRECT)
            scatter_directly(p, d);
        else
            scatter_along(p, d, turns_at(p, d));
        end_dimension(p);
    }
}

static void gather_all(struct place *p)
{
    for (uint32_t d = part_of(p)->dims; d-- > 0;) {
        if (dim_of(p, d)->joint == RS_AG_DIRECT)
            gather_directly(p, d);
        else
            gather_along(p, d, turns_at(p, d));
        end_dimension(p);
    }
}

/* One rank alone: its tensor is the result. */
static void copy_alone(const struct place *p)
{
    if (collective_of(p) != CCL_ALL_REDUCE)
        (void)schedule_add(
            p->b, p->rank, p->thread,
            (struct schedule_step){.op = SCHEDULE_COPY,
                                   .count = 1,
                                   .src = {.at = p->part, .buffer = SCHEDULE_INPUT},
                                   .dst = {.at = p->part, .buffer = SCHEDULE_OUTPUT}});
}

/* ---- second ranks of places ------------------------------------------------------------------ */

/* A step with the chunks of a whole part, window by window. */
static void fold_step(const struct place *p, uint32_t thread, uint32_t rank,
                      struct schedule_step step)
{
    const uint32_t first = p->part * p->ranks;
    for (uint32_t i = 0; i < p->ranks; i += step.count) {
        step.channel = (uint8_t)p->part;
        step.count = p->ranks - i < p->window ? p->ranks - i : p->window;
        step.src.at = step.dst.at = first + i;
        (void)schedule_add(p->b, rank, thread, step);
    }
}

static uint32_t folded_rank_of(const struct place *p)
{
    return p->number < p->plan->folded ? p->plan->folded_rank[p->number] : SCHEDULE_NO_RANK;
}

static void fold(struct place *p)
{
    const uint32_t other = folded_rank_of(p);
    if (other == SCHEDULE_NO_RANK)
        return;
    fold_step(p, p->thread, p->rank,
              (struct schedule_step){.op = SCHEDULE_RECV_REDUCE_COPY,
                                     .src = {.buffer = SCHEDULE_INPUT},
                                     .dst = {.buffer = SCHEDULE_OUTPUT},
                                     .recv_from = other});
}

static void unfold(struct place *p)
{
    const uint32_t other = folded_rank_of(p);
    if (other == SCHEDULE_NO_RANK)
        return;
    fold_step(p, p->thread, p->rank,
              (struct schedule_step){
                  .op = SCHEDULE_SEND, .src = {.buffer = SCHEDULE_OUTPUT}, .send_to = other});
    const uint32_t thread = schedule_thread(p->b, other, p->part);
    fold_step(p, thread, other,
              (struct schedule_step){
                  .op = SCHEDULE_SEND, .src = {.buffer = SCHEDULE_INPUT}, .send_to = p->rank});
    fold_step(p, thread, other,
              (struct schedule_step){
                  .op = SCHEDULE_RECV, .dst = {.buffer = SCHEDULE_OUTPUT}, .recv_from = p->rank});
}

static void make_place(struct place p)
{
    const struct rs_ag_part *const part = part_of(&p);
    p.threads = threads_of(part);
    for (uint32_t d = 0; d < part->dims; d++)
        p.at[d] = p.number / part->dim[d].stride % part->dim[d].n;
    for (uint32_t t = 0; t < p.threads; t++) {
        const uint32_t thread = schedule_thread(p.b, p.rank, p.part);
        p.thread = t == 0 ? thread : p.thread;
        if (part->dims > 0 && part->dim[0].way == RS_AG_MEET_DOWN)
            schedule_thread_other_way(p.b, p.rank, thread);
    }
    if (part->dims == 0) {
        copy_alone(&p);
        return;
    }
    fold(&p);
    if (collective_of(&p) != CCL_ALL_GATHER)
        scatter_all(&p);
    if (collective_of(&p) != CCL_REDUCE_SCATTER)
        gather_all(&p);
    unfold(&p);
}

/* Chunks of scratch of one part: the largest group of a first dimension that is not the last. */
static uint32_t scratch_of(const struct rs_ag *plan)
{
    uint32_t most = 0;
    if (plan->call->collective != CCL_REDUCE_SCATTER)
        return 0;
    for (uint32_t i = 0; i < plan->parts; i++)
        if (plan->part[i].dims > 1 && plan->call->world_size / plan->part[i].dim[0].n > most)
            most = plan->call->world_size / plan->part[i].dim[0].n;
    return most;
}

uint32_t rs_ag_window(const struct ccl_call *call, uint64_t chunks)
{
    const uint64_t bytes = call->n_elem * tl_itemsize(call->dtype);
    const uint64_t chunk = (bytes + chunks - 1) / chunks;
    const uint64_t room = call->ccl->n_slots * schedule_tile_bytes(call->ccl),
                   most = schedule_chunk_bytes(bytes, chunks);
    if (call->collective == CCL_ALL_REDUCE && call->ccl->n_elem_is_most &&
        most <= schedule_tile_bytes(call->ccl))
        return room / most < UINT16_MAX ? (uint32_t)(room / most) : UINT16_MAX;
    const uint64_t tiles = call->ccl->slot_bytes > 0 ? chunk / call->ccl->slot_bytes + 1 : 1;
    return tiles < call->ccl->n_slots ? (uint32_t)(call->ccl->n_slots / tiles) : 1;
}

/* About how many steps a schedule has. */
static uint64_t steps_about(const struct rs_ag *plan, uint32_t places, uint32_t window)
{
    const bool reduces = plan->call->collective == CCL_ALL_REDUCE;
    uint64_t steps = 0;
    for (uint32_t i = 0; i < plan->parts; i++) {
        uint32_t group = places;
        for (uint32_t d = 0; d < plan->part[i].dims; d++) {
            const uint32_t n = plan->part[i].dim[d].n;
            group /= n;
            steps += (uint64_t)(reduces ? (group + window - 1) / window * 2 : group) * n;
        }
    }
    return steps * places;
}

static bool has_lines(const struct rs_ag *plan)
{
    for (uint32_t i = 0; i < plan->parts; i++)
        for (uint32_t d = 0; d < plan->part[i].dims; d++)
            if (plan->part[i].dim[d].joint == RS_AG_LINE)
                return true;
    return false;
}

/* Estimates ask for a sketch, and there are very many steps. Places on lines do not go alike; so
 * more steps of theirs are made before a sketch stands for them. */
static bool may_be_sketched(const struct rs_ag *plan, uint32_t places, uint32_t window)
{
    enum { STEPS_MAX = 200000, STEPS_MAX_OF_LINES = 1000000 };
    return plan->call->sketch && plan->folded == 0 &&
           steps_about(plan, places, window) > (has_lines(plan) ? STEPS_MAX_OF_LINES : STEPS_MAX);
}

/* The parts of a sketch, on the heap. A line is sketched as a ring on which all messages go up: the
 * last link of a line, and each place in its middle, have as many messages as those of such a ring.
 */
static struct rs_ag_part *parts_of_sketch(const struct rs_ag *plan)
{
    struct rs_ag_part *const part = malloc(plan->parts * sizeof *part);
    for (uint32_t i = 0; part != NULL && i < plan->parts; i++) {
        part[i] = plan->part[i];
        for (uint32_t d = 0; d < part[i].dims; d++)
            if (part[i].dim[d].joint == RS_AG_LINE) {
                part[i].dim[d].joint = RS_AG_RING;
                part[i].dim[d].way = RS_AG_UP;
            }
    }
    return part;
}

struct schedule *rs_ag_schedule(const struct rs_ag *plan, struct cw_error *error)
{
    const enum ccl_collective collective = plan->call->collective;
    const uint32_t places = plan->call->world_size - plan->folded, all = places * plan->parts;
    struct schedule_builder *const b =
        schedule_builder_create(plan->name, collective, plan->call->world_size, plan->parts);
    if (b == NULL) {
        (void)cw_error_memory(error, "a schedule");
        return NULL;
    }
    for (uint32_t i = 0; i < plan->parts; i++)
        if (!rs_ag_fits(&plan->part[i])) {
            struct ccl_refusal refusal;
            (void)rs_ag_refuse(plan->call, &refusal);
            (void)cw_error_set(error, CW_USAGE, "%s; %s", refusal.wrong, refusal.legal);
            schedule_builder_free(b);
            return NULL;
        }
    schedule_builder_head(b)->in_place = collective == CCL_ALL_REDUCE;
    const uint32_t parts = scheduled_lanes(plan->call) > 1 ? 1 : plan->parts; /* of a shard */
    const uint32_t chunks = collective == CCL_ALL_GATHER ? parts : places * parts;
    struct place p = {.plan = plan,
                      .b = b,
                      .ranks = places,
                      .scratch = scratch_of(plan),
                      .window = rs_ag_window(plan->call, chunks)};
    for (uint32_t rank = 0; rank < plan->call->world_size; rank++)
        schedule_chunks_of(b, rank, collective == CCL_ALL_GATHER ? plan->parts : all,
                           collective == CCL_REDUCE_SCATTER ? plan->parts : all,
                           p.scratch * plan->parts);
    const bool sketch = may_be_sketched(plan, places, p.window);
    struct rs_ag like = *plan;
    struct rs_ag_part *const part = sketch ? parts_of_sketch(plan) : NULL;
    if (sketch && part == NULL) {
        (void)cw_error_memory(error, "a schedule");
        schedule_builder_free(b);
        return NULL;
    }
    like.part = sketch ? part : plan->part;
    p.plan = &like;
    schedule_builder_head(b)->sketch = sketch;
    schedule_builder_head(b)->near = sketch && has_lines(plan);
    for (p.number = 0; p.number < places; p.number++) {
        p.rank = rank_numbered(&p, p.number);
        p.peers_only = sketch && p.rank > 0;
        for (p.part = 0; p.part < plan->parts; p.part++)
            make_place(p);
    }
    free(part);
    return schedule_build(b, error);
}
