/*
 * graph.c: builds a graph of SIPs and switches, and its routes (graph.h).
 *
 * Outlets of a SIP are slots by port: slot k of a port has the same number in all SIPs, 0 to 3 for
 * the first of each port. Those of a switch are its links, by the stop that they lead to. A route
 * is a row of outlets by destination; a stop of one outlet needs none.
 */
#include "hw/topology/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/topology/sip_dims.h"
#include "hw/topology/sip_grid.h"

#define POLICY_NAME(NAME, name) [HW_ROUTES_##NAME] = #name,
const char *const hw_route_policy_name[HW_ROUTES_KINDS] = {HW_ROUTE_POLICIES(POLICY_NAME)};

/* An outlet of a stop, and its place in the list. */
struct outlet {
    struct hw_hop hop; /* hop.link == HW_LINK_KINDS: none */
    uint32_t listed;
    char name[HW_OUTLET_NAME_BYTES];
};

struct graph {
    struct hw_topology_ops ops; /* first: a machine points to it */
    uint32_t sips, switches, outlets, switch_outlets;
    uint8_t *switch_kind;         /* [switches] */
    uint8_t side[HW_OUTLETS_MAX]; /* enum hw_port */
    uint32_t *first;              /* [stops + 1] in outlet[] */
    struct outlet *outlet;
    struct hw_sip_dims dims;
    bool *ends; /* [sips]; NULL: none */
    /* [stops] the outlet for each SIP, where the stop has several */
    uint16_t **row;
    uint16_t *only; /* [stops] where it has one */
};

static const struct graph *graph_of(const struct hw_config *hw)
{
    return (const struct graph *)(const void *)hw->sip_topology;
}

static uint32_t outlets_at(const struct graph *g, uint32_t stop)
{
    return g->first[stop + 1] - g->first[stop];
}

static struct outlet *at(const struct graph *g, uint32_t stop, uint32_t outlet)
{
    return &g->outlet[g->first[stop] + outlet];
}

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
    return outlet < outlets_at(g, stop) ? at(g, stop, outlet)->hop
                                        : (struct hw_hop){.link = HW_LINK_KINDS};
}

static uint32_t graph_exit(const struct hw_config *hw, uint32_t stop, uint32_t to_sip, uint32_t key)
{
    (void)key;
    const struct graph *const g = graph_of(hw);
    return g->row[stop] != NULL ? g->row[stop][to_sip] : g->only[stop];
}

