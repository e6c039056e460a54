/*
 * perf_table.h: a run of the harness as a table for people.
 */
#ifndef PERF_PERF_TABLE_H
#define PERF_PERF_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "perf/perf_run.h"

/* One line per case: median, least and most of its rounds, the ratio to the sequential case of its
 * model, as measured and scaled, and which goals it meets. */
void perf_table_print(FILE *file, const struct perf_run *run);

/* A case's figures beside its goals, and its disturbed rounds, in words; "": there is nothing to
 * say. False: a goal is not met. */
enum { PERF_REMARKS_BYTES = 400 };
bool perf_table_remarks(const struct perf_run *run, const struct perf_case_run *measured,
                        char text[PERF_REMARKS_BYTES]);

/* Over all calibrations of a run, or of one case: medians, and the state they agree on. */
struct perf_calibration perf_calibration_of(const struct perf_run *run);
enum perf_state perf_state_of_run(const struct perf_run *run);

#endif
