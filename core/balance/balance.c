/*
 * balance.c: see balance.h.
 */
#include "core/balance/balance.h"

#include <string.h>

#include "core/balance/migrate.h"
#include "core/exchange/gvt_slot.h"
#include "core/host/clock.h"
#include "core/simulation.h"
#include "core/timewarp/timewarp.h"
#include "core/worker.h"

enum {
    LOOKS_BEFORE_MOVE = 4,     /* in a row that find the workers uneven */
    OUTLIER = 32,              /* an event that took so many times the mean was interrupted */
    MOVES_PER_PLAN_MAX = 4096, /* pairs of workers that one plan looks at */
};

#define LOOK_S      0.010 /* between two looks */
#define PAUSE_S     0.100 /* after a move: the least time before the next, and that of the trial */
#define PAUSE_S_MAX 60.0
#define SETTLE_S    0.030 /* after a move, before the trial */
#define KEEP        0.85  /* of the measured work, at each look */
#define UNEVEN      1.10  /* the busiest worker's work over the mean: a move is considered */
#define GAIN_MIN    0.05  /* of the busiest worker's work */
#define BUSY_MIN    0.5   /* share of its time for which the busiest worker must handle events */
#define WORSE       0.97  /* events committed per second, after over before: the move was in vain */

/* Of one worker. */
struct rates {
    _Alignas(
        128) struct sync_u64 sampled; /* its events, ever, whose work was noted; its own word */
    /* Worker 0's: */
    uint64_t sampled_seen, events_seen;   /* at the last look */
    double sampled_recent, events_recent; /* per look; events: all that were committed */
    double load;                          /* ticks per look: its parts' work */
};

struct balance {
    uint32_t part_count;
    struct sync_u64 *work; /* [part] ticks of sampled events, ever; written by its worker */
    struct rates *rates;   /* [worker] */
    /* Worker 0's: */
    uint64_t *seen;   /* [part] work at the last look */
    double *recent;   /* [part] ticks per look; the past counts less with each look */
    double *share;    /* [part] the same of all events instead of the sampled ones */
    double since;     /* ticks per look, likewise */
    uint32_t *before; /* [part] its worker before the last move */
    double look_s;    /* when the last look was; 0: there was none */
    uint64_t look_ticks, look_events;
    double rate;        /* events committed per second; the past counts less */
    unsigned uneven;    /* looks in a row that found the workers so */
    bool on_trial;      /* since the last move: */
    double moved_s;     /* when it was planned */
    double rate_before; /* the rate then */
    double trial_s;     /* when the trial began; 0: it has not yet */
    uint64_t trial_events;
    double pause_s, pause_until_s;
};

/* ---- creation: the host ---------------------------------------------------------------------- */

int balance_create(struct cw_sim *sim, struct cw_error *error)
{
    struct memory *const memory = &sim->memory;
    sim->balance = NULL;
    if (sim->migration == NULL || sim->config.balance != CW_BALANCE_ON)
        return CW_OK;
    struct balance *const balance = memory_take(memory, sizeof *balance);
    sim->balance = balance;
    if (balance == NULL)
        return memory_error(memory, error);
    const size_t parts = balance->part_count = migrate_part_count(sim);
    balance->pause_s = PAUSE_S;
    balance->work = memory_take(memory, parts * sizeof *balance->work);
    balance->seen = memory_take(memory, parts * sizeof *balance->seen);
    balance->recent = memory_take(memory, parts * sizeof *balance->recent);
    balance->before = memory_take(memory, parts * sizeof *balance->before);
    balance->share = memory_take(memory, parts * sizeof *balance->share);
    balance->rates = memory_take(memory, sim->worker_count * sizeof *balance->rates);
    return balance->work != NULL && balance->seen != NULL && balance->recent != NULL &&
                   balance->before != NULL && balance->share != NULL && balance->rates != NULL
               ? CW_OK
               : memory_error(memory, error);
}

void balance_free(struct cw_sim *sim)
{
    struct memory *const memory = &sim->memory;
    struct balance *const balance = sim->balance;
    if (balance == NULL)
        return;
    const size_t parts = balance->part_count;
    memory_give(memory, balance->work, parts * sizeof *balance->work);
    memory_give(memory, balance->seen, parts * sizeof *balance->seen);
    memory_give(memory, balance->recent, parts * sizeof *balance->recent);
    memory_give(memory, balance->before, parts * sizeof *balance->before);
    memory_give(memory, balance->share, parts * sizeof *balance->share);
    memory_give(memory, balance->rates, sim->worker_count * sizeof *balance->rates);
    memory_give(memory, balance, sizeof *balance);
    sim->balance = NULL;
}

