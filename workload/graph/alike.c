/*
 * alike.c: compares ranks with those that a relabelling takes them to (alike.h). What programs say
 * is compared once for each pair of programs that follow each other; what ranks make of it, their
 * groups and the other ends of their messages, for each rank.
 */
#include "workload/graph/alike.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct view {
    const struct workload_graph *graph;
    const struct workload_meetings *meetings;
    const uint32_t *to;
    char *why;
};

static const struct workload_program *program_of(const struct view *view, uint32_t rank)
{
    return &view->graph->programs[view->graph->program_of[rank]];
}

/* False, always: an operation differs from the one of the other rank. */
static bool differs(const struct view *view, uint32_t rank, uint32_t index, const char *how)
{
    const struct workload_op *const op = &program_of(view, rank)->ops[index];
    char name[128], place[40] = "";
    if (op->column > 0)
        snprintf(place, sizeof place, ":%" PRIu64 ":%u", op->id, op->column);
    else
        snprintf(place, sizeof place, " %" PRIu64, op->id);
    snprintf(view->why, WORKLOAD_WHY_BYTES, "rank %u's %.80s (%.100s%s) %s rank %u's", rank,
             workload_op_name(view->graph, op, name, sizeof name),
             op->column > 0 && view->graph->file != NULL ? view->graph->file : "operation", place,
             how, view->to[rank]);
    return false;
}

/* ---- what programs say ----------------------------------------------------------------------- */

static bool same_amounts(const struct workload_op *a, const struct workload_op *b)
{
    switch (a->kind) {
    case WORKLOAD_NOTHING:
        return true;
    case WORKLOAD_TIME:
        return a->time_ps == b->time_ps;
    case WORKLOAD_ROOFLINE:
        return a->flops == b->flops && a->bytes == b->bytes && a->kernels == b->kernels &&
               a->matrix == b->matrix;
    case WORKLOAD_PRODUCT:
        return memcmp(a->side, b->side, sizeof a->side) == 0 && a->kernels == b->kernels;
    default:
        return a->bytes == b->bytes && a->to_first == b->to_first && a->from_first == b->from_first;
    }
}

static bool same_kind(const struct workload_op *a, const struct workload_op *b)
{
    return a->kind == b->kind && (a->kind != WORKLOAD_COLLECTIVE ||
                                  (a->collective == b->collective && a->redop == b->redop));
}

static bool same_dependencies(const struct workload_program *p, const struct workload_op *a,
                              const struct workload_program *q, const struct workload_op *b)
{
    return a->dep_count == b->dep_count &&
           (a->dep_count == 0 || memcmp(&p->deps[a->first_dep], &q->deps[b->first_dep],
                                        a->dep_count * sizeof *p->deps) == 0);
}

static bool same_program(const struct view *view, uint32_t rank)
{
    const struct workload_program *const p = program_of(view, rank);
    const struct workload_program *const q = program_of(view, view->to[rank]);
    for (uint32_t i = 0; i < p->op_count && i < q->op_count; i++) {
        const struct workload_op *const a = &p->ops[i], *const b = &q->ops[i];
        if (!same_kind(a, b))
            return differs(view, rank, i, "is of another kind than");
        if (!same_amounts(a, b))
            return differs(view, rank, i, "has other amounts than");
        if (a->kind != WORKLOAD_NOTHING && a->kind != WORKLOAD_TIME && a->dtype != b->dtype)
            return differs(view, rank, i, "has another dtype than");
        if (a->stream != b->stream)
            return differs(view, rank, i, "is in another stream than");
        if (workload_meets(a) && a->set != b->set)
            return differs(view, rank, i, "is of another set of groups than");
        if (!same_dependencies(p, a, q, b))
            return differs(view, rank, i, "waits for others than");
    }
    if (p->op_count != q->op_count)
        snprintf(view->why, WORKLOAD_WHY_BYTES, "rank %u has %u operations, and rank %u has %u",
                 rank, p->op_count, view->to[rank], q->op_count);
    return p->op_count == q->op_count;
}

/* ---- what ranks make of it ------------------------------------------------------------------- */

/* The other end of a message. */
static const struct workload_part *other_end(const struct view *view, uint32_t rank, uint32_t op)
{
    const struct workload_meetings *const m = view->meetings;
    const uint32_t meeting = m->of[m->first[rank] + op];
    const struct workload_part *const ends = &m->parts[m->first_part[meeting]];
    return &ends[ends[0].rank == rank ? 1 : 0];
}

static uint32_t member(const struct view *view, uint32_t rank, const struct workload_op *op,
                       uint32_t place)
{
    const struct workload_set *const set = &view->graph->sets[op->set];
    return set->ranks[set->first[set->group_of[rank]] + place];
}

static bool is_rooted(const struct workload_op *op)
{
    return op->collective == CCL_BROADCAST || op->collective == CCL_REDUCE;
}

static bool meets_alike(const struct view *view, uint32_t rank, uint32_t index)
{
    const uint32_t to = view->to[rank];
    const struct workload_op *const a = &program_of(view, rank)->ops[index];
    const struct workload_op *const b = &program_of(view, to)->ops[index];
    if (a->kind != WORKLOAD_COLLECTIVE) {
        const struct workload_part *const x = other_end(view, rank, index);
        const struct workload_part *const y = other_end(view, to, index);
        return (view->to[x->rank] == y->rank && x->op == y->op) ||
               differs(view, rank, index, "has another other end than");
    }
    if (is_rooted(a) && view->to[member(view, rank, a, a->peer)] != member(view, to, b, b->peer))
        return differs(view, rank, index, "has another root than");
    if ((a->to_first > 0 || a->from_first > 0) &&
        view->to[member(view, rank, a, 0)] != member(view, to, b, 0))
        return differs(view, rank, index, "has another first rank, whose blocks differ, than");
    return true;
}

/* A group goes to a group if each of its members goes where the first one does, and is not larger
 * or smaller. */
static bool groups_alike(const struct view *view, uint32_t rank, uint32_t index)
{
    const struct workload_op *const op = &program_of(view, rank)->ops[index];
    const struct workload_set *const set = &view->graph->sets[op->set];
    const uint32_t group = set->group_of[rank], to = workload_group_to(set, view->to, group);
    const bool same_size =
        set->first[group + 1] - set->first[group] == set->first[to + 1] - set->first[to];
    return (set->group_of[view->to[rank]] == to && same_size) ||
           differs(view, rank, index, "is of a group that does not become");
}

bool workload_is_alike(const struct workload_graph *graph, const struct workload_meetings *meetings,
                       const uint32_t *to, char why[WORKLOAD_WHY_BYTES])
{
    const struct view view = {graph, meetings, to, why};
    uint32_t same = WORKLOAD_NONE, same_to = WORKLOAD_NONE; /* programs last found to be equal */
    why[0] = '\0';
    for (uint32_t rank = 0; rank < graph->rank_count; rank++) {
        const uint32_t p = graph->program_of[rank], q = graph->program_of[to[rank]];
        if (p != q && (p != same || q != same_to) && !same_program(&view, rank))
            return false;
        same = p;
        same_to = q;
    }
    for (uint32_t rank = 0; rank < graph->rank_count; rank++) {
        const struct workload_program *const p = program_of(&view, rank);
        for (uint32_t i = 0; i < p->op_count; i++)
            if (workload_meets(&p->ops[i]) &&
                !((p->ops[i].kind != WORKLOAD_COLLECTIVE || groups_alike(&view, rank, i)) &&
                  meets_alike(&view, rank, i)))
                return false;
    }
    return true;
}
