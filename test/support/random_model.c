/*
 * random_model.c: see random_model.h.
 */
#include "test/support/random_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/at_random.h"

/* Parts of whole words and of odd sizes, short and long. */
struct state {
    struct cw_rng rng;
    uint64_t number, sum;
    uint64_t counts[5];
    struct long_part {
        uint64_t sums[10];
    } sums;
    struct odd_part {
        uint32_t sums[3];
    } odd[3];
    uint8_t bytes[12];
};

/* An entity that all LPs send for, numbered by the time at which the event arrives. */
enum { RIVAL = 5000 };

struct body {
    uint64_t value;
    uint32_t ttl;
    uint32_t filler[11];
};

static size_t state_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(struct state);
}

static void init(const void *data, uint32_t lp, void *state)
{
    (void)data;
    *(struct state *)state = (struct state){.rng = cw_rng_seeded(1, lp)};
}

static bool is_near(const struct random_model *m, uint32_t a, uint32_t b)
{
    return a == b || (m->near > 1 && a / m->near == b / m->near);
}

static void send_on(struct cw_ctx *ctx, const struct random_model *m, struct cw_rng *rng,
                    const struct state *state, uint32_t ttl, uint64_t value)
{
    const uint32_t me = ctx->event->lp;
    uint32_t to = cw_rng_below(rng, 3) == 0 ? me : cw_rng_below(rng, m->lps);
    if (m->near > 1 && to == me)
        to = cw_rng_below(rng, m->near) + me / m->near * m->near;
    to = to < m->lps ? to : me;
    const bool near = is_near(m, me, to);
    int64_t delay_ps = (int64_t)cw_rng_below(rng, m->spread_ps) / m->grid_ps * m->grid_ps;
    if (near && cw_rng_below(rng, 100) < m->zero_p)
        delay_ps = 0;
    if (!near)
        delay_ps += m->lookahead_ps;
    uint64_t *const number = CW_MUT(ctx, &state->number);
    /* Where events fail there are many twins, of which some do not, and nothing comes after them.
     */
    const bool late = m->twins && cw_now(ctx) + delay_ps >= m->fail_ps;
    const struct body body = {.value = value, .ttl = late ? 0 : ttl, .filler = {(uint32_t)value}};
    const uint32_t bytes = 12 + 4 * cw_rng_below(rng, 14);
    const uint16_t type = (uint16_t)(value % 7);
    const uint16_t sent = (uint16_t)(bytes > sizeof body ? sizeof body : bytes);
    if (m->rivals && value % 2 == 0) {
        cw_send(ctx, to, delay_ps, type, RIVAL, (uint64_t)(cw_now(ctx) + delay_ps), &body, sent);
        return;
    }
    cw_send(ctx, to, delay_ps, type, me, *number, &body, sent);
    const uint32_t other = (to + 1) % m->lps;
    if (m->twins && (late || (ttl < 3 && value % 3 == 0)) && !near &&
        !is_near(m, me, other)) /* its LP alone tells it apart */
        cw_send(ctx, other, delay_ps, type, me, *number, &body, sent);
    ++*number;
}

static uint64_t digest_after(uint64_t digest, const struct cw_event *event, uint16_t kind,
                             const void *record, uint16_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, record, bytes);
    digest = (digest ^ value ^ (uint64_t)event->time_ps ^ event->lp ^ kind) * 0x9E3779B97F4A7C15u;
    return digest ^ digest >> 29;
}

static void add_record(struct random_part *part, const struct cw_event *event, uint16_t kind,
                       const void *record, uint16_t bytes)
{
    part->digest = digest_after(part->digest, event, kind, record, bytes);
    part->count++;
}

/* Emits a record, and notes it at once if the event is final. */
static void tell(struct cw_ctx *ctx, const struct random_model *m, uint16_t kind,
                 const void *record, uint16_t bytes)
{
    struct random_records *const records = m->at_once;
    const uint32_t lp = ctx->event->lp;
    uint32_t worker;
    cw_emit(ctx, kind, record, bytes);
    if (records == NULL || !cw_is_final(ctx, &worker))
        return;
    add_record(&records->at_once[lp], ctx->event, kind, record, bytes);
    records->ahead[lp]++;
    records->misplaced[lp] |= !records->moves && !records->gathers && worker != records->owner[lp];
}

