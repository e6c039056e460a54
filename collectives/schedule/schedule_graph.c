/*
 * schedule_graph.c: joins senders with receivers, and sorts the steps (schedule_graph.h).
 */
#include "collectives/schedule/schedule_graph.h"

#include <stdlib.h>

/* One end of a message: a step that sends, or one that receives. */
struct message_end {
    uint64_t queue; /* from, to, channel */
    uint32_t step;
};

struct ends {
    struct message_end *end;
    uint32_t count;
};

void schedule_graph_free(struct schedule_graph *graph)
{
    if (graph == NULL)
        return;
    free(graph->first);
    free(graph->rank_of);
    free(graph->thread_of);
    free(graph->sender);
    free(graph->receiver);
    free(graph->send_queue);
    free(graph->receive_queue);
    free(graph->joint);
    free(graph->part);
    free(graph->order);
    free(graph);
}

const char *schedule_graph_place(const struct schedule_graph *graph, uint32_t step,
                                 char buf[SCHEDULE_PLACE_BYTES])
{
    return schedule_place(graph->schedule, graph->rank_of[step], graph->thread_of[step],
                          schedule_graph_number(graph, step), buf);
}

const char *schedule_graph_name(const struct schedule_graph *graph, uint32_t step,
                                char buf[SCHEDULE_PLACE_BYTES])
{
    return schedule_place_step(graph->schedule, graph->rank_of[step], graph->thread_of[step],
                               schedule_graph_number(graph, step), buf);
}

/* ---- queues ---------------------------------------------------------------------------------- */

static uint64_t queue_of(uint32_t from, uint32_t to, uint32_t channel)
{
    return ((uint64_t)from << 36) | ((uint64_t)to << 8) | channel;
}

/* A queue and how many ends it has here; then, where its next one goes. */
struct queue_ends {
    uint64_t queue;
    uint32_t count;
};

/* The queues of one kind of ends: a hash table with open addressing. A free place has no ends. */
struct queue_table {
    struct queue_ends *place;
    uint32_t size, used; /* size: a power of two, at least twice `used` */
};

static int by_queue(const void *a, const void *b)
{
    const struct queue_ends *const *const x = a, *const *const y = b;
    return (*x)->queue < (*y)->queue ? -1 : (*x)->queue > (*y)->queue;
}

