/*
 * trend.h: each case in a history of runs: its figures night by night, since when it is slower or
 * faster, and since when its simulated results differ.
 *
 * Only runs of one machine and one set are put in a row. A night's figure is the case's median, in
 * events per second, times how slow the machine itself was that night: the time of a bare loop over
 * its time in the median night (perf/calibration.h). So a night on which the machine is slow does
 * not look like a slow program.
 */
#ifndef PERF_TREND_H
#define PERF_TREND_H

#include <stdint.h>
#include <stdio.h>

#include "perf/perf_run.h"
#include "perf/trend/change_point.h"

enum { TREND_RECENT = 14 }; /* a change is news if it is among this many latest runs */

/* One case in one run. */
struct trend_night {
    size_t run;                       /* its index in the trend */
    double events_per_s;              /* the median of the rounds, as measured */
    double figure;                    /* the same, with the machine's own speed taken out */
    uint64_t events;                  /* that the case committed: the same model has the same */
    char results[PERF_RESULTS_BYTES]; /* digest of the simulated results; empty: not known */
    bool disturbed;                   /* half of the rounds or more; not counted */
};

struct trend_case {
    const char *name;
    struct trend_night *nights;
    size_t count;
    struct change_point change; /* its `at` is an index into the nights of `counted` */
    size_t change_run;          /* index of the run with which the change begins */
    size_t results_run; /* of the last run whose results differ from the run before; 0: none */
    size_t counted;     /* nights that are not disturbed */
};

struct trend {
    struct perf_run *runs; /* oldest first */
    int64_t *ids;
    size_t run_count;
    struct trend_case *cases; /* in the order of the newest run */
    size_t case_count;
};

/*
 * Of the newest `most` runs of this machine and set in the history; `set` NULL: the newest
 * run's. CW_USAGE if there is none. The caller frees *trend either way.
 */
int trend_read(const char *path, const struct perf_machine *machine, const char *set, size_t most,
               struct trend *trend, struct cw_error *error);
/* Of runs that are in memory already; takes them. For tests, and trend_read(). */
int trend_of_runs(struct perf_run *runs, int64_t *ids, size_t count, struct trend *trend,
                  struct cw_error *error);
void trend_free(struct trend *trend);

/* Whether the change is a loss, or a change of results, that lies within the last TREND_RECENT
 * runs. */
bool trend_is_slower(const struct trend *trend, const struct trend_case *one);
bool trend_has_new_results(const struct trend *trend, const struct trend_case *one);

/* "SLOWER by 3.1 % since run 12, 2026-01-20, commit abc; results changed ...", "steady". */
enum { TREND_VERDICT_BYTES = 400 };
void trend_verdict(const struct trend *trend, const struct trend_case *one,
                   char text[TREND_VERDICT_BYTES]);

/* A table, a line per case; CSV, a row per case and run; one SVG picture, a curve per case. */
void trend_print(FILE *file, const struct trend *trend);
void trend_print_csv(FILE *file, const struct trend *trend);
void trend_print_svg(FILE *file, const struct trend *trend);

#endif
