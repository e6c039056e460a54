/*
 * sip_walk.h: orders of a machine's SIPs for algorithms, where links are listed one by one: short
 * closed walks for rings, and nested groups for trees and for schemes that go level by level. Pure
 * functions of the machine.
 */
#ifndef HW_SIP_WALK_H
#define HW_SIP_WALK_H

#include "hw/topology/topology.h"

/* Machines of more SIPs have one walk, in ascending order. */
enum { HW_WALK_SIPS_MAX = 512, HW_WALKS_MAX = 8 };

/*
 * Fills order[walks * sips] with closed walks through all SIPs, and returns their number, 1 to
 * HW_WALKS_MAX; 0: out of memory. The routes of each between neighbours, both ways, use no link
 * that another one uses.
 *
 * A step costs what its route and the route back take for 16 KiB. A walk begins at SIP 0, goes to
 * the nearest SIP that is left, the one of the least number among equals, and is then shortened by
 * turning stretches round (2-opt) until none helps, at most 20 times through all.
 */
uint32_t hw_sip_walks(const struct hw_config *hw, uint32_t *order);

/* Groups of SIPs, nested: the first level's are the smallest, and all of one level have the same
 * number of groups of the level before. */
struct hw_sip_levels {
    uint32_t count;                 /* at least 1 */
    uint32_t size[HW_SIP_DIMS_MAX]; /* groups of the level before, or SIPs, in one of the level */
};

/*
 * The levels of a machine, and its SIPs in their order: SIPs of a group follow each other, and so
 * do groups of the next one; both by their least SIPs. Groups are the pieces that stay connected
 * without one class of links, one kind of switches, or links between switches (topology/pieces.h),
 * where these are of equal size. False: out of memory.
 */
bool hw_sip_levels_find(const struct hw_config *hw, struct hw_sip_levels *levels, uint32_t *order);
/* One level more in the middle of a machine that has one level: groups of equal size, whose numbers
 * are given. False: they are not of equal size, or there is no memory. */
bool hw_sip_levels_split(const struct hw_config *hw, const uint32_t *group, uint32_t groups,
                         struct hw_sip_levels *levels, uint32_t *order);

/* Both, of a machine whose links are listed one by one (hw_config.orders). */
struct hw_sip_orders {
    uint32_t walks;
    const uint32_t *walk; /* [walks * sips] */
    struct hw_sip_levels levels;
    const uint32_t *by_level; /* [sips] */
};

#endif
