/*
 * timeline_events.h: single events of a timeline in the file, their times and their tracks. An
 * event is written in parts: trace_begin() or trace_begin_leaf(), then the caller's members, each
 * with its comma, then trace_end() or trace_end_on_track(). The members that differ most come last:
 * the events of PEs that do the same at the same time differ by their last numbers alone, which
 * compresses well. One thread.
 */
#ifndef BENCH_TIMELINE_EVENTS_H
#define BENCH_TIMELINE_EVENTS_H

#include <stdio.h>

#include "bench/trace/timeline_filter.h"
#include "lp/model.h"

struct timeline_events {
    FILE *out;
    const struct lp_model *model; /* not for freeing: it may be gone then */
    struct timeline_filter filter;
    int64_t last_ps; /* the latest time of an event, or end of a slice */
    bool *sip_named; /* [SIP] */
};

/* A time as the filter cuts it. */
int64_t trace_clip(const struct timeline_events *events, int64_t ps);
/* Whether a slice has a part in the time that is asked for. */
bool trace_in_time(const struct timeline_events *events, int64_t begin_ps, int64_t end_ps);

/* The number of a PE's track: the first ones, as many as it has hardware queues, have the kernels
 * of each, the others its operations. The first TRACKS_SIDE tracks of a PE have consecutive
 * numbers; the rest come after the tracks of all PEs of its SIP.
 */
enum { TRACKS_SIDE = 1024 };
uint32_t trace_tid(const struct lp_model *model, uint32_t pe, uint32_t track);
/* Before the first event on a track. */
void trace_name_track(struct timeline_events *events, uint32_t pe, uint32_t track);

/* A text escaped for JSON: an algorithm's own names may contain anything. */
void trace_text(const struct timeline_events *events, const char *text);

/* `type`: "B", "C", "i", ... */
void trace_begin(struct timeline_events *events, const char *type);
/* A slice without others inside: its own event has its duration. */
void trace_begin_leaf(struct timeline_events *events, int64_t begin_ps, int64_t end_ps);
/* Track and time, for events with members after them. */
void trace_time(struct timeline_events *events, uint32_t tid, int64_t ps);
void trace_end(struct timeline_events *events, uint32_t pid, uint32_t tid, int64_t ps);
void trace_end_on_track(struct timeline_events *events, uint32_t pe, uint32_t track, int64_t ps);
/* The whole event that ends the slice of a "B". */
void trace_end_slice(struct timeline_events *events, uint32_t pe, uint32_t track, int64_t ps);

#endif