static struct queue_ends *place_of_queue(const struct queue_table *table, uint64_t queue)
{
    uint32_t at = (uint32_t)((queue * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (table->size - 1);
    while (table->place[at].count > 0 && table->place[at].queue != queue)
        at = (at + 1) & (table->size - 1);
    return &table->place[at];
}

static bool larger_queue_table(struct queue_table *table)
{
    struct queue_table more = {.size = table->size == 0 ? 256 : table->size * 2,
                               .used = table->used};
    more.place = calloc(more.size, sizeof *more.place);
    for (uint32_t i = 0; more.place != NULL && i < table->size; i++)
        if (table->place[i].count > 0)
            *place_of_queue(&more, table->place[i].queue) = table->place[i];
    if (more.place == NULL)
        return false;
    free(table->place);
    *table = more;
    return true;
}

/* One end more of a queue. False: out of memory. */
static bool count_end(struct queue_table *table, uint64_t queue)
{
    if (table->used * 2 >= table->size && !larger_queue_table(table))
        return false;
    struct queue_ends *const at = place_of_queue(table, queue);
    table->used += at->count == 0;
    at->queue = queue;
    at->count++;
    return true;
}

/* The ends of queues that come before, in the order of their numbers, take the first places. A
 * place that has got its first end counts from there, so 1 is added to all. */
static bool give_places(const struct queue_table *table)
{
    struct queue_ends **const sorted = malloc((table->used + 1) * sizeof *sorted);
    uint32_t used = 0, first = 1;
    if (sorted == NULL)
        return false;
    for (uint32_t i = 0; i < table->size; i++)
        if (table->place[i].count > 0)
            sorted[used++] = &table->place[i];
    if (used > 0)
        qsort(sorted, used, sizeof *sorted, by_queue);
    for (uint32_t i = 0; i < used; i++) {
        const uint32_t count = sorted[i]->count;
        sorted[i]->count = first;
        first += count;
    }
    free(sorted);
    return true;
}

/* The queue of which a step is an end of this kind, with its sender's representative as sender.
 * False: of none. */
static bool queue_at(const struct schedule_graph *graph, uint32_t i, bool senders, uint64_t *queue)
{
    const struct schedule_step *const step = schedule_graph_step(graph, i);
    const enum schedule_op op = (enum schedule_op)step->op;
    const struct schedule *const s = graph->schedule;
    const uint32_t own = schedule_rank_at(s, graph->rank_of[i]);
    if (senders ? !schedule_op_sends(op) : !schedule_op_receives(op))
        return false;
    *queue = senders ? queue_of(own, step->send_to, step->channel)
                     : queue_of(schedule_moved_rank(s, step->recv_from, step->recv_from),
                                schedule_moved_rank(s, step->recv_from, own), step->channel);
    return true;
}

/* The ends of this kind, by queue, and within a queue in the order of steps. */
static bool take_ends(const struct schedule_graph *graph, bool senders, struct ends *ends)
{
    struct queue_table table = {0};
    uint64_t queue;
    bool good = true;
    for (uint32_t i = 0; i < graph->steps && good; i++)
        if (queue_at(graph, i, senders, &queue)) {
            good = count_end(&table, queue);
            ends->count++;
        }
    ends->end = malloc(((size_t)ends->count + 1) * sizeof *ends->end);
    good = good && ends->end != NULL && give_places(&table);
    for (uint32_t i = 0; i < graph->steps && good; i++)
        if (queue_at(graph, i, senders, &queue))
            ends->end[place_of_queue(&table, queue)->count++ - 1] = (struct message_end){queue, i};
    free(table.place);
    return good;
}

/* One thread alone is at this end of each queue. */
static void check_end(const struct schedule_graph *graph, const struct ends *ends, bool senders,
                      struct schedule_faults *faults)
{
    char place[SCHEDULE_PLACE_BYTES], other[SCHEDULE_PLACE_BYTES];
    for (uint32_t i = 1; i < ends->count; i++) {
        const uint32_t a = ends->end[i - 1].step, b = ends->end[i].step;
        if (ends->end[i].queue != ends->end[i - 1].queue ||
            graph->thread_of[a] == graph->thread_of[b])
            continue;
        const struct schedule_step *const step = schedule_graph_step(graph, b);
        schedule_fault(faults, schedule_graph_place(graph, b, place),
                       "%s %u on channel %u, as %s does; legal is one thread for each peer and "
                       "channel",
                       senders ? "sends to" : "receives from",
                       senders ? step->send_to : step->recv_from, step->channel,
                       schedule_graph_name(graph, a, other));
    }
}

/* A message without its other end. */
static void fault_alone(const struct schedule_graph *graph, uint32_t i, bool sends,
                        struct schedule_faults *faults)
{
    char place[SCHEDULE_PLACE_BYTES];
    const struct schedule_step *const step = schedule_graph_step(graph, i);
    schedule_fault(faults, schedule_graph_place(graph, i, place),
                   "%s %s %u on channel %u, %s; legal is a receive for each send, on one channel",
                   schedule_op_name((enum schedule_op)step->op),
                   sends ? "sends to" : "receives from", sends ? step->send_to : step->recv_from,
                   step->channel,
                   sends ? "which receives no such message" : "which sends no such message");
}

static void join_pair(struct schedule_graph *graph, uint32_t sender, uint32_t receiver,
                      struct schedule_faults *faults)
{
    const struct schedule_step *const from = schedule_graph_step(graph, sender),
                                      *const to = schedule_graph_step(graph, receiver);
    const uint32_t from_part =
        graph->schedule->rank[graph->rank_of[sender]].thread[graph->thread_of[sender]].part;
    const uint32_t to_part =
        graph->schedule->rank[graph->rank_of[receiver]].thread[graph->thread_of[receiver]].part;
    char place[SCHEDULE_PLACE_BYTES], other[SCHEDULE_PLACE_BYTES];
    graph->receiver[sender] = receiver;
    graph->sender[receiver] = sender;
    graph->send_queue[sender] = graph->receive_queue[receiver] = graph->queues - 1;
    if (from->count != to->count)
        schedule_fault(faults, schedule_graph_place(graph, receiver, place),
                       "receives %u chunks, of which %s sends %u; legal is the same count",
                       to->count, schedule_graph_name(graph, sender, other), from->count);
    else if (from_part != to_part)
        schedule_fault(faults, schedule_graph_place(graph, receiver, place),
                       "is of part %u, and receives from %s, of part %u; legal is one part",
                       to_part, schedule_graph_name(graph, sender, other), from_part);
}

/* The k-th message that one end sends is the k-th one that the other receives. */
static void join_ends(struct schedule_graph *graph, const struct ends *from, const struct ends *to,
                      struct schedule_faults *faults)
{
    uint32_t i = 0, k = 0;
    while (i < from->count || k < to->count) {
        const uint64_t sent = i < from->count ? from->end[i].queue : UINT64_MAX,
                       received = k < to->count ? to->end[k].queue : UINT64_MAX;
        if (sent < received)
            fault_alone(graph, from->end[i++].step, true, faults);
        else if (received < sent)
            fault_alone(graph, to->end[k++].step, false, faults);
        else {
            graph->queues += i == 0 || from->end[i - 1].queue != sent;
            join_pair(graph, from->end[i++].step, to->end[k++].step, faults);
        }
    }
}

static bool join_queues(struct schedule_graph *graph, struct schedule_faults *faults)
{
    struct ends from = {0}, to = {0};
    const bool good = take_ends(graph, true, &from) && take_ends(graph, false, &to);
    if (good) {
        check_end(graph, &from, true, faults);
        check_end(graph, &to, false, faults);
        if (faults->count == 0)
            join_ends(graph, &from, &to, faults);
    }
    free(from.end);
    free(to.end);
    return good;
}

/* ---- messages through switches --------------------------------------------------------------- */

/* The next step of a rank, from step i on, that sends a part to a tree; GRAPH_NONE: none does. */
static uint32_t next_part(const struct schedule_graph *graph, uint32_t r, uint32_t tree, uint32_t i)
{
    for (; i < graph->first[r + 1]; i++) {
        const struct schedule_step *const step = schedule_graph_step(graph, i);
        if (schedule_op_sends((enum schedule_op)step->op) && step->send_to == r &&
            step->channel == tree)
            return i;
    }
    return GRAPH_NONE;
}

/* The k-th parts of a tree make one message, and are of one count. */
static void join_parts(struct schedule_graph *graph, uint32_t tree, uint32_t *at,
                       struct schedule_faults *faults)
{
    const struct schedule *const s = graph->schedule;
    char place[SCHEDULE_PLACE_BYTES];
    for (uint32_t r = 0; r < s->rank_count; r++)
        at[r] = graph->first[r];
    while ((at[0] = next_part(graph, 0, tree, at[0])) != GRAPH_NONE) {
        for (uint32_t r = 0; r < s->rank_count; r++) {
            at[r] = next_part(graph, r, tree, at[r]);
            if (at[r] == GRAPH_NONE || schedule_graph_step(graph, at[r])->count !=
                                           schedule_graph_step(graph, at[0])->count) {
                schedule_fault(faults, schedule_graph_place(graph, at[0], place),
                               "sends its part of a message through tree %u, and rank %u sends no "
                               "such part of %u chunks; legal is one of each rank",
                               tree, r, schedule_graph_step(graph, at[0])->count);
                return;
            }
            graph->joint[at[r]] = graph->joints;
            graph->joint[graph->receiver[at[r]]] = graph->joints;
            graph->part[(size_t)graph->joints * s->rank_count + r] = at[r];
        }
        graph->joints++;
        for (uint32_t r = 0; r < s->rank_count; r++)
            at[r]++;
    }
}

static bool find_joints(struct schedule_graph *graph, struct schedule_faults *faults)
{
    const struct schedule *const s = graph->schedule;
    if (s->sums == NULL)
        return true;
    uint32_t *const at = malloc((s->rank_count + 1) * sizeof *at);
    graph->part = malloc(((size_t)graph->steps + s->rank_count + 1) * sizeof *graph->part);
    graph->joint = malloc(((size_t)graph->steps + 1) * sizeof *graph->joint);
    const bool made = at != NULL && graph->part != NULL && graph->joint != NULL;
    for (uint32_t i = 0; made && i < graph->steps; i++)
        graph->joint[i] = GRAPH_NONE;
    for (uint32_t tree = 0; made && tree < s->trees; tree++)
        join_parts(graph, tree, at, faults);
    free(at);
    return made;
}

/* ---- the order ------------------------------------------------------------------------------- */

/* Steps that wait for a step, as lists: follower[first[i] .. first[i + 1] - 1]. */
struct waiters {
    uint32_t *first, *step;
};

static bool take_waiters(const struct schedule_graph *graph, struct waiters *waiters)
{
    uint64_t waits = 0;
    for (uint32_t r = 0; r < graph->schedule->rank_count; r++)
        waits += graph->schedule->rank[r].wait_count;
    waiters->first = calloc((size_t)graph->steps + 2, sizeof *waiters->first);
    waiters->step = malloc((waits + 1) * sizeof *waiters->step);
    if (waiters->first == NULL || waiters->step == NULL)
        return false;
    /* Counted two places on, so that filling the lists leaves each one's first in its place. */
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < graph->steps; i++) {
            const struct schedule_step *const step = schedule_graph_step(graph, i);
            for (uint32_t k = 0; k < step->wait_count; k++) {
                const uint32_t on = schedule_graph_awaited(graph, i, k);
                if (pass == 0)
                    waiters->first[on + 2]++;
                else
                    waiters->step[waiters->first[on + 1]++] = i;
            }
        }
        for (uint32_t i = 2; pass == 0 && i < graph->steps + 2; i++)
            waiters->first[i] += waiters->first[i - 1];
    }
    return true;
}

