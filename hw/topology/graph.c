/*
 * graph.c: builds a graph of SIPs and switches (graph.h): its outlets, hops and dimensions.
 * graph_routes.c finds its routes.
 */
#include "hw/topology/graph_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/topology/sip_dims.h"
#include "hw/topology/sip_grid.h"

#define POLICY_NAME(NAME, name) [HW_ROUTES_##NAME] = #name,
const char *const hw_route_policy_name[HW_ROUTES_KINDS] = {HW_ROUTE_POLICIES(POLICY_NAME)};

/* ---- operations ------------------------------------------------------------------------------ */

static bool graph_ends(const struct hw_config *hw, uint32_t sip) { return graph_of(hw)->ends[sip]; }
static uint32_t graph_switches(const struct hw_config *hw) { return graph_of(hw)->switches; }
static uint32_t graph_outlets(const struct hw_config *hw) { return graph_of(hw)->outlets; }
static uint32_t graph_switch_outlets(const struct hw_config *hw)
{
    return graph_of(hw)->switch_outlets;
}

static enum hw_node_kind graph_switch_kind(const struct hw_config *hw, uint32_t number)
{
    return hw_switch_node(graph_of(hw)->switch_kind[number]);
}

static enum hw_port graph_side(const struct hw_config *hw, uint32_t outlet)
{
    return (enum hw_port)graph_of(hw)->side[outlet];
}

static struct hw_hop graph_hop(const struct hw_config *hw, uint32_t stop, uint32_t outlet)
{
    const struct graph *const g = graph_of(hw);
    return outlet < graph_outlets_at(g, stop) ? graph_at(g, stop, outlet)->hop
                                              : (struct hw_hop){.link = HW_LINK_KINDS};
}

static void graph_outlet_name(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                              char name[HW_OUTLET_NAME_BYTES])
{
    memcpy(name, graph_at(graph_of(hw), sip, outlet)->name, HW_OUTLET_NAME_BYTES);
}

/* By the link of the direction's letter; without one, as routed. */
static uint32_t graph_global_exit(const struct hw_config *hw, uint32_t sip, enum hw_port port)
{
    return hw_named_outlet(hw, sip, hw_port_letter[port]);
}

static bool graph_neighbour(const struct hw_config *hw, uint32_t sip, enum hw_port port,
                            uint32_t *to)
{
    return hw->sip_topology->lines != HW_SIP_LINES_NONE && hw_sip_grid_neighbour(hw, sip, port, to);
}

static struct hw_sip_dims graph_dims(const struct hw_config *hw)
{
    const struct graph *const g = graph_of(hw);
    struct hw_sip_dims dims = g->dims;
    if (dims.count == 0)
        hw_sip_dims_add(&dims, HW_SIP_OTHER, g->sips, HW_LINK_SIP_LINK);
    return dims;
}

/* ---- links ----------------------------------------------------------------------------------- */

/* The ports of links that name none: E, S, W, N in turn. */
static enum hw_port port_in_turn(uint32_t *dealt)
{
    static const enum hw_port in_turn[HW_PORTS] = {HW_PORT_E, HW_PORT_S, HW_PORT_W, HW_PORT_N};
    return in_turn[(*dealt)++ % HW_PORTS];
}

/* Slot k of a port, as an outlet's number: one of each port, then the second of each, and so on,
 * without the number that means none. */
static uint32_t outlet_of_slot(const struct graph_slots *slots, enum hw_port port, uint32_t k)
{
    uint32_t number = port;
    if (k == 0)
        return number;
    number = HW_OUTLET_NONE + 1;
    for (uint32_t turn = 1; turn <= k; turn++)
        for (enum hw_port p = 0; p < (turn < k ? HW_PORTS : port); p++)
            number += turn < slots->most[p];
    return number;
}

static const struct hw_graph_end *end_of(const struct graph_building *b, uint32_t i)
{
    const struct hw_graph_link *const link = &b->given->links[i / 2];
    return i % 2 == 0 ? &link->from : &link->to;
}

