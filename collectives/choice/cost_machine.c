/*
 * cost_machine.c: makes the threads of an estimate, with their places, and the queues between them
 * at their first use; finds which loads may begin early (cost_machine.h).
 */
#include "collectives/choice/cost_machine.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/schedule/schedule_values.h"
#include "lp/queues/logical_wiring.h"

enum { MANY = UINT32_MAX - 1 }; /* several threads */

/* ---- like ranks ------------------------------------------------------------------------------ */

/* Both messages stay among the members of a rank and go between members of the same numbers, or
 * both do not. */
static bool like_peers(uint32_t members, uint32_t own_a, uint32_t a, uint32_t own_b, uint32_t b)
{
    const bool stays_a = a / members == own_a / members, stays_b = b / members == own_b / members;
    return stays_a == stays_b && (!stays_a || a % members == b % members);
}

/* Ranks number_a and number_b have the same steps, apart from their peers. */
static bool is_alike(const struct schedule *s, uint32_t number_a, uint32_t number_b)
{
    const struct schedule_rank *const a = &s->rank[number_a], *const b = &s->rank[number_b];
    if (a->thread_count != b->thread_count || a->step_count != b->step_count ||
        a->wait_count != b->wait_count)
        return false;
    for (uint32_t i = 0; i < a->thread_count; i++)
        if (a->thread[i].step_first != b->thread[i].step_first)
            return false;
    for (uint32_t i = 0; i < a->step_count; i++) {
        const struct schedule_step *const x = &a->step[i], *const y = &b->step[i];
        if (x->src.none != y->src.none || x->dst.none != y->dst.none || x->op != y->op ||
            x->channel != y->channel || x->count != y->count || x->wait_count != y->wait_count)
            return false;
        const enum schedule_op op = (enum schedule_op)x->op;
        if (s->members > 1 &&
            ((schedule_op_sends(op) &&
              !like_peers(s->members, number_a, x->send_to, number_b, y->send_to)) ||
             (schedule_op_receives(op) &&
              !like_peers(s->members, number_a, x->recv_from, number_b, y->recv_from))))
            return false;
    }
    return true;
}

bool cost_are_alike(const struct cost *c)
{
    const struct schedule *const s = c->s;
    if (c->chunk_elems * (c->chunks - 1) >= c->block_elems && s->members == 1) /* empty chunks */
        return false;
    for (uint32_t r = s->members; r < s->rank_count; r++)
        if (!is_alike(s, r % s->members, r))
            return false;
    return true;
}

/* ---- queues ---------------------------------------------------------------------------------- */

static uint32_t ranks_of(const struct cost *c)
{
    return c->alike ? c->s->members : c->s->rank_count;
}

/* Of the lanes of a part, the first that is in this group. */
static uint32_t first_lane(const struct cost *c, uint32_t group)
{
    return (uint32_t)((uint64_t)group * c->share / c->groups);
}

/* The PE of a SIP that is a lane of a part. */
static uint32_t pe_of_lane(const struct cost *c, uint32_t lane, uint32_t part)
{
    const uint32_t pes = hw_pes(c->call->hw), cubes = hw_cubes(c->call->hw);
    const uint32_t each = c->share * c->s->parts <= cubes ? pes : 1;
    const uint32_t pe = (lane * c->s->parts + part) * each;
    return pe < pes * cubes ? pe : 0;
}

/* The PE that carries out a thread; in lanes, one in the middle of its group. */
static struct hw_place place_of(const struct cost *c, uint32_t rank, uint32_t thread)
{
    const uint32_t pes = hw_pes(c->call->hw), cubes = hw_cubes(c->call->hw);
    const uint32_t members = c->s->members;
    uint32_t pe = rank % members * (cubes * pes / members) + thread;
    if (c->lanes)
        pe = pe_of_lane(c, (first_lane(c, c->group) + first_lane(c, c->group + 1)) / 2, thread);
    return (struct hw_place){
        .sip = ccl_sip_of(&c->call->ccl->ranks, rank / members), .cube = pe / pes, .pe = pe % pes};
}

