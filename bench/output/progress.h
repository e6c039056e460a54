/*
 * progress.h: the line that says on a terminal how far a run is, and how long it will take. On
 * standard error, written over itself a few times a second, and cleared before anything else is
 * printed. One thread at a time.
 *
 * A run of several sizes is estimated by events: a call has a + b x tiles of them, and the last two
 * sizes that were done give a and b; within a size, the calls that are done give them.
 */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/cw.h"

/* Events of a call by its tiles. Zero-initialised: nothing is known. */
struct event_estimate {
    double tiles[2], events[2]; /* of the last sizes, the latest first */
    size_t known;
};

void event_estimate_note(struct event_estimate *estimate, double tiles, double events);
/* 0: nothing is known. */
double event_estimate_of(const struct event_estimate *estimate, double tiles);

/* The progress line as it was shown last. Zero-initialised: it was not shown yet. */
struct progress_line {
    double shown_s;
    uint64_t shown_events;
    size_t size, sizes;   /* the current size, from 1; sizes 0: there are none */
    uint64_t begun;       /* committed events when it began */
    double begun_s;       /* and when that was */
    double expected;      /* events of this size; 0: not known */
    double expected_rest; /* of all sizes after it; 0: none, or not known */
};

/* `done_percent` of `whole` is done: of the run, or of its present step. */
void progress_show(struct progress_line *line, const struct cw_progress *progress,
                   double done_percent, const char *whole);
/* "size 3 of 9, 42 % of 12.3 M events, ETA 1 min 20 s, ..." */
void progress_show_size(struct progress_line *line, const struct cw_progress *progress);
/* The same without its ends, for other lines: bytes of buf that are enough for any time. */
#define PROGRESS_ETA_BYTES 32u
const char *progress_eta(double seconds, char buf[PROGRESS_ETA_BYTES]);
void progress_clear(void);

#endif
