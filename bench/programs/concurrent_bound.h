/*
 * concurrent_bound.h: lower bounds of calls of groups (COMMANDS.md, "Concurrent calls").
 */
#ifndef BENCH_CONCURRENT_BOUND_H
#define BENCH_CONCURRENT_BOUND_H

#include "bench/programs/concurrent_plan.h"

/* Of a call of all SIPs, as of the same call by itself; of other groups, the bytes that must leave
 * or enter a SIP over all its links to others. 0 where fewer than two ranks take part. */
struct hw_bound concurrent_bound(const struct hw_config *hw, const struct concurrent_source *source,
                                 const struct concurrent_call *call, enum dtype dtype);

#endif
