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
 * turns. Elsewhere, and where the ranks are not the SIPs of the machine, the ranks are in
 * ascending order.
 */
void ring_order(const struct ccl_call *call, uint32_t *order);

/* The ranks are all SIPs of the machine, in their order. */
bool ring_order_by_sip(const struct ccl_call *call);

#endif
