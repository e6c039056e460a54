/*
 * cmd_perf_compare.h: the command `cubewarp perf compare`.
 */
#ifndef BENCH_CMD_PERF_COMPARE_H
#define BENCH_CMD_PERF_COMPARE_H

#include "bench/options/options_perf.h"

/* Compares two runs, from files or from the history. 1 if a case became slower. Returns an exit
 * code, *error filled. */
int perf_compare_main(const struct perf_options *options, struct cw_error *error);

#endif
