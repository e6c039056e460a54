/*
 * report.h: a result as the table for people, as JSON and as CSV (60-cli.md). Times are whole
 * picoseconds until the last moment and are written exactly.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "bench/output/result.h"
#include "core/cw.h"

#define REPORT_NUMBER_BYTES 32u

/* Derived figures; 0 where there is no time. */
double report_algbw_gbs(const struct result_row *row);
double report_busbw_gbs(const struct result_row *row);
double report_efficiency(const struct cw_stats *stats); /* committed / processed; 1 for no event */

double report_rollback_mean(const struct cw_stats *stats); /* events per rollback */

/* ps as ns ("1403.107") and as us ("1.403107"), all decimals, exact. Return buf. */
const char *report_ns(int64_t ps, char buf[REPORT_NUMBER_BYTES]);
const char *report_us(int64_t ps, char buf[REPORT_NUMBER_BYTES]);

void report_table(FILE *file, const struct result *result);
/* Where the time of several threads went, and what they undid; nothing for one thread. */
void report_threads(FILE *file, const struct result_engine *engine);
/* Schema cubewarp.run/1. CW_NO_RESOURCE, with *error filled, if there is no memory for it. What
 * could not be written is known to the stream, as it is with the other two. */
int report_json(FILE *file, const struct result *result, struct cw_error *error);
void report_csv(FILE *file, const struct result *result);
/* What the stress mode did, as a line behind '#'; nothing in other modes. */
void report_stress(FILE *file, const struct cw_stats *stats);

/* The parts of JSON that commands share: the object `engine` (NULL: out of memory), and writing an
 * object, which is released. `digits`: of numbers with decimals. As report_json(). */
struct json_t;
struct json_t *report_engine_json(const struct result_engine *engine);
/* The part of a result that is the same in every mode, with members that cubewarp.run/1 leaves out
 * because they are rounded or derived there. NULL: out of memory. */
struct json_t *report_comparison_json(const struct result *result);
int report_json_object(FILE *file, struct json_t *object, size_t digits, struct cw_error *error);

#endif
