/*
 * compare_report.h: a comparison of two results as text, as Markdown or as JSON
 * (schema cubewarp.compare/1, bench/FORMATS.md).
 */
#ifndef BENCH_COMPARE_REPORT_H
#define BENCH_COMPARE_REPORT_H

#include <stdio.h>

#include "bench/result/compare_documents.h"

/* A failed write is known to the stream. */
void compare_report_text(FILE *file, const struct result_document *a,
                         const struct result_document *b,
                         const struct comparison_of_documents *comparison);
void compare_report_markdown(FILE *file, const struct result_document *a,
                             const struct result_document *b,
                             const struct comparison_of_documents *comparison);
/* CW_OK, or CW_NO_RESOURCE. */
int compare_report_json(FILE *file, const struct result_document *a,
                        const struct result_document *b,
                        const struct comparison_of_documents *comparison, struct cw_error *error);

#endif
