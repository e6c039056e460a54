/*
 * test_core_host_errors.c: a host's mistakes that the engine refuses, with which exit code and in
 * which words: injections, configurations, more events than the run may have; and long texts
 * of errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/at_random.h"
#include "core/cw.h"

static const struct cw_config plain = {
    .sync = CW_SEQUENTIAL, .worker_count = 1, .end_ps = CW_TIME_MAX};

static size_t no_state(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return 0;
}

static void empty_state(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp, (void)state;
}

static void nothing(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)ctx, (void)state, (void)event;
}

static const struct cw_model idle = {
    .name = "idle", .lp_count = 4, .state_bytes = no_state, .init = empty_state, .handle = nothing};

static void bad_injections_are_refused(void **state)
{
    (void)state;
    const struct cw_model model = idle;
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&plain, &model, &error);
    assert_int_equal(cw_inject(sim, 0, -1, 1, 1, 1, NULL, 0, &error), CW_BUG);
    assert_string_equal(error.text, "injection to LP 0 at -1 ps, before now, 0 ps");
    assert_int_equal(cw_inject(sim, 0, 70, 1, 1, 1, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_OK);
    assert_int_equal(cw_inject(sim, 0, 69, 1, 1, 1, NULL, 0, &error), CW_BUG);
    assert_string_equal(error.text, "injection to LP 0 at 69 ps, before now, 70 ps");
    assert_int_equal(cw_inject(sim, 4, 70, 1, 1, 1, NULL, 0, &error), CW_BUG);
    assert_string_equal(error.text, "injection to LP 4, but there are 4 LPs");
    assert_int_equal(cw_inject(sim, 0, CW_TIME_MAX, 1, 1, 1, NULL, 0, &error), CW_BUG);
    assert_string_equal(error.text, "injection to LP 0 at the end of time");
    assert_int_equal(cw_inject(sim, 0, 70, 1, 1, 1ull << 48, NULL, 0, &error), CW_BUG);
    assert_string_equal(error.text, "injection to LP 0 of number 281474976710656; the greatest is "
                                    "281474976710655");
    static const uint8_t much[65];
    assert_int_equal(cw_inject(sim, 0, 70, 1, 1, 1, much, 65, &error), CW_BUG);
    assert_string_equal(error.text, "injection to LP 0 of 65 payload bytes; the most is 64");
    assert_int_equal(cw_inject(sim, 3, 70, 1, 1, 1, NULL, 8, &error), CW_BUG);
    assert_string_equal(error.text, "injection to LP 3 of 8 payload bytes at NULL");
    /* None of them did any harm. */
    assert_int_equal(cw_inject(sim, 0, 70, 1, 1, 1, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_OK);
    cw_sim_free(sim);
}

static void bad_configurations_are_refused(void **state)
{
    (void)state;
    struct cw_model model = idle;
    struct cw_error error;
    struct cw_config config = plain;
    config.sync = CW_ADAPTIVE;
    config.worker_count = 1025;
    assert_null(cw_sim_create(&config, &model, &error));
    assert_int_equal(error.exit_code, CW_USAGE);
    assert_string_equal(error.text, "1025 workers; at most 1024 are possible");
    config = plain;
    config.worker_count = 0;
    assert_null(cw_sim_create(&config, &model, &error));
    assert_int_equal(error.exit_code, CW_USAGE);
    config = plain;
    static const uint32_t lp_worker[4] = {0, 0, 1, 0};
    config.lp_worker = lp_worker;
    assert_null(cw_sim_create(&config, &model, &error));
    assert_int_equal(error.exit_code, CW_BUG);
    assert_string_equal(error.text, "LP 2 belongs to worker 1, but there are 1 workers");
    model.lp_count = 0;
    assert_null(cw_sim_create(&plain, &model, &error));
    assert_int_equal(error.exit_code, CW_BUG);
    assert_string_equal(error.text, "model idle has no LPs");
}

static void expect_refused(const struct cw_config *config, const struct cw_model *model,
                           const char *text)
{
    struct cw_error error;
    assert_null(cw_sim_create(config, model, &error));
    assert_int_equal(error.exit_code, CW_BUG);
    assert_string_equal(error.text, text);
}

/* Failures of two LPs, say, that list the same things before they differ. */
static void long_texts_that_begin_alike_are_told_apart(void **state)
{
    (void)state;
    struct cw_error first, second;
    (void)cw_error_set(&first, CW_USAGE, "%02000d first", 0);
    (void)cw_error_set(&second, CW_USAGE, "%02000d second", 0);
    assert_string_equal(cw_error_text(&first) + 2000, " first");
    assert_string_equal(cw_error_text(&second) + 2000, " second");
    const size_t room = strlen(first.text); /* a text of that length has no other */
    (void)cw_error_set(&first, CW_USAGE, "%0*d", (int)room, 0);
    assert_ptr_equal(cw_error_text(&first), first.text);
    assert_int_equal(strlen(first.text), room);
}

