/*
 * harsh_model.c: see harsh_model.h.
 */
#include "test/support/harsh_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/worker/simulation.h"

enum { RIVAL = 0xFFFFFFFE, RECORDS_MORE = 20, SENDS_MANY = 250, LARGE_ONE_IN = 5 };

struct state {
    struct cw_rng rng;
    uint64_t number, sum;
    uint8_t small[7];
    uint32_t counts[5];
    struct words_part {
        uint64_t words[16];
    } parts[4];
    struct large_part {
        uint8_t bytes[65536];
    } large; /* of one LP in LARGE_ONE_IN, in models with large states */
};

struct body {
    uint64_t value, ttl, filler[6];
};

/* ---- the states that a sequential run shows -------------------------------------------------- */

/* A set of fingerprints; 0 is a free place. */
struct harsh_seen {
    bool learning;
    size_t count, capacity;
    uint64_t *places;
};

static uint64_t mixed(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9u;
    return x ^ x >> 32;
}

/* Of an event and the state in which it is handled; never 0. */
static uint64_t fingerprint(const struct cw_event *event, const struct state *state)
{
    const uint64_t words[] = {(uint64_t)event->time_ps,
                              event->number,
                              (uint64_t)event->entity << 32 | event->lp,
                              (uint64_t)event->type << 32 | (uint64_t)event->depth << 16 |
                                  event->payload_bytes,
                              state->sum,
                              state->number,
                              state->rng.s};
    uint64_t print = 1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        print = mixed(print ^ words[i]);
    for (uint32_t i = 0; i < event->payload_bytes; i++)
        print = mixed(print ^ event->payload[i]);
    return print | 1;
}

static size_t place_of(const struct harsh_seen *seen, uint64_t print)
{
    size_t place = mixed(print) & (seen->capacity - 1);
    while (seen->places[place] != 0 && seen->places[place] != print)
        place = (place + 1) & (seen->capacity - 1);
    return place;
}

static void learn(struct harsh_seen *seen, uint64_t print)
{
    if (2 * seen->count >= seen->capacity) {
        struct harsh_seen grown = {.learning = true, .capacity = 2 * seen->capacity};
        grown.places = calloc(grown.capacity, sizeof *grown.places);
        assert_non_null(grown.places);
        for (size_t i = 0; i < seen->capacity; i++)
            if (seen->places[i] != 0)
                grown.places[place_of(&grown, seen->places[i])] = seen->places[i];
        grown.count = seen->count;
        free(seen->places);
        *seen = grown;
    }
    uint64_t *const place = &seen->places[place_of(seen, print)];
    seen->count += *place == 0;
    *place = print;
}

static bool is_possible(const struct harsh_model *m, uint64_t print)
{
    if (m->seen == NULL || !m->suspicious)
        return true;
    if (m->seen->learning)
        learn(m->seen, print);
    return m->seen->places[place_of(m->seen, print)] == print;
}

/* ---- the model ------------------------------------------------------------------------------- */

static size_t state_bytes(const void *data, uint32_t lp)
{
    const struct harsh_model *const m = data;
    return m->large_states && lp % LARGE_ONE_IN == 0 ? sizeof(struct state)
                                                     : offsetof(struct state, large);
}

static void init(const void *data, uint32_t lp, void *state)
{
    (void)data;
    ((struct state *)state)->rng = cw_rng_seeded(11, lp);
}

static uint64_t number_of(const struct harsh_model *m, uint64_t count, uint64_t value)
{
    switch (m->numbers) {
    case HARSH_COUNT_ABOVE_32_BITS:
        return (count << 32) & CW_NUMBER_MAX;
    case HARSH_ANY_48_BITS:
        return (value << 24 ^ count) & CW_NUMBER_MAX;
    default:
        return count;
    }
}

