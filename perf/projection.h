/*
 * projection.h: the largest gain that more workers than this machine has could bring, worked out
 * from one traced sequential run: each event, its cause, its LP and its cost. A projection
 * is an upper bound under its own assumptions, never a measurement: messages, undo, GVT and the
 * cache cost nothing in it.
 *
 *   critical path   as many workers as LPs: an event begins when its cause and the event before it
 *                   on its LP have ended
 *   ordered         each worker takes the events of its LPs in their order; an event begins when
 *                   its cause has ended and its worker is free. The bound of a worker that never
 *                   speculates and learns of each event at once
 *   windowed        all workers meet after each window of the lookahead's length, which begins at
 *                   the least event that is left; a window lasts as long as its busiest worker
 *
 * An event costs the mean of its type's samples. All workers meet between drains.
 */
#ifndef PERF_PROJECTION_H
#define PERF_PROJECTION_H

#include <stdio.h>

#include "core/cw.h"

/* Committed events in their order, as arrays, so that many fit: 18 bytes each. */
struct perf_trace {
    int64_t *time_ps;
    uint32_t *lp, *cause; /* UINT32_MAX: injected */
    uint16_t *type;
    size_t count, room;
    uint64_t left_out;   /* events that came after the room was full */
    size_t *drain_begin; /* [drain_count]: its first event */
    size_t drain_count, drain_room;
    struct perf_type_cost *costs; /* [65,536] by type */
    bool out_of_memory;
};

struct perf_type_cost {
    uint64_t samples, samples_long; /* samples_long: of PERF_LONG_S or more */
    uint64_t events, events_all;    /* in the trace; of the whole run */
    double sum_s, sum_long_s;       /* of the samples, and of the long ones */
};

/* A placement of LPs on workers, and the least delay of any event between two of them. */
struct perf_placement {
    uint32_t workers;
    const uint32_t *lp_worker; /* [lp_count] */
    int64_t lookahead_ps;      /* 0: none; CW_TIME_MAX: they send each other nothing */
};

struct perf_projection {
    double total_s, critical_s, ordered_s;
    double windowed_s; /* 0: without lookahead there are no windows */
};

/* Room for so many events. False: out of memory. */
bool perf_trace_create(struct perf_trace *trace, size_t events_max);
void perf_trace_free(struct perf_trace *trace);
/* A cw_trace_fn; `arg` is a struct perf_trace. */
void perf_trace_note(void *arg, const struct cw_event *event, const struct cw_trace *told);

/* A sample so long is one during which the thread lost its core, unless one in a hundred of its
 * type is as long. */
#define PERF_LONG_S 50e-6
/* The mean cost of a type; of all events, where it was never sampled. */
double perf_trace_cost_s(const struct perf_trace *trace, uint16_t type);

/* CW_NO_RESOURCE, with *error filled, if there is no memory for it. */
int perf_project(const struct perf_trace *trace, uint32_t lp_count,
                 const struct perf_placement *placement, struct perf_projection *projection,
                 struct cw_error *error);

#endif
