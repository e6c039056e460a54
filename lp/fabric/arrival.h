/*
 * arrival.h: data at its destination's router, on the way to a queue, a memory or a waiting kernel.
 */
#ifndef LP_ARRIVAL_H
#define LP_ARRIVAL_H

#include "lp/lp_run.h"

/* A transfer that is no control message is at `router` of its destination's cube. */
void lp_data_arrived(struct lp_run *run, struct lp_sender sender, struct hw_flight *flight,
                     const struct lp_transfer *transfer, uint32_t router);

#endif
