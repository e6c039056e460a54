/*
 * built.h: what a machine is built of between its SIPs, and what that costs (hw/HARDWARE.md,
 * "Costs"). Pure functions; a visit to every link.
 */
#ifndef HW_BUILT_H
#define HW_BUILT_H

#include "hw/topology/topology.h"

struct hw_built {
    uint64_t links[HW_LINK_KINDS]; /* outside SIPs: a link both ways is one */
    uint64_t ways[HW_LINK_KINDS];  /* those that have not failed, each direction for itself */
    uint64_t all_links, switches;
    uint64_t switches_of[HW_SWITCH_KINDS]; /* of each hw_switch_node() */
    bool has_cost, has_energy;             /* some part has a cost; watts, or pJ per bit */
    double cost, watts; /* of all SIPs, links and switches: sums of exact millionths */
};

struct hw_built hw_built_of(const struct hw_config *hw);

#endif
