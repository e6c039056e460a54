/*
 * graph_shapes.h: machines that a few numbers describe, as lists of SIPs, switches and links
 * (hw/HARDWARE.md, "Rules of graphs"). Counts are known before anything is listed, so a caller can
 * refuse what is too large. Numbers are as graph_rules.c has checked them.
 */
#ifndef COLLECTIVES_GRAPH_SHAPES_H
#define COLLECTIVES_GRAPH_SHAPES_H

#include "collectives/config/input/graph_list.h"

/* UINT64_MAX: that many or more. */
struct graph_counts {
    uint64_t sips, switches, links;
};
static inline uint64_t graph_times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}
static inline uint64_t graph_plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Dimensions, each joined as its `joint` says, by links of the class of its number in `class`. They
 * are those from number `first` on of the machine, which decides ports and names. */
struct graph_counts graph_dims_counts(const struct hw_sip_dims *dims);
void graph_dims(struct graph_list *list, const struct hw_sip_dims *dims, uint32_t first,
                const uint32_t class[HW_SIP_DIMS_MAX]);

/* A fat tree of switches of k ports. Level i + 1 of its switches has up[i] links up, and k / 2
 * down; the top has a link to each of its `pods`. */
enum { FAT_TREE_LEVELS_MAX = 8 };
struct fat_tree {
    uint32_t k, levels, pods;
    uint32_t up[FAT_TREE_LEVELS_MAX];
};
struct graph_counts fat_tree_counts(const struct fat_tree *tree);
void fat_tree(struct graph_list *list, const struct fat_tree *tree);

/* g groups of `a` routers, each with p SIPs and room for h links to other groups. */
struct dragonfly {
    uint32_t a, h, g, p;
};
struct graph_counts dragonfly_counts(const struct dragonfly *fly);
void dragonfly(struct graph_list *list, const struct dragonfly *fly);

/* Nodes of `sips` SIPs on a switch, and a switch for the SIPs of one place in each `group` of
 * nodes; `spines` join them where there are several groups. */
struct rail {
    uint32_t nodes, sips, group, spines;
};
struct graph_counts rail_counts(const struct rail *rail);
void rail(struct graph_list *list, const struct rail *rail);

/* 2 q^2 routers with p SIPs each; any two routers are at most two links apart. q is a power of a
 * prime, and 4w - 1, 4w or 4w + 1. */
enum { SLIM_FLY_Q_MAX = 89 };
struct slim_fly {
    uint32_t q, p;
};
bool slim_fly_is(uint32_t q);
/* Links from a router to others: (3q - d) / 2, d = q - 4w. */
uint32_t slim_fly_degree(uint32_t q);
struct graph_counts slim_fly_counts(const struct slim_fly *fly);
void slim_fly(struct graph_list *list, const struct slim_fly *fly);

/* The cartesian product of lists: for each SIP of all the others, a copy of each list with its
 * switches and links. A SIP's number is made of its numbers in the lists, the first one's first. */
struct graph_counts graph_product_counts(const struct graph_list *factor, uint32_t count);
void graph_product(struct graph_list *list, const struct graph_list *factor, uint32_t count);

#endif
