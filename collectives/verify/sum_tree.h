/*
 * sum_tree.h: sums whose order of additions is a tree that the algorithm declares (order.h, tree).
 * Used by expect.c. Pure but for the arrays that they are given.
 */
#ifndef COLLECTIVES_SUM_TREE_H
#define COLLECTIVES_SUM_TREE_H

#include <stdbool.h>

#include "collectives/order.h"
#include "collectives/verify/expect_order.h"
#include "core/cw.h"

/* Every tree of the order over n ranks is one; *depth: the most values on the stack at a time.
 * False: *error names the tree, the step and the legal steps; `name` is the algorithm's.
 */
bool sum_tree_check(const struct ccl_order *order, uint32_t n, const char *name, uint32_t *depth,
                    struct cw_error *error);

/* Parts of tensors, which have equally many elements but for the last. */
uint32_t sum_tree_parts(const struct ccl_order *order, uint32_t n);

/* One sum: whose tree. */
struct sum_tree {
    const struct ccl_order *order;
    uint32_t rank, part, n;
};

/* The formula of the sum of values 0 to n - 1. `stack` has room for `depth` values. */
uint32_t sum_tree_add(const struct sum_tree *tree, struct expect_sums *sums, const uint32_t *value,
                      uint32_t *stack);

#endif
