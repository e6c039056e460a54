/*
 * fit.h: whether the ranks of a step have room for what they hold, and the peak that a step's
 * floating-point operations are compared with (workload/STEPS.md, "Memory" and "Quotes").
 */
#ifndef WORKLOAD_FIT_H
#define WORKLOAD_FIT_H

#include "hw/hw_config.h"
#include "workload/graph/graph.h"

/* Of the rank that holds most. */
struct workload_fit {
    bool known;       /* some program says what its ranks hold; else nothing below counts */
    bool fits;        /* bytes <= hbm */
    uint32_t program; /* in graph->programs */
    uint64_t bytes;   /* that its ranks hold; UINT64_MAX: that or more */
    uint64_t hbm;     /* of a SIP: memory.hbm_mib x PEs */
};

struct workload_fit workload_fit_of(const struct workload_graph *graph, const struct hw_config *hw);

/* All classes together; UINT64_MAX: that or more. */
uint64_t workload_memory_bytes(const struct workload_memory *memory);

/* Floating-point operations per second of a SIP: PE_GEMM's m x n x k multiplications and as many
 * additions in each cycle, times its clock, times the PEs. */
double workload_peak_flops(const struct hw_config *hw);

#endif
