/*
 * sweep.h: runs the points of a study in worker processes, and records each result in the database.
 * One thread, which runs no point itself: so it can fork safely, and no point can crash it.
 */
#ifndef BENCH_SWEEP_H
#define BENCH_SWEEP_H

#include "bench/sweep/sweep_plan.h"

struct sweep_counts {
    uint32_t ended[STUDY_STATES]; /* in this sweep, by state */
    uint32_t wrong;               /* of those done: exit code 1 */
    double wall_s;
    int signal_number; /* that ended the sweep early; 0: none */
};

/* CW_OK: each point has its row, or a signal (SIGINT, SIGTERM, SIGHUP) has arrived, and then
 * points in flight have none. Else *error says why the sweep cannot continue; recorded points
 * are kept. */
int sweep_run(const struct sweep_plan *plan, struct sweep_counts *counts, struct cw_error *error);

#endif
