/*
 * clock.h: wall time, for reports about a run only: no decision of a run depends on it.
 */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Seconds since some moment that does not change while the process runs. */
static inline double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The processor's counter: cheaper to read, and of no known unit. Never set back on one core. */
static inline uint64_t clock_ticks(void) { return __builtin_ia32_rdtsc(); }

#endif
