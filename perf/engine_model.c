/*
 * engine_model.c: the simulation of the engine (engine_model.h).
 *
 * A heap holds the workers by the moment at which their next turn begins. The earliest turn is
 * played to its end at once; its promise and its messages are visible to another worker from the
 * turn's end on, plus the time of a cache line. A promise keeps its last few values, because a
 * worker whose turn begins earlier than another's turn ends still sees the value before.
 *
 * Each worker has its events in one list, in the total order. Those before `next` have been
 * handled. An event is in the list before it has been sent: the bounds make sure that an event is
 * safe only after its cause has been handled and published, as I-SAFE-1 and I-SAFE-2 do in the
 * engine. A speculative event is tried only if its cause has been.
 */
#include "perf/engine_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/event.h"

/* As in core/timewarp/: batches, rounds of GVT, patience, window. */
enum {
    BATCH_MIN = 8,
    BATCH_START = 256,
    BATCH_MAX = 1024,
    BATCH_SPECULATIVE = 16, /* then the engine looks at the promise that stops the worker */
    LOOKS_BEFORE_ROUND = 64,
    LIVE_BEFORE_ROUND = 1024,
    EVENTS_BEFORE_ROUND = 16384,
    WORKERS_FEW = 8,
    REST_TURNS = 8,
    PATIENCE_MAX = 256,
    TURNS_PER_SAFE = 1,
    TURNS_PER_SAFE_WARY = 8,
    WINDOW_START = 512,
    WINDOW_LEAST = 64,
    WINDOW_MAX = 4096,
    USAGE_MIN = 256,
};

enum {
    INJECTED = -1,
    NO_EFFECT = -1,
    PROMISES_KEPT = 8,  /* the last ones of a worker */
    MAILS_AT_ONCE = 4,  /* mailboxes whose lines it fetches side by side */
    LINES_AT_ONCE = 8,  /* cache lines that a core fetches side by side */
    SCANNED_MAX = 4096, /* list places that speculation looks at in a turn */
    ROUNDS_KEPT = 4,    /* a worker is at most one round ahead of another */
};

enum model_stage { AT_REST, AFTER_FIRST_CUT, AFTER_SECOND_CUT };
enum event_state { NOT_HANDLED, AHEAD, FINAL };

struct promised {
    double since_s;
    int64_t time_ps;
};

struct model_worker {
    double clock_s, busy_s;
    size_t next, end; /* places in the list */
    int64_t safe_ps, gvt_ps;
    struct promised promises[PROMISES_KEPT];
    unsigned promise; /* the place of the latest */
    unsigned batch, looks, patience, patience_full, waited;
    size_t live, window; /* events handled ahead; how many there may be */
    uint64_t turns, rest_until;
    uint64_t handled, handled_then, safe, safe_before, used, used_undone;
    uint64_t round;
    enum model_stage stage;
    bool wary; /* much speculation was undone */
    bool over;
};

struct model_round {
    double begun_s, first_s, second_s; /* the first to begin; the last to make each cut */
    uint32_t first, second;            /* workers that have made it */
};

struct model {
    const struct perf_engine_run *run;
    const struct perf_trace *trace;
    struct perf_engine_figures *sum;
    uint32_t n;
    struct model_worker *workers;
    uint32_t *heap; /* [heap_count] workers, the earliest first */
    uint32_t heap_count;
    uint32_t *list;      /* [event] indices of events, worker by worker */
    uint16_t *sends;     /* [event] messages that it sends */
    uint8_t *state;      /* [event] enum event_state */
    double *known_s;     /* [event] when other workers can know of its effects */
    uint32_t *lp_ahead;  /* [lp] one more than the last place handled ahead; 0: none */
    uint32_t *effect;    /* [event] the last effect on another worker; NO_EFFECT: none */
    uint32_t *sibling;   /* [event] the effect of the same cause before this one */
    double *mail_s;      /* [from * n + to] when unread messages were published; 0: none are */
    uint32_t *near;      /* [from * n + to] the promise last seen by `to` */
    int64_t *paths_ps;   /* [from * n + to] least delay of any path */
    int64_t *reports_ps; /* [round % ROUNDS_KEPT][worker] */
    uint32_t *sent;      /* [sent_count] events of this turn that sent messages */
    uint32_t sent_count;
    double line_max_s;
    struct model_round rounds[ROUNDS_KEPT];
};