static bool check_links(const struct graph_building *b)
{
    const uint32_t stops = b->g->sips + b->g->switches;
    for (uint32_t i = 0; i < 2 * b->given->link_count; i++)
        if (end_of(b, i)->stop >= stops || end_of(b, i)->stop == end_of(b, i ^ 1)->stop) {
            snprintf(b->why, HW_GRAPH_WHY_BYTES,
                     "link %" PRIu32 " leads from stop %" PRIu32 " to stop %" PRIu32
                     "; legal: two of the %" PRIu32 " SIPs and switches",
                     i / 2 + 1, b->given->links[i / 2].from.stop, b->given->links[i / 2].to.stop,
                     stops);
            return false;
        }
    return true;
}

/* Gives each end at a SIP its port and slot. */
static bool place_ends(struct graph_building *b)
{
    uint32_t outlets = HW_PORTS;
    for (uint32_t i = 0; i < 2 * b->given->link_count; i++) {
        const struct hw_graph_end *const end = end_of(b, i);
        if (end->stop >= b->g->sips)
            continue;
        uint32_t *const used = &b->used[(size_t)end->stop * (HW_PORTS + 1)];
        const enum hw_port port = end->port < HW_PORTS ? end->port : port_in_turn(&used[HW_PORTS]);
        b->place[i] = (struct graph_place){port, used[port]++};
        if (used[port] > b->slots.most[port])
            b->slots.most[port] = used[port];
    }
    for (enum hw_port port = 0; port < HW_PORTS; port++)
        outlets += b->slots.most[port] > 1 ? b->slots.most[port] - 1 : 0;
    b->g->outlets = outlets > HW_PORTS ? outlets + 1 : outlets; /* without number 4 */
    if (b->g->outlets <= HW_OUTLETS_MAX)
        return true;
    snprintf(b->why, HW_GRAPH_WHY_BYTES,
             "its SIPs have up to %" PRIu32 ", %" PRIu32 ", %" PRIu32 " and %" PRIu32
             " links at ports N, S, E and W; an IO die has room for %d in all",
             b->slots.most[HW_PORT_N], b->slots.most[HW_PORT_S], b->slots.most[HW_PORT_E],
             b->slots.most[HW_PORT_W], HW_OUTLETS_MAX - 1);
    return false;
}

static void name_sides(struct graph_building *b)
{
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        b->g->side[port] = (uint8_t)port;
        for (uint32_t k = 1; k < b->slots.most[port]; k++)
            b->g->side[outlet_of_slot(&b->slots, port, k)] = (uint8_t)port;
    }
}

/* Numbers all outlets: a SIP has all slots, a switch its links. */
static bool number_outlets(struct graph_building *b)
{
    struct graph *const g = b->g;
    const uint32_t stops = g->sips + g->switches;
    for (uint32_t sip = 0; sip < g->sips; sip++)
        g->first[sip + 1] = g->outlets;
    for (uint32_t i = 0; i < 2 * b->given->link_count; i++)
        if (end_of(b, i)->stop >= g->sips && !(i % 2 == 1 && b->given->links[i / 2].one_way))
            g->first[end_of(b, i)->stop + 1]++;
    for (uint32_t stop = 0; stop < stops; stop++) {
        if (stop >= g->sips && g->first[stop + 1] > g->switch_outlets)
            g->switch_outlets = g->first[stop + 1];
        g->first[stop + 1] += g->first[stop];
    }
    if (g->switch_outlets >= UINT16_MAX) {
        snprintf(b->why, HW_GRAPH_WHY_BYTES,
                 "a switch has %" PRIu32 " links that lead away; legal: up to %d",
                 g->switch_outlets, UINT16_MAX - 1);
        return false;
    }
    g->outlet = calloc((size_t)g->first[stops] + 1, sizeof *g->outlet);
    for (uint32_t i = 0; g->outlet != NULL && i < g->first[stops]; i++)
        g->outlet[i] = (struct graph_outlet){.hop = {.link = HW_LINK_KINDS, .back = HW_ONE_WAY}};
    return g->outlet != NULL;
}

