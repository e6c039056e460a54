/*
 * critical.h: the operations that a step's time consists of: from its last end back through what
 * released each one, a dependency, its stream, its queue, or the last rank that it meets.
 */
#ifndef WORKLOAD_CRITICAL_H
#define WORKLOAD_CRITICAL_H

#include "workload/graph/meetings.h"
#include "workload/run/step.h"

/* A stretch of the step. */
struct step_stretch {
    uint32_t rank, op;
    int64_t from_ps, to_ps;
    bool launch; /* the operation was released and had not begun; else it ran */
};

/* All stretches of a label and set together. */
struct step_part {
    uint32_t label, set; /* both WORKLOAD_NONE: of launches. set: WORKLOAD_NONE of computations */
    int64_t ps;
};

struct step_critical {
    struct step_stretch *stretches; /* [count] without gaps from 0 to the step's time */
    size_t count;
    struct step_part *parts; /* [part_count] the largest first; together the step's time */
    size_t part_count;
};

/* CW_OK or CW_NO_RESOURCE; *critical is freed with step_critical_free() either way. */
int step_critical_of(const struct workload_graph *graph, const struct workload_meetings *meetings,
                     const struct step_result *result, struct step_critical *critical,
                     struct cw_error *error);
void step_critical_free(struct step_critical *critical);

#endif
