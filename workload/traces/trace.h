/*
 * trace.h: reads traces of other tools as the graph of a step (workload/STEPS.md, "Traces"):
 * Chakra execution traces, GOAL, and the layer tables of ASTRA-sim 1.0 and SimAI. A format is
 * recognised by its content. What cannot be simulated is refused with the file, the node, the
 * attribute, and what would be legal. Any thread; one call at a time per graph.
 */
#ifndef WORKLOAD_TRACE_H
#define WORKLOAD_TRACE_H

#include <stdbool.h>

#include "core/cw.h"
#include "workload/graph/graph.h"
#include "workload/traces/trace_options.h"

/* Whether there is a trace at the path, which may also be a folder, or the prefix of a set of files
 * (PREFIX.0.et, PREFIX.1.et ...). False for what cannot be read. */
bool workload_is_trace(const char *path);

/*
 * Fills *graph, which is zero before, and checks it (workload_graph_check()). CW_USAGE: what is
 * wrong with the trace; CW_NO_RESOURCE. The graph is freed with workload_graph_free() in any case.
 * options: NULL: all zero.
 */
int workload_trace_read(const char *path, const struct workload_trace_options *options,
                        struct workload_graph *graph, struct cw_error *error);

#endif
