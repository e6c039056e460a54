/*
 * perf_json.h: a run of the harness in google-benchmark's JSON form, which its tools read: an
 * object `context` and a list `benchmarks` with an entry per case and round (run_type iteration)
 * and the aggregates median and stddev. Figures that have no place in that form stand beside it as
 * counters and under context.cubewarp, so that reading the file gives back the run that was
 * written.
 */
#ifndef PERF_PERF_JSON_H
#define PERF_PERF_JSON_H

#include <stdio.h>

#include "perf/perf_run.h"

/* CW_NO_RESOURCE, with *error filled, if there is no memory for it; the caller checks the stream
 * for failed writes. */
int perf_json_write(FILE *file, const struct perf_run *run, struct cw_error *error);
/* CW_USAGE, with path, line and column, if the file is none of these. The caller frees *run,
 * whatever the result. */
int perf_json_read(const char *path, struct perf_run *run, struct cw_error *error);

#endif
