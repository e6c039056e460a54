/*
 * make_room.c: frees spare memory and undoes speculation near the limit (make_room.h).
 */
#include "core/speculation/make_room.h"

#include "core/speculation/fossil.h"
#include "core/speculation/rollback.h"
#include "core/speculation/timewarp.h"
#include "core/worker/worker.h"

/* Frees an event that was cancelled, as its turn would. */
static bool drop_cancelled(void *arg, const struct entry *entry)
{
    struct timewarp *const tw = arg;
    struct cw_event *const event = entry->event;
    if (!(event->reserved & EVENT_CANCELLED))
        return false;
    event_pool_put(&tw->worker->pool, event);
    tw->rollback.cancelled--;
    return true;
}

void make_room(struct timewarp *tw)
{
    struct throttle *const throttle = &tw->throttle;
    if (throttle->level < MEMORY_TIGHT)
        return;
    record_outbox_take_back(&tw->outbox);
    record_outbox_trim(&tw->outbox);
    if (throttle->level >= MEMORY_SCARCE) {
        undo_log_trim(&tw->undo_log);
        overflow_heap_trim(&tw->worker->pending.overflow);
    }
    if ((throttle->level == MEMORY_NO_MORE || throttle->refused) &&
        (tw->undo_log.live > 0 || tw->lazy.logs.count > 0)) {
        rollback_all(tw);
        fossil_collect(tw); /* frees the blocks that hold no log any more */
        undo_log_trim(&tw->undo_log);
    }
    throttle->refused = false;
    if (tw->rollback.cancelled < throttle->purge_from)
        return;
    if (!pending_purge(&tw->worker->pending, drop_cancelled, tw))
        worker_fail_for_memory(tw->worker);
    /* the cancelled events that are left are about to have their turn */
    throttle_purged(throttle, tw->rollback.cancelled, event_pool_alive(&tw->worker->pool));
}
