/*
 * bound.h: lower bounds that the topology implies whatever the algorithm (COMMANDS.md, "Bound"): an
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

/*
 * Of a reduce-scatter over the first `ranks` SIPs, each with an input of `bytes`: every rank's
 * result depends on every other's input, so on each side of a cut there is something to send for
 * every rank on the other side, at least as long as that rank's result, a slice of bytes / ranks.
 */
int64_t hw_bound_reduce_scatter_ps(const struct hw_config *hw, uint32_t ranks, uint64_t bytes);

/*
 * Of a collective after which `bytes` that depend on other ranks have come to each of so many PEs
 * of the first `ranks` SIPs, and from every rank something to every other: an all-reduce in PE
 * (0, 0), an all-gather, a broadcast from rank 0 (whose own PEs get nothing, but all others do).
 */
int64_t hw_bound_leaders_ps(const struct hw_config *hw, uint32_t ranks, uint32_t shards,
                            uint64_t bytes);

#endif
