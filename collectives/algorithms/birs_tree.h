/*
 * birs_tree.h: the tree over the packages by which birs_inter adds partials as they come
 * (birs_inter.c has the explanation), as one package sees it: which node a partial completes. The
 * kernel and the cost model use it. Pure functions.
 */
#ifndef COLLECTIVES_BIRS_TREE_H
#define COLLECTIVES_BIRS_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct birs_tree {
    uint32_t packages, own; /* the package that sees it */
};

/* 2^levels is the least power of two that is not below the number of packages. */
static inline uint32_t birs_tree_levels(struct birs_tree tree)
{
    uint32_t levels = 0;
    while (1u << levels < tree.packages)
        levels++;
    return levels;
}

/* The last package, where it has no neighbour. */
static inline bool birs_tree_is_lone(struct birs_tree tree, uint32_t package)
{
    return package % 2 == 0 && package + 1 == tree.packages;
}

/* A node has packages at all. */
static inline bool birs_tree_has(struct birs_tree tree, uint32_t level, uint32_t index)
{
    return index << level < tree.packages;
}

/* The package whose partial comes in a round. */
static inline uint32_t birs_tree_from(struct birs_tree tree, uint32_t round)
{
    return (tree.own + tree.packages - round) % tree.packages;
}

/* The partial that comes in a round completes a node. Otherwise its neighbour is still to come, or
 * it waits as it is. */
static inline bool birs_tree_completes(struct birs_tree tree, uint32_t round)
{
    const uint32_t from = birs_tree_from(tree, round);
    return round > 0 && from % 2 == 0 && !birs_tree_is_lone(tree, from) && (from ^ 1) != tree.own;
}

/* The level of that node, which then waits. A node and its right neighbour, if there is one, make
 * their parent, unless that is the own package's. */
static inline uint32_t birs_tree_level(struct birs_tree tree, uint32_t from)
{
    uint32_t level = 1;
    while ((from >> level) % 2 == 0 && tree.own >> level != (from >> level) + 1)
        level++;
    return level;
}

/* The i-th part of that node is there, i from 0 to its level: the partial itself, its right
 * neighbour, and then the right neighbour of each level. */
static inline bool birs_tree_has_part(struct birs_tree tree, uint32_t from, uint32_t i)
{
    return i < 2 || birs_tree_has(tree, i - 1, (from >> (i - 1)) + 1);
}

/* The own package's sibling on a level is there. */
static inline bool birs_tree_has_sibling(struct birs_tree tree, uint32_t level)
{
    return birs_tree_has(tree, level, tree.own >> level ^ 1);
}

#endif
