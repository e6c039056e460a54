/*
 * test_core_bounds.c: the memory of a run is bounded by its need, whatever the model sends: one
 * event far ahead, a sender that is faster than its receiver. Each model ends under a limit of some
 * MiB, however long it runs. No test depends on a time or on the number of cores.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/at_random.h"
#include "core/worker/commit.h"
#include "core/cw.h"
#include "core/exchange/send_quota.h"
#include "core/worker/simulation.h"
#include "core/speculation/promise.h"
#include "core/speculation/timewarp.h"

enum { MIB = 1 << 20 };

static size_t count_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(uint64_t);
}

static void begin_at_zero(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp, (void)state;
}

/* Runs the model; all that is pending at first is injected by `inject`. Fails the test unless the
 * run ends well. */
static struct cw_stats run_model(const struct cw_model *model, const struct cw_config *config,
                                 void (*inject)(struct cw_sim *sim))
{
    struct cw_error error = {0};
    struct cw_sim *const sim = cw_sim_create(config, model, &error);
    if (sim == NULL)
        fail_msg("%s: %s", cw_sync_name[config->sync], error.text);
    inject(sim);
    if (cw_drain(sim, &error) != CW_OK)
        fail_msg("%s: %s", cw_sync_name[config->sync], error.text);
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    cw_sim_free(sim);
    return stats;
}

/* ---- one event far ahead --------------------------------------------------------------------- */

enum { TOKENS = 16, FAR_PS = INT32_MAX, FAR_TYPE = 2 };

/* Tokens go to and fro between two LPs. The first event also sends one for much later. */
static void pass_tokens(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const uint64_t *const seen = state;
    const uint64_t steps = *(const uint64_t *)cw_model_data(ctx);
    ++*CW_MUT(ctx, seen);
    if (event->type == FAR_TYPE)
        return;
    if (*seen == 1 && event->lp == 0)
        cw_send(ctx, 1, (int64_t)FAR_PS * 1000, FAR_TYPE, TOKENS, 1, NULL, 0);
    if (event->number < steps)
        cw_send(ctx, 1 - event->lp, 100, 1, event->entity, event->number + 1, NULL, 0);
}

static void inject_tokens(struct cw_sim *sim)
{
    struct cw_error error;
    for (uint32_t i = 0; i < TOKENS; i++)
        assert_int_equal(cw_inject(sim, i & 1, i, 1, i, 0, NULL, 0, &error), CW_OK);
}

static void an_event_far_ahead_holds_no_memory_of_later_messages(void **state)
{
    (void)state;
    uint64_t steps = 20000; /* 320,000 events: 10 MB, if each message took 32 bytes for good */
    const struct cw_model model = {.name = "far",
                                   .data = &steps,
                                   .lp_count = 2,
                                   .state_bytes = count_bytes,
                                   .init = begin_at_zero,
                                   .handle = pass_tokens};
    struct cw_config config = {.worker_count = 1, .end_ps = CW_TIME_MAX};
    const uint64_t hash = run_model(&model, &config, inject_tokens).trace_hash;
    config.worker_count = 2;
    config.memory_bytes_max = 3 * MIB;
    for (int i = 0; i < 4; i++) {
        config.sync = i % 2 == 0 ? CW_OPTIMISTIC : CW_ADAPTIVE;
        config.tuning.lazy_cancellation = i / 2 != 0;
        const struct cw_stats stats = run_model(&model, &config, inject_tokens);
        assert_true(stats.trace_hash == hash);
        assert_int_equal(stats.events_committed, TOKENS * (steps + 1) + 1);
    }
}

/* ---- a sender that is faster than its receiver ----------------------------------------------- */

enum { STEP_PS = 10, DELAY_PS = 1000, SLOW = 300 };

/* LP 0 sends to itself and to LP 1, which takes longer for each event. */
static void feed(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const uint64_t *const seen = state;
    const uint64_t events = *(const uint64_t *)cw_model_data(ctx);
    uint64_t *const count = CW_MUT(ctx, seen);
    if (event->lp == 1) {
        for (volatile int i = 0; i < SLOW; i++)
            ++*count;
        return;
    }
    ++*count;
    cw_send(ctx, 1, DELAY_PS, 1, 0, 2 * event->number + 2, NULL, 0);
    if (event->number < events)
        cw_send(ctx, 0, STEP_PS, 0, 0, event->number + 1, NULL, 0);
}

static void inject_the_first(struct cw_sim *sim)
{
    struct cw_error error;
    assert_int_equal(cw_inject(sim, 0, 0, 0, 0, 0, NULL, 0, &error), CW_OK);
}

