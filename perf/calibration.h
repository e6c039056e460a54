/*
 * calibration.h: the speed of the machine at this moment, before and after each measurement: how
 * fast a bare loop runs, how much two of them on two cores gain over one, and how long a cache line
 * takes from one core to another. A measurement between two calibrations that differ is disturbed.
 *
 * Starts threads of its own, pinned to the first two cores that the process may use, and joins
 * them; takes some 50 ms.
 */
#ifndef PERF_CALIBRATION_H
#define PERF_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cw.h"

struct perf_calibration {
    double loop_ns; /* one round of a bare loop, on the slower of the idle cores: a neighbour on
                     * the other hardware thread of a core slows it by a quarter or more */
    double gain;    /* two loops at once over one: 2 on a machine that is free; 1 with one core */
    double line_ns; /* a cache line, one way; 0 with one core */
};

/* A cache line crosses in some 50 ns or in some 210 ns: the border between the two states. */
#define PERF_FAR_FROM_NS 100.0
/* A figure that moved by more than this share of itself did not stay the same. */
#define PERF_STEADY 0.08

enum perf_state { PERF_ONE_CORE, PERF_NEAR, PERF_FAR, PERF_MIXED, PERF_STATES };
extern const char *const perf_state_name[PERF_STATES];

enum perf_state perf_state_of(const struct perf_calibration *calibration);
/* NULL, or the figure that changed between the two, in a few words. */
const char *perf_disturbance(const struct perf_calibration *before,
                             const struct perf_calibration *after);
/* CW_NO_RESOURCE, with *error filled, if there is no thread to be had. */
int perf_calibrate(struct perf_calibration *calibration, struct cw_error *error);

/* Cores that the process may run on. */
uint32_t perf_cores(void);

#endif
