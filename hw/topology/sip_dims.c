/*
 * sip_dims.c: SIPs as a product of dimensions (sip_dims.h).
 */
#include "hw/topology/sip_dims.h"

#include <inttypes.h>
#include <stdio.h>

#include "hw/topology/sip_grid.h"

/* ---- dimensions ------------------------------------------------------------------------------ */

uint32_t hw_sip_dims_product(const struct hw_sip_dims *dims)
{
    uint64_t product = 1;
    for (uint32_t k = 0; k < dims->count && product < UINT32_MAX; k++)
        product *= dims->at[k].size;
    return product < UINT32_MAX ? (uint32_t)product : UINT32_MAX;
}

void hw_sip_dims_add(struct hw_sip_dims *dims, enum hw_sip_joint joint, uint32_t size,
                     enum hw_link_kind link)
{
    const uint32_t stride = hw_sip_dims_product(dims);
    dims->at[dims->count++] =
        (struct hw_sip_dim){.joint = joint, .link = link, .size = size, .stride = stride};
}

/* The SIP `steps` further in this dimension, which wraps. */
static uint32_t sip_further(const struct hw_sip_dim *dim, uint32_t sip, uint32_t steps)
{
    return hw_sip_moved(dim, sip, (hw_sip_coordinate(dim, sip) + steps) % dim->size);
}

uint32_t hw_dim_degree(const struct hw_sip_dim *dim)
{
    if (dim->size < 2)
        return 0;
    switch (dim->joint) {
    case HW_SIP_RING:
        return 2;
    case HW_SIP_LINE:
        return dim->size > 2 ? 2 : 1;
    case HW_SIP_FULL:
        return dim->size - 1;
    case HW_SIP_SWITCH:
        return 1;
    }
    return 0;
}

uint64_t hw_dim_bisection(const struct hw_config *hw, const struct hw_sip_dim *dim)
{
    const uint64_t lines = hw->sip_count / dim->size, half = dim->size / 2;
    if (dim->size < 2)
        return 0;
    switch (dim->joint) {
    case HW_SIP_RING:
        return 2 * lines;
    case HW_SIP_LINE:
        return lines;
    case HW_SIP_FULL:
        return half * (dim->size - half) * lines;
    case HW_SIP_SWITCH:
        return half * lines;
    }
    return 0;
}

uint32_t hw_dim_diameter(const struct hw_sip_dim *dim)
{
    switch (dim->joint) {
    case HW_SIP_RING:
        return dim->size / 2;
    case HW_SIP_LINE:
        return dim->size - 1;
    default:
        return dim->size > 1;
    }
}

/* ---- outlets --------------------------------------------------------------------------------- */

enum { FORWARD, BACKWARD }; /* outlets of a ring or a line, by number in their dimension */

uint32_t hw_sip_dim_outlets(const struct hw_sip_dim *dim)
{
    switch (dim->joint) {
    case HW_SIP_FULL:
        return dim->size - 1;
    case HW_SIP_SWITCH:
        return 1;
    default:
        return 2;
    }
}

/* Numbers of outlets leave out the number that means none. */
static uint32_t outlet_at(uint32_t place) { return place + (place >= HW_OUTLET_NONE); }

uint32_t hw_sip_dims_outlets(const struct hw_config *hw)
{
    uint32_t places = 0;
    for (uint32_t k = 0; k < hw->sip_dims.count; k++)
        places += hw_sip_dim_outlets(&hw->sip_dims.at[k]);
    return places <= HW_PORTS ? HW_PORTS : outlet_at(places - 1) + 1;
}

bool hw_sip_dims_find_outlet(const struct hw_sip_dims *dims, uint32_t outlet, uint32_t *dim,
                             uint32_t *index)
{
    uint32_t place = outlet - (outlet > HW_OUTLET_NONE);
    for (uint32_t k = 0; k < dims->count && outlet != HW_OUTLET_NONE; k++) {
        const uint32_t own = hw_sip_dim_outlets(&dims->at[k]);
        if (place < own) {
            *dim = k;
            *index = place;
            return true;
        }
        place -= own;
    }
    return false;
}

