/*
 * test_core_contract.c: promises of core/ENGINE.md to models and hosts that hold in every mode and
 * that no test of a single mechanism is about: parts that overlap, windows and least delays at
 * their ends, a listener on one worker, drains without events, states after a failure, signals of
 * the host, simulations side by side.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/cw.h"

/* ---- a model of tokens ----------------------------------------------------------------------- */

/*
 * A token hops from LP to LP, HOPS times. Each LP mixes the events that it gets into its state, and
 * the state decides how far the token goes next. So a single event that is handled out of order
 * changes all that follows.
 */
enum { LPS = 8, TOKENS = 16, HOPS = 40, STEP_PS = 100 };

/* The two words, and the bytes in which they overlap. */
struct mixed {
    uint64_t word[2];
};

/* How a run of the model differs from the usual one. */
struct habits {
    uint32_t stay;       /* tokens stay among so many LPs beside each other; 0: all */
    uint32_t listener;   /* 1 + an LP that is told of each hop; 0: none */
    int64_t tell_ps;     /* so much later */
    bool listener_sends; /* and answers with a token that ends */
    int64_t fail_ps;     /* an event at this time or later fails, behind its change; 0: none */
};

static size_t mixed_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(struct mixed);
}

static void mixed_init(const void *data, uint32_t lp, void *state)
{
    (void)data;
    ((struct mixed *)state)->word[0] = lp;
}

/* Changes the state by parts that overlap: a word, the other one, both, and four bytes across. */
static uint64_t mix(struct cw_ctx *ctx, const struct mixed *mixed, uint64_t with)
{
    struct across {
        uint8_t byte[4];
    };
    CW_MUT(ctx, &mixed->word[0])[0] += with * 0x9e3779b97f4a7c15u;
    CW_MUT(ctx, mixed)->word[1] ^= mixed->word[0] >> 29;
    struct across *const across =
        CW_MUT(ctx, (const struct across *)(const void *)((const uint8_t *)mixed + 6));
    across->byte[1]++, across->byte[2] ^= across->byte[0];
    CW_MUT(ctx, &mixed->word[1])[0] *= 0xbf58476d1ce4e5b9u;
    return mixed->word[1] >> 32;
}

static void hop(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct habits *const habits = cw_model_data(ctx);
    const uint64_t drawn = mix(ctx, state, event->number + event->type);
    if (habits->fail_ps > 0 && event->time_ps >= habits->fail_ps)
        cw_fail(ctx, CW_PROGRAM_FAILED, "it is late");
    if (event->lp + 1 == habits->listener) {
        if (habits->listener_sends)
            cw_send(ctx, 0, STEP_PS, 0, event->lp, event->number, NULL, 0);
        return;
    }
    if (event->type == 0)
        return;
    const uint32_t among = habits->stay > 0 ? habits->stay : LPS;
    const uint32_t to = event->lp / among * among + (uint32_t)(drawn % among);
    cw_send(ctx, to, STEP_PS * (int64_t)(1 + drawn / LPS % 4), event->type - 1, event->lp,
            event->number, NULL, 0);
    if (habits->listener > 0)
        cw_send(ctx, habits->listener - 1, habits->tell_ps, event->type, event->lp, event->number,
                NULL, 0);
}

static struct cw_model model_of(const struct habits *habits)
{
    return (struct cw_model){.name = "tokens",
                             .data = habits,
                             .lp_count = LPS + (habits->listener > 0),
                             .state_bytes = mixed_bytes,
                             .init = mixed_init,
                             .handle = hop};
}

static struct cw_sim *create(const struct cw_config *config, const struct cw_model *model)
{
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(config, model, &error);
    if (sim == NULL)
        fail_msg("%s", error.text);
    return sim;
}

/* The figures by which two runs are held against each other. */
struct outcome {
    int code;
    uint64_t hash, committed, alive;
    int64_t now_ps;
    uint64_t words[LPS];
};

