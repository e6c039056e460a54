/*
 * step_estimate.h: the events of a step, before it runs.
 */
#ifndef BENCH_STEP_ESTIMATE_H
#define BENCH_STEP_ESTIMATE_H

#include "bench/programs/bench_program.h"
#include "workload/run/step.h"

/* The workload that the options name (step_workload.h). notes: of a trace; NULL: nowhere. */
int step_workload_read(const struct run_options *options, const struct config *config, FILE *notes,
                       struct workload_graph *graph, struct cw_error *error);
struct step_modes step_modes_of(const struct run_options *options);
/* How far SIPs that do the same are simulated once. */
enum step_fold step_fold_of(const struct run_options *options, const struct config *config);

/* By estimate, of the SIPs that are simulated; 0 events: the workload cannot be read, or does not
 * fit the machine. */
struct bench_own step_work(const struct run_options *options, const struct config *config);

#endif
