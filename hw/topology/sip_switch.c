/*
 * sip_switch.c: switch: one switch, with one link to each SIP at its port E. The global directions
 * E and W lead to the next and the previous SIP, as in a ring, and both go through the switch.
 */
#include "hw/topology/sip_grid.h"

static bool switch_cable(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                         struct hw_cable *cable)
{
    (void)hw, (void)sip;
    *cable = (struct hw_cable){.link = HW_LINK_SIP_LINK, .to_switch = true};
    return outlet == HW_PORT_E;
}

static uint32_t switch_switch_of(const struct hw_config *hw, uint32_t sip, uint32_t outlet)
{
    (void)hw, (void)sip, (void)outlet;
    return 0;
}

static uint32_t switch_exit(const struct hw_config *hw, uint32_t sip, uint32_t to_sip)
{
    (void)hw, (void)sip, (void)to_sip;
    return HW_PORT_E;
}

static uint32_t switch_next_sip(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                                uint32_t to_sip)
{
    (void)hw, (void)sip, (void)outlet;
    return to_sip;
}

static uint32_t switch_switch_exit(const struct hw_config *hw, uint32_t number, uint32_t to_sip)
{
    (void)hw, (void)number;
    return to_sip;
}

static uint32_t switch_distance(const struct hw_config *hw, uint32_t from, uint32_t to)
{
    (void)hw;
    return from != to;
}

static uint32_t switch_diameter(const struct hw_config *hw) { return hw->sip_count > 1; }

const struct hw_topology_ops hw_switch = {
    .name = "switch",
    .lines = HW_SIP_LINES_RINGS,
    .switches = 1,
    .port =
        {
            [HW_PORT_N] = {HW_LINK_SIP_LINK, true, HW_PORT_N, HW_PORT_E, HW_PORT_N},
            [HW_PORT_S] = {HW_LINK_SIP_LINK, true, HW_PORT_S, HW_PORT_E, HW_PORT_S},
            [HW_PORT_E] = {HW_LINK_SIP_LINK, true, HW_PORT_E, HW_PORT_E, HW_PORT_E},
            [HW_PORT_W] = {HW_LINK_SIP_LINK, true, HW_PORT_W, HW_PORT_E, HW_PORT_W},
        },
    .neighbour = hw_sip_grid_neighbour,
    .cable = switch_cable,
    .switch_of = switch_switch_of,
    .fit = hw_sip_row_fit,
    .exit = switch_exit,
    .next_sip = switch_next_sip,
    .switch_exit = switch_switch_exit,
    .distance = switch_distance,
    .diameter = switch_diameter,
};
