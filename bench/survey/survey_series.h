/*
 * survey_series.h: which axis the curves of a survey are over, and which rows make one curve.
 */
#ifndef BENCH_SURVEY_SERIES_H
#define BENCH_SURVEY_SERIES_H

#include "bench/survey/survey.h"

/* Fills the survey's x, its series, and the series of each row, once its axes are sorted.
 * Without memory, no_memory is set. */
void survey_series_find(struct survey *survey);

/* "ring_allreduce · sips 64": a row's values on the axes of `by`, alone where they are clear, else
 * with the axis's name. "" without axes; NULL: no memory. */
const char *survey_row_name(struct survey *survey, const struct survey_row *row,
                            const bool by[SURVEY_AXES_MAX]);

/* Gives rows that agree in all axes of `by` one number, below the number of rows: groups[i] of row
 * i. Without memory, no_memory is set. */
void survey_group_rows(struct survey *survey, const bool by[SURVEY_AXES_MAX], uint32_t *groups);

#endif
