/*
 * engine_model.c: the simulation of the engine (engine_model.h): turns, drains, the whole.
 *
 * A heap holds the workers by the moment at which their next turn begins. The earliest turn is
 * played to its end at once; its promise and its messages are visible to another worker from the
 * turn's end on, plus the time of a cache line.
 */
#include "perf/model/engine_model.h"

#include <math.h>
#include <string.h>

#include "perf/model/model_bounds.h"
#include "perf/model/model_events.h"

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

/* ---- a turn ---------------------------------------------------------------------------------- */

/* Speculative events of a turn. Where promises may release several events at once, the engine ends
 * its speculation when one has risen; this model has it look after each step. */
static unsigned ahead_at_once(const struct model_worker *worker)
{
    const unsigned most = throttle_speculative_batch(&worker->throttle, worker->pending);
    return worker->promises_release && most > BATCH_AHEAD_STEP ? BATCH_AHEAD_STEP : most;
}

/* Whether short turns follow, as in the engine: nothing is to be undone, committed or reported. */
static bool may_take_short_turns(const struct model *model, const struct model_worker *worker)
{
    return model->run->takes_short_turns && model->n > 1 && worker->live == 0 &&
           worker->stage == AT_REST && worker->promises_release;
}

/* Plays a turn that looks, handles safe events and promises, and leaves the upkeep to a later one.
 */
static void model_short_turn(struct model *model, uint32_t index)
{
    const struct perf_engine_costs *const costs = &model->run->costs;
    struct model_worker *const worker = &model->workers[index];
    struct perf_engine_figures *const sum = model->sum;
    const double lines_s = sum->lines_s;
    double look_s = costs->turn_s * costs->short_share, events_s = 0;
    (void)model_look(model, index, &look_s);
    const double promises_s = sum->lines_s - lines_s;
    const unsigned handled = model_safe_run(model, index, worker->throttle.batch, &events_s);
    sum->turns_short++;
    worker->short_events += handled;
    worker->short_empty += handled == 0;
    worker->clock_s += look_s + events_s;
    if (handled > 0) {
        throttle_adjust_batch(&worker->throttle, handled < worker->throttle.batch);
        worker->turns++;
        worker->busy_s += look_s + events_s;
        sum->turns_s += look_s - promises_s;
    } else {
        sum->turns_idle++;
        sum->waiting_s += look_s;
        sum->lines_s = lines_s; /* part of the waiting */
    }
    worker->in_short =
        worker->short_events < THROTTLE_SHORT_EVENTS && worker->short_empty < THROTTLE_SHORT_EMPTY;
    model_publish(model, index);
}

/* Plays a turn with all its steps. */
static void model_full_turn(struct model *model, uint32_t index)
{
    const struct perf_engine_costs *const costs = &model->run->costs;
    struct model_worker *const worker = &model->workers[index];
    struct perf_engine_figures *const sum = model->sum;
    struct throttle *const throttle = &worker->throttle;
    const double lines_s = sum->lines_s, rounds_s = sum->rounds_s;
    double look_s = costs->turn_s, events_s = 0;
    const bool risen = model_look(model, index, &look_s);
    const double promises_s = sum->lines_s - lines_s;
    const bool ended = model_round_step(model, index, &look_s);
    if (risen || ended) {
        model_collect(model, worker, worker->next);
        throttle->pending = worker->pending;
        throttle_adjust(throttle, ended, worker->live, worker->safe);
        throttle->wary &= worker->promises_release;
    }
    worker->turns++;
    unsigned handled = 0, ahead = 0;
    if (!worker->over) {
        handled = model_safe_run(model, index, throttle->batch, &events_s);
        const bool stopped = handled < throttle->batch && worker->next < worker->end;
        if (stopped && model->run->speculates && throttle->patience == 0)
            ahead = model_ahead_run(model, index, ahead_at_once(worker), &events_s);
        if (handled + ahead > 0)
            throttle_adjust_batch(throttle, stopped && throttle->patience > 0);
    }
    const double took_s = look_s + events_s;
    if (handled + ahead > 0) {
        worker->looks = 0;
        worker->in_short = may_take_short_turns(model, worker);
        worker->short_events = worker->short_empty = 0;
        worker->busy_s += took_s;
        sum->turns_s += look_s - promises_s - (sum->rounds_s - rounds_s);
        worker->clock_s += took_s;
    } else {
        worker->looks++;
        throttle->waited += throttle->patience > 0;
        throttle->patience -= throttle->patience > 0;
        sum->turns_idle++;
        sum->waiting_s += look_s + costs->idle_s - (sum->rounds_s - rounds_s);
        sum->lines_s = lines_s; /* part of the waiting */
        worker->clock_s += took_s + costs->idle_s;
    }
    model_publish(model, index);
}

