/*
 * first_mode.c: counts the pending events to choose how a drain begins (first_mode.h). If
 * there are few, one thread has finished a short drain before others are awake. If there are more,
 * parallel threads pay when many of the events lie within a lookahead: then no worker waits for
 * another, or speculates. Gathering very many events costs more than it may gain.
 */
#include "core/run/first_mode.h"

#include "core/queue/event.h"
#include "core/run/move_events.h"
#include "core/worker/simulation.h"
#include "core/worker/worker.h"

enum {
    TOGETHER_MOST = 1 << 10,          /* events, of all workers */
    GATHERED_MOST = MOVES_COPIED_MAX, /* to gather more costs more */
    WINDOW_EVENTS = 32, /* for each worker, within the least lookahead: fewer do not pay */
};

/* The least delay between two workers, of all that may send to each other; 0: none is promised. */
static int64_t least_lookahead_ps(const struct cw_sim *sim)
{
    const size_t n = sim->worker_count;
    const int64_t *const least_ps = sim->config.least_delay_ps;
    int64_t lookahead_ps = CW_TIME_MAX;
    for (size_t i = 0; i < n * n && least_ps != NULL; i++)
        if (i / n != i % n && least_ps[i] < lookahead_ps)
            lookahead_ps = least_ps[i];
    return least_ps == NULL ? 0 : lookahead_ps;
}

/* The events of all workers from the first one on, for this long. Nothing is opened for that:
 * memory may run out, and the buckets may go to one thread. */
static uint64_t count_within(const struct cw_sim *sim, int64_t span_ps)
{
    int64_t first_ps = CW_TIME_MAX;
    uint64_t count = 0;
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const int64_t least_ps = pending_least_ps(&sim->workers[i].pending);
        first_ps = least_ps < first_ps ? least_ps : first_ps;
    }
    const int64_t end_ps = add_saturating(first_ps, span_ps);
    for (uint32_t i = 0; i < sim->worker_count; i++)
        count += pending_count_before(&sim->workers[i].pending, end_ps);
    return count;
}

enum threading_mode first_mode(const struct cw_sim *sim)
{
    uint64_t pending = 0;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        pending += pending_count(&sim->workers[i].pending);
    if (pending <= TOGETHER_MOST)
        return THREADS_SINGLE;
    if (pending > GATHERED_MOST)
        return THREADS_PARALLEL;
    return count_within(sim, least_lookahead_ps(sim)) < (uint64_t)WINDOW_EVENTS * sim->worker_count
               ? THREADS_SINGLE
               : THREADS_PARALLEL;
}
