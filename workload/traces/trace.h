/*
 * trace.h: reads traces of other tools as the graph of a step (workload/STEPS.md, "Traces"):
 * Chakra execution traces, GOAL, and the layer tables of ASTRA-sim 1.0 and SimAI. A format is
 * recognised by its content. What cannot be simulated is refused with the file, the node, the
 * attribute, and what would be legal. Any thread; one call at a time per graph.
 */
#ifndef WORKLOAD_TRACE_H
#define WORKLOAD_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/cw.h"
#include "workload/graph/graph.h"

/* What an operation that computes becomes. */
enum workload_trace_compute {
    TRACE_AS_RECORDED, /* its recorded time; where there is none, the machine computes it */
    TRACE_REPLAY,      /* its recorded time; where there is none it takes no time */
    TRACE_ROOFLINE     /* the machine computes it, where the trace says what there is to compute */
};

/* The unit of recorded times. */
enum workload_trace_unit {
    TRACE_UNIT_AUTO, /* as the format has it; a converted table's cycles are ns */
    TRACE_UNIT_US,
    TRACE_UNIT_NS
};

struct workload_trace_options {
    const char *groups;       /* a JSON file {"id": [ranks]}, for Chakra; NULL: none */
    uint32_t ranks;           /* of traces that do not say how many; 0: these are refused */
    uint32_t first_dimension; /* ranks of dimension 0 of a layer table's network; 0: all */
    enum workload_trace_compute compute;
    enum workload_trace_unit unit;
    FILE *notes; /* what was decided by a trace's content, a line each; NULL: nowhere */
};

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
