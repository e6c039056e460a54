/*
 * cost.h: an estimate of the time that a schedule takes on a machine, from the
 * configuration alone: no measured time is in it. ALGORITHMS.md, section 12, "The estimate", says
 * which effects count. Host side and pure.
 */
#ifndef COLLECTIVES_COST_H
#define COLLECTIVES_COST_H

#include "collectives/schedule/schedule.h"

struct cost_request {
    const struct schedule *schedule; /* without faults (schedule_check.h) */
    const struct ccl_call *call;     /* hw, ccl, n_elem, dtype count */
    uint32_t lanes;   /* PEs of each SIP that carry it out on shards of their own; 1: one shard */
    int64_t limit_ps; /* longer times need not be told; 0: all are */
    uint32_t beside;  /* lanes 1: so many more of its kind run beside it, on other PEs, and load the
                         links between SIPs as much */
};
/* A time that is not told is COST_LONG. CW_USAGE: its rings fill up for ever.
 * CW_NO_RESOURCE: out of memory. */
#define COST_LONG INT64_MAX
int cost_estimate(const struct cost_request *request, int64_t *ps, struct cw_error *error);

#endif
