/*
 * classes.c: goes through the operations of each rank in the order of time, and adds each stretch
 * between two moments at which something begins, meets or ends to the kind that it is of
 * (classes.h).
 */
#include "workload/account/classes.h"

#include <stdlib.h>
#include <string.h>

#include "workload/graph/meetings.h"

/* Something of an operation changes. */
struct moment {
    int64_t at_ps;
    uint32_t op;
    uint8_t what;
};
enum { ENDS, MEETS, BEGINS };

static int by_time(const void *a, const void *b)
{
    const struct moment *const x = a, *const y = b;
    if (x->at_ps != y->at_ps)
        return x->at_ps < y->at_ps ? -1 : 1;
    if (x->what != y->what)
        return x->what < y->what ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

/* A rank, as the walk sees it. */
struct walk {
    const struct workload_graph *graph;
    const struct workload_program *program;
    const struct workload_op *ops;
    const struct step_span *spans;
    struct moment *moments; /* room for 3 of each operation */
    uint32_t *active;       /* in the order of their begins */
    uint32_t active_count;
    uint32_t sets;
    bool *counted;  /* [sets] */
    int64_t *parts; /* sums over the ranks: [PURPOSES] computing, bubble, [sets] exposed, waiting */
    int64_t *hidden; /* [sets] */
};

enum { BUBBLE = WORKLOAD_PURPOSES, EXPOSED = BUBBLE + 1 };

int64_t step_posted_ps(const struct workload_graph *graph, const struct workload_program *program,
                       const struct step_span *spans, uint32_t op)
{
    const uint16_t stream = program->ops[op].stream;
    int64_t posted_ps = spans[op].ready_ps;
    uint32_t before = op;
    while (before > 0 && program->ops[before - 1].stream != stream)
        before--;
    if (before > 0 && graph->streams[stream].order == WORKLOAD_IN_ORDER &&
        spans[before - 1].end_ps > posted_ps)
        posted_ps = spans[before - 1].end_ps;
    return posted_ps < spans[op].start_ps ? posted_ps : spans[op].start_ps;
}

/* When it is in flight from. */
static int64_t begin_of(const struct walk *walk, uint32_t op)
{
    const uint8_t kind = walk->ops[op].kind;
    return kind == WORKLOAD_SEND || kind == WORKLOAD_RECV
               ? step_posted_ps(walk->graph, walk->program, walk->spans, op)
               : walk->spans[op].start_ps;
}

static size_t find_moments(const struct walk *walk, uint32_t op_count)
{
    size_t count = 0;
    for (uint32_t i = 0; i < op_count; i++) {
        const struct step_span *const span = &walk->spans[i];
        const int64_t begin_ps = begin_of(walk, i);
        if (begin_ps == span->end_ps || walk->ops[i].kind == WORKLOAD_NOTHING)
            continue;
        walk->moments[count++] = (struct moment){begin_ps, i, BEGINS};
        walk->moments[count++] = (struct moment){span->end_ps, i, ENDS};
        if (span->met_ps > begin_ps && span->met_ps < span->end_ps)
            walk->moments[count++] = (struct moment){span->met_ps, i, MEETS};
    }
    qsort(walk->moments, count, sizeof *walk->moments, by_time);
    return count;
}

/* Communication under a computation; of several of a set at once it counts once. */
static void add_hidden(const struct walk *walk, int64_t from_ps, int64_t ps)
{
    memset(walk->counted, 0, walk->sets * sizeof *walk->counted);
    for (uint32_t k = 0; k < walk->active_count; k++) {
        const uint32_t i = walk->active[k];
        const struct workload_op *const op = &walk->ops[i];
        if (!workload_meets(op) || walk->spans[i].met_ps > from_ps || walk->counted[op->set])
            continue;
        walk->counted[op->set] = true;
        walk->hidden[op->set] += ps;
    }
}

/* The part that a stretch counts for. */
static size_t part_of(const struct walk *walk, int64_t from_ps)
{
    size_t moving = 0, waiting = 0; /* 0: none; it is a purpose's */
    for (uint32_t k = 0; k < walk->active_count; k++) {
        const uint32_t i = walk->active[k];
        const struct workload_op *const op = &walk->ops[i];
        if (!workload_meets(op))
            return op->purpose;
        if (moving == 0 && walk->spans[i].met_ps <= from_ps)
            moving = EXPOSED + op->set;
        if (waiting == 0)
            waiting = EXPOSED + walk->sets + op->set;
    }
    return moving > 0 ? moving : waiting > 0 ? waiting : BUBBLE;
}

static void add_stretch(const struct walk *walk, int64_t from_ps, int64_t to_ps)
{
    if (to_ps <= from_ps)
        return;
    const size_t part = part_of(walk, from_ps);
    walk->parts[part] += to_ps - from_ps;
    if (part < BUBBLE)
        add_hidden(walk, from_ps, to_ps - from_ps);
}

static void take_moment(struct walk *walk, const struct moment *moment)
{
    if (moment->what == BEGINS)
        walk->active[walk->active_count++] = moment->op;
    if (moment->what != ENDS)
        return;
    uint32_t k = 0;
    while (walk->active[k] != moment->op)
        k++;
    walk->active_count--;
    memmove(&walk->active[k], &walk->active[k + 1],
            (walk->active_count - k) * sizeof *walk->active);
}

static void walk_rank(struct walk *walk, uint32_t op_count, int64_t step_ps)
{
    const size_t count = find_moments(walk, op_count);
    int64_t now_ps = 0;
    walk->active_count = 0;
    for (size_t i = 0; i < count; i++) {
        add_stretch(walk, now_ps, walk->moments[i].at_ps);
        now_ps = walk->moments[i].at_ps;
        take_moment(walk, &walk->moments[i]);
    }
    add_stretch(walk, now_ps, step_ps);
}

/* Means of sums that together are ranks * whole: each is rounded down, and what is lost goes to
 * those that lost most of it, the first of equal ones. */
static void take_means(int64_t *parts, size_t count, uint32_t ranks, int64_t whole)
{
    for (size_t i = 0; i < count; i++)
        whole -= parts[i] / ranks;
    for (; whole > 0; whole--) {
        size_t most = 0;
        for (size_t i = 1; i < count; i++)
            if (parts[i] % ranks > parts[most] % ranks)
                most = i;
        parts[most] += ranks - parts[most] % ranks;
    }
    for (size_t i = 0; i < count; i++)
        parts[i] /= ranks;
}

static void fill_class(struct step_class *one, int64_t *parts, int64_t *hidden, uint32_t sets,
                       int64_t step_ps)
{
    take_means(parts, EXPOSED + 2 * (size_t)sets, one->ranks, step_ps);
    memcpy(one->compute_ps, parts, sizeof one->compute_ps);
    one->bubble_ps = parts[BUBBLE];
    one->exposed_ps = &parts[EXPOSED];
    one->waiting_ps = &parts[EXPOSED + sets];
    one->hidden_ps = hidden;
    for (uint32_t s = 0; s < sets; s++)
        hidden[s] = (hidden[s] + one->ranks / 2) / one->ranks;
}

static void walk_all(const struct workload_graph *graph, const struct step_result *result,
                     struct walk *walk, struct step_classes *classes)
{
    const size_t each = EXPOSED + 3 * (size_t)graph->set_count;
    for (uint32_t p = 0; p < graph->program_count; p++) {
        struct step_class one = {.program = p};
        walk->program = &graph->programs[p];
        walk->ops = walk->program->ops;
        walk->parts = &classes->room[classes->count * each];
        walk->hidden = walk->parts + each - graph->set_count;
        for (uint32_t rank = 0; rank < graph->rank_count; rank++) {
            if (graph->program_of[rank] != p)
                continue;
            walk->spans = step_spans_of(result, rank);
            walk_rank(walk, graph->programs[p].op_count, result->step_ps);
            one.ranks++;
        }
        if (one.ranks == 0)
            continue;
        fill_class(&one, walk->parts, walk->hidden, graph->set_count, result->step_ps);
        classes->classes[classes->count++] = one;
    }
}

int step_classes_of(const struct workload_graph *graph, const struct step_result *result,
                    struct step_classes *classes, struct cw_error *error)
{
    const size_t each = EXPOSED + 3 * (size_t)graph->set_count;
    size_t ops = 0;
    for (uint32_t p = 0; p < graph->program_count; p++)
        ops = graph->programs[p].op_count > ops ? graph->programs[p].op_count : ops;
    *classes = (struct step_classes){
        .classes = calloc(graph->program_count + 1, sizeof *classes->classes),
        .room = calloc(graph->program_count + 1, each * sizeof *classes->room),
        .sets = graph->set_count};
    struct walk walk = {.graph = graph,
                        .moments = malloc((3 * ops + 1) * sizeof *walk.moments),
                        .active = malloc((ops + 1) * sizeof *walk.active),
                        .counted = malloc(graph->set_count + 1),
                        .sets = graph->set_count};
    int code = CW_OK;
    if (classes->classes != NULL && classes->room != NULL && walk.moments != NULL &&
        walk.active != NULL && walk.counted != NULL)
        walk_all(graph, result, &walk, classes);
    else
        code = cw_error_memory(error, "the accounts of a step");
    free(walk.moments);
    free(walk.active);
    free(walk.counted);
    return code;
}

void step_classes_free(struct step_classes *classes)
{
    free(classes->classes);
    free(classes->room);
    *classes = (struct step_classes){0};
}

int64_t step_class_compute(const struct step_class *one)
{
    int64_t sum = 0;
    for (size_t i = 0; i < WORKLOAD_PURPOSES; i++)
        sum += one->compute_ps[i];
    return sum;
}

int64_t step_class_sum(const int64_t *of_sets, uint32_t sets)
{
    int64_t sum = 0;
    for (uint32_t s = 0; s < sets; s++)
        sum += of_sets[s];
    return sum;
}
