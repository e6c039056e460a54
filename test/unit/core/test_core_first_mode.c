/*
 * test_core_first_mode.c: whether the threads of a run begin apart or together, by the events that
 * are pending before the first drain (core/run/pace.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/run/pace.h"
#include "core/worker/simulation.h"
#include "core/worker/worker.h"

enum { LPS = 2, SPREAD_PS = 1000000 };

static size_t no_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return 8;
}

static void init_nothing(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp, (void)state;
}

static void handle_nothing(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)ctx, (void)state, (void)event;
}

/* The first way of two workers with so many events in all: the first `near` at 1 ps, all others
 * SPREAD_PS later. `lookahead_ps` < 0: no least delays are given. */
static enum threading_mode way_of(uint32_t count, uint32_t near, int64_t lookahead_ps)
{
    const int64_t delays_ps[4] = {0, lookahead_ps, lookahead_ps, 0};
    const struct cw_model model = {.name = "idle",
                                   .lp_count = LPS,
                                   .state_bytes = no_bytes,
                                   .init = init_nothing,
                                   .handle = handle_nothing};
    const struct cw_config config = {.worker_count = 2,
                                     .sync = CW_ADAPTIVE,
                                     .end_ps = CW_TIME_MAX,
                                     .least_delay_ps = lookahead_ps < 0 ? NULL : delays_ps};
    struct cw_error error = {0};
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(
            cw_inject(sim, i % LPS, i < near ? 1 : 1 + SPREAD_PS, 0, i, 0, NULL, 0, &error), CW_OK);
    const enum threading_mode way = pace_first_mode(sim);
    uint64_t pending = 0;
    for (uint32_t i = 0; i < 2; i++)
        pending += pending_count(&sim->workers[i].pending);
    assert_int_equal(pending, count);
    cw_sim_free(sim);
    return way;
}

static void few_events_begin_together(void **state)
{
    (void)state;
    assert_int_equal(way_of(1024, 1024, SPREAD_PS), THREADS_SINGLE);
    assert_int_equal(way_of(1025, 1025, SPREAD_PS), THREADS_PARALLEL);
}

/* 32 events for each worker within the lookahead, whichever worker has them. */
static void events_within_the_lookahead_begin_apart(void **state)
{
    (void)state;
    assert_int_equal(way_of(2000, 63, SPREAD_PS), THREADS_SINGLE);
    assert_int_equal(way_of(2000, 64, SPREAD_PS), THREADS_PARALLEL);
    assert_int_equal(way_of(2000, 1, SPREAD_PS + 1), THREADS_PARALLEL);
}

static void without_lookahead_events_begin_together(void **state)
{
    (void)state;
    assert_int_equal(way_of(2000, 2000, 0), THREADS_SINGLE);
    assert_int_equal(way_of(2000, 2000, -1), THREADS_SINGLE);
}

static void workers_that_never_meet_begin_apart(void **state)
{
    (void)state;
    assert_int_equal(way_of(2000, 1, CW_TIME_MAX), THREADS_PARALLEL);
}

static void very_many_events_begin_apart(void **state)
{
    (void)state;
    assert_int_equal(way_of(1 << 17, 1 << 17, 0), THREADS_SINGLE);
    assert_int_equal(way_of((1 << 17) + 1, 1, 0), THREADS_PARALLEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_events_begin_together),
        cmocka_unit_test(events_within_the_lookahead_begin_apart),
        cmocka_unit_test(without_lookahead_events_begin_together),
        cmocka_unit_test(workers_that_never_meet_begin_apart),
        cmocka_unit_test(very_many_events_begin_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
