/*
 * project_report.h: the result of `perf project`, as a table and as JSON.
 *
 * One thread.
 */
#ifndef BENCH_PROJECT_PROJECT_REPORT_H
#define BENCH_PROJECT_PROJECT_REPORT_H

#include "bench/options/options_perf.h"
#include "bench/project/prediction.h"

/* Figures of one or two threads, measured in processes of their own, and predicted. */
struct project_check {
    enum perf_state state;         /* of the machine; PERF_MIXED: it changed */
    double line_s;                 /* a cache line, one way: the median */
    double one_s, one_predicted_s; /* in drains, one thread, the fastest */
    struct perf_spread gain;       /* of two threads over one: in drains, as measured */
    struct perf_spread scaled;     /* the same, if two bare loops gained 2; count 0: none */
    double fastest_gain;           /* the fastest round of each, as it was */
    bool is_disturbed;             /* most rounds were, so that the fastest ones count */
    double process_gain;           /* of the whole process's wall time, as the engine's counts */
    struct prediction two;         /* with that line_s */
    struct perf_sample process;    /* on one thread, the fastest: its phases */
};

struct project_outcome {
    const struct subject *subject;
    const struct perf_trace *trace;
    struct perf_projection bounds[PERF_WORKERS_MAX]; /* as options->workers */
    bool is_predicted;                               /* else there are bounds alone */
    struct prediction_basis basis;
    struct project_check check;
    struct prediction near, far; /* two threads, by the stated times of a line */
    struct prediction predictions[PERF_LAYOUTS_MAX]; /* as options->layouts */
};

/* By how much a prediction for so many workers may be wrong, as a share of it: the error at two
 * threads, at least PROJECT_LEAST_ERROR, once for each doubling of the workers. */
#define PROJECT_LEAST_ERROR 0.05
double project_error(const struct project_outcome *outcome, uint32_t workers);

void project_print(const struct perf_options *options, const struct project_outcome *outcome);
int project_write_json(FILE *file, const struct perf_options *options,
                       const struct project_outcome *outcome, struct cw_error *error);

#endif
