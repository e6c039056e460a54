/*
 * progress.c: see progress.h.
 */
#include "bench/progress.h"

#include <stdio.h>

#include "bench/program.h"
#include "core/clock.h"

#define SECONDS_BETWEEN 0.2

/* What share of what was submitted has come back: installations, then kernels of this batch. */
static double share_done(const struct lp_times *times)
{
    const uint32_t done = times->ended > times->returned ? times->ended : times->returned;
    return times->submitted > 0 ? 100.0 * done / times->submitted : 0;
}

void progress_show(void *argument, struct dist *dist, const struct cw_progress *progress)
{
    struct bench_session *session = argument;
    const double now_s = clock_s(), since_s = now_s - session->shown_s;
    if (since_s < SECONDS_BETWEEN)
        return;
    const double rate = (double)(progress->events_committed - session->shown_events) / since_s;
    if (session->shown_events > 0)
        fprintf(stderr,
                "\r%.3f us simulated, %.0f %% of this step's PEs done, %.1f M events/s, %.0f MiB "
                "\033[K",
                (double)progress->gvt_ps * 1e-6, share_done(dist_times(dist)), rate * 1e-6,
                (double)progress->memory_bytes / 1048576);
    session->shown_s = now_s;
    session->shown_events = progress->events_committed;
}

void progress_clear(void) { fputs("\r\033[K", stderr); }
