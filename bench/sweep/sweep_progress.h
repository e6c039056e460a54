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

struct sweep_progress {
    const struct sweep_plan *plan;
    bool is_terminal, is_shown;
    double begun_s, shown_s;
    uint32_t ended, failed;
    double ended_s;     /* by estimate, of the points that have ended */
    uint64_t rss_bytes; /* the most that one process has had */
};

void sweep_progress_begin(struct sweep_progress *progress, const struct sweep_plan *plan);
/* A point has ended. */
void sweep_progress_point(struct sweep_progress *progress, const struct sweep_answer *answer);
/* `left`: points that no worker has. */
void sweep_progress_show(struct sweep_progress *progress, uint32_t left);
void sweep_progress_end(struct sweep_progress *progress);

#endif
