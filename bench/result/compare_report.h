/*
 * compare_report.h: prints a comparison of two results: as tables, for CI, or as JSON (schema
 * cubewarp.compare/1, bench/FORMATS.md).
 */
#ifndef BENCH_COMPARE_REPORT_H
#define BENCH_COMPARE_REPORT_H

#include <stdio.h>

#include "bench/output/comparison_page.h"
#include "bench/result/compare_documents.h"

/* CW_OK, or CW_NO_RESOURCE, with *error filled. The caller checks the stream for failed writes. */
int compare_report(FILE *file, enum comparison_format format, const struct result_document *a,
                   const struct result_document *b,
                   const struct comparison_of_documents *comparison, struct cw_error *error);

/* ---- parts of it, for the comparison of two studies (bench/study/study_compare.h) ------------ */

/* The table of sizes; `more`: a column at its end, NULL: none. */
void compare_report_head(struct comparison_page *page, const char *more);
void compare_report_row(const struct comparison_page *page, const struct compared_row *row,
                        const char *more);
/* The values in which the two configurations differ. */
void compare_report_values(struct comparison_page *page,
                           const struct comparison_of_documents *comparison);
enum comparison_verdict compare_report_verdict(const struct compared_row *row);
/* A size as a case for CI; `point`: whose it is, "": of the only one. */
void compare_report_case(const struct comparison_page *page, const char *point,
                         const struct compared_row *row);
/* "+4.20"; "0": the same to the ps. */
const char *compare_report_percent(double percent, char buf[COMPARISON_CELL_BYTES]);
json_t *compare_report_real(double value); /* null: infinite */
json_t *compare_report_row_json(const struct compared_row *row);

#endif
