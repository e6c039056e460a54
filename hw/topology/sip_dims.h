/*
 * sip_dims.h: operations shared by the topologies whose SIPs are a product of dimensions (struct
 * hw_sip_dims of hw_config.h): torus_3d, fully_connected and levels. Pure functions, which a
 * topology names in its operations.
 *
 * Outlets are numbered dimension by dimension, from the first on, without the number 4
 * (HW_OUTLET_NONE). In a dimension of n SIPs:
 *
 *   ring, line  two: forward, to the next coordinate, and backward
 *   full        n - 1: outlet d - 1 leads to the coordinate d further, modulo n
 *   switch      one
 *
 * Sides of the IO die. Rings and lines of the first, third, ... dimension go forward at E and
 * backward at W; the others do so at S and N. The links of a full dimension are spread over all
 * four sides: E and S to those with d < n / 2, W and N to their other ends, so that a link that
 * leaves one SIP at E enters the other at W. A link with d = n / 2 is at the same side of both. The
 * switch of dimension k is at E, S, W, N in turn.
 *
 * Routes put the coordinates right one after the other, the first dimension first.
 */
#ifndef HW_SIP_DIMS_H
#define HW_SIP_DIMS_H

#include "hw/topology/topology.h"

/* The members of struct hw_topology_ops that are the same for all these topologies. */
#define HW_SIP_DIMS_OPERATIONS                                                                     \
    .neighbour = hw_sip_grid_neighbour, .global_exit = hw_sip_dims_global_exit,                    \
    .switches = hw_sip_dims_switches, .outlets = hw_sip_dims_outlets,                              \
    .switch_outlets = hw_sip_dims_switch_outlets, .side = hw_sip_dims_side,                        \
    .outlet_name = hw_sip_dims_outlet_name, .hop = hw_sip_dims_hop, .exit = hw_sip_dims_exit

/* Operations of struct hw_topology_ops. */
uint32_t hw_sip_dims_global_exit(const struct hw_config *hw, uint32_t sip, enum hw_port port);
uint32_t hw_sip_dims_switches(const struct hw_config *hw);
uint32_t hw_sip_dims_outlets(const struct hw_config *hw);
uint32_t hw_sip_dims_switch_outlets(const struct hw_config *hw);
enum hw_port hw_sip_dims_side(const struct hw_config *hw, uint32_t outlet);
struct hw_hop hw_sip_dims_hop(const struct hw_config *hw, uint32_t stop, uint32_t outlet);
uint32_t hw_sip_dims_exit(const struct hw_config *hw, uint32_t stop, uint32_t to_sip, uint32_t key);

/* The name of an outlet: "E", "W", "S", "N", "D", "U" of rings and lines of the first three
 * dimensions, "+4" and "-4" of the fourth, "+1 of 7" of full ones, "switch" of switches. */
void hw_sip_dims_outlet_name(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                             char name[HW_OUTLET_NAME_BYTES]);

/* Outlets of a SIP in one dimension. */
uint32_t hw_sip_dim_outlets(const struct hw_sip_dim *dim);
/* The dimension of an outlet, and the outlet's number in the dimension. False: no
 * dimension has that outlet. */
bool hw_sip_dims_find_outlet(const struct hw_sip_dims *dims, uint32_t outlet, uint32_t *dim,
                             uint32_t *index);

/* In one dimension: links that leave a SIP (of a line: one inside it); links, one way, between the
 * two halves of the SIPs, over all lines of the dimension; steps between the farthest two. */
uint32_t hw_dim_degree(const struct hw_sip_dim *dim);
uint64_t hw_dim_bisection(const struct hw_config *hw, const struct hw_sip_dim *dim);
uint32_t hw_dim_diameter(const struct hw_sip_dim *dim);
/* One more dimension, whose stride is the number of SIPs so far. */
void hw_sip_dims_add(struct hw_sip_dims *dims, enum hw_sip_joint joint, uint32_t size,
                     enum hw_link_kind link);
/* SIPs of the product, at most 2^32 - 1. */
uint32_t hw_sip_dims_product(const struct hw_sip_dims *dims);

#endif
