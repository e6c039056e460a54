/*
 * cmd_perf_trend.h: `cubewarp perf trend`.
 */
#ifndef BENCH_CMD_PERF_TREND_H
#define BENCH_CMD_PERF_TREND_H

#include "bench/options/options_perf.h"
#include "perf/perf_compare.h"

int perf_trend_main(const struct perf_options *options, struct cw_error *error);
/* Where the history is: as asked for, or the default. For the other parts of `perf`, too. */
int perf_trend_history(const struct perf_options *options, char *path, size_t bytes,
                       struct cw_error *error);

#endif
