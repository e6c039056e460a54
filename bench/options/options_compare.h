/*
 * options_compare.h: the values of `cubewarp compare`, and its arguments.
 */
#ifndef BENCH_OPTIONS_COMPARE_H
#define BENCH_OPTIONS_COMPARE_H

#include "bench/options/option.h"

/* The command's values. */
struct compare_options {
    const char *paths[2]; /* A and B */
    double tolerance_percent;
    uint32_t format; /* enum comparison_format */
};

/* For the table of options. */
int compare_options_argument(struct option_parse *parse, int count, char **rest,
                             struct cw_error *error);
int compare_options_finish(struct option_parse *parse, struct cw_error *error);
int compare_options_read_tolerance(struct option_parse *parse, const struct option_row *row,
                                   const char *text, struct cw_error *error);

#endif