static struct outcome run_drained(struct cw_sim *sim, uint32_t tokens)
{
    struct outcome outcome = {0};
    struct cw_error error;
    for (uint32_t i = 0; i < tokens; i++)
        assert_int_equal(cw_inject(sim, i % LPS, 1 + i / LPS, HOPS, LPS + i, i, NULL, 0, &error),
                         CW_OK);
    outcome.code = cw_drain(sim, &error);
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    outcome.hash = stats.trace_hash;
    outcome.committed = stats.events_committed;
    outcome.alive = stats.events_alive;
    outcome.now_ps = cw_sim_now(sim);
    for (uint32_t lp = 0; lp < LPS; lp++)
        outcome.words[lp] = ((const struct mixed *)cw_state(sim, lp))->word[1];
    return outcome;
}

static struct outcome run(const struct cw_config *config, const struct habits *habits)
{
    const struct cw_model model = model_of(habits);
    struct cw_sim *const sim = create(config, &model);
    const struct outcome outcome = run_drained(sim, TOKENS);
    cw_sim_free(sim);
    return outcome;
}

static void expect_same(const struct outcome *a, const struct outcome *b)
{
    assert_int_equal(a->code, b->code);
    assert_true(a->committed == b->committed && a->alive == b->alive && a->now_ps == b->now_ps);
    assert_true(a->hash == b->hash);
    assert_memory_equal(a->words, b->words, sizeof a->words);
}

static const struct cw_config sequential = {
    .sync = CW_SEQUENTIAL, .worker_count = 1, .end_ps = CW_TIME_MAX};

/* [from * workers + to], for up to 4 workers: one delay between any two. */
static const int64_t *least_delays(int64_t between_ps)
{
    static int64_t delays[16];
    for (size_t i = 0; i < 16; i++)
        delays[i] = between_ps;
    return delays;
}

/* ---- models ---------------------------------------------------------------------------------- */

/* "Parts may overlap, because undoing goes from the newest to the oldest." */
static void overlapping_parts_are_undone(void **state)
{
    (void)state;
    const struct habits habits = {0};
    const struct outcome wanted = run(&sequential, &habits);
    assert_int_equal(wanted.committed, TOKENS * (HOPS + 1));
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const struct outcome got =
            run(&(struct cw_config){.sync = CW_STRESS,
                                    .worker_count = 4,
                                    .end_ps = CW_TIME_MAX,
                                    .tuning.stress_seed = seed,
                                    .tuning.stress_rate_p32 = UINT64_C(1) << 31},
                &habits);
        expect_same(&got, &wanted);
    }
}

/* "The sum saturates at the end time." */
static void a_window_may_be_of_any_length(void **state)
{
    (void)state;
    const struct habits habits = {0};
    const int64_t windows_ps[] = {1, STEP_PS, CW_TIME_MAX - 1, CW_TIME_MAX};
    const enum cw_sync modes[] = {CW_OPTIMISTIC, CW_ADAPTIVE, CW_STRESS};
    const struct outcome wanted = run(&sequential, &habits);
    for (size_t i = 0; i < 12; i++) {
        const struct outcome got = run(&(struct cw_config){.sync = modes[i % 3],
                                                           .worker_count = 3,
                                                           .end_ps = CW_TIME_MAX,
                                                           .tuning.window_ps = windows_ps[i / 3]},
                                       &habits);
        expect_same(&got, &wanted);
    }
}

/* ---- least delays ---------------------------------------------------------------------------- */

/* "Two workers that never send to each other have INT64_MAX and do not hold each other back." */
static void workers_that_never_meet_do_not_hold_each_other_back(void **state)
{
    (void)state;
    const struct habits habits = {.stay = LPS / 2};
    const enum cw_sync modes[] = {CW_CONSERVATIVE, CW_OPTIMISTIC, CW_ADAPTIVE};
    const struct outcome wanted = run(&sequential, &habits);
    struct cw_config config = {
        .worker_count = 2, .end_ps = CW_TIME_MAX, .least_delay_ps = least_delays(CW_TIME_MAX)};
    for (size_t i = 0; i < 3; i++) {
        config.sync = modes[i];
        const struct outcome got = run(&config, &habits);
        expect_same(&got, &wanted);
    }
}

/* "The engine holds every send to another worker against the matrix." */
static void a_send_between_workers_that_never_meet_fails(void **state)
{
    (void)state;
    const struct habits habits = {0};
    const enum cw_sync modes[] = {CW_CONSERVATIVE, CW_OPTIMISTIC, CW_ADAPTIVE, CW_STRESS};
    struct cw_config config = {
        .worker_count = 2, .end_ps = CW_TIME_MAX, .least_delay_ps = least_delays(CW_TIME_MAX)};
    for (size_t i = 0; i < 4; i++) {
        config.sync = modes[i];
        assert_int_equal(run(&config, &habits).code, CW_BUG);
    }
}

