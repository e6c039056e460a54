/*
 * sweep_emit.h: `cubewarp sweep --emit`: a script that runs a study as a job array on a cluster.
 */
#ifndef BENCH_SWEEP_EMIT_H
#define BENCH_SWEEP_EMIT_H

#include <stdio.h>

#include "bench/sweep/sweep_plan.h"

/* Prints the script of options->emit: options->tasks tasks, or as many as take about ten minutes
 * each, with memory, cores and time by estimate. CW_NO_RESOURCE if the program's own path is
 * unknown. */
int sweep_emit(FILE *file, const struct sweep_plan *plan, const struct sweep_options *options,
               struct cw_error *error);

#endif
