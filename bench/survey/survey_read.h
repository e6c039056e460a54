/*
 * survey_read.h: the files of a report's command line, each by its kind, into a survey.
 */
#ifndef BENCH_SURVEY_READ_H
#define BENCH_SURVEY_READ_H

#include "bench/survey/survey.h"

/*
 * Reads all files and finishes the survey. The beginning of a file says which kind it is: a result
 * (JSON of run or phold), a study (SQLite), a history (SQLite), an engine log (CSV). Any other file
 * is CW_USAGE, and the message lists the kinds.
 */
int survey_read(struct survey *survey, const char *const *paths, size_t count,
                struct cw_error *error);

#endif