/* ---- the heap of workers --------------------------------------------------------------------- */

static double heap_key(const struct model *model, uint32_t place)
{
    return model->workers[model->heap[place]].clock_s;
}

static void heap_swap(struct model *model, uint32_t a, uint32_t b)
{
    const uint32_t worker = model->heap[a];
    model->heap[a] = model->heap[b];
    model->heap[b] = worker;
}

/* The first worker's clock has gone on. */
static void heap_sink(struct model *model)
{
    for (uint32_t at = 0;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2; child++)
            if (child < model->heap_count && heap_key(model, child) < heap_key(model, least))
                least = child;
        if (least == at)
            return;
        heap_swap(model, at, least);
        at = least;
    }
}

/* ---- parts of a turn ------------------------------------------------------------------------- */

static double line_s(const struct model *model, uint32_t a, uint32_t b)
{
    return perf_socket_line_s(model->run->layout, a, b);
}

/* The place of the promise of worker `from` that worker `to` sees at that moment. */
static unsigned promise_seen(const struct model *model, uint32_t from, uint32_t to, double now_s)
{
    const struct model_worker *const worker = &model->workers[from];
    const double delay_s = line_s(model, from, to);
    unsigned at = worker->promise;
    for (unsigned back = 1; back < PROMISES_KEPT; back++, at = (at - 1) % PROMISES_KEPT)
        if (worker->promises[at].since_s + delay_s <= now_s)
            return at;
    return at;
}

/* Waits for the lines of the mailboxes that have messages: in each the count of its messages, and
 * the first message. Later messages are fetched ahead (message_lines). Returns the time. */
static double mail_lines_s(struct model *model, uint32_t index)
{
    const double now_s = model->workers[index].clock_s;
    double lines_s = 0, longest_s = 0;
    for (uint32_t from = 0; from < model->n; from++) {
        double *const mail_s = &model->mail_s[(size_t)from * model->n + index];
        const double delay_s = line_s(model, from, index);
        if (*mail_s <= 0 || *mail_s + delay_s > now_s)
            continue;
        *mail_s = 0;
        const double both_s = model->run->costs.mail_lines * delay_s;
        lines_s += both_s / MAILS_AT_ONCE;
        longest_s = fmax(longest_s, both_s);
    }
    model->sum->lines_s += fmax(lines_s, longest_s);
    return fmax(lines_s, longest_s);
}

/* Looks at the promises of the others. Adds to *took_s. Returns whether the safe bound rose. */
static bool model_look(struct model *model, uint32_t index, double *took_s)
{
    const struct perf_engine_run *const run = model->run;
    struct model_worker *const worker = &model->workers[index];
    int64_t bound_ps = CW_TIME_MAX;
    double lines_s = 0, longest_s = 0;
    uint32_t looked = 0;
    *took_s += mail_lines_s(model, index);
    for (uint32_t from = 0; from < model->n; from++) {
        const size_t pair = (size_t)from * model->n + index;
        if (from == index || run->least_ps[pair] == CW_TIME_MAX)
            continue;
        const unsigned seen = promise_seen(model, from, index, worker->clock_s);
        const int64_t arrival_ps =
            add_saturating(model->workers[from].promises[seen].time_ps, run->least_ps[pair]);
        bound_ps = arrival_ps < bound_ps ? arrival_ps : bound_ps;
        looked++;
        if (model->near[pair] == seen)
            continue;
        model->near[pair] = seen;
        const double line = run->costs.promise_lines * line_s(model, from, index);
        lines_s += line / LINES_AT_ONCE;
        longest_s = fmax(longest_s, line);
    }
    lines_s = fmax(lines_s, longest_s);
    *took_s += looked * run->costs.look_s + lines_s;
    model->sum->lines_s += lines_s;
    if (bound_ps <= worker->safe_ps)
        return false;
    worker->safe_ps = bound_ps;
    return true;
}

static int64_t time_of_place(const struct model *model, size_t place)
{
    return model->trace->time_ps[model->list[place]];
}

static int64_t next_ps(const struct model *model, const struct model_worker *worker)
{
    return worker->next < worker->end ? time_of_place(model, worker->next) : CW_TIME_MAX;
}

