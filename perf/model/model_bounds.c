/*
 * model_bounds.c: see model_bounds.h.
 */
#include "perf/model/model_bounds.h"

#include <math.h>

#include "core/event.h"
#include "core/timewarp/gvt.h"

enum {
    MAILS_AT_ONCE = 4, /* mailboxes whose lines a worker fetches side by side */
    LINES_AT_ONCE = 8, /* cache lines that a core fetches side by side */
};

/* ---- promises and mailboxes ------------------------------------------------------------------ */

/* The place of the promise of worker `from` that worker `to` sees at that moment. */
static unsigned promise_seen(const struct model *model, uint32_t from, uint32_t to, double now_s)
{
    const struct model_worker *const worker = &model->workers[from];
    const double delay_s = model_line_s(model, from, to);
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
        const double delay_s = model_line_s(model, from, index);
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

bool model_look(struct model *model, uint32_t index, double *took_s)
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
        const double line = run->costs.promise_lines * model_line_s(model, from, index);
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

/* ---- rounds of GVT --------------------------------------------------------------------------- */

static bool model_wants_round(const struct model *model, const struct model_worker *worker)
{
    const struct model_round *const round = &model->rounds[(worker->round + 1) % ROUNDS_KEPT];
    const bool rested = worker->turns >= worker->rest_until;
    return (rested &&
            (worker->looks >= GVT_LOOKS_BEFORE_ROUND || worker->live >= GVT_LIVE_BEFORE_ROUND ||
             (worker->live > 0 && worker->live >= worker->throttle.window))) ||
           worker->handled - worker->handled_then >= GVT_EVENTS_BEFORE_ROUND ||
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
static uint64_t turns_of_rest(const struct model *model, const struct model_worker *worker)
{
    return model->n > GVT_WORKERS_FEW && worker->promises_release
               ? (uint64_t)model->n * GVT_REST_TURNS
               : 0;
}

bool model_round_step(struct model *model, uint32_t index, double *took_s)
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
        model->reports_ps[worker->round % ROUNDS_KEPT * model->n + index] =
            model_next_ps(model, worker);
        round->second++;
        round->second_s = after_line_s(model, round->second_s, worker->clock_s);
    }
    if (round->second < model->n || round->second_s + model->line_max_s > worker->clock_s)
        return false;
    const int64_t safe_ps = model_compute(model, index);
    worker->safe_ps = safe_ps > worker->safe_ps ? safe_ps : worker->safe_ps;
    worker->handled_then = worker->handled;
    worker->rest_until = worker->turns + turns_of_rest(model, worker);
    worker->stage = AT_REST;
    worker->over = worker->gvt_ps == CW_TIME_MAX;
    *took_s += round_s / 2;
    model->sum->rounds_s += round_s / 2;
    model->sum->rounds += index == 0;
    return true;
}
