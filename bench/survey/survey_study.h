/*
 * survey_study.h: databases of studies, as `sweep` makes them, into a survey.
 */
#ifndef BENCH_SURVEY_STUDY_H
#define BENCH_SURVEY_STUDY_H

#include "bench/survey/survey.h"

/* Reads the tables study, point and axis; each point's result is a document. CW_USAGE if the file
 * has no such tables; CW_NO_RESOURCE if it cannot be read. */
int survey_study_read(struct survey *survey, const char *path, struct cw_error *error);

#endif
