/*
 * graph_dims.c: dimensions of a graph (graph_parts.h). A dimension is what its links are in every
 * line of SIPs that differ in it alone: a ring or a line of links that are listed from a SIP to the
 * next; a link between every two; a switch for all.
 */
#include "hw/topology/graph_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "hw/topology/sip_dims.h"
#include "hw/topology/sip_grid.h"

/* The first outlet in the list that leads from a SIP to a stop. `onward`: that is listed so. */
static uint32_t outlet_to(const struct graph_building *b, uint32_t sip, uint32_t to, bool onward)
{
    uint32_t found = HW_OUTLETS_MAX, listed = UINT32_MAX;
    for (uint32_t o = 0; o < b->g->outlets; o++) {
        const struct graph_outlet *const outlet = graph_at(b->g, sip, o);
        if (outlet->hop.link == HW_LINK_KINDS || outlet->hop.to != to || outlet->listed > listed ||
            (onward && b->given->links[outlet->listed].from.stop != sip))
            continue;
        found = o;
        listed = outlet->listed;
    }
    return found;
}

static bool is_ring_or_line(const struct graph_building *b, const struct hw_sip_dim *dim)
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

static bool is_full(const struct graph_building *b, const struct hw_sip_dim *dim)
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
uint32_t graph_switch_of(const struct graph_building *b, const struct hw_sip_dim *dim, uint32_t sip)
{
    const uint32_t first = hw_sip_moved(dim, sip, 0);
    for (uint32_t o = 0; o < b->g->outlets; o++) {
        const struct hw_hop hop = graph_at(b->g, sip, o)->hop;
        if (hop.link == HW_LINK_KINDS || hop.to < b->g->sips ||
            graph_outlets_at(b->g, hop.to) != dim->size)
            continue;
        uint32_t place = 0;
        while (place < dim->size &&
               graph_at(b->g, hop.to, place)->hop.to == hw_sip_moved(dim, first, place))
            place++;
        if (place == dim->size)
            return hop.to;
    }
    return UINT32_MAX;
}

static bool is_switched(const struct graph_building *b, const struct hw_sip_dim *dim)
{
    for (uint32_t sip = 0; sip < b->g->sips; sip++)
        if (graph_switch_of(b, dim, sip) == UINT32_MAX)
            return false;
    return true;
}

static bool is_joined(const struct graph_building *b, const struct hw_sip_dim *dim)
{
    return dim->joint == HW_SIP_FULL     ? is_full(b, dim)
           : dim->joint == HW_SIP_SWITCH ? is_switched(b, dim)
                                         : is_ring_or_line(b, dim);
}

/* The outlet by which a SIP leaves towards a place in a dimension. */
uint32_t graph_outlet_along(const struct graph_building *b, const struct hw_sip_dim *dim,
                            uint32_t sip, uint32_t place)
{
    const uint32_t own = hw_sip_coordinate(dim, sip), n = dim->size;
    if (dim->joint == HW_SIP_FULL)
        return outlet_to(b, sip, hw_sip_moved(dim, sip, place), false);
    if (dim->joint == HW_SIP_SWITCH)
        return outlet_to(b, sip, graph_switch_of(b, dim, sip), false);
    if (hw_line_forward(n, dim->joint == HW_SIP_RING, own, place))
        return outlet_to(b, sip, hw_sip_moved(dim, sip, (own + 1) % n), true);
    const uint32_t before = hw_sip_moved(dim, sip, (own + n - 1) % n);
    const uint32_t back = graph_at(b->g, before, outlet_to(b, before, sip, true))->hop.back;
    return back != HW_ONE_WAY ? back : outlet_to(b, sip, before, false);
}

/* The class of its links, the first one's where they are of several. */
static enum hw_link_kind class_of(const struct graph_building *b, const struct hw_sip_dim *dim)
{
    return dim->size > 1 ? graph_at(b->g, 0, graph_outlet_along(b, dim, 0, 1))->hop.link
                         : HW_LINK_SIP_LINK;
}

bool graph_find_dims(struct graph_building *b)
{
    /* three in a ring have links between every two; two with one link are an open line only in a
     * machine of open lines */
    static const enum hw_sip_joint few[] = {HW_SIP_RING, HW_SIP_FULL, HW_SIP_LINE, HW_SIP_SWITCH},
                                   open[] = {HW_SIP_RING, HW_SIP_LINE, HW_SIP_FULL, HW_SIP_SWITCH},
                                   many[] = {HW_SIP_FULL, HW_SIP_RING, HW_SIP_LINE, HW_SIP_SWITCH};
    const enum hw_sip_joint *const fewest = b->given->lines == HW_SIP_LINES_OPEN ? open : few;
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
            dim->joint = dim->size > 3 ? many[joint] : dim->size == 3 ? few[joint] : fewest[joint];
            if (is_joined(b, dim))
                break;
            joint++;
        }
        dim->link = joint < 4 ? class_of(b, dim) : HW_LINK_KINDS;
        if (dim->link < HW_LINK_KINDS)
            continue;
        snprintf(b->why, HW_GRAPH_WHY_BYTES,
                 "dimension %" PRIu32 " of %" PRIu32
                 " SIPs is not joined; legal: in each of its lines a link from each SIP to the "
                 "next, or between every two, or one switch of these SIPs alone",
                 k + 1, dim->size);
        return false;
    }
    return true;
}
