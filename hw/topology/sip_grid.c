/*
 * sip_grid.c: SIPs on a grid, without switches (sip_grid.h).
 */
#include "hw/topology/sip_grid.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hw/topology/sip_dims.h"

enum { SIZES_LISTED_MAX = 24, LIST_BYTES = 600 };

bool hw_sip_grid_neighbour(const struct hw_config *hw, uint32_t sip, enum hw_port port,
                           uint32_t *to)
{
    return hw_grid_step(hw_sip_grid(hw), sip, port, to);
}

uint32_t hw_sip_grid_global_exit(const struct hw_config *hw, uint32_t sip, enum hw_port port)
{
    (void)hw, (void)sip;
    return port;
}

struct hw_hop hw_sip_grid_hop(const struct hw_config *hw, uint32_t stop, uint32_t outlet)
{
    const enum hw_port opposite = hw_port_opposite((enum hw_port)outlet);
    struct hw_hop hop = {.link = HW_LINK_KINDS};
    if (hw_grid_step(hw_sip_grid(hw), stop, (enum hw_port)outlet, &hop.to)) {
        hop.link = HW_LINK_SIP_LINK;
        hop.in = opposite;
        hop.back = opposite;
    }
    return hop;
}

struct hw_sip_dims hw_sip_grid_dims(const struct hw_config *hw)
{
    const struct hw_grid grid = hw_sip_grid(hw);
    const enum hw_sip_joint line = grid.wrap ? HW_SIP_RING : HW_SIP_LINE;
    struct hw_sip_dims dims = {0};
    hw_sip_dims_add(&dims, line, grid.w, HW_LINK_SIP_LINK);
    if (hw->sip_topology->is_grid)
        hw_sip_dims_add(&dims, line, grid.h, HW_LINK_SIP_LINK);
    return dims;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

bool hw_sip_row_fit(uint32_t sips, struct hw_sip_size given, struct hw_sip_size *size,
                    struct hw_misfit *misfit)
{
    (void)sips, (void)given, (void)misfit;
    *size = (struct hw_sip_size){0};
    return true;
}

/* "1x6, 2x3, 3x2, 6x1" */
static void list_grids(uint32_t sips, char list[LIST_BYTES])
{
    size_t used = 0;
    uint32_t sizes = 0;
    list[0] = '\0';
    for (uint32_t w = 1; w <= sips; w++)
        if (sips % w == 0 && sizes++ < SIZES_LISTED_MAX)
            used += (size_t)snprintf(list + used, LIST_BYTES - used, "%s%" PRIu32 "x%" PRIu32,
                                     used == 0 ? "" : ", ", w, sips / w);
    if (sizes > SIZES_LISTED_MAX)
        snprintf(list + used, LIST_BYTES - used, ", ...");
}

struct hw_sip_size hw_squarest_grid(uint32_t count)
{
    struct hw_sip_size size = {.w = count, .h = 1};
    for (uint32_t h = 1; (uint64_t)h * h <= count; h++)
        if (count % h == 0)
            size = (struct hw_sip_size){.w = count / h, .h = h};
    return size;
}

bool hw_sip_grid_fit(uint32_t sips, struct hw_sip_size given, struct hw_sip_size *size,
                     struct hw_misfit *misfit)
{
    char grids[LIST_BYTES];
    list_grids(sips, grids);
    *size = (struct hw_sip_size){.w = given.w, .h = given.h};
    if (given.w == 0 && given.h == 0) {
        *size = hw_squarest_grid(sips);
    } else if (given.w == 0 || given.h == 0) {
        *size = (struct hw_sip_size){0};
        misfit->key = given.h == 0 ? HW_SIP_KEY_W : HW_SIP_KEY_H;
        snprintf(misfit->text, sizeof misfit->text,
                 "given without system.sips.%s; give both, or neither for the squarest grid; legal "
                 "w x h for %" PRIu32 " SIPs: %s",
                 given.h == 0 ? "h" : "w", sips, grids);
    } else {
        misfit->key = HW_SIP_KEY_W;
        snprintf(misfit->text, sizeof misfit->text,
                 "%" PRIu32 " x %" PRIu32 " is %" PRIu64 " SIPs, but system.sips.count is %" PRIu32
                 "; legal w x h: %s",
                 given.w, given.h, (uint64_t)given.w * given.h, sips, grids);
    }
    return (uint64_t)size->w * size->h == sips;
}
