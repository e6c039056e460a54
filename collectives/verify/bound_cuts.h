/*
 * bound_cuts.h: what the parts of a bound share (bound.h): the work, and cuts that its bytes cross.
 */
#ifndef COLLECTIVES_BOUND_CUTS_H
#define COLLECTIVES_BOUND_CUTS_H

#include "collectives/verify/bound.h"
#include "hw/topology/topology.h"

enum { ONE_WAYS_MAX = 1024 };
struct one_ways {
    uint32_t count; /* more than the room: the first ones */
    struct hw_hop hop[ONE_WAYS_MAX];
};

/* The work, counted in leaves: what the collective is of. A leaf is a rank; where the shards of a
 * rank are added together, a shard. */
struct bounding {
    const struct hw_config *hw;
    const struct hw_work *work;
    struct hw_sip_dims dims;
    uint64_t leaves;
    uint32_t sips;                   /* with leaves: the first ones */
    uint64_t of_sip;                 /* leaves of each, but for the last */
    uint64_t lanes;                  /* of a SIP: collectives side by side, each of all leaves */
    enum hw_reduce_mode mode;        /* of switches that join all SIPs with leaves, one on each */
    bool differ[HW_SIP_DIMS_MAX];    /* in a dimension: not all SIPs with leaves are at one place */
    const struct one_ways *one_ways; /* links to SIPs alone, of a listed machine */
    struct hw_bound *bound;
};

/* Links of a cut, one way, of each class. */
struct cut {
    uint64_t links[HW_LINK_KINDS];
};

/* A cut that this many bytes must cross; of no links: it is none. */
void bound_cut(struct bounding *b, const struct cut *cut, uint64_t bytes);

/* Bytes of an all-reduce of one lane that cross the cut around a SIP, each way, where switches pull
 * (bound.c, "switches that reduce"). */
uint64_t bound_pulled(const struct bounding *b);

/* SIP number i of those with leaves. */
static inline uint32_t bound_sip(const struct bounding *b, uint32_t i)
{
    return b->work->sips != NULL ? b->work->sips[i] : i;
}

/* Its SIPs are joined by listed links, and not as dimensions say. */
static inline bool bound_is_irregular(const struct bounding *b)
{
    return b->hw->sip_topology->is_irregular;
}

#endif
