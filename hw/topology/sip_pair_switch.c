/*
 * sip_pair_switch.c: pair_switch: SIPs 2i and 2i + 1 are the two dies of a package, joined by an
 * sio link at their ports E. Two switches join packages: switch 0 the even SIPs, switch 1 the odd
 * ones, by an hccs link at each SIP's port N. There are no global directions: algorithms go by
 * rank.
 */
#include <inttypes.h>
#include <stdio.h>

#include "hw/topology/sip_dims.h"

static bool pair_neighbour(const struct hw_config *hw, uint32_t sip, enum hw_port port,
                           uint32_t *to)
{
    (void)hw, (void)sip, (void)port, (void)to;
    return false;
}

/* None is asked for: no SIP has a global direction. */
static uint32_t pair_global_exit(const struct hw_config *hw, uint32_t sip, enum hw_port port)
{
    (void)hw, (void)sip, (void)port;
    return HW_OUTLET_NONE;
}

static uint32_t pair_switches(const struct hw_config *hw)
{
    (void)hw;
    return 2;
}

static uint32_t pair_switch_outlets(const struct hw_config *hw) { return hw->sip_count; }

/* A switch has an outlet of each SIP's number, and a link at those of its parity. */
static struct hw_hop pair_hop(const struct hw_config *hw, uint32_t stop, uint32_t outlet)
{
    const uint32_t switch_0 = hw->sip_count;
    if (stop >= switch_0 && outlet % 2 == stop - switch_0)
        return (struct hw_hop){HW_LINK_HCCS, HW_PORT_N, outlet, HW_PORT_N};
    if (stop < switch_0 && outlet == HW_PORT_N)
        return (struct hw_hop){HW_LINK_HCCS, HW_PORT_NONE, switch_0 + stop % 2, stop};
    if (stop < switch_0 && outlet == HW_PORT_E && (stop ^ 1) < hw->sip_count)
        return (struct hw_hop){HW_LINK_SIO, HW_PORT_E, stop ^ 1, HW_PORT_E};
    return (struct hw_hop){.link = HW_LINK_KINDS};
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

/* By sio to the other die of the package, else by hccs, to the destination or to its mate. A switch
 * reaches the SIPs of its own parity only. */
static uint32_t pair_exit(const struct hw_config *hw, uint32_t stop, uint32_t to_sip, uint32_t key)
{
    (void)key;
    if (stop >= hw->sip_count)
        return (to_sip & 1) == stop - hw->sip_count ? to_sip : to_sip ^ 1;
    return to_sip == (stop ^ 1) ? HW_PORT_E : HW_PORT_N;
}

static struct hw_sip_dims pair_dims(const struct hw_config *hw)
{
    const uint32_t dies = hw->sip_count > 1 ? 2 : 1;
    struct hw_sip_dims dims = {0};
    hw_sip_dims_add(&dims, HW_SIP_FULL, dies, HW_LINK_SIO);
    hw_sip_dims_add(&dims, HW_SIP_SWITCH, hw->sip_count / dies, HW_LINK_HCCS);
    return dims;
}

const struct hw_topology_ops hw_pair_switch = {
    .name = "pair_switch",
    .lines = HW_SIP_LINES_NONE,
    .paired = true,
    .neighbour = pair_neighbour,
    .global_exit = pair_global_exit,
    .switches = pair_switches,
    .switch_outlets = pair_switch_outlets,
    .hop = pair_hop,
    .fit = pair_fit,
    .exit = pair_exit,
    .dims = pair_dims,
};
