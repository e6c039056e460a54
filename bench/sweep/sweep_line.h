/*
 * sweep_line.h: a point of a study as one line of `cubewarp run`, inside this process.
 */
#ifndef BENCH_SWEEP_LINE_H
#define BENCH_SWEEP_LINE_H

#include "bench/study/study.h"

struct sweep_line;

struct sweep_line_result {
    int exit_code;
    const char *message;  /* "" where there is none */
    const char *document; /* the result as JSON; "" where there is none */
    size_t document_bytes;
    char *owned[2];
};

/* `threads`: of each point, unless the study says; 0: leave it to the point. `machine_bytes`:
 * memory for machines that are kept for later points; 0: none. NULL: no memory. */
struct sweep_line *sweep_line_create(const struct study *study, uint32_t threads,
                                     uint64_t machine_bytes);
/* Runs a point; *result is released by sweep_line_result_free(). */
void sweep_line_run(struct sweep_line *line, uint32_t point, struct sweep_line_result *result);
void sweep_line_result_free(struct sweep_line_result *result);

#endif
