/*
 * test_core_lazy_cancel.c: lazy cancellation: messages that an undone event sends again, bit for
 * bit, stay where they are, all others are cancelled. Random models have it in test_core_parallel.c
 * and in the explorer.
 *
 * The stress mode undoes each event twice here. The handlers count their calls and send something
 * else at each, as if a straggler had come in between.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/cw.h"

enum { SENDER, RECEIVER, LPS };
enum { ORDER, SAME, OTHER }; /* event types */

struct state {
    uint64_t same, other;
};

struct body {
    uint64_t call, filler;
};

static unsigned calls;      /* of the sender's handler, undone ones included */
static unsigned sends;      /* of each kind and call */
static unsigned fails_at;   /* a call that fails after it has sent; 0: none */
static unsigned same_calls; /* calls of the receiver's handler for events that are always sent */

static size_t state_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(struct state);
}

static void init(const void *data, uint32_t lp, void *state) { (void)data, (void)lp, (void)state; }

/* Sends the same events at each call, and others at each, in an order that changes. */
static void send_all(struct cw_ctx *ctx)
{
    calls++;
    for (unsigned i = 0; i < sends; i++) {
        const unsigned number = calls % 2 == 0 ? i : sends - 1 - i;
        const struct body same = {.call = 0, .filler = number},
                          other = {.call = calls, .filler = number};
        cw_send(ctx, RECEIVER, 5, SAME, 1, number, &same, sizeof same);
        cw_send(ctx, RECEIVER, 5, OTHER, 2, number, &other, sizeof other);
    }
    if (calls == fails_at)
        cw_fail(ctx, CW_PROGRAM_FAILED, "call %u", calls);
}

static void handle(struct cw_ctx *ctx, const void *state_, const struct cw_event *event)
{
    const struct state *const state = state_;
    if (event->type == ORDER) {
        send_all(ctx);
        return;
    }
    if (event->type == SAME) {
        same_calls++;
        ++*CW_MUT(ctx, &state->same);
        return;
    }
    struct body body;
    memcpy(&body, event->payload, sizeof body);
    *CW_MUT(ctx, &state->other) += body.call;
}

struct run {
    struct cw_stats stats;
    struct state received;
};

static struct run run(uint32_t workers, bool lazy, unsigned kinds, unsigned failing)
{
    static const uint32_t owners[][LPS] = {{0, 0}, {0, 1}};
    const struct cw_config config = {.sync = CW_STRESS,
                                     .worker_count = workers,
                                     .lp_worker = owners[workers - 1],
                                     .end_ps = CW_TIME_MAX,
                                     .tuning.stress_seed = 1,
                                     .tuning.stress_rate_p32 = UINT64_C(1) << 32,
                                     .tuning.lazy_cancellation = lazy};
    const struct cw_model model = {.name = "lazy",
                                   .lp_count = LPS,
                                   .state_bytes = state_bytes,
                                   .init = init,
                                   .handle = handle};
    struct cw_error error;
    struct run result;
    calls = same_calls = 0;
    sends = kinds;
    fails_at = failing;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    assert_int_equal(cw_inject(sim, SENDER, 0, ORDER, 0, 0, NULL, 0, &error), CW_OK);
    if (cw_drain(sim, &error) != CW_OK)
        fail_msg("%s", error.text);
    cw_sim_stats(sim, &result.stats);
    memcpy(&result.received, cw_state(sim, RECEIVER), sizeof result.received);
    cw_sim_free(sim);
    assert_int_equal(result.stats.events_committed, 1 + 2 * kinds);
    assert_int_equal(result.stats.events_alive, 0);
    assert_int_equal(result.received.same, kinds);
    assert_int_equal(result.received.other, kinds * calls); /* the last call's, and no others */
    return result;
}

static const unsigned counts[] = {1, 3, 40, 300};

