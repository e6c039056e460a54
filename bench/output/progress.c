/*
 * progress.c: see progress.h.
 */
#include "bench/output/progress.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/host/clock.h"

#define SECONDS_BETWEEN 0.2

void progress_show(struct progress_line *line, const struct cw_progress *progress,
                   double done_percent, const char *whole)
{
    const double now_s = clock_s(), since_s = now_s - line->shown_s;
    if (since_s < SECONDS_BETWEEN)
        return;
    const double rate = (double)(progress->events_committed - line->shown_events) / since_s;
    if (line->shown_events > 0) {
        flockfile(stderr); /* a warning may come at the same time, from another thread */
        fprintf(stderr, "\rGVT %.3f us, %.0f %% of %s, %.1f M events/s",
                (double)progress->gvt_ps * 1e-6, done_percent, whole, rate * 1e-6);
        if (progress->window_events > 0) /* else nothing is speculated */
            fprintf(stderr, ", efficiency %.0f %%, window %" PRIu64 " events",
                    100 * (double)progress->events_committed /
                        (double)(progress->events_processed + (progress->events_processed == 0)),
                    progress->window_events);
        fprintf(stderr, ", %.0f MiB\033[K", (double)progress->memory_bytes / 1048576);
        funlockfile(stderr);
    }
    line->shown_s = now_s;
    line->shown_events = progress->events_committed;
}

void progress_clear(void) { fputs("\r\033[K", stderr); }
