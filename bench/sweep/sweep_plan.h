/*
 * sweep_plan.h: which points a sweep runs, in which order, how many at once and with how many
 * threads: by estimates of memory and time, so that the cores are busy to the end.
 */
#ifndef BENCH_SWEEP_PLAN_H
#define BENCH_SWEEP_PLAN_H

#include <stdio.h>

#include "bench/options/options_sweep.h"
#include "bench/study/study_db.h"
#include "bench/study/study_estimate.h"

/* Points that probably run on machines with equal installations: best on one worker, one after
 * the other. Each long point is a group. */
struct sweep_group {
    uint32_t begin, end; /* of sweep_plan.points */
};

struct sweep_plan {
    const struct study *study;
    struct study_db *db;
    uint32_t *points; /* [count], those to run, in this order; the plan's */
    uint32_t count;
    struct sweep_group *groups; /* [group_count] in this order; the plan's */
    uint32_t group_count;
    struct study_estimate *estimates; /* [study->point_count], of those; the plan's */
    uint32_t workers;                 /* points in flight at most, from 1 */
    uint32_t threads;                 /* of each point; 0: as the study says */
    uint64_t memory_bytes;            /* that the points in flight may take by estimate */
    uint64_t machine_bytes;           /* beside that, of each worker: for machines that it keeps */
    double timeout_s;                 /* of each point; 0: none */
    bool is_quiet;
};

/*
 * Chooses the open points of a part, by states[point_count]; with --retry, also points without a
 * result. The longest come first, then the groups of short ones, those with the longest points
 * first. Release with sweep_plan_free() in any case.
 */
int sweep_plan_make(const struct study *study, struct study_shard shard,
                    const enum study_state *states, const struct sweep_options *options,
                    struct sweep_plan *plan, struct cw_error *error);
void sweep_plan_free(struct sweep_plan *plan);

/* Prints the plan: a line per point with its estimates, if `each`, and their sums. */
void sweep_plan_print(FILE *file, const struct sweep_plan *plan, bool each);
/* Estimated seconds of all points, on one core. */
double sweep_plan_seconds(const struct sweep_plan *plan);

#endif
