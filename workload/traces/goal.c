/*
 * goal.c: what GOAL's two forms share (goal.h): operations become those of the graph.
 *
 * A receive from any sender takes the messages that no other receive of its rank asks for. Who
 * sends them is known before the run only if they are all of one sender and tag; anything else
 * depends on times, and is refused.
 */
#include "workload/traces/goal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool goal_add_op(struct goal_program *program, const struct goal_op *op)
{
    if (program->count == program->room) {
        const uint32_t room = program->room > 0 ? 2 * program->room : 64;
        struct goal_op *const more = realloc(program->ops, room * sizeof *more);
        if (more == NULL)
            return false;
        program->ops = more;
        program->room = room;
    }
    program->ops[program->count++] = *op;
    return true;
}

bool goal_add_edge(struct goal_program *program, uint32_t op, uint32_t needs)
{
    if (program->edge_count == program->edge_room) {
        const uint32_t room = program->edge_room > 0 ? 2 * program->edge_room : 64;
        struct goal_edge *const more = realloc(program->edges, room * sizeof *more);
        if (more == NULL)
            return false;
        program->edges = more;
        program->edge_room = room;
    }
    program->edges[program->edge_count++] = (struct goal_edge){op, needs};
    return true;
}

void goal_free(struct goal_program *programs, uint32_t ranks)
{
    for (uint32_t r = 0; programs != NULL && r < ranks; r++) {
        free(programs[r].ops);
        free(programs[r].edges);
    }
    free(programs);
}

struct goal {
    struct trace_build *build;
    const char *path;
    struct goal_program *programs;
    uint32_t ranks;
};

static int refuse(const struct goal *g, uint32_t rank, const struct goal_op *op, const char *why)
{
    return cw_error_set(g->build->error, CW_USAGE, "%s: rank %u, %" PRIu64 ": %s", g->path, rank,
                        op->id, why);
}

/* ---- any sender ------------------------------------------------------------------------------ */

/* A message to a rank. */
struct arrival {
    uint64_t from, tag;
    int64_t left; /* sends, less the receives that ask for them */
};

static int by_sender(const void *a, const void *b)
{
    const struct arrival *const x = a, *const y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->tag < y->tag ? -1 : x->tag > y->tag;
}

/* All sends to a rank and its receives that name a sender and a tag, added up. */
static uint32_t find_arrivals(const struct goal *g, uint32_t rank, struct arrival *arrivals)
{
    uint32_t count = 0, kinds = 0;
    for (uint32_t from = 0; from < g->ranks; from++)
        for (uint32_t i = 0; i < g->programs[from].count; i++) {
            const struct goal_op *const op = &g->programs[from].ops[i];
            if (op->kind == GOAL_SEND && op->peer == rank)
                arrivals[count++] = (struct arrival){from, op->tag, 1};
        }
    for (uint32_t i = 0; i < g->programs[rank].count; i++) {
        const struct goal_op *const op = &g->programs[rank].ops[i];
        if (op->kind == GOAL_RECV && op->peer != GOAL_ANY && op->tag != GOAL_ANY)
            arrivals[count++] = (struct arrival){op->peer, op->tag, -1};
    }
    qsort(arrivals, count, sizeof *arrivals, by_sender);
    for (uint32_t i = 0; i < count; i++) {
        if (kinds > 0 && by_sender(&arrivals[kinds - 1], &arrivals[i]) == 0)
            arrivals[kinds - 1].left += arrivals[i].left;
        else
            arrivals[kinds++] = arrivals[i];
    }
    return kinds;
}

static int give_sender(const struct goal *g, uint32_t rank, struct goal_op *op,
                       struct arrival *arrivals, uint32_t kinds)
{
    struct arrival *only = NULL;
    for (uint32_t i = 0; i < kinds; i++) {
        if (arrivals[i].left <= 0 || (op->peer != GOAL_ANY && arrivals[i].from != op->peer) ||
            (op->tag != GOAL_ANY && arrivals[i].tag != op->tag))
            continue;
        if (only != NULL)
            return refuse(g, rank, op,
                          "a receive from -1 or of tag -1 that several senders or tags could meet: "
                          "their times decide; legal: -1 where all messages that no other receive "
                          "of the rank asks for are of one sender and tag");
        only = &arrivals[i];
    }
    if (only == NULL)
        return refuse(g, rank, op, "a receive of what no rank sends");
    op->peer = only->from;
    op->tag = only->tag;
    return CW_OK;
}

static int give_senders(const struct goal *g, uint32_t rank, uint64_t messages)
{
    struct goal_program *const program = &g->programs[rank];
    bool any = false;
    int code = CW_OK;
    for (uint32_t i = 0; i < program->count; i++)
        any |= program->ops[i].kind == GOAL_RECV &&
               (program->ops[i].peer == GOAL_ANY || program->ops[i].tag == GOAL_ANY);
    if (!any)
        return CW_OK;
    struct arrival *const arrivals = malloc((messages + 1) * sizeof *arrivals);
    if (arrivals == NULL)
        return trace_no_memory(g->build);
    const uint32_t kinds = find_arrivals(g, rank, arrivals);
    for (uint32_t i = 0; code == CW_OK && i < program->count; i++)
        if (program->ops[i].kind == GOAL_RECV &&
            (program->ops[i].peer == GOAL_ANY || program->ops[i].tag == GOAL_ANY))
            code = give_sender(g, rank, &program->ops[i], arrivals, kinds);
    free(arrivals);
    return code;
}

