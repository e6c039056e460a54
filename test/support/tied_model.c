/*
 * tied_model.c: see tied_model.h.
 */
#include "test/support/tied_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/at_random.h"

enum { SENDS = 100 }; /* type of the events that send those of a burst; they are injected */
enum { TIED_ENTITY = 77, BURST_PS = 1000 };

struct tied_state {
    uint32_t burst, handled; /* events of that burst */
};

static int64_t burst_at(uint32_t burst) { return BURST_PS * (int64_t)(burst + 1); }

/* ---- the model ------------------------------------------------------------------------------- */

static size_t tied_state_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(struct tied_state);
}

static void tied_init(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp, (void)state;
}

static const struct tied_event *event_of(const struct tied_model *m, const struct cw_event *event,
                                         uint16_t index)
{
    if (event->type == SENDS)
        return &m->events[index];
    for (uint32_t i = 0; i < m->event_count; i++)
        if (m->events[i].rank == index && m->events[i].to == event->lp)
            return &m->events[i];
    return NULL;
}

static void tied_handle(struct cw_ctx *ctx, const void *state_, const struct cw_event *event)
{
    const struct tied_model *const m = cw_model_data(ctx);
    const struct tied_state *const state = state_;
    uint16_t index;
    memcpy(&index, event->payload, sizeof index);
    const struct tied_event *const tied = event_of(m, event, index);
    if (event->type == SENDS) {
        cw_send(ctx, tied->to, burst_at(tied->burst) - event->time_ps, tied->type, TIED_ENTITY,
                tied->burst, &tied->rank, sizeof tied->rank);
        return;
    }
    struct tied_state *const mine = CW_MUT(ctx, state);
    if (mine->burst != tied->burst)
        *mine = (struct tied_state){.burst = tied->burst};
    const uint64_t record = (uint64_t)index << 32 | (uint64_t)event->depth << 16 | mine->handled++;
    cw_emit(ctx, 1, &record, sizeof record);
    if (tied->goes_on && event->depth == 0)
        cw_send(ctx, event->lp, 0, tied->type, TIED_ENTITY, tied->burst, &index, sizeof index);
    if (m->fails && tied->fails[event->depth]) /* last, so that there is something to undo */
        cw_fail(ctx, CW_PROGRAM_FAILED, "LP %u gives up at rank %u, depth %u", (unsigned)event->lp,
                (unsigned)index, (unsigned)event->depth);
}

/* ---- a run ----------------------------------------------------------------------------------- */

struct tied_receivers {
    struct tied_records told;
    struct tied_records on_workers[TIED_LPS_MAX];
};

static void add_value(struct tied_records *records, const void *record)
{
    if (records->count < TIED_RECORDS_MAX)
        memcpy(&records->value[records->count], record, sizeof(uint64_t));
    records->count++;
}

static void tied_take(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                      uint16_t bytes)
{
    (void)event, (void)kind, (void)bytes;
    add_value(&((struct tied_receivers *)arg)->told, record);
}

/* Writes to the places of the event's LP only: its owner alone comes here for it. */
static void tied_take_on_worker(void *arg, uint32_t worker, const struct cw_event *event,
                                uint16_t kind, const void *record, uint16_t bytes)
{
    (void)worker, (void)kind, (void)bytes;
    add_value(&((struct tied_receivers *)arg)->on_workers[event->lp], record);
}

static void tied_least_delays(void *arg, const uint32_t *lp_worker, uint32_t workers,
                              int64_t *least_ps)
{
    (void)lp_worker;
    for (uint32_t i = 0; i < workers * workers; i++)
        least_ps[i] =
            i / workers == i % workers ? 0 : ((const struct tied_model *)arg)->lookahead_ps;
}

static int tied_inject(struct cw_sim *sim, const struct tied_model *m, struct cw_error *error)
{
    int result = CW_OK;
    for (uint32_t i = 0; i < m->event_count && result == CW_OK; i++) {
        const uint16_t index = (uint16_t)i;
        result = cw_inject(sim, m->events[i].from, m->events[i].sent_ps, SENDS, 0, i, &index,
                           sizeof index, error);
    }
    return result;
}

