/*
 * expect_order.h: the orders of additions that reductions are specified by (ALGORITHMS.md), as
 * formulas. A value is a node of struct schedule_values: a leaf is the input of a rank's shard.
 * Used by expect.c. Host side; one thread.
 */
#ifndef COLLECTIVES_EXPECT_ORDER_H
#define COLLECTIVES_EXPECT_ORDER_H

#include "collectives/relay.h"
#include "collectives/schedule/schedule_values.h"

/* Formulas that are being made. */
struct expect_sums {
    struct schedule_values *values;
    uint32_t kept_from; /* in f32, values from here on are kept where they are the left operand;
                           UINT32_MAX: none */
    uint32_t room;      /* nodes */
    bool failed;        /* out of memory */
};

/* a + b, of which a may be kept, or either. */
uint32_t expect_sum(struct expect_sums *sums, uint32_t a, uint32_t b);
uint32_t expect_sum_kept(struct expect_sums *sums, uint32_t a, uint32_t b, uint8_t wide);

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
/* Each value, plus those of the rank's children in a spanning tree. Values are left as partial
 * results, the root's as the sum of all, which is returned. */
uint32_t expect_relay(struct expect_sums *sums, uint32_t *value, const struct relay *relay);
/* Value 0, plus value 1, plus value 2 .... */
uint32_t expect_in_order(struct expect_sums *sums, const uint32_t *value, uint32_t n);
/* A tree over the first n values: neighbours first, then pairs of pairs: v[i - s] <- v[i - s] +
 * v[i] for i = s, 3s, 5s ... < n, for s = 1, 2, 4 ... < n. Values are left as partial results.
 * `puts_pairs`: the pairs of s = 1 are added where they are put. */
uint32_t expect_tree(struct expect_sums *sums, uint32_t *value, uint32_t n, bool puts_pairs);
/* The same sum of pairs (2p, 2p + 1), as the rank at place `own` makes it in birs_inter: pairs are
 * added where they are put. Partials of packages come from the own one downwards, cyclically. A
 * partial takes in its right neighbours as far as they are there, and is stored; only the sum so
 * far is kept. At the end the own partial takes in its siblings. `place` has n values, which are
 * used up. */
uint32_t expect_merged(struct expect_sums *sums, uint32_t *place, uint32_t n, uint32_t own);
/*
 * Recursive halving over n values: with p the largest power of two <= n, the first 2 (n - p) values
 * are added in pairs; then value i + d is added to value i of those p, for distances d = p/2, p/4
 * ... 1. Values are left as partial results.
 */
uint32_t expect_halving(struct expect_sums *sums, uint32_t *value, uint32_t n);

#endif
