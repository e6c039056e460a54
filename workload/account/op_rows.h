/*
 * op_rows.h: the operations of a step by what they are: a row for each label, set of groups and
 * kind.
 */
#ifndef WORKLOAD_OP_ROWS_H
#define WORKLOAD_OP_ROWS_H

#include "workload/graph/meetings.h"
#include "workload/run/step.h"

struct step_op_row {
    uint32_t label, set; /* set: WORKLOAD_NONE of a computation */
    uint8_t kind;        /* enum workload_op_kind; of a message WORKLOAD_SEND */
    uint8_t collective;  /* enum ccl_collective, of a call */
    uint8_t purpose;
    uint32_t ranks; /* that meet: of a group; 2 of a message; 1 */
    uint64_t count; /* calls, messages, or computations of all ranks */
    double bytes;   /* of all of them: of a call, of each rank's tensor */
    double flops;   /* of computations */
    int64_t least_ps, most_ps;
    double total_ps; /* of all: from the begin of the last rank to the last end */
    double wait_ps;  /* of all, mean over the ranks: until the last rank began */
    double bound_ps; /* of all; 0: not known */
};

/* The least time that an operation can take, of its group of the set; 0: not known. */
typedef int64_t step_bound_of(void *arg, const struct workload_op *op, uint32_t group);

struct step_op_rows {
    struct step_op_row *rows; /* [count] computations first, then calls and messages; in each, the
                                 largest total first */
    size_t count;
};

/* CW_OK or CW_NO_RESOURCE; *rows is freed with step_op_rows_free() either way. bound: NULL: none */
int step_op_rows_of(const struct workload_graph *graph, const struct workload_meetings *meetings,
                    const struct step_result *result, step_bound_of *bound, void *arg,
                    struct step_op_rows *rows, struct cw_error *error);
void step_op_rows_free(struct step_op_rows *rows);

#endif