/* The least delay of a send; false: the one region never sends to the other. */
static bool least_between(const struct harsh_model *m, uint32_t from, uint32_t to, int64_t *least)
{
    *least = m->region[from] == m->region[to] ? 0 : m->least_ps[m->region[from]][m->region[to]];
    return *least < CW_TIME_MAX;
}

/* One or two events to one LP. */
static void send_on(struct cw_ctx *ctx, const struct harsh_model *m, struct cw_rng *rng,
                    const struct state *state, uint64_t ttl, uint64_t value)
{
    const uint32_t me = ctx->event->lp;
    uint32_t to = cw_rng_below(rng, 3) == 0 ? me : cw_rng_below(rng, m->lps);
    int64_t least_ps;
    if (cw_rng_below(rng, 100) < m->near_p)
        while (m->region[to] != m->region[me])
            to = (to + 1) % m->lps;
    if (!least_between(m, me, to, &least_ps)) {
        to = me;
        least_ps = 0;
    }
    int64_t delay_ps =
        least_ps + (int64_t)cw_rng_below(rng, m->spread_ps) / m->grid_ps * m->grid_ps;
    if (m->region[me] == m->region[to] && cw_rng_below(rng, 100) < m->zero_p)
        delay_ps = 0;
    const uint64_t told = m->alike ? value & 1 : value;
    const struct body body = {.value = told, .ttl = ttl, .filler = {told * 3, told >> 7}};
    const uint16_t bytes =
        (uint16_t)(m->alike ? 32 : 16 + cw_rng_below(rng, CW_PAYLOAD_BYTES_MAX - 15));
    if (delay_ps >= CW_TIME_MAX - cw_now(ctx) - 1)
        return; /* beyond the end of time */
    uint64_t *const count = CW_MUT(ctx, &state->number);
    const uint32_t entity = m->high_entities ? 0xFFFFFF00u + me : me;
    const uint16_t type = (uint16_t)(value % 5);
    if (m->rivals && value % 4 == 0) {
        cw_send(ctx, to, delay_ps, type, RIVAL, (uint64_t)(cw_now(ctx) + delay_ps) & 0xFFFF, &body,
                bytes);
        return;
    }
    cw_send(ctx, to, delay_ps, type, entity, number_of(m, *count, value), &body, bytes);
    if (m->twins && ttl < 4 && value % 4 == 1) /* equal in all */
        cw_send(ctx, to, delay_ps, type, entity, number_of(m, *count, value), &body, bytes);
    ++*count;
    if (value % 8 == 2) { /* equal in all but its number and its payload's length */
        cw_send(ctx, to, delay_ps, type, entity, number_of(m, *count, value), &body, 8);
        ++*count;
    }
}

/* Whatever a handler may do that believes its state. */
static void act_on_nonsense(struct cw_ctx *ctx, const struct harsh_model *m,
                            const struct state *state, uint64_t print, const struct body *body)
{
    const uint32_t me = ctx->event->lp;
    int64_t least_ps;
    switch (print / 2 % 8) {
    case 0:
        cw_send(ctx, m->lps + (uint32_t)(print >> 32), 1, 1, 1, 1, NULL, 0);
        break;
    case 1:
        cw_send(ctx, me, -5, 1, 1, 1, NULL, 0);
        break;
    case 2:
        cw_send(ctx, me, CW_TIME_MAX, 1, 1, 1, NULL, 0);
        break;
    case 3:
        for (uint64_t i = 0; i < SENDS_MANY; i++)
            cw_send(ctx, me, 1, 1, 1, i, NULL, 0);
        break;
    case 4:
    case 5:
        for (uint32_t i = 0; i < 40; i++) {
            const uint32_t to = (uint32_t)(print >> 8) % m->lps;
            if (least_between(m, me, to, &least_ps) && least_ps < CW_TIME_MAX - cw_now(ctx) - 2)
                cw_send(ctx, to, least_ps + i % 2, 2, 3, i, body, 40);
        }
        break;
    case 6:
        for (uint32_t i = 0; i < SENDS_MANY; i++)
            cw_emit(ctx, 1, body, sizeof *body);
        break;
    default:
        if (m->faults) {
            volatile uint64_t zero = 0;
            *CW_MUT(ctx, &state->sum) = print / zero;
        }
        break;
    }
}