/* ---- tags ------------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Tags of the graph have 32 bits: each tag becomes its place among all. */
static int shorten_tags(const struct goal *g, uint64_t messages)
{
    uint64_t *const tags = malloc((messages + 1) * sizeof *tags);
    size_t count = 0, kinds = 0;
    if (tags == NULL)
        return trace_no_memory(g->build);
    for (uint32_t r = 0; r < g->ranks; r++)
        for (uint32_t i = 0; i < g->programs[r].count; i++)
            if (g->programs[r].ops[i].kind != GOAL_CALC)
                tags[count++] = g->programs[r].ops[i].tag;
    qsort(tags, count, sizeof *tags, by_value);
    for (size_t i = 0; i < count; i++)
        if (kinds == 0 || tags[kinds - 1] != tags[i])
            tags[kinds++] = tags[i];
    if (kinds > 0 && tags[kinds - 1] > UINT32_MAX)
        for (uint32_t r = 0; r < g->ranks; r++)
            for (uint32_t i = 0; i < g->programs[r].count; i++) {
                struct goal_op *const op = &g->programs[r].ops[i];
                if (op->kind == GOAL_CALC)
                    continue;
                const uint64_t *const at = bsearch(&op->tag, tags, kinds, sizeof *tags, by_value);
                op->tag = (uint64_t)(at - tags);
            }
    free(tags);
    return CW_OK;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static int check_op(const struct goal *g, uint32_t rank, const struct goal_op *op)
{
    char why[120];
    if (op->kind == GOAL_CALC)
        return op->size <= TRACE_PS_MAX / 1000 ? CW_OK : refuse(g, rank, op, "calc: too long");
    if (op->size > TRACE_BYTES_MAX)
        return refuse(g, rank, op, "more than 1 PiB");
    if (op->kind == GOAL_RECV && op->peer == GOAL_ANY)
        return CW_OK;
    if (op->peer >= g->ranks || op->peer == rank) {
        snprintf(why, sizeof why,
                 "its other end is rank %" PRIu64 "; legal: another rank than %u, from 0 to %u",
                 op->peer, rank, g->ranks - 1);
        return refuse(g, rank, op, why);
    }
    return CW_OK;
}

static int add_op(const struct goal *g, uint32_t program, const struct goal_op *from)
{
    static const char *const labels[] = {
        [GOAL_SEND] = "send", [GOAL_RECV] = "recv", [GOAL_CALC] = "calc"};
    static const uint8_t kinds[] = {
        [GOAL_SEND] = WORKLOAD_SEND, [GOAL_RECV] = WORKLOAD_RECV, [GOAL_CALC] = WORKLOAD_TIME};
    struct workload_op op = {.kind = kinds[from->kind],
                             .dtype = trace_dtype(from->kind == GOAL_CALC ? 0 : from->size),
                             .layer = -1,
                             .microbatch = -1,
                             .id = from->id};
    char name[32];
    uint32_t stream;
    op.label = trace_label(g->build, labels[from->kind], strlen(labels[from->kind]));
    if (from->kind == GOAL_CALC) {
        op.time_ps = from->size * 1000;
        if (op.time_ps == 0)
            op.kind = WORKLOAD_NOTHING;
        snprintf(name, sizeof name, "cpu %u", from->cpu);
        stream = trace_stream(g->build, name, WORKLOAD_AS_READY);
    } else {
        op.bytes = from->size;
        op.peer = (uint32_t)from->peer;
        op.tag = (uint32_t)from->tag;
        op.set = trace_world(g->build);
        stream = trace_stream(g->build, "messages", WORKLOAD_AT_ONCE);
    }
    if (op.label == WORKLOAD_NONE || stream == WORKLOAD_NONE ||
        (from->kind != GOAL_CALC && op.set == WORKLOAD_NONE))
        return trace_no_memory(g->build);
    op.stream = (uint16_t)stream;
    return workload_add_op(g->build->graph, program, &op) != WORKLOAD_NONE
               ? CW_OK
               : trace_no_memory(g->build);
}

static int by_op(const void *a, const void *b)
{
    const struct goal_edge *const x = a, *const y = b;
    return x->op < y->op ? -1 : x->op > y->op;
}

static int add_program(const struct goal *g, uint32_t rank)
{
    struct goal_program *const from = &g->programs[rank];
    char name[32];
    snprintf(name, sizeof name, "rank %u", rank);
    const uint32_t program = workload_add_program(g->build->graph, name);
    if (program == WORKLOAD_NONE)
        return trace_no_memory(g->build);
    g->build->graph->program_of[rank] = program;
    if (from->edge_count > 0)
        qsort(from->edges, from->edge_count, sizeof *from->edges, by_op);
    int code = CW_OK;
    for (uint32_t i = 0, edge = 0; code == CW_OK && i < from->count; i++) {
        code = add_op(g, program, &from->ops[i]);
        for (; code == CW_OK && edge < from->edge_count && from->edges[edge].op == i; edge++)
            if (!workload_add_dep(g->build->graph, program, from->edges[edge].needs))
                code = trace_no_memory(g->build);
    }
    return code;
}

int goal_build(struct trace_build *build, const char *path, struct goal_program *programs,
               uint32_t ranks)
{
    const struct goal g = {build, path, programs, ranks};
    uint64_t messages = 0;
    int code = CW_OK;
    for (uint32_t r = 0; code == CW_OK && r < ranks; r++)
        for (uint32_t i = 0; code == CW_OK && i < programs[r].count; i++) {
            messages += programs[r].ops[i].kind != GOAL_CALC;
            code = check_op(&g, r, &programs[r].ops[i]);
        }
    for (uint32_t r = 0; code == CW_OK && r < ranks; r++)
        code = give_senders(&g, r, messages);
    if (code == CW_OK)
        code = shorten_tags(&g, messages);
    if (code == CW_OK)
        code = trace_build_begin(build, ranks);
    for (uint32_t r = 0; code == CW_OK && r < ranks; r++)
        code = add_program(&g, r);
    return code;
}
