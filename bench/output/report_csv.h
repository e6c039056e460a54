/*
 * report_csv.h: a result as CSV, a line per row.
 */
#ifndef BENCH_REPORT_CSV_H
#define BENCH_REPORT_CSV_H

#include <stdio.h>

#include "bench/output/result.h"

/* A failed write is known to the stream. */
void report_csv(FILE *file, const struct result *result);

#endif