static void what_is_sent_again_stays_and_all_else_is_cancelled(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint32_t workers = 1; workers <= 2; workers++) {
            const struct run eager = run(workers, false, counts[i], 0);
            assert_int_equal(calls, 3);
            assert_int_equal(eager.stats.sends_reused, 0);
            assert_int_equal(eager.stats.anti_messages, workers == 1 ? 0 : 4 * counts[i]);
            const struct run lazy = run(workers, true, counts[i], 0);
            assert_int_equal(calls, 3);
            assert_true(lazy.stats.trace_hash == eager.stats.trace_hash);
            if (counts[i] > 32) /* sent in another order: some are too far to be found */
                assert_in_range(lazy.stats.sends_reused, 1, 2 * counts[i]);
            else
                assert_int_equal(lazy.stats.sends_reused, 2 * counts[i]);
            assert_int_equal(lazy.stats.anti_messages,
                             workers == 1 ? 0 : 4 * counts[i] - lazy.stats.sends_reused);
        }
}

/* At the second call of three: the first one's messages are cancelled, once, whether the second has
 * sent them again or not. At the first of two: no message is kept that could be. */
static void a_handler_that_fails_keeps_nothing(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++)
        for (unsigned failing = 1; failing <= 2; failing++) {
            const struct run eager = run(workers, false, 3, failing);
            assert_int_equal(calls, failing == 1 ? 2 : 3);
            const struct run lazy = run(workers, true, 3, failing);
            assert_true(lazy.stats.trace_hash == eager.stats.trace_hash);
            assert_int_equal(lazy.stats.sends_reused, failing == 1 ? 0 : 3);
            assert_int_equal(lazy.stats.anti_messages,
                             workers == 1 ? 0
                                          : eager.stats.anti_messages - lazy.stats.sends_reused);
        }
}

/* ---- sends that differ in one thing ---------------------------------------------------------- */

static enum { NOTHING, LP, TIME, ENTITY, NUMBER, TYPE, LENGTH, DIFFERENCES } differs;

/* Sends one event, which differs at each second call. */
static void send_one(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    static const uint64_t payload[2];
    (void)state;
    if (event->type != ORDER)
        return;
    const bool other = ++calls % 2 == 0;
    cw_send(ctx, RECEIVER + (differs == LP && other), 5 + (differs == TIME && other),
            SAME + (differs == TYPE && other), 1 + (differs == ENTITY && other),
            1 + (differs == NUMBER && other), payload, 8 + 8 * (differs == LENGTH && other));
}

static struct cw_stats run_one(uint32_t workers, bool lazy)
{
    enum { ONE_MORE = LPS + 1 };
    static const uint32_t owners[][ONE_MORE] = {{0, 0, 0}, {0, 1, 1}};
    const struct cw_config config = {.sync = CW_STRESS,
                                     .worker_count = workers,
                                     .lp_worker = owners[workers - 1],
                                     .end_ps = CW_TIME_MAX,
                                     .tuning.stress_rate_p32 = UINT64_C(1) << 32,
                                     .tuning.lazy_cancellation = lazy};
    const struct cw_model model = {.name = "one",
                                   .lp_count = ONE_MORE,
                                   .state_bytes = state_bytes,
                                   .init = init,
                                   .handle = send_one};
    struct cw_error error;
    struct cw_stats stats;
    calls = 0;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    assert_int_equal(cw_inject(sim, SENDER, 0, ORDER, 0, 0, NULL, 0, &error), CW_OK);
    if (cw_drain(sim, &error) != CW_OK)
        fail_msg("%s", error.text);
    cw_sim_stats(sim, &stats);
    cw_sim_free(sim);
    assert_int_equal(calls, 3);
    return stats;
}

static void a_send_that_differs_in_one_thing_is_another(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++)
        for (differs = NOTHING; differs < DIFFERENCES; differs++) {
            const struct cw_stats eager = run_one(workers, false), lazy = run_one(workers, true);
            assert_true(lazy.trace_hash == eager.trace_hash);
            assert_int_equal(lazy.sends_reused, differs == NOTHING ? 2 : 0);
        }
}

/* The receiver's events are undone twice each by the stress mode, and by nothing else. */
static void what_stays_is_not_handled_again(void **state)
{
    (void)state;
    (void)run(1, true, 3, 0);
    assert_int_equal(same_calls, 3 * 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sent_again_stays_and_all_else_is_cancelled),
        cmocka_unit_test(a_handler_that_fails_keeps_nothing),
        cmocka_unit_test(what_stays_is_not_handled_again),
        cmocka_unit_test(a_send_that_differs_in_one_thing_is_another),
    };
    return cmocka_run_group_tests_name("lazy", tests, NULL, NULL);
}
