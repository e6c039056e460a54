/*
 * sip_grid.h: operations that the topologies without switches share: SIPs on a grid, each joined
 * with the SIPs next to it by one link class. Pure functions, which a topology names in its
 * operations or calls from them.
 */
#ifndef HW_SIP_GRID_H
#define HW_SIP_GRID_H

#include "hw/topology/topology.h"

/* `port` of the operations: outlet E is at port E, and leads to the next SIP's outlet W; and so on.
 */
#define HW_SIP_GRID_PORTS                                                                          \
    {                                                                                              \
        [HW_PORT_N] = {HW_LINK_SIP_LINK, false, HW_PORT_S, HW_PORT_N, HW_PORT_N},                  \
        [HW_PORT_S] = {HW_LINK_SIP_LINK, false, HW_PORT_N, HW_PORT_S, HW_PORT_S},                  \
        [HW_PORT_E] = {HW_LINK_SIP_LINK, false, HW_PORT_W, HW_PORT_E, HW_PORT_E},                  \
        [HW_PORT_W] = {HW_LINK_SIP_LINK, false, HW_PORT_E, HW_PORT_W, HW_PORT_W},                  \
    }

/* Operations of struct hw_topology_ops over hw_sip_grid(). */
bool hw_sip_grid_neighbour(const struct hw_config *hw, uint32_t sip, enum hw_port port,
                           uint32_t *to);
bool hw_sip_grid_cable(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                       struct hw_cable *cable);
uint32_t hw_sip_grid_next(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                          uint32_t to_sip);
uint32_t hw_sip_grid_distance(const struct hw_config *hw, uint32_t from, uint32_t to);
uint32_t hw_sip_grid_diameter(const struct hw_config *hw);

/* `fit` of a topology of any number of SIPs in one row. */
bool hw_sip_row_fit(uint32_t sips, struct hw_sip_size given, struct hw_sip_size *size,
                    struct hw_misfit *misfit);
/* `fit` of a 2-D topology: both w and h, or neither and the squarest grid. */
bool hw_sip_grid_fit(uint32_t sips, struct hw_sip_size given, struct hw_sip_size *size,
                     struct hw_misfit *misfit);

#endif
