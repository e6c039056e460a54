/*
 * graph.c: makes, checks and frees the graph of a step (graph.h). The check is of what no reader
 * can know by itself: that ranks fit together.
 */
#include "workload/graph/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- growing --------------------------------------------------------------------------------- */

/* Room for one more of `count` members; arrays double at powers of two. NULL: out of memory. */
static void *grown(void *at, uint32_t count, size_t size)
{
    if ((count & (count - 1)) != 0)
        return at;
    return realloc(at, (count > 0 ? 2 * (size_t)count : 1) * size);
}

#define GROW(array, count)                                                                         \
    ({                                                                                             \
        void *const more = grown(array, count, sizeof *(array));                                   \
        if (more != NULL)                                                                          \
            (array) = more;                                                                        \
        more != NULL;                                                                              \
    })

uint32_t workload_add_stream(struct workload_graph *graph, const char *name)
{
    for (uint32_t i = 0; i < graph->stream_count; i++)
        if (strcmp(graph->streams[i].name, name) == 0)
            return i;
    char *const copy = strdup(name);
    if (copy == NULL || !GROW(graph->streams, graph->stream_count)) {
        free(copy);
        return WORKLOAD_NONE;
    }
    graph->streams[graph->stream_count] = (struct workload_stream){copy, WORKLOAD_IN_ORDER};
    return graph->stream_count++;
}

uint32_t workload_add_label(struct workload_graph *graph, const char *name)
{
    for (uint32_t i = 0; i < graph->label_count; i++)
        if (strcmp(graph->labels[i], name) == 0)
            return i;
    char *const copy = strdup(name);
    if (copy == NULL || !GROW(graph->labels, graph->label_count)) {
        free(copy);
        return WORKLOAD_NONE;
    }
    graph->labels[graph->label_count] = copy;
    return graph->label_count++;
}

uint32_t workload_add_program(struct workload_graph *graph, const char *name)
{
    char *const copy = strdup(name);
    if (copy == NULL || !GROW(graph->programs, graph->program_count)) {
        free(copy);
        return WORKLOAD_NONE;
    }
    graph->programs[graph->program_count] = (struct workload_program){.name = copy};
    return graph->program_count++;
}

static void *copy_of(const void *from, size_t bytes)
{
    void *const copy = malloc(bytes > 0 ? bytes : 1);
    if (copy != NULL && bytes > 0)
        memcpy(copy, from, bytes);
    return copy;
}

uint32_t workload_add_set(struct workload_graph *graph, const char *name, uint32_t groups,
                          const uint32_t *first, const uint32_t *ranks)
{
    struct workload_set set = {.name = strdup(name),
                               .groups = groups,
                               .first = copy_of(first, (groups + 1) * sizeof *first),
                               .ranks = copy_of(ranks, first[groups] * sizeof *ranks),
                               .queue = WORKLOAD_NONE};
    if (set.name == NULL || set.first == NULL || set.ranks == NULL ||
        !GROW(graph->sets, graph->set_count)) {
        free(set.name);
        free(set.first);
        free(set.ranks);
        return WORKLOAD_NONE;
    }
    graph->sets[graph->set_count] = set;
    return graph->set_count++;
}

uint32_t workload_add_op(struct workload_graph *graph, uint32_t program,
                         const struct workload_op *op)
{
    struct workload_program *const to = &graph->programs[program];
    if (!GROW(to->ops, to->op_count))
        return WORKLOAD_NONE;
    to->ops[to->op_count] = *op;
    to->ops[to->op_count].first_dep = to->dep_count;
    to->ops[to->op_count].dep_count = 0;
    return to->op_count++;
}

bool workload_add_dep(struct workload_graph *graph, uint32_t program, uint32_t dep)
{
    struct workload_program *const to = &graph->programs[program];
    if (!GROW(to->deps, to->dep_count))
        return false;
    to->deps[to->dep_count++] = dep;
    to->ops[to->op_count - 1].dep_count++;
    return true;
}

