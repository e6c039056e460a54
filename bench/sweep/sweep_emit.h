/*
 * sweep_emit.h: `cubewarp sweep --emit`: the script that runs a study as an array of jobs, on the
 * engines that clusters have.
 */
#ifndef BENCH_SWEEP_EMIT_H
#define BENCH_SWEEP_EMIT_H

#include <stdio.h>

#include "bench/sweep/sweep_plan.h"

/* Prints the script of options->emit: options->tasks tasks, or as many as work for some ten
 * minutes each; memory, cores and time by estimate. CW_NO_RESOURCE if the system does not tell
 * where the program is. */
int sweep_emit(FILE *file, const struct sweep_plan *plan, const struct sweep_options *options,
               struct cw_error *error);

#endif
