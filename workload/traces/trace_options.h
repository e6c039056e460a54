/*
 * trace_options.h: what a user may say about a trace that the trace does not say itself.
 */
#ifndef WORKLOAD_TRACE_OPTIONS_H
#define WORKLOAD_TRACE_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

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

#endif
