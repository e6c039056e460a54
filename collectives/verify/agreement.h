/*
 * agreement.h: properties of results that are right by every proof and may still surprise: ranks
 * that end with different bits, since each has added in an order of its own; and values that are
 * not finite, since a sum has overflowed on the way. Looks at what the ranks ended with; needs no
 * expectation. Threads: as expect.h.
 */
#ifndef COLLECTIVES_AGREEMENT_H
#define COLLECTIVES_AGREEMENT_H

#include "collectives/algorithm.h"
#include "collectives/verify/sums.h"

struct agreement {
    enum ccl_collective collective;
    uint32_t ranks, shards; /* shards of each rank's result */
    bool shards_apart;      /* each shard is reduced for itself; else all have the same result */
    enum dtype dtype;
    uint64_t n_elem;    /* per shard of the result */
    struct cw_sim *sim; /* whose workers look; NULL: the calling thread does */
};

struct agreement_found {
    int64_t ranks_differ; /* elements of the result that not all ranks, or not all shards that must
                             be equal, have with the same bits; -1: each rank has a result of its
                             own */
    int64_t not_finite;   /* infinities and NaNs, counted at every rank and shard */
};

/* Looks at every element of every rank's every shard. */
int agreement_look(const struct agreement *agreement, expect_read_fn read, void *arg,
                   struct agreement_found *found, struct cw_error *error);

/* Whether all ranks end with the same elements. */
bool agreement_is_due(enum ccl_collective collective);

#endif
