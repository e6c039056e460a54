/*
 * inside.c: the phases of a hierarchy that stay inside a SIP (hierarchy.h).
 */
#include "collectives/algorithms/scheduled/hierarchy.h"

/* ---- members and owners ---------------------------------------------------------------------- */

uint32_t inside_threads(const struct inside *inside)
{
    return inside->way == INSIDE_LRAB ? 1 : INSIDE_THREADS;
}

uint32_t inside_owners(const struct inside *inside)
{
    return inside->way == INSIDE_LRAB ? 1 : inside->members;
}

/* Owners of a group of dimension d: members that share its place there, and in the dimensions
 * before. */
static uint32_t owners_of_group(const struct inside *inside, uint32_t d)
{
    uint32_t owners = 1;
    for (uint32_t k = d + 1; k < inside->dims && inside->way != INSIDE_LRAB; k++)
        owners *= inside->dim[k].n;
    return owners;
}

static uint32_t chunks_of_group(const struct member *m, uint32_t d)
{
    return owners_of_group(m->inside, d) * m->chunks;
}

/* The first owner of the group of place `at` of dimension d. */
static uint32_t first_of_group(const struct member *m, uint32_t d, uint32_t at)
{
    uint32_t owner = at * owners_of_group(m->inside, d);
    for (uint32_t k = 0; k < d; k++)
        owner += m->at[k] * owners_of_group(m->inside, k);
    return m->inside->way == INSIDE_LRAB ? 0 : owner;
}

/* The member is at the root of all dimensions before d. */
static bool at_root_before(const struct member *m, uint32_t d)
{
    for (uint32_t k = 0; k < d; k++)
        if (m->at[k] != m->inside->dim[k].root)
            return false;
    return true;
}

