/*
 * throttle.c: see throttle.h.
 */
#include "core/timewarp/throttle.h"

#include "core/invariant.h"

/* Cancelled events from which on a purge pays. The builds that look for bugs set few. */
#ifndef PURGE_MIN
#define PURGE_MIN 1024
#endif

enum {
    BATCH_START = 256,
    BATCH_TIGHT = 16,
    WINDOW_MIN = 1,
    WINDOW_PAYS = 64, /* a full window costs a round of GVT, and so many events are worth one */
    WINDOW_START = 512,
    WINDOW_MAX = 1 << 12,        /* more logs than the cache holds cost more than they gain */
    WINDOW_OPTIMISTIC = 1 << 16, /* a bound on memory, not a window */
    WINDOW_SHARE = 8,            /* of the memory, for the windows of all workers, */
    WINDOW_EVENT_BYTES = 256,    /* if an event takes as much, */
    WINDOW_MOST_MIN = 16,        /* but not fewer events */
    LOG_SHARE = 16,              /* of the memory, for the undo logs of all workers */
    BATCH_MOST_MIN = 16,         /* speculation between two looks where memory is small */
    BATCHES_PER_WINDOW = 8,
    EVENTS_AFTER_REFUSAL = 256, /* to commit before speculating again */
    USAGE_MIN = 256,            /* events that the window is judged by */
    /* to wait so long for a safe event is cheaper than to speculate on it: */
    TURNS_PER_SAFE = 1,
    SAFE_MIN = 4, /* events that a rise must release: each costs some cache lines and a turn */
    TURNS_PER_SAFE_WARY = 8, /* where much speculation is undone */
    PATIENCE_MIN = 1,        /* turns */
    PATIENCE_MAX = 256,
    USAGE_UNBOUNDED =
        8192,        /* as USAGE_MIN, in optimistic, before speculation is bounded in model time */
    REACH_STEPS = 4, /* in a row, which must have helped; */
    REACH_REST = 16, /* if not, so many are left out, and each time twice as many */
    REACH_REST_MAX = 1 << 12,
    BATCH_SHARE = 8, /* speculation between two looks: so much of the pending events, */
    BATCH_LEAST = 4, /* within these */
};
/* The share of events undone must fall to this part of its former value. */
static const double REACH_GAIN = 0.75;

void throttle_init(struct throttle *throttle, enum cw_sync sync, uint64_t bytes_max,
                   uint32_t workers)
{
    const uint64_t share = bytes_max / WINDOW_SHARE / WINDOW_EVENT_BYTES / workers;
    const size_t usual = sync == CW_ADAPTIVE ? WINDOW_MAX : WINDOW_OPTIMISTIC;
    const size_t most = share < WINDOW_MOST_MIN ? WINDOW_MOST_MIN : share < usual ? share : usual;
    const size_t first = sync == CW_ADAPTIVE && most > WINDOW_START ? WINDOW_START : most;
    const size_t window = sync == CW_CONSERVATIVE ? 0 : first;
    const size_t part = most / BATCHES_PER_WINDOW;
    const unsigned ahead = part > THROTTLE_AHEAD_MAX ? THROTTLE_AHEAD_MAX
                           : part < BATCH_MOST_MIN   ? BATCH_MOST_MIN
                                                     : (unsigned)part;
    *throttle = (struct throttle){.sync = sync,
                                  .window = window,
                                  .window_first = window,
                                  .window_most = most,
                                  .batch_ahead = ahead,
                                  .log_bytes_most = bytes_max / LOG_SHARE / workers,
                                  .reach.ps = CW_TIME_MAX,
                                  .batch = BATCH_START,
                                  .patience_full = PATIENCE_MAX,
                                  .purge_from = PURGE_MIN};
}

/*
 * If the last rise of the safe bound released an event for every few turns (TURNS_PER_SAFE) that
 * the worker had waited, and not too few of them, double the turns that it waits before it
 * speculates: waiting is better than filling the cache with logs. If it released fewer, or the
 * worker waited in vain, halve them. A rise that released none may be a gap in model time: no
 * change.
 */
static void adjust_patience(struct throttle *throttle, uint64_t safe)
{
    const uint64_t gained = safe - throttle->safe_before;
    throttle->safe_before = safe;
    if (throttle->sync != CW_ADAPTIVE)
        return;
    const unsigned turns = throttle->wary ? TURNS_PER_SAFE_WARY : TURNS_PER_SAFE;
    if (gained >= SAFE_MIN && gained * turns >= throttle->waited)
        throttle->patience_full *= 2;
    else if (throttle->waited > 0 && (gained > 0 || throttle->patience == 0))
        throttle->patience_full /= 2;
    if (throttle->patience_full < PATIENCE_MIN)
        throttle->patience_full = PATIENCE_MIN;
    if (throttle->patience_full > PATIENCE_MAX)
        throttle->patience_full = PATIENCE_MAX;
    throttle->waited = 0;
    throttle->patience = throttle->patience_full;
}

unsigned throttle_speculative_batch(const struct throttle *throttle, uint64_t pending)
{
    const uint64_t share = throttle->sync == CW_STRESS ? THROTTLE_AHEAD_MAX : pending / BATCH_SHARE;
    const unsigned most = throttle->batch_ahead;
    return share < BATCH_LEAST ? BATCH_LEAST : share > most ? most : (unsigned)share;
}

void throttle_adjust_batch(struct throttle *throttle, bool stopped)
{
    const unsigned batch = stopped ? throttle->batch / 2 : throttle->batch + throttle->batch / 8;
    throttle->batch = batch < THROTTLE_BATCH_MIN   ? THROTTLE_BATCH_MIN
                      : batch > THROTTLE_BATCH_MAX ? THROTTLE_BATCH_MAX
                                                   : batch;
}

