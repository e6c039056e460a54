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
    PATIENCE_MIN = 2,            /* looks at the others */
    PATIENCE_MIN_CROWDED = 64,   /* looks that give the core to another worker */
    PATIENCE_MAX = 256,
};

void window_init(struct timewarp *tw)
{
    const enum cw_sync sync = tw->worker->sim->config.sync;
    tw->budget = sync == CW_CONSERVATIVE ? 0
                 : sync == CW_ADAPTIVE   ? BUDGET_START
                                         : BUDGET_OPTIMISTIC;
}

/*
 * Where the safe bound rises while one waits, it is better to look out for that than to fill the
 * cache with history; where waiting was in vain, to speculate sooner the next time.
 */
static void adjust_patience(struct timewarp *tw)
{
    if (tw->worker->sim->config.sync != CW_ADAPTIVE)
        return;
    const bool in_vain = tw->patience == 0;
    unsigned patience = in_vain ? tw->patience_full / 2 : 2 * tw->patience_full;
    const unsigned least = tw->crowded ? PATIENCE_MIN_CROWDED : PATIENCE_MIN;
    patience = patience < least ? least : patience;
    tw->patience_full = patience > PATIENCE_MAX ? PATIENCE_MAX : patience;
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
