/*
 * survey_nights.h: the verdicts of a history of `perf run` (SQLite) into a survey: what is slower,
 * which goals the newest run misses, what was disturbed.
 */
#ifndef BENCH_SURVEY_NIGHTS_H
#define BENCH_SURVEY_NIGHTS_H

#include "bench/survey/survey.h"

/* Adds a night with a verdict for each case of the newest run, in the order of enum
 * survey_verdict_kind; or the reason why there are none. Without memory, no_memory is set. */
void survey_nights_read(struct survey *survey, const char *path);

#endif
