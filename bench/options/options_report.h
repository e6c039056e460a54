/*
 * options_report.h: the values of `cubewarp report`, and its arguments.
 */
#ifndef BENCH_OPTIONS_REPORT_H
#define BENCH_OPTIONS_REPORT_H

#include "bench/options/option.h"

enum { REPORT_FILES_MAX = 2048 };

/* The command's values. Without an output the page is report.html. */
struct report_options {
    const char *paths[REPORT_FILES_MAX]; /* in the order of the line */
    size_t path_count;
    const char *html, *csv, *markdown, *pareto; /* NULL: not asked for; "-": standard output */
    const char *plots;                          /* a folder; NULL: not asked for */
};

/* For the table of options. */
int report_options_argument(struct option_parse *parse, int count, char **rest,
                            struct cw_error *error);
int report_options_finish(struct option_parse *parse, struct cw_error *error);

#endif
