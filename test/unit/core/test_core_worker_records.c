/*
 * test_core_worker_records.c: the records of each worker's LPs, on that worker: each LP's part of
 * the total order, right behind the handlers of safe events; the looks of a receiver that waits;
 * the event at which a drain has failed, alone and where many events tie with it (I-FAIL-2); the
 * total order as the host may ask for it.
 *
 * PARALLEL_SEED=7 PARALLEL_SEEDS=1 replays one random model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/os/sync.h"
#include "test/support/random_model.h"
#include "test/support/tied_model.h"

enum { SEEDS_DEFAULT = 10, TTL = 30, WORKERS = 8 };

/* ---- random models --------------------------------------------------------------------------- */

static void check_run(const struct random_model *m, struct random_run run,
                      const struct random_outcome *expected)
{
    char text[2500];
    run.records = calloc(1, sizeof *run.records);
    assert_non_null(run.records);
    const struct random_outcome got = random_model_run(m, &run);
    if (random_outcome_differs(&got, expected, text, sizeof text) ||
        !random_records_agree(run.records, expected->exit_code != CW_OK, text, sizeof text))
        fail_msg("seed %llu, %s on %u workers: %s\n"
                 "replay: PARALLEL_SEED=%llu PARALLEL_SEEDS=1 "
                 "build/check/test/unit/core/test_core_worker_records",
                 (unsigned long long)run.seed, cw_sync_name[run.sync], run.workers, text,
                 (unsigned long long)run.seed);
    free(run.records);
}

static void check_all(const struct random_model *m, uint64_t seed)
{
    const struct random_outcome expected = random_model_run(
        m, &(struct random_run){.sync = CW_SEQUENTIAL, .workers = 1, .seed = seed});
    enum { COUNTS = 5, RUNS = CW_SYNCS * COUNTS };
    uint32_t number = 0;
    for (enum cw_sync sync = CW_SEQUENTIAL; sync < CW_SYNCS; sync++)
        for (uint32_t workers = 1; workers <= WORKERS; workers += workers < 4 ? 1 : 4)
            if (random_run_is_drawn(seed, number++, RUNS) && random_model_runs(m, sync, workers))
                check_run(m,
                          (struct random_run){.sync = sync,
                                              .workers = workers,
                                              .seed = seed,
                                              .lazy = seed % 2 == 0,
                                              .window_ps = seed % 3 == 0 ? 1000 : 0},
                          &expected);
}

static void each_worker_gets_its_lps_parts_of_the_total_order(void **state)
{
    (void)state;
    const uint64_t first = random_from_environment("PARALLEL_SEED", 1);
    const uint64_t seeds = random_from_environment("PARALLEL_SEEDS", SEEDS_DEFAULT);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct random_model m = random_model_draw(seed, RANDOM_LPS_MAX, TTL);
        check_all(&m, seed);
        m.fail_ps = 1500 + (int64_t)(seed * 37); /* all that come before the failure, as well */
        check_all(&m, seed);
    }
}

/* ---- small models ---------------------------------------------------------------------------- */

/* Each LP counts down: an event of number n sends the LP the next one, of number n - 1. */
enum { STEP_PS = 100, STEPS = 300 };
enum { FAIL_BY_TYPE = 7 };

struct trail {
    uint32_t workers;
    struct sync_u64 handled[WORKERS]; /* number + 1 of the event handled last, by worker */
    struct sync_u64 told[WORKERS];    /* records of each worker */
    struct sync_u64 late;             /* records that did not come right behind their handler */
    struct sync_u64 looks[WORKERS], looks_wanted;
    struct sync_u64 last_look_waits[WORKERS];
};

static size_t no_state(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return 0;
}

static void no_init(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp, (void)state;
}

static uint64_t value_of(const struct sync_u64 *word) { return sync_load_acquire(word); }

static void count_down(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    struct trail *const trail = (struct trail *)(uintptr_t)cw_model_data(ctx);
    (void)state;
    if (trail != NULL) /* one LP for each worker */
        sync_store_release(&trail->handled[event->lp], event->number + 1);
    cw_emit(ctx, 1, &event->number, sizeof event->number);
    if (event->type == FAIL_BY_TYPE)
        cw_fail(ctx, CW_PROGRAM_FAILED, "LP %u gives up", event->lp);
    if (event->number == 0)
        return;
    cw_send(ctx, event->lp, STEP_PS, event->type, event->lp, event->number - 1, NULL, 0);
}

static void note_record(void *arg, uint32_t worker, const struct cw_event *event, uint16_t kind,
                        const void *record, uint16_t bytes)
{
    struct trail *const trail = arg;
    (void)kind, (void)record, (void)bytes;
    sync_store_release(&trail->told[worker], value_of(&trail->told[worker]) + 1);
    if (value_of(&trail->handled[worker]) != event->number + 1)
        (void)sync_add_relaxed(&trail->late, 1);
}

