/*
 * cmd_perf_run.h: the command `cubewarp perf run`.
 */
#ifndef BENCH_CMD_PERF_RUN_H
#define BENCH_CMD_PERF_RUN_H

#include "bench/options/options_perf.h"

/* Measures a set, prints it, keeps it in the history. Returns an exit code, *error filled. */
int perf_run_main(const struct perf_options *options, struct cw_error *error);

#endif