static void graph_outlet_name(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                              char name[HW_OUTLET_NAME_BYTES])
{
    memcpy(name, at(graph_of(hw), sip, outlet)->name, HW_OUTLET_NAME_BYTES);
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

/* The slots of each port: as many as some SIP has links there. */
struct slots {
    uint32_t most[HW_PORTS];
};

/* The ports of links that name none: E, S, W, N in turn. */
static enum hw_port port_in_turn(uint32_t *dealt)
{
    static const enum hw_port in_turn[HW_PORTS] = {HW_PORT_E, HW_PORT_S, HW_PORT_W, HW_PORT_N};
    return in_turn[(*dealt)++ % HW_PORTS];
}

/* Slot k of a port, as an outlet's number: one of each port, then the second of each, and so on,
 * without the number that means none. */
static uint32_t outlet_of_slot(const struct slots *slots, enum hw_port port, uint32_t k)
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

/* Where an end of a link is: the port and slot of a SIP. */
struct place {
    enum hw_port port;
    uint32_t slot;
};

struct building {
    struct graph *g;
    const struct hw_graph_given *given;
    struct slots slots;
    struct place *place; /* [2 * links] of both ends */
    uint32_t *used;      /* [sips * (HW_PORTS + 1)] links at each port; and links dealt out */
    char *why;
};

static const struct hw_graph_end *end_of(const struct building *b, uint32_t i)
{
    const struct hw_graph_link *const link = &b->given->links[i / 2];
    return i % 2 == 0 ? &link->from : &link->to;
}

static bool check_links(const struct building *b)
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
static bool place_ends(struct building *b)
{
    uint32_t outlets = HW_PORTS;
    for (uint32_t i = 0; i < 2 * b->given->link_count; i++) {
        const struct hw_graph_end *const end = end_of(b, i);
        if (end->stop >= b->g->sips)
            continue;
        uint32_t *const used = &b->used[(size_t)end->stop * (HW_PORTS + 1)];
        const enum hw_port port = end->port < HW_PORTS ? end->port : port_in_turn(&used[HW_PORTS]);
        b->place[i] = (struct place){port, used[port]++};
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

static void name_sides(struct building *b)
{
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        b->g->side[port] = (uint8_t)port;
        for (uint32_t k = 1; k < b->slots.most[port]; k++)
            b->g->side[outlet_of_slot(&b->slots, port, k)] = (uint8_t)port;
    }
}

/* Numbers all outlets: a SIP has all slots, a switch its links. */
static bool number_outlets(struct building *b)
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
    g->outlet = calloc((size_t)g->first[stops] + 1, sizeof *g->outlet);
    for (uint32_t i = 0; g->outlet != NULL && i < g->first[stops]; i++)
        g->outlet[i] = (struct outlet){.hop = {.link = HW_LINK_KINDS, .back = HW_ONE_WAY}};
    return g->outlet != NULL;
}

static void name_outlet(struct outlet *outlet, const struct hw_graph_end *end, struct place place)
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
    const struct outlet *const x = a, *const y = b;
    if (x->hop.to != y->hop.to)
        return x->hop.to < y->hop.to ? -1 : 1;
    return x->listed < y->listed ? -1 : x->listed > y->listed;
}

/* The outlets of all links; hop.back comes afterwards. */
static void put_outlets(struct building *b)
{
    struct graph *const g = b->g;
    uint32_t *const filled = b->used; /* [switches]; not needed as ports any more */
    memset(filled, 0, g->switches * sizeof *filled);
    for (uint32_t i = 0; i < 2 * b->given->link_count; i++) {
        const struct hw_graph_link *const link = &b->given->links[i / 2];
        const struct hw_graph_end *const from = end_of(b, i), *const to = end_of(b, i ^ 1);
        if (i % 2 == 1 && link->one_way)
            continue;
        struct outlet *const outlet =
            from->stop < g->sips
                ? at(g, from->stop, outlet_of_slot(&b->slots, b->place[i].port, b->place[i].slot))
                : at(g, from->stop, filled[from->stop - g->sips]++);
        outlet->listed = i / 2;
        outlet->hop.link = i % 2 == 0 ? link->link : link->back;
        outlet->hop.to = to->stop;
        outlet->hop.in = to->stop < g->sips ? b->place[i ^ 1].port : HW_PORT_NONE;
        if (from->stop < g->sips)
            name_outlet(outlet, from, b->place[i]);
    }
    for (uint32_t stop = g->sips; stop < g->sips + g->switches; stop++)
        if (outlets_at(g, stop) > 0)
            qsort(at(g, stop, 0), outlets_at(g, stop), sizeof *g->outlet, by_stop);
}

/* The outlet of a stop with a link of the list; HW_ONE_WAY: it has none. */
static uint32_t find_listed(const struct graph *g, uint32_t stop, uint32_t listed)
{
    for (uint32_t o = 0; o < outlets_at(g, stop); o++)
        if (at(g, stop, o)->hop.link < HW_LINK_KINDS && at(g, stop, o)->listed == listed)
            return o;
    return HW_ONE_WAY;
}

static void lead_back(const struct graph *g)
{
    for (uint32_t stop = 0; stop < g->sips + g->switches; stop++)
        for (uint32_t o = 0; o < outlets_at(g, stop); o++) {
            struct outlet *const outlet = at(g, stop, o);
            if (outlet->hop.link < HW_LINK_KINDS)
                outlet->hop.back = find_listed(g, outlet->hop.to, outlet->listed);
        }
}