static void name_outlet(struct graph_outlet *outlet, const struct hw_graph_end *end,
                        struct graph_place place)
{
    if (end->name[0] != '\0')
        snprintf(outlet->name, sizeof outlet->name, "%s", end->name);
    else if (place.slot == 0)
        snprintf(outlet->name, sizeof outlet->name, "%c", hw_port_letter[place.port]);
    else
        snprintf(outlet->name, sizeof outlet->name, "%c%" PRIu32, hw_port_letter[place.port],
                 place.slot + 1);
}

static int by_stop(const void *a, const void *b)
{
    const struct graph_outlet *const x = a, *const y = b;
    if (x->hop.to != y->hop.to)
        return x->hop.to < y->hop.to ? -1 : 1;
    return x->listed < y->listed ? -1 : x->listed > y->listed;
}

/* The outlets of all links; hop.back comes afterwards. */
static void put_outlets(struct graph_building *b)
{
    struct graph *const g = b->g;
    uint32_t *const filled = b->used; /* [switches]; not needed as ports any more */
    memset(filled, 0, g->switches * sizeof *filled);
    for (uint32_t i = 0; i < 2 * b->given->link_count; i++) {
        const struct hw_graph_link *const link = &b->given->links[i / 2];
        const struct hw_graph_end *const from = end_of(b, i), *const to = end_of(b, i ^ 1);
        if (i % 2 == 1 && link->one_way)
            continue;
        struct graph_outlet *const outlet =
            from->stop < g->sips
                ? graph_at(g, from->stop,
                           outlet_of_slot(&b->slots, b->place[i].port, b->place[i].slot))
                : graph_at(g, from->stop, filled[from->stop - g->sips]++);
        outlet->listed = i / 2;
        outlet->is_from = i % 2 == 0;
        outlet->hop.link = i % 2 == 0 ? link->link : link->back;
        outlet->hop.to = to->stop;
        outlet->hop.in = to->stop < g->sips ? b->place[i ^ 1].port : HW_PORT_NONE;
        if (from->stop < g->sips)
            name_outlet(outlet, from, b->place[i]);
    }
    for (uint32_t stop = g->sips; stop < g->sips + g->switches; stop++)
        if (graph_outlets_at(g, stop) > 0)
            qsort(graph_at(g, stop, 0), graph_outlets_at(g, stop), sizeof *g->outlet, by_stop);
}

/* A link's outlets at both its ends lead back to each other. */
static void lead_back(const struct graph_building *b)
{
    const struct graph *const g = b->g;
    const uint32_t stops = g->sips + g->switches;
    for (uint32_t i = 0; i < 2 * b->given->link_count; i++)
        b->outlet[i] = HW_ONE_WAY;
    for (uint32_t stop = 0; stop < stops; stop++)
        for (uint32_t o = 0; o < graph_outlets_at(g, stop); o++) {
            const struct graph_outlet *const outlet = graph_at(g, stop, o);
            const uint32_t end = 2 * outlet->listed;
            if (outlet->hop.link < HW_LINK_KINDS)
                b->outlet[end_of(b, end)->stop == stop ? end : end + 1] = o;
        }
    for (uint32_t i = 0; i < 2 * b->given->link_count; i++)
        if (b->outlet[i] != HW_ONE_WAY)
            graph_at(g, end_of(b, i)->stop, b->outlet[i])->hop.back = b->outlet[i ^ 1];
}

/* ---- the graph ------------------------------------------------------------------------------- */

static const struct hw_topology_ops graph_ops = {
    .name = "graph",
    .is_irregular = true,
    .neighbour = graph_neighbour,
    .global_exit = graph_global_exit,
    .switches = graph_switches,
    .outlets = graph_outlets,
    .switch_outlets = graph_switch_outlets,
    .switch_kind = graph_switch_kind,
    .side = graph_side,
    .outlet_name = graph_outlet_name,
    .hop = graph_hop,
    .exit = graph_exit,
    .ways = graph_ways,
    .turns = graph_turns,
    .dims = graph_dims,
};

/* Paired dies, as in pair_switch: SIPs 2i and 2i + 1 are joined, and so are by one switch all even
 * SIPs, and all odd ones; between packages a route goes by a switch first. */
