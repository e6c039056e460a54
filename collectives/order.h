/*
 * order.h: the order in which an algorithm adds, as data that the algorithm's file declares and
 * verify/expect.c makes into formulas. It is a statement about the result; no kernel is called to
 * compute it, so a kernel that adds otherwise is found out. Const.
 *
 * An order has three levels, each optional: the PEs of a cube, the cubes of a SIP, the ranks. That
 * of the ranks is one of those below, or a shared object's own: `operand` or `tree`.
 */
#ifndef COLLECTIVES_ORDER_H
#define COLLECTIVES_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* How the ranks' values become results. n is the number of ranks, x(r) the value of rank r. */
enum ccl_between {
    /* Along the machine's SIPs: a ring on ring_1d and on a switch; rings in the rows, then in the
     * columns on torus_2d; chains on mesh_2d_no_wrap. With rank_invariant: x(0) + x(1) + ... */
    CCL_BETWEEN_SIPS,
    CCL_BETWEEN_RING, /* rank r: x(r) + x(r - 1) + ..., cyclically; rank_invariant as above */
    CCL_BETWEEN_TREE, /* each its own, its left child's (2r + 1), its right child's (2r + 2) */
    /* Of a reduce, along the call's spanning tree (relay.h): each rank its own, plus its children's
     * in the order of their directions. The root has the sum, the others their own. */
    CCL_BETWEEN_RELAY,
    CCL_BETWEEN_NEIGHBOURS, /* pairs of neighbours, pairs of pairs, ...: expect_tree() */
    CCL_BETWEEN_HALVES      /* recursive halving: expect_halving() */
};

/* With `defaults.accumulate: f32`: in which additions an operand is a sum that PE_MATH has kept in
 * f32, since it is added to where it stands. All other operands are rounded: they were loaded,
 * received or put. */
enum ccl_kept {
    CCL_KEPT_UNSAID, /* with `between` up to CCL_BETWEEN_TREE as CCL_KEPT_LEFT; else results are
                        compared within a bound of the error */
    CCL_KEPT_LEFT,   /* the left one, if it is a sum: acc = acc + received */
    CCL_KEPT_NONE,   /* none: each sum is put or sent, and added to elsewhere */
    CCL_KEPT_AFTER_PAIRS, /* with CCL_BETWEEN_NEIGHBOURS: x(0) + x(1), x(2) + x(3), ... are put;
                             from there on the left one */
    CCL_KEPT_MERGED /* the same pairs; then each rank merges them as they come: expect_merged() */
};

struct ccl_order {
    bool pe_grid;   /* every PE has a shard, and a cube's shards are reduced first */
    bool cube_mesh; /* every cube has a shard (at least), and a SIP's are reduced next */
    enum ccl_between between;
    /* CCL_BETWEEN_NEIGHBOURS and _HALVES: x(0), x(1), ... are the ranks on SIP 0, SIP 1, ... */
    bool by_place;
    /* The order of additions of one rank's result. NULL: `between` gives it. Returns the rank whose
     * value is added k-th, k from 0 to n - 1: the result of `rank` is ((operand 0 + operand 1) +
     * operand 2) + ... For each `rank`, every rank is named exactly once. Pure. */
    uint32_t (*operand)(uint32_t rank, uint32_t n, uint32_t k);
    /*
     * The same where a result is not a chain of additions but a tree of them, and where it is not
     * the same tree for all elements. NULL: `operand` or `between` gives it.
     *
     * The inputs have `parts(n)` parts of ceil(n_elem / parts) elements, the last of the rest;
     * parts NULL: one. The tree of a part is written as on a pocket calculator: its 2n - 1 steps k
     * = 0, 1, ... are numbers of ranks, whose values are put on a stack, and CCL_ADD, which takes
     * the two last from the stack and puts their sum there, the older one left of the plus. For
     * four ranks, 0 1 CCL_ADD 2 3 CCL_ADD CCL_ADD is (x(0) + x(1)) + (x(2) + x(3)). Every rank is
     * named exactly once. Pure.
     */
    uint32_t (*tree)(uint32_t rank, uint32_t part, uint32_t n, uint32_t k);
    uint32_t (*parts)(uint32_t n);
    enum ccl_kept kept;
    bool tree_by_rank; /* the ranks' trees differ; else tree() is asked for rank 0, for all */
};

#define CCL_ADD UINT32_MAX

#endif