/* ---- dimensions ------------------------------------------------------------------------------
 *
 * A dimension is what its links are in every line of SIPs that differ in it alone: a ring or a line
 * of links that are listed from a SIP to the next; a link between every two; a switch for all.
 */

/* The first outlet in the list that leads from a SIP to a stop. `onward`: that is listed so. */
static uint32_t outlet_to(const struct building *b, uint32_t sip, uint32_t to, bool onward)
{
    uint32_t found = HW_OUTLETS_MAX, listed = UINT32_MAX;
    for (uint32_t o = 0; o < b->g->outlets; o++) {
        const struct outlet *const outlet = at(b->g, sip, o);
        if (outlet->hop.link == HW_LINK_KINDS || outlet->hop.to != to || outlet->listed > listed ||
            (onward && b->given->links[outlet->listed].from.stop != sip))
            continue;
        found = o;
        listed = outlet->listed;
    }
    return found;
}

static bool is_ring_or_line(const struct building *b, const struct hw_sip_dim *dim)
{
    for (uint32_t sip = 0; sip < b->g->sips; sip++) {
        const uint32_t place = hw_sip_coordinate(dim, sip);
        const bool ends = place + 1 == dim->size && dim->joint == HW_SIP_LINE;
        const uint32_t next = hw_sip_moved(dim, sip, (place + 1) % dim->size);
        if (!ends && outlet_to(b, sip, next, true) == HW_OUTLETS_MAX)
            return false;
    }
    return true;
}

static bool is_full(const struct building *b, const struct hw_sip_dim *dim)
{
    for (uint32_t sip = 0; sip < b->g->sips; sip++)
        for (uint32_t place = 0; place < dim->size; place++) {
            const uint32_t to = hw_sip_moved(dim, sip, place);
            if (to != sip && outlet_to(b, sip, to, false) == HW_OUTLETS_MAX)
                return false;
        }
    return true;
}

/* The switch that a SIP shares with the SIPs that differ from it in this dimension alone, and with
 * no others; UINT32_MAX: none. */
static uint32_t switch_of(const struct building *b, const struct hw_sip_dim *dim, uint32_t sip)
{
    const uint32_t first = hw_sip_moved(dim, sip, 0);
    for (uint32_t o = 0; o < b->g->outlets; o++) {
        const struct hw_hop hop = at(b->g, sip, o)->hop;
        if (hop.link == HW_LINK_KINDS || hop.to < b->g->sips ||
            outlets_at(b->g, hop.to) != dim->size)
            continue;
        uint32_t place = 0;
        while (place < dim->size &&
               at(b->g, hop.to, place)->hop.to == hw_sip_moved(dim, first, place))
            place++;
        if (place == dim->size)
            return hop.to;
    }
    return UINT32_MAX;
}

static bool is_switched(const struct building *b, const struct hw_sip_dim *dim)
{
    for (uint32_t sip = 0; sip < b->g->sips; sip++)
        if (switch_of(b, dim, sip) == UINT32_MAX)
            return false;
    return true;
}

static bool is_joined(const struct building *b, const struct hw_sip_dim *dim)
{
    return dim->joint == HW_SIP_FULL     ? is_full(b, dim)
           : dim->joint == HW_SIP_SWITCH ? is_switched(b, dim)
                                         : is_ring_or_line(b, dim);
}

