/*
 * balance.c: samples each part's work, drafts moves from the busiest worker to the idlest, and
 * measures the events committed before and after a move (balance.h).
 */
#include "core/run/balance.h"

#include <string.h>

#include "core/at_random.h"
#include "core/run/migrate.h"
#include "core/exchange/gvt_slot.h"
#include "core/os/clock.h"
#include "core/worker/simulation.h"
#include "core/speculation/timewarp.h"
#include "core/worker/worker.h"

/* ---- drafts ---------------------------------------------------------------------------------- */

enum { PAIRS_MAX = 4096 }; /* of workers that one draft looks at */

#define REST_MIN    0.05
#define PAYBACK_S   1.0
#define S_PER_EVENT 100e-9 /* to undo, copy and queue one that moves */

double draft_loads(const struct draft *draft, const uint32_t *part_worker, double *mean)
{
    double most = 0, sum = 0;
    for (uint32_t i = 0; i < draft->worker_count; i++)
        draft->load[i] = 0;
    for (uint32_t part = 0; part < draft->part_count; part++) {
        double *const load = &draft->load[part_worker[part]];
        *load += draft->part_work[part];
        sum += draft->part_work[part];
        most = *load > most ? *load : most;
    }
    *mean = sum / draft->worker_count;
    return most;
}

/* Whether the last parts of worker `from` are the ones nearest to `to`'s. */
static bool goes_backwards(const struct draft *draft, const uint32_t *part_worker, uint32_t from,
                           uint32_t to)
{
    uint64_t places_from = 0, count_from = 1, places_to = 0, count_to = 1;
    for (uint32_t part = 0; part < draft->part_count; part++) {
        places_from += part_worker[part] == from ? part : 0;
        count_from += part_worker[part] == from;
        places_to += part_worker[part] == to ? part : 0;
        count_to += part_worker[part] == to;
    }
    return places_to * count_from > places_from * count_to;
}

/* Parts of worker `from` go to worker `to` until the two are even. A part that would leave `to`
 * with more than `from` goes only if that halves the gap at least. Returns whether any went. */
static bool even_pair(const struct draft *draft, uint32_t *part_worker, uint32_t from, uint32_t to)
{
    const bool backwards = goes_backwards(draft, part_worker, from, to);
    bool any = false;
    for (uint32_t i = 0; i < draft->part_count; i++) {
        const uint32_t part = backwards ? draft->part_count - 1 - i : i;
        const double gap = draft->load[from] - draft->load[to];
        const double work = draft->part_work[part];
        if (part_worker[part] != from || work <= 0 || 2 * work > gap * 1.5)
            continue;
        part_worker[part] = to;
        draft->load[from] -= work;
        draft->load[to] += work;
        any = true;
    }
    return any;
}

double draft_even_out(const struct draft *draft, uint32_t *part_worker)
{
    double mean;
    const double before = draft_loads(draft, part_worker, &mean);
    double after = before;
    for (unsigned i = 0; i < PAIRS_MAX; i++) {
        uint32_t most = 0, least = 0;
        for (uint32_t worker = 1; worker < draft->worker_count; worker++) {
            most = draft->load[worker] > draft->load[most] ? worker : most;
            least = draft->load[worker] < draft->load[least] ? worker : least;
        }
        after = draft->load[most];
        if (most == least || !even_pair(draft, part_worker, most, least))
            break;
    }
    return before > 0 ? 1 - after / before : 0;
}

double draft_gain(const struct draft_cost *cost)
{
    const double busy = cost->busy < 1 ? cost->busy : 1;
    const double rest = 1 - busy > REST_MIN ? 1 - busy : REST_MIN;
    double windows = 1; /* this many times as many */
    if (cost->after_ps < cost->before_ps) {
        if (cost->after_ps <= 0 || cost->before_ps == CW_TIME_MAX)
            return 0;
        windows = (double)cost->before_ps / (double)cost->after_ps;
    }
    const double gain = 1 - busy * (1 - cost->off) - rest * windows;
    return gain * PAYBACK_S > S_PER_EVENT * cost->moved ? gain : 0;
}

/* ---- trials ---------------------------------------------------------------------------------- */

#define WINDOW_S       0.03
#define TRIAL_S        0.1
#define SETTLE_S       0.03
#define WAIT_S         0.1 /* after a move that was kept */
#define BACK_OFF_S     0.4 /* after the first one that was not */
#define BACK_OFF_MAX_S 60.0
#define TRIAL_SHARE    64
#define KEPT_FROM      1.02 /* rate after over before */
#define HOPELESS       0.8  /* the trial ends with its first window */

