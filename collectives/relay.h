/*
 * relay.h: a spanning tree over the ranks along the queues that are installed between them: for
 * each rank the direction towards the root, and those away from it. Shortest paths from the root;
 * of several, the one found first when ranks are visited in order of distance and their directions
 * in order of enum hw_dir. So broadcasts, reduces and barriers run on any topology.
 *
 * Const once made. Queues between SIPs only: every PE of a SIP that has such queues has the same
 * ones (a lane), so the tree of PE (0, 0) serves every lane. Where ranks are PEs, the queues
 * join these PEs.
 */
#ifndef COLLECTIVES_RELAY_H
#define COLLECTIVES_RELAY_H

#include "collectives/algorithm.h"
#include "lp/model.h"

struct relay {
    uint32_t ranks, root;
    uint8_t *parent;    /* [rank] direction; HW_DIRS_MAX: the root */
    uint16_t *children; /* [rank] directions, one bit each */
    uint32_t *order;    /* ranks by distance; one rank's children, in the order of their directions,
                           follow those of the rank before it here */
};

/* The PE of a rank, by its number in the SIP, whose queues the tree goes along. */
typedef uint32_t (*relay_leader_fn)(const void *arg, uint32_t rank);

/* Fills *out; both_ways: tiles must be able to go up, too. CW_USAGE: some rank is not reached;
 * CW_NO_RESOURCE. */
struct relay_request {
    const struct lp_plan *plan;
    const struct ccl_ranks *ranks;
    uint32_t world_size, root;
    bool both_ways;
    relay_leader_fn leader;
    const void *arg;
};
int relay_make(const struct relay_request *request, struct relay *out, struct cw_error *error);
/* A check() for algorithms that go along such a tree: there are queues at all. */
int relay_check(const struct ccl_call *call, struct ccl_refusal *refusal);
/* A folds() for them: a tree has a root and leaves, so ranks differ. */
bool relay_folds(const struct ccl_call *call, const struct hw_fold *fold,
                 char why[CCL_FOLD_WHY_BYTES]);
void relay_free(struct relay *relay); /* its arrays */

#endif
