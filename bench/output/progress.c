/*
 * progress.c: shows the progress line, and estimates the rest of a run (progress.h).
 */
#include "bench/output/progress.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/os/clock.h"

#define SECONDS_BETWEEN 0.2
#define SECONDS_FOR_ETA 1.0 /* of a size, before its rate is believed */

/* ---- estimates ------------------------------------------------------------------------------- */

void event_estimate_note(struct event_estimate *estimate, double tiles, double events)
{
    const bool same = estimate->known > 0 && estimate->tiles[0] == tiles;
    if (!same) {
        estimate->tiles[1] = estimate->tiles[0];
        estimate->events[1] = estimate->events[0];
        estimate->known = estimate->known < 2 ? estimate->known + 1 : 2;
    }
    estimate->tiles[0] = tiles;
    estimate->events[0] = events;
}

double event_estimate_of(const struct event_estimate *estimate, double tiles)
{
    const double *const at = estimate->tiles, *const events = estimate->events;
    if (estimate->known == 0)
        return 0;
    const double slope =
        estimate->known > 1 ? (events[0] - events[1]) / (at[0] - at[1]) : events[0] / at[0];
    const double line = events[0] + slope * (tiles - at[0]);
    return slope >= 0 && line > 0 ? line : events[0] * tiles / at[0];
}

/* ---- the line -------------------------------------------------------------------------------- */

const char *progress_eta(double seconds, char buf[PROGRESS_ETA_BYTES])
{
    const double minutes = seconds / 60, hours = minutes / 60;
    if (seconds < 99.5)
        snprintf(buf, PROGRESS_ETA_BYTES, "%.0f s", seconds);
    else if (minutes < 99.5)
        snprintf(buf, PROGRESS_ETA_BYTES, "%.0f min", minutes);
    else if (hours < 99.5)
        snprintf(buf, PROGRESS_ETA_BYTES, "%.1f h", hours);
    else
        snprintf(buf, PROGRESS_ETA_BYTES, "%.0f days", hours < 1e9 ? hours / 24 : 1e9 / 24);
    return buf;
}

/* Whether it is time for a line. *rate: events per second since the last one; 0 in the first. */
static bool is_due(struct progress_line *line, const struct cw_progress *progress, double *rate)
{
    const double now_s = clock_s(), since_s = now_s - line->shown_s;
    if (since_s < SECONDS_BETWEEN)
        return false;
    const bool first = line->shown_events == 0 || line->shown_events > progress->events_committed;
    *rate = first ? 0 : (double)(progress->events_committed - line->shown_events) / since_s;
    line->shown_s = now_s;
    line->shown_events = progress->events_committed;
    return !first;
}

/* GVT, speed, speculation, memory. */
static void print_engine(const struct cw_progress *progress, double rate)
{
    fprintf(stderr, "GVT %.3f us, %.1f M events/s", (double)progress->gvt_ps * 1e-6, rate * 1e-6);
    if (progress->window_events > 0) /* else nothing is speculated */
        fprintf(stderr, ", efficiency %.0f %%, window %" PRIu64 " events",
                100 * (double)progress->events_committed /
                    (double)(progress->events_processed + (progress->events_processed == 0)),
                progress->window_events);
    fprintf(stderr, ", %.0f MiB\033[K", (double)progress->memory_bytes / 1048576);
}

void progress_show(struct progress_line *line, const struct cw_progress *progress,
                   double done_percent, const char *whole)
{
    double rate;
    char eta[PROGRESS_ETA_BYTES];
    if (line->begun_s == 0)
        line->begun_s = clock_s();
    if (!is_due(line, progress, &rate))
        return;
    const double so_far_s = line->shown_s - line->begun_s;
    flockfile(stderr); /* a warning may come at the same time, from another thread */
    fprintf(stderr, "\r%.0f %% of %s, ", done_percent, whole);
    if (so_far_s > SECONDS_FOR_ETA && done_percent > 0)
        fprintf(stderr, "ETA %s, ", progress_eta(so_far_s * (100 / done_percent - 1), eta));
    print_engine(progress, rate);
    funlockfile(stderr);
}

void progress_show_size(struct progress_line *line, const struct cw_progress *progress)
{
    double rate;
    char eta[PROGRESS_ETA_BYTES];
    if (!is_due(line, progress, &rate))
        return;
    const double done = progress->events_committed > line->begun
                            ? (double)(progress->events_committed - line->begun)
                            : 0;
    const double so_far_s = line->shown_s - line->begun_s;
    /* An estimate that is exceeded is none. */
    const double expected = line->expected >= done ? line->expected : 0;
    const double left = expected - done + line->expected_rest;
    flockfile(stderr);
    fprintf(stderr, "\rsize %zu of %zu, ", line->size, line->sizes);
    if (expected > 0)
        fprintf(stderr, "%.0f %% of %.3g M events, ", 100 * done / expected, expected * 1e-6);
    else
        fprintf(stderr, "%.3g M events, ", done * 1e-6);
    if (expected > 0 && done > 0 && so_far_s > SECONDS_FOR_ETA)
        fprintf(stderr, "ETA %s, ", progress_eta(left * so_far_s / done, eta));
    print_engine(progress, rate);
    funlockfile(stderr);
}

void progress_clear(void) { fputs("\r\033[K", stderr); }
