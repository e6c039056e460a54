/*
 * scatter_cost.h: how long each reduce-scatter takes, estimated from the configuration
 * (ALGORITHMS.md, "The cost model"): `auto` chooses by it. An estimate runs the steps of one rank,
 * all others being alike. Host side, pure.
 */
#ifndef COLLECTIVES_SCATTER_COST_H
#define COLLECTIVES_SCATTER_COST_H

#include "collectives/algorithm.h"

/* In ps, from the first kernel's start to the last one's end. The algorithm accepts the call. */
int64_t scatter_cost_mesh_ps(const struct ccl_call *call);
int64_t scatter_cost_rhd_ps(const struct ccl_call *call);
int64_t scatter_cost_birs_ps(const struct ccl_call *call);
int64_t scatter_cost_birs_inter_ps(const struct ccl_call *call); /* INT64_MAX: out of memory */

#endif
