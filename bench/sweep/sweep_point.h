/*
 * sweep_point.h: runs points of a study inside this process, one after the other.
 */
#ifndef BENCH_SWEEP_POINT_H
#define BENCH_SWEEP_POINT_H

#include "bench/study/study.h"

struct point_runner;

struct point_result {
    int exit_code;
    char *message;  /* NULL: none */
    char *document; /* the result as JSON; NULL: none */
    char *rows;     /* of a point that is done: its rows, packed (study_rows.h); NULL: none */
    size_t rows_bytes;
};

/* `threads`: of each point, unless the study says; 0: leave it to the point. `machine_bytes`:
 * memory for machines that are kept for later points; 0: none. NULL: no memory. */
struct point_runner *point_runner_create(const struct study *study, uint32_t threads,
                                         uint64_t machine_bytes);
/* Runs a point; *result is released by point_result_free(). */
void point_runner_run(struct point_runner *runner, uint32_t point, struct point_result *result);
void point_result_free(struct point_result *result);

#endif