static struct tied_receivers *run_tied(const struct tied_model *m, const struct random_run *run,
                                       struct cw_error *error)
{
    struct tied_model copy = *m;
    struct tied_receivers *const receivers = calloc(1, sizeof *receivers);
    uint32_t lp_worker[TIED_LPS_MAX];
    int64_t least_ps[TIED_WORKERS_MAX * TIED_WORKERS_MAX];
    struct cw_rng rng = cw_rng_seeded(run->seed, 98);
    for (uint32_t i = 0; i < m->lps; i++)
        lp_worker[i] = cw_rng_below(&rng, run->workers);
    tied_least_delays(&copy, lp_worker, run->workers, least_ps);
    const struct cw_model model = {.name = "tied",
                                   .data = m,
                                   .lp_count = m->lps,
                                   .state_bytes = tied_state_bytes,
                                   .init = tied_init,
                                   .handle = tied_handle};
    struct cw_config config = random_config(run);
    config.lp_worker = lp_worker;
    config.least_delay_ps = least_ps;
    config.tuning.least_delays = tied_least_delays;
    config.tuning.least_delays_arg = &copy;
    config.record = tied_take;
    config.record_arg = receivers;
    config.tuning.worker_record = tied_take_on_worker;
    config.tuning.worker_arg = receivers;
    *error = (struct cw_error){.exit_code = CW_OK};
    struct cw_sim *const sim = receivers == NULL ? NULL : cw_sim_create(&config, &model, error);
    if (sim != NULL && tied_inject(sim, m, error) == CW_OK)
        (void)cw_drain(sim, error);
    cw_sim_free(sim);
    return receivers;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void draw_events(struct tied_model *m, struct cw_rng *rng)
{
    const uint32_t bursts = 1 + cw_rng_below(rng, TIED_BURSTS_MAX);
    const uint32_t each = 2 + cw_rng_below(rng, TIED_EVENTS_MAX / TIED_BURSTS_MAX - 2);
    for (uint32_t i = 0; i < bursts * each; i++) {
        struct tied_event *const event = &m->events[i];
        const struct tied_event *const before = i % each == 0 ? NULL : event - 1;
        *event = (struct tied_event){
            .from = cw_rng_below(rng, m->lps),
            .to = cw_rng_below(rng, m->lps),
            .burst = i / each,
            .type = (uint16_t)(1 + cw_rng_below(rng, 3)),
            .rank = (uint16_t)i,
            .goes_on = cw_rng_below(rng, 3) == 0,
        };
        event->sent_ps =
            burst_at(event->burst) - m->lookahead_ps - 1 - cw_rng_below(rng, BURST_PS - 100);
        if (before != NULL && before->to != m->lps - 1 && cw_rng_below(rng, 3) == 0) {
            event->to = before->to + 1; /* its LP alone tells it from its twin */
            event->type = before->type;
            event->rank = before->rank;
        }
    }
    m->event_count = bursts * each;
    for (uint32_t fails = 1 + cw_rng_below(rng, 4); fails > 0; fails--) {
        struct tied_event *const event = &m->events[m->event_count - 1 - cw_rng_below(rng, each)];
        event->fails[event->goes_on && cw_rng_below(rng, 2) == 0] = true;
    }
}

void tied_model_draw(struct tied_model *model, uint64_t seed)
{
    static const int64_t lookaheads_ps[] = {0, 1, 0, 90};
    struct cw_rng rng = cw_rng_seeded(seed, 8);
    const struct random_run sequential = {.sync = CW_SEQUENTIAL, .workers = 1, .threads = 1};
    struct cw_error error;
    *model = (struct tied_model){.lps = 2 + cw_rng_below(&rng, TIED_LPS_MAX - 1),
                                 .lookahead_ps = lookaheads_ps[seed % 4]};
    draw_events(model, &rng);
    struct tied_receivers *const whole = run_tied(model, &sequential, &error);
    model->fails = true;
    struct tied_receivers *const told = run_tied(model, &sequential, &model->failure);
    if (whole == NULL || told == NULL || error.exit_code != CW_OK ||
        model->failure.exit_code != CW_PROGRAM_FAILED)
        abort(); /* the model is not as its comment says */
    memcpy(model->whole, whole->on_workers, sizeof model->whole);
    model->told = told->told;
    free(whole);
    free(told);
}

struct random_run tied_run_draw(const struct tied_model *model, uint64_t seed)
{
    static const unsigned percents[] = {1, 10, 25, 50, 100};
    struct cw_rng rng = cw_rng_seeded(seed, 15);
    const uint32_t workers = 2 + cw_rng_below(&rng, TIED_WORKERS_MAX - 1);
    const bool stress = cw_rng_below(&rng, 2) == 0;
    const uint32_t first = model->lookahead_ps > 0 ? CW_CONSERVATIVE : CW_CONSERVATIVE + 1;
    return (struct random_run){
        .sync = stress ? CW_STRESS : first + cw_rng_below(&rng, CW_SYNCS - first),
        .workers = workers,
        .threads = cw_rng_below(&rng, 3) == 0 ? 1 + cw_rng_below(&rng, workers) : workers,
        .seed = seed,
        .window_ps = cw_rng_below(&rng, 4) == 0 ? 1 + cw_rng_below(&rng, 2 * BURST_PS) : 0,
        .memory_bytes_max = UINT64_C(1) << 30,
        .stress_rate_p32 = percents[cw_rng_below(&rng, 5)] * (UINT64_C(1) << 32) / 100,
        .balance = cw_rng_below(&rng, 2) == 0 ? CW_BALANCE_RANDOM : CW_BALANCE_OFF,
        .gather = cw_rng_below(&rng, 3) == 0 ? CW_GATHER_OFTEN : CW_GATHER_NEVER,
        .lazy = cw_rng_below(&rng, 2) == 0};
}

/* ---- the outcome that a run must have -------------------------------------------------------- */

/* The first record of `got` that is not as in `expected`; got->count: there is none. */
static uint32_t agreement(const struct tied_records *got, const struct tied_records *expected)
{
    uint32_t i = 0;
    while (i < got->count && i < expected->count && got->value[i] == expected->value[i])
        i++;
    return i;
}

static bool lps_agree(const struct tied_model *m, const struct tied_receivers *got, char *text,
                      size_t bytes)
{
    uint32_t on_workers = 0;
    for (uint32_t lp = 0; lp < m->lps; lp++) {
        const struct tied_records *const own = &got->on_workers[lp];
        const uint32_t right = agreement(own, &m->whole[lp]);
        on_workers += own->count;
        if (right == own->count)
            continue;
        snprintf(text, bytes, "record %u of LP %u on its worker is %llx, it should be %llx", right,
                 lp, (unsigned long long)own->value[right],
                 (unsigned long long)m->whole[lp].value[right]);
        return false;
    }
    if (on_workers >= m->told.count)
        return true;
    snprintf(text, bytes, "the workers got %u records, of %u before the failure", on_workers,
             m->told.count);
    return false;
}

bool tied_model_holds(const struct tied_model *model, const struct random_run *run, char *text,
                      size_t bytes)
{
    struct cw_error error;
    struct tied_receivers *const got = run_tied(model, run, &error);
    bool holds = false;
    if (got == NULL)
        snprintf(text, bytes, "out of memory");
    else if (error.exit_code != model->failure.exit_code ||
             strcmp(error.text, model->failure.text) != 0)
        snprintf(text, bytes, "exit code %d, %s; sequential: %d, %s", error.exit_code, error.text,
                 model->failure.exit_code, model->failure.text);
    else if (got->told.count != model->told.count ||
             agreement(&got->told, &model->told) != model->told.count)
        snprintf(text, bytes, "%u records before the failure, the first %u as they should be of %u",
                 got->told.count, agreement(&got->told, &model->told), model->told.count);
    else
        holds = lps_agree(model, got, text, bytes);
    free(got);
    return holds;
}
