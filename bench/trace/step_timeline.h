/*
 * step_timeline.h: the timeline of a step as Chrome trace JSON (bench/FORMATS.md, "Timelines"): a
 * process for each rank, a track for each of its streams, a slice for each operation.
 */
#ifndef BENCH_STEP_TIMELINE_H
#define BENCH_STEP_TIMELINE_H

#include <stdio.h>

#include "workload/run/step.h"

/* The caller checks the stream for failed writes. */
void step_timeline_write(FILE *out, const struct workload_graph *graph,
                         const struct step_result *result);

#endif
