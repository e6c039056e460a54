/*
 * chart_bars.h: static bars inside a page: phases, explained times, ranking.
 */
#ifndef BENCH_CHART_BARS_H
#define BENCH_CHART_BARS_H

#include <stdio.h>

#include "bench/survey/survey.h"

enum { CHART_BARS = 24 }; /* at most, in one table */

/* A bar for each series of its only time, the shortest first: where all rows have one size. */
void chart_ranking(FILE *out, const struct survey *survey, enum survey_figure figure);
/* A bar for each series at its largest x, of its phases in order; nothing if none has phases. */
void chart_phases(FILE *out, const struct survey *survey);
/* The same of an explained row: the time of the slowest kernel, and the critical path. */
void chart_explained(FILE *out, const struct survey *survey);

#endif