/* The outlet by which a SIP leaves towards a place in a dimension. */
static uint32_t outlet_along(const struct building *b, const struct hw_sip_dim *dim, uint32_t sip,
                             uint32_t place)
{
    const uint32_t own = hw_sip_coordinate(dim, sip), n = dim->size;
    if (dim->joint == HW_SIP_FULL)
        return outlet_to(b, sip, hw_sip_moved(dim, sip, place), false);
    if (dim->joint == HW_SIP_SWITCH)
        return outlet_to(b, sip, switch_of(b, dim, sip), false);
    if (hw_line_forward(n, dim->joint == HW_SIP_RING, own, place))
        return outlet_to(b, sip, hw_sip_moved(dim, sip, (own + 1) % n), true);
    const uint32_t before = hw_sip_moved(dim, sip, (own + n - 1) % n);
    return (uint32_t)at(b->g, before, outlet_to(b, before, sip, true))->hop.back;
}

/* The class of its links; HW_LINK_KINDS: they are of several. */
static enum hw_link_kind class_of(const struct building *b, const struct hw_sip_dim *dim)
{
    enum hw_link_kind class = HW_LINK_KINDS;
    for (uint32_t sip = 0; dim->size > 1 && sip < b->g->sips; sip++) {
        const uint32_t own = hw_sip_coordinate(dim, sip);
        for (uint32_t place = 0; place < dim->size; place++) {
            if (place == own || (dim->joint != HW_SIP_FULL && place != (own + 1) % dim->size))
                continue;
            const enum hw_link_kind link =
                at(b->g, sip, outlet_along(b, dim, sip, place))->hop.link;
            if (class != HW_LINK_KINDS && link != class)
                return HW_LINK_KINDS;
            class = link;
        }
    }
    return dim->size > 1 ? class : HW_LINK_SIP_LINK;
}

static bool find_dims(struct building *b)
{
    /* three in a ring have links between every two, and so have two in a line */
    static const enum hw_sip_joint few[] = {HW_SIP_RING, HW_SIP_LINE, HW_SIP_FULL, HW_SIP_SWITCH},
                                   many[] = {HW_SIP_FULL, HW_SIP_RING, HW_SIP_LINE, HW_SIP_SWITCH};
    struct hw_sip_dims *const dims = &b->g->dims;
    for (uint32_t k = 0; k < b->given->dims; k++)
        hw_sip_dims_add(dims, HW_SIP_RING, b->given->dim[k], HW_LINK_SIP_LINK);
    if (b->given->dims > 0 && hw_sip_dims_product(dims) != b->g->sips) {
        snprintf(b->why, HW_GRAPH_WHY_BYTES,
                 "its dimensions make %" PRIu32 " SIPs; it has %" PRIu32, hw_sip_dims_product(dims),
                 b->g->sips);
        return false;
    }
    for (uint32_t k = 0; k < dims->count; k++) {
        struct hw_sip_dim *const dim = &dims->at[k];
        uint32_t joint = 0;
        while (dim->size > 1 && joint < 4) {
            dim->joint = dim->size > 3 ? many[joint] : few[joint];
            if (is_joined(b, dim))
                break;
            joint++;
        }
        dim->link = joint < 4 ? class_of(b, dim) : HW_LINK_KINDS;
        if (dim->link < HW_LINK_KINDS)
            continue;
        snprintf(b->why, HW_GRAPH_WHY_BYTES,
                 "dimension %" PRIu32 " of %" PRIu32
                 " SIPs is %s; legal: in each of its lines a link from each SIP to the next, or "
                 "between every two, or one switch of these SIPs alone",
                 k + 1, dim->size, joint < 4 ? "joined by links of several kinds" : "not joined");
        return false;
    }
    return true;
}

/* ---- routes ---------------------------------------------------------------------------------- */

/* Ways into each stop: from which stop, by which of its outlets. */
struct ways {
    uint32_t *first; /* [stops + 1] */
    uint32_t *from, *outlet;
};

struct search {
    const struct building *b;
    struct ways ways;
    uint32_t *steps, *queue; /* [stops] */
    uint32_t *level;         /* [stops] links from the nearest SIP */
    uint32_t below[32];      /* by level: equal ways of all lower levels, multiplied */
};