/* The thread of a rank and its first step that sends to a rank on a channel. */
struct sending {
    uint32_t thread, step;
};
static struct sending find_sending(const struct schedule_rank *rank, uint32_t to, uint32_t channel)
{
    for (uint32_t t = 0; t < rank->thread_count; t++)
        for (uint32_t i = 0; i < rank->thread[t].step_count; i++) {
            const struct schedule_step *const step = &rank->step[rank->thread[t].step_first + i];
            if (schedule_op_sends((enum schedule_op)step->op) && step->send_to == to &&
                step->channel == channel)
                return (struct sending){t, i};
        }
    return (struct sending){COST_NONE, COST_NONE};
}

/* The thread of a rank that receives from a rank on a channel. */
static uint32_t find_receiving(const struct schedule_rank *rank, uint32_t from, uint32_t channel)
{
    for (uint32_t t = 0; t < rank->thread_count; t++)
        for (uint32_t i = 0; i < rank->thread[t].step_count; i++) {
            const struct schedule_step *const step = &rank->step[rank->thread[t].step_first + i];
            if (schedule_op_receives((enum schedule_op)step->op) && step->recv_from == from &&
                step->channel == channel)
                return t;
        }
    return 0;
}

/* The direction of a thread's queue to a peer: its queues are numbered by their first use
 * (schedule_lay.c). */
static enum hw_dir direction_to(const struct schedule_rank *rank, uint32_t thread, uint32_t peer)
{
    uint32_t known[HW_DIRS_MAX], count = 0;
    for (uint32_t i = 0; i < rank->thread[thread].step_count; i++) {
        const struct schedule_step *const step = &rank->step[rank->thread[thread].step_first + i];
        const enum schedule_op op = (enum schedule_op)step->op;
        const uint32_t ends[] = {schedule_op_sends(op) ? step->send_to : COST_NONE,
                                 schedule_op_receives(op) ? step->recv_from : COST_NONE};
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t at = 0;
            while (at < count && known[at] != ends[k])
                at++;
            if (ends[k] == peer || at == HW_DIRS_MAX)
                return lp_dir_numbered(at);
            if (ends[k] != COST_NONE && at == count)
                known[count++] = ends[k];
        }
    }
    return HW_DIRS_MAX;
}

static void route_between(const struct cost *c, uint32_t from, uint32_t to, struct sending sending,
                          uint32_t channel, struct cost_route *route)
{
    if (from == to && c->s->sums != NULL) {
        cost_route_of_tree(c->call, place_of(c, from, sending.thread), channel, route);
        return;
    }
    const uint32_t receiver =
        c->s->rank[to].thread_count > 1 ? find_receiving(&c->s->rank[to], from, channel) : 0;
    struct cost_ends ends = {.other_way = c->s->rank[from].thread[sending.thread].other_way,
                             .receiver = HW_DIRS_MAX,
                             .sender = HW_DIRS_MAX};
    if (c->call->hw->sip_topology->hashes) {
        ends.receiver = direction_to(&c->s->rank[to], receiver, from);
        ends.sender = direction_to(&c->s->rank[from], sending.thread, to);
    }
    cost_route_of(c->call, place_of(c, from, sending.thread), place_of(c, to, receiver), ends,
                  route);
}

enum { FIRST_SENDINGS_MAX = 64 };
/* The first sendings of a thread: those steps of its first `end` ones that no step to the same peer
 * on the same channel comes before. They come in the same order on all ranks of a sketch, and there
 * are few: a PE has few queues. Returns how many. */
static uint32_t first_sendings(const struct schedule_step *step, uint32_t end,
                               uint32_t first[FIRST_SENDINGS_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < end && count < FIRST_SENDINGS_MAX; i++) {
        uint32_t k = 0;
        if (!schedule_op_sends((enum schedule_op)step[i].op))
            continue;
        while (k < count && (step[first[k]].send_to != step[i].send_to ||
                             step[first[k]].channel != step[i].channel))
            k++;
        if (k == count)
            first[count++] = i;
    }
    return count;
}

/* First sendings of a thread before one. */
static uint32_t ordinal_of(const struct schedule_rank *rank, struct sending sending)
{
    uint32_t first[FIRST_SENDINGS_MAX];
    return first_sendings(&rank->step[rank->thread[sending.thread].step_first], sending.step,
                          first);
}

/* The first sending of another rank that corresponds to one: of a sketch with its number, else at
 * its place. */
