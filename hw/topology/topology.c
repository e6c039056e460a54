/*
 * topology.c: the registry of topologies, and functions made of their operations (topology.h).
 */
#include "hw/topology/topology.h"

#include <stdio.h>
#include <string.h>

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
        bool there = false;
        for (uint32_t sip = 0; sip < hw->sip_count && !there; sip++)
            there = hw->sip_topology->neighbour(hw, sip, port, &to);
        directions += there;
    }
    return directions;
}

uint32_t hw_next_on_switch(const struct hw_config *hw, uint32_t sip)
{
    const uint32_t number = hw->sip_topology->switch_of(hw, sip);
    uint32_t next = sip;
    do
        next = (next + 1) % hw->sip_count;
    while (hw->sip_topology->switch_of(hw, next) != number);
    return next;
}

enum hw_link_kind hw_switch_link(const struct hw_config *hw)
{
    const struct hw_sip_port *port = hw->sip_topology->port;
    while (!port->to_switch)
        port++;
    return port->link;
}

bool hw_sip_drawn(const struct hw_config *hw, uint32_t sip, enum hw_port port, uint32_t *to)
{
    struct hw_cable cable;
    if (hw->sip_topology->neighbour(hw, sip, port, to))
        return true;
    if (!hw->sip_topology->cable(hw, sip, port, &cable) || cable.to_switch)
        return false;
    *to = cable.to;
    return true;
}