static bool list_ways(struct search *search)
{
    const struct graph *const g = search->b->g;
    const uint32_t stops = g->sips + g->switches;
    struct ways *const ways = &search->ways;
    ways->first = calloc((size_t)stops + 2, sizeof *ways->first);
    ways->from = calloc(2 * (size_t)search->b->given->link_count + 1, sizeof *ways->from);
    ways->outlet = calloc(2 * (size_t)search->b->given->link_count + 1, sizeof *ways->outlet);
    if (ways->first == NULL || ways->from == NULL || ways->outlet == NULL)
        return false;
    for (uint32_t i = 0; i < g->first[stops]; i++)
        if (g->outlet[i].hop.link < HW_LINK_KINDS)
            ways->first[g->outlet[i].hop.to + 2]++;
    for (uint32_t stop = 0; stop < stops; stop++)
        ways->first[stop + 2] += ways->first[stop + 1];
    for (uint32_t stop = 0; stop < stops; stop++)
        for (uint32_t o = 0; o < outlets_at(g, stop); o++) {
            const struct hw_hop hop = at(g, stop, o)->hop;
            if (hop.link == HW_LINK_KINDS)
                continue;
            const uint32_t place = ways->first[hop.to + 1]++;
            ways->from[place] = stop;
            ways->outlet[place] = o;
        }
    return true;
}

/* Links of a shortest way from each stop to `to`; UINT32_MAX: there is none. */
static void count_steps(const struct search *search, uint32_t to)
{
    const struct graph *const g = search->b->g;
    const bool *const ends = search->b->given->ends;
    uint32_t *const steps = search->steps;
    uint32_t next = 0, last = 0;
    memset(steps, 0xff, (g->sips + g->switches) * sizeof *steps);
    steps[to] = 0;
    search->queue[last++] = to;
    while (next < last) {
        const uint32_t stop = search->queue[next++];
        if (stop != to && stop < g->sips && ends != NULL && ends[stop])
            continue;
        for (uint32_t i = search->ways.first[stop]; i < search->ways.first[stop + 1]; i++) {
            const uint32_t from = search->ways.from[i];
            if (steps[from] != UINT32_MAX)
                continue;
            steps[from] = steps[stop] + 1;
            search->queue[last++] = from;
        }
    }
}

static bool may_pass(const struct search *search, uint32_t stop, uint32_t to)
{
    const bool *const ends = search->b->given->ends;
    return stop == to || stop >= search->b->g->sips || ends == NULL || !ends[stop];
}

/* The equal ways from a stop on, in the order of the list: their number; *chosen is number `wanted`
 * of them. */
static uint32_t equal_ways(const struct search *search, uint32_t stop, uint32_t to, uint32_t wanted,
                           uint32_t *chosen)
{
    const struct graph *const g = search->b->g;
    uint32_t ways = 0, before = 0;
    for (uint32_t turn = 0; turn <= wanted; turn++) {
        uint32_t least = UINT32_MAX;
        ways = 0;
        for (uint32_t o = 0; o < outlets_at(g, stop); o++) {
            const struct outlet *const outlet = at(g, stop, o);
            if (outlet->hop.link == HW_LINK_KINDS || !may_pass(search, outlet->hop.to, to) ||
                search->steps[outlet->hop.to] != search->steps[stop] - 1)
                continue;
            ways++;
            if (outlet->listed >= before && outlet->listed < least) {
                least = outlet->listed;
                *chosen = o;
            }
        }
        before = least + 1;
    }
    return ways;
}

/* As in a fat tree: the ways up are dealt out by the destination's digits, level by level. */
static uint32_t by_digits(const struct search *search, uint32_t stop, uint32_t to, uint32_t ways)
{
    const uint32_t level = search->level[stop] < 32 ? search->level[stop] : 31;
    return to / search->below[level] % ways;
}