static const struct schedule_step *corresponding(const struct cost *c, struct sending sending,
                                                 uint32_t number, uint32_t r)
{
    const struct schedule_rank *const rank = &c->s->rank[r];
    const struct schedule_thread *const thread = &rank->thread[sending.thread];
    const struct schedule_step *const step = &rank->step[thread->step_first];
    if (!c->s->sketch)
        return &step[sending.step];
    uint32_t first[FIRST_SENDINGS_MAX];
    const uint32_t count = first_sendings(step, thread->step_count, first);
    const uint32_t at = count == 0 ? 0 : first[number < count ? number : count - 1];
    return &step[at];
}

/* Of ranks that are like rank `from`: all send at this step. Counts their messages on the links of
 * each outlet, and takes the mean latency. `count` has a number for each crossing of the machine.
 */
static bool load_of_all(struct cost *c, struct cost_queue *q, uint32_t from, struct sending sending)
{
    const struct hw_config *const hw = c->call->hw;
    const uint32_t ranks = c->s->rank_count;
    uint32_t *const count = calloc(cost_crossings(hw), sizeof *count);
    uint32_t *const most = calloc(cost_crossing_classes(hw), sizeof *most);
    q->busy = calloc(COST_CROSSINGS_MAX, sizeof *q->busy);
    const uint32_t members = c->s->members;
    const uint32_t number = c->s->sketch ? ordinal_of(&c->s->rank[0], sending) : 0;
    int64_t latency_ps = 0, credit_ps = 0;
    for (uint32_t r = from % members; r < ranks && count != NULL && most != NULL && q->busy != NULL;
         r += members) {
        const struct schedule_step *const step = corresponding(c, sending, number, r);
        struct cost_route route;
        route_between(c, r, step->send_to, sending, step->channel, &route);
        c->mixed |= route.latency_ps != q->route.latency_ps && !c->mean;
        latency_ps += route.latency_ps;
        credit_ps += route.credit_ps;
        for (uint32_t i = 0; i < route.count; i++) {
            const uint32_t outlet = cost_crossing_class(hw, route.crossing[i]);
            const uint32_t here = ++count[route.crossing[i]];
            most[outlet] = here > most[outlet] ? here : most[outlet];
        }
    }
    for (uint32_t i = 0; i < q->route.count && most != NULL && q->busy != NULL; i++) {
        uint32_t *const here = &most[cost_crossing_class(hw, q->route.crossing[i])];
        q->busy[i] = *here;
        *here = 0;
    }
    if (!c->s->near) {
        q->off_ps = latency_ps / (ranks / members) - q->route.latency_ps;
        q->credit_off_ps = credit_ps / (ranks / members) - q->route.credit_ps;
        q->route.latency_ps += q->off_ps;
        q->route.credit_ps += q->credit_off_ps;
    }
    const bool made = count != NULL && most != NULL && q->busy != NULL;
    free(count);
    free(most);
    return made;
}

/* The same of a queue of a later group: it is as far from the mean as that of the first group. */
static bool load_as_before(struct cost *c, struct cost_queue *q)
{
    const struct cost_queue *const before = &c->queue[c->queues - c->queues_each];
    q->busy = calloc(COST_CROSSINGS_MAX, sizeof *q->busy);
    if (q->busy == NULL)
        return false;
    memcpy(q->busy, before->busy, COST_CROSSINGS_MAX * sizeof *q->busy);
    q->off_ps = before->off_ps;
    q->credit_off_ps = before->credit_off_ps;
    q->route.latency_ps += q->off_ps;
    q->route.credit_ps += q->credit_off_ps;
    return true;
}

static Word_t key_of_ends(const struct cost *c, uint32_t from, uint32_t to, uint32_t channel)
{
    return ((Word_t)from * c->s->rank_count + to) * 256 + channel;
}