void trial_init(struct trial *trial)
{
    *trial = (struct trial){.settles_s = SETTLE_S, .back_off_s = BACK_OFF_S};
}

static void begin_trial_window(struct trial *trial)
{
    trial->window_s = 0;
    trial->events = 0;
}

/* The move on trial gains, or it is to be taken back. */
static enum trial_says end_trial(struct trial *trial, double rate)
{
    const double lost_s = (trial->window_s + SETTLE_S) * (1 - rate / trial->rate);
    trial->tries = false;
    if (rate >= KEPT_FROM * trial->rate) {
        trial->rate = rate;
        trial->wait_s = WAIT_S;
        trial->back_off_s = BACK_OFF_S;
        return TRIAL_WAITS;
    }
    trial->wait_s =
        trial->back_off_s > TRIAL_SHARE * lost_s ? trial->back_off_s : TRIAL_SHARE * lost_s;
    trial->back_off_s *= 2;
    if (trial->back_off_s > BACK_OFF_MAX_S)
        trial->back_off_s = BACK_OFF_MAX_S;
    trial->takes_back = true;
    return TRIAL_TAKE_BACK;
}

enum trial_says trial_look(struct trial *trial, double passed_s, uint64_t events, bool counts,
                           bool ready, bool *window_ended)
{
    *window_ended = false;
    if (trial->takes_back)
        return TRIAL_TAKE_BACK;
    if (!counts)
        return TRIAL_WAITS;
    if (trial->settles_s > 0) {
        trial->settles_s -= passed_s;
        return TRIAL_WAITS;
    }
    trial->window_s += passed_s;
    trial->events += events;
    trial->wait_s -= passed_s;
    if (trial->window_s < WINDOW_S)
        return TRIAL_WAITS;
    const double rate = (double)trial->events / trial->window_s;
    if (trial->tries) {
        if (trial->window_s < TRIAL_S && rate >= HOPELESS * trial->rate)
            return TRIAL_WAITS;
        const enum trial_says says = end_trial(trial, rate);
        *window_ended = true;
        begin_trial_window(trial);
        return says;
    }
    if (!ready)
        return TRIAL_WAITS;
    trial->rate = trial->rate > 0 ? (trial->rate + rate) / 2 : rate;
    *window_ended = true;
    begin_trial_window(trial);
    return trial->wait_s <= 0 ? TRIAL_MAY_MOVE : TRIAL_WAITS;
}

void trial_moved(struct trial *trial)
{
    trial->tries = !trial->takes_back;
    trial->takes_back = false;
    trial->settles_s = SETTLE_S;
    begin_trial_window(trial);
}

/* ---- the measured work ----------------------------------------------------------------------- */

enum {
    WINDOWS_BEFORE_MOVE = 2, /* in a row that find the workers uneven */
    OUTLIER = 32,            /* an event that took this many times the mean was interrupted */
    SAMPLES_MIN = 512,       /* of a busy worker, in a window */
};

#define LOOK_S   0.005 /* between two looks */
#define UNEVEN   1.10  /* the busiest worker's work over the mean: a move is considered */
#define GAIN_MIN 0.05  /* of the time */
#define BUSY_MIN 0.5   /* share of its time for which the busiest worker must be busy */
#define IDLE_MIN 0.15  /* and for which another one must be idle while the busiest is not */

/* Of one worker. */
struct rates {
    _Alignas(
        128) struct sync_u64 sampled; /* its events, ever, whose work was noted; its own word */
    /* Worker 0's: */
    uint64_t sampled_seen, events_seen; /* at the last look */
    uint64_t idle_seen, ticks_seen;
    uint64_t sampled_new, events_new; /* in this window; events: all that were committed */
    uint64_t idle_new, ticks_new;     /* of sampled turns */
};

struct balance {
    struct draft draft;
    struct sync_u64 *work; /* [part] ticks of sampled events, ever; written by its worker */
    struct rates *rates;   /* [worker] */
    /* Worker 0's: */
    uint64_t *seen;    /* [part] work at the last look */
    uint64_t *new;     /* [part] work in this window */
    double *part_work; /* [part] ticks in this window, by all events instead of the sampled ones */
    double *load;      /* [worker] */
    uint32_t *before;  /* [part] its worker before the last move */
    struct trial trial;
    double drain_start_s; /* of the drain of the last look */
    bool looked;          /* there was a look */
    double look_s;        /* when the last one was */
    uint64_t look_events;
    uint64_t ticks;     /* of this window */
    uint64_t placement; /* at the last look (record_outbox.h) */
    unsigned uneven;    /* windows in a row that found the workers so */
};

