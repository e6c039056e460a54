/*
 * sweep.h: runs the points of a study in worker processes, and records each end in the database.
 * One thread, which never runs a point itself: it has no threads to fork, and no point can take it
 * down.
 */
#ifndef BENCH_SWEEP_H
#define BENCH_SWEEP_H

#include "bench/sweep/sweep_plan.h"

struct sweep_counts {
    uint32_t ended[STUDY_STATES]; /* in this sweep, by state */
    uint32_t wrong;               /* of those done: exit code 1 */
    double wall_s;
    int signal_number; /* that ended the sweep early; 0: none did */
};

/* CW_OK: each point has its row, or a signal (SIGINT, SIGTERM, SIGHUP) has come, and then those in
 * flight have none. Else *error says why the sweep cannot go on; that which has ended is kept. */
int sweep_run(const struct sweep_plan *plan, struct sweep_counts *counts, struct cw_error *error);

#endif