/* Nothing holds the sender up but the messages that it has sent. */
static void a_fast_sender_is_held_back_before_its_messages_fill_the_memory(void **state)
{
    (void)state;
    enum { LIMIT = 8 * MIB, BATCH = 1024 };
    uint64_t events = 150000; /* 15 MB at the receiver, if none were held back */
    const int64_t least_ps[] = {0, DELAY_PS, CW_TIME_MAX, 0};
    const struct cw_model model = {.name = "feed",
                                   .data = &events,
                                   .lp_count = 2,
                                   .state_bytes = count_bytes,
                                   .init = begin_at_zero,
                                   .handle = feed};
    struct cw_config config = {.worker_count = 1, .end_ps = CW_TIME_MAX};
    const struct cw_stats expected = run_model(&model, &config, inject_the_first);
    config.worker_count = 2;
    config.least_delay_ps = least_ps;
    config.memory_bytes_max = LIMIT;
    for (config.sync = CW_CONSERVATIVE; config.sync <= CW_ADAPTIVE; config.sync++) {
        const struct cw_stats stats = run_model(&model, &config, inject_the_first);
        assert_true(stats.trace_hash == expected.trace_hash);
        /* as ENGINE.md says, "Send quota": alive in a sequential run, the quota, the window */
        const uint64_t quota = LIMIT / 16 / 128 / 2;
        const uint64_t window = config.sync == CW_OPTIMISTIC ? LIMIT / 8 / 256 / 2 : 0;
        assert_true(stats.events_alive_max <=
                    expected.events_alive_max + quota + 2 * window + BATCH);
    }
}

/* ---- a part that is behind its new worker ---------------------------------------------------- */

enum { SENDERS = 2, CHAIN = 2000, LOOKS_MAX = 100000 };

/* LPs 0 and 1 each send to LP 2, and to none else; LP 1 sends twice as much. */
static void send_on(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    ++*CW_MUT(ctx, (const uint64_t *)state);
    if (event->lp == SENDERS)
        return;
    for (uint32_t i = 0; i <= event->lp; i++)
        cw_send(ctx, SENDERS, DELAY_PS, 1, event->lp, (i + 1) * (CHAIN + 1) + event->number, NULL,
                0);
    if (event->number < CHAIN)
        cw_send(ctx, event->lp, STEP_PS, 0, event->lp, event->number + 1, NULL, 0);
}

static void inject_senders(struct cw_sim *sim)
{
    struct cw_error error;
    for (uint32_t lp = 0; lp < SENDERS; lp++)
        assert_int_equal(cw_inject(sim, lp, 0, 0, lp, 0, NULL, 0, &error), CW_OK);
}

static void delays_to_the_receiver(void *arg, const uint32_t *lp_worker, uint32_t workers,
                                   int64_t *least_ps)
{
    (void)arg;
    for (uint32_t i = 0; i < workers * workers; i++)
        least_ps[i] = CW_TIME_MAX;
    for (uint32_t lp = 0; lp < SENDERS; lp++)
        if (lp_worker[lp] != lp_worker[SENDERS])
            least_ps[lp_worker[lp] * workers + lp_worker[SENDERS]] = DELAY_PS;
}

static bool has_looked_too_often(void *arg) { return ++*(uint64_t *)arg > LOOKS_MAX; }

/* A sender that nothing holds up but its quota has sent all that it may. Then the other sender
 * moves to its worker, with events that come before those that the worker has committed. */
static void a_worker_that_ran_ahead_goes_on_with_parts_that_are_behind(void **state)
{
    (void)state;
    static const uint32_t lp_part[] = {0, 1, 2}, lp_worker[] = {0, 1, 1};
    const int64_t least_ps[] = {0, DELAY_PS, CW_TIME_MAX, 0};
    uint64_t looks = 0;
    const struct cw_model model = {.name = "senders",
                                   .lp_count = SENDERS + 1,
                                   .state_bytes = count_bytes,
                                   .init = begin_at_zero,
                                   .handle = send_on};
    struct cw_config config = {.worker_count = 1, .end_ps = CW_TIME_MAX};
    const uint64_t hash = run_model(&model, &config, inject_senders).trace_hash;
    config = (struct cw_config){.worker_count = 2,
                                .tuning.thread_count = 1,
                                .tuning.lp_part = lp_part,
                                .lp_worker = lp_worker,
                                .least_delay_ps = least_ps,
                                .tuning.least_delays = delays_to_the_receiver,
                                .tuning.balance = CW_BALANCE_RANDOM,
                                .memory_bytes_max = 2 * MIB,
                                .stop = has_looked_too_often,
                                .stop_arg = &looks,
                                .end_ps = CW_TIME_MAX};
    for (config.tuning.stress_seed = 1; config.tuning.stress_seed <= 8; config.tuning.stress_seed++)
        for (config.sync = CW_CONSERVATIVE; config.sync <= CW_ADAPTIVE; config.sync++) {
            looks = 0;
            assert_true(run_model(&model, &config, inject_senders).trace_hash == hash);
        }
}

