/*
 * sequential.h: CW_SEQUENTIAL: one thread, one queue, no undo. On the host's thread.
 */
#ifndef CORE_SEQUENTIAL_H
#define CORE_SEQUENTIAL_H

#include "core/cw.h"

/* Handles and commits events until none before the end is left. Returns an enum cw_exit. */
int sequential_drain(struct cw_sim *sim, struct cw_error *error);

/* The number of committed events, above this one, at which the clock takes its next sample. */
uint64_t sequential_next_look(uint64_t committed);

#endif
