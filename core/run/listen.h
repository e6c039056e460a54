/*
 * listen.h: the LP that only listens (cw_tuning.listener; ENGINE.md, "Listener"): its handler sends
 * nothing and emits nothing. So nothing depends on when its events are handled, and they are
 * handled after all others, at the end of a drain.
 *
 * Until then each worker keeps the events that its own LPs have sent to it: records of the worker's
 * own pool, which no bound, promise or round of GVT knows of. Undoing such a send marks the event
 * as cancelled, as for any event of the worker's own LPs. When the drain is over: 1. Each worker
 * frees its cancelled ones, and sorts the rest. 2. The total order is cut into as many stretches as
 * there are workers. Each worker merges one. 3. The thread that drains handles them, one after the
 * other: the trace hash allows no more. 4. Each worker frees its own. Few events are not worth
 * waking the threads: then the thread that drains does all.
 *
 * I-LISTEN-1: in step 3 each event that is kept, and comes before the end of the drain, is final,
 * and none is missing. They are handled in the total order. (In a run that failed, read: before the
 * failed event.) Proof:
 *   1. All events before the end are committed. An event comes after its cause. So the cause of
 *      each event in question is committed, and all that it has sent is kept.
 *   2. A kept event whose cause was undone is marked as cancelled: at once, or, where sends are
 *      kept for reuse (lazy_cancel.h), when the cause has been handled again without sending it.
 *   3. No further event comes, since the listener sends none.
 *   4. Each event is in one list. Each list is sorted, and a stretch has of each list the part
 *      between the same two cuts. So the merged events are in the total order, each once.
 *
 * Threads: a worker's list is its own while workers run; then as the steps say. I-THREADS-1 orders
 * the steps.
 */
#ifndef CORE_LISTEN_H
#define CORE_LISTEN_H

#include "core/worker/worker.h"

/* More room in a full list: cancelled events go first. False: out of memory. */
bool listen_make_room(struct worker *worker);

/* Whether one more event may be added. False: out of memory. */
static inline bool listen_reserve(struct worker *worker)
{
    return __builtin_expect(worker->listened.count < worker->listened.capacity, 1) ||
           listen_make_room(worker);
}

/* Adds an event, whose record is of this worker's pool; there is room. */
static inline void listen_add(struct worker *worker, struct entry entry)
{
    worker->listened.entries[worker->listened.count++] = entry;
}

/* From a handler: an event for the LP that only listens. Returns it; its record is of this worker's
 * pool. */
struct cw_event *listen_send(struct worker *worker, const struct event_header *header,
                             const void *payload);

/* Calls fn(arg, worker) for each worker, on its thread: parallel_each_worker(). */
typedef void (*listen_each_fn)(struct cw_sim *sim, cw_worker_fn fn, void *arg);

/* The drain is over: handles all events before its end, and before `failed`, at which the drain has
 * failed; NULL: it has not. The others stay, for the next drain. Returns CW_OK or the exit code of
 * *error: a handler has failed, or there is no memory. */
int listen_handle(struct cw_sim *sim, listen_each_fn each, const struct cw_event *failed,
                  struct cw_error *error);

void listen_free(struct worker *worker);

#endif
