/*
 * sip_levels.c: levels: a list of topologies, the inner one first, as other simulators of
 * collectives write networks: `[{torus_2d: [4, 4]}, {switch: 8}]` is 8 groups of 16 SIPs each, a
 * torus in every group, and 16 switches, each of which joins the 8 SIPs that have the same place in
 * their groups. Each SIP has links in every level. A level is one to three dimensions (sip_dims.h).
 * One level may have the SIPs that the count leaves: `{torus_2d: rest}`.
 *
 * The global directions use a grid of two dimensions, as in torus_3d: its columns are the
 * first dimension, its rows all others one after the other.
 */
#include <inttypes.h>
#include <stdio.h>

#include "hw/topology/sip_dims.h"
#include "hw/topology/sip_grid.h"

static uint64_t outlets_of(const struct hw_sip_dims *dims)
{
    uint64_t outlets = 0;
    for (uint32_t k = 0; k < dims->count; k++)
        outlets += hw_sip_dim_outlets(&dims->at[k]);
    return outlets;
}

/* The sizes of the level that has the SIPs that the others leave (sizes 0): those of the squarest
 * or the most cubic grid. False: the others do not divide the SIPs. */
static bool fit_rest(uint32_t sips, struct hw_sip_dims *dims)
{
    uint64_t others = 1;
    uint32_t first = dims->count, count = 0;
    for (uint32_t k = dims->count; k-- > 0;)
        if (dims->at[k].size == 0) {
            first = k;
            count++;
        } else if (others <= sips) {
            others *= dims->at[k].size;
        }
    if (count == 0)
        return true;
    if (others > sips || sips % others != 0)
        return false;
    const uint32_t rest = (uint32_t)(sips / others);
    struct hw_sip_size grid = {.w = rest};
    if (count > 1)
        grid = count == 2 ? hw_squarest_grid(rest) : hw_most_cubic_grid(rest);
    const uint32_t size[] = {grid.w, grid.h, grid.d};
    for (uint32_t i = 0; i < count; i++)
        dims->at[first + i].size = size[i];
    return true;
}

static bool levels_fit(uint32_t sips, struct hw_sip_size given, struct hw_sip_size *size,
                       struct hw_misfit *misfit)
{
    *size = (struct hw_sip_size){0};
    misfit->key = HW_SIP_KEY_TOPOLOGY;
    if (given.dims.count == 0) {
        snprintf(misfit->text, sizeof misfit->text,
                 "%s are written as a list, such as [{torus_2d: [4, 4]}, {switch: 8}]",
                 hw_levels.name);
        return false;
    }
    if (!fit_rest(sips, &given.dims)) {
        snprintf(misfit->text, sizeof misfit->text,
                 "the levels that have sizes do not divide the %" PRIu32
                 " SIPs of system.sips.count, so no rest is left",
                 sips);
        return false;
    }
    for (uint32_t k = 0; k < given.dims.count; k++)
        hw_sip_dims_add(&size->dims, given.dims.at[k].joint, given.dims.at[k].size,
                        given.dims.at[k].link);
    const uint32_t product = hw_sip_dims_product(&size->dims);
    if (product != sips) {
        snprintf(misfit->text, sizeof misfit->text,
                 "the levels make %" PRIu32 " SIPs, but system.sips.count is %" PRIu32
                 "; set it to %" PRIu32 ", or change the levels",
                 product, sips, product);
        return false;
    }
    if (outlets_of(&size->dims) >= HW_OUTLETS_MAX) {
        snprintf(misfit->text, sizeof misfit->text,
                 "the levels give each SIP %" PRIu64
                 " links, and an IO die has room for %d; a fully_connected level takes one less "
                 "than its size",
                 outlets_of(&size->dims), HW_OUTLETS_MAX - 1);
        return false;
    }
    return true;
}

const struct hw_topology_ops hw_levels = {
    .name = "levels",
    .is_grid = true,
    .lines = HW_SIP_LINES_RINGS,
    .fit = levels_fit,
    HW_SIP_DIMS_OPERATIONS,
};