/* The queue of a sending; made at its first use. */
static uint32_t queue_of_sending(struct cost *c, uint32_t from, uint32_t to, uint32_t channel)
{
    void **const at = JudyLIns(&c->by_ends, key_of_ends(c, from, to, channel), PJE0);
    if (at == NULL || at == PPJERR) {
        c->failed = true;
        return 0;
    }
    if (*at != NULL)
        return (uint32_t)(uintptr_t)*at - 1;
    if (c->queues == c->queue_room) {
        const uint32_t room = c->queue_room == 0 ? 64 : 2 * c->queue_room;
        struct cost_queue *const more = realloc(c->queue, room * sizeof *more);
        if (more == NULL) {
            c->failed = true;
            return 0;
        }
        c->queue = more;
        c->queue_room = room;
    }
    struct cost_queue *const q = &c->queue[c->queues];
    *q = (struct cost_queue){.sender = COST_NONE, .receiver = COST_NONE};
    q->arrives_ps = calloc(c->slots, sizeof *q->arrives_ps);
    q->free_ps = calloc(c->slots, sizeof *q->free_ps);
    q->message = calloc(c->slots, sizeof *q->message);
    *at = (void *)(uintptr_t)(c->queues + 1);
    const struct sending sending = find_sending(&c->s->rank[from], to, channel);
    route_between(c, from, to, sending, channel, &q->route);
    c->failed |=
        q->arrives_ps == NULL || q->free_ps == NULL || q->message == NULL ||
        (c->alike && !(c->group == 0 ? load_of_all(c, q, from, sending) : load_as_before(c, q)));
    return c->queues++;
}

/* The queue of the messages that the rank receives. Of like ranks, it is the queue of corresponding
 * messages that come from a rank which is carried out. */
static uint32_t queue_of_receiving(struct cost *c, uint32_t rank, const struct schedule_step *step)
{
    if (!c->alike)
        return queue_of_sending(c, step->recv_from, rank, step->channel);
    void **const at =
        JudyLIns(&c->by_receiver, key_of_ends(c, step->recv_from, rank, step->channel), PJE0);
    if (at == NULL || at == PPJERR) {
        c->failed = true;
        return 0;
    }
    if (*at != NULL)
        return (uint32_t)(uintptr_t)*at - 1;
    const struct sending theirs = find_sending(&c->s->rank[step->recv_from], rank, step->channel);
    const uint32_t like = step->recv_from % c->s->members;
    const uint32_t number = c->s->sketch ? ordinal_of(&c->s->rank[step->recv_from], theirs) : 0;
    const struct schedule_step *const sends = corresponding(c, theirs, number, like);
    const uint32_t queue = queue_of_sending(c, like, sends->send_to, sends->channel);
    *at = (void *)(uintptr_t)(queue + 1);
    return queue;
}

/* ---- early loads: schedule_lay.c, without the order of all steps ----------------------------- */

/* Of a rank's chunks: the first step that writes one, and its thread; or that several threads do.
 */
struct first_writer {
    uint32_t thread, step; /* COST_NONE: no step */
};

static struct first_writer *writer_at(const struct cost *c,
                                      struct first_writer *const writer[SCHEDULE_BUFFERS],
                                      struct schedule_chunks at, uint32_t chunk)
{
    const bool same = c->s->in_place && at.buffer == SCHEDULE_OUTPUT &&
                      schedule_blocks(c->s, SCHEDULE_INPUT) == schedule_blocks(c->s, at.buffer);
    return &writer[same ? SCHEDULE_INPUT : at.buffer][at.at + chunk];
}

static void note_writers(const struct cost *c, const struct cost_thread *t,
                         struct first_writer *const writer[SCHEDULE_BUFFERS])
{
    for (uint32_t i = 0; i < t->thread->step_count; i++) {
        const struct schedule_step *const step = cost_step_at(t, i);
        for (uint32_t k = 0; k < step->count && schedule_step_writes(step); k++) {
            struct first_writer *const w = writer_at(c, writer, step->dst, k);
            if (w->thread == COST_NONE)
                *w = (struct first_writer){t->number, i};
            else if (w->thread != t->number)
                w->thread = MANY;
        }
    }
}

/* Chunks that other threads write may be written later than they are read, as in an all-gather
 * after a reduce-scatter; so it is asked when the estimate comes to it. */
static enum cost_early may_be_early(const struct cost *c, const struct cost_thread *t,
                                    uint32_t number,
                                    struct first_writer *const writer[SCHEDULE_BUFFERS])
{
    const struct schedule_step *const step = cost_step_at(t, number);
    if (!schedule_op_reads((enum schedule_op)step->op) || step->op == SCHEDULE_REDUCE ||
        step->wait_count > 0)
        return EARLY_NO;
    enum cost_early early = EARLY_YES;
    for (uint32_t k = 0; k < step->count && !step->src.none; k++) {
        const struct first_writer *const w = writer_at(c, writer, step->src, k);
        if (w->thread == COST_NONE)
            continue;
        if (w->thread == t->number && w->step < number)
            return EARLY_NO;
        if (w->thread != t->number && c->s->file != NULL)
            return EARLY_NO;
        early = w->thread != t->number ? EARLY_ASK : early;
    }
    return early;
}