static bool model_wants_round(const struct model *model, const struct model_worker *worker)
{
    const struct model_round *const round = &model->rounds[(worker->round + 1) % ROUNDS_KEPT];
    const bool rested = worker->turns >= worker->rest_until;
    return (rested && (worker->looks >= LOOKS_BEFORE_ROUND || worker->live >= LIVE_BEFORE_ROUND ||
                       (worker->live > 0 && worker->live >= worker->window))) ||
           worker->handled - worker->handled_then >= EVENTS_BEFORE_ROUND ||
           (round->first > 0 && round->begun_s + model->line_max_s <= worker->clock_s);
}

/* All have reported to the round. Returns the new safe bound. */
static int64_t model_compute(struct model *model, uint32_t index)
{
    struct model_worker *const worker = &model->workers[index];
    const int64_t *const reports_ps = model->reports_ps + worker->round % ROUNDS_KEPT * model->n;
    int64_t safe_ps = CW_TIME_MAX;
    worker->gvt_ps = CW_TIME_MAX;
    for (uint32_t from = 0; from < model->n; from++) {
        const int64_t bound_ps =
            add_saturating(reports_ps[from], model->paths_ps[(size_t)from * model->n + index]);
        safe_ps = bound_ps < safe_ps ? bound_ps : safe_ps;
        worker->gvt_ps = reports_ps[from] < worker->gvt_ps ? reports_ps[from] : worker->gvt_ps;
    }
    return safe_ps;
}

/* The word that counts a cut goes from worker to worker. */
static double after_line_s(const struct model *model, double last_s, double now_s)
{
    return fmax(now_s, last_s + model->line_max_s);
}

/* As in the engine: where promises release events, a worker rests after a round. */
static uint64_t rest_after_round(const struct model *model, uint32_t index)
{
    bool promises = true;
    for (uint32_t from = 0; from < model->n; from++)
        promises &= from == index || model->run->least_ps[(size_t)from * model->n + index] > 0;
    return model->n > WORKERS_FEW && promises ? (uint64_t)model->n * REST_TURNS : 0;
}

/* As gvt_step() in the engine. Returns whether a round has ended. */
static bool model_round_step(struct model *model, uint32_t index, double *took_s)
{
    const struct perf_engine_costs *const costs = &model->run->costs;
    struct model_worker *const worker = &model->workers[index];
    const double reports_s = model->line_max_s * (model->n - 1) / LINES_AT_ONCE;
    const double round_s = costs->round_s + costs->round_other_s * (model->n - 1) + reports_s;
    if (worker->stage == AT_REST) {
        if (!model_wants_round(model, worker))
            return false;
        worker->round++;
        worker->stage = AFTER_FIRST_CUT;
        struct model_round *const round = &model->rounds[worker->round % ROUNDS_KEPT];
        if (round->first++ == 0) {
            round->begun_s = worker->clock_s;
            model->rounds[(worker->round + 2) % ROUNDS_KEPT] = (struct model_round){0};
        }
        round->first_s = after_line_s(model, round->first_s, worker->clock_s);
        *took_s += round_s / 2;
        model->sum->rounds_s += round_s / 2;
    }
    struct model_round *const round = &model->rounds[worker->round % ROUNDS_KEPT];
    if (worker->stage == AFTER_FIRST_CUT) {
        if (round->first < model->n || round->first_s + model->line_max_s > worker->clock_s)
            return false;
        worker->stage = AFTER_SECOND_CUT;
        model->reports_ps[worker->round % ROUNDS_KEPT * model->n + index] = next_ps(model, worker);
        round->second++;
        round->second_s = after_line_s(model, round->second_s, worker->clock_s);
    }
    if (round->second < model->n || round->second_s + model->line_max_s > worker->clock_s)
        return false;
    const int64_t safe_ps = model_compute(model, index);
    worker->safe_ps = safe_ps > worker->safe_ps ? safe_ps : worker->safe_ps;
    worker->handled_then = worker->handled;
    worker->rest_until = worker->turns + rest_after_round(model, index);
    worker->stage = AT_REST;
    worker->over = worker->gvt_ps == CW_TIME_MAX;
    *took_s += round_s / 2;
    model->sum->rounds_s += round_s / 2;
    model->sum->rounds += index == 0;
    return true;
}