/* ---- measuring ------------------------------------------------------------------------------- */

void balance_note(struct timewarp *tw, uint32_t lp, uint64_t ticks)
{
    struct cw_sim *const sim = tw->worker->sim;
    struct balance *const balance = sim->balance;
    struct sync_u64 *const work = &balance->work[migrate_part_of(sim, lp)];
    struct sync_u64 *const events = &balance->rates[tw->index].sampled;
    uint64_t *const mean = &tw->mean_ticks;
    const uint64_t counted = *mean > 0 && ticks > *mean * OUTLIER ? *mean * OUTLIER : ticks;
    *mean = *mean == 0 ? ticks : *mean - *mean / 64 + counted / 64;
    /* figures that order nothing, and this worker alone writes them */
    sync_store_release(work, sync_load_acquire(work) + counted);
    sync_store_release(events, sync_load_acquire(events) + 1);
}

/* ---- at random ------------------------------------------------------------------------------- */

/* Every second round. In one of four moves all parts go to one worker, in the others one part of
 * four goes to any. */
static void move_at_random(struct timewarp *tw)
{
    enum { ROUNDS = 2, KINDS = 4 };
    const struct cw_sim *const sim = tw->worker->sim;
    struct cw_rng *const rng = &tw->stress.rng;
    uint32_t *const part_worker = cw_rng_below(rng, ROUNDS) == 0 ? migrate_draft(tw) : NULL;
    if (part_worker == NULL)
        return;
    const uint32_t parts = migrate_part_count(sim), kind = cw_rng_below(rng, KINDS);
    const uint32_t to = cw_rng_below(rng, sim->worker_count);
    for (uint32_t part = 0; part < parts; part++)
        if (kind == 0)
            part_worker[part] = to;
        else if (cw_rng_below(rng, KINDS) == 0)
            part_worker[part] = cw_rng_below(rng, sim->worker_count);
    (void)migrate_plan(tw);
}

/* ---- by measured work ------------------------------------------------------------------------ */

static uint64_t committed_by_all(const struct cw_sim *sim)
{
    uint64_t committed = 0;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        committed += sim->slots[i].report.committed; /* I-STAT-1: a round has ended */
    return committed;
}

static double mean_with(double mean, uint64_t now, uint64_t *seen)
{
    const double new = (double)(now - *seen);
    *seen = now;
    return KEEP * mean + (1 - KEEP) * new;
}

/* Takes in the work since the last look, which was `since` ticks ago. The events that a worker has
 * committed are known, the ticks that one takes are sampled. Returns whether one worker has had
 * much more work than the mean, and was busy. */
static bool find_uneven(const struct cw_sim *sim, struct balance *balance,
                        const uint32_t *part_worker, uint64_t since)
{
    const uint32_t n = sim->worker_count;
    double most = 0, sum = 0;
    balance->since = KEEP * balance->since + (1 - KEEP) * (double)since;
    for (uint32_t i = 0; i < n; i++) {
        struct rates *const rates = &balance->rates[i];
        rates->load = 0;
        rates->sampled_recent = mean_with(rates->sampled_recent, sync_load_acquire(&rates->sampled),
                                          &rates->sampled_seen);
        rates->events_recent = mean_with(rates->events_recent, sim->slots[i].report.committed,
                                         &rates->events_seen); /* I-STAT-1: a round has ended */
    }
    for (uint32_t part = 0; part < balance->part_count; part++) {
        struct rates *const rates = &balance->rates[part_worker[part]];
        balance->recent[part] = mean_with(
            balance->recent[part], sync_load_acquire(&balance->work[part]), &balance->seen[part]);
        balance->share[part] =
            rates->sampled_recent < 1
                ? 0
                : balance->recent[part] * rates->events_recent / rates->sampled_recent;
        rates->load += balance->share[part];
    }
    for (uint32_t i = 0; i < n; i++) {
        const double load = balance->rates[i].load;
        sum += load;
        most = load > most ? load : most;
    }
    return most * n > UNEVEN * sum && most > BUSY_MIN * balance->since;
}

/* The parts of worker `from` go to worker `to`, those at the end nearer to its own first, until the
 * two have as much work. Returns whether any went. */
