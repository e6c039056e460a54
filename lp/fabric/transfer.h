/*
 * transfer.h: the way of a transfer from a router of a cube on. Handlers only.
 */
#ifndef LP_TRANSFER_H
#define LP_TRANSFER_H

#include "lp/lp_run.h"

/* From `router` on towards the transfer's destination: its PE in this cube, or out of the cube by a
 * port that is noted in the transfer. */
void lp_route_on(struct lp_run *run, struct lp_sender sender, struct hw_flight *flight,
                 struct lp_transfer *transfer, uint32_t router);

#endif
