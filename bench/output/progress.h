/*
 * progress.h: the line that says on a terminal how far a run is. On standard error, written over
 * itself a few times a second, and cleared before anything else is printed.
 */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include "core/cw.h"

/* The progress line as it was shown last. Zero-initialised: it was not shown yet. */
struct progress_line {
    double shown_s;
    uint64_t shown_events;
};

/* `done_percent` of `whole` is done: of the run, or of its present step. */
void progress_show(struct progress_line *line, const struct cw_progress *progress,
                   double done_percent, const char *whole);
void progress_clear(void);

#endif
