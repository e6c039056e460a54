/*
 * expect_order.h: the orders of additions that reductions are specified by (ALGORITHMS.md), as
 * formulas. A value is a node of struct schedule_values: a leaf is the input of a rank's shard.
 * Used by expect.c. Host side; one thread.
 */
#ifndef COLLECTIVES_EXPECT_ORDER_H
#define COLLECTIVES_EXPECT_ORDER_H

#include "collectives/schedule/schedule_values.h"

/* Formulas that are being made. */
struct expect_sums {
    struct schedule_values *values;
    uint32_t room; /* nodes */
    bool failed;   /* out of memory */
};

/* a + b. */
uint32_t expect_sum(struct expect_sums *sums, uint32_t a, uint32_t b);

/* Values base, base + stride, ... of an array. */
struct expect_line {
    uint32_t base, stride, length;
};

/*
 * Reduces a line to its value `root`, from both ends towards it; the root adds the sum from before
 * it first, then the sum from after it. The other values are left as partial results.
 */
void expect_converge(struct expect_sums *sums, uint32_t *value, struct expect_line line,
                     uint32_t root);
/* Every value of the line becomes `of`. */
void expect_spread(uint32_t *value, struct expect_line line, uint32_t of);
/* A ring: result i is value i, plus value i - 1, plus value i - 2 ..., cyclically. `result` and
 * `value` do not overlap. */
void expect_ring(struct expect_sums *sums, uint32_t *result, const uint32_t *value,
                 struct expect_line line);
/* Value 0, plus value 1, plus value 2 .... */
uint32_t expect_in_order(struct expect_sums *sums, const uint32_t *value, uint32_t n);
/* A tree over the first n values: neighbours first, then pairs of pairs: v[i - s] <- v[i - s] +
 * v[i] for i = s, 3s, 5s ... < n, for s = 1, 2, 4 ... < n. Values are left as partial results. */
uint32_t expect_tree(struct expect_sums *sums, uint32_t *value, uint32_t n);
/*
 * Recursive halving over n values: with p the largest power of two <= n, the first 2 (n - p) values
 * are added in pairs; then value i + d is added to value i of those p, for distances d = p/2, p/4
 * ... 1. Values are left as partial results.
 */
uint32_t expect_halving(struct expect_sums *sums, uint32_t *value, uint32_t n);

#endif