static bool route_to(struct search *search, uint32_t to)
{
    const struct building *const b = search->b;
    struct graph *const g = b->g;
    count_steps(search, to);
    for (uint32_t stop = 0; stop < g->sips + g->switches; stop++) {
        uint32_t outlet = 0;
        if (stop == to || (stop >= g->sips && search->steps[stop] == UINT32_MAX))
            continue;
        if (search->steps[stop] == UINT32_MAX) {
            snprintf(b->why, HW_GRAPH_WHY_BYTES,
                     "no way leads from SIP %" PRIu32 " to SIP %" PRIu32, stop, to);
            return false;
        }
        const uint32_t ways = equal_ways(search, stop, to, 0, &outlet);
        if (ways > 1 && b->given->policy == HW_ROUTES_DESTINATION_DIGITS)
            (void)equal_ways(search, stop, to, by_digits(search, stop, to, ways), &outlet);
        if (g->row[stop] != NULL)
            g->row[stop][to] = (uint16_t)outlet;
        else
            g->only[stop] = (uint16_t)outlet;
    }
    return true;
}

/* Inner dimensions first, as in sip_dims.c. */
static void route_by_dims(const struct building *b)
{
    struct graph *const g = b->g;
    for (uint32_t stop = 0; stop < g->sips; stop++)
        for (uint32_t k = 0; k < g->dims.count; k++) {
            const struct hw_sip_dim *const dim = &g->dims.at[k];
            for (uint32_t place = 0; place < dim->size; place++) {
                if (place == hw_sip_coordinate(dim, stop))
                    continue;
                const uint16_t outlet = (uint16_t)outlet_along(b, dim, stop, place);
                /* all SIPs of this place that agree with this one in the dimensions before */
                for (uint32_t to = hw_sip_moved(dim, stop % (dim->stride * dim->size), place);
                     to < g->sips; to += dim->stride * dim->size)
                    if (g->row[stop] != NULL)
                        g->row[stop][to] = outlet;
                    else
                        g->only[stop] = outlet;
            }
        }
    for (uint32_t stop = g->sips; stop < g->sips + g->switches; stop++)
        for (uint32_t k = 0; k < g->dims.count; k++) {
            const struct hw_sip_dim *const dim = &g->dims.at[k];
            if (dim->joint != HW_SIP_SWITCH || outlets_at(g, stop) != dim->size ||
                switch_of(b, dim, at(g, stop, 0)->hop.to) != stop)
                continue;
            for (uint32_t to = 0; g->row[stop] != NULL && to < g->sips; to++)
                g->row[stop][to] = (uint16_t)hw_sip_coordinate(dim, to);
        }
}

static bool make_rows(const struct graph *g)
{
    for (uint32_t stop = 0; stop < g->sips + g->switches; stop++) {
        uint32_t links = 0;
        for (uint32_t o = 0; o < outlets_at(g, stop); o++)
            links += at(g, stop, o)->hop.link < HW_LINK_KINDS;
        if (links < 2)
            continue;
        g->row[stop] = calloc(g->sips, sizeof **g->row);
        if (g->row[stop] == NULL)
            return false;
    }
    return true;
}

/* Levels, and the ways of each, for routes by digits. */
static void find_levels(struct search *search)
{
    const struct graph *const g = search->b->g;
    const uint32_t stops = g->sips + g->switches;
    uint32_t most[32] = {0}, chosen;
    for (uint32_t stop = 0; stop < stops; stop++)
        search->level[stop] = UINT32_MAX;
    for (uint32_t sip = 0; sip < g->sips; sip++) {
        count_steps(search, sip);
        for (uint32_t stop = 0; stop < stops; stop++) {
            if (search->steps[stop] < search->level[stop])
                search->level[stop] = search->steps[stop];
            if (stop == sip || search->steps[stop] == UINT32_MAX)
                continue;
        }
    }
    for (uint32_t sip = 0; sip < g->sips; sip++) {
        count_steps(search, sip);
        for (uint32_t stop = 0; stop < stops; stop++) {
            const uint32_t level = search->level[stop] < 32 ? search->level[stop] : 31;
            if (stop == sip || search->steps[stop] == UINT32_MAX)
                continue;
            const uint32_t ways = equal_ways(search, stop, sip, 0, &chosen);
            most[level] = ways > most[level] ? ways : most[level];
        }
    }
    search->below[0] = 1;
    for (uint32_t level = 0; level < 31; level++) {
        const uint64_t more = (uint64_t)search->below[level] * (most[level] > 0 ? most[level] : 1);
        search->below[level + 1] = more < g->sips ? (uint32_t)more : g->sips;
    }
}