static void handle(struct cw_ctx *ctx, const void *state_, const struct cw_event *event)
{
    const struct random_model *const m = cw_model_data(ctx);
    const struct state *const state = state_;
    struct body body = {0};
    memcpy(&body, event->payload,
           event->payload_bytes < sizeof body ? event->payload_bytes : sizeof body);
    struct cw_rng *const rng = CW_MUT(ctx, &state->rng);
    uint64_t *const sum = CW_MUT(ctx, &state->sum);
    *sum = *sum * 31 + body.value + (uint64_t)event->time_ps;
    if (m->listens && event->lp == 0)
        return;
    ++*CW_MUT(ctx, &state->counts[event->type % 5]);
    *CW_MUT(ctx, &state->bytes[event->type]) ^= (uint8_t)*sum;
    CW_MUT(ctx, &state->odd[event->type % 3])->sums[*sum % 3] += (uint32_t)event->time_ps;
    if (event->type == 0)
        CW_MUT(ctx, &state->sums)->sums[*sum % 10] += *sum;
    *sum += state->bytes[event->type] + state->odd[0].sums[1] + state->sums.sums[4];
    if (cw_rng_below(rng, 2) == 0)
        tell(ctx, m, (uint16_t)(*sum % 3), sum, 8);
    if (*sum % 4 == 0) /* a second one, shorter */
        tell(ctx, m, 3, sum, 4);
    if (body.ttl > 0)
        send_on(ctx, m, rng, state, body.ttl - 1, *sum);
    if (body.ttl > 0 && cw_rng_below(rng, 8) == 0)
        send_on(ctx, m, rng, state, body.ttl / 2, *sum ^ 1);
    /* Last, so that there is something to undo. */
    if (event->time_ps >= m->fail_ps && (!m->twins || event->lp % 3 != 0))
        cw_fail(ctx, CW_PROGRAM_FAILED, "LP %u gives up at %lld", event->lp,
                (long long)event->time_ps);
}

/* The receivers of a run's records. */
struct receivers {
    uint64_t digest; /* of all, in the total order */
    struct random_records *records;
};

static void take_record(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                        uint16_t bytes)
{
    struct receivers *const receivers = arg;
    receivers->digest = digest_after(receivers->digest, event, kind, record, bytes);
    if (receivers->records != NULL)
        add_record(&receivers->records->in_order[event->lp], event, kind, record, bytes);
}

/* Writes to the places of the event's LP only: its owner alone comes here for it. */
static void take_worker_record(void *arg, uint32_t worker, const struct cw_event *event,
                               uint16_t kind, const void *record, uint16_t bytes)
{
    struct random_records *const records = ((struct receivers *)arg)->records;
    struct random_part *const part = &records->on_workers[event->lp];
    add_record(part, event, kind, record, bytes);
    if (part->count <= RANDOM_RECORDS_MAX)
        records->digest_after[event->lp][part->count - 1] = part->digest;
    records->misplaced[event->lp] |= !records->moves && worker != records->owner[event->lp];
    if (records->ahead[event->lp] > 0)
        records->ahead[event->lp]--;
    else
        add_record(&records->at_once[event->lp], event, kind, record, bytes);
}

/* A failed event has noted its records, too. */
static bool same_at_once(const struct random_records *records, uint32_t lp, bool failed)
{
    const struct random_part *const a = &records->at_once[lp], *const b = &records->on_workers[lp];
    return failed || (records->ahead[lp] == 0 && a->count == b->count && a->digest == b->digest);
}

bool random_records_agree(const struct random_records *records, bool failed, char *text,
                          size_t bytes)
{
    for (uint32_t lp = 0; lp < RANDOM_LPS_MAX; lp++) {
        const struct random_part *const all = &records->in_order[lp];
        const struct random_part *const own = &records->on_workers[lp];
        const bool fits = all->count <= own->count && own->count <= RANDOM_RECORDS_MAX &&
                          (failed || all->count == own->count);
        if (!records->misplaced[lp] && fits && same_at_once(records, lp, failed) &&
            (all->count == 0 || records->digest_after[lp][all->count - 1] == all->digest))
            continue;
        snprintf(text, bytes,
                 "LP %u: %u records in the total order, %u on its worker %u (at once: %s), %s, "
                 "digests %s",
                 lp, all->count, own->count, records->owner[lp],
                 same_at_once(records, lp, failed) ? "the same" : "others",
                 records->misplaced[lp] ? "not all there" : "all there",
                 fits && all->count > 0 && records->digest_after[lp][all->count - 1] != all->digest
                     ? "differ"
                     : "agree");
        return false;
    }
    return true;
}

