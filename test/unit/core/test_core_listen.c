/*
 * test_core_listen.c: an LP that only listens: random models in all modes, numbers of workers and
 * of threads end as a sequential run does, also where they fail; so many events that the threads
 * share them; events behind the end of a drain; a listener that sends, emits or fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/cw.h"
#include "test/support/random_model.h"

/* ---- random models --------------------------------------------------------------------------- */

static void compare_modes(const struct random_model *m, uint64_t seed)
{
    char text[2048];
    if (!random_modes_agree(m, seed, seed / 8 % 2 == 1, text, sizeof text))
        fail_msg("%s", text);
}

/* I-LISTEN-1 */
static void a_listener_hears_all_events_in_their_order(void **state)
{
    (void)state;
    const uint64_t seeds = random_from_environment("CW_SEEDS", 25);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct random_model m = random_model_draw(seed, RANDOM_LPS_MAX, 20);
        m.listens = true;
        compare_modes(&m, seed);
    }
}

static void a_run_with_a_listener_fails_at_the_same_event(void **state)
{
    (void)state;
    const uint64_t seeds = random_from_environment("CW_SEEDS", 10);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct random_model m = random_model_draw(seed, RANDOM_LPS_MAX, 20);
        m.listens = true;
        const struct random_outcome whole = random_model_run(
            &m, &(struct random_run){.sync = CW_SEQUENTIAL, .workers = 1, .seed = seed});
        m.fail_ps = whole.now_ps / 4 * 3; /* in the second drain, mostly */
        compare_modes(&m, seed);
    }
}

/* ---- tokens that tell the listener of each hop ----------------------------------------------- */

enum { LPS = 64, HOPS = 150, STEP_PS = 1000, TO_LISTENER = 1, TO_RING };

enum fault { NO_FAULT, SENDS, EMITS, FAILS };

struct ring {
    enum fault fault;
};

struct heard {
    uint64_t count, digest;
};

struct place {
    uint64_t number;
    struct cw_rng rng;
};

static size_t place_bytes(const void *data, uint32_t lp)
{
    (void)data;
    return lp == 0 ? sizeof(struct heard) : sizeof(struct place);
}

static void place_init(const void *data, uint32_t lp, void *state)
{
    (void)data;
    if (lp > 0)
        ((struct place *)state)->rng = cw_rng_seeded(3, lp);
}

static void hear(struct cw_ctx *ctx, const struct heard *state, const struct cw_event *event)
{
    const struct ring *const ring = cw_model_data(ctx);
    struct heard *const heard = CW_MUT(ctx, state);
    heard->count++;
    heard->digest =
        (heard->digest + (uint64_t)event->time_ps) * 0x9E3779B97F4A7C15u + event->entity;
    if (heard->count < 100)
        return;
    if (ring->fault == SENDS)
        cw_send(ctx, 1, 0, TO_RING, 0, heard->count, NULL, 0);
    if (ring->fault == EMITS)
        cw_emit(ctx, 0, NULL, 0);
    if (ring->fault == FAILS)
        cw_fail(ctx, CW_PROGRAM_FAILED, "heard enough at %lld", (long long)cw_now(ctx));
}

static void place_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    uint32_t hops;
    if (event->lp == 0) {
        hear(ctx, state, event);
        return;
    }
    memcpy(&hops, event->payload, sizeof hops);
    struct place *const place = CW_MUT(ctx, (const struct place *)state);
    const int64_t late_ps = cw_rng_below(&place->rng, 20) * 100;
    cw_send(ctx, 0, late_ps, TO_LISTENER, event->lp, place->number++, &hops, sizeof hops);
    if (--hops > 0)
        cw_send(ctx, 1 + event->lp % LPS, STEP_PS, TO_RING, event->lp, place->number++, &hops,
                sizeof hops);
}

static struct cw_model ring_model(const struct ring *ring)
{
    return (struct cw_model){.name = "ring",
                             .data = ring,
                             .lp_count = 1 + LPS,
                             .state_bytes = place_bytes,
                             .init = place_init,
                             .handle = place_handle};
}

struct outcome {
    int exit_code;
    uint64_t trace_hash, committed, alive;
    struct heard heard;
    int64_t now_ps;
    struct cw_error error;
};

static struct outcome run_ring(enum fault fault, enum cw_sync sync, uint32_t workers,
                               uint32_t threads, int64_t end_ps)
{
    const struct ring ring = {fault};
    int64_t least_ps[8 * 8];
    for (uint32_t i = 0; i < workers * workers; i++)
        least_ps[i] = i / workers == i % workers ? 0 : STEP_PS;
    const struct cw_model model = ring_model(&ring);
    const struct cw_config config = {.sync = sync,
                                     .worker_count = workers,
                                     .tuning.thread_count = threads,
                                     .least_delay_ps = least_ps,
                                     .tuning.listener = 1,
                                     .end_ps = end_ps};
    struct outcome outcome = {0};
    struct cw_sim *const sim = cw_sim_create(&config, &model, &outcome.error);
    assert_non_null(sim);
    for (int drain = 0; drain < 2 && outcome.exit_code == CW_OK; drain++) {
        const uint32_t hops = HOPS;
        for (uint32_t lp = 1; lp <= LPS && outcome.exit_code == CW_OK; lp++)
            outcome.exit_code = cw_inject(sim, lp, cw_sim_now(sim), TO_RING, 1000, lp, &hops,
                                          sizeof hops, &outcome.error);
        if (outcome.exit_code == CW_OK)
            outcome.exit_code = cw_drain(sim, &outcome.error);
    }
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    outcome.trace_hash = stats.trace_hash;
    outcome.committed = stats.events_committed;
    outcome.alive = stats.events_alive;
    outcome.heard = *(const struct heard *)cw_state(sim, 0);
    outcome.now_ps = cw_sim_now(sim);
    cw_sim_free(sim);
    return outcome;
}

