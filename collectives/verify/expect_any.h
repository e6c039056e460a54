/*
 * expect_any.h: the results of a reduction whose order of additions is not known: bit for bit where
 * no order makes a difference, and else within a bound of the error that holds for every order. See
 * expect.h for algorithms that declare their order.
 *
 * The bound. Each of n - 1 roundings changes a value by at most a factor of 1 + u, u being half the
 * distance from 1 to the next number. So a sum is off by at most ((1 + u)^(n - 1) - 1) * (|x(0)| +
 * |x(1)| + ...), and a product by that factor times itself, and by n - 1 halves of the smallest
 * number (inputs of a seed are at most 1, so nothing that is lost grows again).
 */
#ifndef COLLECTIVES_EXPECT_ANY_H
#define COLLECTIVES_EXPECT_ANY_H

#include "collectives/algorithm.h"
#include "collectives/verify/expect.h"

struct expect_any {
    enum ccl_collective collective; /* CCL_ALL_REDUCE or CCL_REDUCE_SCATTER */
    uint32_t ranks;
    uint32_t parts;  /* operands of each rank: shards with contents of their own */
    uint32_t shards; /* of each rank's result, all with the same contents */
    enum dtype dtype;
    enum redop op;
    uint64_t n_elem; /* per shard of the input */
    uint64_t seed;
    struct scaling scaling;
    const void *values; /* as in expect.h */
    bool exact;         /* compares bits; else errors with the bound */
    struct cw_sim *sim; /* whose workers compare; NULL: the calling thread does */
};

struct expect_any_found {
    uint64_t wrong; /* elements */
    double bound;   /* (1 + u)^(n - 1) - 1; exact: 0 */
    double largest; /* error, in the same unit: the sum of the magnitudes, or the product */
};

/* Compares every element of every rank's every shard. */
int expect_any_verify(const struct expect_any *any, expect_read_fn read, void *arg,
                      struct expect_any_found *found, struct cw_error *error);

/* The same of one value alone: of element `at` of the inputs' shards. */
bool expect_any_holds(const struct expect_any *any, uint64_t at, const void *value);

#endif
