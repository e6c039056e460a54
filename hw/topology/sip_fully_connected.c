/*
 * sip_fully_connected.c: fully_connected: a link of its own between every two SIPs. The links of a
 * SIP are spread over the four ports of its IO die (sip_dims.h). The global directions E and W lead
 * to the next and the previous SIP, as in a ring.
 */
#include <inttypes.h>
#include <stdio.h>

#include "hw/topology/sip_dims.h"
#include "hw/topology/sip_grid.h"

static bool full_fit(uint32_t sips, struct hw_sip_size given, struct hw_sip_size *size,
                     struct hw_misfit *misfit)
{
    (void)given;
    *size = (struct hw_sip_size){0};
    hw_sip_dims_add(&size->dims, HW_SIP_FULL, sips, HW_LINK_SIP_LINK);
    misfit->key = HW_SIP_KEY_COUNT;
    snprintf(misfit->text, sizeof misfit->text,
             "%s gives each SIP a link to every other, and an IO die has room for %d; found "
             "%" PRIu32 " SIPs; legal: 1 to %d",
             hw_fully_connected.name, HW_OUTLETS_MAX - 1, sips, HW_OUTLETS_MAX);
    return sips <= HW_OUTLETS_MAX;
}

const struct hw_topology_ops hw_fully_connected = {
    .name = "fully_connected",
    .lines = HW_SIP_LINES_RINGS,
    .fit = full_fit,
    HW_SIP_DIMS_OPERATIONS,
};
