/*
 * move_events.c: copies pending events between pools and pending sets (move_events.h).
 */
#include "core/run/move_events.h"

#include <string.h>

#include "core/worker/simulation.h"
#include "core/speculation/timewarp.h"
#include "core/worker/worker.h"

enum {
    FEW_EVENTS = 256,
    COPIES_SHARE = 32,        /* of the memory, for records that are copied, */
    COPIED_EVENT_BYTES = 128, /* if one takes as much */
};

/* One worker's pending events on their way to others. */
struct moving {
    struct event_moves *moves;
    struct worker *from;
    bool failed; /* memory has run out */
};

/* The record that the event gets from its new owner. Where memory is short, or no copy is left, it
 * keeps its own one, which then counts as the new owner's. */
static struct cw_event *copy_record(struct moving *moving, struct worker *to,
                                    struct cw_event *event)
{
    struct worker *const from = moving->from;
    const uint64_t most = to->pool.alive_max;
    struct cw_event *copy = NULL;
    if (moving->moves->copies_left > 0 && memory_level(&from->sim->memory) < MEMORY_TIGHT) {
        moving->moves->copies_left--;
        copy = event_pool_get(&to->pool, event->payload_bytes);
    }
    if (copy != NULL) {
        memcpy(copy, event, offsetof(struct cw_event, payload) + event->payload_bytes);
        event_pool_put(&from->pool, event);
    } else {
        event_pool_count_out(&from->pool);
        event_pool_count_in(&to->pool);
    }
    if (to->pool.alive_max > most)
        event_pool_hand_over(&from->pool);
    return copy != NULL ? copy : event;
}

/* If the event's record stays its owner's, it is not looked at: it lies in the other core's cache.
 */
static void move_event(struct moving *moving, struct worker *to, const struct entry *entry)
{
    struct entry moved = *entry;
    if (moving->moves->copies)
        moved.event = copy_record(moving, to, entry->event);
    if (!pending_push(&to->pending, moved))
        moving->failed = true;
}

/* Drops a cancelled event, as its turn would. */
static bool drop_if_cancelled(struct worker *from, struct cw_event *event)
{
    if (from->timewarp->rollback.cancelled == 0 || !(event->reserved & EVENT_CANCELLED))
        return false;
    event_pool_put(&from->pool, event);
    from->timewarp->rollback.cancelled--;
    return true;
}

static bool move_to_first(void *arg, const struct entry *entry)
{
    struct moving *const moving = arg;
    if (!drop_if_cancelled(moving->from, entry->event))
        move_event(moving, moving->from->sim->workers, entry);
    return true;
}

static bool move_to_owner(void *arg, const struct entry *entry)
{
    struct moving *const moving = arg;
    struct cw_sim *const sim = moving->from->sim;
    const uint32_t owner = sim->config.lp_worker[entry_lp(entry)];
    if (owner != 0)
        move_event(moving, &sim->workers[owner], entry);
    return owner != 0;
}

static bool drop_cancelled_event(void *arg, const struct entry *entry)
{
    return drop_if_cancelled(arg, entry->event);
}

static uint64_t count_pending(const struct cw_sim *sim)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        count += pending_count(&sim->workers[i].pending);
    return count;
}

/* Worker 0 has the events of all workers now, or its own again. Its pending set continues with the
 * width that it had when it was last in the same mode. Of many events it soon finds another one
 * that is as good. */
static bool change_width(struct event_moves *moves, struct pending *pending,
                         enum threading_mode mode)
{
    const struct pending_width *const width = &moves->widths[mode];
    return !moves->copies || pending_reopen(pending, moves->has_width[mode] ? width : NULL);
}

static void keep_width(struct event_moves *moves, const struct pending *pending,
                       enum threading_mode mode)
{
    moves->widths[mode] = pending_width(pending);
    moves->has_width[mode] = true;
}

/* The most records that may be copied at a time: their old ones are not given back. */
static uint64_t copies_most(const struct cw_sim *sim)
{
    const uint64_t most = sim->memory.bytes_max / COPIES_SHARE / COPIED_EVENT_BYTES;
    return most < MOVES_COPIED_MAX ? most : MOVES_COPIED_MAX;
}

/* Takes all pending events from a worker, and gives them to worker 0. Of few events each takes its
 * turn, as at the beginning of a drain: that leaves the buckets as they are. */
static bool move_from(struct event_moves *moves, struct worker *from)
{
    struct moving moving = {.moves = moves, .from = from};
    const struct entry *least;
    if (pending_count(&from->pending) > FEW_EVENTS)
        return pending_sift(&from->pending, move_to_first, &moving) && !moving.failed;
    while ((least = pending_peek(&from->pending)) != NULL) {
        const struct entry entry = *least;
        pending_pop(&from->pending, least);
        (void)move_to_first(&moving, &entry);
    }
    return !from->pending.out_of_memory && !moving.failed;
}

bool move_events_to_first(struct event_moves *moves, struct cw_sim *sim, bool begins, bool may_copy)
{
    struct worker *const first = &sim->workers[0];
    if (first->timewarp->rollback.cancelled > 0 &&
        !pending_sift(&first->pending, drop_cancelled_event, first))
        return false;
    const bool tuned = first->committed > first->restored;
    if (begins) /* else it was decided then */
        moves->copies = may_copy && count_pending(sim) <= copies_most(sim);
    moves->copies_left = copies_most(sim);
    if (begins && tuned)
        keep_width(moves, &first->pending, THREADS_PARALLEL);
    for (uint32_t i = 1; i < sim->worker_count; i++)
        if (pending_count(&sim->workers[i].pending) > 0 && !move_from(moves, &sim->workers[i]))
            return false;
    return !begins || !tuned || change_width(moves, &first->pending, THREADS_SINGLE);
}

bool move_events_to_owners(struct event_moves *moves, struct cw_sim *sim)
{
    struct pending *const pending = &sim->workers[0].pending;
    struct moving moving = {.moves = moves, .from = &sim->workers[0]};
    keep_width(moves, pending, THREADS_SINGLE);
    moves->copies_left = copies_most(sim);
    return pending_sift(pending, move_to_owner, &moving) && !moving.failed &&
           change_width(moves, pending, THREADS_PARALLEL);
}
