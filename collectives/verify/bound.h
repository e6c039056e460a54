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

/* A bound, and the term that decides it: "latency", or the class of the links that are busy for all
 * of that time: "hbm", "pe_noc", "ucie", "sip_link", "sio", "hccs", "sio and hccs". */
struct hw_bound {
    int64_t ps;
    const char *by;
};

/*
 * Of an all-reduce of `bytes` per cube over all cubes of all SIPs. Every cube's and every SIP's
 * result depends on every byte of the others, so `bytes` must enter each side of each cut: a cube's
 * UCIe ports, a SIP's ports, each bisection of the SIP grid. Each shard is read from its HBM, or
 * the result is written there. And 2 (n - 1) / n times `bytes` leave a cube, and a SIP, on average.
 */
struct hw_bound hw_bound_all_reduce(const struct hw_config *hw, uint64_t bytes);

/*
 * Of a reduce-scatter over the first `ranks` SIPs, each with an input of `bytes` in each of this
 * many PEs: every rank's result depends on every other's input, so on each side of a cut there is
 * something to send for every rank on the other side, at least as long as that rank's result, a
 * slice of bytes / ranks. The slices for others are read from HBM.
 */
struct hw_bound hw_bound_reduce_scatter(const struct hw_config *hw, uint32_t ranks, uint32_t shards,
                                        uint64_t bytes);

/*
 * Of a collective after which `bytes` that depend on other ranks have come to each of this many PEs
 * of the first `ranks` SIPs, and from every rank something to every other: an all-reduce in PE
 * (0, 0), an all-gather, a broadcast from rank 0 (whose own PEs get nothing, but all others do).
 * An all-reduce sends as much as it says above.
 */
struct hw_bound hw_bound_leaders(const struct hw_config *hw, uint32_t ranks, uint32_t shards,
                                 uint64_t bytes, bool all_reduce);

/*
 * The same where ranks are PEs, in order of (SIP, cube, PE). Each PE of an all-reduce's n also
 * sends its part of 2 (n - 1) tensors.
 */
struct hw_bound hw_bound_pes(const struct hw_config *hw, uint32_t ranks, uint64_t bytes,
                             bool all_reduce);

/*
 * Of an all-to-all of tensors of `bytes` in each of this many PEs of the first `ranks` SIPs: a
 * block of bytes / ranks goes from every rank to every other. So each slice is read, and written,
 * for all blocks but one, and a cut with a ranks on one side and b on the other is crossed by a b
 * blocks.
 */
struct hw_bound hw_bound_all_to_all(const struct hw_config *hw, uint32_t ranks, uint32_t shards,
                                    uint64_t bytes);

#endif
