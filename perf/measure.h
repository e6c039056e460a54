/*
 * measure.h: one measurement: a case in a process of its own, so that its memory is its own, with a
 * calibration before and after.
 */
#ifndef PERF_MEASURE_H
#define PERF_MEASURE_H

#include "perf/sets.h"

/* Whether the program is there: the bare loops are built by `make perf` only. */
bool perf_has_program(enum perf_program program);

/*
 * Measures a case once. The caller gives the round and the calibration before; *sample gets both
 * calibrations and whether they differ. `memory_bytes`: what the process is expected to take; that
 * much memory is touched before it starts. `stop` is asked several times a second and ends the
 * process by returning true; NULL: never. The process's errors go to standard error.
 * CW_NO_RESOURCE if the program cannot be run; its own exit code if that is not 0, CW_BUG if a
 * signal ended it, with the command in *error.
 */
int perf_measure(const struct perf_case *one, uint64_t memory_bytes, bool (*stop)(void *arg),
                 void *stop_arg, struct perf_sample *sample, struct cw_error *error);

#endif