static bool find_routes(struct building *b)
{
    struct search search = {.b = b};
    const size_t stops = (size_t)b->g->sips + b->g->switches;
    bool found = false;
    search.steps = calloc(stops, sizeof *search.steps);
    search.queue = calloc(stops, sizeof *search.queue);
    search.level = calloc(stops, sizeof *search.level);
    if (make_rows(b->g) && list_ways(&search) && search.steps != NULL && search.queue != NULL &&
        search.level != NULL) {
        found = true;
        if (b->given->policy == HW_ROUTES_DESTINATION_DIGITS)
            find_levels(&search);
        for (uint32_t to = 0; found && to < b->g->sips; to++)
            found = route_to(&search, to);
        if (found && b->given->policy == HW_ROUTES_DIMENSION_ORDER)
            route_by_dims(b);
    }
    free(search.steps);
    free(search.queue);
    free(search.level);
    free(search.ways.first);
    free(search.ways.from);
    free(search.ways.outlet);
    return found;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static const struct hw_topology_ops graph_ops = {
    .name = "graph",
    .is_listed = true,
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
    .dims = graph_dims,
};

static bool build(struct building *b)
{
    struct graph *const g = b->g;
    const size_t stops = (size_t)g->sips + g->switches;
    const size_t used = (size_t)g->sips * (HW_PORTS + 1);
    g->first = calloc(stops + 1, sizeof *g->first);
    g->row = calloc(stops, sizeof *g->row);
    g->only = calloc(stops, sizeof *g->only);
    g->switch_kind = calloc((size_t)g->switches + 1, sizeof *g->switch_kind);
    b->place = calloc(2 * (size_t)b->given->link_count + 1, sizeof *b->place);
    b->used = calloc(used > g->switches ? used : g->switches, sizeof *b->used);
    if (g->first == NULL || g->row == NULL || g->only == NULL || g->switch_kind == NULL ||
        b->place == NULL || b->used == NULL || !check_links(b) || !place_ends(b) ||
        !number_outlets(b))
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
    lead_back(g);
    return find_dims(b) && find_routes(b);
}

struct hw_topology_ops *hw_graph_create(const struct hw_graph_given *given,
                                        char why[HW_GRAPH_WHY_BYTES])
{
    struct graph *const g = calloc(1, sizeof *g);
    struct building b = {.g = g, .given = given, .why = why};
    why[0] = '\0';
    if (g == NULL)
        return NULL;
    g->ops = graph_ops;
    g->ops.lines = given->dims > 0 ? given->lines : HW_SIP_LINES_NONE;
    g->ops.is_grid = given->dims > 1;
    g->sips = given->sips;
    g->switches = given->switches;
    const bool built = build(&b);
    free(b.place);
    free(b.used);
    if (built)
        return &g->ops;
    hw_graph_free(&g->ops);
    return NULL;
}

void hw_graph_free(struct hw_topology_ops *graph)
{
    struct graph *const g = (struct graph *)(void *)graph;
    if (g == NULL)
        return;
    for (uint32_t stop = 0; g->row != NULL && stop < g->sips + g->switches; stop++)
        free(g->row[stop]);
    free(g->row);
    free(g->only);
    free(g->first);
    free(g->switch_kind);
    free(g->ends);
    free(g->outlet);
    free(g);
}