/* As throttle_adjust() in the engine. */
static void model_adjust(struct model_worker *worker)
{
    const uint64_t gained = worker->safe - worker->safe_before;
    worker->safe_before = worker->safe;
    if (gained > 0 &&
        gained * (worker->wary ? TURNS_PER_SAFE_WARY : TURNS_PER_SAFE) >= worker->waited)
        worker->patience_full *= 2;
    else if (worker->waited > 0 && (gained > 0 || worker->patience == 0))
        worker->patience_full /= 2;
    worker->patience_full = worker->patience_full < 1              ? 1
                            : worker->patience_full > PATIENCE_MAX ? PATIENCE_MAX
                                                                   : worker->patience_full;
    worker->waited = 0;
    worker->patience = worker->patience_full;
    if (worker->used < USAGE_MIN)
        return;
    worker->wary = worker->used_undone * 12 > worker->used;
    if (worker->used_undone * 4 > worker->used && worker->window > WINDOW_LEAST)
        worker->window /= 2;
    else if (worker->used_undone * 8 < worker->used && worker->window < WINDOW_MAX)
        worker->window *= 2;
    worker->used = worker->used_undone = 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

static uint32_t worker_of(const struct model *model, uint32_t event)
{
    return model->run->lp_worker[model->trace->lp[event]];
}

static bool is_injected(const struct model *model, uint32_t event)
{
    return model->trace->cause[event] == (uint32_t)INJECTED;
}

/* Undoes the events of an LP that were handled ahead, behind that place. Returns the time. */
static double model_undo(struct model *model, struct model_worker *worker, uint32_t lp,
                         size_t place)
{
    const struct perf_engine_costs *const costs = &model->run->costs;
    double lost_s = 0;
    for (size_t at = place + 1; at < model->lp_ahead[lp]; at++) {
        const uint32_t event = model->list[at];
        if (model->trace->lp[event] != lp || model->state[event] != AHEAD)
            continue;
        model->state[event] = NOT_HANDLED;
        lost_s += model->run->cost_s[model->trace->type[event]] * costs->event_factor *
                  (1 + 2 * costs->undo_share);
        worker->live--;
        worker->used_undone++;
        model->sum->undone++;
    }
    model->lp_ahead[lp] = 0;
    return lost_s;
}

/* Handles the event at a place of the list at that moment. Returns how long it takes. */
static double model_handle(struct model *model, uint32_t index, size_t place, bool ahead)
{
    const struct perf_engine_costs *const costs = &model->run->costs;
    struct model_worker *const worker = &model->workers[index];
    struct perf_engine_figures *const sum = model->sum;
    const uint32_t event = model->list[place], lp = model->trace->lp[event];
    double undo_s = 0, message_s = 0.5 * costs->message_s * model->sends[event], lines_s = 0;
    if (model->lp_ahead[lp] > place)
        undo_s = model_undo(model, worker, lp, place);
    if (!is_injected(model, event)) {
        const uint32_t from = worker_of(model, model->trace->cause[event]);
        if (from != index) {
            message_s += 0.5 * costs->message_s;
            lines_s = costs->message_lines * line_s(model, from, index);
            sum->messages++;
        }
    }
    const double handling_s = model->run->cost_s[model->trace->type[event]];
    const double more_s =
        handling_s * (costs->event_factor * (1 + (ahead ? costs->undo_share : 0)) - 1);
    model->state[event] = ahead ? AHEAD : FINAL;
    if (model->sends[event] > 0)
        model->sent[model->sent_count++] = event;
    worker->handled++;
    sum->handling_s += handling_s;
    sum->overhead_s += more_s;
    sum->messages_s += message_s;
    sum->lines_s += lines_s;
    sum->undone_s += undo_s;
    return handling_s + more_s + message_s + lines_s + undo_s;
}

/* Whether the event could be in the worker's pending set at that moment. */
static bool has_arrived(const struct model *model, uint32_t index, uint32_t event)
{
    if (is_injected(model, event))
        return true;
    const uint32_t cause = model->trace->cause[event];
    if (model->state[cause] == NOT_HANDLED)
        return false;
    const uint32_t from = worker_of(model, cause);
    return from == index ||
           model->known_s[cause] + line_s(model, from, index) <= model->workers[index].clock_s;
}

/* Safe events. Returns how many; those that had been handled ahead do not count. */
static unsigned model_safe_run(struct model *model, uint32_t index, unsigned most, double *took_s)
{
    struct model_worker *const worker = &model->workers[index];
    unsigned handled = 0;
    while (handled < most && worker->next < worker->end) {
        const uint32_t event = model->list[worker->next];
        const int64_t time_ps = model->trace->time_ps[event];
        if (model->state[event] == AHEAD) {
            if (time_ps < worker->safe_ps) {
                model->state[event] = FINAL;
                worker->live--;
            }
        } else if (time_ps < worker->safe_ps || time_ps <= worker->gvt_ps) {
            *took_s += model_handle(model, index, worker->next, false);
            worker->safe++;
            handled++;
        } else {
            break;
        }
        worker->next++;
    }
    return handled;
}

/* Commits events that were handled ahead and have become safe. */
static void model_collect(struct model *model, struct model_worker *worker, size_t begin)
{
    for (size_t at = begin; at-- > 0 && worker->live > 0;) {
        const uint32_t event = model->list[at];
        if (model->state[event] == FINAL)
            break;
        if (model->state[event] == AHEAD && model->trace->time_ps[event] < worker->safe_ps) {
            model->state[event] = FINAL;
            worker->live--;
        }
    }
}

/* Events beyond the safe bound, as far as they have come. */
static unsigned model_ahead_run(struct model *model, uint32_t index, double *took_s)
{
    struct model_worker *const worker = &model->workers[index];
    unsigned handled = 0;
    for (size_t at = worker->next; at < worker->end && at < worker->next + SCANNED_MAX &&
                                   handled < BATCH_SPECULATIVE && worker->live < worker->window;
         at++) {
        const uint32_t event = model->list[at];
        if (model->state[event] != NOT_HANDLED || !has_arrived(model, index, event))
            continue;
        *took_s += model_handle(model, index, at, true);
        uint32_t *const last = &model->lp_ahead[model->trace->lp[event]];
        *last = at + 1 > *last ? (uint32_t)at + 1 : *last;
        worker->live++;
        worker->used++;
        handled++;
        model->sum->speculated++;
    }
    return handled;
}

/* ---- a turn ---------------------------------------------------------------------------------- */

/* The turn ends: others can learn of its messages and of its promise. */
static void model_publish(struct model *model, uint32_t index)
{
    struct model_worker *const worker = &model->workers[index];
    for (uint32_t i = 0; i < model->sent_count; i++) {
        const uint32_t cause = model->sent[i];
        model->known_s[cause] = worker->clock_s;
        for (uint32_t event = model->effect[cause]; event != (uint32_t)NO_EFFECT;
             event = model->sibling[event]) {
            const size_t to = worker_of(model, event);
            double *const mail_s = &model->mail_s[index * (size_t)model->n + to];
            *mail_s = *mail_s > 0 ? *mail_s : worker->clock_s;
        }
    }
    model->sent_count = 0;
    const int64_t least_ps = next_ps(model, worker);
    const int64_t now_ps = least_ps < worker->safe_ps ? least_ps : worker->safe_ps;
    if (now_ps <= worker->promises[worker->promise].time_ps)
        return;
    worker->promise = (worker->promise + 1) % PROMISES_KEPT;
    worker->promises[worker->promise] = (struct promised){worker->clock_s, now_ps};
}

/* As adjust_batch() in the engine. */
static void model_adjust_batch(struct model_worker *worker, bool stopped)
{
    const unsigned batch = stopped ? worker->batch / 2 : worker->batch + worker->batch / 8;
    worker->batch = batch < BATCH_MIN ? BATCH_MIN : batch > BATCH_MAX ? BATCH_MAX : batch;
}

/* Plays a worker's next turn. */
static void model_turn(struct model *model, uint32_t index)
{
    const struct perf_engine_costs *const costs = &model->run->costs;
    struct model_worker *const worker = &model->workers[index];
    struct perf_engine_figures *const sum = model->sum;
    const double lines_s = sum->lines_s, rounds_s = sum->rounds_s;
    double look_s = costs->turn_s, events_s = 0;
    const bool risen = model_look(model, index, &look_s);
    const double promises_s = sum->lines_s - lines_s;
    const bool ended = model_round_step(model, index, &look_s);
    if (risen || ended) {
        model_collect(model, worker, worker->next);
        model_adjust(worker);
    }
    sum->turns++;
    worker->turns++;
    unsigned handled = 0, ahead = 0;
    if (!worker->over) {
        handled = model_safe_run(model, index, worker->batch, &events_s);
        const bool stopped = handled < worker->batch && worker->next < worker->end;
        if (stopped && model->run->speculates && worker->patience == 0)
            ahead = model_ahead_run(model, index, &events_s);
        if (handled + ahead > 0)
            model_adjust_batch(worker, stopped && worker->patience > 0);
    }
    const double took_s = look_s + events_s;
    if (handled + ahead > 0) {
        worker->looks = 0;
        worker->busy_s += took_s;
        sum->turns_s += look_s - promises_s - (sum->rounds_s - rounds_s);
        worker->clock_s += took_s;
    } else {
        worker->looks++;
        worker->waited += worker->patience > 0;
        worker->patience -= worker->patience > 0;
        sum->turns_idle++;
        sum->waiting_s += look_s + costs->idle_s - (sum->rounds_s - rounds_s);
        sum->lines_s = lines_s; /* part of the waiting */
        worker->clock_s += took_s + costs->idle_s;
    }
    model_publish(model, index);
}

/* ---- a drain --------------------------------------------------------------------------------- */

static void begin_drain(struct model *model, size_t begin, size_t end)
{
    const uint32_t *const lp = model->trace->lp;
    for (uint32_t i = 0; i < model->n; i++) {
        struct model_worker *const worker = &model->workers[i];
        worker->clock_s = worker->busy_s = 0;
        worker->safe_ps = worker->gvt_ps = INT64_MIN;
        for (unsigned k = 0; k < PROMISES_KEPT; k++)
            worker->promises[k] = (struct promised){-1, INT64_MIN};
        worker->over = false;
        worker->looks = 0;
        worker->end = 0;
        model->heap[i] = i;
    }
    memset(model->mail_s, 0, (size_t)model->n * model->n * sizeof *model->mail_s);
    for (size_t i = begin; i < end; i++)
        model->workers[model->run->lp_worker[lp[i]]].end++;
    size_t at = begin;
    for (uint32_t i = 0; i < model->n; i++) {
        struct model_worker *const worker = &model->workers[i];
        const size_t count = worker->end;
        worker->next = worker->end = at;
        at += count;
    }
    for (size_t i = begin; i < end; i++)
        model->list[model->workers[model->run->lp_worker[lp[i]]].end++] = (uint32_t)i;
    model->heap_count = model->n;
}

/* The busiest worker's lead over each other one, in work. */
static double drain_imbalance_s(const struct model *model)
{
    double most_s = 0, sum_s = 0;
    for (uint32_t i = 0; i < model->n; i++) {
        most_s = model->workers[i].busy_s > most_s ? model->workers[i].busy_s : most_s;
        sum_s += model->workers[i].busy_s;
    }
    return most_s * model->n - sum_s;
}

static void model_drain(struct model *model, size_t begin, size_t end)
{
    begin_drain(model, begin, end);
    double took_s = 0;
    while (model->heap_count > 0) {
        struct model_worker *const worker = &model->workers[model->heap[0]];
        model_turn(model, model->heap[0]);
        if (worker->over) {
            took_s = worker->clock_s > took_s ? worker->clock_s : took_s;
            model->heap[0] = model->heap[--model->heap_count];
        }
        heap_sink(model);
    }
    for (uint32_t i = 0; i < model->n; i++)
        model->sum->waiting_s += took_s - model->workers[i].clock_s;
    model->sum->took_s += took_s;
    model->sum->imbalance_s += drain_imbalance_s(model);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void model_free(struct model *model)
{
    free(model->workers);
    free(model->heap);
    free(model->list);
    free(model->sends);
    free(model->state);
    free(model->known_s);
    free(model->lp_ahead);
    free(model->effect);
    free(model->sibling);
    free(model->mail_s);
    free(model->near);
    free(model->paths_ps);
    free(model->reports_ps);
    free(model->sent);
}

static bool model_create(struct model *model)
{
    const size_t n = model->n, pairs = n * n, events = model->trace->count + 1;
    model->workers = calloc(n, sizeof *model->workers);
    model->heap = calloc(n, sizeof *model->heap);
    model->list = malloc(events * sizeof *model->list);
    model->sends = calloc(events, sizeof *model->sends);
    model->state = calloc(events, sizeof *model->state);
    model->known_s = calloc(events, sizeof *model->known_s);
    model->lp_ahead = calloc(model->run->lp_count + (size_t)1, sizeof *model->lp_ahead);
    model->effect = malloc(events * sizeof *model->effect);
    model->sibling = malloc(events * sizeof *model->sibling);
    model->mail_s = calloc(pairs, sizeof *model->mail_s);
    model->near = calloc(pairs, sizeof *model->near);
    model->paths_ps = malloc(pairs * sizeof *model->paths_ps);
    model->reports_ps = calloc(n * ROUNDS_KEPT, sizeof *model->reports_ps);
    model->sent = malloc((BATCH_MAX + BATCH_SPECULATIVE) * sizeof *model->sent);
    return model->workers != NULL && model->heap != NULL && model->list != NULL &&
           model->sends != NULL && model->state != NULL && model->known_s != NULL &&
           model->effect != NULL && model->sibling != NULL && model->mail_s != NULL &&
           model->lp_ahead != NULL && model->near != NULL && model->paths_ps != NULL &&
           model->reports_ps != NULL && model->sent != NULL;
}

static void close_paths(int64_t *paths_ps, uint32_t n)
{
    for (uint32_t via = 0; via < n; via++)
        for (uint32_t from = 0; from < n; from++) {
            const int64_t first_ps = paths_ps[(size_t)from * n + via];
            for (uint32_t to = 0; first_ps < CW_TIME_MAX && to < n; to++) {
                const int64_t through_ps = add_saturating(first_ps, paths_ps[(size_t)via * n + to]);
                int64_t *const direct_ps = &paths_ps[(size_t)from * n + to];
                *direct_ps = through_ps < *direct_ps ? through_ps : *direct_ps;
            }
        }
}

static void model_prepare(struct model *model)
{
    const struct perf_engine_run *const run = model->run;
    const uint32_t n = model->n;
    for (size_t i = 0; i < (size_t)n * n; i++)
        model->paths_ps[i] = i / n == i % n ? CW_TIME_MAX : run->least_ps[i];
    close_paths(model->paths_ps, n);
    memset(model->effect, 0xff, (model->trace->count + 1) * sizeof *model->effect); /* NO_EFFECT */
    for (uint32_t event = 0; event < model->trace->count; event++) {
        const uint32_t cause = model->trace->cause[event];
        if (!is_injected(model, event) && worker_of(model, cause) != worker_of(model, event) &&
            model->sends[cause] < UINT16_MAX) {
            model->sends[cause]++;
            model->sibling[event] = model->effect[cause];
            model->effect[cause] = event;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        model->workers[i].batch = BATCH_START;
        model->workers[i].patience = model->workers[i].patience_full = PATIENCE_MAX;
        model->workers[i].window = run->speculates ? WINDOW_START : 0;
    }
    model->line_max_s = n > 1 ? perf_socket_line_s(run->layout, 0, n - 1) : 0;
}

int perf_engine_model(const struct perf_engine_run *run, struct perf_engine_figures *figures,
                      struct cw_error *error)
{
    *figures = (struct perf_engine_figures){.events = run->trace->count};
    struct model model = {.run = run, .trace = run->trace, .sum = figures, .n = run->workers};
    const bool created = model_create(&model);
    if (created)
        model_prepare(&model);
    for (size_t drain = 0; created && drain < run->trace->drain_count; drain++) {
        const size_t begin = run->trace->drain_begin[drain];
        const size_t end = drain + 1 < run->trace->drain_count ? run->trace->drain_begin[drain + 1]
                                                               : run->trace->count;
        if (end > begin)
            model_drain(&model, begin, end);
    }
    model_free(&model);
    return created ? CW_OK
                   : cw_error_set(error, CW_NO_RESOURCE,
                                  "out of memory for a prediction of %zu events on %u workers",
                                  run->trace->count, (unsigned)run->workers);
}
