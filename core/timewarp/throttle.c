/*
 * throttle.c: how far a worker speculates (timewarp.h). The window is counted in events: what may
 * be handled and not committed at a time. A controller per worker moves it by what speculation
 * pays: as long as next to nothing is rolled back it widens, when a quarter is, it halves. Memory
 * comes first: from 70 % of the limit on the window halves with every round, from 85 % on only safe
 * events are handled, at 95 % what was speculated is undone. That aims at what a sequential run
 * needs and a little more; undoing may itself need memory, for cancellations.
 */
#include "core/simulation.h"
#include "core/timewarp/timewarp.h"

enum {
    BATCH_START = 256,
    BATCH_TIGHT = 16,
    WINDOW_MIN = 1,
    WINDOW_START = 512,
    WINDOW_MAX = 1 << 12,        /* more of history than the cache holds costs more than it gains */
    WINDOW_OPTIMISTIC = 1 << 20, /* a bound on memory, not a window */
    PURGE_MIN = 1024,            /* cancelled events */
    EVENTS_AFTER_REFUSAL = 256,  /* to commit before speculating again */
    USAGE_MIN = 256,             /* events by which to judge */
    SAFE_MANY = 16,
    PATIENCE_MIN = 1, /* looks at the others */
    PATIENCE_MAX = 256,
};

void throttle_init(struct timewarp *tw)
{
    const enum cw_sync sync = tw->worker->sim->config.sync;
    tw->window = sync == CW_CONSERVATIVE ? 0
                 : sync == CW_ADAPTIVE   ? WINDOW_START
                                         : WINDOW_OPTIMISTIC;
    tw->batch = BATCH_START;
    tw->patience_full = PATIENCE_MAX;
    tw->purge_from = PURGE_MIN;
    tw->window_first = tw->window;
}

/*
 * Where the safe bound, when it rises, lets many events through, it is better to wait for that than
 * to fill the cache with history; where it lets few, or the wait was in vain, to speculate at once.
 * A rise that lets none through says nothing: there may be a gap in the model's time.
 */
static void adjust_patience(struct timewarp *tw)
{
    const uint64_t gained = tw->safe_events - tw->safe_before;
    tw->safe_before = tw->safe_events;
    if (tw->worker->sim->config.sync != CW_ADAPTIVE)
        return;
    if (gained >= SAFE_MANY)
        tw->patience_full *= 2;
    else if (tw->waited > 0 && (gained > 0 || tw->patience == 0))
        tw->patience_full /= 2;
    if (tw->patience_full < PATIENCE_MIN)
        tw->patience_full = PATIENCE_MIN;
    if (tw->patience_full > PATIENCE_MAX)
        tw->patience_full = PATIENCE_MAX;
    tw->waited = 0;
    tw->patience = tw->patience_full;
}

static void throttle_narrow(struct timewarp *tw)
{
    tw->window = tw->window / 2 < WINDOW_MIN ? WINDOW_MIN : tw->window / 2;
}

static void throttle_widen(struct timewarp *tw)
{
    const bool adaptive = tw->worker->sim->config.sync == CW_ADAPTIVE;
    const size_t most = adaptive ? WINDOW_MAX : WINDOW_OPTIMISTIC;
    tw->window = tw->window * 2 > most ? most : tw->window * 2;
}

void throttle_adjust(struct timewarp *tw, bool round_ended)
{
    adjust_patience(tw);
    struct throttle_usage *const usage = &tw->usage;
    const enum cw_sync sync = tw->worker->sim->config.sync;
    if (sync == CW_CONSERVATIVE)
        return;
    if (tw->level >= MEMORY_TIGHT) { /* half of what there is, rather than of what there might be */
        if (round_ended) {
            tw->window = tw->undo_log.live < tw->window ? tw->undo_log.live : tw->window;
            throttle_narrow(tw);
        }
        *usage = (struct throttle_usage){0}; /* what memory asks for says nothing of what pays */
        return;
    }
    if (sync != CW_ADAPTIVE) {
        throttle_widen(tw);
        return;
    }
    if (usage->processed < USAGE_MIN)
        return;
    if (usage->rolled_back * 4 > usage->processed)
        throttle_narrow(tw);
    else if (usage->rolled_back * 20 < usage->processed)
        throttle_widen(tw);
    *usage = (struct throttle_usage){0};
}

/* Frees an event that was cancelled, as its turn would. */
static bool drop_cancelled(void *arg, struct cw_event *event)
{
    struct timewarp *const tw = arg;
    if (!(event->reserved & EVENT_CANCELLED))
        return false;
    event_pool_put(&tw->worker->pool, event);
    tw->cancelled--;
    return true;
}

void throttle_apply_memory_level(struct timewarp *tw)
{
    const uint64_t committed = tw->worker->committed;
    tw->level = memory_level(&tw->worker->sim->memory);
    if (tw->refused)
        tw->refused_until = committed + EVENTS_AFTER_REFUSAL;
    if (tw->level < MEMORY_SCARCE && committed < tw->refused_until)
        tw->level = MEMORY_SCARCE;
    tw->allowance = tw->level >= MEMORY_SCARCE ? 0 : tw->window;
    if (tw->level < MEMORY_TIGHT)
        return;
    tw->batch = BATCH_TIGHT; /* to be back here soon */
    record_outbox_trim(&tw->outbox);
    if (tw->level >= MEMORY_SCARCE)
        undo_log_trim(&tw->undo_log);
    if ((tw->level == MEMORY_NO_MORE || tw->refused) &&
        (tw->undo_log.live > 0 || tw->lazy.count > 0)) {
        rollback_all(tw);
        fossil_collect(tw); /* frees the blocks that hold no log any more */
        undo_log_trim(&tw->undo_log);
    }
    tw->refused = false;
    if (tw->cancelled < tw->purge_from)
        return;
    if (!pending_purge(&tw->worker->pending, drop_cancelled, tw))
        worker_fail_for_memory(tw->worker);
    /* those left are about to have their turn */
    tw->purge_from = tw->cancelled + tw->worker->pool.alive / 4 + PURGE_MIN;
}
