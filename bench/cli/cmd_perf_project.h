/*
 * cmd_perf_project.h: the command `cubewarp perf project`.
 */
#ifndef BENCH_CMD_PERF_PROJECT_H
#define BENCH_CMD_PERF_PROJECT_H

#include "bench/options/options_perf.h"

/* Projects the gain of more threads. Returns an exit code, *error filled. */
int perf_project_main(const struct perf_options *options, struct cw_error *error);

#endif
