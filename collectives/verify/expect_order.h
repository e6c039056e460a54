/*
 * expect_order.h: the orders of operations that reductions are specified by (ALGORITHMS.md), on
 * arrays of vectors. Used by expect.c. Pure functions: their arrays are all they touch.
 */
#ifndef COLLECTIVES_EXPECT_ORDER_H
#define COLLECTIVES_EXPECT_ORDER_H

#include "collectives/data/dtype.h"

/* Vectors of `count` elements: how to add two of them. Vector i of an array starts at byte
 * i * vector_bytes. */
struct expect_math {
    enum dtype dtype;
    enum redop op;
    size_t count, vector_bytes;
};

/* Vectors base, base + stride, ... of an array. */
struct expect_line {
    uint32_t base, stride, length;
};

/*
 * Reduces a line to its vector `root`, from both ends towards it; the root adds the sum from before
 * it first, then the sum from behind. The other vectors are left as partial results.
 */
void expect_converge(const struct expect_math *math, uint8_t *vectors, struct expect_line line,
                     uint32_t root);
/* Every vector of the line becomes its vector `root`. */
void expect_spread(const struct expect_math *math, uint8_t *vectors, struct expect_line line,
                   uint32_t root);
/*
 * A ring: result i is vector i, plus vector i - 1, plus vector i - 2 ..., cyclically. `results` and
 * `vectors` do not overlap.
 */
void expect_ring(const struct expect_math *math, uint8_t *results, const uint8_t *vectors,
                 struct expect_line line);
/* Vector 0, plus vector 1, plus vector 2 ..., into every result. As above. */
void expect_in_order(const struct expect_math *math, uint8_t *results, const uint8_t *vectors,
                     struct expect_line line);
/*
 * A tree over the first n vectors, into vector 0: neighbours first, then pairs of pairs:
 * v[i - s] <- v[i - s] + v[i] for i = s, 3s, 5s ... < n, for s = 1, 2, 4 ... < n. The others are
 * left as partial results.
 */
void expect_tree(const struct expect_math *math, uint8_t *vectors, uint32_t n);
/*
 * Recursive halving over n vectors, into vector 0: with p the largest power of two <= n, the first
 * 2 (n - p) vectors are added in pairs; then vector i + d is added to vector i of those p, for
 * distances d = p/2, p/4 ... 1. The others are left as partial results.
 */
void expect_halving(const struct expect_math *math, uint8_t *vectors, uint32_t n);

#endif