/* "A sequential run that is given a matrix checks the sends within a worker's LPs as well." */
static void a_sequential_run_checks_the_sends_within_a_worker(void **state)
{
    (void)state;
    const struct habits habits = {.stay = LPS / 2};
    struct cw_config config = {.sync = CW_SEQUENTIAL,
                               .worker_count = 2,
                               .end_ps = CW_TIME_MAX,
                               .least_delay_ps = least_delays(STEP_PS)};
    assert_int_equal(run(&config, &habits).code, CW_OK);
    config.least_delay_ps = least_delays(STEP_PS + 1);
    assert_int_equal(run(&config, &habits).code, CW_BUG);
}

/* ---- the listener ---------------------------------------------------------------------------- */

/* "In the sequential mode, and with one worker, it is an LP as any other." */
static void with_one_worker_a_listener_may_send(void **state)
{
    (void)state;
    const struct habits habits = {.listener = 1 + LPS, .tell_ps = STEP_PS, .listener_sends = true};
    struct cw_config config = {
        .worker_count = 1, .end_ps = CW_TIME_MAX, .tuning.listener = 1 + LPS};
    struct outcome got[CW_SYNCS];
    for (int sync = 0; sync < CW_SYNCS; sync++) {
        config.sync = (enum cw_sync)sync;
        got[sync] = run(&config, &habits);
        expect_same(&got[sync], &got[0]);
    }
    /* each hop but a token's last one is told, and each of these is answered */
    assert_int_equal(got[0].code, CW_OK);
    assert_int_equal(got[0].committed, TOKENS * (HOPS + 1 + 2 * HOPS));
}

/* "No mailbox, bound, promise or report knows of it, and least delays do not hold of it." */
static void a_listener_is_told_without_delay(void **state)
{
    (void)state;
    const struct habits habits = {.listener = 1 + LPS, .tell_ps = 0};
    const enum cw_sync modes[] = {CW_CONSERVATIVE, CW_OPTIMISTIC, CW_ADAPTIVE};
    const struct outcome wanted = run(&sequential, &habits);
    struct cw_config config = {.worker_count = 3,
                               .end_ps = CW_TIME_MAX,
                               .tuning.listener = 1 + LPS,
                               .least_delay_ps = least_delays(STEP_PS)};
    assert_int_equal(wanted.committed, TOKENS * (HOPS + 1 + HOPS));
    for (size_t i = 0; i < 3; i++) {
        config.sync = modes[i];
        const struct outcome got = run(&config, &habits);
        expect_same(&got, &wanted);
    }
}

/* ---- drains ---------------------------------------------------------------------------------- */

static struct cw_config config_of(enum cw_sync sync, int64_t end_ps)
{
    return (struct cw_config){.sync = sync,
                              .worker_count = sync == CW_SEQUENTIAL ? 1 : 2,
                              .end_ps = end_ps,
                              .least_delay_ps =
                                  sync == CW_SEQUENTIAL ? NULL : least_delays(STEP_PS)};
}

/* "A drain ends when no event is left before the end time. Events at or after it stay pending." The
 * stress mode refuses a run that has undone nothing. */
static void a_drain_without_events_changes_nothing(void **state)
{
    (void)state;
    const struct habits habits = {0};
    const struct cw_model model = model_of(&habits);
    for (int sync = 0; sync < CW_STRESS; sync++) {
        const struct cw_config config = config_of((enum cw_sync)sync, 1000);
        struct cw_sim *const sim = create(&config, &model);
        struct cw_error error;
        struct outcome got = run_drained(sim, 0);
        assert_int_equal(got.code, CW_OK);
        assert_true(got.committed == 0 && got.alive == 0 && got.now_ps == 0);
        const uint64_t before = got.hash;
        assert_int_equal(cw_inject(sim, 5, 1000, 3, 1, 1, NULL, 0, &error), CW_OK);
        assert_int_equal(cw_inject(sim, 1, 5000, 3, 1, 2, NULL, 0, &error), CW_OK);
        for (int i = 0; i < 2; i++) {
            got = run_drained(sim, 0);
            assert_int_equal(got.code, CW_OK);
            assert_true(got.committed == 0 && got.alive == 2 && got.now_ps == 0);
            assert_true(got.hash == before);
        }
        cw_sim_free(sim);
    }
}

