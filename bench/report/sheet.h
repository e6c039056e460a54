/*
 * sheet.h: a survey as tables of text: CSV for programs, Markdown for people.
 */
#ifndef BENCH_SHEET_H
#define BENCH_SHEET_H

#include <stdio.h>

#include "bench/survey/survey.h"

/* One line per row: point, state, file, every axis, every figure that any row has, not_run.
 * Cells with a comma, a quote or a line break are quoted. CW_OK; write errors stay in the
 * stream. */
int sheet_csv(FILE *out, struct survey *survey, struct cw_error *error);
/* The summary in sentences, the rows, the failures. CW_OK, or out of memory. */
int sheet_markdown(FILE *out, struct survey *survey, struct cw_error *error);

#endif