static void assert_equal_outcomes(const struct outcome *got, const struct outcome *expected)
{
    assert_int_equal(got->exit_code, expected->exit_code);
    assert_int_equal(got->trace_hash, expected->trace_hash);
    assert_int_equal(got->committed, expected->committed);
    assert_int_equal(got->alive, expected->alive);
    assert_int_equal(got->heard.count, expected->heard.count);
    assert_int_equal(got->heard.digest, expected->heard.digest);
    assert_int_equal(got->now_ps, expected->now_ps);
}

/* 9,600 in each drain */
static void threads_share_many_events_of_a_listener(void **state)
{
    (void)state;
    const struct outcome expected = run_ring(NO_FAULT, CW_SEQUENTIAL, 1, 1, CW_TIME_MAX);
    assert_int_equal(expected.heard.count, 2 * LPS * HOPS);
    for (uint32_t workers = 2; workers <= 8; workers += 3)
        for (uint32_t threads = 1; threads <= 2; threads++) {
            const struct outcome got =
                run_ring(NO_FAULT, CW_ADAPTIVE, workers, threads, CW_TIME_MAX);
            assert_equal_outcomes(&got, &expected);
        }
}

static void events_behind_the_end_stay(void **state)
{
    (void)state;
    const int64_t end_ps = (HOPS - 20) * STEP_PS + STEP_PS / 2;
    const struct outcome expected = run_ring(NO_FAULT, CW_SEQUENTIAL, 1, 1, end_ps);
    assert_true(expected.alive > 2 * LPS);
    for (uint32_t workers = 2; workers <= 4; workers += 2) {
        const struct outcome got = run_ring(NO_FAULT, CW_ADAPTIVE, workers, workers, end_ps);
        assert_equal_outcomes(&got, &expected);
    }
}

static void a_listener_that_speaks_is_refused(void **state)
{
    (void)state;
    const struct outcome sends = run_ring(SENDS, CW_ADAPTIVE, 2, 2, CW_TIME_MAX);
    assert_int_equal(sends.exit_code, CW_BUG);
    assert_non_null(strstr(sends.error.text, "LP 0 only listens, but it sends to LP 1"));
    const struct outcome emits = run_ring(EMITS, CW_CONSERVATIVE, 3, 2, CW_TIME_MAX);
    assert_int_equal(emits.exit_code, CW_BUG);
    assert_non_null(strstr(emits.error.text, "LP 0 only listens, but it emits a record"));
}

static void a_listener_that_fails_ends_the_run(void **state)
{
    (void)state;
    const struct outcome expected = run_ring(FAILS, CW_SEQUENTIAL, 1, 1, CW_TIME_MAX);
    const struct outcome got = run_ring(FAILS, CW_ADAPTIVE, 4, 2, CW_TIME_MAX);
    assert_int_equal(got.exit_code, expected.exit_code);
    assert_string_equal(got.error.text, expected.error.text);
    assert_int_equal(got.heard.count, expected.heard.count);
}

/* The stress mode undoes no event of the listener, and asks for none of a drain that has no others.
 */
static void a_drain_may_have_events_of_the_listener_alone(void **state)
{
    (void)state;
    const struct ring ring = {NO_FAULT};
    const struct cw_model model = ring_model(&ring);
    for (int sync = 0; sync < CW_SYNCS; sync++) {
        static const int64_t least_ps[4] = {0, STEP_PS, STEP_PS, 0};
        const struct cw_config config = {.sync = (enum cw_sync)sync,
                                         .worker_count = 2,
                                         .least_delay_ps = least_ps,
                                         .tuning.listener = 1,
                                         .end_ps = CW_TIME_MAX};
        struct cw_error error;
        struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
        assert_int_equal(cw_inject(sim, 0, 7, TO_LISTENER, 0, 0, NULL, 0, &error), CW_OK);
        assert_int_equal(cw_drain(sim, &error), CW_OK);
        assert_int_equal(((const struct heard *)cw_state(sim, 0))->count, 1);
        cw_sim_free(sim);
    }
}

static void a_listener_must_be_an_lp(void **state)
{
    (void)state;
    const struct ring ring = {NO_FAULT};
    const struct cw_model model = ring_model(&ring);
    const struct cw_config config = {
        .sync = CW_ADAPTIVE, .worker_count = 2, .tuning.listener = 2 + LPS, .end_ps = CW_TIME_MAX};
    struct cw_error error;
    assert_null(cw_sim_create(&config, &model, &error));
    assert_int_equal(error.exit_code, CW_BUG);
    assert_non_null(strstr(error.text, "LP 65 only listens, but there are 65 LPs"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_listener_hears_all_events_in_their_order),
        cmocka_unit_test(a_run_with_a_listener_fails_at_the_same_event),
        cmocka_unit_test(threads_share_many_events_of_a_listener),
        cmocka_unit_test(events_behind_the_end_stay),
        cmocka_unit_test(a_listener_that_speaks_is_refused),
        cmocka_unit_test(a_listener_that_fails_ends_the_run),
        cmocka_unit_test(a_drain_may_have_events_of_the_listener_alone),
        cmocka_unit_test(a_listener_must_be_an_lp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
