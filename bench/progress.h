/*
 * progress.h: the line that says on a terminal how far a run is. On standard error, written over
 * itself a few times a second, and cleared before anything else is printed.
 */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include "collectives/distributed.h"

/* dist_options.progress, with the session as its argument. */
void progress_show(void *session, struct dist *dist, const struct cw_progress *progress);
void progress_clear(void);

#endif