/* ---- records of speculation ------------------------------------------------------------------ */

enum { RECORDED_LPS = 8, RECORDS = 20, RECORDED_STEPS = 300 };

/* Events that need much memory to be undone: for the records that they emit. */
static void emit_much(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const uint64_t *const seen = state;
    const char record[64] = {0};
    ++*CW_MUT(ctx, seen);
    for (int i = 0; i < RECORDS; i++)
        cw_emit(ctx, 1, record, sizeof record);
    if (event->number < RECORDED_STEPS)
        cw_send(ctx, event->lp, 100, 0, event->entity, event->number + 1, NULL, 0);
}

static void inject_at_each_lp(struct cw_sim *sim)
{
    struct cw_error error;
    for (uint32_t i = 0; i < RECORDED_LPS; i++)
        assert_int_equal(cw_inject(sim, i, i, 0, i, 0, NULL, 0, &error), CW_OK);
}

static void count_record(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                         uint16_t bytes)
{
    (void)event, (void)kind, (void)record, (void)bytes;
    ++*(uint64_t *)arg;
}

/* The run speculates up to the limit, is refused memory, and still ends well. Where changes are
 * checked events are handled one by one. */
static void speculation_that_finds_no_memory_is_undone(void **state)
{
    (void)state;
    const int64_t least_ps[] = {0, 100, 100, 0};
    uint64_t records = 0;
    const struct cw_model model = {.name = "records",
                                   .lp_count = RECORDED_LPS,
                                   .state_bytes = count_bytes,
                                   .init = begin_at_zero,
                                   .handle = emit_much};
    struct cw_config config = {
        .worker_count = 1, .end_ps = CW_TIME_MAX, .record = count_record, .record_arg = &records};
    const uint64_t hash = run_model(&model, &config, inject_at_each_lp).trace_hash;
    const uint64_t expected = records;
    assert_int_equal(expected, RECORDED_LPS * (RECORDED_STEPS + 1) * RECORDS);
    config.worker_count = 2;
    for (config.memory_bytes_max = 3 * MIB / 2; config.memory_bytes_max <= 6 * MIB;
         config.memory_bytes_max *= 2)
        for (int i = 0; i < 8; i++) {
            config.sync = CW_CONSERVATIVE + (enum cw_sync)(i / 2);
            config.check_changes = i % 2 != 0;
            config.least_delay_ps = config.sync == CW_CONSERVATIVE ? least_ps : NULL;
            records = 0;
            assert_true(run_model(&model, &config, inject_at_each_lp).trace_hash == hash);
            assert_int_equal(records, expected);
        }
}

/* ---- the quota itself ----------------------------------------------------------------------- */

static void the_quota_is_a_share_of_the_memory(void **state)
{
    (void)state;
    struct send_quota quota;
    quota_init(&quota, 0, 8);
    assert_int_equal(quota.most, QUOTA_MIN);
    quota_init(&quota, UINT64_MAX, 1);
    assert_int_equal(quota.most, QUOTA_MAX);
}

static void what_gvt_has_passed_is_settled(void **state)
{
    (void)state;
    struct send_quota quota;
    quota_init(&quota, 16 * 128 * 1000, 1);
    assert_int_equal(quota.most, 1000);
    quota_begin(&quota, 7);
    assert_int_equal(quota_left(&quota, 7), 1000);
    for (int i = 1; i <= 10; i++) {
        quota_note(&quota, 7 + (uint64_t)i * 100, i * 50);
        assert_int_equal(quota_left(&quota, 7 + (uint64_t)i * 100), 1000 - i * 100);
    }
    assert_int_equal(quota_left(&quota, 2000), 0);
    quota_settle(&quota, 1007, 199); /* marks are 200 apart, at 100 ps and 200 ps */
    assert_int_equal(quota_left(&quota, 1007), 200);
    quota_settle(&quota, 1007, 200);
    assert_int_equal(quota_left(&quota, 1007), 400);
    assert_false(quota_wants_round(&quota, 1256));
    assert_true(quota_wants_round(&quota, 1257)); /* a fourth was sent since */
    quota_settle(&quota, 1007, 500);
    assert_int_equal(quota_left(&quota, 1007), 1000);
    /* messages marked before a new beginning are not settled a second time */
    quota_note(&quota, 1300, 600);
    quota_begin(&quota, 2000);
    quota_settle(&quota, 2000, 700);
    assert_int_equal(quota_left(&quota, 2000), 1000);
}

