/*
 * schedule_lay.h: makes a program's steps from its schedule's. A part of
 * schedule_program.h.
 */
#ifndef COLLECTIVES_SCHEDULE_LAY_H
#define COLLECTIVES_SCHEDULE_LAY_H

#include "collectives/schedule/schedule_program.h"

/* Fills program->rank, which has room for the schedule's ranks, piece_tiles and peers; all else of
 * the program is there. CW_USAGE: the schedule does not fit; CW_NO_RESOURCE. */
int schedule_lay(struct schedule_program *program, const struct ccl_config *ccl,
                 struct cw_error *error);
/* Refuses a thread with more peers than a PE has queues. Returns CW_USAGE. */
int schedule_lay_refuse_peers(uint32_t rank, uint32_t thread, struct cw_error *error);

#endif