/* The outlet with this number in its dimension. */
static uint32_t outlet_of(const struct hw_sip_dims *dims, uint32_t dim, uint32_t index)
{
    for (uint32_t k = 0; k < dim; k++)
        index += hw_sip_dim_outlets(&dims->at[k]);
    return outlet_at(index);
}

/* Where the links of a full dimension leave: E and S, their other ends W and N. */
static enum hw_port full_side(uint32_t size, uint32_t further)
{
    if (2 * further <= size)
        return further % 2 != 0 ? HW_PORT_E : HW_PORT_S;
    return (size - further) % 2 != 0 ? HW_PORT_W : HW_PORT_N;
}

static enum hw_port side_of(const struct hw_sip_dims *dims, uint32_t dim, uint32_t index)
{
    static const enum hw_port in_turn[HW_PORTS] = {HW_PORT_E, HW_PORT_S, HW_PORT_W, HW_PORT_N};
    if (dims->at[dim].joint == HW_SIP_FULL)
        return full_side(dims->at[dim].size, index + 1);
    if (dims->at[dim].joint == HW_SIP_SWITCH)
        return in_turn[dim % HW_PORTS];
    return in_turn[dim % 2 + (index == BACKWARD ? 2 : 0)];
}

/* The outlet at the other end of a link. */
static uint32_t index_at_other_end(const struct hw_sip_dim *dim, uint32_t index)
{
    switch (dim->joint) {
    case HW_SIP_FULL:
        return dim->size - 2 - index;
    case HW_SIP_SWITCH:
        return index;
    default:
        return index == FORWARD ? BACKWARD : FORWARD;
    }
}

/* A queue of the global directions leaves by the ring of the first two dimensions. Elsewhere the
 * neighbour may be several links away. */
static uint32_t global_exit(const struct hw_sip_dims *dims, enum hw_port port)
{
    const uint32_t dim = port == HW_PORT_N || port == HW_PORT_S;
    const bool is_ring =
        dim < dims->count && dims->at[dim].joint == HW_SIP_RING && dims->at[dim].size > 1;
    return is_ring
               ? outlet_of(dims, dim, port == HW_PORT_E || port == HW_PORT_S ? FORWARD : BACKWARD)
               : HW_OUTLET_NONE;
}

struct hw_sip_port hw_sip_dims_outlet(const struct hw_config *hw, uint32_t outlet)
{
    const struct hw_sip_dims *const dims = &hw->sip_dims;
    struct hw_sip_port port = {.link = HW_LINK_KINDS};
    uint32_t dim, index;
    if (hw_sip_dims_find_outlet(dims, outlet, &dim, &index))
        port = (struct hw_sip_port){
            .link = dims->at[dim].link,
            .to_switch = dims->at[dim].joint == HW_SIP_SWITCH,
            .entry = (uint8_t)outlet_of(dims, dim, index_at_other_end(&dims->at[dim], index)),
            .side = side_of(dims, dim, index)};
    port.global_exit =
        (uint8_t)(outlet < HW_PORTS ? global_exit(dims, (enum hw_port)outlet) : HW_OUTLET_NONE);
    return port;
}

void hw_sip_dims_outlet_name(const struct hw_config *hw, uint32_t outlet,
                             char name[HW_OUTLET_NAME_BYTES])
{
    static const char letters[][2] = {"EW", "SN", "DU"};
    uint32_t k, index;
    name[0] = '\0';
    if (!hw_sip_dims_find_outlet(&hw->sip_dims, outlet, &k, &index))
        return;
    const struct hw_sip_dim *const dim = &hw->sip_dims.at[k];
    if (dim->joint == HW_SIP_SWITCH)
        snprintf(name, HW_OUTLET_NAME_BYTES, "switch");
    else if (dim->joint == HW_SIP_FULL)
        snprintf(name, HW_OUTLET_NAME_BYTES, "+%" PRIu32 " of %" PRIu32, index + 1, dim->size);
    else if (k < sizeof letters / sizeof *letters)
        snprintf(name, HW_OUTLET_NAME_BYTES, "%c", letters[k][index]);
    else
        snprintf(name, HW_OUTLET_NAME_BYTES, "%c%" PRIu32, index == FORWARD ? '+' : '-', k + 1);
}

