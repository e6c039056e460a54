/*
 * bound.h: lower bounds that the machine's structure implies whatever the algorithm (COMMANDS.md,
 * "Bound"): an answer that a user can sanity-check. A simulated time below its bound is a bug.
 */
#ifndef HW_BOUND_H
#define HW_BOUND_H

#include "collectives/algorithm.h"

/* A collective as its bound sees it (COMMANDS.md, "Bytes and bandwidths"). */
struct hw_work {
    enum ccl_collective collective;
    uint32_t ranks;       /* on the first SIPs, in the order of their numbers; or */
    const uint32_t *sips; /* [ranks] on these, one on each; NULL: on the first ones */
    uint32_t engines;     /* then: PEs of each of them that have kernels */
    uint32_t first_pe;    /* of its SIP, that holds a rank's first shard */
    uint32_t per_sip;     /* ranks are PEs, this many of each SIP, in order; 0: a rank is a SIP */
    uint32_t cubes, pes;  /* that hold a shard of a rank: all cubes or cube 0; PEs of each */
    uint32_t root_sip;    /* of a broadcast, a reduce or a send (from rank 0 to rank 1) */
    bool together;        /* the shards of a rank are added together */
    uint64_t bytes;       /* of a shard: of a rank's whole input, of an all-gather its result */
};

/*
 * A bound, and the term that decides it: "latency", or the class of the links that are busy for all
 * of that time: "hbm", "pe_noc", "ucie", "sip_link", "sio", "hccs", "sio and hccs" and so on.
 * Static text, or the machine's own name of a class. class_ps: the largest term in which links of a
 * class have a part, so that class_ps times their rate is the even share of each; 0: none has.
 */
struct hw_bound {
    int64_t ps;
    const char *by;
    bool without_metis; /* of a graph: METIS is not installed, so its cuts are missing */
    int64_t class_ps[HW_LINK_KINDS];
};

/* Keeps the larger bound, and the larger share of each class. */
void hw_bound_join(struct hw_bound *bound, const struct hw_bound *other);

/* 0 by "latency" where fewer than two take part. */
struct hw_bound hw_bound_of(const struct hw_config *hw, const struct hw_work *work);

#endif
