/*
 * model_events.c: see model_events.h.
 */
#include "perf/model/model_events.h"

enum { SCANNED_MAX = 4096 /* list places that speculation looks at in a turn */ };

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
        worker->throttle.usage.rolled_back++;
        worker->pending++;
        worker->pending -=
            model->spawns[event] < worker->pending ? model->spawns[event] : worker->pending;
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
    if (!model_is_injected(model, event)) {
        const uint32_t from = model_worker_of(model, model->trace->cause[event]);
        if (from != index) {
            message_s += 0.5 * costs->message_s;
            lines_s = costs->message_lines * model_line_s(model, from, index);
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
    worker->pending += model->spawns[event];
    worker->pending -= worker->pending > 0;
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
    if (model_is_injected(model, event))
        return true;
    const uint32_t cause = model->trace->cause[event];
    if (model->state[cause] == NOT_HANDLED)
        return false;
    const uint32_t from = model_worker_of(model, cause);
    return from == index || model->known_s[cause] + model_line_s(model, from, index) <=
                                model->workers[index].clock_s;
}

unsigned model_safe_run(struct model *model, uint32_t index, unsigned most, double *took_s)
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

void model_collect(struct model *model, struct model_worker *worker, size_t begin)
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

unsigned model_ahead_run(struct model *model, uint32_t index, unsigned most, double *took_s)
{
    struct model_worker *const worker = &model->workers[index];
    unsigned handled = 0;
    for (size_t at = worker->next; at < worker->end && at < worker->next + SCANNED_MAX &&
                                   handled < most && worker->live < worker->throttle.window;
         at++) {
        const uint32_t event = model->list[at];
        if (model->state[event] != NOT_HANDLED || !has_arrived(model, index, event))
            continue;
        *took_s += model_handle(model, index, at, true);
        uint32_t *const last = &model->lp_ahead[model->trace->lp[event]];
        *last = at + 1 > *last ? (uint32_t)at + 1 : *last;
        worker->live++;
        worker->throttle.usage.processed++;
        handled++;
        model->sum->speculated++;
    }
    return handled;
}

void model_publish(struct model *model, uint32_t index)
{
    struct model_worker *const worker = &model->workers[index];
    for (uint32_t i = 0; i < model->sent_count; i++) {
        const uint32_t cause = model->sent[i];
        model->known_s[cause] = worker->clock_s;
        for (uint32_t event = model->effect[cause]; event != (uint32_t)NO_EFFECT;
             event = model->sibling[event]) {
            const size_t to = model_worker_of(model, event);
            model->workers[to].pending++;
            double *const mail_s = &model->mail_s[index * (size_t)model->n + to];
            *mail_s = *mail_s > 0 ? *mail_s : worker->clock_s;
        }
    }
    model->sent_count = 0;
    const int64_t least_ps = model_next_ps(model, worker);
    const int64_t now_ps = least_ps < worker->safe_ps ? least_ps : worker->safe_ps;
    if (now_ps <= worker->promises[worker->promise].time_ps)
        return;
    worker->promise = (worker->promise + 1) % PROMISES_KEPT;
    worker->promises[worker->promise] = (struct promised){worker->clock_s, now_ps};
}
