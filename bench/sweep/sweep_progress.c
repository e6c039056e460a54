/*
 * sweep_progress.c: writes the bar or the lines that show a sweep's progress.
 */
#include "bench/sweep/sweep_progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/sweep/sweep.h"
#include "bench/sweep/sweep_worker.h"
#include "core/os/clock.h"

#define BAR_EVERY_S  0.2
#define LINE_EVERY_S 30.0
#define LATE_SHARE   0.1 /* a point that takes longer than thought takes so much longer again */
enum { BAR_CELLS = 24, TIME_BYTES = 32, MESSAGE_SHOWN = 160 };

void sweep_progress_begin(struct sweep_progress *progress, const struct sweep_plan *plan)
{
    *progress = (struct sweep_progress){
        .plan = plan, .is_terminal = isatty(STDERR_FILENO), .begun_s = clock_s()};
    progress->shown_s = progress->begun_s;
}

/* "42 s", "3 min 20 s", "5 h 12 min". */
static const char *span_text(double seconds, char text[TIME_BYTES])
{
    const unsigned whole = seconds < 1e6 ? (unsigned)(seconds + 0.5) : 1000000;
    if (whole < 60)
        snprintf(text, TIME_BYTES, "%u s", whole);
    else if (whole < 3600)
        snprintf(text, TIME_BYTES, "%u min %u s", whole / 60, whole % 60);
    else
        snprintf(text, TIME_BYTES, "%u h %u min", whole / 3600, whole / 60 % 60);
    return text;
}

static void sweep_clear(struct sweep_progress *progress)
{
    if (progress->is_shown)
        fputs("\r\033[K", stderr);
    progress->is_shown = false;
}

void sweep_progress_point(struct sweep_progress *progress, const struct sweep_answer *answer)
{
    const struct study_outcome *const outcome = &answer->outcome;
    progress->ended++;
    progress->ended_s += progress->plan->estimates[answer->point].seconds;
    progress->busy_s += outcome->seconds;
    if (answer->rss_bytes > progress->rss_bytes)
        progress->rss_bytes = answer->rss_bytes;
    if (outcome->state == STUDY_DONE)
        return;
    progress->failed++;
    if (progress->plan->is_quiet)
        return;
    char *const label = study_label(progress->plan->study, answer->point);
    const char *const message = outcome->message;
    sweep_clear(progress);
    fprintf(stderr, "cubewarp sweep: point %u %s (%s): %.*s\n", answer->point,
            study_state_name[outcome->state], label != NULL ? label : "",
            (int)(strcspn(message, "\n") < MESSAGE_SHOWN ? strcspn(message, "\n") : MESSAGE_SHOWN),
            message);
    free(label);
}

static void put_bar(const struct sweep_progress *progress)
{
    const uint32_t count = progress->plan->count;
    const uint32_t full =
        (uint32_t)((uint64_t)progress->ended * BAR_CELLS / (count + (count == 0)));
    char bar[BAR_CELLS + 1];
    for (uint32_t i = 0; i < BAR_CELLS; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR_CELLS] = '\0';
    fprintf(stderr, "[%s] ", bar);
}

double sweep_progress_rest_s(const struct sweep_progress *progress,
                             const struct sweep_worker *workers, double now_s)
{
    const struct sweep_plan *const plan = progress->plan;
    const double slower =
        progress->ended_s > 0 && progress->busy_s > 0 ? progress->busy_s / progress->ended_s : 1;
    double rest_s = slower * (sweep_plan_seconds(plan) - progress->ended_s), longest_s = 0;
    for (uint32_t i = 0; i < plan->workers; i++) {
        if (workers[i].point_count == 0)
            continue;
        const double takes_s = slower * plan->estimates[workers[i].points[0]].seconds;
        const double gone_s = now_s - workers[i].begun_s;
        const double more_s = takes_s > gone_s ? takes_s - gone_s : LATE_SHARE * gone_s;
        rest_s -= takes_s > gone_s ? gone_s : takes_s;
        longest_s = more_s > longest_s ? more_s : longest_s;
    }
    rest_s /= plan->workers;
    return rest_s > longest_s ? rest_s : longest_s;
}

void sweep_progress_show(struct sweep_progress *progress, const struct sweep_worker *workers,
                         uint32_t left)
{
    const double now_s = clock_s();
    const double every_s = progress->is_terminal ? BAR_EVERY_S : LINE_EVERY_S;
    if (progress->plan->is_quiet || now_s - progress->shown_s < every_s)
        return;
    char elapsed[TIME_BYTES], rest[TIME_BYTES];
    const double since_s = now_s - progress->begun_s;
    const uint32_t count = progress->plan->count;
    span_text(sweep_progress_rest_s(progress, workers, now_s), rest);
    fputs(progress->is_terminal ? "\r" : "cubewarp sweep: ", stderr);
    if (progress->is_terminal)
        put_bar(progress);
    fprintf(stderr, "%u of %u points, %u in flight, %u failed, %s, ETA %s, %.1f points/s, %.0f MiB",
            progress->ended, count, count - progress->ended - left, progress->failed,
            span_text(since_s, elapsed), rest, progress->ended / since_s,
            (double)progress->rss_bytes / 1048576);
    fputs(progress->is_terminal ? "\033[K" : "\n", stderr);
    progress->is_shown = progress->is_terminal;
    progress->shown_s = now_s;
}

void sweep_progress_end(struct sweep_progress *progress) { sweep_clear(progress); }
