/*
 * cause_trace.h: reports to the host, for each committed event, which event's handler has sent it,
 * and for some events how long handling them took (cw_trace_fn). In the sequential engine only,
 * whose ordinary loop does not contain it.
 *
 * The causes of pending events are in a table beside them, by the event's address, which is unique
 * while the event is pending. On the host's thread.
 */
#ifndef CORE_CAUSE_TRACE_H
#define CORE_CAUSE_TRACE_H

#include "core/cw.h"
#include "core/os/table.h"

struct cause_trace {
    cw_trace_fn fn; /* NULL: the host wants no report */
    void *arg;
    struct table causes; /* of pending events, by the event's address */
    uint64_t drain;
    /* of the event that is being handled */
    bool sampled;
    unsigned pauses;
    double since_s, paused_s, pause_since_s;
    double clock_s; /* the time that reading the clock takes */
};

void cause_trace_init(struct cause_trace *trace, struct memory *memory, cw_trace_fn fn, void *arg);
void cause_trace_free(struct cause_trace *trace);

/* The event with index `cause` has sent this event. False: out of memory. */
bool cause_trace_sent(struct cause_trace *trace, const struct cw_event *event, uint64_t cause);

/* Around the index-th event, from before it is looked for until it is committed. */
void cause_trace_begin(struct cause_trace *trace, uint64_t index);
/* Forgets the event's cause, and returns it. */
uint64_t cause_trace_take_cause(struct cause_trace *trace, const struct cw_event *event);
void cause_trace_end(struct cause_trace *trace, const struct cw_event *event, uint64_t index,
                     uint64_t cause);

#endif
