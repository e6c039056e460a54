/*
 * test_core_errors.c: a handler's mistakes that the engine refuses, with which exit code and in
 * which words. test_core_host_errors.c has those of a host.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/cw.h"

/* ---- a model whose handler is the test's ----------------------------------------------------- */

struct acts {
    void (*act)(struct cw_ctx *ctx, const void *state, const struct cw_event *event);
};

struct two {
    uint64_t a, b;
};

static size_t two_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(struct two);
}

static void two_init(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp, (void)state;
}

static void act(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    ((const struct acts *)cw_model_data(ctx))->act(ctx, state, event);
}

static struct cw_model model_of(const struct acts *acts)
{
    return (struct cw_model){
        .name = "acts",
        .data = acts,
        .lp_count = 4,
        .state_bytes = two_bytes,
        .init = two_init,
        .handle = act,
    };
}

static const struct cw_config plain = {
    .sync = CW_SEQUENTIAL, .worker_count = 1, .end_ps = CW_TIME_MAX};

/* Runs one event of type 7 at LP 3, 1000 ps; it must fail so. */
static void expect_failure_with(const struct cw_config *config,
                                void (*handler)(struct cw_ctx *, const void *,
                                                const struct cw_event *),
                                int exit_code, const char *text)
{
    const struct acts acts = {.act = handler};
    const struct cw_model model = model_of(&acts);
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(config, &model, &error);
    assert_non_null(sim);
    assert_int_equal(cw_inject(sim, 3, 1000, 7, 1, 1, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), exit_code);
    assert_int_equal(error.exit_code, exit_code);
    assert_string_equal(error.text, text);
    /* It stays failed. */
    struct cw_error again = {0};
    assert_int_equal(cw_drain(sim, &again), exit_code);
    assert_string_equal(again.text, text);
    assert_int_equal(cw_inject(sim, 3, 2000, 7, 1, 1, NULL, 0, &again), exit_code);
    cw_sim_free(sim);
}

static void expect_failure(void (*handler)(struct cw_ctx *, const void *, const struct cw_event *),
                           int exit_code, const char *text)
{
    expect_failure_with(&plain, handler, exit_code, text);
}

/* ---- sends ---------------------------------------------------------------------------------- */

static void send_negative(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state, (void)event;
    cw_send(ctx, 0, -5, 1, 1, 1, NULL, 0);
}

static void a_negative_delay_fails(void **state)
{
    (void)state;
    expect_failure(send_negative, CW_PROGRAM_FAILED,
                   "LP 3, event type 7 at 1000 ps: send with a negative delay, -5 ps");
}

static void send_too_far(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state, (void)event;
    cw_send(ctx, 0, CW_TIME_MAX - 1000, 1, 1, 1, NULL, 0);
}

static void a_time_at_the_end_of_time_fails(void **state)
{
    (void)state;
    expect_failure(send_too_far, CW_PROGRAM_FAILED,
                   "LP 3, event type 7 at 1000 ps: send with a delay of 9223372036854774807 ps "
                   "overflows the time");
}

static void send_farthest(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state;
    if (event->type == 7)
        cw_send(ctx, 0, CW_TIME_MAX - 1001, 1, 1, 1, NULL, 0);
}

static void the_last_ps_can_be_reached(void **state)
{
    (void)state;
    const struct acts acts = {.act = send_farthest};
    const struct cw_model model = model_of(&acts);
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&plain, &model, &error);
    assert_int_equal(cw_inject(sim, 3, 1000, 7, 1, 1, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_OK);
    assert_true(cw_sim_now(sim) == CW_TIME_MAX - 1);
    cw_sim_free(sim);
}

static void send_nowhere(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state, (void)event;
    cw_send(ctx, 4, 1, 1, 1, 1, NULL, 0);
}

static void an_unknown_lp_fails(void **state)
{
    (void)state;
    expect_failure(send_nowhere, CW_BUG,
                   "LP 3, event type 7 at 1000 ps: send to LP 4, but there are 4 LPs");
}

static void send_much(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state, (void)event;
    static const uint8_t much[65];
    cw_send(ctx, 0, 1, 1, 1, 1, much, sizeof much);
}

