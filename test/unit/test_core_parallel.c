/*
 * test_core_parallel.c: random models on several workers, in every mode, against the sequential
 * engine: the same trace hash, the same records in the same order, the same failure. Delays of 0,
 * bursts at equal times, fan-out, payloads of all sizes, several drains.
 *
 * PARALLEL_SEED=7 PARALLEL_SEEDS=1 replays one model; PARALLEL_SEEDS=2000 runs as many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cw.h"

enum { LPS_MAX = 64, WORKERS_MAX = 8, SEEDS_DEFAULT = 30 };

struct model {
    uint32_t lps;
    int64_t lookahead_ps; /* of sends to another LP */
    uint32_t zero_p;      /* of 100: a send to itself has no delay */
    uint32_t spread_ps;   /* other delays are below this */
    int64_t grid_ps;      /* times are multiples: bursts */
    int64_t fail_ps;      /* an event from here on fails; CW_TIME_MAX: none */
};

struct state {
    struct cw_rng rng;
    uint64_t number, sum;
    uint64_t counts[5];
};

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

static void send_on(struct cw_ctx *ctx, const struct model *m, struct cw_rng *rng,
                    const struct state *state, uint32_t ttl, uint64_t value)
{
    const uint32_t me = ctx->event->lp;
    const uint32_t to = cw_rng_below(rng, 3) == 0 ? me : cw_rng_below(rng, m->lps);
    int64_t delay_ps = (int64_t)cw_rng_below(rng, m->spread_ps) / m->grid_ps * m->grid_ps;
    if (to == me && cw_rng_below(rng, 100) < m->zero_p)
        delay_ps = 0;
    if (to != me)
        delay_ps += m->lookahead_ps;
    uint64_t *const number = CW_MUT(ctx, &state->number);
    const struct body body = {.value = value, .ttl = ttl, .filler = {(uint32_t)value}};
    const uint32_t bytes = 12 + 4 * cw_rng_below(rng, 14);
    cw_send(ctx, to, delay_ps, (uint16_t)(value % 7), me, (*number)++, &body,
            (uint16_t)(bytes > sizeof body ? sizeof body : bytes));
}

static void handle(struct cw_ctx *ctx, const void *state_, const struct cw_event *event)
{
    const struct model *const m = cw_model_data(ctx);
    const struct state *const state = state_;
    struct body body = {0};
    memcpy(&body, event->payload,
           event->payload_bytes < sizeof body ? event->payload_bytes : sizeof body);
    if (event->time_ps >= m->fail_ps)
        cw_fail(ctx, CW_PROGRAM_FAILED, "LP %u gives up at %lld", event->lp,
                (long long)event->time_ps);
    struct cw_rng *const rng = CW_MUT(ctx, &state->rng);
    uint64_t *const sum = CW_MUT(ctx, &state->sum);
    *sum = *sum * 31 + body.value + (uint64_t)event->time_ps;
    ++*CW_MUT(ctx, &state->counts[event->type % 5]);
    if (cw_rng_below(rng, 2) == 0)
        cw_emit(ctx, (uint16_t)(*sum % 3), sum, 8);
    if (body.ttl == 0)
        return;
    send_on(ctx, m, rng, state, body.ttl - 1, *sum);
    if (cw_rng_below(rng, 8) == 0)
        send_on(ctx, m, rng, state, body.ttl / 2, *sum ^ 1);
}

static void digest_record(void *arg, const struct cw_event *event, uint16_t kind,
                          const void *record, uint16_t bytes)
{
    uint64_t *const digest = arg, value = 0;
    memcpy(&value, record, bytes);
    *digest = (*digest ^ value ^ (uint64_t)event->time_ps ^ event->lp ^ kind) * 0x9E3779B97F4A7C15u;
    *digest ^= *digest >> 29;
}

struct outcome {
    int exit_code;
    uint64_t trace_hash, records, committed, injected;
    int64_t now_ps;
    char text[1020];
};

static struct outcome run(const struct model *m, enum cw_sync sync, uint32_t workers, uint64_t seed)
{
    struct outcome outcome = {0};
    uint32_t lp_worker[LPS_MAX];
    int64_t least_ps[WORKERS_MAX * WORKERS_MAX];
    struct cw_rng rng = cw_rng_seeded(seed, 99);
    for (uint32_t i = 0; i < m->lps; i++)
        lp_worker[i] = cw_rng_below(&rng, workers);
    for (uint32_t i = 0; i < workers * workers; i++)
        least_ps[i] = i / workers == i % workers ? 0 : m->lookahead_ps;
    const struct cw_model model = {.name = "random",
                                   .data = m,
                                   .lp_count = m->lps,
                                   .state_bytes = state_bytes,
                                   .init = init,
                                   .handle = handle};
    const struct cw_config config = {.sync = sync,
                                     .worker_count = workers,
                                     .lp_worker = lp_worker,
                                     .least_delay_ps = least_ps,
                                     .end_ps = CW_TIME_MAX,
                                     .record = digest_record,
                                     .record_arg = &outcome.records,
                                     .stress_seed = seed,
                                     .stress_rate_p32 = (UINT64_C(1) << 32) / 4};
    struct cw_error error = {.exit_code = CW_OK};
    struct cw_sim *sim = cw_sim_create(&config, &model, &error);
    if (sim == NULL)
        fail_msg("%s", error.text);
    uint64_t number = 0;
    for (int drain = 0; drain < 2 && outcome.exit_code == CW_OK; drain++) {
        for (uint32_t i = 0; i < 2 * m->lps; i++) {
            const struct body body = {.value = i, .ttl = 30};
            for (uint32_t twin = 0; twin < 1 + (i % 5 == 0); twin++) /* equal in all: legal */
                assert_int_equal(cw_inject(sim, i % m->lps, cw_sim_now(sim) + i / 3, 1, 1000,
                                           number, &body, sizeof body, &error),
                                 CW_OK);
            number++;
        }
        outcome.exit_code = cw_drain(sim, &error);
    }
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    outcome.trace_hash = stats.trace_hash;
    outcome.committed = stats.events_committed;
    outcome.injected = stats.rollbacks_injected;
    outcome.now_ps = cw_sim_now(sim);
    if (outcome.exit_code != CW_OK)
        snprintf(outcome.text, sizeof outcome.text, "%s", error.text);
    cw_sim_free(sim);
    return outcome;
}

