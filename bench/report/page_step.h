/*
 * page_step.h: steps in a page: a table of the plans, the fastest that fits first; and the data of
 * the script's views: time over two axes, parts of classes, operations of a pipeline.
 */
#ifndef BENCH_PAGE_STEP_H
#define BENCH_PAGE_STEP_H

#include <stdio.h>

#include "bench/survey/survey.h"

enum {
    PAGE_PLANS = 200, /* of the table */
    PAGE_CHARTS = 3   /* pipelines that are drawn, of the fastest plans */
};

bool page_has_steps(const struct survey *survey);
void page_write_steps(FILE *out, struct survey *survey);
/* Members `steps` and `charts` of the page's data, each with its comma. */
void page_write_step_data(FILE *out, const struct survey *survey);

#endif
