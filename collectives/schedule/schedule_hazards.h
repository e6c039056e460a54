/*
 * schedule_hazards.h: chunks that two steps touch in no order: their contents then depend on
 * speed. A part of schedule_check.h.
 */
#ifndef COLLECTIVES_SCHEDULE_HAZARDS_H
#define COLLECTIVES_SCHEDULE_HAZARDS_H

#include "collectives/schedule/schedule_graph.h"

/* Faults: two steps of a rank that touch one chunk, of which one writes, with no order between
 * them through threads, waits and messages. */
void schedule_hazards_check(const struct schedule_graph *graph, struct schedule_faults *faults);

#endif
