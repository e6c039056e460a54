/*
 * test_core_snapshot.c: snapshots of simulations, and simulations restored from them: random models
 * in all modes and numbers of workers end as a sequential run does that was never interrupted, also
 * where they fail; figures; states large enough for threads; illegal calls.
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
#include "test/support/random_model.h"

/* ---- random models --------------------------------------------------------------------------- */

static void compare_modes(const struct random_model *m, uint64_t seed)
{
    char text[2048];
    if (!random_modes_agree(m, seed, true, text, sizeof text))
        fail_msg("%s", text);
}

/* I-SNAP-1 */
static void a_restored_run_ends_as_one_that_was_not_interrupted(void **state)
{
    (void)state;
    const uint64_t seeds = random_from_environment("CW_SEEDS", 25);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        const struct random_model m = random_model_draw(seed, RANDOM_LPS_MAX, 20);
        compare_modes(&m, seed);
    }
}

static void a_restored_run_fails_at_the_same_event(void **state)
{
    (void)state;
    const uint64_t seeds = random_from_environment("CW_SEEDS", 10);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct random_model m = random_model_draw(seed, RANDOM_LPS_MAX, 20);
        const struct random_outcome whole = random_model_run(
            &m, &(struct random_run){.sync = CW_SEQUENTIAL, .workers = 1, .seed = seed});
        m.fail_ps = whole.now_ps / 4 * 3; /* in the second drain, mostly */
        compare_modes(&m, seed);
    }
}

/* ---- a ring of counters ---------------------------------------------------------------------- */

enum { COUNTERS = 12, LARGE_BYTES = 1 << 20 };

struct ring {
    size_t state_bytes;
    uint32_t lps;
};

/* At least so many: states of several sizes. */
static size_t counter_bytes(const void *data, uint32_t lp)
{
    return ((const struct ring *)data)->state_bytes + lp % 3 * 40;
}

static void counter_init(const void *data, uint32_t lp, void *state)
{
    memset(state, 0, counter_bytes(data, lp));
}

/* Counts, at its beginning and at its end, and passes on until the number is used up. */
static void count(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct ring *const ring = cw_model_data(ctx);
    const uint64_t *const words = state;
    const uint64_t *const last = &words[ring->state_bytes / sizeof *words - 1];
    *CW_MUT(ctx, &words[0]) += event->number;
    *CW_MUT(ctx, last) = words[0];
    if (event->number > 0)
        cw_send(ctx, (event->lp + 5) % ring->lps, 10, 0, event->lp, event->number - 1, NULL, 0);
}

static struct cw_sim *create_owned(const struct ring *ring, enum cw_sync sync, uint32_t workers,
                                   int64_t end_ps, const uint32_t *lp_worker)
{
    const struct cw_model model = {.name = "ring",
                                   .data = ring,
                                   .lp_count = ring->lps,
                                   .state_bytes = counter_bytes,
                                   .init = counter_init,
                                   .handle = count};
    const struct cw_config config = {.sync = sync,
                                     .worker_count = workers,
                                     .lp_worker = lp_worker,
                                     .tuning.thread_count = workers,
                                     .end_ps = end_ps};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    return sim;
}

static struct cw_sim *create(const struct ring *ring, enum cw_sync sync, uint32_t workers,
                             int64_t end_ps)
{
    return create_owned(ring, sync, workers, end_ps, NULL);
}

static void run_ring(struct cw_sim *sim, const struct ring *ring, uint64_t number)
{
    struct cw_error error;
    for (uint32_t lp = 0; lp < ring->lps; lp++)
        assert_int_equal(cw_inject(sim, lp, cw_sim_now(sim), 0, lp, number, NULL, 0, &error),
                         CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_OK);
}

static struct cw_snapshot *take(struct cw_sim *sim)
{
    struct cw_error error;
    struct cw_snapshot *const snapshot = cw_snapshot_take(sim, &error);
    assert_non_null(snapshot);
    return snapshot;
}

static void restore(struct cw_sim *sim, const struct cw_snapshot *snapshot)
{
    struct cw_error error;
    assert_int_equal(cw_sim_restore(sim, snapshot, &error), CW_OK);
}

