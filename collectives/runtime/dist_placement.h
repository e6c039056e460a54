/*
 * dist_placement.h: on which PEs of a rank an automatic choice puts work that is named per rank: on
 * one PE, on one of each cube, or on all. Each has an equal share, a shard. On the host, before a
 * machine is built; pure.
 */
#ifndef COLLECTIVES_DIST_PLACEMENT_H
#define COLLECTIVES_DIST_PLACEMENT_H

#include "collectives/algorithm.h"
#include "collectives/config/config.h"

struct dist_placement {
    const char *mapper; /* its name, for struct ccl_config; static */
    uint32_t shards;    /* of a rank */
    char why[160];      /* the estimates */
};

/* Whether the configured algorithm chooses a placement for a collective: it chooses among
 * schedules, and no mapper is named. */
bool dist_chooses_placement(const struct config *config, enum ccl_collective collective);

/* Chooses it for a call whose n_elem counts all shards of a rank's input. A placement is left out
 * on which the elements cannot be shared equally, or whose PEs have no room for their tensors.
 * CW_USAGE: none is left; CW_NO_RESOURCE. */
int dist_choose_placement(const struct config *config, const struct ccl_call *call,
                          struct dist_placement *placement, struct cw_error *error);
/* The configuration, as if it named the placement's mapper. */
void dist_take_placement(struct config *config, const struct dist_placement *placement);

#endif
