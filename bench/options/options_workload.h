/*
 * options_workload.h: the values of `cubewarp workload new` and `workload check`, and their
 * arguments.
 */
#ifndef BENCH_OPTIONS_WORKLOAD_H
#define BENCH_OPTIONS_WORKLOAD_H

#include "bench/options/option.h"
#include "workload/model/plan.h"
#include "workload/traces/trace_options.h"

/* The values of `workload new`. */
struct workload_new_options {
    const char *model;  /* gpt, moe, inference or attention; NULL: not given */
    const char *output; /* NULL: standard output */
    struct model_plan plan;
};

enum { WORKLOAD_SETTINGS_MAX = 256 };

/* The values of `workload check`. */
struct workload_check_options {
    const char *path;
    const char *json;                            /* NULL: none */
    const char *settings[WORKLOAD_SETTINGS_MAX]; /* --set workload.KEY=VALUE */
    size_t setting_count;
    struct workload_trace_options trace;
    /* Of the machine whose HBM the ranks are compared with. */
    const char *preset; /* NULL: none */
    const char *machine[WORKLOAD_SETTINGS_MAX];
    size_t machine_count;
};

/* For the table of options. */
int workload_check_argument(struct option_parse *parse, int count, char **rest,
                            struct cw_error *error);
int workload_check_finish(struct option_parse *parse, struct cw_error *error);
int workload_check_read_set(struct option_parse *parse, const struct option_row *row,
                            const char *text, struct cw_error *error);
int workload_new_argument(struct option_parse *parse, int count, char **rest,
                          struct cw_error *error);
int workload_new_finish(struct option_parse *parse, struct cw_error *error);
int workload_new_read_dtype(struct option_parse *parse, const struct option_row *row,
                            const char *text, struct cw_error *error);

#endif
