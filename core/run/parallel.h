/*
 * parallel.h: the host's side of the modes that handle events out of order: creating the
 * workers' data, running the workers for a drain, and freeing the data. On the host's thread.
 */
#ifndef CORE_PARALLEL_H
#define CORE_PARALLEL_H

#include "core/cw.h"

/* Creates the data that the parallel modes need beside the workers. Returns an enum cw_exit. */
int parallel_create(struct cw_sim *sim, struct cw_error *error);
/* Accepts a simulation that parallel_create() has not finished, and a sequential one. */
void parallel_free(struct cw_sim *sim);
/* Runs all workers until no event before the end is left. Returns an enum cw_exit. */
int parallel_drain(struct cw_sim *sim, struct cw_error *error);
/* See cw_each_worker(). */
void parallel_each_worker(struct cw_sim *sim, cw_worker_fn fn, void *arg);

#endif