/* ---- creation: the host ---------------------------------------------------------------------- */

int balance_create(struct cw_sim *sim, struct cw_error *error)
{
    struct memory *const memory = &sim->memory;
    sim->balance = NULL;
    if (sim->migration == NULL || sim->config.tuning.balance != CW_BALANCE_ON)
        return CW_OK;
    struct balance *const balance = memory_take(memory, sizeof *balance);
    sim->balance = balance;
    if (balance == NULL)
        return memory_error(memory, error);
    const uint32_t n = sim->worker_count;
    const size_t parts = migrate_part_count(sim);
    balance->work = memory_take(memory, parts * sizeof *balance->work);
    balance->seen = memory_take(memory, parts * sizeof *balance->seen);
    balance->new = memory_take(memory, parts * sizeof *balance->new);
    balance->part_work = memory_take(memory, parts * sizeof *balance->part_work);
    balance->before = memory_take(memory, parts * sizeof *balance->before);
    balance->load = memory_take(memory, n * sizeof *balance->load);
    balance->rates = memory_take(memory, n * sizeof *balance->rates);
    balance->draft = (struct draft){.part_count = (uint32_t)parts,
                                    .worker_count = n,
                                    .part_work = balance->part_work,
                                    .load = balance->load};
    trial_init(&balance->trial);
    return balance->work != NULL && balance->seen != NULL && balance->new != NULL &&
                   balance->part_work != NULL && balance->before != NULL && balance->load != NULL &&
                   balance->rates != NULL
               ? CW_OK
               : memory_error(memory, error);
}

void balance_free(struct cw_sim *sim)
{
    struct memory *const memory = &sim->memory;
    struct balance *const balance = sim->balance;
    if (balance == NULL)
        return;
    const size_t parts = migrate_part_count(sim);
    memory_give(memory, balance->work, parts * sizeof *balance->work);
    memory_give(memory, balance->seen, parts * sizeof *balance->seen);
    memory_give(memory, balance->new, parts * sizeof *balance->new);
    memory_give(memory, balance->part_work, parts * sizeof *balance->part_work);
    memory_give(memory, balance->before, parts * sizeof *balance->before);
    memory_give(memory, balance->load, sim->worker_count * sizeof *balance->load);
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

static uint64_t since_seen(uint64_t now, uint64_t *seen)
{
    const uint64_t new = now - *seen;
    *seen = now;
    return new;
}

/* Takes in the work since the last look, or drops it. Returns whether there are samples enough. */
static bool take_work(const struct cw_sim *sim, struct balance *balance, bool counts)
{
    bool enough = true;
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        struct rates *const rates = &balance->rates[i];
        const uint64_t sampled =
            since_seen(sync_load_acquire(&rates->sampled), &rates->sampled_seen);
        /* I-STAT-1: a round has ended */
        const uint64_t events = since_seen(sim->slots[i].report.committed, &rates->events_seen);
        const uint64_t idle = since_seen(sim->slots[i].report.idle_ticks, &rates->idle_seen);
        const uint64_t ticks = since_seen(sim->slots[i].report.ticks, &rates->ticks_seen);
        rates->idle_new += counts ? idle : 0;
        rates->ticks_new += counts ? ticks : 0;
        rates->sampled_new += counts ? sampled : 0;
        rates->events_new += counts ? events : 0;
        enough &= rates->sampled_new >= SAMPLES_MIN || rates->events_new == 0 ||
                  rates->sampled_new * SAMPLES_MIN >= rates->events_new;
    }
    for (uint32_t part = 0; part < balance->draft.part_count; part++) {
        const uint64_t new =
            since_seen(sync_load_acquire(&balance->work[part]), &balance->seen[part]);
        balance->new[part] += counts ? new : 0;
    }
    return enough;
}

static void begin_window(const struct cw_sim *sim, struct balance *balance)
{
    memset(balance->new, 0, balance->draft.part_count * sizeof *balance->new);
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        struct rates *const rates = &balance->rates[i];
        rates->sampled_new = rates->events_new = rates->idle_new = rates->ticks_new = 0;
    }
}

/* At the end of a window. The events that a worker has committed are known, the ticks that an
 * event takes are sampled. Sets *busy to the share of the busiest worker's time in which it handled
 * events. Returns whether it has had much more work than the mean. */
