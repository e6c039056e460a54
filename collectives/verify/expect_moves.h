/*
 * expect_moves.h: the bits of a result that is moved, not computed: the inputs of other ranks,
 * from the seed's stream alone (COMMANDS.md, "Inputs"). See expect.h for collectives that reduce.
 */
#ifndef COLLECTIVES_EXPECT_MOVES_H
#define COLLECTIVES_EXPECT_MOVES_H

#include "collectives/algorithm.h"
#include "collectives/verify/expect.h"

/* Elements of each shard of a result, and where they come from. */
struct expect_part {
    uint32_t result; /* rank that has it, or whatever it is read by */
    uint32_t from;   /* rank of the world that has filled the input */
    uint64_t n_elem; /* of a shard of the input */
    uint64_t at, to; /* the first one, in the input and in the result */
    uint64_t count;
};

struct expect_moves {
    enum ccl_collective collective; /* CCL_ALL_GATHER, CCL_ALL_TO_ALL, CCL_BROADCAST */
    uint32_t ranks, shards;         /* shards of each rank's tensor */
    uint32_t root;                  /* of a broadcast */
    enum dtype dtype;
    uint64_t n_elem; /* per shard of the input */
    uint64_t seed;
    struct cw_sim *sim; /* whose workers compare; NULL: the calling thread does */
    /* Messages of sizes of their own, instead of the collective's blocks; NULL: those. Then
     * `collective`, `ranks`, `root` and `n_elem` are not read. */
    const struct expect_part *part; /* [part_count] */
    uint64_t part_count;
};

/* Compares every element of every rank's every shard, or of every part; *wrong: how many have other
 * bits. */
int expect_moves_verify(const struct expect_moves *moves, expect_read_fn read, void *arg,
                        uint64_t *wrong, struct cw_error *error);

#endif
