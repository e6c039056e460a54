/*
 * worker_loop.h: a worker's loop in the parallel modes. Entered by the thread that the worker runs
 * on (parallel.c).
 */
#ifndef CORE_WORKER_LOOP_H
#define CORE_WORKER_LOOP_H

#include <stdint.h>

struct worker;

/* Runs one worker until the run ends. */
void worker_run(struct worker *worker);
/* Runs `count` neighbours on one thread, which take turns, until the run ends. */
void worker_run_in_turn(struct worker *first, uint32_t count);

#endif
