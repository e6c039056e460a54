/*
 * ideal.h: the step of a graph whose launches and communication are free: what its dependencies
 * and its computations alone cost. No machine is simulated. step_run() gives the same times in
 * these modes; `cubewarp step` takes from here the share of the network.
 */
#ifndef WORKLOAD_IDEAL_H
#define WORKLOAD_IDEAL_H

#include "workload/run/step.h"

/* What a roofline or a product takes. */
typedef int64_t step_time_of(void *arg, const struct workload_op *op);

/*
 * Of a checked graph. Of the modes, one_at_a_time and in_program_order count: both kinds of freedom
 * are given. CW_PROGRAM_FAILED: operations wait for each other, and for which. *result is freed
 * with step_result_free() either way.
 */
int step_ideal(const struct workload_graph *graph, const struct step_modes *modes,
               step_time_of *time_of, void *arg, struct step_result *result,
               struct cw_error *error);

#endif
