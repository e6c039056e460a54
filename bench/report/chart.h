/*
 * chart.h: static charts as SVG inside a page, for readers without scripts: curves over x with
 * bounds and measured points, histories and engine logs.
 */
#ifndef BENCH_CHART_H
#define BENCH_CHART_H

#include <stdio.h>

#include "bench/report/chart_frame.h"
#include "bench/survey/survey.h"

/* Whether any row of a series has this figure. */
bool chart_has(const struct survey *survey, enum survey_figure figure);
void chart_curves(FILE *out, const struct survey *survey, enum survey_figure figure);
/* Names of the series with their colours and markers, as a list. */
void chart_legend(FILE *out, const struct survey *survey);
/* The cases of a history, relative to their first runs, run after run. */
void chart_history(FILE *out, const struct survey *survey);
/* Events per second of each engine log, over wall time. */
void chart_logs(FILE *out, const struct survey *survey);

#endif
