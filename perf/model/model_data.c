/*
 * model_data.c: see model_data.h.
 */
#include "perf/model/model_data.h"

#include <stdlib.h>
#include <string.h>

#include "core/event.h"

/* A turn's events that send messages: a batch of safe ones, and of speculative ones. */
enum { MODEL_SENT_MAX = THROTTLE_BATCH_MAX + THROTTLE_AHEAD_MAX };

void model_data_free(struct model *model)
{
    free(model->workers);
    free(model->heap);
    free(model->list);
    free(model->sends);
    free(model->spawns);
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

static bool allocate(struct model *model)
{
    const size_t n = model->n, pairs = n * n, events = model->trace->count + 1;
    model->workers = calloc(n, sizeof *model->workers);
    model->heap = calloc(n, sizeof *model->heap);
    model->list = malloc(events * sizeof *model->list);
    model->sends = calloc(events, sizeof *model->sends);
    model->spawns = calloc(events, sizeof *model->spawns);
    model->state = calloc(events, sizeof *model->state);
    model->known_s = calloc(events, sizeof *model->known_s);
    model->lp_ahead = calloc(model->run->lp_count + (size_t)1, sizeof *model->lp_ahead);
    model->effect = malloc(events * sizeof *model->effect);
    model->sibling = malloc(events * sizeof *model->sibling);
    model->mail_s = calloc(pairs, sizeof *model->mail_s);
    model->near = calloc(pairs, sizeof *model->near);
    model->paths_ps = malloc(pairs * sizeof *model->paths_ps);
    model->reports_ps = calloc(n * ROUNDS_KEPT, sizeof *model->reports_ps);
    model->sent = malloc(MODEL_SENT_MAX * sizeof *model->sent);
    return model->workers != NULL && model->heap != NULL && model->list != NULL &&
           model->sends != NULL && model->spawns != NULL && model->state != NULL &&
           model->known_s != NULL && model->effect != NULL && model->sibling != NULL &&
           model->mail_s != NULL && model->lp_ahead != NULL && model->near != NULL &&
           model->paths_ps != NULL && model->reports_ps != NULL && model->sent != NULL;
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

/* Which events send messages to other workers, and the least delays of all paths. */
static void find_effects(struct model *model)
{
    const struct perf_engine_run *const run = model->run;
    const uint32_t n = model->n;
    for (size_t i = 0; i < (size_t)n * n; i++)
        model->paths_ps[i] = i / n == i % n ? CW_TIME_MAX : run->least_ps[i];
    close_paths(model->paths_ps, n);
    memset(model->effect, 0xff, (model->trace->count + 1) * sizeof *model->effect); /* NO_EFFECT */
    for (uint32_t event = 0; event < model->trace->count; event++) {
        const uint32_t cause = model->trace->cause[event];
        if (model_is_injected(model, event) || model_is_listened(model, event))
            continue;
        uint16_t *const count = model_worker_of(model, cause) == model_worker_of(model, event)
                                    ? model->spawns
                                    : model->sends;
        if (count[cause] == UINT16_MAX)
            continue;
        count[cause]++;
        if (count == model->spawns)
            continue;
        model->sibling[event] = model->effect[cause];
        model->effect[cause] = event;
    }
    model->line_max_s = n > 1 ? perf_socket_line_s(run->layout, 0, n - 1) : 0;
}

bool model_data_create(struct model *model)
{
    if (!allocate(model))
        return false;
    find_effects(model);
    return true;
}
