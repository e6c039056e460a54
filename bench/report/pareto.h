/*
 * pareto.h: time against cost: which machines no other one beats in both. One chart for each size,
 * every row a point with its name, those on the frontier joined. In a page, and as an SVG file.
 */
#ifndef BENCH_PARETO_H
#define BENCH_PARETO_H

#include <stdio.h>

#include "bench/survey/survey.h"

/* The charts as an SVG file. CW_USAGE: no two rows have a cost. */
int pareto_svg(FILE *out, struct survey *survey, struct cw_error *error);

/* The section of a page: the charts, and the frontier as a table. */
bool page_has_pareto(const struct survey *survey);
void page_write_pareto(FILE *out, struct survey *survey);

#endif
