/*
 * classes.h: where the time of a step goes on the ranks of each class, which run the same program.
 * Every moment of a rank is of one kind:
 *
 *   computing   a computation is in progress, whatever else is;
 *   exposed     else a call or message is, all of whose ranks have begun;
 *   waiting     else one is, for which another rank has not begun;
 *   bubble      else nothing is in flight.
 *
 * A message is in flight from the moment at which its rank let it begin (step_posted_ps()). Of
 * several at once the one that began first counts. Beside them, communication that computations
 * hide.
 */
#ifndef WORKLOAD_CLASSES_H
#define WORKLOAD_CLASSES_H

#include "workload/run/step.h"

/* Means over the ranks, rounded so that all but `hidden_ps` sum to the step's time. */
struct step_class {
    uint32_t program, ranks;
    int64_t compute_ps[WORKLOAD_PURPOSES];
    int64_t *exposed_ps, *waiting_ps; /* [set_count] */
    int64_t bubble_ps;
    int64_t *hidden_ps; /* [set_count] */
};

struct step_classes {
    struct step_class *classes; /* [count] that some rank is of, in the order of programs */
    uint32_t count, sets;
    int64_t *room; /* of the classes' arrays */
};

/* CW_OK or CW_NO_RESOURCE; *classes is freed with step_classes_free() either way. */
int step_classes_of(const struct workload_graph *graph, const struct step_result *result,
                    struct step_classes *classes, struct cw_error *error);
void step_classes_free(struct step_classes *classes);

/* When the rank let an operation of the program begin: its dependencies are over, and so is what is
 * before it in a stream in order. The kernels of a message begin later, when both ends are there.
 */
int64_t step_posted_ps(const struct workload_graph *graph, const struct workload_program *program,
                       const struct step_span *spans, uint32_t op);

/* Sums over purposes, and over sets. */
int64_t step_class_compute(const struct step_class *one);
int64_t step_class_sum(const int64_t *of_sets, uint32_t sets);

#endif
