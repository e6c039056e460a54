/*
 * survey_finish.h: the last step of a survey: shipped values, sorted axes, and series (survey.h).
 */
#ifndef BENCH_SURVEY_FINISH_H
#define BENCH_SURVEY_FINISH_H

#include "bench/survey/survey.h"

/* Sorts, chooses x and makes series. CW_OK, or CW_NO_RESOURCE with *error filled. */
int survey_finish(struct survey *survey, struct cw_error *error);

#endif