/* "States can still be read. In the sequential mode they are as the failing handler left them." */
static void states_can_be_read_after_a_failure(void **state)
{
    (void)state;
    const struct habits fails = {.fail_ps = 1}, passes = {0};
    struct cw_error error;
    for (int sync = 0; sync < CW_STRESS; sync++) {
        const struct cw_model failing = model_of(&fails), right = model_of(&passes);
        const struct cw_config config = config_of((enum cw_sync)sync, CW_TIME_MAX);
        struct cw_sim *const sim = create(&config, &failing);
        struct cw_sim *const other = create(&sequential, &right);
        assert_int_equal(cw_inject(sim, 2, 7, 0, 1, 5, NULL, 0, &error), CW_OK);
        assert_int_equal(cw_drain(sim, &error), CW_PROGRAM_FAILED);
        assert_int_equal(cw_inject(other, 2, 7, 0, 1, 5, NULL, 0, &error), CW_OK);
        assert_int_equal(cw_drain(other, &error), CW_OK);
        if (sync == CW_SEQUENTIAL)
            assert_memory_equal(cw_state(sim, 2), cw_state(other, 2), sizeof(struct mixed));
        assert_non_null(cw_state(sim, 2));
        assert_int_equal(((const struct mixed *)cw_state(sim, 3))->word[0], 3);
        assert_null(cw_state(sim, LPS));
        cw_sim_free(sim);
        cw_sim_free(other);
    }
}

/* "A run of more than `events_max` events ends with exit code 3, at no event." */
static void too_many_events_end_every_mode_at_no_event(void **state)
{
    (void)state;
    const struct habits habits = {0};
    const struct cw_model model = model_of(&habits);
    const uint64_t events = TOKENS * (HOPS + 1);
    for (int sync = 0; sync < CW_SYNCS; sync++)
        for (uint64_t allowed = events - 1; allowed <= events; allowed++) {
            struct cw_config config = config_of((enum cw_sync)sync, CW_TIME_MAX);
            config.events_max = allowed;
            struct cw_sim *const sim = create(&config, &model);
            const struct outcome got = run_drained(sim, TOKENS);
            assert_int_equal(got.code, allowed < events ? CW_PROGRAM_FAILED : CW_OK);
            assert_null(cw_failed_event(sim));
            if (sync == CW_SEQUENTIAL)
                assert_int_equal(got.committed, allowed);
            cw_sim_free(sim);
        }
}

static void emit_and_hop(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    cw_emit(ctx, 1, NULL, 0);
    hop(ctx, state, event);
}

/* The entities of events, in the order of their records. */
struct heard {
    uint32_t entity[4], count;
};

static void hear(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                 uint16_t bytes)
{
    struct heard *const heard = arg;
    (void)kind, (void)record, (void)bytes;
    assert_true(heard->count < 4);
    heard->entity[heard->count++] = event->entity;
}

/* "record receives the records of a drain in the total order of their events, and all of them
 * before those of the next drain": also of an event at now that is before the last one. */
static void records_of_a_drain_come_before_those_of_the_next(void **state)
{
    (void)state;
    static const uint32_t expected[4] = {5, 7, 1, 6};
    const struct habits habits = {0};
    struct cw_model model = model_of(&habits);
    model.handle = emit_and_hop;
    for (int sync = 0; sync < CW_SYNCS; sync++) {
        struct heard heard = {0};
        struct cw_error error;
        struct cw_config config = config_of((enum cw_sync)sync, CW_TIME_MAX);
        config.record = hear;
        config.record_arg = &heard;
        struct cw_sim *const sim = create(&config, &model);
        assert_int_equal(cw_inject(sim, 4, 10, 0, 7, 0, NULL, 0, &error), CW_OK);
        assert_int_equal(cw_inject(sim, 0, 10, 0, 5, 0, NULL, 0, &error), CW_OK);
        assert_int_equal(cw_drain(sim, &error), CW_OK);
        assert_int_equal(cw_sim_now(sim), 10);
        assert_int_equal(cw_inject(sim, 4, 10, 0, 6, 0, NULL, 0, &error), CW_OK);
        assert_int_equal(cw_inject(sim, 0, 10, 0, 1, 0, NULL, 0, &error), CW_OK);
        assert_int_equal(cw_drain(sim, &error), CW_OK);
        assert_int_equal(heard.count, 4);
        assert_memory_equal(heard.entity, expected, sizeof expected);
        cw_sim_free(sim);
    }
}