static bool is_paired(const struct graph *g)
{
    const struct hw_config hw = {.sip_count = g->sips, .sip_topology = &g->ops};
    const struct hw_sip_dims *const dims = &g->dims;
    if (g->policy != HW_ROUTES_LISTED || g->switches != 2 || dims->count != 2 ||
        dims->at[0].size != 2 || dims->at[0].joint != HW_SIP_FULL ||
        (dims->at[1].joint != HW_SIP_SWITCH && dims->at[1].size > 1))
        return false;
    for (uint32_t sip = 2; sip < g->sips; sip++)
        if (!hw_is_switch(&hw, hw_hop(&hw, 0, graph_exit(&hw, 0, sip, 0)).to))
            return false;
    return true;
}

static bool build(struct graph_building *b)
{
    struct graph *const g = b->g;
    const size_t stops = (size_t)g->sips + g->switches;
    const size_t used = (size_t)g->sips * (HW_PORTS + 1);
    g->first = calloc(stops + 1, sizeof *g->first);
    g->switch_kind = calloc((size_t)g->switches + 1, sizeof *g->switch_kind);
    b->place = calloc(2 * (size_t)b->given->link_count + 1, sizeof *b->place);
    b->outlet = calloc(2 * (size_t)b->given->link_count + 1, sizeof *b->outlet);
    b->used = calloc(used > g->switches ? used : g->switches, sizeof *b->used);
    if (g->first == NULL || g->switch_kind == NULL || b->place == NULL || b->outlet == NULL ||
        b->used == NULL || !check_links(b) || !place_ends(b) || !number_outlets(b))
        return false;
    if (b->given->ends != NULL) {
        g->ends = calloc(g->sips, sizeof *g->ends);
        if (g->ends == NULL)
            return false;
        memcpy(g->ends, b->given->ends, g->sips * sizeof *g->ends);
        g->ops.ends = graph_ends;
    }
    if (b->given->switch_kind != NULL)
        memcpy(g->switch_kind, b->given->switch_kind, g->switches);
    name_sides(b);
    put_outlets(b);
    lead_back(b);
    if (!graph_find_dims(b) || !graph_find_routes(b))
        return false;
    g->ops.paired = is_paired(g);
    return true;
}

struct hw_topology_ops *hw_graph_create(const struct hw_graph_given *given,
                                        char why[HW_GRAPH_WHY_BYTES])
{
    struct graph *const g = calloc(1, sizeof *g);
    struct graph_building b = {.g = g, .given = given, .why = why};
    why[0] = '\0';
    if (g == NULL)
        return NULL;
    g->ops = graph_ops;
    g->ops.lines = given->dims > 0 ? given->lines : HW_SIP_LINES_NONE;
    g->ops.is_grid = given->dims > 1;
    g->ops.hashes = given->policy == HW_ROUTES_MINIMAL || given->policy == HW_ROUTES_VALIANT;
    g->ops.key_at = given->policy == HW_ROUTES_VALIANT ? graph_key_at : NULL;
    g->sips = given->sips;
    g->switches = given->switches;
    g->policy = given->policy;
    const bool built = build(&b);
    free(b.place);
    free(b.outlet);
    free(b.used);
    if (built)
        return &g->ops;
    hw_graph_free(&g->ops);
    return NULL;
}

bool hw_graph_policy(const struct hw_config *hw, enum hw_route_policy *policy, uint64_t *seed)
{
    if (hw->sip_topology->exit != graph_exit)
        return false;
    *policy = graph_of(hw)->policy;
    *seed = graph_of(hw)->routes.seed;
    return true;
}

bool hw_graph_place(const struct hw_config *hw, uint32_t stop, uint32_t outlet, uint32_t *place,
                    bool *is_from)
{
    if (hw->sip_topology->exit != graph_exit)
        return false;
    *place = graph_at(graph_of(hw), stop, outlet)->listed;
    *is_from = graph_at(graph_of(hw), stop, outlet)->is_from;
    return true;
}

void hw_graph_free(struct hw_topology_ops *graph)
{
    struct graph *const g = (struct graph *)(void *)graph;
    if (g == NULL)
        return;
    graph_free_routes(g);
    free(g->first);
    free(g->switch_kind);
    free(g->ends);
    free(g->outlet);
    free(g);
}
