/*
 * cause_trace.h: telling somebody of each committed event which event's handler had sent it, and of
 * some what handling them took (cw_trace_fn): for the sequential engine only, whose ordinary loop
 * knows nothing of it.
 *
 * The causes of pending events are in a table beside them, by the address of the record, which is
 * nobody else's while the event is pending.
 */
#ifndef CORE_TRACE_H
#define CORE_TRACE_H

#include "core/cw.h"
#include "core/memory/memory.h"

struct trace_slot {
    const struct cw_event *event; /* NULL: free */
    uint64_t cause;
};

struct trace {
    struct memory *memory;
    cw_trace_fn fn; /* NULL: nobody wants to know */
    void *arg;
    struct trace_slot *slots;
    size_t slot_count; /* 0, or a power of 2 */
    size_t used;
    uint64_t drain;
    /* of the event that is handled */
    bool sampled;
    unsigned pauses;
    double since_s, paused_s, pause_since_s;
    double clock_s; /* what reading the clock takes */
};

void trace_init(struct trace *trace, struct memory *memory, cw_trace_fn fn, void *arg);
void trace_free(struct trace *trace);

/* An event was sent by that one's handler. False: out of memory. */
bool trace_sent(struct trace *trace, const struct cw_event *event, uint64_t cause);

/* Around the index-th event, from before it is looked for until it is committed. */
void trace_begin(struct trace *trace, uint64_t index);
/* Forgets the event's cause, and returns it. */
uint64_t trace_take_cause(struct trace *trace, const struct cw_event *event);
void trace_end(struct trace *trace, const struct cw_event *event, uint64_t index, uint64_t cause);

#endif
