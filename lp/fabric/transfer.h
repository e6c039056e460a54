/*
 * transfer.h: where a transfer goes from a router of a cube. Handlers only.
 */
#ifndef LP_TRANSFER_H
#define LP_TRANSFER_H

#include "lp/lp_view.h"

/* Takes the transfer from `router` to its PE in this cube, or out of the cube to the next LP, by a
 * port that is noted in the transfer. */
void lp_route_on(struct lp_view *view, struct lp_sender sender, struct hw_flight *flight,
                 struct lp_transfer *transfer, uint32_t router);

#endif
