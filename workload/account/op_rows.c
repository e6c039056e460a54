/*
 * op_rows.c: adds each operation, and each meeting of several ranks once, to the row that it is of
 * (op_rows.h).
 */
#include "workload/account/op_rows.h"

#include <stdlib.h>

static struct step_op_row key_of(const struct workload_op *op, uint32_t ranks)
{
    const bool meets = workload_meets(op), calls = op->kind == WORKLOAD_COLLECTIVE;
    return (struct step_op_row){.label = op->label,
                                .set = meets ? op->set : WORKLOAD_NONE,
                                .kind = op->kind == WORKLOAD_RECV ? WORKLOAD_SEND : op->kind,
                                .collective = calls ? op->collective : 0,
                                .purpose = op->purpose,
                                .ranks = ranks};
}

static bool same_row(const struct step_op_row *a, const struct step_op_row *b)
{
    return a->label == b->label && a->set == b->set && a->kind == b->kind &&
           a->collective == b->collective && a->purpose == b->purpose && a->ranks == b->ranks;
}

/* The row, which may be new; NULL: out of memory. */
static struct step_op_row *row_of(struct step_op_rows *rows, const struct step_op_row *key)
{
    for (size_t i = 0; i < rows->count; i++)
        if (same_row(&rows->rows[i], key))
            return &rows->rows[i];
    if ((rows->count & (rows->count - 1)) == 0) {
        struct step_op_row *const more =
            realloc(rows->rows, (rows->count > 0 ? 2 * rows->count : 1) * sizeof *more);
        if (more == NULL)
            return NULL;
        rows->rows = more;
    }
    rows->rows[rows->count] = *key;
    return &rows->rows[rows->count++];
}

static double flops_of(const struct workload_op *op)
{
    if (op->kind == WORKLOAD_ROOFLINE)
        return (double)op->flops;
    return op->kind == WORKLOAD_PRODUCT ? 2.0 * op->side[0] * op->side[1] * op->side[2] : 0;
}

static void add(struct step_op_row *row, const struct workload_op *op, int64_t took_ps,
                double wait_ps, int64_t bound_ps)
{
    row->least_ps = row->count == 0 || took_ps < row->least_ps ? took_ps : row->least_ps;
    row->most_ps = took_ps > row->most_ps ? took_ps : row->most_ps;
    row->count++;
    row->bytes += (double)op->bytes;
    row->flops += flops_of(op);
    row->total_ps += (double)took_ps;
    row->wait_ps += wait_ps;
    row->bound_ps += (double)bound_ps;
}

static int by_total(const void *a, const void *b)
{
    const struct step_op_row *const x = a, *const y = b;
    const bool x_meets = x->set != WORKLOAD_NONE, y_meets = y->set != WORKLOAD_NONE;
    if (x_meets != y_meets)
        return x_meets ? 1 : -1;
    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return (x->set > y->set) - (x->set < y->set);
}

struct rows_walk {
    const struct workload_graph *graph;
    const struct workload_meetings *meetings;
    const struct step_result *result;
    step_bound_of *bound;
    void *arg;
    struct step_op_rows *rows;
};

static bool add_computations(const struct rows_walk *walk)
{
    for (uint32_t rank = 0; rank < walk->graph->rank_count; rank++) {
        const struct workload_program *const p =
            &walk->graph->programs[walk->graph->program_of[rank]];
        const struct step_span *const spans = step_spans_of(walk->result, rank);
        for (uint32_t i = 0; i < p->op_count; i++) {
            const struct workload_op *const op = &p->ops[i];
            if (workload_meets(op) || op->kind == WORKLOAD_NOTHING)
                continue;
            const struct step_op_row key = key_of(op, 1);
            struct step_op_row *const row = row_of(walk->rows, &key);
            if (row == NULL)
                return false;
            add(row, op, spans[i].end_ps - spans[i].start_ps, 0,
                walk->bound != NULL ? walk->bound(walk->arg, op, WORKLOAD_NONE) : 0);
        }
    }
    return true;
}

static bool add_meetings(const struct rows_walk *walk)
{
    const struct workload_meetings *const m = walk->meetings;
    for (uint32_t meeting = 0; meeting < m->count; meeting++) {
        const uint64_t first = m->first_part[meeting], end = m->first_part[meeting + 1];
        const struct workload_part part = workload_meeting_name(walk->graph, m, meeting);
        const struct workload_op *const op =
            &walk->graph->programs[walk->graph->program_of[part.rank]].ops[part.op];
        int64_t met_ps = 0, end_ps = 0;
        double wait_ps = 0;
        for (uint64_t i = first; i < end; i++) {
            const struct step_span *const span =
                step_spans_of(walk->result, m->parts[i].rank) + m->parts[i].op;
            met_ps = span->met_ps > met_ps ? span->met_ps : met_ps;
            end_ps = span->end_ps > end_ps ? span->end_ps : end_ps;
            wait_ps += (double)(span->met_ps - span->start_ps) / (double)(end - first);
        }
        const struct step_op_row key = key_of(op, (uint32_t)(end - first));
        struct step_op_row *const row = row_of(walk->rows, &key);
        if (row == NULL)
            return false;
        add(row, op, end_ps - met_ps, wait_ps,
            walk->bound != NULL
                ? walk->bound(walk->arg, op, walk->graph->sets[op->set].group_of[part.rank])
                : 0);
    }
    return true;
}

int step_op_rows_of(const struct workload_graph *graph, const struct workload_meetings *meetings,
                    const struct step_result *result, step_bound_of *bound, void *arg,
                    struct step_op_rows *rows, struct cw_error *error)
{
    const struct rows_walk walk = {graph, meetings, result, bound, arg, rows};
    *rows = (struct step_op_rows){0};
    if (!add_computations(&walk) || !add_meetings(&walk))
        return cw_error_memory(error, "the rows of a step");
    if (rows->count > 0)
        qsort(rows->rows, rows->count, sizeof *rows->rows, by_total);
    return CW_OK;
}

void step_op_rows_free(struct step_op_rows *rows)
{
    free(rows->rows);
    *rows = (struct step_op_rows){0};
}
