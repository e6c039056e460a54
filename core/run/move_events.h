/*
 * move_events.h: all pending events go to worker 0, and back to the workers that own their LPs. It
 * is thread 0 that moves them, while it alone runs all workers (I-GATHER-1), and nothing is
 * speculative or in flight (I-GATHER-2).
 *
 * If records came from worker 0's pool and went to other workers with their events, records of
 * several workers would share cache lines permanently: threads apart were a third slower after one
 * trial. There are two ways around that:
 *   - Of up to MOVES_COPIED_MAX pending events the records are copied, when events gather and when
 *     threads part, so that each worker's events lie in records of its own pool. While worker 0
 *     handles all events, all are its own, and each event costs as much as in a sequential run. The
 *     other workers' records are unused meanwhile, so this holds only where they are a small share
 *     of
 *     the memory.
 *   - Of more events they are not, since each is a line of another core. A record comes from the
 *     pool of the worker that owns the event's LP, and goes back to it, also while worker 0 handles
 *     all events (worker_pool_of()). An event then costs more: 2 % on one machine, a fifth on
 *     another.
 * Events that come while they are gathered may make them many more. So at most MOVES_COPIED_MAX
 * records are copied in one change, and a 32nd of the memory; the rest change their owner.
 */
#ifndef CORE_MOVE_EVENTS_H
#define CORE_MOVE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/run/pace.h"
#include "core/queue/pending.h"

struct cw_sim;

/* If there are more pending events, most are in no cache, and their records are not copied. */
enum { MOVES_COPIED_MAX = 1 << 17 };

/* From the first change to the last one of a simulation; zeroed to begin with. */
struct event_moves {
    bool copies;          /* records change their owner with their events */
    uint64_t copies_left; /* of one change: records that may still be copied */
    struct pending_width
        widths[THREADING_MODES];     /* of worker 0's pending set, when it ended last, */
    bool has_width[THREADING_MODES]; /* if it has */
};

/* Worker 0 gets the pending events of all workers. `begins`: it had only its own until now, so
 * `may_copy` decides, with the number of events, whether records are copied until the threads part.
 * Cancelled events are dropped. False: memory has run out. */
bool move_events_to_first(struct event_moves *moves, struct cw_sim *sim, bool begins,
                          bool may_copy);
/* Each pending event of worker 0 goes to the owner of its LP. False: memory has run out. */
bool move_events_to_owners(struct event_moves *moves, struct cw_sim *sim);

#endif