static bool find_uneven(struct balance *balance, const uint32_t *part_worker, double *busy)
{
    double mean;
    for (uint32_t part = 0; part < balance->draft.part_count; part++) {
        const struct rates *const rates = &balance->rates[part_worker[part]];
        balance->part_work[part] = rates->sampled_new == 0
                                       ? 0
                                       : (double)balance->new[part] * (double)rates->events_new /
                                             (double)rates->sampled_new;
    }
    const double most = draft_loads(&balance->draft, part_worker, &mean);
    double least_busy = 1;
    *busy = 0;
    for (uint32_t i = 0; i < balance->draft.worker_count; i++) {
        const struct rates *const rates = &balance->rates[i];
        const double share =
            rates->ticks_new == 0 ? 1 : 1 - (double)rates->idle_new / (double)rates->ticks_new;
        least_busy = share < least_busy ? share : least_busy;
        if (balance->load[i] >= most)
            *busy = share;
    }
    return most > UNEVEN * mean && *busy > BUSY_MIN && *busy > least_busy + IDLE_MIN;
}

/* An estimate: the events of the parts that change their worker, by their share of all LPs. */
static double events_that_move(const struct timewarp *tw, const struct balance *balance,
                               const uint32_t *part_worker)
{
    const struct cw_sim *const sim = tw->worker->sim;
    uint32_t parts = 0;
    for (uint32_t part = 0; part < balance->draft.part_count; part++)
        parts += part_worker[part] != balance->before[part];
    return (double)event_pool_alive(&tw->worker->pool) * sim->worker_count * parts /
           balance->draft.part_count;
}

/* Drafts a move that evens out the work, and plans it if it is expected to pay. */
static bool move_if_it_pays(struct timewarp *tw, struct balance *balance, uint32_t *part_worker,
                            double busy)
{
    struct draft_cost cost = {.busy = busy};
    memcpy(balance->before, part_worker, balance->draft.part_count * sizeof *part_worker);
    cost.off = draft_even_out(&balance->draft, part_worker);
    if (cost.off < GAIN_MIN)
        return false;
    migrate_lookaheads(tw, &cost.before_ps, &cost.after_ps);
    cost.moved = events_that_move(tw, balance, part_worker);
    return draft_gain(&cost) >= GAIN_MIN && migrate_plan(tw);
}

static bool take_back(struct timewarp *tw, const struct balance *balance, uint32_t *part_worker)
{
    memcpy(part_worker, balance->before, balance->draft.part_count * sizeof *part_worker);
    return migrate_plan(tw);
}

static void move_by_work(struct timewarp *tw, struct balance *balance)
{
    struct cw_sim *const sim = tw->worker->sim;
    /* time in drains, since some last less than a look */
    const double now_s = sim->times.run_s + clock_s() - sim->drain_start_s;
    if (balance->looked && now_s < balance->look_s + LOOK_S)
        return;
    const uint64_t events = committed_by_all(sim);
    const uint64_t new = events - balance->look_events;
    const double passed_s = now_s - balance->look_s;
    uint32_t *const part_worker = migrate_draft(tw);
    /* neither a move nor a thread that took all events, nor time between drains */
    const bool counts = balance->looked && part_worker != NULL &&
                        balance->placement == tw->outbox.placement &&
                        balance->drain_start_s == sim->drain_start_s;
    balance->drain_start_s = sim->drain_start_s;
    balance->looked = true;
    balance->look_s = now_s;
    balance->look_events = events;
    balance->placement = tw->outbox.placement;
    const bool ready = take_work(sim, balance, counts);
    bool ended;
    const enum trial_says says = trial_look(&balance->trial, passed_s, new, counts, ready, &ended);
    if (says == TRIAL_TAKE_BACK && part_worker != NULL && take_back(tw, balance, part_worker)) {
        trial_moved(&balance->trial);
    } else if (ended && part_worker != NULL) {
        double busy;
        const bool uneven = find_uneven(balance, part_worker, &busy);
        balance->uneven = uneven ? balance->uneven + 1 : 0;
        if (says == TRIAL_MAY_MOVE && balance->uneven >= WINDOWS_BEFORE_MOVE &&
            move_if_it_pays(tw, balance, part_worker, busy)) {
            trial_moved(&balance->trial);
            balance->uneven = 0;
        }
    }
    /* two uneven windows in a row count together */
    if ((ended && balance->uneven != 1) ||
        (!ended && balance->trial.window_s <= 0 && balance->uneven == 0))
        begin_window(sim, balance);
}

/* ---- the look -------------------------------------------------------------------------------- */

void balance_look(struct timewarp *tw)
{
    struct cw_sim *const sim = tw->worker->sim;
    if (tw->stress.on || sim->config.tuning.balance == CW_BALANCE_RANDOM)
        move_at_random(tw);
    else if (sim->balance != NULL)
        move_by_work(tw, sim->balance);
}
