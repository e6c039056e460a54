/*
 * sip_grid.h: operations that the topologies without switches share: SIPs on a grid, each joined
 * with the SIPs next to it by one link class. Pure functions, which a topology names in its
 * operations or calls from them.
 */
#ifndef HW_SIP_GRID_H
#define HW_SIP_GRID_H

#include "hw/topology/topology.h"

/* Operations of struct hw_topology_ops over hw_sip_grid(). */
bool hw_sip_grid_neighbour(const struct hw_config *hw, uint32_t sip, enum hw_port port,
                           uint32_t *to);
uint32_t hw_sip_grid_global_exit(const struct hw_config *hw, uint32_t sip, enum hw_port port);
/* An outlet is at the port of its number, and leads to the opposite port of the next SIP. */
struct hw_hop hw_sip_grid_hop(const struct hw_config *hw, uint32_t stop, uint32_t outlet);
struct hw_sip_dims hw_sip_grid_dims(const struct hw_config *hw);

/* `fit` of a topology of any number of SIPs in one row. */
bool hw_sip_row_fit(uint32_t sips, struct hw_sip_size given, struct hw_sip_size *size,
                    struct hw_misfit *misfit);
/* w * h is the count, w >= h, and they are as close as possible. */
struct hw_sip_size hw_squarest_grid(uint32_t count);
/* w >= h >= d whose product is the count, and whose largest is least; of these, whose least is
 * largest. */
struct hw_sip_size hw_most_cubic_grid(uint32_t count);
/* `fit` of a 2-D topology: both w and h, or neither and the squarest grid. */
bool hw_sip_grid_fit(uint32_t sips, struct hw_sip_size given, struct hw_sip_size *size,
                     struct hw_misfit *misfit);

#endif
