/*
 * window.c: how far a worker speculates (timewarp.h). The window is counted in events: what may be
 * handled and not committed at a time. A controller per worker moves it by what speculation pays:
 * as long as next to nothing is rolled back it widens, when a quarter is, it halves.
 */
#include "core/simulation.h"
#include "core/timewarp.h"

enum {
    BUDGET_MIN = 16,
    BUDGET_START = 512,
    BUDGET_MAX = 1 << 12,        /* more of history than the cache holds costs more than it gains */
    BUDGET_OPTIMISTIC = 1 << 20, /* a bound on memory, not a window */
    USAGE_MIN = 256,             /* events by which to judge */
    EVENTS_PER_LOOK = 4,
    PATIENCE_MIN = 1, /* looks at the others */
    PATIENCE_MAX = 256,
};

void window_init(struct timewarp *tw)
{
    const enum cw_sync sync = tw->worker->sim->config.sync;
    tw->budget = sync == CW_CONSERVATIVE ? 0
                 : sync == CW_ADAPTIVE   ? BUDGET_START
                                         : BUDGET_OPTIMISTIC;
    tw->patience_full = PATIENCE_MAX;
    tw->window_first = tw->budget;
}

/*
 * Where waiting brings many safe events it is better to wait than to fill the cache with history;
 * where it brings few, to speculate at once. What a look costs is worth some events.
 */
static void adjust_patience(struct timewarp *tw)
{
    const uint64_t gained = tw->safe_events - tw->safe_before;
    tw->safe_before = tw->safe_events;
    if (tw->worker->sim->config.sync != CW_ADAPTIVE)
        return;
    if (tw->waited > 0) {
        const bool pays = gained >= (uint64_t)EVENTS_PER_LOOK * tw->waited;
        tw->patience_full = pays ? 2 * tw->patience_full : tw->patience_full / 2;
    }
    if (tw->patience_full < PATIENCE_MIN)
        tw->patience_full = PATIENCE_MIN;
    if (tw->patience_full > PATIENCE_MAX)
        tw->patience_full = PATIENCE_MAX;
    tw->waited = 0;
    tw->patience = tw->patience_full;
}

void window_adjust(struct timewarp *tw)
{
    adjust_patience(tw);
    struct window_usage *const usage = &tw->usage;
    if (tw->worker->sim->config.sync != CW_ADAPTIVE || usage->processed < USAGE_MIN)
        return;
    if (usage->rolled_back * 4 > usage->processed)
        tw->budget = tw->budget / 2 < BUDGET_MIN ? BUDGET_MIN : tw->budget / 2;
    else if (usage->rolled_back * 20 < usage->processed)
        tw->budget = tw->budget * 2 > BUDGET_MAX ? BUDGET_MAX : tw->budget * 2;
    *usage = (struct window_usage){0};
}
