/*
 * bound.h: lower bounds that the topology implies whatever the algorithm (60-cli.md, `bound`): an
 * answer that a user can sanity-check. A simulated time below its bound is a bug.
 *
 * A bound is the larger of a latency (the longest shortest path that data must cross, empty
 * messages) and, for each cut in a list, the bytes that must cross it over its bandwidth.
 */
#ifndef HW_BOUND_H
#define HW_BOUND_H

#include "hw/route.h"

/*
 * Of an all-reduce of `bytes` per cube over all cubes of all SIPs: every cube's and every SIP's
 * result depends on every byte of the others, so `bytes` must enter each side of each cut: a
 * cube's UCIe ports, a SIP's ports, each bisection of the SIP grid.
 */
int64_t hw_bound_all_reduce_ps(const struct hw_config *hw, uint64_t bytes);

#endif