static struct model draw(uint64_t seed)
{
    struct cw_rng rng = cw_rng_seeded(seed, 7);
    static const int64_t lookaheads[] = {0, 0, 1, 10, 100, 1000};
    static const int64_t grids[] = {1, 1, 10, 250};
    return (struct model){.lps = 2 + cw_rng_below(&rng, LPS_MAX - 2),
                          .lookahead_ps = lookaheads[cw_rng_below(&rng, 6)],
                          .zero_p = cw_rng_below(&rng, 3) * 30,
                          .spread_ps = 1 + cw_rng_below(&rng, 2000),
                          .grid_ps = grids[cw_rng_below(&rng, 4)],
                          .fail_ps = CW_TIME_MAX};
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void compare(const struct model *m, uint64_t seed, enum cw_sync sync, uint32_t workers,
                    const struct outcome *expected)
{
    const struct outcome got = run(m, sync, workers, seed);
    const bool failed = expected->exit_code != CW_OK;
    if (got.exit_code != expected->exit_code || got.records != expected->records ||
        strcmp(got.text, expected->text) != 0 ||
        (!failed && (got.trace_hash != expected->trace_hash ||
                     got.committed != expected->committed || got.now_ps != expected->now_ps)))
        fail_msg("seed %llu, %s on %u workers: exit %d, trace %llx, records %llx, %llu events, %s; "
                 "sequential: exit %d, trace %llx, records %llx, %llu events, %s\nreplay: "
                 "PARALLEL_SEED=%llu PARALLEL_SEEDS=1",
                 (unsigned long long)seed, cw_sync_name[sync], workers, got.exit_code,
                 (unsigned long long)got.trace_hash, (unsigned long long)got.records,
                 (unsigned long long)got.committed, got.text, expected->exit_code,
                 (unsigned long long)expected->trace_hash, (unsigned long long)expected->records,
                 (unsigned long long)expected->committed, expected->text, (unsigned long long)seed);
}

/* Every mode on 1, 2, 3, 4 and 8 workers. */
static void compare_all(const struct model *m, uint64_t seed)
{
    static const uint32_t counts[] = {1, 2, 3, 4, 8};
    const struct outcome expected = run(m, CW_SEQUENTIAL, 1, seed);
    for (enum cw_sync sync = CW_CONSERVATIVE; sync < CW_SYNCS; sync++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            if (sync != CW_CONSERVATIVE || m->lookahead_ps > 0 || counts[i] == 1)
                compare(m, seed, sync, counts[i], &expected);
}

static void every_mode_commits_what_the_sequential_one_does(void **state)
{
    (void)state;
    const uint64_t first = from_environment("PARALLEL_SEED", 1);
    const uint64_t seeds = from_environment("PARALLEL_SEEDS", SEEDS_DEFAULT);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        const struct model m = draw(seed);
        compare_all(&m, seed);
    }
}

static void every_mode_reports_the_least_failure_and_the_records_before_it(void **state)
{
    (void)state;
    const uint64_t first = from_environment("PARALLEL_SEED", 1);
    for (uint64_t seed = first; seed < first + from_environment("PARALLEL_SEEDS", 10); seed++) {
        struct model m = draw(seed);
        m.fail_ps = 1500 + (int64_t)(seed * 37);
        compare_all(&m, seed);
    }
}

static void the_stress_mode_does_undo_events(void **state)
{
    (void)state;
    const struct model m = draw(3);
    assert_true(run(&m, CW_STRESS, 1, 3).injected > 100);
    assert_true(run(&m, CW_STRESS, 3, 3).injected > 100);
}

static void the_conservative_mode_wants_a_least_delay(void **state)
{
    (void)state;
    const struct model m = {.lps = 2, .spread_ps = 1, .grid_ps = 1, .fail_ps = CW_TIME_MAX};
    const struct cw_model model = {.name = "random",
                                   .data = &m,
                                   .lp_count = 2,
                                   .state_bytes = state_bytes,
                                   .init = init,
                                   .handle = handle};
    const struct cw_config config = {.sync = CW_CONSERVATIVE, .worker_count = 2};
    struct cw_error error;
    assert_null(cw_sim_create(&config, &model, &error));
    assert_int_equal(error.exit_code, CW_USAGE);
    assert_string_equal(error.text,
                        "the conservative mode needs a least delay between workers, and there is "
                        "none from worker 0 to worker 1; use the adaptive mode");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode_commits_what_the_sequential_one_does),
        cmocka_unit_test(every_mode_reports_the_least_failure_and_the_records_before_it),
        cmocka_unit_test(the_stress_mode_does_undo_events),
        cmocka_unit_test(the_conservative_mode_wants_a_least_delay),
    };
    return cmocka_run_group_tests_name("parallel", tests, NULL, NULL);
}
