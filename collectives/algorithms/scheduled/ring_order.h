/*
 * ring_order.h: in which order a ring goes through all ranks, so that neighbours on it are
 * neighbours on the machine as far as there is such an order. Pure.
 */
#ifndef COLLECTIVES_RING_ORDER_H
#define COLLECTIVES_RING_ORDER_H

#include "collectives/algorithm.h"

/*
 * Fills order[world_size] with ranks. On a grid of SIPs with an even side the ring is closed by a
 * single link; on one of two odd sides the last step is longer. On paired dies, sio and hccs take
 * turns. Where links are listed one by one it is a short closed walk, or several that share no link
 * (hw/sip_walk.h). Elsewhere, and where the ranks are not the SIPs of the machine, the
 * ranks are in ascending order. Returns the number of orders: each has world_size ranks.
 */
uint32_t ring_order(const struct ccl_call *call, uint32_t *order);
/* Ranks that ring_order() fills in. */
size_t ring_orders(const struct ccl_call *call);

/* The ranks level by level: those of a group follow each other. The caller frees it. NULL: in
 * ascending order, and where there is no memory. */
uint32_t *level_order(const struct ccl_call *call);

/* The ranks are all SIPs of the machine, in their order. */
bool ring_order_by_sip(const struct ccl_call *call);

#endif