static bool is_last_of_thread(const struct schedule_graph *graph, uint32_t i)
{
    const struct schedule_rank *const rank = &graph->schedule->rank[graph->rank_of[i]];
    return schedule_graph_number(graph, i) + 1 == rank->thread[graph->thread_of[i]].step_count;
}

/* A step less that `step` comes after. */
static void release(struct schedule_graph *graph, uint32_t *before, uint32_t step)
{
    if (--before[step] == 0)
        graph->order[graph->ordered++] = step;
}

static bool sort_steps_by_order(struct schedule_graph *graph)
{
    struct waiters waiters = {0};
    const uint32_t ranks = graph->schedule->rank_count;
    uint32_t *const before = calloc((size_t)graph->steps + 1, sizeof *before);
    uint32_t *const parts = calloc((size_t)graph->joints + 1, sizeof *parts); /* that were sent */
    const bool good = take_waiters(graph, &waiters) && before != NULL && parts != NULL;
    if (good) {
        for (uint32_t i = 0; i < graph->steps; i++)
            before[i] = schedule_graph_step(graph, i)->wait_count +
                        (schedule_graph_number(graph, i) > 0) + (graph->sender[i] != GRAPH_NONE);
        for (uint32_t i = 0; i < graph->steps; i++)
            if (before[i] == 0)
                graph->order[graph->ordered++] = i;
        for (uint32_t at = 0; at < graph->ordered; at++) {
            const uint32_t i = graph->order[at];
            if (!is_last_of_thread(graph, i))
                release(graph, before, i + 1);
            const uint32_t joint = graph->joint != NULL ? graph->joint[i] : GRAPH_NONE;
            if (graph->receiver[i] != GRAPH_NONE && joint == GRAPH_NONE)
                release(graph, before, graph->receiver[i]);
            else if (graph->receiver[i] != GRAPH_NONE && ++parts[joint] == ranks)
                for (uint32_t r = 0; r < ranks; r++)
                    release(graph, before, graph->receiver[graph->part[(size_t)joint * ranks + r]]);
            for (uint32_t k = waiters.first[i]; k < waiters.first[i + 1]; k++)
                release(graph, before, waiters.step[k]);
        }
    }
    free(waiters.first);
    free(waiters.step);
    free(before);
    free(parts);
    return good;
}

