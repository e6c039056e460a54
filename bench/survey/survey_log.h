/*
 * survey_log.h: CSV files of `run --engine-log`, and SQLite histories of `perf run`, into a survey.
 */
#ifndef BENCH_SURVEY_LOG_H
#define BENCH_SURVEY_LOG_H

#include "bench/survey/survey.h"

/* The first cells of an engine log's header. */
extern const char survey_log_header[];

/* CW_USAGE with the file and the line if it is not an engine log. */
int survey_log_read(struct survey *survey, const char *path, struct cw_error *error);

/* All cases of a history, each with the median of the rounds of each run. CW_USAGE if it is none.
 */
int survey_history_read(struct survey *survey, const char *path, struct cw_error *error);
/* The last run of a case whose simulated results differ from the previous run's; NULL: none.
 * *count, unless NULL: how many such runs there are. */
const struct survey_measure *survey_last_change(const struct survey_case *one, size_t *count);

#endif
