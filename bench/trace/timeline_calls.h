/*
 * timeline_calls.h: the calls of a timeline: each batch of launches, with its size and number, and
 * the counters over it. They are in a process of their own, whose number is the number of SIPs. A
 * call is written when the next one begins. One thread.
 */
#ifndef BENCH_TIMELINE_CALLS_H
#define BENCH_TIMELINE_CALLS_H

#include "bench/trace/timeline_counters.h"
#include "bench/trace/timeline_events.h"

/* A call: a batch of launches. */
struct call_slice {
    uint32_t batch; /* 0: none yet */
    int64_t begin_ps, end_ps;
    char kernel[64]; /* its name */
    uint64_t n_elem;
    uint8_t dtype;
    uint32_t number; /* among the calls of its kernel and size, from 0 */
};

struct timeline_calls {
    const char *collective; /* "ccl_allreduce" */
    uint32_t warmup;        /* calls of a size before the first that is timed */
    struct call_slice call; /* the current one */
    struct timeline_counters counters;
};

/* A record of a kernel that belongs to a call. */
void timeline_calls_note(struct timeline_calls *calls, struct timeline_events *events,
                         const struct lp_kernel_record *record);
/* Writes the current call, if there is one. */
void timeline_calls_write(struct timeline_calls *calls, struct timeline_events *events);

#endif
