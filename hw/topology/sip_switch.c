/*
 * sip_switch.c: switch: one switch, with one link to each SIP at its port E. The global directions
 * E and W lead to the next and the previous SIP, as in a ring, and both go through the switch.
 */
#include "hw/topology/sip_dims.h"
#include "hw/topology/sip_grid.h"

static uint32_t switch_switches(const struct hw_config *hw)
{
    (void)hw;
    return 1;
}

static uint32_t switch_switch_outlets(const struct hw_config *hw) { return hw->sip_count; }

static uint32_t switch_global_exit(const struct hw_config *hw, uint32_t sip, enum hw_port port)
{
    (void)hw, (void)sip, (void)port;
    return HW_PORT_E;
}

/* The switch has an outlet for each SIP, of its number. */
static struct hw_hop switch_hop(const struct hw_config *hw, uint32_t stop, uint32_t outlet)
{
    if (stop == hw->sip_count)
        return (struct hw_hop){HW_LINK_SIP_LINK, HW_PORT_E, outlet, HW_PORT_E};
    if (outlet == HW_PORT_E)
        return (struct hw_hop){HW_LINK_SIP_LINK, HW_PORT_NONE, hw->sip_count, stop};
    return (struct hw_hop){.link = HW_LINK_KINDS};
}

static uint32_t switch_exit(const struct hw_config *hw, uint32_t stop, uint32_t to_sip,
                            uint32_t key)
{
    (void)key;
    return stop == hw->sip_count ? to_sip : HW_PORT_E;
}

static struct hw_sip_dims switch_dims(const struct hw_config *hw)
{
    struct hw_sip_dims dims = {0};
    hw_sip_dims_add(&dims, HW_SIP_SWITCH, hw->sip_count, HW_LINK_SIP_LINK);
    return dims;
}

const struct hw_topology_ops hw_switch = {
    .name = "switch",
    .lines = HW_SIP_LINES_RINGS,
    .neighbour = hw_sip_grid_neighbour,
    .global_exit = switch_global_exit,
    .switches = switch_switches,
    .switch_outlets = switch_switch_outlets,
    .hop = switch_hop,
    .fit = hw_sip_row_fit,
    .exit = switch_exit,
    .dims = switch_dims,
};
