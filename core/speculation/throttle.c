/*
 * throttle.c: the controllers of window, patience and batch (throttle.h).
 */
#include "core/speculation/throttle.h"

#include "core/invariant.h"

/* Cancelled events from which on a purge pays. The builds that look for bugs set few. */
#ifndef PURGE_MIN
#define PURGE_MIN 1024
#endif

enum {
    BATCH_START = 256,
    BATCH_TIGHT = 16,
    WINDOW_MIN = 1,
    WINDOW_PAYS = 64, /* a full window costs a round of GVT, and this many events are worth one */
    WINDOW_START = 512,
    WINDOW_MAX = 1 << 12, /* more logs than the cache holds cost more than they gain */
    /* By this many events a round of GVT has normally started and finished: */
    WINDOW_OPTIMISTIC = 2 * GVT_LIVE_BEFORE_ROUND,
    WINDOW_STRESS = 1 << 16,  /* a bound on memory, not a window */
    WINDOW_SHARE = 8,         /* of the memory, for the windows of all workers, */
    WINDOW_EVENT_BYTES = 256, /* if an event takes as much, */
    WINDOW_MOST_MIN = 16,     /* but not fewer events */
    LOG_SHARE = 16,           /* of the memory, for the undo logs of all workers */
    BATCH_MOST_MIN = 16,      /* speculation between two looks where memory is small */
    BATCHES_PER_WINDOW = 8,
    EVENTS_AFTER_REFUSAL = 256, /* to commit before speculating again */
    USAGE_MIN = 256,            /* events that the window is judged by */
    /* waiting this long for a safe event is cheaper than speculating on it: */
    TURNS_PER_SAFE = 1,
    SAFE_MIN = 4, /* events that a rise must release: each costs some cache lines and a turn */
    TURNS_PER_SAFE_LONG = 8, /* where much speculation is undone */
    PATIENCE_MIN = 1,        /* turns */
    PATIENCE_MAX = 256,
    BATCH_SHARE = 8, /* speculation between two looks: this fraction of the pending events, */
    BATCH_LEAST = 4, /* within these */
};

/* The window halves when more than one speculative event in `much` was undone, and doubles when
 * fewer than one in `little` were. In `adaptive` most events are safe, and the others take time
 * that would be idle. In `optimistic` all are speculative, and undoing loses time. */
static const struct shares {
    unsigned much, little;
} shares_adaptive = {4, 8}, shares_optimistic = {8, 32};

void throttle_init(struct throttle *throttle, enum cw_sync sync, uint64_t bytes_max,
                   uint32_t workers)
{
    const uint64_t share = bytes_max / WINDOW_SHARE / WINDOW_EVENT_BYTES / workers;
    const size_t usual = sync == CW_ADAPTIVE     ? WINDOW_MAX
                         : sync == CW_OPTIMISTIC ? WINDOW_OPTIMISTIC
                                                 : WINDOW_STRESS;
    const size_t most = share < WINDOW_MOST_MIN ? WINDOW_MOST_MIN : share < usual ? share : usual;
    const size_t first = sync == CW_ADAPTIVE && most > WINDOW_START ? WINDOW_START : most;
    const size_t window = sync == CW_CONSERVATIVE ? 0 : first;
    const size_t part = share / BATCHES_PER_WINDOW;
    /* Among many workers a worker rests between rounds, so a narrow window would usually be full.
     */
    const size_t pays =
        sync == CW_OPTIMISTIC && workers > GVT_WORKERS_FEW ? WINDOW_OPTIMISTIC : WINDOW_PAYS;
    const unsigned ahead = part > THROTTLE_AHEAD_MAX ? THROTTLE_AHEAD_MAX
                           : part < BATCH_MOST_MIN   ? BATCH_MOST_MIN
                                                     : (unsigned)part;
    *throttle = (struct throttle){.sync = sync,
                                  .window = window,
                                  .window_first = window,
                                  .window_most = most,
                                  .batch_ahead = ahead,
                                  .log_bytes_most = bytes_max / LOG_SHARE / workers,
                                  .window_min = pays < most ? pays : most,
                                  .batch = BATCH_START,
                                  .patience_full = PATIENCE_MAX,
                                  .purge_from = PURGE_MIN};
}

/*
 * If the last rise of the safe bound released an event for every few turns (TURNS_PER_SAFE) that
 * the worker had waited, and not too few of them, the turns that it waits before it speculates are
 * doubled: waiting is better than filling the cache with logs. If it released fewer, or the worker
 * waited in vain, the turns are halved. A rise that released none may be a gap in model time: no
 * change.
 */
static void adjust_patience(struct throttle *throttle, uint64_t safe)
{
    const uint64_t gained = safe - throttle->safe_before;
    throttle->safe_before = safe;
    if (throttle->sync != CW_ADAPTIVE)
        return;
    const unsigned turns = throttle->prefer_waiting ? TURNS_PER_SAFE_LONG : TURNS_PER_SAFE;
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

/* The window does not narrow below this, unless memory is tight. In `adaptive` a worker without a
 * window still has its safe events. */
static size_t window_that_pays(const struct throttle *throttle)
{
    return throttle->sync != CW_ADAPTIVE || throttle->pending > throttle->window_min
               ? throttle->window_min
           : throttle->pending > WINDOW_MIN ? (size_t)throttle->pending
                                            : WINDOW_MIN;
}

static void throttle_widen(struct throttle *throttle)
{
    const size_t twice = throttle->window * 2;
    throttle->window = twice > throttle->window_most ? throttle->window_most : twice;
}

/* Moves the window by the share of events that was undone. */
static void adjust_window(struct throttle *throttle)
{
    struct throttle_usage *const usage = &throttle->usage;
    const struct shares shares =
        throttle->sync == CW_ADAPTIVE ? shares_adaptive : shares_optimistic;
    const size_t least = window_that_pays(throttle);
    if (throttle->memory_limited && throttle->window < least)
        throttle->window = least;
    throttle->memory_limited = false;
    if (usage->processed < USAGE_MIN)
        return;
    throttle->prefer_waiting = usage->rolled_back * 12 > usage->processed;
    if (usage->rolled_back * shares.much > usage->processed)
        throttle_narrow(throttle, least);
    else if (usage->rolled_back * shares.little < usage->processed)
        throttle_widen(throttle);
    *usage = (struct throttle_usage){0};
}

void throttle_adjust(struct throttle *throttle, bool round_ended, size_t live, uint64_t safe)
{
    adjust_patience(throttle, safe);
    if (throttle->sync == CW_CONSERVATIVE)
        return;
    if (throttle->level >= MEMORY_TIGHT) {
        if (round_ended) { /* half of the events that are live, not of the window */
            throttle->window = live < throttle->window ? live : throttle->window;
            throttle_narrow(throttle, WINDOW_MIN);
            throttle->memory_limited = true;
        }
        throttle->usage = (struct throttle_usage){0}; /* memory decides: usage says nothing */
    } else if (throttle->sync == CW_STRESS) {
        throttle_widen(throttle);
    } else {
        adjust_window(throttle);
    }
}

void throttle_read_memory(struct throttle *throttle, const struct memory *memory,
                          uint64_t committed)
{
    throttle->level = memory_level(memory);
    if (throttle->refused)
        throttle->refused_until = committed + EVENTS_AFTER_REFUSAL;
    if (throttle->level < MEMORY_SCARCE && committed < throttle->refused_until)
        throttle->level = MEMORY_SCARCE;
    throttle->allowance =
        throttle->level >= MEMORY_SCARCE || throttle->disabled ? 0 : throttle->window;
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