static bool find_early(const struct cost *c, uint32_t team, uint32_t rank)
{
    struct first_writer *writer[SCHEDULE_BUFFERS] = {NULL};
    const struct schedule_rank *const r = &c->s->rank[rank];
    bool made = true;
    for (uint32_t b = 0; b < SCHEDULE_BUFFERS; b++) {
        writer[b] = malloc((r->chunks[b] + 1) * sizeof *writer[b]);
        made &= writer[b] != NULL;
        if (writer[b] != NULL) /* COST_NONE is all ones */
            memset(writer[b], 0xff, (r->chunks[b] + 1) * sizeof *writer[b]);
    }
    const uint32_t first = c->first[team];
    for (uint32_t t = 0; made && t < r->thread_count; t++)
        note_writers(c, &c->thread[first + t], writer);
    for (uint32_t t = 0; made && t < r->thread_count; t++)
        for (uint32_t i = 0; i < r->thread[t].step_count; i++)
            c->thread[first + t].early[i] = may_be_early(c, &c->thread[first + t], i, writer);
    for (uint32_t b = 0; b < SCHEDULE_BUFFERS; b++)
        free(writer[b]);
    return made;
}

/* io_cpu launches the PEs of a SIP one after the other. */
static void stagger_starts(struct cost *c)
{
    const struct hw_config *const hw = c->call->hw;
    if (c->s->members == 1 || hw->launch_together) /* else there are few */
        return;
    for (uint32_t i = 0; i < c->threads; i++) {
        struct cost_thread *const t = &c->thread[i];
        const uint32_t first = t->rank_number / c->s->members * c->s->members;
        t->now_ps = (i - c->first[first]) * hw->overhead_ps[HW_NODE_IO_CPU];
    }
}

/* Of the lanes of a thread's group: those whose cubes are in the row, or column, of its own. */
static uint32_t lanes_beside(const struct cost *c, const struct cost_thread *t, bool row)
{
    const uint32_t w = c->call->hw->cube_w, pes = hw_pes(c->call->hw);
    uint32_t count = 0;
    for (uint32_t i = first_lane(c, c->group); i < first_lane(c, c->group + 1); i++) {
        const uint32_t cube = pe_of_lane(c, i, t->number) / pes;
        count += row ? cube / w == t->own.cube / w : cube % w == t->own.cube % w;
    }
    return count;
}

/* A thread of lanes stands for those of its group; it is the one that is launched last. */
static void launch_lanes(const struct cost *c, struct cost_thread *t)
{
    const struct hw_config *const hw = c->call->hw;
    const int64_t each_ps = hw->launch_together ? 0 : hw->overhead_ps[HW_NODE_IO_CPU];
    const uint32_t last = first_lane(c, c->group + 1) - 1;
    t->share = last + 1 - first_lane(c, c->group);
    t->share_at[HW_PORT_E] = t->share_at[HW_PORT_W] = lanes_beside(c, t, true);
    t->share_at[HW_PORT_N] = t->share_at[HW_PORT_S] = lanes_beside(c, t, false);
    t->spread_ps = (int64_t)(t->share - 1) * c->s->parts * each_ps;
    t->now_ps = ((int64_t)last * c->s->parts + t->number) * each_ps;
}

