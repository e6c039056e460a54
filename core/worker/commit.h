/*
 * commit.h: the last steps of an event that was handled, in every mode: its LP's trace hash takes
 * it in, and once it is final it is counted and its memory is free again. On the worker that owns
 * its LP.
 */
#ifndef CORE_COMMIT_H
#define CORE_COMMIT_H

#include "core/worker/trace_hash.h"
#include "core/worker/worker.h"

/* Right after the handler, while the event is in the nearest cache. Its `reserved` must be 0. */
static inline void commit_hash(const struct worker *worker, struct lp_block *block,
                               const struct cw_event *event)
{
    if (__builtin_expect(!worker->hash_off, 1))
        block->hash = trace_hash_event(block->hash, event);
}

/* `events` more are final, the latest at `latest_ps`. */
static inline void commit_count(struct worker *worker, uint64_t events, int64_t latest_ps)
{
    worker->reached_ps = latest_ps > worker->reached_ps ? latest_ps : worker->reached_ps;
    worker->committed += events;
}

/* Counts and frees one event that is final. `pool`: the pool of its record. */
static inline void commit_free(struct worker *worker, struct event_pool *pool,
                               struct cw_event *event)
{
    commit_count(worker, 1, event->time_ps);
    event_pool_put(pool, event);
}

#endif