static void an_oversized_payload_fails(void **state)
{
    (void)state;
    expect_failure(send_much, CW_BUG,
                   "LP 3, event type 7 at 1000 ps: send of 65 payload bytes; the most is 64");
}

static void send_number(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state, (void)event;
    cw_send(ctx, 0, 1, 1, 1, CW_NUMBER_MAX + 1, NULL, 0);
}

static void an_oversized_number_fails(void **state)
{
    (void)state;
    expect_failure(send_number, CW_BUG,
                   "LP 3, event type 7 at 1000 ps: send of number 281474976710656; the greatest is "
                   "281474976710655");
}

static void send_for_ever(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state;
    cw_send(ctx, event->lp, 0, 7, 1, 1, NULL, 0);
}

static void a_cycle_without_delay_fails(void **state)
{
    (void)state;
    expect_failure(
        send_for_ever, CW_PROGRAM_FAILED,
        "LP 3, event type 7 at 1000 ps: a chain of more than 65535 events without delay");
}

static void send_three(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state;
    if (event->type == 7)
        for (uint64_t i = 0; i < 3; i++)
            cw_send(ctx, 0, 1, 1, 1, i, NULL, 0);
}

static void too_many_sends_fail(void **state)
{
    (void)state;
    struct cw_config config = plain;
    config.tuning.sends_per_event_max = 2;
    expect_failure_with(&config, send_three, CW_PROGRAM_FAILED,
                        "LP 3, event type 7 at 1000 ps: more than 2 sends from one event");
}

static void send_many(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state;
    const uint64_t count = event->number;
    if (event->type == 7)
        for (uint64_t i = 0; i < count; i++)
            cw_send(ctx, 0, 1, 1, 1, i, NULL, 0);
}

