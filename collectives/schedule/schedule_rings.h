/*
 * schedule_rings.h: rings that fill up for ever. A part of schedule_check.h.
 */
#ifndef COLLECTIVES_SCHEDULE_RINGS_H
#define COLLECTIVES_SCHEDULE_RINGS_H

#include "collectives/schedule/schedule_graph.h"

/* Faults: each thread that waits for ever where each queue has a ring of so many slots, and a chunk
 * is one tile. All the graph's steps are ordered. */
void schedule_rings_check(const struct schedule_graph *graph, uint32_t slots,
                          struct schedule_faults *faults);

#endif