uint32_t inside_owner(const struct member *member)
{
    const uint32_t dims = member->inside->dims;
    if (member->inside->way == INSIDE_LRAB)
        return at_root_before(member, dims) ? 0 : SCHEDULE_NO_RANK;
    return dims == 0 ? 0 : first_of_group(member, dims - 1, member->at[dims - 1]);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void note_peer(struct member *m, uint32_t thread, uint32_t peer)
{
    uint32_t i = 0;
    while (i < m->peers[thread] && m->peer[thread][i] != peer)
        i++;
    if (i == MEMBER_PEERS_MAX)
        m->crowded = true;
    else if (i == m->peers[thread])
        m->peer[thread][m->peers[thread]++] = peer;
}

void member_add(struct member *member, uint32_t thread, struct schedule_step step)
{
    (void)schedule_add(member->b, member->rank, thread, step);
    member->steps[thread]++;
    if (schedule_op_sends((enum schedule_op)step.op))
        note_peer(member, thread, step.send_to);
    if (schedule_op_receives((enum schedule_op)step.op))
        note_peer(member, thread, step.recv_from);
    for (uint32_t other = 0; other < MEMBER_THREADS_MAX; other++) {
        const uint32_t steps = member->awaits[thread][other];
        if (steps > 0)
            schedule_wait_for(member->b, member->rank, thread,
                              (struct schedule_wait){.thread = other, .step = steps - 1});
        member->awaits[thread][other] = 0;
    }
}

void member_await(struct member *member, uint32_t thread, uint32_t other, uint32_t steps)
{
    uint32_t *const awaits = &member->awaits[thread][other];
    if (other != thread && steps > *awaits)
        *awaits = steps;
}

/* The two threads wait for each other before their next steps. */
static void meet(struct member *m, const uint32_t thread[INSIDE_THREADS])
{
    member_await(m, thread[0], thread[1], m->steps[thread[1]]);
    member_await(m, thread[1], thread[0], m->steps[thread[0]]);
}

/* A step with the chunks of a group. */
struct inside_step {
    enum schedule_op op;
    uint32_t channel;
    uint32_t d, group; /* of the place with this number, of dimension d */
    uint32_t to, from; /* places of dimension d */
    uint32_t turn, thread;
    uint32_t first, count; /* chunks of the group; count 0: all */
    bool sums;             /* it reads sums, not the input */
    bool alone;            /* it is not joined with the step before it */
};

static void add_inside(struct member *m, struct inside_step step)
{
    const struct inside *const inside = m->inside;
    const struct inside_dim *const dim = &inside->dim[step.d];
    const uint32_t line = m->rank - m->at[step.d] * dim->stride;
    const uint32_t owner =
        step.turn * inside_owners(inside) + first_of_group(m, step.d, step.group);
    const struct schedule_chunks chunks = {.at = owner * m->chunks + step.first,
                                           .buffer = SCHEDULE_OUTPUT};
    struct schedule_chunks source = chunks;
    source.buffer = step.sums ? SCHEDULE_OUTPUT : SCHEDULE_INPUT;
    member_add(
        m, step.thread,
        (struct schedule_step){.op = (uint8_t)step.op,
                               .channel = (uint8_t)step.channel,
                               .count = step.count > 0 ? step.count : chunks_of_group(m, step.d),
                               .src = source,
                               .dst = chunks,
                               .send_to = line + step.to * dim->stride,
                               .recv_from = line + step.from * dim->stride});
    if (!step.alone)
        schedule_join(m->b, m->rank, step.thread);
}

/* ---- along lines, in both directions --------------------------------------------------------- */

/* The steps towards higher and towards lower places, each by a thread of its own. */
static void both_ways(struct inside_step step, uint32_t at, const uint32_t thread[],
                      struct inside_step *up, struct inside_step *down)
{
    *up = *down = step;
    up->thread = thread[0];
    up->to = down->from = at + 1;
    down->thread = thread[1];
    down->to = up->from = at - 1;
}

/* Sums of the groups above go up, those below down; a place adds its own on the way. Its own group
 * ends here: (own + from below) + from above. All steps upwards come first, so that one thread can
 * carry out all. */
static void reduce_line(struct member *m, struct inside_step step, const uint32_t thread[])
{
    const uint32_t n = m->inside->dim[step.d].n, at = m->at[step.d];
    struct inside_step up, down;
    both_ways(step, at, thread, &up, &down);
    up.op = at == 0 ? SCHEDULE_SEND : SCHEDULE_RECV_REDUCE_SEND;
    for (up.group = n - 1; up.group > at; up.group--)
        add_inside(m, up);
    up.op = SCHEDULE_RECV_REDUCE_COPY;
    if (at > 0)
        add_inside(m, up); /* up.group is at */
    down.op = at == n - 1 ? SCHEDULE_SEND : SCHEDULE_RECV_REDUCE_SEND;
    for (down.group = 0; down.group < at; down.group++)
        add_inside(m, down);
    if (at == n - 1)
        return;
    if (at > 0)
        member_await(m, thread[1], thread[0], m->steps[thread[0]]);
    down.op = SCHEDULE_RECV_REDUCE_COPY;
    down.sums |= at > 0;
    add_inside(m, down);
}

/* The own group goes up and down; the groups from there come, and are passed on. */
static void spread_line(struct member *m, struct inside_step step, const uint32_t thread[])
{
    const uint32_t n = m->inside->dim[step.d].n, at = m->at[step.d];
    struct inside_step up, down;
    both_ways(step, at, thread, &up, &down);
    up.op = down.op = SCHEDULE_SEND;
    up.group = down.group = at;
    if (at < n - 1)
        add_inside(m, up);
    up.op = at == n - 1 ? SCHEDULE_RECV : SCHEDULE_RECV_COPY_SEND;
    while (up.group-- > 0)
        add_inside(m, up);
    if (at > 0)
        add_inside(m, down);
    down.op = at == 0 ? SCHEDULE_RECV : SCHEDULE_RECV_COPY_SEND;
    while (++down.group < n)
        add_inside(m, down);
}

/* ---- directly -------------------------------------------------------------------------------- */

/*
 * A place exchanges with several others at once: their tiles are added one after the other without
 * leaving TCM, and its own go to all from there. So no ring may be full for a peer that comes
 * later: all continue window by window, with as many chunks as fill the slots. Windows of less than
 * a tile would be a waste: then each peer's chunks are one step, alone.
 */
static void begin_windows(const struct member *m, struct inside_step *step)
{
    const uint32_t all = chunks_of_group(m, step->d);
    step->alone = all > m->window && m->small;
    step->count = step->alone || all < m->window ? all : m->window;
    step->first = 0;
}

/* The next window; false: there is none. */
static bool next_window(const struct member *m, struct inside_step *step)
{
    const uint32_t all = chunks_of_group(m, step->d);
    step->first += step->count;
    step->count = all - step->first < step->count ? all - step->first : step->count;
    return step->first < all;
}

/* A place's own group ends here: ((own + from at - 1) + from at - 2) + ..., round the line. All is
 * sent first: one thread can carry out all while that fits in the slots. */
static void reduce_directly(struct member *m, struct inside_step step, const uint32_t thread[])
{
    const uint32_t n = m->inside->dim[step.d].n, at = m->at[step.d];
    struct inside_step send = step, take = step;
    send.op = SCHEDULE_SEND;
    send.thread = thread[0];
    take.op = SCHEDULE_RECV_REDUCE_COPY;
    take.thread = thread[1];
    take.group = at;
    begin_windows(m, &send);
    do {
        for (uint32_t distance = 1; distance < n; distance++) {
            send.to = send.group = (at + distance) % n;
            add_inside(m, send);
        }
    } while (next_window(m, &send));
    begin_windows(m, &take);
    do {
        take.sums = step.sums;
        for (uint32_t distance = 1; distance < n; distance++) {
            take.from = (at + n - distance) % n;
            add_inside(m, take);
            take.sums = true;
        }
    } while (next_window(m, &take));
}

static void spread_directly(struct member *m, struct inside_step step, const uint32_t thread[])
{
    const uint32_t n = m->inside->dim[step.d].n, at = m->at[step.d];
    struct inside_step send = step, take = step;
    send.op = SCHEDULE_SEND;
    send.thread = thread[0];
    send.group = at;
    take.op = SCHEDULE_RECV;
    take.thread = thread[1];
    begin_windows(m, &send);
    do {
        for (uint32_t distance = 1; distance < n; distance++) {
            send.to = (at + distance) % n;
            add_inside(m, send);
        }
    } while (next_window(m, &send));
    begin_windows(m, &take);
    do {
        for (uint32_t distance = 1; distance < n; distance++) {
            take.from = take.group = (at + n - distance) % n;
            add_inside(m, take);
        }
    } while (next_window(m, &take));
}

/* ---- by way of lrab -------------------------------------------------------------------------- */

/* Towards the root of each line: from below is added first, then from above (ALGORITHMS.md, section
 * 2). The last addition is sent on at once. */
static void reduce_to_root(struct member *m, struct inside_step step)
{
    const struct inside *const inside = m->inside;
    bool sent = false;
    for (step.d = 0; step.d < inside->dims && !sent; step.d++) {
        const struct inside_dim *const dim = &inside->dim[step.d];
        const uint32_t at = m->at[step.d];
        const bool below = at <= dim->root && at > 0, above = at >= dim->root && at < dim->n - 1;
        sent = at != dim->root;
        step.to = at < dim->root ? at + 1 : at - 1;
        const enum schedule_op last = sent ? SCHEDULE_RECV_REDUCE_SEND : SCHEDULE_RECV_REDUCE_COPY;
        step.op = above ? SCHEDULE_RECV_REDUCE_COPY : last;
        step.from = at - 1;
        if (below)
            add_inside(m, step);
        step.sums |= below;
        step.op = last;
        step.from = at + 1;
        if (above)
            add_inside(m, step);
        step.sums |= above;
        step.op = SCHEDULE_SEND;
        if (sent && !below && !above)
            add_inside(m, step);
    }
}

/* From the root of each line outwards: towards lower places first. */
static void spread_from_root(struct member *m, struct inside_step step)
{
    const struct inside *const inside = m->inside;
    for (step.d = inside->dims; step.d-- > 0;) {
        const struct inside_dim *const dim = &inside->dim[step.d];
        const uint32_t at = m->at[step.d];
        if (!at_root_before(m, step.d))
            continue;
        const bool comes = at != dim->root;
        const bool below = at <= dim->root && at > 0, above = at >= dim->root && at < dim->n - 1;
        step.from = at < dim->root ? at + 1 : at - 1;
        step.op = !comes ? SCHEDULE_SEND : below || above ? SCHEDULE_RECV_COPY_SEND : SCHEDULE_RECV;
        step.to = at - 1;
        if (below || (comes && !above))
            add_inside(m, step);
        step.to = at + 1;
        step.op = below ? SCHEDULE_SEND : step.op;
        if (above)
            add_inside(m, step);
    }
}

/* ---- phases ---------------------------------------------------------------------------------- */

void inside_reduce(struct member *member, uint32_t turn, const uint32_t thread[INSIDE_THREADS])
{
    const struct inside *const inside = member->inside;
    struct inside_step step = {.channel = thread[0], .turn = turn, .thread = thread[0]};
    if (inside->way == INSIDE_LRAB) {
        reduce_to_root(member, step);
        return;
    }
    for (step.d = 0; step.d < inside->dims; step.d++) {
        step.sums = step.d > 0;
        if (inside->way == INSIDE_LINES)
            reduce_line(member, step, thread);
        else
            reduce_directly(member, step, thread);
        if (step.d + 1 < inside->dims)
            meet(member, thread);
    }
}

void inside_spread(struct member *member, uint32_t turn, const uint32_t thread[INSIDE_THREADS])
{
    const struct inside *const inside = member->inside;
    struct inside_step step = {
        .channel = thread[0], .turn = turn, .thread = thread[0], .sums = true};
    if (inside->way == INSIDE_LRAB) {
        spread_from_root(member, step);
        return;
    }
    for (step.d = inside->dims; step.d-- > 0;) {
        if (inside->way == INSIDE_LINES)
            spread_line(member, step, thread);
        else
            spread_directly(member, step, thread);
        if (step.d > 0)
            meet(member, thread);
    }
}