/* ---- creation -------------------------------------------------------------------------------- */

static bool take_steps(struct schedule_graph *graph)
{
    const struct schedule *const s = graph->schedule;
    uint64_t steps = 0;
    for (uint32_t r = 0; r < s->rank_count; r++)
        steps += s->rank[r].step_count;
    if (steps >= UINT32_MAX - 2)
        return false;
    graph->steps = (uint32_t)steps;
    graph->first = malloc(((size_t)s->rank_count + 1) * sizeof *graph->first);
    uint32_t **const lists[] = {&graph->rank_of,      &graph->thread_of, &graph->sender,
                                &graph->receiver,     &graph->order,     &graph->send_queue,
                                &graph->receive_queue};
    bool good = graph->first != NULL;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        good &= (*lists[i] = malloc(((size_t)steps + 1) * sizeof **lists[i])) != NULL;
    if (!good)
        return false;
    uint32_t at = 0;
    for (uint32_t r = 0; r < s->rank_count; r++) {
        graph->first[r] = at;
        for (uint32_t t = 0; t < s->rank[r].thread_count; t++)
            for (uint32_t k = 0; k < s->rank[r].thread[t].step_count; k++, at++) {
                graph->rank_of[at] = r;
                graph->thread_of[at] = t;
                graph->sender[at] = graph->receiver[at] = GRAPH_NONE;
                graph->send_queue[at] = graph->receive_queue[at] = GRAPH_NONE;
            }
    }
    graph->first[s->rank_count] = at;
    return true;
}

struct schedule_graph *schedule_graph_create(const struct schedule *schedule,
                                             struct schedule_faults *faults)
{
    struct schedule_graph *const graph = calloc(1, sizeof *graph);
    const uint32_t before = faults->count;
    if (graph == NULL) {
        faults->no_memory = true;
        return NULL;
    }
    graph->schedule = schedule;
    if (!take_steps(graph) || !join_queues(graph, faults) ||
        (faults->count == before && !find_joints(graph, faults)))
        faults->no_memory = true;
    else if (faults->count == before && !sort_steps_by_order(graph))
        faults->no_memory = true;
    if (faults->count == before && !faults->no_memory)
        return graph;
    schedule_graph_free(graph);
    return NULL;
}
