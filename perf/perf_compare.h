/*
 * perf_compare.h: two runs of the harness, case by case: the cases that became slower by more than
 * the noise that both measured (statistics.h has the rule).
 */
#ifndef PERF_PERF_COMPARE_H
#define PERF_PERF_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "perf/perf_run.h"

enum perf_verdict {
    PERF_SAME,
    PERF_FASTER,
    PERF_SLOWER,
    PERF_NOT_COMPARABLE, /* other command, other state of the machine, or too much disturbed */
    PERF_ONLY_BEFORE,
    PERF_ONLY_AFTER,
    PERF_RESULTS_CHANGED, /* it simulates something else, so speeds are not compared */
    PERF_VERDICTS,
};
extern const char *const perf_verdict_name[PERF_VERDICTS]; /* "same", "SLOWER", ... */

/* How many cases have each verdict. */
struct perf_counts {
    size_t of[PERF_VERDICTS], cases;
};

/* Results for CI: exit codes of `perf compare`. */
enum perf_outcome {
    PERF_WELL = 0,
    PERF_HAS_SLOWER = 1,
    PERF_TOO_FEW = 7, /* fewer than half of the cases in both runs could be compared */
    PERF_HAS_OTHER_RESULTS = 8,
};
enum perf_outcome perf_outcome_of(const struct perf_counts *counts);

/* Cases with a verdict on their speed. */
size_t perf_compared(const struct perf_counts *counts);

struct perf_difference {
    const char *name; /* of the case, in either run */
    enum perf_verdict verdict;
    double before, after; /* medians, in events per second */
    double change;        /* of the medians: 0.1 is a tenth faster */
    double noise;         /* smaller changes do not count; a share of the earlier median */
    const char *why;      /* of PERF_NOT_COMPARABLE */
};

/*
 * How much faster or slower the machine itself was, as a share: the largest change of the
 * calibration loop or of a case of bare loops, none of which use the engine.
 */
double perf_drift(const struct perf_run *before, const struct perf_run *after);

/* One case in two runs of that drift; either may be NULL, not both. */
struct perf_difference perf_compare_case(const struct perf_case_run *before,
                                         const struct perf_case_run *after, double drift);

/* All cases of two runs: the cases of `before`, then the ones that only `after` has. */
struct perf_comparison {
    double drift;
    struct perf_difference *cases; /* [counts.cases]; names are the runs' */
    struct perf_counts counts;
};
/* False: out of memory. Freed by perf_comparison_free() either way. */
bool perf_compare(const struct perf_run *before, const struct perf_run *after,
                  struct perf_comparison *comparison);
void perf_comparison_free(struct perf_comparison *comparison);

/* NULL, or the property in which the machines of two runs differ. */
const char *perf_machines_differ(const struct perf_run *before, const struct perf_run *after);

/*
 * The base of a comparison with several runs: a case's rounds are the medians of these runs. So its
 * noise is the variation from night to night. False: out of memory. The caller frees *base either
 * way.
 */
bool perf_base_of(const struct perf_run *runs, size_t count, struct perf_run *base);

#endif
