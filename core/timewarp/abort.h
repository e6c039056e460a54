/*
 * abort.h: ends the run because a worker has run out of memory or found a bug. Any worker.
 */
#ifndef CORE_ABORT_H
#define CORE_ABORT_H

struct cw_sim;
struct worker;

/* Ends the run with this worker's failure, unless another worker was first. The others see it by
 * simulation_aborted(). */
void abort_run(struct cw_sim *sim, const struct worker *worker);

#endif
