/*
 * clock.h: wall time: for reports, and for decisions about speed (waiting, gathering, moving
 * parts). No result depends on it.
 */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "core/cw.h"
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

/* How often this thread has given its core away, or lost it: what was timed across such a moment is
 * another thread's time, too. A system call. */
uint64_t clock_times_away(void);

/* Number `of` of a sequence without a period, the same in every run: for distances between samples,
 * which must not keep step with what is sampled. */
static inline uint64_t sample_draw(uint64_t of)
{
    struct cw_rng rng = {.s = of * 0x9e3779b97f4a7c15}; /* its step: one stream, at any number */
    return cw_rng_u64(&rng);
}

#endif
