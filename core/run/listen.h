/*
 * listen.h: the listener (cw_tuning.listener; ENGINE.md, "Listener"), an LP whose handler neither
 * sends nor emits. Nothing depends on when its events are handled, so they wait for the end of the
 * drain, after all other events.
 *
 * Until then each worker keeps a list of the events that its LPs have sent to the listener. They
 * come from the worker's own pool; no bound, promise or GVT round includes them. Undoing such a
 * send marks the event as cancelled, as for any event between a worker's own LPs. After the drain:
 *   1. Each worker frees its cancelled events, and sorts the rest.
 *   2. The total order is cut into as many stretches as there are workers. Each worker merges one.
 *   3. The draining thread handles the events one by one, because the trace hash depends on their
 *      order.
 *   4. Each worker frees its own events.
 * A few events are not worth waking the threads: then the draining thread does everything.
 *
 * I-LISTEN-1: step 3 handles all of the listener's events before the end of the drain (in a run
 * that failed: before the failed event), in the total order, and each of them is final. Proof:
 *   1. All events before the end are committed. An event comes after its cause. So the cause of
 *      each event in question is committed, and everything that it sent to the listener is in a
 *      list.
 *   2. A listed event whose cause was undone is marked as cancelled: at once, or, where sends are
 *      kept for reuse (lazy_cancel.h), when the cause has been handled again without sending it.
 *   3. No event is added later, since the listener sends none.
 *   4. Each event is in one list. Each list is sorted, and a stretch has the part of each list
 *      between the same two cuts. So the merged events are in the total order, each once.
 *
 * Threads: while the workers run, each owns its list; after that, as the steps say. I-THREADS-1
 * orders the steps.
 */
#ifndef CORE_LISTEN_H
#define CORE_LISTEN_H

#include "core/worker/worker.h"

/* Makes room in a full list, first by freeing cancelled events. False: out of memory. */
bool listen_make_room(struct worker *worker);

/* Whether one more event may be added. False: out of memory. */
static inline bool listen_reserve(struct worker *worker)
{
    return __builtin_expect(worker->listened.count < worker->listened.capacity, 1) ||
           listen_make_room(worker);
}

/* Adds an event from this worker's pool; there is room. */
static inline void listen_add(struct worker *worker, struct entry entry)
{
    worker->listened.entries[worker->listened.count++] = entry;
}

/* From a handler: sends an event to the listener. Returns it, from this worker's pool. */
struct cw_event *listen_send(struct worker *worker, const struct event_header *header,
                             const void *payload);

/* Calls fn(arg, worker) for each worker, on its thread: parallel_each_worker(). */
typedef void (*listen_each_fn)(struct cw_sim *sim, cw_worker_fn fn, void *arg);

/* After a drain: handles all events before its end, and before `failed`, the event at which the
 * drain failed (NULL: it did not). Later events stay for the next drain. Returns CW_OK, or the exit
 * code of *error: a handler failed, or memory ran out. */
int listen_handle(struct cw_sim *sim, listen_each_fn each, const struct cw_event *failed,
                  struct cw_error *error);

void listen_free(struct worker *worker);

#endif