/* Events at 1,000 ps were committed. Then a part has come whose events begin at 10 ps. */
static void messages_of_a_part_that_is_behind_are_settled_at_its_own_times(void **state)
{
    (void)state;
    const struct cw_model model = {.name = "behind",
                                   .lp_count = 2,
                                   .state_bytes = count_bytes,
                                   .init = begin_at_zero,
                                   .handle = feed};
    const struct cw_config config = {
        .worker_count = 2, .sync = CW_OPTIMISTIC, .end_ps = CW_TIME_MAX};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    struct worker *const worker = &sim->workers[0];
    struct send_quota *const quota = &worker->timewarp->quota;
    commit_count(worker, 1, 1000);
    quota_note(quota, quota->most, worker->reached_ps);
    worker->timewarp->peers.sent_for_good = quota->most;
    promise_count_anew(worker->timewarp);
    commit_count(worker, 1, 10);
    quota_note(quota, 2 * quota->most, worker->reached_ps);
    assert_int_equal(quota_left(quota, 2 * quota->most), 0);
    quota_settle(quota, 2 * quota->most, 10);
    assert_int_equal(quota_left(quota, 2 * quota->most), quota->most);
    assert_int_equal(worker_now_ps(worker), 1000);
    cw_sim_free(sim);
}

/* More than there is room for: the newest mark tells of all. */
static void marks_never_run_out(void **state)
{
    (void)state;
    struct send_quota quota;
    quota_init(&quota, 0, 1);
    quota_begin(&quota, 0);
    for (uint64_t i = 1; i <= 1000; i++)
        quota_note(&quota, i * QUOTA_MIN, (int64_t)i);
    assert_int_equal(quota_left(&quota, 1000 * QUOTA_MIN), 0);
    quota_settle(&quota, 1000 * QUOTA_MIN, 999);
    assert_int_equal(quota.count, 1);
    assert_int_equal(quota_left(&quota, 1000 * QUOTA_MIN), 0);
    quota_settle(&quota, 1000 * QUOTA_MIN, 1000);
    assert_int_equal(quota_left(&quota, 1000 * QUOTA_MIN), QUOTA_MIN);
}

enum { FAN = 9, FAN_LPS = 16, FAN_STEPS = 400 };

/* Each event sends to all LPs nearby, and one of these goes on. Most are handled speculatively. */
static void fan_out(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    uint64_t *const count = CW_MUT(ctx, (const uint64_t *)state);
    ++*count;
    if (event->type != 0 || event->number >= FAN_STEPS)
        return;
    for (uint32_t i = 0; i < FAN; i++)
        cw_send(ctx, (event->lp + 8 + i) % FAN_LPS, 1 + i, i > 0, event->entity,
                i == 0 ? event->number + 1 : 1000 + event->number * FAN + i, NULL, 0);
}

static void inject_fans(struct cw_sim *sim)
{
    struct cw_error error;
    for (uint32_t i = 0; i < FAN_LPS; i++)
        assert_int_equal(cw_inject(sim, i, i, 0, i, 0, NULL, 0, &error), CW_OK);
}

/* I-QUOTA-2 is asserted at the end of each drain. */
static void messages_of_events_with_many_sends_are_counted(void **state)
{
    (void)state;
    const struct cw_model model = {.name = "fan",
                                   .lp_count = FAN_LPS,
                                   .state_bytes = count_bytes,
                                   .init = begin_at_zero,
                                   .handle = fan_out};
    struct cw_config config = {.worker_count = 1, .end_ps = CW_TIME_MAX};
    const uint64_t hash = run_model(&model, &config, inject_fans).trace_hash;
    config.worker_count = 2;
    for (int i = 0; i < 4; i++) {
        config.sync = i % 2 == 0 ? CW_OPTIMISTIC : CW_ADAPTIVE;
        config.tuning.lazy_cancellation = i / 2 != 0;
        assert_true(run_model(&model, &config, inject_fans).trace_hash == hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fast_sender_is_held_back_before_its_messages_fill_the_memory),
        cmocka_unit_test(a_worker_that_ran_ahead_goes_on_with_parts_that_are_behind),
        cmocka_unit_test(speculation_that_finds_no_memory_is_undone),
        cmocka_unit_test(the_quota_is_a_share_of_the_memory),
        cmocka_unit_test(what_gvt_has_passed_is_settled),
        cmocka_unit_test(messages_of_a_part_that_is_behind_are_settled_at_its_own_times),
        cmocka_unit_test(marks_never_run_out),
        cmocka_unit_test(messages_of_events_with_many_sends_are_counted),
        cmocka_unit_test(an_event_far_ahead_holds_no_memory_of_later_messages),
    };
    return cmocka_run_group_tests_name("core_bounds", tests, NULL, NULL);
}
