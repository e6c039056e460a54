/*
 * compare_runs.h: prints a comparison of two runs of the throughput harness: as tables, for CI, or
 * as JSON (schema cubewarp.perf_compare/1, bench/FORMATS.md).
 */
#ifndef BENCH_COMPARE_RUNS_H
#define BENCH_COMPARE_RUNS_H

#include <stdio.h>

#include "bench/output/comparison_page.h"
#include "perf/perf_compare.h"

/* CW_OK, or CW_NO_RESOURCE, with *error filled. The caller checks the stream for failed writes. */
int compare_runs_print(FILE *file, enum comparison_format format, const struct perf_run *before,
                       const struct perf_run *after, const struct perf_comparison *comparison,
                       struct cw_error *error);

#endif