static void change(struct cw_ctx *ctx, const struct harsh_model *m, const struct state *state,
                   const struct body *body)
{
    const struct cw_event *const event = ctx->event;
    uint64_t *const sum = CW_MUT(ctx, &state->sum);
    *sum = *sum * 31 + body->value + (uint64_t)event->time_ps + event->payload_bytes;
    ++*CW_MUT(ctx, &state->counts[event->type % 5]);
    *CW_MUT(ctx, &state->small[event->type % 7]) ^= (uint8_t)*sum;
    if (event->type == 1)
        CW_MUT(ctx, &state->parts[*sum % 4])->words[*sum % 16] += *sum;
    if (m->large_states && event->lp % LARGE_ONE_IN == 0 && event->type == 2) {
        uint8_t *const bytes = CW_MUT(ctx, &state->large)->bytes;
        bytes[*sum % 65536]++;
        *sum += bytes[(*sum >> 8) % 65536];
    }
    *sum += state->counts[0] + state->parts[1].words[3] + state->small[3];
}

static void emit_some(struct cw_ctx *ctx, const struct harsh_model *m, struct cw_rng *rng,
                      const struct body *body)
{
    uint32_t records = cw_rng_below(rng, 3);
    if (cw_rng_below(rng, 100) < m->records_p)
        records += RECORDS_MORE;
    for (uint32_t i = 0; i < records; i++) {
        const uint64_t record[] = {body->value + i, (uint64_t)cw_now(ctx)};
        cw_emit(ctx, (uint16_t)(i % 3), record, i % 2 == 0 ? 8 : sizeof record);
    }
}

static void handle(struct cw_ctx *ctx, const void *state_, const struct cw_event *event)
{
    const struct harsh_model *const m = cw_model_data(ctx);
    const struct state *const state = state_;
    struct body body = {0};
    memcpy(&body, event->payload, event->payload_bytes);
    const uint64_t print = fingerprint(event, state);
    if (!is_possible(m, print)) {
        ++*CW_MUT(ctx, &state->sum);
        if (m->nonsense)
            act_on_nonsense(ctx, m, state, print, &body);
        cw_fail(ctx, CW_BUG, "LP %u is in an impossible state", event->lp);
    }
    struct cw_rng *const rng = CW_MUT(ctx, &state->rng);
    change(ctx, m, state, &body);
    emit_some(ctx, m, rng, &body);
    if (body.ttl > 0)
        send_on(ctx, m, rng, state, body.ttl - 1, state->sum);
    if (body.ttl > 0 && cw_rng_below(rng, 100) < m->fan_p)
        for (uint32_t i = 0; i < m->fan; i++)
            send_on(ctx, m, rng, state, body.ttl / 3, state->sum + i);
    if (m->fail_ps < CW_TIME_MAX && event->time_ps - m->base_ps >= m->fail_ps && event->lp % 3 > 0)
        cw_fail(ctx, CW_PROGRAM_FAILED, "LP %u gives up at %lld", event->lp,
                (long long)event->time_ps);
}

/* ---- models ---------------------------------------------------------------------------------- */

static void draw_delays(struct harsh_model *m, struct cw_rng *rng)
{
    static const int64_t delays[] = {0, 0, 1, 7, 100, 1000, 5000};
    enum { SAME, DIRECTED, SOME_NEVER, KINDS };
    const uint32_t kind = cw_rng_below(rng, KINDS);
    const int64_t common_ps = delays[cw_rng_below(rng, 7)];
    for (uint32_t from = 0; from < HARSH_REGIONS; from++)
        for (uint32_t to = 0; to < HARSH_REGIONS; to++) {
            int64_t delay_ps = delays[cw_rng_below(rng, 7)] * (1 + cw_rng_below(rng, 3));
            if (kind == SOME_NEVER && cw_rng_below(rng, 4) == 0)
                delay_ps = CW_TIME_MAX;
            m->least_ps[from][to] = kind == SAME ? common_ps : delay_ps;
        }
}

