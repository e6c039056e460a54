/*
 * topology.c: the registry of topologies, and functions made of their operations (topology.h).
 */
#include "hw/topology/topology.h"

#include <stdio.h>
#include <string.h>

#include "hw/topology/sip_dims.h"

#define TOPOLOGY_ROW(name) &hw_##name,
static const struct hw_topology_ops *const topologies[] = {HW_TOPOLOGIES(TOPOLOGY_ROW)};
#undef TOPOLOGY_ROW

enum { TOPOLOGIES = sizeof topologies / sizeof *topologies };

const struct hw_topology_ops *hw_topology_at(uint32_t number)
{
    return number < TOPOLOGIES ? topologies[number] : NULL;
}

const char *hw_topology_name_at(uint32_t number)
{
    return number < TOPOLOGIES ? topologies[number]->name : NULL;
}

const struct hw_topology_ops *hw_topology_find(const char *name)
{
    for (uint32_t i = 0; i < TOPOLOGIES; i++)
        if (strcmp(topologies[i]->name, name) == 0)
            return topologies[i];
    return NULL;
}

const char *hw_topology_list(bool (*wanted)(const struct hw_topology_ops *topology),
                             const char *last, char *text, size_t bytes)
{
    uint32_t left = 0;
    size_t used = 0;
    for (uint32_t i = 0; i < TOPOLOGIES; i++)
        left += wanted(topologies[i]);
    text[0] = '\0';
    for (uint32_t i = 0; i < TOPOLOGIES && used < bytes; i++) {
        if (!wanted(topologies[i]))
            continue;
        const char *const after = left == 2 ? " " : left > 2 ? ", " : "";
        used += (size_t)snprintf(text + used, bytes - used, "%s%s%s%s", topologies[i]->name, after,
                                 left == 2 ? last : "", left == 2 ? " " : "");
        left--;
    }
    return text;
}

uint32_t hw_sip_directions_max(const struct hw_config *hw)
{
    uint32_t directions = 0, to;
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        /* on rings all SIPs are alike; on open lines the first or the last has it */
        directions += hw->sip_topology->neighbour(hw, 0, port, &to) ||
                      (hw->sip_topology->lines == HW_SIP_LINES_OPEN &&
                       hw->sip_topology->neighbour(hw, hw->sip_count - 1, port, &to));
    }
    return directions;
}

void hw_outlet_name(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                    char name[HW_OUTLET_NAME_BYTES])
{
    if (hw->sip_topology->outlet_name != NULL)
        hw->sip_topology->outlet_name(hw, sip, outlet, name);
    else
        snprintf(name, HW_OUTLET_NAME_BYTES, "%c",
                 outlet < HW_PORTS ? hw_port_letter[outlet] : ' ');
}

uint32_t hw_named_outlet(const struct hw_config *hw, uint32_t sip, char letter)
{
    const char text[] = {letter, '\0'};
    for (uint32_t outlet = 0; hw->sip_topology->outlet_name != NULL && outlet < hw_outlets(hw);
         outlet++) {
        char name[HW_OUTLET_NAME_BYTES];
        hw_outlet_name(hw, sip, outlet, name);
        if (strcmp(name, text) == 0)
            return hw_hop(hw, sip, outlet).link < HW_LINK_KINDS ? outlet : HW_OUTLET_NONE;
    }
    for (enum hw_port port = 0; hw->sip_topology->outlet_name == NULL && port < HW_PORTS; port++) {
        uint32_t to;
        if (hw_port_letter[port] == letter && hw->sip_topology->neighbour(hw, sip, port, &to))
            return hw->sip_topology->global_exit(hw, sip, port);
    }
    return HW_OUTLET_NONE;
}

void hw_join_sips(struct hw_config *hw, const struct hw_topology_ops *topology,
                  const struct hw_sip_size *size)
{
    hw->sip_topology = topology;
    hw->orders = NULL;
    hw->sip_dims = size->dims;
    hw->sip_w = !topology->is_grid     ? hw->sip_count
                : size->dims.count > 0 ? size->dims.at[0].size
                                       : size->w;
    hw->sip_h = hw->sip_w > 0 ? hw->sip_count / hw->sip_w : 0;
}

/* ---- questions of algorithms and their estimates --------------------------------------------- */

struct hw_sip_dims hw_sip_dims_of(const struct hw_config *hw)
{
    return hw->sip_topology->dims == NULL ? hw->sip_dims : hw->sip_topology->dims(hw);
}
