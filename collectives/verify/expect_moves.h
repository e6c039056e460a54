/*
 * expect_moves.h: the bits of a result that is moved, not computed: the inputs of other ranks,
 * from the seed's stream alone (COMMANDS.md, "Inputs"). See expect.h for collectives that reduce.
 */
#ifndef COLLECTIVES_EXPECT_MOVES_H
#define COLLECTIVES_EXPECT_MOVES_H

#include "collectives/algorithm.h"
#include "collectives/verify/expect.h"

struct expect_moves {
    enum ccl_collective collective; /* CCL_ALL_GATHER, CCL_ALL_TO_ALL, CCL_BROADCAST */
    uint32_t ranks, shards;         /* shards of each rank's tensor */
    uint32_t root;                  /* of a broadcast */
    enum dtype dtype;
    uint64_t n_elem; /* per shard of the input */
    uint64_t seed;
    struct cw_sim *sim; /* whose workers compare; NULL: the calling thread does */
};

/* Compares every element of every rank's every shard; *wrong: how many have other bits. */
int expect_moves_verify(const struct expect_moves *moves, expect_read_fn read, void *arg,
                        uint64_t *wrong, struct cw_error *error);

#endif
