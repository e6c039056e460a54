/*
 * trees.h: the trees along which switches reduce and multicast (hw/HARDWARE.md, "Switches that
 * reduce"): which stop passes its part on to which switch. Leaves are all SIPs, inner places are
 * switches that reduce. Trees share no link. Pure; made on the host, const from then on.
 */
#ifndef HW_TREES_H
#define HW_TREES_H

#include "hw/topology/topology.h"

enum { HW_TREES_MAX = 32 };
#define HW_TREE_NONE UINT32_MAX
#define HW_TREE_ADD  (UINT32_MAX - 1) /* the first two values of a switch; */
#define HW_TREE_MORE UINT32_MAX       /* its sum so far, and one more */

/* A stop below a switch. */
struct hw_tree_child {
    uint32_t stop, outlet; /* of the switch, to it */
    uint32_t first_sip;    /* the least SIP at it or below it; children are in this order */
};

struct hw_tree_switch {
    uint32_t parent, up;         /* the stop above, and the outlet to it; HW_TREE_NONE: the root */
    uint32_t first, child_count; /* hw_trees.child[]; no children: it is not in the tree */
    uint32_t place;              /* among the children of the stop above */
};

struct hw_trees {
    uint32_t count; /* 0: no tree reaches all SIPs */
    uint32_t root[HW_TREES_MAX];
    uint32_t sips, switches, children;
    struct hw_tree_switch *of;   /* [count * switches] */
    struct hw_tree_child *child; /* [children] */
    uint32_t *sip_up;            /* [count * sips] the outlet of a SIP to the switch above it */
    uint32_t *sip_place;         /* [count * sips] its place among that one's children */
};

/* A switch, by its number, in a tree. */
static inline const struct hw_tree_switch *hw_tree_at(const struct hw_trees *trees, uint32_t tree,
                                                      uint32_t number)
{
    return &trees->of[(size_t)tree * trees->switches + number];
}

/* False: out of memory. In both cases hw_trees_free() frees them. */
bool hw_trees_make(const struct hw_config *hw, struct hw_trees *trees);
void hw_trees_free(struct hw_trees *trees);
/* How many there are; 0 also where memory is short. */
uint32_t hw_tree_count(const struct hw_config *hw);
/* How the switches of tree 0 reduce; HW_REDUCE_NONE: there is no tree. */
enum hw_reduce_mode hw_tree_mode(const struct hw_config *hw);

/* The order of a tree's sums, as on a pocket calculator: SIPs, whose values are put on a stack, and
 * HW_TREE_ADD or HW_TREE_MORE, which put the sum of the two last there, the older one on the left.
 * Every switch adds its children up in their order. 2 * sips - 1 words. */
void hw_tree_sums(const struct hw_trees *trees, uint32_t tree, uint32_t *order);

/* A switch with this number reduces. */
static inline const struct hw_switch_reduce *hw_reduce_of(const struct hw_config *hw,
                                                          uint32_t number)
{
    const enum hw_node_kind kind = hw_node_at(hw, hw->sip_count + number);
    return &hw->reduce[kind == HW_NODE_SWITCH ? 0 : kind - HW_NODE_SWITCH_2 + 1];
}

#endif