/* Two events per LP and drain, of which every fifth has a twin that is equal in all: legal; and
 * every seventh, if the model has such, one that is equal in all but its LP. */
static int inject(struct cw_sim *sim, const struct random_model *m, uint64_t *number,
                  struct cw_error *error)
{
    int result = CW_OK;
    for (uint32_t i = 0; i < 2 * m->lps && result == CW_OK; i++, ++*number) {
        const struct body body = {.value = i, .ttl = m->ttl};
        if (m->twins && i % 7 == 0)
            result = cw_inject(sim, (i + 1) % m->lps, cw_sim_now(sim) + i / 3, 1, 1000, *number,
                               &body, sizeof body, error);
        for (uint32_t twin = 0; twin < 1 + (i % 5 == 0) && result == CW_OK; twin++)
            result = cw_inject(sim, i % m->lps, cw_sim_now(sim) + i / 3, 1, 1000, *number, &body,
                               sizeof body, error);
    }
    return result;
}

void random_outcome_note(const struct cw_sim *sim, struct random_outcome *outcome)
{
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    outcome->trace_hash = stats.trace_hash;
    outcome->committed = stats.events_committed;
    outcome->rolled_back = stats.events_rolled_back;
    outcome->gathered = stats.gathered_events;
    outcome->injected = stats.rollbacks_injected;
    outcome->moved = stats.states_moved;
    outcome->held_back = stats.looks_held_back;
    outcome->reused = stats.sends_reused;
    outcome->moves = stats.moves;
    outcome->now_ps = cw_sim_now(sim);
}

static void finish(struct cw_sim *sim, const struct cw_error *error, struct random_outcome *outcome)
{
    if (outcome->exit_code != CW_OK)
        snprintf(outcome->text, sizeof outcome->text, "%s", error->text);
    if (sim == NULL)
        return;
    random_outcome_note(sim, outcome);
    cw_sim_free(sim);
}

/* Frees the simulation, and returns another one that goes on where it has ended. NULL: *error. */
static struct cw_sim *restored(struct cw_sim *sim, const struct cw_config *config,
                               const struct cw_model *model, struct cw_error *error)
{
    struct cw_snapshot *const snapshot = cw_snapshot_take(sim, error);
    cw_sim_free(sim);
    struct cw_sim *other = snapshot != NULL ? cw_sim_create(config, model, error) : NULL;
    if (other != NULL && cw_sim_restore(other, snapshot, error) != CW_OK) {
        cw_sim_free(other);
        other = NULL;
    }
    cw_snapshot_free(snapshot);
    return other;
}

static uint64_t events_left(const struct cw_sim *sim)
{
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    return stats.events_alive;
}

/* Runs until no event is left. */
static int drain_in_steps(struct cw_sim *sim, const struct random_run *run, struct cw_error *error)
{
    int64_t step_ps = run->step_ps, end_ps = cw_sim_now(sim);
    int code = CW_OK;
    while (step_ps > 0 && code == CW_OK && events_left(sim) > 0) {
        end_ps += step_ps;
        code = cw_drain_until(sim, end_ps, error);
        if (cw_sim_now(sim) + step_ps < end_ps)
            step_ps *= 2;
    }
    return step_ps > 0 ? code : cw_drain(sim, error);
}

/* LPs that are near each other are in one worker, so that any two workers have the lookahead. */
static void least_delays(void *arg, const uint32_t *lp_worker, uint32_t workers, int64_t *least_ps)
{
    const struct random_model *const m = arg;
    (void)lp_worker;
    for (uint32_t i = 0; i < workers * workers; i++)
        least_ps[i] = i / workers == i % workers ? 0 : m->lookahead_ps;
}