static void expect_bug(int code, const struct cw_error *error, const char *text)
{
    assert_int_equal(code, CW_BUG);
    if (strstr(cw_error_text(error), text) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", cw_error_text(error), text);
}

static void expect_same_states(const struct cw_sim *a, const struct cw_sim *b,
                               const struct ring *ring)
{
    for (uint32_t lp = 0; lp < ring->lps; lp++)
        assert_memory_equal(cw_state(a, lp), cw_state(b, lp), ring->state_bytes);
}

static void many_simulations_go_on_from_one_snapshot(void **state)
{
    (void)state;
    static const struct ring rings[] = {{16, COUNTERS}, {LARGE_BYTES, COUNTERS}};
    for (int r = 0; r < 2; r++)
        for (int sync = 0; sync < CW_STRESS; sync++) {
            if (sync == CW_CONSERVATIVE) /* no lookahead is promised */
                continue;
            struct cw_sim *const first = create(&rings[r], (enum cw_sync)sync, 3, CW_TIME_MAX);
            run_ring(first, &rings[r], 40);
            struct cw_snapshot *const snapshot = take(first);
            assert_true(cw_snapshot_bytes(snapshot) >= COUNTERS * rings[r].state_bytes);
            run_ring(first, &rings[r], 30);
            struct cw_stats expected, got;
            cw_sim_stats(first, &expected);
            assert_int_equal(expected.events_restored, 0);
            for (int times = 0; times < 3; times++) {
                struct cw_sim *const other = create(&rings[r], (enum cw_sync)sync, 3, CW_TIME_MAX);
                restore(other, snapshot);
                run_ring(other, &rings[r], 30);
                expect_same_states(other, first, &rings[r]);
                cw_sim_stats(other, &got);
                assert_true(got.trace_hash == expected.trace_hash);
                assert_int_equal(cw_sim_now(other), cw_sim_now(first));
                cw_sim_free(other);
            }
            cw_snapshot_free(snapshot);
            cw_sim_free(first);
        }
}

/* A block's place in a snapshot does not depend on its owner. */
static void other_workers_go_on_from_a_snapshot(void **state)
{
    (void)state;
    static const struct ring rings[] = {{16, COUNTERS}, {LARGE_BYTES, COUNTERS}};
    uint32_t in_turn[COUNTERS];
    for (uint32_t lp = 0; lp < COUNTERS; lp++)
        in_turn[lp] = lp % 3;
    for (int r = 0; r < 2; r++) {
        struct cw_sim *const first = create(&rings[r], CW_ADAPTIVE, 3, CW_TIME_MAX);
        run_ring(first, &rings[r], 40);
        struct cw_snapshot *const snapshot = take(first);
        struct cw_sim *const other = create_owned(&rings[r], CW_ADAPTIVE, 3, CW_TIME_MAX, in_turn);
        restore(other, snapshot);
        expect_same_states(other, first, &rings[r]);
        run_ring(other, &rings[r], 30);
        run_ring(first, &rings[r], 30);
        expect_same_states(other, first, &rings[r]);
        cw_sim_free(other);
        cw_sim_free(first);
        cw_snapshot_free(snapshot);
    }
}

static void counts_go_on_from_the_snapshot(void **state)
{
    (void)state;
    const struct ring ring = {64, COUNTERS};
    for (int sync = 0; sync < CW_SYNCS; sync++) {
        const uint32_t workers = sync == CW_CONSERVATIVE ? 1 : 2;
        struct cw_sim *const first = create(&ring, (enum cw_sync)sync, workers, CW_TIME_MAX);
        run_ring(first, &ring, 20);
        struct cw_stats before, after;
        cw_sim_stats(first, &before);
        struct cw_snapshot *const snapshot = take(first);
        struct cw_sim *const other = create(&ring, (enum cw_sync)sync, workers, CW_TIME_MAX);
        restore(other, snapshot);
        cw_sim_stats(other, &after);
        assert_int_equal(after.events_committed, before.events_committed);
        assert_int_equal(after.events_restored, before.events_committed);
        assert_int_equal(after.events_processed, before.events_committed);
        assert_int_equal(after.safe_events, before.events_committed);
        assert_int_equal(after.events_alive_max, before.events_alive_max);
        assert_int_equal(after.events_alive, 0);
        assert_true(after.trace_hash == before.trace_hash && after.run_s == 0);
        assert_int_equal(cw_sim_now(other), cw_sim_now(first));
        run_ring(other, &ring, 20);
        cw_sim_stats(other, &after);
        assert_int_equal(after.events_committed, 2 * before.events_committed);
        assert_true(after.events_processed >= after.events_committed);
        struct cw_snapshot *const later = take(other); /* of one that was restored */
        cw_snapshot_free(later);
        cw_sim_free(other);
        cw_sim_free(first);
        cw_snapshot_free(snapshot);
    }
}

static void an_injection_before_the_snapshots_time_is_refused(void **state)
{
    (void)state;
    const struct ring ring = {16, COUNTERS};
    struct cw_error error;
    struct cw_sim *const first = create(&ring, CW_SEQUENTIAL, 1, CW_TIME_MAX);
    run_ring(first, &ring, 20);
    struct cw_snapshot *const snapshot = take(first);
    struct cw_sim *const other = create(&ring, CW_SEQUENTIAL, 1, CW_TIME_MAX);
    restore(other, snapshot);
    expect_bug(cw_inject(other, 0, cw_sim_now(first) - 1, 0, 0, 0, NULL, 0, &error), &error,
               "before now");
    cw_sim_free(other);
    cw_sim_free(first);
    cw_snapshot_free(snapshot);
}

/* ---- illegal calls --------------------------------------------------------------------------- */

static void a_snapshot_is_not_taken_while_events_are_left(void **state)
{
    (void)state;
    const struct ring ring = {16, COUNTERS};
    struct cw_error error;
    struct cw_sim *const sim = create(&ring, CW_SEQUENTIAL, 1, 50);
    run_ring(sim, &ring, 20); /* beyond 50 ps events are left */
    assert_null(cw_snapshot_take(sim, &error));
    expect_bug(error.exit_code, &error, "events");
    cw_sim_free(sim);
}

static void expect_not_restored(const struct ring *ring, enum cw_sync sync, uint32_t workers,
                                const struct cw_snapshot *snapshot, const char *text)
{
    struct cw_error error;
    struct cw_sim *const sim = create(ring, sync, workers, CW_TIME_MAX);
    expect_bug(cw_sim_restore(sim, snapshot, &error), &error, text);
    cw_sim_free(sim);
}

static void only_a_new_simulation_of_the_same_kind_is_restored(void **state)
{
    (void)state;
    const struct ring ring = {16, COUNTERS}, more = {16, COUNTERS + 1}, larger = {24, COUNTERS};
    struct cw_error error;
    struct cw_sim *const sim = create(&ring, CW_OPTIMISTIC, 2, CW_TIME_MAX);
    struct cw_snapshot *const snapshot = take(sim);
    expect_not_restored(&ring, CW_ADAPTIVE, 2, snapshot, "in the mode optimistic");
    expect_not_restored(&ring, CW_OPTIMISTIC, 3, snapshot, "of 2 workers");
    expect_not_restored(&more, CW_OPTIMISTIC, 2, snapshot, "of other sizes");
    expect_not_restored(&larger, CW_OPTIMISTIC, 2, snapshot, "of other sizes");
    run_ring(sim, &ring, 3);
    expect_bug(cw_sim_restore(sim, snapshot, &error), &error, "before the first injection");
    cw_snapshot_free(snapshot);
    cw_snapshot_free(NULL);
    cw_sim_free(sim);
}

static void fail_at_once(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state, (void)event;
    cw_fail(ctx, CW_PROGRAM_FAILED, "on purpose");
}

static void a_simulation_that_has_failed_has_no_snapshot(void **state)
{
    (void)state;
    const struct ring ring = {16, 1};
    const struct cw_model model = {.name = "failing",
                                   .data = &ring,
                                   .lp_count = 1,
                                   .state_bytes = counter_bytes,
                                   .init = counter_init,
                                   .handle = fail_at_once};
    const struct cw_config config = {.worker_count = 1, .end_ps = CW_TIME_MAX};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_int_equal(cw_inject(sim, 0, 0, 0, 0, 0, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_PROGRAM_FAILED);
    assert_null(cw_snapshot_take(sim, &error));
    assert_string_equal(cw_error_text(&error), "on purpose");
    cw_sim_free(sim);
}

/* What the snapshot has is not what the restored run must have undone. */
static void a_restored_run_may_have_drains_without_events(void **state)
{
    (void)state;
    const struct ring ring = {16, COUNTERS};
    struct cw_error error;
    for (int sync = 0; sync < CW_SYNCS; sync++) {
        const uint32_t workers = sync == CW_CONSERVATIVE ? 1 : 3; /* no lookahead is promised */
        struct cw_sim *const sim = create(&ring, (enum cw_sync)sync, workers, CW_TIME_MAX);
        run_ring(sim, &ring, 20);
        struct cw_snapshot *const snapshot = take(sim);
        struct cw_sim *const next = create(&ring, (enum cw_sync)sync, workers, CW_TIME_MAX);
        assert_int_equal(cw_sim_restore(next, snapshot, &error), CW_OK);
        assert_int_equal(cw_drain(next, &error), CW_OK);
        cw_snapshot_free(snapshot);
        cw_sim_free(next);
        cw_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_restored_run_ends_as_one_that_was_not_interrupted),
        cmocka_unit_test(a_restored_run_fails_at_the_same_event),
        cmocka_unit_test(many_simulations_go_on_from_one_snapshot),
        cmocka_unit_test(other_workers_go_on_from_a_snapshot),
        cmocka_unit_test(counts_go_on_from_the_snapshot),
        cmocka_unit_test(an_injection_before_the_snapshots_time_is_refused),
        cmocka_unit_test(a_snapshot_is_not_taken_while_events_are_left),
        cmocka_unit_test(only_a_new_simulation_of_the_same_kind_is_restored),
        cmocka_unit_test(a_simulation_that_has_failed_has_no_snapshot),
        cmocka_unit_test(a_restored_run_may_have_drains_without_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