void workload_graph_free(struct workload_graph *graph)
{
    for (uint32_t i = 0; i < graph->program_count; i++) {
        free(graph->programs[i].ops);
        free(graph->programs[i].deps);
        free(graph->programs[i].name);
    }
    for (uint32_t i = 0; i < graph->set_count; i++) {
        struct workload_set *const set = &graph->sets[i];
        free(set->name);
        free(set->first);
        free(set->ranks);
        free(set->group_of);
        free(set->rank_in);
        free(set->algorithm);
    }
    for (uint32_t i = 0; i < graph->stream_count; i++)
        free(graph->streams[i].name);
    for (uint32_t i = 0; i < graph->label_count; i++)
        free(graph->labels[i]);
    free(graph->programs);
    free(graph->memory);
    free(graph->sets);
    free(graph->streams);
    free(graph->labels);
    free(graph->program_of);
    free(graph->sip_of);
    free(graph->name);
    free(graph->file);
    *graph = (struct workload_graph){0};
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *workload_op_name(const struct workload_graph *graph, const struct workload_op *op,
                             char *text, size_t size)
{
    int used = snprintf(text, size, "%s",
                        op->label < graph->label_count ? graph->labels[op->label] : "operation");
    if (op->layer >= 0 && used >= 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, ", layer %d", op->layer);
    if (op->microbatch >= 0 && used >= 0 && (size_t)used < size)
        (void)snprintf(text + used, size - (size_t)used, ", microbatch %d", op->microbatch);
    return text;
}

/* ---- checking -------------------------------------------------------------------------------- */

struct check {
    const struct workload_graph *graph;
    struct cw_error *error;
};

static int refuse(const struct check *check, uint32_t program, const struct workload_op *op,
                  const char *why)
{
    const char *const file = check->graph->file != NULL ? check->graph->file : "workload";
    const char *const of = check->graph->programs[program].name;
    char name[128];
    (void)workload_op_name(check->graph, op, name, sizeof name);
    if (op->column > 0)
        return cw_error_set(check->error, CW_USAGE, "%s:%" PRIu64 ":%u: %s: %s: %s", file, op->id,
                            op->column, of, name, why);
    return cw_error_set(check->error, CW_USAGE, "%s: %s, %" PRIu64 " (%s): %s", file, of, op->id,
                        name, why);
}

static int no_memory(const struct check *check)
{
    return cw_error_memory(check->error, "the workload");
}

/* Which group each rank is in. */
static int fill_set(const struct check *check, struct workload_set *set)
{
    const uint32_t ranks = check->graph->rank_count;
    free(set->group_of);
    free(set->rank_in);
    set->group_of = malloc(ranks * sizeof *set->group_of);
    set->rank_in = malloc(ranks * sizeof *set->rank_in);
    if (set->group_of == NULL || set->rank_in == NULL)
        return no_memory(check);
    memset(set->group_of, 255, ranks * sizeof *set->group_of);
    memset(set->rank_in, 255, ranks * sizeof *set->rank_in);
    for (uint32_t group = 0; group < set->groups; group++)
        for (uint32_t i = set->first[group]; i < set->first[group + 1]; i++) {
            const uint32_t rank = set->ranks[i];
            if (rank >= ranks || set->group_of[rank] != WORKLOAD_NONE)
                return cw_error_set(
                    check->error, CW_USAGE,
                    "%s: group %u of %s has rank %u, %s; legal: each of 0 to %u in "
                    "at most one of its groups",
                    check->graph->file != NULL ? check->graph->file : "workload", group, set->name,
                    rank, rank >= ranks ? "which does not exist" : "which it has twice", ranks - 1);
            set->group_of[rank] = group;
            set->rank_in[rank] = i - set->first[group];
        }
    return CW_OK;
}

static int check_op(const struct check *check, uint32_t program, const struct workload_op *op)
{
    const struct workload_graph *const graph = check->graph;
    const bool moves = op->kind == WORKLOAD_SEND || op->kind == WORKLOAD_RECV;
    if (op->kind >= WORKLOAD_OP_KINDS || op->purpose >= WORKLOAD_PURPOSES)
        return refuse(check, program, op, "an unknown kind of operation");
    if (op->kind == WORKLOAD_PRODUCT &&
        (op->dtype == DTYPE_F64 || op->dtype == DTYPE_INT8 || op->dtype == DTYPE_INT32))
        return refuse(check, program, op,
                      "a product of such a dtype; legal are f16, bf16, f32, fp8_e4m3 and fp8_e5m2");
    if (op->stream >= graph->stream_count || op->label >= graph->label_count)
        return refuse(check, program, op, "it has no stream or no label");
    if ((moves || op->kind == WORKLOAD_COLLECTIVE) && op->set >= graph->set_count)
        return refuse(check, program, op, "its groups do not exist");
    return CW_OK;
}

/* Operations that depend on themselves, by way of others. */
static int check_order(const struct check *check, uint32_t program)
{
    const struct workload_program *const p = &check->graph->programs[program];
    uint32_t *const left = calloc(p->op_count + 1, sizeof *left);
    uint32_t *const first = calloc(p->op_count + 2, sizeof *first);
    uint32_t *const next = calloc(p->dep_count + 1, sizeof *next);
    uint32_t *const queue = calloc(p->op_count + 1, sizeof *queue);
    int code =
        left != NULL && first != NULL && next != NULL && queue != NULL ? CW_OK : no_memory(check);
    for (uint32_t i = 0; code == CW_OK && i < p->op_count; i++)
        for (uint32_t k = 0; code == CW_OK && k < p->ops[i].dep_count; k++) {
            const uint32_t on = p->deps[p->ops[i].first_dep + k] & ~WORKLOAD_AFTER_START;
            if (on >= p->op_count)
                code = refuse(check, program, &p->ops[i],
                              "it depends on an operation that does not exist");
            else
                first[on + 2]++;
        }
    for (uint32_t i = 2; code == CW_OK && i <= p->op_count + 1; i++)
        first[i] += first[i - 1];
    uint32_t head = 0, tail = 0;
    for (uint32_t i = 0; code == CW_OK && i < p->op_count; i++) {
        left[i] = p->ops[i].dep_count;
        for (uint32_t k = 0; k < p->ops[i].dep_count; k++)
            next[first[(p->deps[p->ops[i].first_dep + k] & ~WORKLOAD_AFTER_START) + 1]++] = i;
        if (left[i] == 0)
            queue[tail++] = i;
    }
    while (code == CW_OK && head < tail) {
        const uint32_t i = queue[head++];
        for (uint32_t k = first[i]; k < first[i + 1]; k++)
            if (--left[next[k]] == 0)
                queue[tail++] = next[k];
    }
    for (uint32_t i = 0; code == CW_OK && tail < p->op_count && i < p->op_count; i++)
        if (left[i] > 0)
            code = refuse(check, program, &p->ops[i], "it depends on itself, by way of others");
    free(left);
    free(first);
    free(next);
    free(queue);
    return code;
}

/* One rank's part in something that others take part in. */
struct part {
    uint32_t rank, program, op;
    uint32_t group, number; /* of the set, for which; its number there */
    uint32_t from, to, tag; /* of a message */
};

static int by_place(const void *a, const void *b)
{
    const struct part *const x = a, *const y = b;
    const uint32_t left[] = {x->group, x->from, x->to, x->tag, x->number, x->rank};
    const uint32_t right[] = {y->group, y->from, y->to, y->tag, y->number, y->rank};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static const struct workload_op *op_of(const struct workload_graph *graph, const struct part *part)
{
    return &graph->programs[part->program].ops[part->op];
}

/* The k-th collective of a group is the same on all its ranks. */
static int check_collectives(const struct check *check, uint32_t set_index,
                             const struct part *parts, size_t count)
{
    const struct workload_graph *const graph = check->graph;
    const struct workload_set *const set = &graph->sets[set_index];
    for (size_t i = 0, end; i < count; i = end) {
        const uint32_t size = set->first[parts[i].group + 1] - set->first[parts[i].group];
        const struct workload_op *const a = op_of(graph, &parts[i]);
        for (end = i; end < count && parts[end].group == parts[i].group &&
                      parts[end].number == parts[i].number;
             end++) {
            const struct workload_op *const b = op_of(graph, &parts[end]);
            if (a->collective != b->collective || a->bytes != b->bytes || a->redop != b->redop ||
                a->dtype != b->dtype || a->peer != b->peer || a->to_first != b->to_first ||
                a->from_first != b->from_first) {
                char name[128], why[300];
                snprintf(why, sizeof why,
                         "rank %u calls another collective, or one of another size, than rank %u "
                         "does as the same call of its group of %s (%" PRIu64 ", %s)",
                         parts[end].rank, parts[i].rank, set->name, a->id,
                         workload_op_name(graph, a, name, sizeof name));
                return refuse(check, parts[end].program, b, why);
            }
        }
        if (end - i != size) {
            char why[200];
            snprintf(why, sizeof why, "%zu of %u ranks of its group %u of %s make this call",
                     end - i, size, parts[i].group, set->name);
            return refuse(check, parts[i].program, a, why);
        }
    }
    return CW_OK;
}

/* The k-th send of a pair and tag has its receive. */
static int check_messages(const struct check *check, const struct part *parts, size_t count)
{
    const struct workload_graph *const graph = check->graph;
    for (size_t i = 0; i < count; i += 2) {
        const struct workload_op *const a = op_of(graph, &parts[i]);
        const struct part *const other = i + 1 < count ? &parts[i + 1] : NULL;
        if (other == NULL || other->group != parts[i].group || other->from != parts[i].from ||
            other->to != parts[i].to || other->tag != parts[i].tag ||
            other->number != parts[i].number)
            return refuse(check, parts[i].program, a,
                          a->kind == WORKLOAD_SEND ? "a send that no rank receives"
                                                   : "a receive of what no rank sends");
        if (op_of(graph, other)->bytes != a->bytes)
            return refuse(check, parts[i].program, a,
                          "a message whose other end has another number of bytes");
        if (op_of(graph, other)->dtype != a->dtype)
            return refuse(check, parts[i].program, a,
                          "a message whose other end has another dtype");
    }
    return CW_OK;
}

/* The parts of all ranks in the set's collectives (or messages), numbered. *count: how many. */
static int find_parts(const struct check *check, uint32_t set_index, bool messages,
                      struct part **found, size_t *count)
{
    const struct workload_graph *const graph = check->graph;
    const struct workload_set *const set = &graph->sets[set_index];
    size_t capacity = 0;
    *count = 0;
    *found = NULL;
    for (uint32_t rank = 0; rank < graph->rank_count; rank++) {
        const struct workload_program *const p = &graph->programs[graph->program_of[rank]];
        uint32_t number = 0;
        for (uint32_t i = 0; i < p->op_count; i++) {
            const struct workload_op *const op = &p->ops[i];
            const bool moves = op->kind == WORKLOAD_SEND || op->kind == WORKLOAD_RECV;
            if (!(messages ? moves : op->kind == WORKLOAD_COLLECTIVE) || op->set != set_index)
                continue;
            if (set->group_of[rank] == WORKLOAD_NONE)
                return refuse(check, graph->program_of[rank], op, "its rank is in no such group");
            const uint32_t group = set->group_of[rank],
                           size = set->first[group + 1] - set->first[group];
            if (op->peer >= size || (moves && op->peer == set->rank_in[rank]))
                return refuse(check, graph->program_of[rank], op,
                              "its root or its other end is no other rank of the group");
            if (*count == capacity) {
                capacity = 2 * capacity + 64;
                struct part *const more = realloc(*found, capacity * sizeof *more);
                if (more == NULL)
                    return no_memory(check);
                *found = more;
            }
            struct part part = {rank, graph->program_of[rank], i, group, number++, 0, 0, 0};
            if (moves) {
                const bool sends = op->kind == WORKLOAD_SEND;
                part.from = sends ? set->rank_in[rank] : op->peer;
                part.to = sends ? op->peer : set->rank_in[rank];
                part.tag = op->tag;
            }
            (*found)[(*count)++] = part;
        }
    }
    return CW_OK;
}

/* Messages are numbered among those of equal ends and tag, each end for itself. */
static void number_messages(struct part *parts, size_t count)
{
    qsort(parts, count, sizeof *parts, by_place);
    for (size_t i = 0, end; i < count; i = end) {
        uint32_t numbers[2] = {0, 0};
        for (end = i; end < count && parts[end].group == parts[i].group &&
                      parts[end].from == parts[i].from && parts[end].to == parts[i].to &&
                      parts[end].tag == parts[i].tag;
             end++)
            parts[end].number = numbers[parts[end].rank == parts[i].rank]++;
    }
    qsort(parts, count, sizeof *parts, by_place);
}

static int check_set(const struct check *check, uint32_t set_index, bool messages)
{
    struct part *parts;
    size_t count;
    int code = find_parts(check, set_index, messages, &parts, &count);
    if (code == CW_OK && count == 0) {
        free(parts);
        return CW_OK;
    }
    if (code == CW_OK && messages) {
        number_messages(parts, count);
        code = check_messages(check, parts, count);
    } else if (code == CW_OK) {
        qsort(parts, count, sizeof *parts, by_place);
        code = check_collectives(check, set_index, parts, count);
    }
    free(parts);
    return code;
}

int workload_graph_check(struct workload_graph *graph, struct cw_error *error)
{
    const struct check check = {graph, error};
    int code = CW_OK;
    if (graph->rank_count == 0 || graph->program_count == 0)
        return cw_error_set(error, CW_USAGE, "%s: no rank does anything",
                            graph->file != NULL ? graph->file : "workload");
    for (uint32_t i = 0; code == CW_OK && i < graph->set_count; i++)
        code = fill_set(&check, &graph->sets[i]);
    for (uint32_t p = 0; code == CW_OK && p < graph->program_count; p++) {
        for (uint32_t i = 0; code == CW_OK && i < graph->programs[p].op_count; i++)
            code = check_op(&check, p, &graph->programs[p].ops[i]);
        if (code == CW_OK)
            code = check_order(&check, p);
    }
    for (uint32_t i = 0; code == CW_OK && i < 2 * graph->set_count; i++)
        code = check_set(&check, i / 2, i % 2 != 0);
    return code;
}
