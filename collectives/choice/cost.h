/*
 * cost.h: an estimate of the time that a collective takes on a machine, from the configuration
 * alone: no measured time is in it. A schedule says its steps itself; a kernel describes its own
 * (cost_steps.h). ALGORITHMS.md, "The estimate", says which effects count. Host side and pure.
 */
#ifndef COLLECTIVES_COST_H
#define COLLECTIVES_COST_H

#include "collectives/choice/cost_steps.h"
#include "collectives/schedule/schedule.h"

struct cost_request {
    const struct ccl_call *call; /* hw, ccl, n_elem, dtype count */
    enum ccl_mappers mapper;     /* the PEs of each SIP that carry it out; with several, a schedule
                                    runs on the shard of each, unless these are its members */
    const struct ccl_algorithm *algorithm; /* it has steps(), unless there is a schedule */
    const struct schedule *schedule;       /* without faults (schedule_check.h); NULL: a kernel. Of
                                              one that reaches, only events are known */
    int64_t limit_ps; /* longer times of schedules need not be known; 0: all are */
    uint32_t beside;  /* one shard: so many more schedules of its kind run beside it, on other PEs,
                         and load the links between SIPs as much */
};
/* A time that is over the limit is COST_LONG. CW_USAGE: its rings fill up forever.
 * CW_NO_RESOURCE: out of memory. */
#define COST_LONG INT64_MAX
int cost_estimate(const struct cost_request *request, int64_t *ps, struct cw_error *error);
/* The events that the simulator takes for a call, of all ranks (of a folded schedule: of those that
 * it has), but for those that start and end kernels. `shards` of a rank: those of a kernel that
 * does not describe its steps. Errors as above.
 */
int cost_events(const struct cost_request *request, double shards, double *events,
                struct cw_error *error);

/* The mapper that the configuration names; one that is loaded counts as leader_only. */
enum ccl_mappers cost_mapper(const struct ccl_config *ccl);
/* PEs of each SIP that it chooses. */
uint32_t cost_lanes(const struct hw_config *hw, enum ccl_mappers mapper);

#endif
