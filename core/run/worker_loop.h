/*
 * worker_loop.h: a worker's loop in the parallel modes. Entered by the thread that the worker runs
 * on (parallel.c).
 */
#ifndef CORE_WORKER_LOOP_H
#define CORE_WORKER_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct timewarp;
struct worker;

/* Runs one worker until the run ends, or until the thread is to hand it over (gather.h). */
void worker_run(struct worker *worker);
/* Runs `count` neighbours on one thread, which take turns, until the same. `together`: this is the
 * thread to which all others have handed theirs over; until it is to give them back. */
void worker_run_in_turn(struct worker *first, uint32_t count, bool together);
/* Runs a part of a worker outside of its turns. False: it has failed, and the run ends. */
bool worker_guard(struct worker *worker, void (*part)(struct timewarp *));

#endif
