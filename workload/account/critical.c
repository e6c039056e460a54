/*
 * critical.c: walks back from the last end of a step (critical.h). Of what may have released an
 * operation, the last is taken; of equal ones the dependency that is named first.
 */
#include "workload/account/critical.h"

#include <stdlib.h>

#include "workload/account/classes.h"

struct chase {
    const struct workload_graph *graph;
    const struct workload_meetings *meetings;
    const struct step_result *result;
    struct step_critical *critical;
    size_t room;
    uint32_t rank, op; /* where it is, */
    int64_t now_ps;    /* and when */
};

static const struct workload_program *program_of(const struct chase *chase, uint32_t rank)
{
    return &chase->graph->programs[chase->graph->program_of[rank]];
}

static const struct step_span *span_of(const struct chase *chase, uint32_t rank, uint32_t op)
{
    return step_spans_of(chase->result, rank) + op;
}

/* What is before `from_ps` of the stretches is found out later. False: out of memory. */
static bool add_stretch(struct chase *chase, int64_t from_ps, bool launch)
{
    struct step_critical *const c = chase->critical;
    if (from_ps >= chase->now_ps)
        return true;
    if (c->count == chase->room) {
        const size_t room = 2 * chase->room + 64;
        struct step_stretch *const more = realloc(c->stretches, room * sizeof *more);
        if (more == NULL)
            return false;
        c->stretches = more;
        chase->room = room;
    }
    c->stretches[c->count++] =
        (struct step_stretch){chase->rank, chase->op, from_ps, chase->now_ps, launch};
    chase->now_ps = from_ps;
    return true;
}

/* What makes one part of a meeting the last: of a message, when its rank let it begin. */
static int64_t begin_of(const struct chase *chase, struct workload_part part)
{
    const struct workload_program *const p = program_of(chase, part.rank);
    return p->ops[part.op].kind == WORKLOAD_COLLECTIVE
               ? span_of(chase, part.rank, part.op)->start_ps
               : step_posted_ps(chase->graph, p, step_spans_of(chase->result, part.rank), part.op);
}

/* Goes back over the operation itself: to the begin of the last rank that it meets. */
static bool pass_operation(struct chase *chase)
{
    const struct workload_meetings *const m = chase->meetings;
    const uint32_t meeting = m->of[m->first[chase->rank] + chase->op];
    struct workload_part last = {chase->rank, chase->op};
    int64_t last_ps = meeting != WORKLOAD_NONE ? begin_of(chase, last) : 0;
    for (uint64_t i = meeting != WORKLOAD_NONE ? m->first_part[meeting] : 0;
         meeting != WORKLOAD_NONE && i < m->first_part[meeting + 1]; i++) {
        const int64_t begin_ps = begin_of(chase, m->parts[i]);
        if (begin_ps <= last_ps)
            continue;
        last_ps = begin_ps;
        last = m->parts[i];
    }
    if (!add_stretch(chase, span_of(chase, last.rank, last.op)->start_ps, false))
        return false;
    chase->rank = last.rank;
    chase->op = last.op;
    return true;
}

struct released {
    uint32_t op; /* by which; WORKLOAD_NONE: by the step's begin */
    int64_t at_ps;
    bool by_start;
};

static void consider(const struct chase *chase, struct released *by, uint32_t op, bool by_start)
{
    const struct step_span *const span = span_of(chase, chase->rank, op);
    const int64_t at_ps = by_start ? span->start_ps : span->end_ps;
    if (by->op == WORKLOAD_NONE || at_ps > by->at_ps)
        *by = (struct released){op, at_ps, by_start};
}

/* The operations before this one in program order that it may have waited for: the last of its
 * stream, and, of a call, the last of its set. */
static void consider_earlier(const struct chase *chase, struct released *by)
{
    const struct workload_program *const p = program_of(chase, chase->rank);
    const struct workload_op *const op = &p->ops[chase->op];
    const int64_t start_ps = span_of(chase, chase->rank, chase->op)->start_ps;
    const uint8_t order = chase->graph->streams[op->stream].order;
    bool stream = order != WORKLOAD_IN_ORDER, queue = op->kind != WORKLOAD_COLLECTIVE;
    for (uint32_t i = chase->op; i-- > 0 && !(stream && queue);) {
        const struct workload_op *const before = &p->ops[i];
        if (!stream && before->stream == op->stream) {
            stream = true;
            consider(chase, by, i, false);
        }
        if (!queue && before->kind == WORKLOAD_COLLECTIVE && before->set == op->set) {
            queue = true;
            consider(chase, by, i, span_of(chase, chase->rank, i)->end_ps > start_ps);
        }
    }
}

