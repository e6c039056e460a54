/*
 * perf_compare.h: two runs of the harness, case by case: the cases that became slower by more than
 * the noise that both measured (statistics.h has the rule).
 */
#ifndef PERF_PERF_COMPARE_H
#define PERF_PERF_COMPARE_H

#include <stdio.h>

#include "perf/perf_run.h"

enum perf_verdict {
    PERF_SAME,
    PERF_FASTER,
    PERF_SLOWER,
    PERF_NOT_COMPARABLE, /* other command, other state of the machine, or too much disturbed */
    PERF_ONLY_BEFORE,
    PERF_ONLY_AFTER,
};

struct perf_difference {
    const char *name; /* of the case, in either run */
    enum perf_verdict verdict;
    double before, after; /* medians, in events per second */
    double change;        /* of the medians: 0.1 is a tenth faster */
    double noise;         /* the change that counts begins here, as a share of the earlier median */
    const char *why;      /* of PERF_NOT_COMPARABLE */
};

/*
 * How much faster or slower the machine itself was, as a share: the most that the calibrations'
 * loop, or a case over bare loops, which know nothing of the engine, differs.
 */
double perf_drift(const struct perf_run *before, const struct perf_run *after);

/* One case in two runs of that drift; either may be NULL, not both. */
struct perf_difference perf_compare_case(const struct perf_case_run *before,
                                         const struct perf_case_run *after, double drift);

/* NULL, or the property in which the machines of two runs differ. */
const char *perf_machines_differ(const struct perf_run *before, const struct perf_run *after);

/* Prints the comparison; returns the number of cases that became slower. */
size_t perf_compare_print(FILE *file, const struct perf_run *before, const struct perf_run *after);

#endif