struct cw_config random_config(const struct random_run *run)
{
    const uint32_t drawn =
        run->seed / 2 % 2 == 0 ? run->workers : 1 + (uint32_t)(run->seed / 4 % run->workers);
    return (struct cw_config){.sync = run->sync,
                              .worker_count = run->workers,
                              .tuning.thread_count = run->threads != 0 ? run->threads : drawn,
                              .tuning.balance = run->balance,
                              .tuning.gather = run->gather,
                              .end_ps = CW_TIME_MAX,
                              .tuning.window_ps = run->window_ps,
                              .memory_bytes_max = run->memory_bytes_max,
                              .events_max = run->events_max,
                              .tuning.stress_seed = run->seed,
                              .tuning.stress_rate_p32 = run->stress_rate_p32 != 0
                                                            ? run->stress_rate_p32
                                                            : (UINT64_C(1) << 32) / 4,
                              .tuning.lazy_cancellation = run->lazy,
                              .check_changes = run->check_changes};
}

struct random_outcome random_model_run(const struct random_model *m, const struct random_run *run)
{
    struct random_outcome outcome = {0};
    struct random_model copy = *m;
    uint32_t lp_worker[RANDOM_LPS_MAX], lp_part[RANDOM_LPS_MAX];
    int64_t least_ps[RANDOM_WORKERS_MAX * RANDOM_WORKERS_MAX];
    struct cw_rng rng = cw_rng_seeded(run->seed, 99);
    for (uint32_t i = 0; i < m->lps; i++)
        lp_part[i] = i / (m->near > 1 ? m->near : 1);
    for (uint32_t i = 0; i < m->lps; i++)
        lp_worker[i] =
            i > 0 && is_near(m, i, i - 1) ? lp_worker[i - 1] : cw_rng_below(&rng, run->workers);
    least_delays(&copy, lp_worker, run->workers, least_ps);
    const struct cw_model model = {.name = "random",
                                   .data = &copy,
                                   .lp_count = m->lps,
                                   .state_bytes = state_bytes,
                                   .init = init,
                                   .handle = handle};
    struct receivers receivers = {.records = run->records};
    if (run->records != NULL && run->sync != CW_SEQUENTIAL)
        memcpy(run->records->owner, lp_worker, m->lps * sizeof *lp_worker);
    if (run->records != NULL) {
        run->records->moves = run->sync == CW_STRESS || run->balance != CW_BALANCE_OFF;
        run->records->gathers = run->gather != CW_GATHER_NEVER;
    }
    copy.at_once = run->records;
    struct cw_config config = random_config(run);
    config.lp_worker = lp_worker;
    config.least_delay_ps = least_ps;
    config.tuning.lp_part = lp_part;
    config.tuning.listener = m->listens ? 1 : 0;
    config.tuning.least_delays = least_delays;
    config.tuning.least_delays_arg = &copy;
    config.record = take_record;
    config.record_arg = &receivers;
    config.tuning.worker_record = run->records != NULL ? take_worker_record : NULL;
    config.tuning.worker_arg = &receivers;
    struct cw_error error = {.exit_code = CW_OK};
    struct cw_sim *sim = cw_sim_create(&config, &model, &error);
    outcome.exit_code = error.exit_code;
    uint64_t number = 0;
    for (int drain = 0; drain < 2 && outcome.exit_code == CW_OK; drain++) {
        if (run->restores && (drain > 0 || run->seed % 2 == 0)) {
            sim = restored(sim, &config, &model, &error);
            outcome.exit_code = error.exit_code;
            if (sim == NULL)
                break;
        }
        outcome.exit_code = inject(sim, m, &number, &error);
        if (outcome.exit_code == CW_OK)
            outcome.exit_code = drain_in_steps(sim, run, &error);
    }
    finish(sim, &error, &outcome);
    outcome.records = receivers.digest;
    return outcome;
}

