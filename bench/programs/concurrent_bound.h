/*
 * concurrent_bound.h: lower bounds of calls of groups (COMMANDS.md, "Concurrent calls").
 */
#ifndef BENCH_CONCURRENT_BOUND_H
#define BENCH_CONCURRENT_BOUND_H

#include "bench/programs/concurrent_plan.h"

/* Of each group as if it had the machine to itself (collectives/verify/bound.h); the largest. 0
 * where fewer than two ranks take part, and where memory is out. */
struct hw_bound concurrent_bound(const struct hw_config *hw, const struct concurrent_source *source,
                                 const struct concurrent_call *call, enum dtype dtype);

#endif