/* ---- the process ----------------------------------------------------------------------------- */

static volatile sig_atomic_t taken;

static void take_signal(int number)
{
    (void)number;
    taken++;
}

static void raise_in_sink(void *arg, const struct cw_event *event, uint16_t kind,
                          const void *record, uint16_t bytes)
{
    (void)event, (void)kind, (void)record, (void)bytes;
    if ((*(unsigned *)arg)++ == 0)
        assert_int_equal(raise(SIGFPE), 0);
}

/* "The engine takes these signals during cw_drain(), and hands a signal that is not a handler's to
 * whoever had it before." */
static void a_signal_of_the_host_reaches_the_host(void **state)
{
    (void)state;
    const struct habits habits = {0};
    struct cw_model model = model_of(&habits);
    model.handle = emit_and_hop;
    const struct sigaction own = {.sa_handler = take_signal};
    struct sigaction old, now;
    assert_int_equal(sigaction(SIGFPE, &own, &old), 0);
    for (int sync = 0; sync < CW_SYNCS; sync++) {
        unsigned records = 0;
        struct cw_config config = config_of((enum cw_sync)sync, CW_TIME_MAX);
        config.record = raise_in_sink;
        config.record_arg = &records;
        struct cw_sim *const sim = create(&config, &model);
        taken = 0;
        assert_int_equal(run_drained(sim, TOKENS).code, CW_OK);
        assert_int_equal(taken, 1);
        assert_int_equal(records, TOKENS * (HOPS + 1));
        assert_int_equal(sigaction(SIGFPE, NULL, &now), 0);
        assert_true(now.sa_handler == take_signal);
        cw_sim_free(sim);
    }
    assert_int_equal(sigaction(SIGFPE, &old, NULL), 0);
}

/* A run on a thread of its own. */
struct side {
    pthread_t thread;
    struct cw_config config;
    struct outcome got;
};

static void *run_side(void *arg)
{
    static const struct habits habits = {0};
    struct side *const side = arg;
    side->got = run(&side->config, &habits);
    return NULL;
}

/* "All state hangs off the simulation, so that several simulations live in one process." */
static void simulations_side_by_side_do_not_meet(void **state)
{
    (void)state;
    const struct habits habits = {0};
    const struct outcome wanted = run(&sequential, &habits);
    for (unsigned turn = 0; turn < 5; turn++) {
        struct side sides[CW_SYNCS];
        for (int i = 0; i < CW_SYNCS; i++)
            sides[i].config = config_of((enum cw_sync)i, CW_TIME_MAX);
        for (int i = 0; i < CW_SYNCS; i++)
            assert_int_equal(pthread_create(&sides[i].thread, NULL, run_side, &sides[i]), 0);
        for (int i = 0; i < CW_SYNCS; i++) {
            assert_int_equal(pthread_join(sides[i].thread, NULL), 0);
            expect_same(&sides[i].got, &wanted);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_a_drain_come_before_those_of_the_next),
        cmocka_unit_test(overlapping_parts_are_undone),
        cmocka_unit_test(a_window_may_be_of_any_length),
        cmocka_unit_test(workers_that_never_meet_do_not_hold_each_other_back),
        cmocka_unit_test(a_send_between_workers_that_never_meet_fails),
        cmocka_unit_test(a_sequential_run_checks_the_sends_within_a_worker),
        cmocka_unit_test(with_one_worker_a_listener_may_send),
        cmocka_unit_test(a_listener_is_told_without_delay),
        cmocka_unit_test(a_drain_without_events_changes_nothing),
        cmocka_unit_test(states_can_be_read_after_a_failure),
        cmocka_unit_test(too_many_events_end_every_mode_at_no_event),
        cmocka_unit_test(a_signal_of_the_host_reaches_the_host),
        cmocka_unit_test(simulations_side_by_side_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
