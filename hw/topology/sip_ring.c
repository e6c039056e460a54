/*
 * sip_ring.c: ring_1d: each SIP is joined with the next by one link, the last with the first. Two
 * SIPs have two links between them.
 */
#include "hw/topology/sip_grid.h"

static uint32_t ring_exit(const struct hw_config *hw, uint32_t stop, uint32_t to_sip, uint32_t key)
{
    (void)key;
    return hw_grid_route((struct hw_grid){hw->sip_count, 1, true}, stop, to_sip);
}

const struct hw_topology_ops hw_ring_1d = {
    .name = "ring_1d",
    .lines = HW_SIP_LINES_RINGS,
    .neighbour = hw_sip_grid_neighbour,
    .global_exit = hw_sip_grid_global_exit,
    .hop = hw_sip_grid_hop,
    .fit = hw_sip_row_fit,
    .exit = ring_exit,
    .dims = hw_sip_grid_dims,
};