/* ---- links ----------------------------------------------------------------------------------- */

/* Forward links of rings and lines. Of the links between every two SIPs: the links that lead less
 * than half way round, and the links that lead half way round from the lower half. */
static bool is_given_here(const struct hw_sip_dim *dim, uint32_t coordinate, uint32_t index)
{
    switch (dim->joint) {
    case HW_SIP_RING:
        return index == FORWARD && dim->size > 1;
    case HW_SIP_LINE:
        return index == FORWARD && coordinate + 1 < dim->size;
    case HW_SIP_FULL:
        return 2 * (index + 1) < dim->size ||
               (2 * (index + 1) == dim->size && coordinate < dim->size / 2);
    default:
        return true;
    }
}

bool hw_sip_dims_cable(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                       struct hw_cable *cable)
{
    uint32_t k, index;
    *cable = (struct hw_cable){.link = HW_LINK_KINDS};
    if (!hw_sip_dims_find_outlet(&hw->sip_dims, outlet, &k, &index))
        return false;
    const struct hw_sip_dim *const dim = &hw->sip_dims.at[k];
    cable->link = dim->link;
    cable->to_switch = dim->joint == HW_SIP_SWITCH;
    cable->to = cable->to_switch ? hw_sip_dims_switch_of(hw, sip, outlet)
                                 : sip_further(dim, sip, index + 1);
    return is_given_here(dim, hw_sip_coordinate(dim, sip), index);
}

/* ---- switches: numbered dimension by dimension ----------------------------------------------- */

static uint32_t switches_in(const struct hw_config *hw, uint32_t dim)
{
    return hw->sip_dims.at[dim].joint == HW_SIP_SWITCH ? hw->sip_count / hw->sip_dims.at[dim].size
                                                       : 0;
}

uint32_t hw_sip_dims_switch_count(const struct hw_config *hw)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < hw->sip_dims.count; k++)
        count += switches_in(hw, k);
    return count;
}

/* The SIPs of a dimension that differ in it alone have one number: their own, without the
 * coordinate. */
static uint32_t group_of(const struct hw_sip_dim *dim, uint32_t sip)
{
    return sip / (dim->stride * dim->size) * dim->stride + sip % dim->stride;
}

uint32_t hw_sip_dims_switch_of(const struct hw_config *hw, uint32_t sip, uint32_t outlet)
{
    uint32_t dim = 0, index, first = 0;
    (void)hw_sip_dims_find_outlet(&hw->sip_dims, outlet, &dim, &index);
    for (uint32_t k = 0; k < dim; k++)
        first += switches_in(hw, k);
    return first + group_of(&hw->sip_dims.at[dim], sip);
}

/* The dimension of a switch, and the SIP on it whose coordinate there is 0. */
static const struct hw_sip_dim *dim_of_switch(const struct hw_config *hw, uint32_t number,
                                              uint32_t *first_sip)
{
    uint32_t k = 0;
    for (; k + 1 < hw->sip_dims.count && number >= switches_in(hw, k); k++)
        number -= switches_in(hw, k);
    const struct hw_sip_dim *const dim = &hw->sip_dims.at[k];
    *first_sip = number / dim->stride * dim->stride * dim->size + number % dim->stride;
    return dim;
}

uint32_t hw_sip_dims_switch_next(const struct hw_config *hw, uint32_t sip, uint32_t outlet)
{
    uint32_t dim = 0, index;
    (void)hw_sip_dims_find_outlet(&hw->sip_dims, outlet, &dim, &index);
    return sip_further(&hw->sip_dims.at[dim], sip, 1);
}

