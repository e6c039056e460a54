/*
 * meetings.c: finds which operations of a graph meet (meetings.h): by the numbers of calls within
 * their group, and of messages among those of equal ends and tag.
 */
#include "workload/graph/meetings.h"

#include <stdlib.h>

struct entry {
    uint32_t set, group, from, to, tag; /* from, to, tag: of a message, else WORKLOAD_NONE */
    uint32_t number;                    /* among those of the rank that are equal so far */
    uint32_t place;                     /* of the rank in its group */
    struct workload_part part;
};

static int in_order(const uint32_t *a, const uint32_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Operations of one rank that only their number tells apart stand together. */
static int by_rank(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;
    return in_order(
        (const uint32_t[]){x->set, x->group, x->from, x->to, x->tag, x->place, x->part.op},
        (const uint32_t[]){y->set, y->group, y->from, y->to, y->tag, y->place, y->part.op}, 7);
}

static int by_meeting(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;
    return in_order(
        (const uint32_t[]){x->set, x->group, x->from, x->to, x->tag, x->number, x->place},
        (const uint32_t[]){y->set, y->group, y->from, y->to, y->tag, y->number, y->place}, 7);
}

static bool same_line(const struct entry *a, const struct entry *b)
{
    return a->set == b->set && a->group == b->group && a->from == b->from && a->to == b->to &&
           a->tag == b->tag;
}

static struct entry entry_of(const struct workload_graph *graph, uint32_t rank, uint32_t index)
{
    const struct workload_op *const op = &graph->programs[graph->program_of[rank]].ops[index];
    const struct workload_set *const set = &graph->sets[op->set];
    const uint32_t place = set->rank_in[rank];
    struct entry entry = {.set = op->set,
                          .group = set->group_of[rank],
                          .from = WORKLOAD_NONE,
                          .to = WORKLOAD_NONE,
                          .tag = WORKLOAD_NONE,
                          .place = place,
                          .part = {rank, index}};
    if (op->kind != WORKLOAD_COLLECTIVE) {
        entry.from = op->kind == WORKLOAD_SEND ? place : op->peer;
        entry.to = op->kind == WORKLOAD_SEND ? op->peer : place;
        entry.tag = op->tag;
    }
    return entry;
}

static size_t count_entries(const struct workload_graph *graph)
{
    size_t count = 0;
    for (uint32_t rank = 0; rank < graph->rank_count; rank++) {
        const struct workload_program *const p = &graph->programs[graph->program_of[rank]];
        for (uint32_t i = 0; i < p->op_count; i++)
            count += workload_meets(&p->ops[i]);
    }
    return count;
}

static void number_entries(struct entry *entries, size_t count)
{
    qsort(entries, count, sizeof *entries, by_rank);
    for (size_t i = 0; i < count; i++) {
        const bool follows = i > 0 && same_line(&entries[i - 1], &entries[i]) &&
                             entries[i - 1].place == entries[i].place;
        entries[i].number = follows ? entries[i - 1].number + 1 : 0;
    }
    qsort(entries, count, sizeof *entries, by_meeting);
}

static void take_entries(struct workload_meetings *meetings, const struct entry *entries,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const bool joins = i > 0 && same_line(&entries[i - 1], &entries[i]) &&
                           entries[i - 1].number == entries[i].number;
        if (!joins)
            meetings->first_part[meetings->count++] = i;
        const struct workload_part part = entries[i].part;
        meetings->parts[i] = part;
        meetings->of[meetings->first[part.rank] + part.op] = meetings->count - 1;
    }
    meetings->first_part[meetings->count] = count;
}

int workload_meetings_of(const struct workload_graph *graph, struct workload_meetings *meetings,
                         struct cw_error *error)
{
    const size_t count = count_entries(graph);
    *meetings = (struct workload_meetings){
        .first = malloc((graph->rank_count + 1) * sizeof *meetings->first)};
    if (meetings->first == NULL)
        return cw_error_memory(error, "the meetings of a step");
    meetings->first[0] = 0;
    for (uint32_t rank = 0; rank < graph->rank_count; rank++)
        meetings->first[rank + 1] =
            meetings->first[rank] + graph->programs[graph->program_of[rank]].op_count;
    const uint64_t ops = meetings->first[graph->rank_count];
    struct entry *const entries = malloc((count + 1) * sizeof *entries);
    meetings->of = malloc((ops + 1) * sizeof *meetings->of);
    meetings->first_part = malloc((count + 1) * sizeof *meetings->first_part);
    meetings->parts = malloc((count + 1) * sizeof *meetings->parts);
    if (entries == NULL || meetings->of == NULL || meetings->first_part == NULL ||
        meetings->parts == NULL) {
        free(entries);
        return cw_error_memory(error, "the meetings of a step");
    }
    for (uint64_t i = 0; i < ops; i++)
        meetings->of[i] = WORKLOAD_NONE;
    size_t at = 0;
    for (uint32_t rank = 0; rank < graph->rank_count; rank++)
        for (uint32_t i = 0; i < graph->programs[graph->program_of[rank]].op_count; i++)
            if (workload_meets(&graph->programs[graph->program_of[rank]].ops[i]))
                entries[at++] = entry_of(graph, rank, i);
    number_entries(entries, count);
    take_entries(meetings, entries, count);
    free(entries);
    return CW_OK;
}

void workload_meetings_free(struct workload_meetings *meetings)
{
    free(meetings->first);
    free(meetings->of);
    free(meetings->first_part);
    free(meetings->parts);
    *meetings = (struct workload_meetings){0};
}

struct workload_part workload_meeting_name(const struct workload_graph *graph,
                                           const struct workload_meetings *meetings,
                                           uint32_t meeting)
{
    const struct workload_part *const parts = &meetings->parts[meetings->first_part[meeting]];
    const struct workload_op *const op =
        &graph->programs[graph->program_of[parts[0].rank]].ops[parts[0].op];
    return op->kind == WORKLOAD_RECV ? parts[1] : parts[0];
}
