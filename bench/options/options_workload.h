/*
 * options_workload.h: the values of `cubewarp workload new`, and its argument.
 */
#ifndef BENCH_OPTIONS_WORKLOAD_H
#define BENCH_OPTIONS_WORKLOAD_H

#include "bench/options/option.h"
#include "workload/model/plan.h"

/* The values of `workload new`. */
struct workload_new_options {
    const char *model;  /* gpt, moe, inference or attention; NULL: not given */
    const char *output; /* NULL: standard output */
    struct model_plan plan;
};

/* For the table of options. */
int workload_new_argument(struct option_parse *parse, int count, char **rest,
                          struct cw_error *error);
int workload_new_finish(struct option_parse *parse, struct cw_error *error);
int workload_new_read_dtype(struct option_parse *parse, const struct option_row *row,
                            const char *text, struct cw_error *error);

#endif
