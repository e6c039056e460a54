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
    case HW_SIP_OTHER:
        break;
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
    case HW_SIP_OTHER:
        break;
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
    return dim->joint == HW_SIP_FULL ? dim->size - 2 - index
           : index == FORWARD        ? BACKWARD
                                     : FORWARD;
}

/* A queue of the global directions leaves by the ring of the first two dimensions. Elsewhere the
 * neighbour may be several links away. */
uint32_t hw_sip_dims_global_exit(const struct hw_config *hw, uint32_t sip, enum hw_port port)
{
    const struct hw_sip_dims *const dims = &hw->sip_dims;
    const uint32_t dim = port == HW_PORT_N || port == HW_PORT_S;
    const bool is_ring =
        dim < dims->count && dims->at[dim].joint == HW_SIP_RING && dims->at[dim].size > 1;
    (void)sip;
    return is_ring
               ? outlet_of(dims, dim, port == HW_PORT_E || port == HW_PORT_S ? FORWARD : BACKWARD)
               : HW_OUTLET_NONE;
}

enum hw_port hw_sip_dims_side(const struct hw_config *hw, uint32_t outlet)
{
    uint32_t dim, index;
    return hw_sip_dims_find_outlet(&hw->sip_dims, outlet, &dim, &index)
               ? side_of(&hw->sip_dims, dim, index)
               : HW_PORT_NONE;
}

void hw_sip_dims_outlet_name(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                             char name[HW_OUTLET_NAME_BYTES])
{
    (void)sip;
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

/* ---- switches: numbered dimension by dimension ----------------------------------------------- */

static uint32_t switches_in(const struct hw_config *hw, uint32_t dim)
{
    return hw->sip_dims.at[dim].joint == HW_SIP_SWITCH ? hw->sip_count / hw->sip_dims.at[dim].size
                                                       : 0;
}

uint32_t hw_sip_dims_switches(const struct hw_config *hw)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < hw->sip_dims.count; k++)
        count += switches_in(hw, k);
    return count;
}

uint32_t hw_sip_dims_switch_outlets(const struct hw_config *hw)
{
    uint32_t most = 0;
    for (uint32_t k = 0; k < hw->sip_dims.count; k++)
        if (switches_in(hw, k) > 0 && hw->sip_dims.at[k].size > most)
            most = hw->sip_dims.at[k].size;
    return most;
}

/* The SIPs of a dimension that differ in it alone have one number: their own, without the
 * coordinate. */
static uint32_t group_of(const struct hw_sip_dim *dim, uint32_t sip)
{
    return sip / (dim->stride * dim->size) * dim->stride + sip % dim->stride;
}

static uint32_t switch_of(const struct hw_config *hw, uint32_t dim, uint32_t sip)
{
    uint32_t number = group_of(&hw->sip_dims.at[dim], sip);
    for (uint32_t k = 0; k < dim; k++)
        number += switches_in(hw, k);
    return number;
}

/* The dimension of a switch; *first_sip is the SIP on it whose coordinate there is 0. */
static uint32_t dim_of_switch(const struct hw_config *hw, uint32_t number, uint32_t *first_sip)
{
    uint32_t k = 0;
    for (; k + 1 < hw->sip_dims.count && number >= switches_in(hw, k); k++)
        number -= switches_in(hw, k);
    const struct hw_sip_dim *const dim = &hw->sip_dims.at[k];
    *first_sip = number / dim->stride * dim->stride * dim->size + number % dim->stride;
    return k;
}

/* ---- links ----------------------------------------------------------------------------------- */

static struct hw_hop switch_hop(const struct hw_config *hw, uint32_t number, uint32_t outlet)
{
    const struct hw_sip_dims *const dims = &hw->sip_dims;
    uint32_t first;
    const uint32_t k = dim_of_switch(hw, number, &first);
    const struct hw_sip_dim *const dim = &dims->at[k];
    if (outlet >= dim->size)
        return (struct hw_hop){.link = HW_LINK_KINDS};
    return (struct hw_hop){dim->link, side_of(dims, k, 0), first + outlet * dim->stride,
                           outlet_of(dims, k, 0)};
}

/* Coordinates that a link of a ring or a line, or of one between every two SIPs, leads on by. */
static uint32_t steps_of(const struct hw_sip_dim *dim, uint32_t index)
{
    if (dim->joint == HW_SIP_FULL)
        return index + 1;
    return index == FORWARD ? 1 : dim->size - 1;
}

static bool has_link(const struct hw_sip_dim *dim, uint32_t coordinate, uint32_t index)
{
    if (dim->joint == HW_SIP_LINE)
        return index == FORWARD ? coordinate + 1 < dim->size : coordinate > 0;
    return dim->size > 1 || dim->joint == HW_SIP_SWITCH;
}

struct hw_hop hw_sip_dims_hop(const struct hw_config *hw, uint32_t stop, uint32_t outlet)
{
    const struct hw_sip_dims *const dims = &hw->sip_dims;
    uint32_t k, index;
    if (hw_is_switch(hw, stop))
        return switch_hop(hw, stop - hw->sip_count, outlet);
    if (!hw_sip_dims_find_outlet(dims, outlet, &k, &index) ||
        !has_link(&dims->at[k], hw_sip_coordinate(&dims->at[k], stop), index))
        return (struct hw_hop){.link = HW_LINK_KINDS};
    const struct hw_sip_dim *const dim = &dims->at[k];
    if (dim->joint == HW_SIP_SWITCH)
        return (struct hw_hop){dim->link, HW_PORT_NONE, hw->sip_count + switch_of(hw, k, stop),
                               hw_sip_coordinate(dim, stop)};
    const uint32_t back = index_at_other_end(dim, index);
    return (struct hw_hop){dim->link, side_of(dims, k, back),
                           sip_further(dim, stop, steps_of(dim, index)), outlet_of(dims, k, back)};
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

uint32_t hw_sip_dims_exit(const struct hw_config *hw, uint32_t stop, uint32_t to_sip, uint32_t key)
{
    (void)key;
    uint32_t place = 0, first;
    if (hw_is_switch(hw, stop)) {
        const uint32_t k = dim_of_switch(hw, stop - hw->sip_count, &first);
        return hw_sip_coordinate(&hw->sip_dims.at[k], to_sip);
    }
    for (uint32_t k = 0; k < hw->sip_dims.count; k++) {
        const struct hw_sip_dim *const dim = &hw->sip_dims.at[k];
        const uint32_t from = hw_sip_coordinate(dim, stop), to = hw_sip_coordinate(dim, to_sip);
        if (from != to)
            return outlet_at(place + index_towards(dim, from, to));
        place += hw_sip_dim_outlets(dim);
    }
    return 0;
}
