/*
 * sip_torus.c: torus_2d: a grid of SIPs whose rows and columns are rings. Routes go X, then Y, the
 * shorter way round.
 */
#include "hw/topology/sip_grid.h"

static uint32_t torus_exit(const struct hw_config *hw, uint32_t stop, uint32_t to_sip, uint32_t key)
{
    (void)key;
    return hw_grid_route((struct hw_grid){hw->sip_w, hw->sip_h, true}, stop, to_sip);
}

static bool torus_fit(uint32_t sips, struct hw_sip_size given, struct hw_sip_size *size,
                      struct hw_misfit *misfit)
{
    return hw_sip_grid_fit(sips, given, size, misfit);
}

const struct hw_topology_ops hw_torus_2d = {
    .name = "torus_2d",
    .is_grid = true,
    .lines = HW_SIP_LINES_RINGS,
    .neighbour = hw_sip_grid_neighbour,
    .global_exit = hw_sip_grid_global_exit,
    .hop = hw_sip_grid_hop,
    .fit = torus_fit,
    .exit = torus_exit,
    .dims = hw_sip_grid_dims,
};