/* Plays a worker's next turn. */
static void model_turn(struct model *model, uint32_t index)
{
    model->sum->turns++;
    if (model->workers[index].in_short)
        model_short_turn(model, index);
    else
        model_full_turn(model, index);
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
        worker->over = worker->in_short = false;
        worker->looks = 0;
        worker->pending = 0;
        worker->end = 0;
        model->heap[i] = i;
    }
    memset(model->mail_s, 0, (size_t)model->n * model->n * sizeof *model->mail_s);
    for (size_t i = begin; i < end; i++)
        model->workers[model->run->lp_worker[lp[i]]].end += !model_is_listened(model, (uint32_t)i);
    size_t at = begin;
    for (uint32_t i = 0; i < model->n; i++) {
        struct model_worker *const worker = &model->workers[i];
        const size_t count = worker->end;
        worker->next = worker->end = at;
        at += count;
    }
    for (size_t i = begin; i < end; i++)
        if (!model_is_listened(model, (uint32_t)i))
            model->list[model->workers[model->run->lp_worker[lp[i]]].end++] = (uint32_t)i;
    for (size_t i = begin; i < end; i++)
        model->workers[model->run->lp_worker[lp[i]]].pending +=
            model_is_injected(model, (uint32_t)i) && !model_is_listened(model, (uint32_t)i);
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

/* The events of the listener, behind all others: three calls of all workers put them in order and
 * free them, and one thread handles them. Returns the time. */
static double model_listen(struct model *model, size_t begin, size_t end)
{
    enum { CALLS = 3, EVENTS_SHARED_MIN = 4096 /* as in core/listen/listen.c */ };
    const struct perf_engine_costs *const costs = &model->run->costs;
    struct perf_engine_figures *const sum = model->sum;
    double events = 0;
    for (size_t i = begin; i < end; i++)
        events += model_is_listened(model, (uint32_t)i);
    const bool is_shared = events >= EVENTS_SHARED_MIN;
    const uint32_t n = model->n, sharers = is_shared ? n : 1;
    const double levels = n > 2 ? log2(n) - 1 : 0; /* the cost was measured on two */
    const double order_s = events * (costs->listen_s + levels * costs->listen_level_s);
    const double serial_s = events * costs->listen_serial_s;
    const double calls_s = is_shared ? CALLS * costs->call_lines * model->line_max_s * (n - 1) : 0;
    const double took_s = order_s / sharers + serial_s + calls_s;
    sum->handling_s += serial_s;
    sum->overhead_s += order_s;
    sum->waiting_s += n * took_s - serial_s - order_s;
    return took_s;
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
    model->sum->took_s += took_s + model_listen(model, begin, end);
    model->sum->imbalance_s += drain_imbalance_s(model);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* With as much memory as they like. */
static void prepare_workers(struct model *model)
{
    const enum cw_sync sync = model->run->speculates ? CW_ADAPTIVE : CW_CONSERVATIVE;
    for (uint32_t i = 0; i < model->n; i++) {
        struct model_worker *const worker = &model->workers[i];
        throttle_init(&worker->throttle, sync, UINT64_MAX, model->n);
        worker->throttle.patience = worker->throttle.patience_full;
        worker->promises_release = true;
        for (uint32_t from = 0; from < model->n; from++)
            worker->promises_release &=
                from == i || model->run->least_ps[(size_t)from * model->n + i] > 0;
    }
}

int perf_engine_model(const struct perf_engine_run *run, struct perf_engine_figures *figures,
                      struct cw_error *error)
{
    *figures = (struct perf_engine_figures){.events = run->trace->count};
    struct model model = {.run = run, .trace = run->trace, .sum = figures, .n = run->workers};
    const bool created = model_data_create(&model);
    if (created)
        prepare_workers(&model);
    for (size_t drain = 0; created && drain < run->trace->drain_count; drain++) {
        const size_t begin = run->trace->drain_begin[drain];
        const size_t end = drain + 1 < run->trace->drain_count ? run->trace->drain_begin[drain + 1]
                                                               : run->trace->count;
        if (end > begin)
            model_drain(&model, begin, end);
    }
    model_data_free(&model);
    return created ? CW_OK
                   : cw_error_set(error, CW_NO_RESOURCE,
                                  "out of memory for a prediction of %zu events on %u workers",
                                  run->trace->count, (unsigned)run->workers);
}
