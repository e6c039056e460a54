/*
 * survey_read.h: the files of a report's command line, each by its kind, into a survey.
 */
#ifndef BENCH_SURVEY_READ_H
#define BENCH_SURVEY_READ_H

#include "bench/survey/survey.h"

/*
 * Reads all files and finishes the survey. Kinds are told by the beginning of a file: a result
 * (JSON of run or phold), a study (SQLite), a history (SQLite), an engine log (CSV). A file of
 * another kind is CW_USAGE, and the message names the kinds.
 */
int survey_read(struct survey *survey, const char *const *paths, size_t count,
                struct cw_error *error);

#endif
