/*
 * step_workload.h: reads what a step is of: a workload file, or a trace of another tool
 * (workload/STEPS.md).
 */
#ifndef BENCH_STEP_WORKLOAD_H
#define BENCH_STEP_WORKLOAD_H

#include "workload/file/workload_file.h"
#include "workload/traces/trace_options.h"

/* As workload_file_read(). Options of traces and settings of workload files are refused with the
 * other. ranks: of a trace that does not say how many, unless trace->ranks does; 0: not known.
 * Notes on a trace go to trace->notes. */
int workload_or_trace_read(const struct workload_file_request *request,
                           const struct workload_trace_options *trace, uint32_t ranks,
                           struct workload_graph *graph, struct cw_error *error);

#endif
