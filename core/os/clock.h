/*
 * clock.h: wall time: for reports, and for decisions about speed (waiting, gathering, moving
 * parts). No result depends on it.
 */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "core/os/cpu.h"

/* Seconds since some moment that does not change while the process runs. */
static inline double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Of no known unit, and cheaper to read. */
static inline uint64_t clock_ticks(void) { return cpu_ticks(); }

#endif
