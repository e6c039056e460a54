/*
 * step_fold.h: which SIPs of a machine do the same in a step, so that one of each kind is simulated
 * (workload/STEPS.md, "Folded steps").
 */
#ifndef WORKLOAD_STEP_FOLD_H
#define WORKLOAD_STEP_FOLD_H

#include "workload/run/step_plan.h"

/* Fills plan->fold and plan->folded: the widest turns of the machine that it, the graph and the
 * algorithms of all groups keep. The plan has its sources, pairs and hardware queues. CW_OK,
 * also where nothing folds; CW_USAGE: nothing does, and STEP_FOLD_ON asks for it; CW_NO_RESOURCE.
 */
int step_fold_find(struct step_plan *plan, struct cw_error *error);

#endif
