/*
 * survey_series.h: which axis the curves of a survey are over, and which rows make one curve.
 */
#ifndef BENCH_SURVEY_SERIES_H
#define BENCH_SURVEY_SERIES_H

#include "bench/survey/survey.h"

/* Fills the survey's x, its series, and the series of each row, once its axes are sorted.
 * Without memory, no_memory is set. */
void survey_series_find(struct survey *survey);

#endif
