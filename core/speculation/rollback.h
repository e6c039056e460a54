/*
 * rollback.h: undoing events that were handled speculatively: for a straggler, for a cancellation,
 * after a handler's failure, in the stress mode, and to make room.
 *
 * An LP rolls back by undoing its events, newest first. For each event the before-images go back
 * into the state, its sends are cancelled, or kept (lazy_cancel.h), and it is pending again.
 * Cancelling an own event that was handled rolls its LP back in turn. Such events are worked off
 * from a list, not by recursion. A cancelled event stays in the pending set and is freed when its
 * turn comes.
 *
 * Entered by the worker that owns the timewarp.
 */
#ifndef CORE_ROLLBACK_H
#define CORE_ROLLBACK_H

#include "core/queue/event.h"

struct timewarp;

/* Undoes the events that the LP has handled and that come after this one. They are pending again.
 */
void rollback_straggler(struct timewarp *tw, const struct entry *straggler);
/* Stress mode: undoes an event that was handled, and the events that its LP has handled since. */
void rollback_event(struct timewarp *tw, const struct cw_event *event);
/* Undoes all events that were handled and are not committed, except the events on which GVT, the
 * safe bound, or this worker's promise or report relies. */
void rollback_all(struct timewarp *tw);
/* Undoes all events that were handled and are not committed. Only where the bounds do not count any
 * more (core/run/migrate.h). */
void rollback_rest(struct timewarp *tw);
/* Undoes the open log of a handler that failed. */
void rollback_open(struct timewarp *tw);
/* Another worker cancels this event: it is undone if it was handled, and will not be handled. */
void rollback_cancel(struct timewarp *tw, struct cw_event *event);

/* Cancels the events of own LPs that send_cancel_logged() has left (send.h). */
void rollback_work_off(struct timewarp *tw);

#endif
