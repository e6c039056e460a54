/*
 * fold_find.h: how far a machine folds (hw/topology/fold.h) for the calls that it will carry out:
 * the widest fold that the machine and every call allow. Host side, between drains.
 *
 *     schedules and files   every rank's part is compared with its representative's (fold_steps.h),
 *                           up to FOLD_COMPARED_MAX ranks
 *     kernels, and schedules of more ranks
 *                           the algorithm's rule (struct ccl_algorithm, `folds`), with its proof
 *                           beside the kernel or the schedule
 *
 * Placements need no comparison: a built-in mapper names the same PEs of each SIP, and takes_part()
 * of a built-in algorithm does not look at the rank. With loaded mappers and validators nothing
 * folds.
 */
#ifndef COLLECTIVES_FOLD_FIND_H
#define COLLECTIVES_FOLD_FIND_H

#include "collectives/config/config.h"
#include "collectives/schedule/schedule.h"
#include "hw/topology/fold.h"

enum { FOLD_COMPARED_MAX = HW_UNFOLDED_SIPS_MAX };

/* How it is known that the calls are the same on all SIPs of a class. */
enum fold_known { FOLD_BY_COMPARISON, FOLD_BY_PROOF };

struct fold_request {
    const struct config *config; /* of the process group, which is the world */
    /* [count] of which collective, root, n_elem, dtype and math count. */
    const struct ccl_call *calls;
    uint32_t count;
    bool own_sizes; /* blocks or messages have sizes of their own */
    /* Of the configured algorithm, if the caller has it; NULL: it is made. */
    struct schedule *schedule;
    /* For estimates: rules count for schedules of any number of ranks, and nothing is compared. No
     * schedule is made; one without a rule does not fold. */
    bool by_rules;
};

struct fold_found {
    struct hw_fold fold; /* where nothing folds, hw_fold_none() */
    enum fold_known known;
    /* Why the widest fold that the topology has is not this one, in one sentence; "": it is. */
    char why[CCL_FOLD_WHY_BYTES];
    /* The configured algorithm's, for the process group; the caller frees it (schedule_free()).
     * NULL: it is none, was not needed, or can be made in parts, which were not kept. Of more than
     * FOLD_COMPARED_MAX ranks it has the parts of representatives alone, and `fold` above must
     * outlive it. */
    struct schedule *schedule;
};

/* CW_OK, also where nothing folds. CW_USAGE: there is no algorithm for a call; CW_NO_RESOURCE. */
int fold_find(const struct fold_request *request, struct fold_found *found, struct cw_error *error);

#endif