static bool even_out(struct balance *balance, uint32_t *part_worker, uint32_t from, uint32_t to)
{
    const uint32_t parts = balance->part_count;
    uint64_t places_from = 0, count_from = 1, places_to = 0, count_to = 1;
    bool any = false;
    for (uint32_t part = 0; part < parts; part++) {
        places_from += part_worker[part] == from ? part : 0;
        count_from += part_worker[part] == from;
        places_to += part_worker[part] == to ? part : 0;
        count_to += part_worker[part] == to;
    }
    const bool backwards = places_to * count_from > places_from * count_to;
    for (uint32_t i = 0; i < parts; i++) {
        const uint32_t part = backwards ? parts - 1 - i : i;
        const double gap = balance->rates[from].load - balance->rates[to].load;
        const double work = balance->share[part];
        if (part_worker[part] != from || work == 0 || 2 * work > gap * 1.5)
            continue;
        part_worker[part] = to;
        balance->rates[from].load -= work;
        balance->rates[to].load += work;
        any = true;
        if (balance->rates[from].load - balance->rates[to].load <= work)
            break;
    }
    return any;
}

/* Fills the draft. Returns the share of the busiest worker's work that the move takes off it. */
static double draft_even(const struct cw_sim *sim, struct balance *balance, uint32_t *part_worker)
{
    double before = 0, after = 0;
    for (unsigned i = 0; i < MOVES_PER_PLAN_MAX; i++) {
        uint32_t most = 0, least = 0;
        for (uint32_t worker = 1; worker < sim->worker_count; worker++) {
            most = balance->rates[worker].load > balance->rates[most].load ? worker : most;
            least = balance->rates[worker].load < balance->rates[least].load ? worker : least;
        }
        after = balance->rates[most].load;
        before = i == 0 ? after : before;
        if (most == least || !even_out(balance, part_worker, most, least))
            break;
    }
    return before > 0 ? 1 - after / before : 0;
}

/* The last move is on trial: after it has settled, the rate of some time is held against the one of
 * before. Returns whether the trial goes on. */
static bool try_move(struct timewarp *tw, struct balance *balance, double now_s, uint64_t events)
{
    if (now_s < balance->moved_s + SETTLE_S)
        return true;
    if (balance->trial_s == 0) {
        balance->trial_s = now_s;
        balance->trial_events = events;
    }
    if (now_s < balance->trial_s + PAUSE_S)
        return true;
    const double rate = (double)(events - balance->trial_events) / (now_s - balance->trial_s);
    const bool worse = rate < WORSE * balance->rate_before;
    balance->pause_s = worse ? 2 * balance->pause_s : PAUSE_S;
    if (balance->pause_s > PAUSE_S_MAX)
        balance->pause_s = PAUSE_S_MAX;
    balance->pause_until_s = now_s + balance->pause_s;
    balance->on_trial = false;
    uint32_t *const part_worker = worse ? migrate_draft(tw) : NULL;
    if (part_worker != NULL) {
        memcpy(part_worker, balance->before, balance->part_count * sizeof *part_worker);
        (void)migrate_plan(tw);
    }
    return true;
}

static void move_by_work(struct timewarp *tw, struct balance *balance)
{
    struct cw_sim *const sim = tw->worker->sim;
    /* time in drains, since some last less than a look */
    const double now_s = sim->run_s + clock_s() - sim->drain_start_s;
    if (balance->look_s > 0 && now_s < balance->look_s + LOOK_S)
        return;
    const uint64_t ticks = clock_ticks(), events = committed_by_all(sim);
    const uint64_t since = ticks - balance->look_ticks;
    const double since_s = now_s - balance->look_s;
    const bool first = balance->look_ticks == 0;
    uint32_t *const part_worker = migrate_draft(tw);
    balance->look_s = now_s;
    balance->look_ticks = ticks;
    if (!first)
        balance->rate =
            KEEP * balance->rate + (1 - KEEP) * (double)(events - balance->look_events) / since_s;
    balance->look_events = events;
    if (part_worker == NULL)
        return;
    const bool uneven = find_uneven(sim, balance, part_worker, since) && !first;
    balance->uneven = uneven ? balance->uneven + 1 : 0;
    if ((balance->on_trial && try_move(tw, balance, now_s, events)) ||
        balance->uneven < LOOKS_BEFORE_MOVE || now_s < balance->pause_until_s)
        return;
    memcpy(balance->before, part_worker, balance->part_count * sizeof *part_worker);
    balance->uneven = 0;
    if (draft_even(sim, balance, part_worker) < GAIN_MIN || !migrate_plan(tw))
        return;
    balance->on_trial = true;
    balance->moved_s = now_s;
    balance->trial_s = 0;
    balance->rate_before = balance->rate;
}

/* ---- the look -------------------------------------------------------------------------------- */

void balance_look(struct timewarp *tw)
{
    struct cw_sim *const sim = tw->worker->sim;
    if (tw->stress.on || sim->config.balance == CW_BALANCE_RANDOM)
        move_at_random(tw);
    else if (sim->balance != NULL)
        move_by_work(tw, sim->balance);
}
