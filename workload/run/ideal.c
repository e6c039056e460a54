/*
 * ideal.c: evaluates a graph event by event (ideal.h). An operation begins when its dependencies,
 * its stream and the modes let it; it ends after its own time, or, of a call or a message, when the
 * last that it meets has begun. Of what may begin at one moment on a rank, the first in program
 * order does.
 */
#include "workload/run/ideal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "workload/graph/meetings.h"

/* What a program says of the order of its operations, once for all its ranks. */
struct order {
    uint32_t *first_next; /* [ops + 1] those that depend on an operation are next[first_next[i]] */
    uint32_t *next;       /* each | WORKLOAD_AFTER_START or not */
    uint32_t *after;      /* [ops] the next operation of the stream; WORKLOAD_NONE: none */
    uint32_t *head;       /* [streams] the first one */
    uint32_t *call_after; /* [ops] of a call: the next one of its queue; WORKLOAD_NONE */
    uint32_t *call_head;  /* [sets] the first call of the queue of a set */
};

/* An operation ends. */
struct end {
    int64_t at_ps;
    uint64_t number; /* in which order ends were found */
    uint32_t rank, op;
};

struct state {
    const struct workload_graph *graph;
    struct step_modes modes;
    step_time_of *time_of;
    void *arg;
    struct workload_meetings meetings;
    struct order *orders;  /* [programs] */
    uint32_t *deps_left;   /* [spans] */
    uint32_t *parts_left;  /* [meetings] that have not begun */
    uint32_t *heads;       /* [rank][stream] next to begin, of a stream in order; */
    bool *busy;            /* [rank][stream] it, or another one of the stream, has begun */
    uint32_t *ready;       /* [spans] of each rank, those of other streams that may begin, ... */
    uint32_t *ready_count; /* [rank] so many, in no order */
    uint32_t *call_heads;  /* [rank][set] next call to begin, of the set that stands for a queue */
    uint32_t *in_flight;   /* [rank] calls and sends */
    struct end *heap;
    size_t heap_count, heap_room;
    uint64_t numbers;
    uint64_t left; /* operations that have not ended */
    struct step_result *result;
    bool no_memory;
};

/* ---- the order of a program ------------------------------------------------------------------ */

static bool allocate_order(const struct workload_graph *graph, const struct workload_program *p,
                           struct order *order)
{
    order->first_next = calloc(p->op_count + 2, sizeof *order->first_next);
    order->next = malloc((p->dep_count + 1) * sizeof *order->next);
    order->after = malloc((p->op_count + 1) * sizeof *order->after);
    order->call_after = malloc((p->op_count + 1) * sizeof *order->call_after);
    order->head = malloc((graph->stream_count + 1) * sizeof *order->head);
    order->call_head = malloc((graph->set_count + 1) * sizeof *order->call_head);
    return order->first_next != NULL && order->next != NULL && order->after != NULL &&
           order->call_after != NULL && order->head != NULL && order->call_head != NULL;
}

static void find_dependents(const struct workload_program *p, struct order *order)
{
    for (uint32_t i = 0; i < p->dep_count; i++)
        order->first_next[(p->deps[i] & ~WORKLOAD_AFTER_START) + 2]++;
    for (uint32_t i = 2; i <= p->op_count + 1; i++)
        order->first_next[i] += order->first_next[i - 1];
    for (uint32_t i = 0; i < p->op_count; i++)
        for (uint32_t k = 0; k < p->ops[i].dep_count; k++) {
            const uint32_t dep = p->deps[p->ops[i].first_dep + k];
            order->next[order->first_next[(dep & ~WORKLOAD_AFTER_START) + 1]++] =
                i | (dep & WORKLOAD_AFTER_START);
        }
}

static bool make_order(const struct workload_graph *graph, const struct step_modes *modes,
                       const struct workload_program *p, struct order *order)
{
    if (!allocate_order(graph, p, order))
        return false;
    find_dependents(p, order);
    for (uint32_t s = 0; s < graph->stream_count; s++)
        order->head[s] = WORKLOAD_NONE;
    for (uint32_t s = 0; s < graph->set_count; s++)
        order->call_head[s] = WORKLOAD_NONE;
    for (uint32_t i = p->op_count; i-- > 0;) {
        const struct workload_op *const op = &p->ops[i];
        order->after[i] = order->head[op->stream];
        order->head[op->stream] = i;
        order->call_after[i] = WORKLOAD_NONE;
        if (op->kind != WORKLOAD_COLLECTIVE)
            continue;
        const uint32_t queue = step_order_of(graph, modes, op->set);
        order->call_after[i] = order->call_head[queue];
        order->call_head[queue] = i;
    }
    return true;
}

