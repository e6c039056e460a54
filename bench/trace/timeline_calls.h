/*
 * timeline_calls.h: the calls of a timeline: each batch of launches, with its size and number, and
 * the counters over it. They are in a process of their own, whose number is the number of SIPs.
 * Several calls may be in flight: each process group has tracks of its own, as many as it has calls
 * at once, and the counters are of all calls together since the machine was idle. A call is written
 * when another one begins after its end. One thread.
 */
#ifndef BENCH_TIMELINE_CALLS_H
#define BENCH_TIMELINE_CALLS_H

#include "bench/trace/timeline_counters.h"
#include "bench/trace/timeline_events.h"

/* A call: a batch of launches. */
struct call_slice {
    uint32_t batch;
    uint32_t launch; /* one of its launches */
    int64_t begin_ps, end_ps;
    char kernel[64]; /* its name */
    char call[64];   /* of a group: "call 0 (all_reduce)"; else "" */
    uint64_t n_elem;
    uint8_t dtype;
    uint32_t number; /* among the calls of its kernel and size, from 0 */
    uint32_t track;
};

/* The calls of one process group that follow each other. */
struct call_track {
    char whose[64];           /* "group tp0"; "": the world's */
    struct call_slice latest; /* of the group; batch 0: none yet */
    bool is_taken;            /* by a call in flight */
};

struct timeline_calls {
    const char *collective;  /* "ccl_allreduce" */
    uint32_t warmup;         /* calls of a size before the first that is timed */
    struct call_slice *open; /* [open_count] that are not yet written, in order of their begin */
    size_t open_count, open_capacity;
    struct call_track *track; /* [track_count] */
    size_t track_count, track_capacity;
    uint32_t first_batch; /* lp_model.first_batch of those that the counters are of */
    int64_t end_ps;       /* of the last of them */
    struct timeline_counters counters;
};

/* A record of a kernel that belongs to a call. False: out of memory. */
bool timeline_calls_note(struct timeline_calls *calls, struct timeline_events *events,
                         const struct lp_kernel_record *record);
/* Writes the calls that are not yet written. */
void timeline_calls_write(struct timeline_calls *calls, struct timeline_events *events);
void timeline_calls_free(struct timeline_calls *calls);

#endif
