/*
 * dist_scale.h: operands that are multiplied before a sum, and sums that are divided after it
 * (collectives/data/scaling.h). A kernel does so while it reads and writes, at no cost in time;
 * here the host does it, before the launch and after the rank's last kernel. Between drains, on one
 * thread.
 */
#ifndef COLLECTIVES_DIST_SCALE_H
#define COLLECTIVES_DIST_SCALE_H

#include "collectives/runtime/dist_internal.h"

/* A rank's input, before anything else reads it. What it was is kept, of an input that the call
 * must leave alone. */
int dist_scale_operand(struct dist_work *work, uint32_t rank, struct cw_error *error);
/* Its result, before the rank continues; gives the input back what it was. */
int dist_scale_results(struct dist_work *work, uint32_t rank, struct cw_error *error);

#endif
