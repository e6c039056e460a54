/*
 * test_core_cause_trace.c: the trace of a sequential run: each event with its cause, in the order
 * of commitment; and that it changes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/cw.h"

enum { LPS = 5, EVENTS = 40000 };

/* An event's number is its place in a binary tree: n sends 2n and 2n + 1, at once or later, and
 * equal times abound. */
static size_t state_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(uint64_t);
}

static void init(const void *data, uint32_t lp, void *state) { (void)data, (void)lp, (void)state; }

static void handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const uint64_t *const count = state;
    ++*CW_MUT(ctx, count);
    for (uint64_t child = 2 * event->number; child < 2 * event->number + 2; child++)
        if (child <= EVENTS)
            cw_send(ctx, (uint32_t)(child % LPS), (int64_t)(child * 7 % 4), 0, (uint32_t)child % 3,
                    child, &child, sizeof child);
}

static const struct cw_model model = {
    .name = "tree", .lp_count = LPS, .state_bytes = state_bytes, .init = init, .handle = handle};

struct seen {
    uint64_t *index_of; /* [number], of this drain; UINT64_MAX: not yet */
    uint64_t count, drain, sampled;
};

static void see(void *arg, const struct cw_event *event, const struct cw_trace *trace)
{
    struct seen *const seen = arg;
    assert_int_equal(trace->index, seen->count);
    assert_int_equal(trace->drain, seen->drain);
    assert_int_equal(event->payload_bytes, event->number == 1 ? 0 : 8);
    if (event->number == 1)
        assert_true(trace->cause == CW_NO_CAUSE);
    else
        assert_int_equal(trace->cause, seen->index_of[event->number / 2]);
    assert_true(trace->cost_s < 1e3);
    seen->sampled += trace->cost_s >= 0;
    seen->index_of[event->number] = seen->count++;
}

static uint64_t run(cw_trace_fn trace, struct seen *seen)
{
    const struct cw_config config = {.sync = CW_SEQUENTIAL,
                                     .worker_count = 1,
                                     .end_ps = CW_TIME_MAX,
                                     .tuning.trace = trace,
                                     .tuning.trace_arg = seen};
    struct cw_error error;
    struct cw_stats stats;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    for (int drain = 0; drain < 2; drain++) {
        seen->drain = (uint64_t)drain;
        assert_int_equal(cw_inject(sim, 0, cw_sim_now(sim), 0, 0, 1, NULL, 0, &error), CW_OK);
        assert_int_equal(cw_drain(sim, &error), CW_OK);
    }
    cw_sim_stats(sim, &stats);
    assert_int_equal(stats.events_committed, 2 * EVENTS);
    cw_sim_free(sim);
    return stats.trace_hash;
}

static void each_event_comes_with_the_event_that_sent_it(void **state)
{
    (void)state;
    struct seen seen = {.index_of = calloc(EVENTS + 1, sizeof(uint64_t))};
    assert_non_null(seen.index_of);
    const uint64_t traced = run(see, &seen);
    assert_int_equal(seen.count, 2 * EVENTS);
    /* one event in sixteen is timed: of 80,000, 5,000, give or take */
    assert_in_range(seen.sampled, 4000, 6000);
    assert_true(traced == run(NULL, &seen));
    free(seen.index_of);
}

static void a_trace_of_another_mode_is_refused(void **state)
{
    (void)state;
    const struct cw_config config = {
        .sync = CW_OPTIMISTIC, .worker_count = 1, .end_ps = CW_TIME_MAX, .tuning.trace = see};
    struct cw_error error;
    assert_null(cw_sim_create(&config, &model, &error));
    assert_int_equal(error.exit_code, CW_BUG);
    assert_string_equal(error.text, "a trace is the sequential mode's only");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_comes_with_the_event_that_sent_it),
        cmocka_unit_test(a_trace_of_another_mode_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
