/*
 * report.h: a result as the table for people, and the figures that all reports derive. Times are
 * whole picoseconds until they are printed, and are printed exactly.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "bench/output/result.h"
#include "core/cw.h"

#define REPORT_NUMBER_BYTES 32u
#define REPORT_PLACE_BYTES  40u

/* Derived figures; 0 where there is no time. */
double report_algbw_gbs(const struct result_row *row);
/* By which a simulated time is longer than the measured one, in percent. */
double report_error_percent(const struct result_row *row);
/* The median and the largest of these errors, without their signs; returns of how many rows. */
size_t report_errors(const struct result *result, double *median, double *largest);
double report_tflops_per_s(const struct result_row *row); /* of a rank */
double report_busbw_gbs(const struct result_row *row);
/* The machine's cost times the row's time, in us; NAN where parts have no cost, or it did not run.
 */
double report_time_cost_us(const struct result *result, const struct result_row *row);
/* Of the bytes that its bandwidths count; NAN where it is not known. */
double report_joules_per_byte(const struct result_row *row);
double report_efficiency(const struct cw_stats *stats); /* committed / processed; 1 for no event */

double report_rollback_mean(const struct cw_stats *stats); /* events per rollback */

/* ps as ns ("1403.107") and as us ("1.403107"), all decimals, exact. Return buf. */
const char *report_ns(int64_t ps, char buf[REPORT_NUMBER_BYTES]);
const char *report_us(int64_t ps, char buf[REPORT_NUMBER_BYTES]);
const char *report_place(const struct hw_place *place, char buf[REPORT_PLACE_BYTES]); /* "0.10.0" */

void report_table(FILE *file, const struct result *result);
/* Its parts: a row, the first with the head; and all that follows the rows. */
void report_table_row(FILE *file, const struct result *result, size_t row);
void report_table_rest(FILE *file, const struct result *result);
/* The shares of several threads' time, and their rollbacks; nothing for one thread. */
void report_threads(FILE *file, const struct result_engine *engine);
/* The interventions of the stress mode, as a line that begins with '#'; nothing in other modes. */
void report_stress(FILE *file, const struct cw_stats *stats);

#endif