static bool make_thread(struct cost *c, uint32_t team, uint32_t rank, uint32_t number)
{
    struct cost_thread *const t = &c->thread[c->first[team] + number];
    const struct schedule_rank *const r = &c->s->rank[rank];
    *t = (struct cost_thread){.rank = r,
                              .thread = &r->thread[number],
                              .number = number,
                              .rank_number = rank,
                              .team = team,
                              .share = c->share,
                              .share_at = {1, 1, 1, 1},
                              .own = place_of(c, rank, number),
                              .waiter = COST_NONE,
                              .next_waiter = COST_NONE};
    t->home = c->lanes ? t->own : place_of(c, rank, 0);
    if (c->lanes)
        launch_lanes(c, t);
    else if (!c->call->hw->launch_together) /* launch messages come one after the other */
        t->now_ps = number * c->call->hw->overhead_ps[HW_NODE_IO_CPU];
    t->home_hops = cost_hops(c->call->hw, t->own, t->home);
    t->load_ps = cost_load_latency_ps(&c->times, t->own, t->home);
    t->store_ps = cost_store_latency_ps(&c->times, t->own, t->home);
    const uint32_t steps = t->thread->step_count + 1;
    t->send_queue = calloc(steps, sizeof *t->send_queue);
    t->recv_queue = calloc(steps, sizeof *t->recv_queue);
    t->early = calloc(steps, sizeof *t->early);
    t->chain = calloc(steps, sizeof *t->chain);
    t->step_ended_ps = calloc(steps, sizeof *t->step_ended_ps);
    if (t->send_queue == NULL || t->recv_queue == NULL || t->early == NULL || t->chain == NULL ||
        t->step_ended_ps == NULL)
        return false;
    for (uint32_t i = 0; i + 1 < steps; i++)
        t->chain[i] = (uint8_t)schedule_chain(r, number, i);
    for (uint32_t i = 0; i + 1 < steps && !c->failed; i++) {
        const struct schedule_step *const step = cost_step_at(t, i);
        const enum schedule_op op = (enum schedule_op)step->op;
        if (schedule_op_sends(op))
            t->send_queue[i] = queue_of_sending(c, rank, step->send_to, step->channel);
        if (schedule_op_receives(op))
            t->recv_queue[i] = queue_of_receiving(c, rank, step);
    }
    return !c->failed;
}

static void forget_ends(struct cost *c)
{
    (void)JudyLFreeArray(&c->by_ends, PJE0);
    (void)JudyLFreeArray(&c->by_receiver, PJE0);
}

bool cost_machine_make(struct cost *c)
{
    const uint32_t ranks = ranks_of(c), teams = ranks * c->groups;
    c->first = calloc(teams + 1, sizeof *c->first);
    for (uint32_t team = 0; c->first != NULL && team < teams; team++) {
        c->first[team] = c->threads;
        c->threads += c->s->rank[team % ranks].thread_count;
    }
    const size_t links = cost_crossings(c->call->hw);
    c->thread = calloc(c->threads + 1, sizeof *c->thread);
    c->written = calloc(teams + 1, sizeof *c->written);
    c->link_free_ps = calloc(links + 1, sizeof *c->link_free_ps);
    c->read = calloc(c->threads + teams + 1, sizeof *c->read);
    c->write = calloc(c->threads + teams + 1, sizeof *c->write);
    bool made = c->first != NULL && c->thread != NULL && c->written != NULL &&
                c->link_free_ps != NULL && c->read != NULL && c->write != NULL;
    for (uint32_t team = 0; made && !c->mixed && team < teams; team++) {
        const uint32_t r = team % ranks;
        c->group = team / ranks;
        if (r == 0) { /* no lane sends to one of another group */
            forget_ends(c);
            c->queues_each = c->group == 1 ? c->queues : c->queues_each;
        }
        for (uint32_t t = 0; made && t < c->s->rank[r].thread_count; t++)
            made = make_thread(c, team, r, t);
        made = made && find_early(c, team, r);
        c->written[team] = calloc((size_t)schedule_locations(c->s, r) + 1, sizeof **c->written);
        made = made && c->written[team] != NULL;
    }
    if (made && !c->mixed)
        stagger_starts(c);
    const size_t messages = c->by_link ? (size_t)c->queues * c->slots : 0;
    c->turns.at = calloc(c->threads + messages + 1, sizeof *c->turns.at);
    return made && c->turns.at != NULL;
}

void cost_machine_free(struct cost *c)
{
    for (uint32_t i = 0; c->thread != NULL && i < c->threads; i++) {
        free(c->thread[i].send_queue);
        free(c->thread[i].recv_queue);
        free(c->thread[i].early);
        free(c->thread[i].chain);
        free(c->thread[i].step_ended_ps);
    }
    for (uint32_t i = 0; i < c->queues; i++) {
        free(c->queue[i].busy);
        free(c->queue[i].arrives_ps);
        free(c->queue[i].free_ps);
        free(c->queue[i].message);
    }
    for (uint32_t team = 0; c->written != NULL && team < ranks_of(c) * c->groups; team++)
        free(c->written[team]);
    free(c->written);
    free(c->queue);
    free(c->thread);
    free(c->turns.at);
    free(c->first);
    free(c->link_free_ps);
    free(c->read);
    free(c->write);
    forget_ends(c);
}