/* Of a stream that runs operations as they become ready: the last that was over by then. */
static void consider_stream(const struct chase *chase, struct released *by)
{
    const struct workload_program *const p = program_of(chase, chase->rank);
    const struct workload_op *const op = &p->ops[chase->op];
    const struct step_span *const span = span_of(chase, chase->rank, chase->op);
    if (chase->graph->streams[op->stream].order != WORKLOAD_AS_READY ||
        span->ready_ps == span->start_ps)
        return;
    for (uint32_t i = 0; i < p->op_count; i++)
        if (i != chase->op && p->ops[i].stream == op->stream &&
            span_of(chase, chase->rank, i)->end_ps <= span->start_ps)
            consider(chase, by, i, false);
}

/* Goes back to what released the operation. False: it was the step's begin. */
static bool pass_release(struct chase *chase, bool *by_start, bool *no_memory)
{
    const struct workload_program *const p = program_of(chase, chase->rank);
    const struct workload_op *const op = &p->ops[chase->op];
    struct released by = {.op = WORKLOAD_NONE, .at_ps = 0};
    for (uint32_t k = 0; k < op->dep_count; k++) {
        const uint32_t dep = p->deps[op->first_dep + k];
        consider(chase, &by, dep & ~WORKLOAD_AFTER_START, (dep & WORKLOAD_AFTER_START) != 0);
    }
    consider_earlier(chase, &by);
    consider_stream(chase, &by);
    *no_memory = !add_stretch(chase, by.at_ps, true);
    *by_start = by.by_start;
    if (by.op != WORKLOAD_NONE)
        chase->op = by.op;
    return by.op != WORKLOAD_NONE;
}

/* The operation that ends last, of the least rank. */
static void find_last(struct chase *chase)
{
    chase->now_ps = -1;
    for (uint32_t rank = 0; rank < chase->graph->rank_count; rank++)
        for (uint32_t i = 0; i < program_of(chase, rank)->op_count; i++)
            if (span_of(chase, rank, i)->end_ps > chase->now_ps) {
                chase->rank = rank;
                chase->op = i;
                chase->now_ps = span_of(chase, rank, i)->end_ps;
            }
}

static bool walk_back(struct chase *chase)
{
    /* Every operation is passed once; spans that contradict their dependencies may not loop. */
    uint64_t left = chase->meetings->first[chase->graph->rank_count];
    bool by_start = false, no_memory = false;
    find_last(chase);
    while (chase->now_ps > 0 && left-- > 0) {
        if (!by_start && !pass_operation(chase))
            return false;
        if (!pass_release(chase, &by_start, &no_memory) || no_memory)
            break;
    }
    return !no_memory;
}

static void turn_around(struct step_critical *critical)
{
    for (size_t i = 0, k = critical->count; i + 1 < k; i++) {
        const struct step_stretch other = critical->stretches[--k];
        critical->stretches[k] = critical->stretches[i];
        critical->stretches[i] = other;
    }
}

static int by_share(const void *a, const void *b)
{
    const struct step_part *const x = a, *const y = b;
    if (x->ps != y->ps)
        return x->ps > y->ps ? -1 : 1;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return (x->set > y->set) - (x->set < y->set);
}

static bool add_up(struct chase *chase)
{
    struct step_critical *const c = chase->critical;
    c->parts = malloc((c->count + 1) * sizeof *c->parts);
    for (size_t i = 0; c->parts != NULL && i < c->count; i++) {
        const struct step_stretch *const s = &c->stretches[i];
        const uint32_t meeting = chase->meetings->of[chase->meetings->first[s->rank] + s->op];
        const struct workload_part part =
            meeting != WORKLOAD_NONE ? workload_meeting_name(chase->graph, chase->meetings, meeting)
                                     : (struct workload_part){s->rank, s->op};
        const struct workload_op *const op = &program_of(chase, part.rank)->ops[part.op];
        const uint32_t label = s->launch ? WORKLOAD_NONE : op->label;
        const uint32_t set = s->launch || !workload_meets(op) ? WORKLOAD_NONE : op->set;
        size_t k = 0;
        while (k < c->part_count && (c->parts[k].label != label || c->parts[k].set != set))
            k++;
        if (k == c->part_count)
            c->parts[c->part_count++] = (struct step_part){label, set, 0};
        c->parts[k].ps += s->to_ps - s->from_ps;
    }
    if (c->parts != NULL)
        qsort(c->parts, c->part_count, sizeof *c->parts, by_share);
    return c->parts != NULL;
}

int step_critical_of(const struct workload_graph *graph, const struct workload_meetings *meetings,
                     const struct step_result *result, struct step_critical *critical,
                     struct cw_error *error)
{
    struct chase chase = {graph, meetings, result, critical, 0, 0, 0, 0};
    *critical = (struct step_critical){0};
    if (!walk_back(&chase))
        return cw_error_memory(error, "the critical path of a step");
    turn_around(critical);
    return add_up(&chase) ? CW_OK : cw_error_memory(error, "the critical path of a step");
}

void step_critical_free(struct step_critical *critical)
{
    free(critical->stretches);
    free(critical->parts);
    *critical = (struct step_critical){0};
}
