/*
 * sip_pair_switch.c: pair_switch: SIPs 2i and 2i + 1 are the two dies of a package, joined by an
 * sio link at their ports E. Two switches join packages: switch 0 the even SIPs, switch 1 the odd
 * ones, by an hccs link at each SIP's port N. There are no global directions: algorithms go by
 * rank.
 */
#include <inttypes.h>
#include <stdio.h>

#include "hw/topology/sip_grid.h"

static bool pair_neighbour(const struct hw_config *hw, uint32_t sip, enum hw_port port,
                           uint32_t *to)
{
    (void)hw, (void)sip, (void)port, (void)to;
    return false;
}

static uint32_t pair_switch_of(const struct hw_config *hw, uint32_t sip, uint32_t outlet)
{
    (void)hw, (void)outlet;
    return sip & 1;
}

/* The sio link belongs to the even die. */
static bool pair_cable(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                       struct hw_cable *cable)
{
    if (outlet == HW_PORT_N) {
        *cable = (struct hw_cable){HW_LINK_HCCS, true, pair_switch_of(hw, sip, outlet)};
        return true;
    }
    *cable = (struct hw_cable){HW_LINK_SIO, false, sip + 1};
    return outlet == HW_PORT_E && sip % 2 == 0 && sip + 1 < hw->sip_count;
}

static bool pair_fit(uint32_t sips, struct hw_sip_size given, struct hw_sip_size *size,
                     struct hw_misfit *misfit)
{
    (void)given;
    *size = (struct hw_sip_size){0};
    misfit->key = HW_SIP_KEY_COUNT;
    snprintf(misfit->text, sizeof misfit->text,
             "%s joins SIPs in pairs, so it needs an even number; found %" PRIu32,
             hw_pair_switch.name, sips);
    return sips % 2 == 0 || sips == 1;
}

/* By sio to the other die of the package, else by hccs, to the destination or to its mate. */
static uint32_t pair_exit(const struct hw_config *hw, uint32_t sip, uint32_t to_sip)
{
    (void)hw;
    return to_sip == (sip ^ 1) ? HW_PORT_E : HW_PORT_N;
}

/* A switch reaches the SIPs of its own parity only. */
static uint32_t pair_switch_exit(const struct hw_config *hw, uint32_t number, uint32_t to_sip)
{
    (void)hw;
    return (to_sip & 1) == number ? to_sip : to_sip ^ 1;
}

static uint32_t pair_next_sip(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                              uint32_t to_sip)
{
    return outlet == HW_PORT_N ? pair_switch_exit(hw, pair_switch_of(hw, sip, outlet), to_sip)
                               : to_sip;
}

static uint32_t pair_distance(const struct hw_config *hw, uint32_t from, uint32_t to)
{
    (void)hw;
    return from != to;
}

static uint32_t pair_diameter(const struct hw_config *hw) { return hw->sip_count > 1; }

const struct hw_topology_ops hw_pair_switch = {
    .name = "pair_switch",
    .lines = HW_SIP_LINES_NONE,
    .paired = true,
    .switches = 2,
    .port =
        {
            [HW_PORT_N] = {HW_LINK_HCCS, true, HW_PORT_N, HW_PORT_N, HW_PORT_N},
            [HW_PORT_S] = {HW_LINK_SIO, false, HW_PORT_S, HW_PORT_S, HW_PORT_S},
            [HW_PORT_E] = {HW_LINK_SIO, false, HW_PORT_E, HW_PORT_E, HW_PORT_E},
            [HW_PORT_W] = {HW_LINK_SIO, false, HW_PORT_W, HW_PORT_W, HW_PORT_W},
        },
    .neighbour = pair_neighbour,
    .cable = pair_cable,
    .switch_of = pair_switch_of,
    .fit = pair_fit,
    .exit = pair_exit,
    .next_sip = pair_next_sip,
    .switch_exit = pair_switch_exit,
    .distance = pair_distance,
    .diameter = pair_diameter,
};
