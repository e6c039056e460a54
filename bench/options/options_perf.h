/*
 * options_perf.h: the values of `cubewarp perf` and its parts, and the checks of several together.
 */
#ifndef BENCH_OPTIONS_PERF_H
#define BENCH_OPTIONS_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/options/option.h"

enum { PERF_OPERANDS_MAX = 2 };

struct perf_options {
    const char *set;
    uint32_t rounds, repeats;
    const char *json;    /* NULL: none; "-": standard output */
    const char *history; /* NULL: the default one */
    bool no_history;
    const char *operands[PERF_OPERANDS_MAX];
    size_t operand_count;
    bool force, list, quiet;
    uint32_t against;      /* compare: with the median of this many runs; 0: with one */
    uint32_t format;       /* enum comparison_format */
    double budget_s;       /* run; 0: none */
    const char *trend_set; /* NULL: the newest run's */
    uint32_t last;         /* trend: runs */
    const char *csv, *svg; /* trend */
};

/* For the table of options. */
int perf_compare_argument(struct option_parse *parse, int count, char **rest,
                          struct cw_error *error);
/* Refuse options that would have no effect beside the others. */
int perf_run_finish(struct option_parse *parse, struct cw_error *error);
int perf_compare_finish(struct option_parse *parse, struct cw_error *error);

/* An operand of compare in digits is a run of the history, anything else a file. */
bool perf_names_run(const char *text);

#endif
