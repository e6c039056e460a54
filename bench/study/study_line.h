/*
 * study_line.h: a study without a file: tables of measured times under the options of a command
 * line, a point for each table.
 */
#ifndef BENCH_STUDY_LINE_H
#define BENCH_STUDY_LINE_H

#include "bench/study/study.h"

/* Texts are the caller's, and outlive the study. */
struct study_line {
    const char *const *measured;
    uint32_t measured_count;
    struct study_line_option {
        const char *name, *value; /* "preset", "mi300x_8" */
    } const *options;
    uint32_t option_count;
    const char *const *sets; /* KEY=VALUE */
    uint32_t set_count;
    const char *fit; /* names of keys between commas */
};

/* As study_read(). */
int study_of_line(const struct study_line *line, struct study **out, struct config_errors *errors);

#endif