static void throttle_narrow(struct throttle *throttle, size_t least)
{
    throttle->window = throttle->window / 2 < least ? least : throttle->window / 2;
}

/* The window does not narrow below this, unless memory is tight. */
static size_t window_that_pays(const struct throttle *throttle)
{
    const size_t most =
        throttle->window_most < WINDOW_PAYS ? throttle->window_most : (size_t)WINDOW_PAYS;
    return throttle->pending > most         ? most
           : throttle->pending > WINDOW_MIN ? (size_t)throttle->pending
                                            : WINDOW_MIN;
}

static void throttle_widen(struct throttle *throttle)
{
    const size_t twice = throttle->window * 2;
    throttle->window = twice > throttle->window_most ? throttle->window_most : twice;
}

/* Too many events were undone. If some steps have not helped, the bound goes again: where workers
 * wait for each other at a bound, they are more often apart in model time than those that run. Then
 * the next attempt comes later. */
static void narrow_reach(struct throttle *throttle, int64_t ahead_ps, double share)
{
    struct throttle_reach *const reach = &throttle->reach;
    if (reach->rest > 0) {
        reach->rest--;
        return;
    }
    if (reach->steps == 0)
        reach->share_first = share;
    if (reach->steps++ == REACH_STEPS) {
        reach->steps = 0;
        if (share > reach->share_first * REACH_GAIN) {
            reach->ps = CW_TIME_MAX;
            reach->rest_full = reach->rest_full == 0               ? REACH_REST
                               : reach->rest_full < REACH_REST_MAX ? reach->rest_full * 2
                                                                   : REACH_REST_MAX;
            reach->rest = reach->rest_full;
            return;
        }
        reach->rest_full = 0;
    }
    if (ahead_ps < reach->ps) /* else the bound is what held it */
        reach->ps = ahead_ps;
    reach->ps = reach->ps > 2 ? reach->ps / 2 : 1;
}

/*
 * Events between two looks at the others say little about the model time that they cover: in a
 * sparse model a worker that counts events runs far ahead. So speculation is bounded in model time,
 * too. A model may need no bound: it takes more than half of the events undone to set one. The
 * bound halves when one event in 50 is undone, and doubles when fewer than one in 400 are. In
 * `adaptive` safe events and the window keep workers together, and a bound makes them wait.
 */
void throttle_adjust_reach(struct throttle *throttle, int64_t ahead_ps)
{
    struct throttle_usage *const usage = &throttle->usage;
    struct throttle_reach *const reach = &throttle->reach;
    const bool bounded = reach->ps < CW_TIME_MAX;
    if (throttle->sync == CW_ADAPTIVE || usage->processed < (bounded ? USAGE_MIN : USAGE_UNBOUNDED))
        return;
    const double share = (double)usage->rolled_back / (double)usage->processed;
    if (share > (bounded ? 1.0 / 50 : 1.0 / 2)) {
        narrow_reach(throttle, ahead_ps, share);
    } else {
        reach->steps = 0;
        if (share < 1.0 / 400)
            reach->ps = reach->ps > CW_TIME_MAX / 4 ? CW_TIME_MAX : reach->ps * 2;
    }
    *usage = (struct throttle_usage){0};
}

void throttle_adjust(struct throttle *throttle, bool round_ended, size_t live, uint64_t safe)
{
    adjust_patience(throttle, safe);
    struct throttle_usage *const usage = &throttle->usage;
    if (throttle->sync == CW_CONSERVATIVE)
        return;
    if (throttle->level >= MEMORY_TIGHT) {
        if (round_ended) { /* half of the events that there are, not of those that there may be */
            throttle->window = live < throttle->window ? live : throttle->window;
            throttle_narrow(throttle, WINDOW_MIN);
        }
        *usage = (struct throttle_usage){0}; /* while memory decides, usage tells nothing */
        return;
    }
    if (throttle->sync != CW_ADAPTIVE) {
        throttle_widen(throttle);
        return;
    }
    if (usage->processed < USAGE_MIN)
        return;
    throttle->wary = usage->rolled_back * 12 > usage->processed;
    if (usage->rolled_back * 4 > usage->processed)
        throttle_narrow(throttle, window_that_pays(throttle));
    else if (usage->rolled_back * 8 < usage->processed)
        throttle_widen(throttle);
    *usage = (struct throttle_usage){0};
}

void throttle_read_memory(struct throttle *throttle, const struct memory *memory,
                          uint64_t committed)
{
    throttle->level = memory_level(memory);
    if (throttle->refused)
        throttle->refused_until = committed + EVENTS_AFTER_REFUSAL;
    if (throttle->level < MEMORY_SCARCE && committed < throttle->refused_until)
        throttle->level = MEMORY_SCARCE;
    throttle->allowance = throttle->level >= MEMORY_SCARCE || throttle->held ? 0 : throttle->window;
    if (throttle->level >= MEMORY_TIGHT)
        throttle->batch = BATCH_TIGHT; /* to be back here soon */
}

/* Logs that are longer than usual make the window smaller: as many more as the rest of the bytes
 * holds. */
void throttle_read_logs(struct throttle *throttle, size_t live, size_t used_bytes)
{
    if (used_bytes <= throttle->log_bytes_most / 2 || live == 0)
        return;
    const size_t rest =
        used_bytes < throttle->log_bytes_most ? throttle->log_bytes_most - used_bytes : 0;
    const size_t allowed = live + rest / (used_bytes / live + 1);
    if (allowed < throttle->allowance)
        throttle->allowance = allowed;
}

void throttle_purged(struct throttle *throttle, uint64_t cancelled, uint64_t alive)
{
    throttle->purge_from = cancelled + alive / 4 + PURGE_MIN;
}