static void the_default_is_65536_sends(void **state)
{
    (void)state;
    const struct acts acts = {.act = send_many};
    const struct cw_model model = model_of(&acts);
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&plain, &model, &error);
    assert_int_equal(cw_inject(sim, 3, 1000, 7, 1, 65536, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_OK);
    assert_int_equal(cw_inject(sim, 3, 2000, 7, 1, 65537, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_PROGRAM_FAILED);
    assert_string_equal(error.text,
                        "LP 3, event type 7 at 2000 ps: more than 65536 sends from one event");
    cw_sim_free(sim);
}

static void send_soon(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state;
    if (event->type == 7) {
        cw_send(ctx, 3, 1, 1, 1, 1, NULL, 0); /* within the worker: nothing promised */
        cw_send(ctx, 0, 500, 1, 1, 1, NULL, 0);
        cw_send(ctx, 0, 499, 1, 1, 1, NULL, 0);
    }
}

static void a_send_below_the_promised_delay_fails(void **state)
{
    (void)state;
    static const uint32_t lp_worker[4] = {0, 0, 1, 1};
    static const int64_t least_delay_ps[4] = {0, 900, 500, 0};
    struct cw_config config = plain;
    config.worker_count = 2; /* sequential all the same: the promise is the partition's */
    config.lp_worker = lp_worker;
    config.least_delay_ps = least_delay_ps;
    const char *const text =
        "LP 3, event type 7 at 1000 ps: send to LP 0 with a delay of 499 ps; the partition "
        "promised at least 500 ps from worker 1 to worker 0";
    expect_failure_with(&config, send_soon, CW_BUG, text);
    config.lp_worker = NULL; /* the block partition is the same here */
    expect_failure_with(&config, send_soon, CW_BUG, text);
    config.sync = CW_ADAPTIVE;
    expect_failure_with(&config, send_soon, CW_BUG, text);
    config.tuning.gather =
        CW_GATHER_IF_FASTER; /* worker 0 handles the event of the other one's LP */
    config.tuning.thread_count = 2;
    expect_failure_with(&config, send_soon, CW_BUG, text);
}

/* ---- failures, records, changes -------------------------------------------------------------- */

static void fail_with(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state;
    cw_fail(ctx, CW_PROGRAM_FAILED, "deadlock at %u", (unsigned)event->lp);
}

static void a_model_fails_in_its_own_words(void **state)
{
    (void)state;
    expect_failure(fail_with, CW_PROGRAM_FAILED, "deadlock at 3");
}

static void fail_well(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state, (void)event;
    cw_fail(ctx, CW_OK, "all is well");
}

static void a_failure_is_never_a_success(void **state)
{
    (void)state;
    expect_failure(fail_well, CW_BUG, "all is well");
}

static void fail_poor(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state, (void)event;
    cw_fail(ctx, CW_NO_RESOURCE, "the model has no more");
}

/* A model may fail with any exit code: the event is told in all modes. */
static void a_lack_of_the_models_own_is_told_with_its_event(void **state)
{
    (void)state;
    const struct acts acts = {.act = fail_poor};
    const struct cw_model model = model_of(&acts);
    for (int sync = 0; sync < CW_SYNCS; sync++) {
        struct cw_error error;
        struct cw_config config = plain;
        config.sync = (enum cw_sync)sync;
        struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
        assert_int_equal(cw_inject(sim, 3, 1000, 7, 1, 1, NULL, 0, &error), CW_OK);
        assert_int_equal(cw_drain(sim, &error), CW_NO_RESOURCE);
        assert_string_equal(error.text, "the model has no more");
        assert_non_null(cw_failed_event(sim));
        assert_int_equal(cw_failed_event(sim)->time_ps, 1000);
        cw_sim_free(sim);
    }
}

static void check_false(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state;
    cw_check(ctx, event->lp == 3);
    cw_check(ctx, event->lp != 3);
}

static void a_check_says_where_and_what(void **state)
{
    (void)state;
    const struct acts acts = {.act = check_false};
    const struct cw_model model = model_of(&acts);
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&plain, &model, &error);
    assert_int_equal(cw_inject(sim, 3, 1000, 7, 1, 1, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_BUG);
    assert_non_null(strstr(error.text, "test_core_errors.c:"));
    assert_non_null(strstr(error.text, ": check failed: event->lp != 3"));
    cw_sim_free(sim);
}

static void count_records(void *arg, const struct cw_event *event, uint16_t kind,
                          const void *record, uint16_t bytes)
{
    unsigned *const count = arg;
    assert_int_equal(event->number * 10 + *count % 2, kind);
    assert_int_equal(bytes, 3);
    assert_memory_equal(record, "abc", 3);
    ++*count;
}

static void emit_two(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state;
    cw_emit(ctx, (uint16_t)(event->number * 10), "abc", 3);
    cw_emit(ctx, (uint16_t)(event->number * 10 + 1), "abc", 3);
    if (event->number == 5)
        cw_fail(ctx, CW_PROGRAM_FAILED, "no more");
}

static void an_event_that_fails_delivers_no_record(void **state)
{
    (void)state;
    unsigned count = 0;
    struct cw_config config = plain;
    config.record = count_records;
    config.record_arg = &count;
    config.tuning.sends_per_event_max = 2; /* the limit of records, too: each event may emit two */
    const struct acts acts = {.act = emit_two};
    const struct cw_model model = model_of(&acts);
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(cw_inject(sim, 0, 1, 1, 1, i, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_PROGRAM_FAILED);
    assert_int_equal(count, 10);
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    assert_int_equal(stats.events_committed, 5);
    cw_sim_free(sim);
}

static void emit_much(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state, (void)event;
    static const uint8_t much[65];
    cw_emit(ctx, 1, much, sizeof much);
}

static void an_oversized_record_fails(void **state)
{
    (void)state;
    expect_failure(emit_much, CW_BUG,
                   "LP 3, event type 7 at 1000 ps: a record of 65 bytes; the most is 64");
}

static void too_many_records_fail(void **state)
{
    (void)state;
    struct cw_config config = plain;
    config.tuning.sends_per_event_max = 1;
    expect_failure_with(&config, emit_two, CW_PROGRAM_FAILED,
                        "LP 3, event type 7 at 1000 ps: more than 1 records from one event");
}

static void change_another(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state, (void)event;
    static const uint64_t other;
    (void)CW_MUT(ctx, &other);
}

static void change_past_the_end(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)event;
    const struct two *const two = state;
    const struct two *const straddling = (const struct two *)(const void *)&two->b;
    (void)CW_MUT(ctx, straddling);
}

static void a_part_outside_the_state_fails(void **state)
{
    (void)state;
    expect_failure(change_past_the_end, CW_BUG,
                   "LP 3, event type 7 at 1000 ps: CW_MUT of 16 bytes at offset 8 of a state of 16 "
                   "bytes");
    const struct acts acts = {.act = change_another};
    const struct cw_model model = model_of(&acts);
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&plain, &model, &error);
    assert_int_equal(cw_inject(sim, 3, 1000, 7, 1, 1, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_BUG);
    cw_sim_free(sim);
}

/* ---- check_changes --------------------------------------------------------------------------- */

static void change_unasked(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct two *const two = state;
    CW_MUT(ctx, &two->a)[0] += 1;
    if (event->number == 1)
        ((struct two *)(uintptr_t)two)->b += 256; /* its second byte */
}

static void a_change_that_was_not_asked_for_is_found(void **state)
{
    (void)state;
    struct cw_config config = plain;
    config.check_changes = true;
    expect_failure_with(&config, change_unasked, CW_BUG,
                        "LP 3, event type 7 at 1000 ps: the handler changed the state at offset 9 "
                        "without asking for it (CW_MUT)");
}

static void change_b_and_ask_once(struct cw_ctx *ctx, const void *state,
                                  const struct cw_event *event)
{
    const struct two *const two = state;
    if (event->type == 7) {
        CW_MUT(ctx, &two->b)[0] = 1;
        cw_send(ctx, event->lp, 5, 8, 1, 1, NULL, 0);
    } else {
        ((struct two *)(uintptr_t)two)->b = 2;
    }
}

static void asking_holds_for_one_event(void **state)
{
    (void)state;
    struct cw_config config = plain;
    config.check_changes = true;
    expect_failure_with(&config, change_b_and_ask_once, CW_BUG,
                        "LP 3, event type 8 at 1005 ps: the handler changed the state at offset 8 "
                        "without asking for it (CW_MUT)");
}

static void change_overlapping(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct two *const two = state;
    for (int i = 0; i < 200; i++)
        CW_MUT(ctx, &two->b)[0] += event->number;
    CW_MUT(ctx, two)->a += 1;
    const uint8_t *const byte = (const uint8_t *)&two->a;
    *CW_MUT(ctx, byte) ^= 1;
}

static void changes_that_were_asked_for_pass(void **state)
{
    (void)state;
    struct cw_config config = plain;
    config.check_changes = true;
    const struct acts acts = {.act = change_overlapping};
    const struct cw_model model = model_of(&acts);
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(cw_inject(sim, 0, 1, 1, 1, i, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_OK);
    assert_int_equal(((const struct two *)cw_state(sim, 0))->b, 200 * 45);
    cw_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_negative_delay_fails),
        cmocka_unit_test(a_time_at_the_end_of_time_fails),
        cmocka_unit_test(the_last_ps_can_be_reached),
        cmocka_unit_test(an_unknown_lp_fails),
        cmocka_unit_test(an_oversized_payload_fails),
        cmocka_unit_test(an_oversized_number_fails),
        cmocka_unit_test(a_cycle_without_delay_fails),
        cmocka_unit_test(too_many_sends_fail),
        cmocka_unit_test(the_default_is_65536_sends),
        cmocka_unit_test(a_send_below_the_promised_delay_fails),
        cmocka_unit_test(a_model_fails_in_its_own_words),
        cmocka_unit_test(a_failure_is_never_a_success),
        cmocka_unit_test(a_lack_of_the_models_own_is_told_with_its_event),
        cmocka_unit_test(a_check_says_where_and_what),
        cmocka_unit_test(an_event_that_fails_delivers_no_record),
        cmocka_unit_test(an_oversized_record_fails),
        cmocka_unit_test(too_many_records_fail),
        cmocka_unit_test(a_part_outside_the_state_fails),
        cmocka_unit_test(a_change_that_was_not_asked_for_is_found),
        cmocka_unit_test(asking_holds_for_one_event),
        cmocka_unit_test(changes_that_were_asked_for_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
