/*
 * dist_rehearsal.h: the refusals of a run before its machine is built, and of its first call:
 * topology, hooks, mapper, validator, rings, tensors. This is how `cubewarp check` finds them
 * without a machine. On the host, before drains; nothing is kept.
 */
#ifndef COLLECTIVES_DIST_REHEARSAL_H
#define COLLECTIVES_DIST_REHEARSAL_H

#include "collectives/runtime/install_plan.h"
#include "collectives/algorithm.h"
#include "collectives/config/config.h"

/* The install plans of a configuration, whose receive rings fit; refused with the place of the
 * value at fault. The caller frees. */
int dist_make_plans(const struct config *config, uint32_t world_size, struct install_plans **plans,
                    struct cw_error *error);
/* The algorithm or the schedule that an automatic choice takes for a call, and why. `why` is empty
 * where the algorithm was named. */
struct dist_choice {
    char name[64];
    char why[1040]; /* with the advice of a refusal, if there is one */
};
/* Goes through a call of the configured algorithm's collective as far as no machine is needed. A
 * schedule is the one for config->ccl.n_elem. With a fold of the machine (NULL: none) by the
 * representatives alone. *choice is filled if the result is CW_OK. */
int dist_rehearse(const struct config *config, const struct ccl_call *call,
                  const struct hw_fold *fold, struct dist_choice *choice, struct cw_error *error);

#endif