static void draw_times(struct harsh_model *m, struct cw_rng *rng)
{
    static const int64_t grids[] = {1, 1, 10, 250};
    m->grid_ps = grids[cw_rng_below(rng, 4)];
    m->spread_ps = cw_rng_below(rng, 6) == 0 ? 1 : 1 + cw_rng_below(rng, 2000);
    m->end_ps = CW_TIME_MAX;
    m->fail_ps = cw_rng_below(rng, 4) == 0 ? 300 + cw_rng_below(rng, 6000) : CW_TIME_MAX;
    if (cw_rng_below(rng, 5) == 0)
        m->base_ps = CW_TIME_MAX - 20000 - cw_rng_below(rng, 5000);
    else if (cw_rng_below(rng, 3) == 0)
        m->base_ps = INT64_C(1) << cw_rng_below(rng, 62);
    if (cw_rng_below(rng, 3) == 0)
        m->end_ps = m->base_ps + 1000 + cw_rng_below(rng, 20) * 250;
    if (cw_rng_below(rng, 4) == 0)
        m->window_ps = 1 + cw_rng_below(rng, 2000);
}

struct harsh_model harsh_model_draw(uint64_t seed, uint32_t lps_max, uint32_t ttl_max)
{
    struct cw_rng rng = cw_rng_seeded(seed, 77);
    struct harsh_model m = {.lps = 1 + cw_rng_below(&rng, lps_max)};
    const uint32_t regions = 1 + cw_rng_below(&rng, HARSH_REGIONS);
    for (uint32_t i = 0; i < m.lps; i++)
        m.region[i] = cw_rng_below(&rng, regions);
    draw_delays(&m, &rng);
    draw_times(&m, &rng);
    m.zero_p = cw_rng_below(&rng, 3) * 30;
    if (cw_rng_below(&rng, 4) == 0) { /* many events at one time in one region */
        m.near_p = 80;
        m.zero_p = 95;
    }
    m.ttl = 1 + cw_rng_below(&rng, ttl_max);
    m.fan_p = cw_rng_below(&rng, 8);
    m.fan = 1 + cw_rng_below(&rng, 4);
    m.records_p = cw_rng_below(&rng, 4);
    if (cw_rng_below(&rng, 20) == 0) {
        m.fan = 60;
        m.fan_p = 1;
        m.ttl = m.ttl < 9 ? m.ttl : 9;
    }
    m.numbers = cw_rng_below(&rng, HARSH_NUMBERS);
    m.high_entities = cw_rng_below(&rng, 2) == 0;
    m.twins = cw_rng_below(&rng, 2) == 0;
    m.rivals = cw_rng_below(&rng, 3) == 0;
    m.alike = cw_rng_below(&rng, 3) == 0;
    m.suspicious = cw_rng_below(&rng, 2) == 0;
    m.nonsense = cw_rng_below(&rng, 2) == 0;
    m.large_states = cw_rng_below(&rng, 6) == 0;
    m.drains = 1 + cw_rng_below(&rng, 3);
    m.sends_max = cw_rng_below(&rng, 4) == 0 ? 200 : 0;
    return m;
}