static void figures_that_mean_nothing_are_refused(void **state)
{
    (void)state;
    struct cw_config config = plain;
    config.sync = CW_SYNCS;
    expect_refused(&config, &idle, "a mode 5; there are 5");
    config = plain;
    config.sync = (enum cw_sync)UINT32_MAX;
    expect_refused(&config, &idle, "a mode 4294967295; there are 5");
    config = plain;
    config.tuning.gather = CW_GATHERS;
    expect_refused(&config, &idle,
                   "cw_tuning.gather is 2; legal: CW_GATHER_NEVER, CW_GATHER_IF_FASTER");
    config = plain;
    config.tuning.balance = CW_BALANCES;
    expect_refused(&config, &idle, "cw_tuning.balance is 2; legal: CW_BALANCE_OFF, CW_BALANCE_ON");
    for (int64_t end_ps = -1; end_ps <= 0; end_ps++) {
        config = plain;
        config.end_ps = end_ps;
        expect_refused(&config, &idle,
                       end_ps < 0 ? "the run ends at -1 ps (end_ps); legal: above 0, and "
                                    "CW_TIME_MAX until no event is left"
                                  : "the run ends at 0 ps (end_ps); legal: above 0, and "
                                    "CW_TIME_MAX until no event is left");
    }
    config = plain;
    config.tuning.window_ps = -3;
    expect_refused(&config, &idle, "a window of -3 ps");
    static const uint32_t none[4] = {0, UINT32_MAX, 0, 0};
    config = plain;
    config.sync = CW_ADAPTIVE;
    config.worker_count = 2;
    config.tuning.balance = CW_BALANCE_ON;
    config.tuning.lp_part = none;
    expect_refused(&config, &idle, "LP 1 belongs to part 4294967295; the greatest is 4294967294");
    for (int i = 0; i < 3; i++) {
        struct cw_model model = idle;
        model.state_bytes = i == 0 ? NULL : idle.state_bytes;
        model.init = i == 1 ? NULL : idle.init;
        model.handle = i == 2 ? NULL : idle.handle;
        expect_refused(&plain, &model, "model idle lacks a function");
    }
}

/* An event that sends the next one, 1 ps later, for ever. */
static void goes_on(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state;
    cw_send(ctx, event->lp, 1, 1, event->entity, event->number + 1, NULL, 0);
}

/* In all modes; with one event more than there are, the run is over first. */
static void a_run_of_more_events_than_allowed_ends(void **state)
{
    (void)state;
    const struct cw_model model = {.name = "goes on",
                                   .lp_count = 2,
                                   .state_bytes = no_state,
                                   .init = empty_state,
                                   .handle = goes_on};
    for (enum cw_sync sync = 0; sync < CW_SYNCS; sync++)
        for (uint64_t end = 10000; end <= 10002; end++) {
            struct cw_config config = plain;
            struct cw_error error;
            config.sync = sync;
            config.end_ps = (int64_t)end;
            config.events_max = 10001;
            struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
            assert_non_null(sim);
            assert_int_equal(cw_inject(sim, 0, 0, 1, 0, 0, NULL, 0, &error), CW_OK);
            const int code = cw_drain(sim, &error);
            assert_int_equal(code, end <= 10001 ? CW_OK : CW_PROGRAM_FAILED);
            if (code != CW_OK) {
                assert_string_equal(error.text,
                                    "more than 10001 events, the most that this run may handle");
                assert_null(cw_failed_event(sim));
                assert_int_equal(cw_sim_now(sim), sync == CW_SEQUENTIAL ? 10000 : cw_sim_now(sim));
                assert_int_equal(cw_drain(sim, &error), CW_PROGRAM_FAILED);
            }
            cw_sim_free(sim);
        }
}

static size_t large_state(const void *data, uint32_t lp)
{
    (void)data;
    return lp == 2 ? (size_t)CW_STATE_BYTES_MAX + 1 : 8;
}

static void a_state_that_is_too_large_is_named(void **state)
{
    (void)state;
    struct cw_model model = idle;
    struct cw_error error;
    model.state_bytes = large_state;
    for (enum cw_sync sync = 0; sync < CW_SYNCS; sync++) {
        struct cw_config config = plain;
        config.sync = sync;
        assert_null(cw_sim_create(&config, &model, &error));
        assert_int_equal(error.exit_code, CW_NO_RESOURCE);
        assert_string_equal(error.text, "LP 2 of model idle has a state of 536870912 bytes; at "
                                        "most 536870911 are possible");
    }
}

