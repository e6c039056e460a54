/*
 * dist_scale.h: operands that are multiplied before a sum, and sums that are divided after it
 * (collectives/data/scaling.h). A kernel does so while it reads and writes, at no cost in time;
 * here the host does it, before the launch and after the last kernel. Between drains, on one
 * thread.
 */
#ifndef COLLECTIVES_DIST_SCALE_H
#define COLLECTIVES_DIST_SCALE_H

#include "collectives/runtime/dist_internal.h"

/* The inputs of the call in flight, before anything else reads them. *kept: what they were, of
 * inputs that the call must leave alone; for dist_scale_results(). */
int dist_scale_operands(struct dist *dist, uint8_t **kept, struct cw_error *error);
/* The results; gives inputs back what they were, and frees *kept. */
int dist_scale_results(struct dist *dist, uint8_t **kept, struct cw_error *error);

#endif
