/*
 * schedule_check.h: finds a schedule's faults before it runs, and reports them in its own terms:
 * gpu, tb and step of a file, rank, thread and step of an algorithm.
 *
 * 1. Structure: peers, chunks and awaited steps are there; a queue has one thread at each end, and
 *    both ends agree on the messages.
 * 2. Deadlock: steps that wait for each other in a circle, and rings that fill up forever.
 * 3. Hazards: two steps of a rank touch one chunk, one of them writes, and nothing orders them.
 * 4. Values: each output chunk holds the collective's result, each contribution once.
 *
 * Each part needs those before it, so the first one with faults is the last that is looked at. On
 * the host, one thread at a time.
 */
#ifndef COLLECTIVES_SCHEDULE_CHECK_H
#define COLLECTIVES_SCHEDULE_CHECK_H

#include "collectives/schedule/schedule.h"

struct schedule_faults;
struct schedule_values;

/*
 * CW_OK, or CW_USAGE with a line for each fault, or CW_NO_RESOURCE.
 *   slots   of a queue's ring, each for a tile of a chunk; 0: as many as are needed
 *   values  if not NULL, *values has the formulas of the outputs, or NULL on failure; the caller
 *           frees them (schedule_values.h)
 *   hazards if not NULL, hazards are reported there, and are not errors: a result may still be
 *   right
 */
int schedule_check(const struct schedule *schedule, uint32_t slots, struct schedule_values **values,
                   struct schedule_faults *hazards, struct cw_error *error);

/* The formulas of the outputs, checked against the collective's. Of the schedule, only the parts
 * that the formulas need are checked. The caller frees the formulas. NULL: as above. */
struct schedule_values *schedule_formulas(const struct schedule *schedule, struct cw_error *error);

/* The same, whatever the outputs hold. */
struct schedule_values *schedule_formulas_of_steps(const struct schedule *schedule,
                                                   struct cw_error *error);

/* Of a broadcast or a reduce, the root that its steps give: the rank whose input the first output
 * has that is another's; the first rank that has the whole sum. UINT32_MAX: they give none. */
uint32_t schedule_root_by_steps(const struct schedule *schedule);

#endif
