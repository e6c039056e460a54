/*
 * default_run.h: the run of a line that names no algorithm, bench or size: it shows the machine at
 * its best. All-reduces of a few sizes of a rank, by the automatic choice with its placement,
 * verified; as many sizes as take little time and memory.
 */
#ifndef BENCH_DEFAULT_RUN_H
#define BENCH_DEFAULT_RUN_H

#include "bench/programs/run_options.h"
#include "collectives/config/config.h"

/* Completes *run and replaces *config, if the line names no work. Where the choice cannot run on
 * this machine, the configured algorithm does. */
void default_run_apply(struct run_options *run, struct config **config);

#endif