void harsh_model_free(struct harsh_model *model)
{
    if (model->seen != NULL)
        free(model->seen->places);
    free(model->seen);
    model->seen = NULL;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* The least delay between two workers: that of any of their regions. A cw_least_delays_fn. */
static void least_delays(void *arg, const uint32_t *lp_worker, uint32_t workers, int64_t *least_ps)
{
    const struct harsh_model *const m = arg;
    for (uint32_t i = 0; i < workers * workers; i++)
        least_ps[i] = i / workers == i % workers ? 0 : CW_TIME_MAX;
    for (uint32_t a = 0; a < m->lps; a++)
        for (uint32_t b = 0; b < m->lps; b++) {
            int64_t *const least = &least_ps[lp_worker[a] * workers + lp_worker[b]];
            int64_t delay_ps;
            if (lp_worker[a] != lp_worker[b] && least_between(m, a, b, &delay_ps) &&
                delay_ps < *least)
                *least = delay_ps;
        }
}

static void place(const struct harsh_model *m, const struct random_run *run, uint32_t *lp_worker)
{
    uint32_t of_region[HARSH_REGIONS];
    struct cw_rng rng = cw_rng_seeded(run->seed, 99);
    for (uint32_t i = 0; i < HARSH_REGIONS; i++)
        of_region[i] = cw_rng_below(&rng, run->workers);
    for (uint32_t i = 0; i < m->lps; i++)
        lp_worker[i] = of_region[m->region[i]];
}

bool harsh_model_runs(const struct harsh_model *model, const struct random_run *run)
{
    struct harsh_model copy = *model;
    uint32_t lp_worker[HARSH_LPS_MAX];
    int64_t least_ps[HARSH_WORKERS_MAX * HARSH_WORKERS_MAX];
    place(model, run, lp_worker);
    least_delays(&copy, lp_worker, run->workers, least_ps);
    for (uint32_t i = 0; i < run->workers * run->workers; i++)
        if (run->sync == CW_CONSERVATIVE && i / run->workers != i % run->workers &&
            least_ps[i] == 0)
            return false;
    return true;
}

static void take_record(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                        uint16_t bytes)
{
    uint64_t *const digest = arg, words[2] = {0};
    memcpy(words, record, bytes);
    *digest =
        mixed(*digest ^ words[0] ^ (uint64_t)event->time_ps ^ (uint64_t)event->lp << 40 ^ kind);
    *digest = mixed(*digest ^ words[1] ^ event->number ^ event->reserved);
}

static int inject(struct cw_sim *sim, const struct harsh_model *m, uint64_t *number,
                  struct cw_error *error)
{
    struct cw_rng rng = cw_rng_seeded(*number, 3);
    int result = CW_OK;
    for (uint32_t i = 0; i < m->lps + 5 && result == CW_OK; i++, ++*number) {
        const struct body body = {.value = i, .ttl = m->ttl};
        const int64_t now_ps = cw_sim_now(sim) > m->base_ps ? cw_sim_now(sim) : m->base_ps;
        const int64_t later_ps = (int64_t)cw_rng_below(&rng, 500) / m->grid_ps * m->grid_ps;
        const uint32_t lp = cw_rng_below(&rng, m->lps);
        if (now_ps >= CW_TIME_MAX - later_ps)
            continue;
        for (uint32_t twin = 0; twin < 1 + (i % 6 == 0) && result == CW_OK; twin++)
            result =
                cw_inject(sim, lp, now_ps + later_ps, 1, 9000, *number, &body, sizeof body, error);
    }
    return result;
}

/* ---- memory that seems short ----------------------------------------------------------------- */

/* Bytes that the account has too much: far more than the model takes, so that at each of the
 * engine's watermarks it still gets the memory that it asks for. */
#define BALLAST_BYTES (UINT64_C(64) << 20)

struct pressure {
    struct cw_sim *sim;
    struct cw_rng rng;
};

/* A cw_worker_look_fn: each worker comes here in each turn. */
static bool press(void *arg, uint32_t worker)
{
    static const uint64_t percents[] = {50, 50, 75, 75, 90, 97}; /* of the limit, that are taken */
    struct pressure *const pressure = arg;
    (void)worker;
    if (cw_rng_below(&pressure->rng, 8) == 0)
        pressure->sim->memory.bytes_max = sync_load_acquire(&pressure->sim->memory.taken) * 100 /
                                          percents[cw_rng_below(&pressure->rng, 6)];
    return false;
}

/* Adds the states to the digest, and frees the simulation. */
static void finish(struct cw_sim *sim, const struct harsh_model *m, struct random_outcome *outcome)
{
    random_outcome_note(sim, outcome);
    for (uint32_t lp = 0; lp < m->lps && outcome->exit_code == CW_OK; lp++) {
        const uint8_t *const state = cw_state(sim, lp);
        for (size_t i = 0; i < state_bytes(m, lp); i += sizeof(uint64_t)) {
            uint64_t word;
            memcpy(&word, state + i, sizeof word);
            outcome->records = mixed(outcome->records ^ word);
        }
    }
    cw_sim_free(sim);
}

struct random_outcome harsh_model_run(const struct harsh_model *m, const struct random_run *run)
{
    struct random_outcome outcome = {0};
    struct pressure pressure = {.rng = cw_rng_seeded(run->seed, 4)};
    struct harsh_model copy = *m;
    uint32_t lp_worker[HARSH_LPS_MAX];
    int64_t least_ps[HARSH_WORKERS_MAX * HARSH_WORKERS_MAX];
    place(m, run, lp_worker);
    least_delays(&copy, lp_worker, run->workers, least_ps);
    const struct cw_model model = {.name = "harsh",
                                   .data = m,
                                   .lp_count = m->lps,
                                   .state_bytes = state_bytes,
                                   .init = init,
                                   .handle = handle};
    struct cw_config config = random_config(run);
    config.lp_worker = lp_worker;
    config.least_delay_ps = least_ps;
    config.tuning.lp_part = m->region;
    config.tuning.least_delays = least_delays;
    config.tuning.least_delays_arg = &copy;
    config.end_ps = m->end_ps;
    config.tuning.window_ps = m->window_ps;
    config.tuning.sends_per_event_max = m->sends_max;
    config.record = take_record;
    config.record_arg = &outcome.records;
    config.tuning.worker_look = run->pressed ? press : NULL;
    config.tuning.worker_arg = &pressure;
    config.tuning.stress_rate_p32 = (UINT64_C(1) << 32) / (1 + run->seed % 9);
    struct cw_error error = {.exit_code = CW_OK};
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    pressure.sim = sim;
    outcome.exit_code = error.exit_code;
    if (sim != NULL && run->pressed)
        (void)sync_add_relaxed(&sim->memory.taken, BALLAST_BYTES);
    uint64_t number = 0;
    for (uint32_t drain = 0; drain < m->drains && outcome.exit_code == CW_OK; drain++) {
        outcome.exit_code = inject(sim, m, &number, &error);
        if (outcome.exit_code == CW_OK)
            outcome.exit_code = cw_drain(sim, &error);
    }
    if (outcome.exit_code != CW_OK)
        snprintf(outcome.text, sizeof outcome.text, "%s", error.text);
    if (sim != NULL && run->pressed)
        (void)sync_add_relaxed(&sim->memory.taken, -BALLAST_BYTES);
    if (sim != NULL)
        finish(sim, m, &outcome);
    return outcome;
}

struct random_outcome harsh_model_learn(struct harsh_model *model, uint64_t seed)
{
    enum { CAPACITY_FIRST = 1 << 12 };
    model->seen = calloc(1, sizeof *model->seen);
    assert_non_null(model->seen);
    model->seen->places = calloc(CAPACITY_FIRST, sizeof *model->seen->places);
    assert_non_null(model->seen->places);
    model->seen->capacity = CAPACITY_FIRST;
    model->seen->learning = true;
    const struct random_run run = {.sync = CW_SEQUENTIAL, .workers = 1, .seed = seed};
    const struct random_outcome outcome = harsh_model_run(model, &run);
    model->seen->learning = false;
    return outcome;
}

bool harsh_ran_out_of_memory(const struct random_outcome *outcome)
{
    return outcome->exit_code == CW_NO_RESOURCE && strncmp(outcome->text, "out of memory", 13) == 0;
}