uint32_t hw_sip_dims_switch_links_max(const struct hw_config *hw)
{
    uint32_t most = 0;
    for (uint32_t k = 0; k < hw->sip_dims.count; k++)
        if (switches_in(hw, k) > 0 && hw->sip_dims.at[k].size > most)
            most = hw->sip_dims.at[k].size;
    return most;
}

uint32_t hw_sip_dims_switch_link(const struct hw_config *hw, uint32_t number, uint32_t sip)
{
    uint32_t first;
    return hw_sip_coordinate(dim_of_switch(hw, number, &first), sip);
}

uint32_t hw_sip_dims_switch_sip(const struct hw_config *hw, uint32_t number, uint32_t link)
{
    uint32_t first;
    const struct hw_sip_dim *const dim = dim_of_switch(hw, number, &first);
    return first + link * dim->stride;
}

enum hw_link_kind hw_sip_dims_switch_kind(const struct hw_config *hw, uint32_t number)
{
    uint32_t first;
    return dim_of_switch(hw, number, &first)->link;
}

/* ---- routes ---------------------------------------------------------------------------------- */

static uint32_t index_towards(const struct hw_sip_dim *dim, uint32_t from, uint32_t to)
{
    switch (dim->joint) {
    case HW_SIP_FULL:
        return (to + dim->size - from) % dim->size - 1;
    case HW_SIP_SWITCH:
        return 0;
    default:
        return hw_line_forward(dim->size, dim->joint == HW_SIP_RING, from, to) ? FORWARD : BACKWARD;
    }
}

uint32_t hw_sip_dims_exit(const struct hw_config *hw, uint32_t sip, uint32_t to_sip)
{
    uint32_t place = 0;
    for (uint32_t k = 0; k < hw->sip_dims.count; k++) {
        const struct hw_sip_dim *const dim = &hw->sip_dims.at[k];
        const uint32_t from = hw_sip_coordinate(dim, sip), to = hw_sip_coordinate(dim, to_sip);
        if (from != to)
            return outlet_at(place + index_towards(dim, from, to));
        place += hw_sip_dim_outlets(dim);
    }
    return 0;
}

uint32_t hw_sip_dims_next(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                          uint32_t to_sip)
{
    uint32_t k, index;
    if (!hw_sip_dims_find_outlet(&hw->sip_dims, outlet, &k, &index))
        return to_sip;
    const struct hw_sip_dim *const dim = &hw->sip_dims.at[k];
    if (dim->joint == HW_SIP_SWITCH)
        return hw_sip_moved(dim, sip, hw_sip_coordinate(dim, to_sip));
    if (dim->joint == HW_SIP_FULL)
        return sip_further(dim, sip, index + 1);
    return sip_further(dim, sip, index == FORWARD ? 1 : dim->size - 1);
}

uint32_t hw_sip_dims_switch_exit(const struct hw_config *hw, uint32_t number, uint32_t to_sip)
{
    uint32_t first;
    const struct hw_sip_dim *const dim = dim_of_switch(hw, number, &first);
    return first + hw_sip_coordinate(dim, to_sip) * dim->stride;
}

/* ---- lower bounds ---------------------------------------------------------------------------- */

uint32_t hw_sip_dims_distance(const struct hw_config *hw, uint32_t from, uint32_t to)
{
    uint32_t links = 0;
    for (uint32_t k = 0; k < hw->sip_dims.count; k++) {
        const struct hw_sip_dim *const dim = &hw->sip_dims.at[k];
        const uint32_t a = hw_sip_coordinate(dim, from), b = hw_sip_coordinate(dim, to);
        if (dim->joint == HW_SIP_FULL || dim->joint == HW_SIP_SWITCH)
            links += a != b;
        else
            links +=
                hw_grid_distance((struct hw_grid){dim->size, 1, dim->joint == HW_SIP_RING}, a, b);
    }
    return links;
}

uint32_t hw_sip_dims_diameter(const struct hw_config *hw)
{
    uint32_t links = 0;
    for (uint32_t k = 0; k < hw->sip_dims.count; k++)
        links += hw_dim_diameter(&hw->sip_dims.at[k]);
    return links;
}
