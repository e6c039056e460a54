/*
 * worker_loop.h: a worker's loop in the parallel modes. Entered by the thread that the worker runs
 * on (parallel.c).
 */
#ifndef CORE_WORKER_LOOP_H
#define CORE_WORKER_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct worker;

/* Runs `count` workers that are neighbours on the calling thread, until the run ends, or until the
 * thread is to hand them over (gather.h). Several take turns. `together`: this is the thread to
 * which all others have handed theirs over; until it is to give them back. */
void worker_run(struct worker *first, uint32_t count, bool together);

#endif
