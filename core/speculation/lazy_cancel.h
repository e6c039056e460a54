/*
 * lazy_cancel.h: lazy cancellation (Gafni, Rollback Mechanisms for Optimistic Distributed
 * Simulation Systems, 1988). The messages that an undone event has sent stay where they are,
 * handled or not. When the event is handled again, each of its sends is compared with them. One
 * that is the same, bit for bit, is not sent again. The messages that were not sent again are
 * cancelled when the handler ends. All of them are cancelled if the event is cancelled itself, or
 * if its handler fails.
 *
 * An undone event with such messages carries the note EVENT_LAZY. Its log stays in the undo log, as
 * the list of the messages. A table finds the log by the event. While no event has been undone,
 * none of this costs anything.
 *
 * I-LAZY-1: while the sends of an event are kept, the event is pending on its worker, or is being
 * handled at this moment. So a late cancellation breaks no other invariant:
 *   1. Neither the worker's promise nor its report to GVT is beyond the event.
 *   2. So a cancellation that is yet to come is as late as I-PROM-1, I-GVT-1 and I-SAFE-1 ask of
 *      one that comes at once: its message was sent from an event that is not before them.
 *   3. A message that is kept is never committed. Its key is greater than the event's, which its
 *      receiver's GVT has not passed. Its time is the event's plus the delay, which its receiver's
 *      safe bound, or on the same worker the promise, has not passed.
 *
 * Entered by the worker that owns the timewarp.
 */
#ifndef CORE_LAZY_CANCEL_H
#define CORE_LAZY_CANCEL_H

#include "core/queue/event.h"

struct lazy_cancel;
struct log;
struct memory;
struct timewarp;

void lazy_cancel_init(struct lazy_cancel *lazy, struct memory *memory, bool on);
void lazy_cancel_free(struct lazy_cancel *lazy, struct memory *memory);

/* Whether the sends of an event that is now undone may be kept: not when memory is tight. */
bool lazy_cancel_may_keep(struct timewarp *tw);
/* Keeps the sends in the log of an event that has just been undone; it has some. */
void lazy_cancel_keep(struct timewarp *tw, struct cw_event *event, struct log *log);
/* The event is cancelled: so are the sends that it has kept. Here and below, cancelled events of
 * own LPs are left to rollback_work_off(). */
void lazy_cancel_drop(struct timewarp *tw, struct cw_event *event);
/* Cancels the kept sends of the next event, to make room. *place is 0 for the first one. False: no
 * event has any left. */
bool lazy_cancel_drop_next(struct timewarp *tw, size_t *place);

/* Before the handler of an event that has kept sends; takes its note away. While `log` is set, the
 * caller has ctx.keep set and no ctx.undo, so that each send asks lazy_cancel_reuse(). */
void lazy_cancel_begin(struct timewarp *tw, struct cw_event *event);
/* True: this send is one of those kept, and stays. */
bool lazy_cancel_reuse(struct timewarp *tw, const struct event_words *words, const void *payload);
/* After the handler, or its failure: cancels the kept sends that were not sent again. */
void lazy_cancel_end(struct timewarp *tw);

#endif
