/*
 * report_csv.h: a result as CSV, a line per row.
 */
#ifndef BENCH_REPORT_CSV_H
#define BENCH_REPORT_CSV_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/output/result.h"

/* The caller checks the stream for failed writes. */
void report_csv(FILE *file, const struct result *result);
/* Its parts: the line of names, and a row, also one that is not among the result's. */
void report_csv_head(FILE *file, const struct result *result);
void report_csv_row(FILE *file, const struct result *result, const struct result_row *row);
/* Whether every CSV, or every one with measured times, has a column of that name. */
bool report_csv_has_column(const char *name);

#endif
