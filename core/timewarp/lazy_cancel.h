/*
 * lazy_cancel.h: lazy cancellation (Gafni, Rollback Mechanisms for Optimistic Distributed
 * Simulation Systems, 1988): what an undone event sent stays where it is, handled or not. When the
 * event is handled again, what it sends is held against that: what is the same, bit for bit, is not
 * sent again, and what was not sent again is cancelled when the handler ends. If the event is
 * cancelled itself, or its handler fails, all that it kept is.
 *
 * An undone event that has sent something carries EVENT_LAZY, and its log stays in the history, as
 * the list of what is kept. A table finds it by its event. Nothing of this costs anything while
 * no event has been undone.
 *
 * I-LAZY-1: for as long as an event's sends are kept it is pending on its worker, or handled at
 * this moment. So neither that worker's promise nor its report to GVT is beyond the event, and a
 * cancellation that is yet to come is as late as I-PROM-1, I-GVT-1 and I-SAFE-1 want of one that
 * comes at once: it names a message that was sent from an event which is not before them. What is
 * kept is never committed: its key is greater than that event's, which its receiver's GVT has not
 * passed; and its time is that event's plus the delay, which its receiver's safe bound, on the same
 * worker the promise, has not passed.
 *
 * Entered by the worker that owns the timewarp.
 */
#ifndef CORE_LAZY_CANCEL_H
#define CORE_LAZY_CANCEL_H

#include "core/timewarp/undo_log.h"

struct timewarp;

/* Where in a record the rest of an ITEM_REMOTE begins: the word with the type, then the payload. */
enum { REMOTE_REST_OFFSET = 24 };

struct lazy_cancel {
    bool on;
    struct lazy_cancel_kept {
        struct cw_event *event; /* NULL: free */
        struct log *log;
    } * table; /* [capacity], a power of two; linear probing, at most half full */
    size_t count, capacity;
    /* of the event that is being handled again: */
    struct log *log;        /* NULL: none is */
    const uint64_t **items; /* [item_count]: the words of its log's sends, newest first; NULL:
                               sent again */
    size_t item_count, item_capacity;
    uint32_t sends_left;
    uint64_t reused;
};

void lazy_cancel_free(struct lazy_cancel *lazy, struct memory *memory);

/* Whether what an event sent that is undone now may be kept: not when memory is tight. */
bool lazy_cancel_may_keep(struct timewarp *tw);
/* Keeps what is in the log of an event that has just been undone, and has sent something. */
void lazy_cancel_keep(struct timewarp *tw, struct cw_event *event, struct log *log);
/* The event is cancelled: so will be what it has kept (rollback_work_off). */
void lazy_cancel_drop(struct timewarp *tw, struct cw_event *event);

/* Cancels all that is kept: to make room. */
void lazy_cancel_drop_all(struct timewarp *tw);

/* Before the handler of an event that has kept something; takes its note away. From then on
 * worker->sends_left is 0, and cw_send() asks lazy_cancel_reuse(). */
void lazy_cancel_begin(struct timewarp *tw, struct cw_event *event);
/* True: this has been sent before, and stays. */
bool lazy_cancel_reuse(struct timewarp *tw, const struct event_header *header, const void *payload);
void lazy_cancel_rest(struct timewarp *tw);

#endif
