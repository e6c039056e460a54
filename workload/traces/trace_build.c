/*
 * trace_build.c: labels, streams and groups of the graph that a trace becomes (trace_build.h).
 * Communicators of a trace overlap as they like; a set of the graph has disjoint groups. So groups
 * of equal size are put together, each into the first set of which no group shares a rank with it.
 * Then equal programs are found.
 */
#include "workload/traces/trace_build.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { LABEL_BYTES = 96, LABELS_FIRST = 256 };

int trace_build_begin(struct trace_build *build, uint32_t ranks)
{
    build->graph->rank_count = ranks;
    build->graph->program_of = calloc(ranks > 0 ? ranks : 1, sizeof *build->graph->program_of);
    return build->graph->program_of != NULL ? CW_OK : trace_no_memory(build);
}

void trace_build_free(struct trace_build *build)
{
    for (uint32_t i = 0; i < build->group_count; i++) {
        free(build->groups[i].name);
        free(build->groups[i].ranks);
    }
    free(build->groups);
    free(build->label_table);
}

void trace_note(const struct trace_build *build, const char *path, const char *format, ...)
{
    if (build->options->notes == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    fprintf(build->options->notes, "%s: ", path);
    vfprintf(build->options->notes, format, arguments);
    fputc('\n', build->options->notes);
    va_end(arguments);
}

/* ---- labels ---------------------------------------------------------------------------------- */

static size_t shorten(const char *name, size_t bytes, char text[LABEL_BYTES])
{
    size_t used = 0;
    for (size_t i = 0; i < bytes && used < LABEL_BYTES - 1; i++) {
        const unsigned char c = (unsigned char)name[i];
        const bool digit = c >= '0' && c <= '9';
        if (digit && used > 0 && text[used - 1] == '*')
            continue;
        text[used++] = (char)(digit ? '*' : c >= ' ' && c < 127 ? c : '?');
    }
    if (used == 0)
        text[used++] = '?';
    text[used] = '\0';
    return used;
}

static uint32_t *label_place(const struct trace_build *build, const char *text, size_t bytes)
{
    uint32_t at = (uint32_t)XXH3_64bits(text, bytes) & (build->label_room - 1);
    while (build->label_table[at] != 0 &&
           strcmp(build->graph->labels[build->label_table[at] - 1], text) != 0)
        at = (at + 1) & (build->label_room - 1);
    return &build->label_table[at];
}

static bool more_labels(struct trace_build *build)
{
    const uint32_t room = build->label_room > 0 ? 2 * build->label_room : LABELS_FIRST;
    uint32_t *const table = calloc(room, sizeof *table);
    if (table == NULL)
        return false;
    free(build->label_table);
    build->label_table = table;
    build->label_room = room;
    for (uint32_t i = 0; i < build->graph->label_count; i++)
        *label_place(build, build->graph->labels[i], strlen(build->graph->labels[i])) = i + 1;
    return true;
}

uint32_t trace_label(struct trace_build *build, const char *name, size_t bytes)
{
    char text[LABEL_BYTES];
    if (2 * (build->graph->label_count + 1) > build->label_room && !more_labels(build))
        return WORKLOAD_NONE;
    uint32_t *const place = label_place(build, text, shorten(name, bytes, text));
    if (*place == 0) {
        const uint32_t label = workload_add_label(build->graph, text);
        if (label == WORKLOAD_NONE)
            return WORKLOAD_NONE;
        *place = label + 1;
    }
    return *place - 1;
}

/* ---- streams and types ----------------------------------------------------------------------- */

uint32_t trace_stream(struct trace_build *build, const char *name, enum workload_stream_order order)
{
    const uint32_t stream = workload_add_stream(build->graph, name);
    if (stream != WORKLOAD_NONE)
        build->graph->streams[stream].order = (uint8_t)order;
    return stream;
}

uint8_t trace_dtype(uint64_t bytes) { return bytes % 2 == 0 ? DTYPE_BF16 : DTYPE_INT8; }

/* ---- groups ---------------------------------------------------------------------------------- */

uint32_t trace_new_group(struct trace_build *build, const char *name, const uint32_t *ranks,
                         uint32_t count)
{
    if (build->group_count == build->group_room) {
        const uint32_t room = build->group_room > 0 ? 2 * build->group_room : 16;
        struct trace_group *const more = realloc(build->groups, room * sizeof *more);
        if (more == NULL)
            return WORKLOAD_NONE;
        build->groups = more;
        build->group_room = room;
    }
    struct trace_group *const group = &build->groups[build->group_count++];
    *group = (struct trace_group){.name = strdup(name),
                                  .ranks = malloc((count > 0 ? count : 1) * sizeof *ranks),
                                  .count = count,
                                  .set = WORKLOAD_NONE};
    if (group->name == NULL || group->ranks == NULL)
        return WORKLOAD_NONE;
    memcpy(group->ranks, ranks, count * sizeof *ranks);
    return build->group_count - 1;
}

uint32_t trace_group(struct trace_build *build, const char *name, const uint32_t *ranks,
                     uint32_t count)
{
    for (uint32_t i = 0; i < build->group_count; i++) {
        const struct trace_group *const group = &build->groups[i];
        if (group->count == count && strcmp(group->name, name) == 0 &&
            memcmp(group->ranks, ranks, count * sizeof *ranks) == 0)
            return i;
    }
    return trace_new_group(build, name, ranks, count);
}

uint32_t trace_world(struct trace_build *build)
{
    const uint32_t ranks = build->graph->rank_count;
    if (build->world > 0)
        return build->world - 1;
    uint32_t *const all = malloc(ranks * sizeof *all);
    if (all == NULL)
        return WORKLOAD_NONE;
    for (uint32_t r = 0; r < ranks; r++)
        all[r] = r;
    const uint32_t group = trace_group(build, "world", all, ranks);
    free(all);
    build->world = group != WORKLOAD_NONE ? group + 1 : 0;
    return group;
}

/* Sets in the making: which ranks each has. */
struct pool {
    uint8_t **taken; /* [count][rank_count] */
    uint32_t count, *size;
};

static uint32_t find_set(struct pool *pool, const struct trace_group *group, uint32_t ranks)
{
    uint32_t at = 0;
    for (; at < pool->count; at++) {
        bool fits = pool->size[at] == group->count;
        for (uint32_t i = 0; fits && i < group->count; i++)
            fits = !pool->taken[at][group->ranks[i]];
        if (fits)
            break;
    }
    if (at == pool->count) {
        pool->taken[at] = calloc(ranks, 1);
        if (pool->taken[at] == NULL)
            return WORKLOAD_NONE;
        pool->size[at] = group->count;
        pool->count++;
    }
    for (uint32_t i = 0; i < group->count; i++)
        pool->taken[at][group->ranks[i]] = 1;
    return at;
}

/* The groups of one set, in the order in which the trace has named them. */
static bool add_set(struct trace_build *build, uint32_t set)
{
    uint32_t groups = 0, ranks = 0;
    for (uint32_t i = 0; i < build->group_count; i++)
        if (build->groups[i].set == set) {
            groups++;
            ranks += build->groups[i].count;
        }
    uint32_t *const first = calloc(groups + 1, sizeof *first);
    uint32_t *const all = malloc((ranks > 0 ? ranks : 1) * sizeof *all);
    const char *name = NULL;
    uint32_t group = 0, added = WORKLOAD_NONE;
    for (uint32_t i = 0; first != NULL && all != NULL && i < build->group_count; i++) {
        const struct trace_group *const from = &build->groups[i];
        if (from->set != set)
            continue;
        if (name == NULL)
            name = from->name;
        memcpy(all + first[group], from->ranks, from->count * sizeof *all);
        first[group + 1] = first[group] + from->count;
        group++;
    }
    if (name != NULL)
        added = workload_add_set(build->graph, name, groups, first, all);
    free(first);
    free(all);
    return added != WORKLOAD_NONE;
}

/* Whether an operation has a group. */
static bool communicates(const struct workload_op *op)
{
    return op->kind == WORKLOAD_COLLECTIVE || op->kind == WORKLOAD_SEND ||
           op->kind == WORKLOAD_RECV;
}

/* Sets get their places in the graph, those of which there is an operation; operations, their sets.
 * place: [pool->count] WORKLOAD_NONE. */
static bool place_sets(struct trace_build *build, const struct pool *pool, uint32_t *place)
{
    for (int round = 0; round < 2; round++) {
        for (uint32_t p = 0; p < build->graph->program_count; p++)
            for (uint32_t i = 0; i < build->graph->programs[p].op_count; i++) {
                struct workload_op *const op = &build->graph->programs[p].ops[i];
                if (!communicates(op))
                    continue;
                if (round == 0)
                    place[build->groups[op->set].set] = 0;
                else
                    op->set = place[build->groups[op->set].set];
            }
        for (uint32_t set = 0, at = 0; round == 0 && set < pool->count; set++) {
            if (place[set] == WORKLOAD_NONE)
                continue;
            place[set] = at++;
            if (!add_set(build, set))
                return false;
        }
    }
    return true;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Of all that makes two programs the same: not of their nodes' ids. */
static uint64_t hash_of(const struct workload_program *p)
{
    uint64_t hash = XXH3_64bits(p->deps, p->dep_count * sizeof *p->deps);
    for (uint32_t i = 0; i < p->op_count; i++) {
        struct workload_op op = p->ops[i];
        op.id = 0;
        hash = XXH3_64bits_withSeed(&op, sizeof op, hash);
    }
    return hash;
}

static bool same(const struct workload_program *a, const struct workload_program *b)
{
    if (a->op_count != b->op_count || a->dep_count != b->dep_count ||
        (a->dep_count > 0 && memcmp(a->deps, b->deps, a->dep_count * sizeof *a->deps) != 0))
        return false;
    for (uint32_t i = 0; i < a->op_count; i++) {
        struct workload_op op = b->ops[i];
        op.id = a->ops[i].id;
        if (memcmp(&a->ops[i], &op, sizeof op) != 0)
            return false;
    }
    return true;
}

/* "rank 0 and 15 more". The name of one of them will do where there is no memory. */
static void rename_shared(struct workload_graph *graph, uint32_t *ranks, uint32_t *first)
{
    memset(ranks, 0, graph->program_count * sizeof *ranks);
    for (uint32_t r = graph->rank_count; r-- > 0;) {
        ranks[graph->program_of[r]]++;
        first[graph->program_of[r]] = r;
    }
    for (uint32_t p = 0; p < graph->program_count; p++) {
        char name[64];
        if (ranks[p] < 2 || strncmp(graph->programs[p].name, "rank ", 5) != 0)
            continue;
        snprintf(name, sizeof name, "rank %u and %u more", first[p], ranks[p] - 1);
        char *const copy = strdup(name);
        if (copy == NULL)
            return;
        free(graph->programs[p].name);
        graph->programs[p].name = copy;
    }
}

/* Moves programs together; now[p] is where p, or an equal one, is then. table: of `room` places by
 * hash, 1 + a program; 0: free. */
static void keep_different(struct workload_graph *graph, uint32_t *now, uint32_t *table,
                           uint32_t room)
{
    uint32_t kept = 0;
    for (uint32_t p = 0; p < graph->program_count; p++) {
        struct workload_program *const program = &graph->programs[p];
        uint32_t at = (uint32_t)hash_of(program) & (room - 1);
        while (table[at] != 0 && !same(&graph->programs[table[at] - 1], program))
            at = (at + 1) & (room - 1);
        now[p] = table[at] > 0 ? table[at] - 1 : kept;
        if (table[at] > 0) {
            free(program->ops);
            free(program->deps);
            free(program->name);
        } else {
            table[at] = kept + 1;
            graph->programs[kept++] = *program;
        }
    }
    graph->program_count = kept;
}

/* Ranks that do the same share a program. */
static int share_programs(struct trace_build *build)
{
    struct workload_graph *const graph = build->graph;
    uint32_t room = 2;
    while (room < 2 * graph->program_count)
        room *= 2;
    uint32_t *const table = calloc(room, sizeof *table);
    uint32_t *const now = malloc((graph->program_count + 1) * sizeof *now);
    const bool done = table != NULL && now != NULL;
    if (done) {
        keep_different(graph, now, table, room);
        for (uint32_t r = 0; r < graph->rank_count; r++)
            graph->program_of[r] = now[graph->program_of[r]];
        rename_shared(graph, table, now);
    }
    free(table);
    free(now);
    return done ? CW_OK : trace_no_memory(build);
}

int trace_build_end(struct trace_build *build)
{
    const uint32_t ranks = build->graph->rank_count;
    const size_t room = (size_t)build->group_count + 1;
    uint32_t *const place = malloc(room * sizeof *place);
    struct pool pool = {.taken = calloc(room, sizeof *pool.taken),
                        .size = calloc(room, sizeof *pool.size)};
    bool done = place != NULL && pool.taken != NULL && pool.size != NULL;
    for (uint32_t i = 0; done && i < build->group_count; i++) {
        build->groups[i].set = find_set(&pool, &build->groups[i], ranks);
        done = build->groups[i].set != WORKLOAD_NONE;
    }
    if (done) {
        memset(place, 255, room * sizeof *place);
        done = place_sets(build, &pool, place);
    }
    for (uint32_t i = 0; pool.taken != NULL && i < pool.count; i++)
        free(pool.taken[i]);
    free(pool.taken);
    free(pool.size);
    free(place);
    return done ? share_programs(build) : trace_no_memory(build);
}
