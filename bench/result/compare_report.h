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

#endif
