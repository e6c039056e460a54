/*
 * sweep_progress.h: a sweep's progress on standard error: a bar on a terminal, otherwise a line for
 * each point that is not done, and one now and then.
 */
#ifndef BENCH_SWEEP_PROGRESS_H
#define BENCH_SWEEP_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct sweep_plan;
struct sweep_answer;
struct sweep_worker;

struct sweep_progress {
    const struct sweep_plan *plan;
    bool is_terminal, is_shown;
    double begun_s, shown_s;
    uint32_t ended, failed;
    double ended_s;     /* by estimate, of the points that have ended; */
    double busy_s;      /* and as they took */
    uint64_t rss_bytes; /* the most that one process has had */
};

void sweep_progress_begin(struct sweep_progress *progress, const struct sweep_plan *plan);
/* A point has ended. */
void sweep_progress_point(struct sweep_progress *progress, const struct sweep_answer *answer);
/* `workers`: all of the plan; `left`: points that none of them has. */
void sweep_progress_show(struct sweep_progress *progress, const struct sweep_worker *workers,
                         uint32_t left);
/* Seconds until all points have ended: points take as much longer than their estimates as those
 * that have ended, and the time for which points have run counts. */
double sweep_progress_rest_s(const struct sweep_progress *progress,
                             const struct sweep_worker *workers, double now_s);
void sweep_progress_end(struct sweep_progress *progress);

#endif
