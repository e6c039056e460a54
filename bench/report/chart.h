/*
 * chart.h: static charts as SVG inside a page, for readers without scripts: curves over x with
 * bounds and measured points, and bars of phases. Colours are the classes c0 to c7 of page.css; a
 * series has a marker of its own form, too.
 */
#ifndef BENCH_CHART_H
#define BENCH_CHART_H

#include <stdio.h>

#include "bench/report/survey.h"

enum { CHART_SERIES = 8, CHART_TICKS = 16, CHART_BARS = 24 };

/* One axis of a chart. */
struct chart_scale {
    double least, most; /* of the data, then of the axis */
    bool is_log;
    double from, to; /* pixels */
};

/* Rounds the ends outwards and lists the ticks: powers of 2 where `of_bytes`, decades with 2 and 5
 * where there are few, round steps where the scale is linear. Returns how many. */
size_t chart_ticks(struct chart_scale *scale, bool of_bytes, double ticks[CHART_TICKS]);
double chart_place(const struct chart_scale *scale, double value);

/* Whether any row of a series has this figure. */
bool chart_has(const struct survey *survey, enum survey_figure figure);
void chart_curves(FILE *out, const struct survey *survey, enum survey_figure figure);
/* Names of the series with their colours and markers, as a list. */
void chart_legend(FILE *out, const struct survey *survey);
/* A bar for each series of its only time, the shortest first: where all rows have one size. */
void chart_ranking(FILE *out, const struct survey *survey, enum survey_figure figure);
/* A bar for each series at its largest x, of its phases in order; nothing if none has phases. */
void chart_phases(FILE *out, const struct survey *survey);
/* The same of an explained row: the time of the slowest kernel, and the critical path. */
void chart_explained(FILE *out, const struct survey *survey);

#endif
