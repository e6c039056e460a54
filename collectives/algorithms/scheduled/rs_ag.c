/*
 * rs_ag.c: reduce-scatters and all-gathers along the dimensions of a machine (rs_ag.h).
 */
#include "collectives/algorithms/scheduled/rs_ag.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectives/algorithms/scheduled/rs_ag_place.h"
#include "collectives/algorithms/scheduled/scheduled.h"
#include "collectives/schedule/schedule_walk.h"

/* ---- all dimensions -------------------------------------------------------------------------- */

/* The last sum of a line is sent on at once where the gathering begins along the same line. */
static bool turns_at(const struct rs_ag *plan, uint32_t part, uint32_t d)
{
    return plan->call->collective == CCL_ALL_REDUCE && d + 1 == plan->part[part].dims &&
           plan->part[part].dim[d].joint != RS_AG_DIRECT;
}

static void scatter_all(struct rs_ag_place *p)
{
    for (uint32_t d = 0; d < rs_ag_part_of(p)->dims; d++) {
        if (rs_ag_dim_of(p, d)->joint == RS_AG_DIRECT)
            rs_ag_scatter_directly(p, d);
        else
            rs_ag_scatter_along(p, d, turns_at(p->plan, p->part, d));
        rs_ag_end_dimension(p);
    }
}

static void gather_all(struct rs_ag_place *p)
{
    for (uint32_t d = rs_ag_part_of(p)->dims; d-- > 0;) {
        if (rs_ag_dim_of(p, d)->joint == RS_AG_DIRECT)
            rs_ag_gather_directly(p, d);
        else
            rs_ag_gather_along(p, d, turns_at(p->plan, p->part, d));
        rs_ag_end_dimension(p);
    }
}

/* One rank alone: its tensor is the result. */
static void copy_alone(const struct rs_ag_place *p)
{
    if (rs_ag_collective_of(p) != CCL_ALL_REDUCE)
        (void)schedule_add(
            p->b, p->rank, p->thread,
            (struct schedule_step){.op = SCHEDULE_COPY,
                                   .count = 1,
                                   .src = {.at = p->part, .buffer = SCHEDULE_INPUT},
                                   .dst = {.at = p->part, .buffer = SCHEDULE_OUTPUT}});
}

/* ---- second ranks of places ------------------------------------------------------------------ */