/* Waits until it was called so often after the worker's last record. */
static bool look_some_more(void *arg, uint32_t worker)
{
    struct trail *const trail = arg;
    const bool over = value_of(&trail->told[worker]) == STEPS + 1;
    const uint64_t looks = value_of(&trail->looks[worker]) + over;
    const bool waits = looks < value_of(&trail->looks_wanted);
    sync_store_release(&trail->looks[worker], looks);
    sync_store_release(&trail->last_look_waits[worker], waits);
    return waits;
}

/* One LP for each worker; worker i's first event has the number STEPS. */
static struct cw_sim *create(enum cw_sync sync, uint32_t threads, struct trail *trail,
                             cw_worker_look_fn look)
{
    static int64_t least_ps[WORKERS * WORKERS];
    for (uint32_t i = 0; i < WORKERS * WORKERS; i++)
        least_ps[i] = STEP_PS;
    const struct cw_model model = {.name = "count down",
                                   .data = trail,
                                   .lp_count = trail->workers,
                                   .state_bytes = no_state,
                                   .init = no_init,
                                   .handle = count_down};
    const struct cw_config config = {.sync = sync,
                                     .worker_count = trail->workers,
                                     .tuning.thread_count = threads,
                                     .least_delay_ps = least_ps,
                                     .end_ps = CW_TIME_MAX,
                                     .tuning.worker_record = note_record,
                                     .tuning.worker_look = look,
                                     .tuning.worker_arg = trail};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    for (uint32_t lp = 0; lp < trail->workers; lp++)
        assert_int_equal(cw_inject(sim, lp, 0, 0, lp, STEPS, NULL, 0, &error), CW_OK);
    return sim;
}

static void a_safe_event_is_told_right_behind_its_handler(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= WORKERS; workers++)
        for (enum cw_sync sync = CW_SEQUENTIAL; sync <= CW_ADAPTIVE; sync++) {
            if ((sync == CW_SEQUENTIAL || sync == CW_ADAPTIVE) && workers > 1)
                continue; /* adaptive: one worker's events are all safe */
            struct cw_error error;
            struct trail trail = {.workers = workers};
            struct cw_sim *const sim = create(sync, 0, &trail, NULL);
            assert_int_equal(cw_drain(sim, &error), CW_OK);
            for (uint32_t i = 0; i < workers; i++)
                assert_int_equal(value_of(&trail.told[i]), STEPS + 1);
            if (sync != CW_OPTIMISTIC)
                assert_int_equal(value_of(&trail.late), 0);
            cw_sim_free(sim);
        }
}

static void a_receiver_that_waits_is_asked_until_it_does_not(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++)
        for (uint32_t threads = 1; threads <= workers; threads++)
            for (enum cw_sync sync = CW_CONSERVATIVE; sync <= CW_STRESS; sync++) {
                struct cw_error error;
                struct trail trail = {.workers = workers};
                sync_store_release(&trail.looks_wanted, 40);
                struct cw_sim *const sim = create(sync, threads, &trail, look_some_more);
                assert_int_equal(cw_drain(sim, &error), CW_OK);
                for (uint32_t i = 0; i < workers; i++) {
                    assert_true(value_of(&trail.looks[i]) >= 40);
                    assert_int_equal(value_of(&trail.last_look_waits[i]), false);
                }
                cw_sim_free(sim);
            }
}

static void a_receiver_that_waits_for_ever_does_not_keep_the_drain(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        struct cw_error error;
        struct trail trail = {.workers = 3};
        sync_store_release(&trail.looks_wanted, UINT64_MAX);
        struct cw_sim *const sim = create(CW_ADAPTIVE, threads, &trail, look_some_more);
        assert_int_equal(cw_drain(sim, &error), CW_OK);
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(value_of(&trail.told[i]), STEPS + 1);
            assert_int_equal(value_of(&trail.last_look_waits[i]), true);
            assert_true(value_of(&trail.looks[i]) > 10);
        }
        assert_int_equal(cw_inject(sim, 0, cw_sim_now(sim), 0, 0, 0, NULL, 0, &error), CW_OK);
        assert_int_equal(cw_drain(sim, &error), CW_OK); /* and so is the next one */
        assert_int_equal(value_of(&trail.told[0]), STEPS + 2);
        cw_sim_free(sim);
    }
}

/* ---- the failed event ------------------------------------------------------------------------ */