/*
 * LP i handles an event every period[i] ps from 1 ps on, and sends nothing to others, so each
 * worker commits far beyond what the others have reached. LP 0 fails at FAILS_PS.
 */
enum { CLOCKS = 4, FAILS_PS = 101 };
static const int64_t period[CLOCKS] = {2, 3, 5, 7};

static void ticks_and_fails(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state;
    if (event->lp == 0 && event->time_ps == FAILS_PS)
        cw_fail(ctx, CW_BUG, "it fails");
    cw_send(ctx, event->lp, period[event->lp], 1, event->entity, event->number + 1, NULL, 0);
}

/* Of two events at the same time that of the lesser entity, here the lesser LP, comes first. */
static uint64_t events_before_the_failure(void)
{
    uint64_t events = 0;
    for (uint32_t lp = 0; lp < CLOCKS; lp++)
        for (int64_t at = 1; at < FAILS_PS; at += period[lp])
            events++;
    return events;
}

/* "Which of the two ends a run, the limit or a failing event, is the same in every mode." */
static void a_failure_within_the_limit_is_the_same_in_every_mode(void **state)
{
    (void)state;
    const struct cw_model model = {.name = "clocks",
                                   .lp_count = CLOCKS,
                                   .state_bytes = no_state,
                                   .init = empty_state,
                                   .handle = ticks_and_fails};
    const uint64_t before = events_before_the_failure();
    for (enum cw_sync sync = 0; sync < CW_SYNCS; sync++)
        for (uint32_t workers = 1; workers <= (sync == CW_SEQUENTIAL ? 1 : CLOCKS); workers++)
            for (uint64_t allowed = before - 2; allowed <= before + 60; allowed++) {
                struct cw_error error;
                struct cw_config config = plain;
                int64_t delays_ps[CLOCKS * CLOCKS];
                for (uint32_t i = 0; i < workers * workers; i++)
                    delays_ps[i] = i % (workers + 1) == 0 ? 1 : CW_TIME_MAX;
                config.sync = sync;
                config.worker_count = workers;
                config.end_ps = 400;
                config.events_max = allowed;
                config.least_delay_ps = delays_ps;
                config.tuning.gather = allowed % 2 == 0 ? CW_GATHER_OFTEN : CW_GATHER_NEVER;
                config.tuning.balance = allowed % 3 == 0 ? CW_BALANCE_RANDOM : CW_BALANCE_OFF;
                struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
                assert_non_null(sim);
                for (uint32_t lp = 0; lp < CLOCKS; lp++)
                    assert_int_equal(cw_inject(sim, lp, 1, 1, lp, 0, NULL, 0, &error), CW_OK);
                const int code = cw_drain(sim, &error);
                if (code != (allowed <= before ? CW_PROGRAM_FAILED : CW_BUG))
                    fail_msg("%s, %u workers, %lu of %lu events allowed: %s", cw_sync_name[sync],
                             workers, (unsigned long)allowed, (unsigned long)before, error.text);
                assert_int_equal(cw_failed_event(sim) != NULL, allowed > before);
                cw_sim_free(sim);
            }
}

/* Longer than the struct has room for. */
static void a_long_text_is_kept_whole_beside_its_error(void **state)
{
    (void)state;
    struct cw_error error, second, copy;
    assert_int_equal(cw_error_set(&error, CW_USAGE, "short"), CW_USAGE);
    assert_ptr_equal(cw_error_text(&error), error.text);
    assert_int_equal(cw_error_set(&error, CW_USAGE, "one %03000d end", 0), CW_USAGE);
    assert_int_equal(cw_error_set(&second, CW_USAGE, "two %05000d end", 0), CW_USAGE);
    copy = error;
    assert_in_range(strlen(error.text), sizeof error.text - 16, sizeof error.text - 1);
    assert_int_equal(strlen(cw_error_text(&copy)), 3008);
    assert_string_equal(cw_error_text(&copy) + 3004, " end");
    assert_int_equal(strlen(cw_error_text(&second)), 5008);
    for (int i = 0; i < 64; i++) /* they take the places of all before */
        (void)cw_error_set(&second, CW_USAGE, "%d %02000d", i, 0);
    assert_ptr_equal(cw_error_text(&copy), copy.text);
    assert_int_equal(strlen(cw_error_text(&second)), 2003);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_injections_are_refused),
        cmocka_unit_test(bad_configurations_are_refused),
        cmocka_unit_test(long_texts_that_begin_alike_are_told_apart),
        cmocka_unit_test(figures_that_mean_nothing_are_refused),
        cmocka_unit_test(a_long_text_is_kept_whole_beside_its_error),
        cmocka_unit_test(a_run_of_more_events_than_allowed_ends),
        cmocka_unit_test(a_failure_within_the_limit_is_the_same_in_every_mode),
        cmocka_unit_test(a_state_that_is_too_large_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
