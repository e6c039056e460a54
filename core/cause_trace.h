/*
 * cause_trace.h: telling somebody of each committed event which event's handler had sent it, and of
 * some what handling them took (cw_trace_fn): for the sequential engine only, whose ordinary loop
 * knows nothing of it.
 *
 * The causes of pending events are in a table beside them, by the address of the record, which is
 * nobody else's while the event is pending.
 */
#ifndef CORE_CAUSE_TRACE_H
#define CORE_CAUSE_TRACE_H

#include "core/cw.h"
#include "core/memory/table.h"

struct cause_trace {
    cw_trace_fn fn; /* NULL: the host does not want to be told */
    void *arg;
    struct table causes; /* of pending events, by the event's address */
    uint64_t drain;
    /* of the event that is being handled */
    bool sampled;
    unsigned pauses;
    double since_s, paused_s, pause_since_s;
    double clock_s; /* what reading the clock takes */
};

void cause_trace_init(struct cause_trace *trace, struct memory *memory, cw_trace_fn fn, void *arg);
void cause_trace_free(struct cause_trace *trace);

/* An event was sent by that one's handler. False: out of memory. */
bool cause_trace_sent(struct cause_trace *trace, const struct cw_event *event, uint64_t cause);

/* Around the index-th event, from before it is looked for until it is committed. */
void cause_trace_begin(struct cause_trace *trace, uint64_t index);
/* Forgets the event's cause, and returns it. */
uint64_t cause_trace_take_cause(struct cause_trace *trace, const struct cw_event *event);
void cause_trace_end(struct cause_trace *trace, const struct cw_event *event, uint64_t index,
                     uint64_t cause);

#endif