/* A step with the chunks of a whole part, window by window. */
static void fold_step(const struct rs_ag_place *p, uint32_t thread, uint32_t rank,
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

static uint32_t folded_rank_of(const struct rs_ag_place *p)
{
    return p->number < p->plan->folded ? p->plan->folded_rank[p->number] : SCHEDULE_NO_RANK;
}

static void fold(struct rs_ag_place *p)
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

static void unfold(struct rs_ag_place *p)
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

static void make_place(struct rs_ag_place p)
{
    const struct rs_ag_part *const part = rs_ag_part_of(&p);
    p.threads = rs_ag_threads_of(part);
    rs_ag_settle(&p);
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
    if (rs_ag_collective_of(&p) != CCL_ALL_GATHER)
        scatter_all(&p);
    if (rs_ag_collective_of(&p) != CCL_REDUCE_SCATTER)
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
    const uint64_t room = call->ccl->queues.n_slots * schedule_tile_bytes(call->ccl),
                   most = schedule_chunk_bytes(bytes, chunks);
    if (call->collective == CCL_ALL_REDUCE && call->ccl->n_elem_is_most &&
        most <= schedule_tile_bytes(call->ccl))
        return room / most < UINT16_MAX ? (uint32_t)(room / most) : UINT16_MAX;
    const uint64_t tiles =
        call->ccl->queues.slot_bytes > 0 ? chunk / call->ccl->queues.slot_bytes + 1 : 1;
    return tiles < call->ccl->queues.n_slots ? (uint32_t)(call->ccl->queues.n_slots / tiles) : 1;
}

/* Steps of all places of a dimension, with one window of each group. */
static uint64_t steps_of_dim(const struct rs_ag *plan, const struct rs_ag_dim *dim, bool turns)
{
    const enum ccl_collective collective = plan->call->collective;
    const uint64_t directly = 2 * (uint64_t)dim->n * (dim->n - 1);
    uint64_t steps = 0;
    if (collective != CCL_ALL_GATHER)
        steps += dim->joint == RS_AG_DIRECT ? directly : rs_ag_scatter_steps(dim);
    if (collective != CCL_REDUCE_SCATTER)
        steps += dim->joint == RS_AG_DIRECT ? directly : rs_ag_gather_steps(dim, turns);
    return steps;
}

static uint64_t windows_of(uint64_t chunks, uint32_t window)
{
    return (chunks + window - 1) / window;
}

/* The steps of all ranks. */
static uint64_t steps_of(const struct rs_ag *plan, uint32_t places, uint32_t window)
{
    const bool together = plan->call->collective == CCL_ALL_REDUCE;
    uint64_t steps = 0;
    for (uint32_t i = 0; i < plan->parts; i++) {
        const struct rs_ag_part *const part = &plan->part[i];
        uint32_t group = places;
        for (uint32_t d = 0; d < part->dims; d++) {
            group /= part->dim[d].n;
            steps += (together ? windows_of(group, window) : group) * (places / part->dim[d].n) *
                     steps_of_dim(plan, &part->dim[d], turns_at(plan, i, d));
        }
        if (plan->call->collective == CCL_ALL_GATHER || (part->dims == 0 && !together))
            steps += places; /* copies */
        steps += 4 * windows_of(places, window) * plan->folded;
    }
    return steps;
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
static bool may_be_sketched(const struct rs_ag *plan, uint64_t steps)
{
    enum { STEPS_MAX = 200000, STEPS_MAX_OF_LINES = 1000000 };
    return plan->call->sketch && plan->folded == 0 &&
           steps > (has_lines(plan) ? STEPS_MAX_OF_LINES : STEPS_MAX);
}

/* The parts of a sketch, on the heap. A line is sketched as a ring on which all messages go up: the
 * last link of a line, and each place in its middle, have as many messages as in such a ring.
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

/* ---- folds -----------------------------------------------------------------------------------
 * Proof. Let a turn add t to the place in dimension k, modulo its n places.
 * 1. A place p->at[d] is used for three things: as the peer or the group at (at + i) % n, for an i
 *    that all places share; as the place of the own group; and, on lines, for how far groups go.
 *    The first two are turned with the rank. Lines are not turned (below), and on a ring reach_of()
 *    does not look at `at`. So a turned rank has the same steps, with turned peers and groups, in
 *    the same threads, channels and order, with the same waits.
 * 2. Windows count chunks of a group from 0, whatever its place: they have as many chunks.
 * 3. Early loads are the same. A step along d touches chunks w.first ... of a group of d. Along d,
 *    a chunk of another place's group is written in the window that it belongs to, and there at one
 *    step, which 1 turns with the rank. All other writes are of whole groups: before steps along d,
 *    all chunks that they read in SCHEDULE_OUTPUT and scratch, or none of them, have been written
 *    along the dimensions before, for which all threads of the part wait. So which of a group's
 *    chunks are the turned rank's makes no difference (within a group they are in the order of
 *    places, not of turned places), and whether a step before has written a chunk depends on the
 *    window and the group alone.
 * 4. Chunks have equal lengths (below), so all values have.
 * Rings of two may go by two links, by outlets; they are left to the comparison. */

static const struct rs_ag_dim *dim_of_digit(const struct rs_ag *plan,
                                            const struct hw_fold_digit *digit)
{
    const struct rs_ag_part *const part = &plan->part[0]; /* the others have the same dimensions */
    for (uint32_t d = 0; d < part->dims; d++)
        if (part->dim[d].stride == digit->stride && part->dim[d].n == digit->size)
            return &part->dim[d];
    return NULL;
}

static bool has_equal_chunks(const struct rs_ag *plan)
{
    const struct ccl_call *const call = plan->call;
    const uint64_t parts = scheduled_lanes(call) > 1 ? 1 : plan->parts;
    return call->n_elem % (call->collective == CCL_ALL_GATHER ? parts : parts * call->world_size) ==
           0;
}

bool rs_ag_folds(const struct rs_ag *plan, const struct hw_fold *fold, char why[CCL_FOLD_WHY_BYTES])
{
    bool keeps_order = fold->translates && plan->folded == 0;
    for (uint32_t part = 0; part < plan->parts && keeps_order; part++)
        for (uint32_t i = 0;
             plan->part[part].rank_of != NULL && keeps_order && i < plan->call->world_size; i++)
            keeps_order = plan->part[part].rank_of[i] == i;
    for (uint32_t k = 0; k < fold->count; k++) {
        const struct hw_fold_digit *const digit = &fold->digit[k];
        const struct rs_ag_dim *const dim = dim_of_digit(plan, digit);
        if (digit->step == digit->size)
            continue;
        if (!keeps_order || dim == NULL || dim->joint == RS_AG_LINE) {
            snprintf(why, CCL_FOLD_WHY_BYTES, "turns do not keep the order in which %s goes",
                     plan->name);
            return false;
        }
        if (dim->joint == RS_AG_RING && dim->n == 2) {
            snprintf(why, CCL_FOLD_WHY_BYTES, "%s has no rule for rings of two", plan->name);
            return false;
        }
    }
    if (!has_equal_chunks(plan))
        snprintf(why, CCL_FOLD_WHY_BYTES,
                 "%" PRIu64 " elements per shard have chunks of unequal lengths",
                 plan->call->n_elem);
    return has_equal_chunks(plan);
}

/* ---- one chunk ------------------------------------------------------------------------------- */

/* The numbers of ranks' places. */
struct numbers {
    uint32_t *of; /* [parts * ranks], or [ranks] of all parts; NULL: the ranks' own */
    uint32_t ranks;
    bool is_common; /* all parts have the same */
};

static uint32_t number_in(const struct numbers *numbers, uint32_t part, uint32_t rank)
{
    if (numbers->of == NULL)
        return rank;
    return numbers->of[(numbers->is_common ? 0 : (size_t)part * numbers->ranks) + rank];
}

static bool is_common(const struct rs_ag *plan)
{
    for (uint32_t part = 1; part < plan->parts; part++)
        if (plan->part[part].rank_of != plan->part[0].rank_of)
            return false;
    return true;
}

/* False: no memory. */
static bool numbers_of(const struct rs_ag *plan, struct numbers *numbers)
{
    const uint32_t ranks = plan->call->world_size;
    *numbers = (struct numbers){.ranks = ranks, .is_common = is_common(plan)};
    const uint32_t parts = numbers->is_common ? 1 : plan->parts;
    if (numbers->is_common && plan->part[0].rank_of == NULL)
        return true;
    numbers->of = malloc((size_t)parts * ranks * sizeof *numbers->of);
    for (uint32_t part = 0; numbers->of != NULL && part < parts; part++)
        for (uint32_t i = 0; i < ranks; i++) {
            const uint32_t *const rank_of = plan->part[part].rank_of;
            numbers->of[(size_t)part * ranks + (rank_of != NULL ? rank_of[i] : i)] = i;
        }
    return numbers->of != NULL;
}

struct one_chunk {
    const struct rs_ag *plan;
    const struct numbers *numbers;
    uint32_t scratch;
};

/* What the chunk is called in each group: the digits of its owner's places. */
static struct rs_ag_one one_of_value(const struct one_chunk *chunk, uint32_t value,
                                     const struct rs_ag_place *p, uint32_t part)
{
    const struct rs_ag *const plan = chunk->plan;
    struct rs_ag_one one = {.steps = NULL};
    const uint32_t owner = value / plan->parts;
    const uint32_t number = number_in(chunk->numbers, part, owner);
    for (uint32_t d = 0; d < plan->part[part].dims; d++) {
        const struct rs_ag_dim *const dim = &plan->part[part].dim[d];
        one.at[d] = plan->call->collective == CCL_ALL_REDUCE
                        ? value % p->ranks / p->group[d] % dim->n
                        : number / dim->stride % dim->n;
    }
    for (uint32_t d = 0; d < plan->part[part].dims; d++)
        for (uint32_t k = d + 1; k < plan->part[part].dims; k++)
            one.chunk[d] += one.at[k] * p->group[k];
    return one;
}

/* struct schedule_walk_maker, make(). */
static void make_one(void *arg, uint32_t rank, uint32_t value, struct schedule_walk_steps *steps)
{
    const struct one_chunk *const chunk = arg;
    const struct rs_ag *const plan = chunk->plan;
    struct rs_ag_place p = {.plan = plan,
                            .rank = rank,
                            .ranks = plan->call->world_size,
                            .scratch = chunk->scratch,
                            .window = 1};
    p.part = plan->call->collective == CCL_ALL_REDUCE ? value / p.ranks : value % plan->parts;
    p.number = number_in(chunk->numbers, p.part, rank);
    p.threads = rs_ag_threads_of(rs_ag_part_of(&p));
    rs_ag_settle(&p);
    struct rs_ag_one one = one_of_value(chunk, value, &p, p.part);
    one.steps = steps;
    p.one = &one;
    if (plan->call->collective != CCL_ALL_GATHER)
        scatter_all(&p);
    if (plan->call->collective != CCL_REDUCE_SCATTER)
        gather_all(&p);
}

static int look_at_chunks(const struct rs_ag *plan, struct cw_error *error)
{
    const struct schedule_walk *const walk = plan->call->walk;
    struct numbers numbers;
    if (!numbers_of(plan, &numbers))
        return cw_error_memory(error, "the order of the ranks");
    struct one_chunk chunk = {.plan = plan, .numbers = &numbers, .scratch = scratch_of(plan)};
    const struct schedule_walk_maker maker = {.name = plan->name,
                                              .collective = plan->call->collective,
                                              .ranks = plan->call->world_size,
                                              .parts = plan->parts,
                                              .values = plan->call->world_size * plan->parts,
                                              .make = make_one,
                                              .arg = &chunk};
    const int code = walk->look(walk->arg, &maker, error);
    free(numbers.of);
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Where the steps of a plan's ranks are made. */
struct making {
    const struct rs_ag *plan;
    bool sketch, partial;    /* as the schedule */
    bool by_number;          /* places are made in the order of their numbers */
    uint64_t steps;          /* of all ranks */
    uint32_t ranks;          /* in the schedule */
    struct rs_ag_part *like; /* [parts] of a sketch; else NULL */
    struct numbers numbers;
};

static int check_fits(const struct rs_ag *plan, struct cw_error *error)
{
    for (uint32_t i = 0; i < plan->parts; i++)
        if (!rs_ag_fits(&plan->part[i])) {
            struct ccl_refusal refusal;
            (void)rs_ag_refuse(plan->call, &refusal);
            return cw_error_set(error, CW_USAGE, "%s; %s", refusal.wrong, refusal.legal);
        }
    return CW_OK;
}

static int begin_making(struct making *m, struct cw_error *error)
{
    const struct ccl_call *const call = m->plan->call;
    if (check_fits(m->plan, error) != CW_OK ||
        scheduled_has_room(call, m->steps / call->world_size * m->ranks, error) != CW_OK)
        return error->exit_code;
    if (m->sketch)
        m->like = parts_of_sketch(m->plan);
    m->by_number = !m->partial && is_common(m->plan);
    const bool good =
        (!m->sketch || m->like != NULL) && (m->by_number || numbers_of(m->plan, &m->numbers));
    return good ? CW_OK : cw_error_memory(error, "a schedule");
}

static void make_head(const struct making *m, struct schedule *head)
{
    const enum ccl_collective collective = m->plan->call->collective;
    head->in_place = collective == CCL_ALL_REDUCE;
    head->keeps_numbers = collective == CCL_ALL_REDUCE;
    head->all_ranks = m->plan->call->world_size;
    head->channels = m->plan->part[0].dims > 0 ? m->plan->parts : 1;
    head->partial = m->partial;
    head->sketch = m->sketch;
    head->near = m->sketch && has_lines(m->plan);
    head->steps = m->steps;
}

static void make_ranks(const struct making *m, struct rs_ag_place p)
{
    const enum ccl_collective collective = m->plan->call->collective;
    const uint32_t parts = m->plan->parts, all = p.ranks * parts;
    const uint32_t *const wanted = m->plan->call->wanted;
    for (uint32_t rank = 0; rank < m->ranks; rank++)
        schedule_chunks_of(p.b, rank, collective == CCL_ALL_GATHER ? parts : all,
                           collective == CCL_REDUCE_SCATTER ? parts : all, p.scratch * parts);
    for (uint32_t i = 0; i < (m->partial ? m->ranks : p.ranks); i++) {
        p.part = 0;
        p.rank = m->by_number ? rs_ag_rank_numbered(&p, i) : i;
        p.peers_only = m->sketch && p.rank > 0;
        for (; p.part < parts; p.part++) {
            p.number =
                m->by_number ? i : number_in(&m->numbers, p.part, m->partial ? wanted[i] : i);
            make_place(p);
        }
    }
}

struct schedule *rs_ag_schedule(const struct rs_ag *plan, struct cw_error *error)
{
    const struct ccl_call *const call = plan->call;
    if (call->walk != NULL) {
        error->exit_code = look_at_chunks(plan, error);
        return NULL;
    }
    const uint32_t places = call->world_size - plan->folded;
    const uint32_t parts = scheduled_lanes(call) > 1 ? 1 : plan->parts; /* of a shard */
    const uint32_t window =
        rs_ag_window(call, call->collective == CCL_ALL_GATHER ? parts : places * parts);
    struct making m = {.plan = plan, .steps = steps_of(plan, places, window)};
    m.sketch = may_be_sketched(plan, m.steps);
    m.partial = call->wanted != NULL && !m.sketch && plan->folded == 0;
    m.ranks = m.partial ? call->wanted_count : call->world_size;
    struct schedule_builder *b = NULL;
    if (begin_making(&m, error) == CW_OK) {
        b = schedule_builder_create(plan->name, call->collective, m.ranks, plan->parts);
        if (b == NULL)
            (void)cw_error_memory(error, "a schedule");
    }
    if (b != NULL) {
        struct rs_ag like = *plan;
        like.part = m.sketch ? m.like : plan->part;
        make_head(&m, schedule_builder_head(b));
        if (!m.sketch)
            schedule_builder_expect(b, m.steps / call->world_size + plan->parts);
        make_ranks(&m, (struct rs_ag_place){.plan = &like,
                                            .b = b,
                                            .ranks = places,
                                            .scratch = scratch_of(plan),
                                            .window = window});
    }
    free(m.like);
    free(m.numbers.of);
    return b != NULL ? schedule_build(b, error) : NULL;
}
