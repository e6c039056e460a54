/*
 * survey_result.h: result documents (bench/FORMATS.md, "JSON") into a survey.
 */
#ifndef BENCH_SURVEY_RESULT_H
#define BENCH_SURVEY_RESULT_H

#include "bench/survey/survey.h"

/*
 * Fills a point from a document of the schema cubewarp.run/1 or cubewarp.phold/1, which the survey
 * keeps already: the rows, the axes, the state. `point` is the last of the survey. Members that are
 * absent, or of another type, are unknown. CW_USAGE: another schema.
 */
int survey_result_fill(struct survey *survey, struct survey_point *point, json_t *json,
                       struct cw_error *error);

/* A file with one such document. CW_USAGE with file, line and column if it is none. */
int survey_result_read(struct survey *survey, const char *path, const char *label,
                       struct cw_error *error);

#endif
