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

/* Elements of each part of tensors of n_elem elements. */
uint64_t sum_tree_part_elems(const struct ccl_order *order, uint32_t n, uint64_t n_elem);

/* One sum: whose tree, and where it works. */
struct sum_tree {
    const struct ccl_order *order;
    uint32_t rank, part, n;
    uint8_t *stack;       /* `depth` vectors */
    const uint8_t **list; /* `depth` places */
};

/* The sum of vectors 0 to n - 1 of `values`, into `result`, which is none of them. */
void sum_tree_add(const struct sum_tree *tree, const struct expect_math *math,
                  const uint8_t *values, uint8_t *result);

#endif