static void a_drain_that_failed_names_the_least_failed_event(void **state)
{
    (void)state;
    for (enum cw_sync sync = CW_SEQUENTIAL; sync < CW_SYNCS; sync++)
        for (uint32_t workers = 1; workers <= (sync == CW_SEQUENTIAL ? 1u : 4u); workers++) {
            struct cw_error error;
            struct trail trail = {.workers = workers};
            struct cw_sim *const sim = create(sync, 0, &trail, NULL);
            assert_int_equal(cw_drain(sim, &error), CW_OK);
            assert_null(cw_failed_event(sim));
            const int64_t now_ps = cw_sim_now(sim);
            for (uint32_t i = 0; i < 8; i++) /* the third is the least */
                assert_int_equal(cw_inject(sim, i % workers, now_ps + (i == 2 ? 500 : 501 + i),
                                           FAIL_BY_TYPE, 90 + i, 70 + i, &i, sizeof i, &error),
                                 CW_OK);
            assert_null(cw_failed_event(sim));
            assert_int_equal(cw_drain(sim, &error), CW_PROGRAM_FAILED);
            const struct cw_event *const failed = cw_failed_event(sim);
            assert_non_null(failed);
            assert_int_equal(failed->time_ps, now_ps + 500);
            assert_int_equal(failed->entity, 92);
            assert_int_equal(failed->number, 72);
            assert_int_equal(failed->lp, 2 % workers);
            assert_int_equal(failed->type, FAIL_BY_TYPE);
            assert_int_equal(failed->payload_bytes, sizeof(uint32_t));
            assert_int_equal(failed->payload[0], 2);
            cw_sim_free(sim);
        }
}

static void a_failure_among_ties_tells_no_worker_a_wrong_record(void **state)
{
    (void)state;
    enum { RUNS_PER_MODEL = 4 };
    const uint64_t first = random_from_environment("TIES_SEED", 1);
    const uint64_t seeds = random_from_environment("TIES_SEEDS", 80);
    struct tied_model *const model = malloc(sizeof *model);
    assert_non_null(model);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        char text[2500];
        if (seed == first || seed % RUNS_PER_MODEL == 0)
            tied_model_draw(model, seed / RUNS_PER_MODEL);
        const struct random_run run = tied_run_draw(model, seed);
        if (!tied_model_holds(model, &run, text, sizeof text))
            fail_msg("seed %llu, %s on %u workers: %s\nreplay: TIES_SEED=%llu TIES_SEEDS=1 "
                     "build/check/test/unit/core/test_core_worker_records",
                     (unsigned long long)seed, cw_sync_name[run.sync], run.workers, text,
                     (unsigned long long)seed);
    }
    free(model);
}

/* ---- the total order ------------------------------------------------------------------------- */

/* As the specification words it, field by field. */
static int compare(const struct cw_event *a, const struct cw_event *b)
{
    const uint64_t x[6] = {(uint64_t)a->time_ps, a->depth, a->entity, a->number, a->lp, a->type};
    const uint64_t y[6] = {(uint64_t)b->time_ps, b->depth, b->entity, b->number, b->lp, b->type};
    for (int i = 0; i < 6; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    for (uint32_t i = 0; i < a->payload_bytes && i < b->payload_bytes; i++)
        if (a->payload[i] != b->payload[i])
            return a->payload[i] < b->payload[i] ? -1 : 1;
    return a->payload_bytes == b->payload_bytes ? 0 : a->payload_bytes < b->payload_bytes ? -1 : 1;
}

static void the_order_of_two_events_is_the_total_order(void **state)
{
    (void)state;
    struct cw_rng rng = cw_rng_seeded(5, 0);
    struct cw_event before = {.lp = 0};
    for (int i = 0; i < 200000; i++) {
        const uint64_t wide =
            cw_rng_below(&rng, 2) ? 1 : UINT64_C(1) << 32; /* both words' halves */
        struct cw_event event = {.time_ps = (int64_t)(cw_rng_below(&rng, 2) * wide * 1024),
                                 .number = cw_rng_below(&rng, 3) * wide,
                                 .entity = cw_rng_below(&rng, 3) * (uint32_t)(wide >> 16 | 1),
                                 .lp = cw_rng_below(&rng, 2),
                                 .depth = (uint16_t)cw_rng_below(&rng, 2),
                                 .type = (uint16_t)cw_rng_below(&rng, 2),
                                 .payload_bytes = (uint16_t)cw_rng_below(&rng, 3)};
        for (uint32_t k = 0; k < event.payload_bytes; k++)
            event.payload[k] = (uint8_t)(cw_rng_below(&rng, 2) * 255);
        assert_int_equal(cw_event_before(&before, &event), compare(&before, &event) < 0);
        assert_int_equal(cw_event_before(&event, &before), compare(&before, &event) > 0);
        assert_false(cw_event_before(&event, &event));
        if (cw_rng_below(&rng, 8) != 0)
            before = event;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_worker_gets_its_lps_parts_of_the_total_order),
        cmocka_unit_test(a_safe_event_is_told_right_behind_its_handler),
        cmocka_unit_test(a_receiver_that_waits_is_asked_until_it_does_not),
        cmocka_unit_test(a_receiver_that_waits_for_ever_does_not_keep_the_drain),
        cmocka_unit_test(a_drain_that_failed_names_the_least_failed_event),
        cmocka_unit_test(a_failure_among_ties_tells_no_worker_a_wrong_record),
        cmocka_unit_test(the_order_of_two_events_is_the_total_order),
    };
    return cmocka_run_group_tests_name("records of workers", tests, NULL, NULL);
}