/* ---- ends, the earliest first ---------------------------------------------------------------- */

static bool earlier(const struct end *a, const struct end *b)
{
    return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->number < b->number;
}

static void push_end(struct state *s, int64_t at_ps, uint32_t rank, uint32_t op)
{
    if (s->heap_count == s->heap_room) {
        const size_t room = 2 * s->heap_room + 64;
        struct end *const more = realloc(s->heap, room * sizeof *more);
        s->no_memory |= more == NULL;
        if (more == NULL)
            return;
        s->heap = more;
        s->heap_room = room;
    }
    const struct end end = {at_ps, s->numbers++, rank, op};
    size_t i = s->heap_count++;
    for (; i > 0 && earlier(&end, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = end;
}

static struct end pop_end(struct state *s)
{
    const struct end first = s->heap[0], last = s->heap[--s->heap_count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < s->heap_count; i = child) {
        if (child + 1 < s->heap_count && earlier(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!earlier(&s->heap[child], &last))
            break;
        s->heap[i] = s->heap[child];
    }
    if (s->heap_count > 0)
        s->heap[i] = last;
    return first;
}

/* ---- operations ------------------------------------------------------------------------------ */

static const struct workload_op *op_of(const struct state *s, uint32_t rank, uint32_t op)
{
    return &s->graph->programs[s->graph->program_of[rank]].ops[op];
}

static struct step_span *span_of(const struct state *s, uint32_t rank, uint32_t op)
{
    return &s->result->spans[s->result->first_span[rank] + op];
}

static bool is_in_flight(const struct workload_op *op)
{
    return op->kind == WORKLOAD_COLLECTIVE || op->kind == WORKLOAD_SEND;
}

static bool may_begin(const struct state *s, uint32_t rank, uint32_t index)
{
    const struct workload_op *const op = op_of(s, rank, index);
    if (s->deps_left[s->result->first_span[rank] + index] > 0)
        return false;
    if (s->modes.one_at_a_time && is_in_flight(op) && s->in_flight[rank] > 0)
        return false;
    if (op->kind != WORKLOAD_COLLECTIVE)
        return true;
    const uint32_t queue = step_order_of(s->graph, &s->modes, op->set);
    return s->call_heads[(size_t)rank * s->graph->set_count + queue] == index;
}

static const struct workload_stream *stream_of(const struct state *s, uint32_t rank, uint32_t index)
{
    return &s->graph->streams[op_of(s, rank, index)->stream];
}

/* All that it depends on is over. */
static void note_ready(struct state *s, uint32_t rank, uint32_t index, int64_t now_ps)
{
    span_of(s, rank, index)->ready_ps = now_ps;
    if (stream_of(s, rank, index)->order != WORKLOAD_IN_ORDER)
        s->ready[s->result->first_span[rank] + s->ready_count[rank]++] = index;
}

/* Those that waited for this operation's begin, or for its end. */
static void release(struct state *s, uint32_t rank, uint32_t index, uint32_t when, int64_t now_ps)
{
    const struct order *const order = &s->orders[s->graph->program_of[rank]];
    for (uint32_t i = order->first_next[index]; i < order->first_next[index + 1]; i++) {
        const uint32_t next = order->next[i] & ~WORKLOAD_AFTER_START;
        if ((order->next[i] & WORKLOAD_AFTER_START) != when)
            continue;
        if (--s->deps_left[s->result->first_span[rank] + next] == 0)
            note_ready(s, rank, next, now_ps);
    }
}

static int64_t duration_of(const struct state *s, const struct workload_op *op)
{
    if (op->kind == WORKLOAD_TIME)
        return (int64_t)op->time_ps;
    return op->kind == WORKLOAD_NOTHING || s->time_of == NULL ? 0 : s->time_of(s->arg, op);
}

/* The last part of a meeting has begun: all end. */
static void end_meeting(struct state *s, uint32_t meeting, int64_t now_ps)
{
    const struct workload_meetings *const m = &s->meetings;
    for (uint64_t i = m->first_part[meeting]; i < m->first_part[meeting + 1]; i++) {
        span_of(s, m->parts[i].rank, m->parts[i].op)->met_ps = now_ps;
        push_end(s, now_ps, m->parts[i].rank, m->parts[i].op);
    }
}

static void begin(struct state *s, uint32_t rank, uint32_t index, int64_t now_ps)
{
    const struct workload_op *const op = op_of(s, rank, index);
    struct step_span *const span = span_of(s, rank, index);
    const uint32_t meeting = s->meetings.of[s->meetings.first[rank] + index];
    span->start_ps = span->met_ps = now_ps;
    s->busy[(size_t)rank * s->graph->stream_count + op->stream] = true;
    s->in_flight[rank] += is_in_flight(op);
    if (op->kind == WORKLOAD_COLLECTIVE)
        s->call_heads[(size_t)rank * s->graph->set_count +
                      step_order_of(s->graph, &s->modes, op->set)] =
            s->orders[s->graph->program_of[rank]].call_after[index];
    release(s, rank, index, WORKLOAD_AFTER_START, now_ps);
    if (meeting == WORKLOAD_NONE)
        push_end(s, now_ps + duration_of(s, op), rank, index);
    else if (--s->parts_left[meeting] == 0)
        end_meeting(s, meeting, now_ps);
}

/* The first in program order of what may begin on the rank; WORKLOAD_NONE: nothing may. */
static uint32_t take_next(struct state *s, uint32_t rank)
{
    const size_t streams = s->graph->stream_count, base = rank * streams;
    uint32_t *const ready = &s->ready[s->result->first_span[rank]];
    uint32_t best = WORKLOAD_NONE, place = WORKLOAD_NONE;
    for (size_t k = base; k < base + streams; k++)
        if (s->graph->streams[k - base].order == WORKLOAD_IN_ORDER && !s->busy[k] &&
            s->heads[k] < best && may_begin(s, rank, s->heads[k]))
            best = s->heads[k];
    for (uint32_t i = 0; i < s->ready_count[rank]; i++) {
        const bool waits = stream_of(s, rank, ready[i])->order == WORKLOAD_AS_READY &&
                           s->busy[base + op_of(s, rank, ready[i])->stream];
        if (ready[i] > best || waits || !may_begin(s, rank, ready[i]))
            continue;
        best = ready[i];
        place = i;
    }
    if (place != WORKLOAD_NONE)
        ready[place] = ready[--s->ready_count[rank]];
    return best;
}

static void advance(struct state *s, uint32_t rank, int64_t now_ps)
{
    uint32_t next;
    while ((next = take_next(s, rank)) != WORKLOAD_NONE)
        begin(s, rank, next, now_ps);
}

static void end_op(struct state *s, const struct end *end)
{
    const struct workload_op *const op = op_of(s, end->rank, end->op);
    const size_t stream = (size_t)end->rank * s->graph->stream_count + op->stream;
    span_of(s, end->rank, end->op)->end_ps = end->at_ps;
    s->busy[stream] = false;
    s->heads[stream] = s->orders[s->graph->program_of[end->rank]].after[end->op];
    s->in_flight[end->rank] -= is_in_flight(op);
    s->left--;
    if (end->at_ps > s->result->step_ps)
        s->result->step_ps = end->at_ps;
    release(s, end->rank, end->op, 0, end->at_ps);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static bool allocate(struct state *s)
{
    const struct workload_graph *const graph = s->graph;
    const size_t ranks = graph->rank_count, spans = s->meetings.first[ranks];
    const size_t streams = ranks * graph->stream_count;
    s->result->first_span = malloc((ranks + 1) * sizeof *s->result->first_span);
    s->result->spans = calloc(spans + 1, sizeof *s->result->spans);
    s->orders = calloc(graph->program_count, sizeof *s->orders);
    s->deps_left = malloc((spans + 1) * sizeof *s->deps_left);
    s->parts_left = malloc((s->meetings.count + 1) * sizeof *s->parts_left);
    s->heads = malloc((streams + 1) * sizeof *s->heads);
    s->busy = calloc(streams + 1, sizeof *s->busy);
    s->call_heads = malloc((ranks * graph->set_count + 1) * sizeof *s->call_heads);
    s->in_flight = calloc(ranks + 1, sizeof *s->in_flight);
    s->ready = malloc((spans + 1) * sizeof *s->ready);
    s->ready_count = calloc(ranks + 1, sizeof *s->ready_count);
    return s->result->first_span != NULL && s->result->spans != NULL && s->orders != NULL &&
           s->deps_left != NULL && s->parts_left != NULL && s->heads != NULL && s->busy != NULL &&
           s->call_heads != NULL && s->in_flight != NULL && s->ready != NULL &&
           s->ready_count != NULL;
}

static bool set_out(struct state *s)
{
    const struct workload_graph *const graph = s->graph;
    if (!allocate(s))
        return false;
    memcpy(s->result->first_span, s->meetings.first,
           (graph->rank_count + 1) * sizeof *s->meetings.first);
    for (uint32_t p = 0; p < graph->program_count; p++)
        if (!make_order(graph, &s->modes, &graph->programs[p], &s->orders[p]))
            return false;
    for (uint32_t m = 0; m < s->meetings.count; m++)
        s->parts_left[m] = (uint32_t)(s->meetings.first_part[m + 1] - s->meetings.first_part[m]);
    for (uint32_t rank = 0; rank < graph->rank_count; rank++) {
        const struct workload_program *const p = &graph->programs[graph->program_of[rank]];
        const struct order *const order = &s->orders[graph->program_of[rank]];
        for (uint32_t i = 0; i < p->op_count; i++)
            if ((s->deps_left[s->result->first_span[rank] + i] = p->ops[i].dep_count) == 0)
                note_ready(s, rank, i, 0);
        memcpy(&s->heads[(size_t)rank * graph->stream_count], order->head,
               graph->stream_count * sizeof *order->head);
        memcpy(&s->call_heads[(size_t)rank * graph->set_count], order->call_head,
               graph->set_count * sizeof *order->call_head);
    }
    s->left = s->meetings.first[graph->rank_count];
    for (uint64_t i = 0; i < s->left; i++) /* neither begun nor over */
        s->result->spans[i].start_ps = s->result->spans[i].end_ps = -1;
    return true;
}

static void clear(struct state *s)
{
    for (uint32_t p = 0; s->orders != NULL && p < s->graph->program_count; p++) {
        free(s->orders[p].first_next);
        free(s->orders[p].next);
        free(s->orders[p].after);
        free(s->orders[p].head);
        free(s->orders[p].call_after);
        free(s->orders[p].call_head);
    }
    free(s->orders);
    free(s->deps_left);
    free(s->parts_left);
    free(s->heads);
    free(s->busy);
    free(s->call_heads);
    free(s->in_flight);
    free(s->ready);
    free(s->ready_count);
    free(s->heap);
    workload_meetings_free(&s->meetings);
}

/* The first operation that is not over. */
static int say_stuck(const struct state *s, struct cw_error *error)
{
    const struct workload_graph *const graph = s->graph;
    for (uint32_t rank = 0; rank < graph->rank_count; rank++)
        for (uint32_t i = 0; i < graph->programs[graph->program_of[rank]].op_count; i++) {
            const struct step_span *const span = span_of(s, rank, i);
            const struct workload_op *const op = op_of(s, rank, i);
            char name[128];
            if (span->end_ps >= 0)
                continue;
            return cw_error_set(error, CW_PROGRAM_FAILED,
                                "%s: operations wait for each other: rank %" PRIu32 ", %" PRIu64
                                " (%s) %s",
                                graph->file != NULL ? graph->file : "workload", rank, op->id,
                                workload_op_name(graph, op, name, sizeof name),
                                span->start_ps >= 0 ? "waits for the other ranks" : "never begins");
        }
    return CW_OK;
}

int step_ideal(const struct workload_graph *graph, const struct step_modes *modes,
               step_time_of *time_of, void *arg, struct step_result *result, struct cw_error *error)
{
    struct state s = {
        .graph = graph, .modes = *modes, .time_of = time_of, .arg = arg, .result = result};
    *result = (struct step_result){0};
    int code = workload_meetings_of(graph, &s.meetings, error);
    if (code == CW_OK && !set_out(&s))
        code = cw_error_memory(error, "a step");
    for (uint32_t rank = 0; code == CW_OK && rank < graph->rank_count; rank++)
        advance(&s, rank, 0);
    while (code == CW_OK && s.heap_count > 0 && !s.no_memory) {
        const struct end end = pop_end(&s);
        end_op(&s, &end);
        advance(&s, end.rank, end.at_ps);
    }
    if (code == CW_OK && s.no_memory)
        code = cw_error_memory(error, "a step");
    if (code == CW_OK && s.left > 0)
        code = say_stuck(&s, error);
    clear(&s);
    return code;
}