struct random_model random_model_draw(uint64_t seed, uint32_t lps_max, uint32_t ttl)
{
    struct cw_rng rng = cw_rng_seeded(seed, 7);
    static const int64_t lookaheads[] = {0, 0, 1, 10, 100, 1000};
    static const int64_t grids[] = {1, 1, 10, 250};
    return (struct random_model){.lps = 2 + cw_rng_below(&rng, lps_max - 1),
                                 .lookahead_ps = lookaheads[cw_rng_below(&rng, 6)],
                                 .zero_p = cw_rng_below(&rng, 3) * 30,
                                 .spread_ps = 1 + cw_rng_below(&rng, 2000),
                                 .grid_ps = grids[cw_rng_below(&rng, 4)],
                                 .fail_ps = CW_TIME_MAX,
                                 .ttl = ttl,
                                 .near = cw_rng_below(&rng, 3) == 0 ? 4 : 1,
                                 .twins = true,
                                 .rivals = cw_rng_below(&rng, 2) == 0};
}

bool random_model_runs(const struct random_model *model, enum cw_sync sync, uint32_t workers)
{
    return sync != CW_CONSERVATIVE || model->lookahead_ps > 0 || workers == 1;
}

static size_t describe(const struct random_outcome *outcome, char *text, size_t bytes)
{
    const int length = snprintf(text, bytes, "exit %d, trace %llx, records %llx, %llu events, %s",
                                outcome->exit_code, (unsigned long long)outcome->trace_hash,
                                (unsigned long long)outcome->records,
                                (unsigned long long)outcome->committed, outcome->text);
    return (size_t)length < bytes ? (size_t)length : bytes;
}

bool random_outcome_differs(const struct random_outcome *got, const struct random_outcome *expected,
                            char *text, size_t bytes)
{
    const bool failed = expected->exit_code != CW_OK;
    if (got->exit_code == expected->exit_code && got->records == expected->records &&
        strcmp(got->text, expected->text) == 0 &&
        (failed || (got->trace_hash == expected->trace_hash &&
                    got->committed == expected->committed && got->now_ps == expected->now_ps)))
        return false;
    size_t used = describe(got, text, bytes);
    used += (size_t)snprintf(text + used, bytes - used, "; sequential: ");
    if (used < bytes)
        (void)describe(expected, text + used, bytes - used);
    return true;
}

bool random_modes_agree(const struct random_model *model, uint64_t seed, bool restores, char *text,
                        size_t bytes)
{
    static const enum cw_balance balances[] = {CW_BALANCE_OFF, CW_BALANCE_ON, CW_BALANCE_RANDOM};
    static const enum cw_gather gathers[] = {CW_GATHER_NEVER, CW_GATHER_IF_FASTER, CW_GATHER_OFTEN};
    const struct random_outcome expected = random_model_run(
        model, &(struct random_run){.sync = CW_SEQUENTIAL, .workers = 1, .seed = seed});
    enum { WORKERS = 4, RUNS = CW_SYNCS * WORKERS };
    for (uint32_t i = 0; i < RUNS; i++) {
        const struct random_run run = {.sync = (enum cw_sync)(i / WORKERS),
                                       .workers = 1 + i % WORKERS,
                                       .seed = seed,
                                       .balance = balances[seed % 3],
                                       .gather = gathers[seed / 2 % 3],
                                       .lazy = seed / 4 % 2 == 1,
                                       .step_ps = seed / 8 % 2 * (1 + seed % 997),
                                       .restores = restores};
        if (!random_run_is_drawn(seed, i, RUNS) || !random_model_runs(model, run.sync, run.workers))
            continue;
        const struct random_outcome got = random_model_run(model, &run);
        const int used =
            snprintf(text, bytes, "%s, %u workers, seed %llu: ", cw_sync_name[run.sync],
                     (unsigned)run.workers, (unsigned long long)seed);
        if (random_outcome_differs(&got, &expected, text + used, bytes - (size_t)used))
            return false;
    }
    return true;
}

uint64_t random_from_environment(const char *name, uint64_t otherwise)
{
    const char *const text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

bool random_run_is_drawn(uint64_t seed, uint32_t index, uint32_t runs)
{
    const uint64_t drawn = random_from_environment("RANDOM_RUNS", runs);
    struct cw_rng rng = cw_rng_seeded(seed, 10);
    const uint64_t at = index + cw_rng_below(&rng, runs);
    return drawn >= runs || at * drawn % runs < drawn;
}
