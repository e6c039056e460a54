/*
 * measure.h: one measurement: a case in a process of its own, so that its memory is its own, with a
 * calibration before and after.
 */
#ifndef PERF_MEASURE_H
#define PERF_MEASURE_H

#include "perf/sets.h"

/* Seconds after which a case is given up: it hangs. */
#define PERF_CASE_S_MAX 600

/* The standard output of a program of the harness, read to its end. */
struct perf_child {
    bool (*stop)(
        void *arg); /* asked several times a second; true: the child is ended; may be NULL */
    void *stop_arg;
    char *out;                      /* the caller frees it */
    double cpu_s, system_s, wall_s; /* system_s: part of cpu_s */
    uint64_t rss_bytes;             /* this process's own counts, too */
};

/*
 * Runs a program with arguments parted by blanks, and waits for it. Its errors go where ours go.
 * CW_NO_RESOURCE if it cannot be run; its own exit code if that is not 0, CW_BUG if a signal ended
 * it, with the command in *error.
 */
int perf_run_child(enum perf_program program, const char *command, struct perf_child *child,
                   struct cw_error *error);
/* Whether the program is there: the bare loops are built by `make perf` only. */
bool perf_has_program(enum perf_program program);

/*
 * Writes to so many bytes of new memory and frees them. A virtual machine may give free memory back
 * to its host after a second; a process that gets such memory then waits for the host, 5 us and
 * more for each 4 KiB instead of 0.2. Memory that was used a moment ago costs every process the
 * same. At most half of the free memory is touched.
 */
void perf_warm_memory(uint64_t bytes);

/*
 * Measures a case once. The caller gives the round and the calibration before, and finds both
 * calibrations and whether they differ in *sample. `memory_bytes`: that the process is expected to
 * take, which are warmed before it starts.
 */
int perf_measure(const struct perf_case *one, uint64_t memory_bytes, bool (*stop)(void *arg),
                 void *stop_arg, struct perf_sample *sample, struct cw_error *error);

#endif
