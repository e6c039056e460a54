/*
 * test_perf_projection.c: the bounds of a trace whose schedules are worked out by hand
 * (perf/projection.h).
 */
#include "test/support/test_perf_support.h"

#include "perf/projection.h"

static bool near_to(double a, double b) { return a - b < 1e-9 && b - a < 1e-9; }

struct step {
    int64_t time_ps;
    uint32_t lp;
    uint64_t cause;
    uint16_t type; /* which is also its cost, in s */
    uint64_t drain;
};

/*
 * LP 0 on worker 0, LPs 1 and 2 on worker 1.
 *
 *   event  time  LP  cause  cost    ends, LPs alone    ends, two workers
 *     0      0    0    -      1     1                  1
 *     1      0    1    -      2     2                  2
 *     2      5    2    -      1     1                  3   (after event 1)
 *     3     10    1    0      1     3   (after 1)      4   (after 2)
 *     4     12    0    1      2     4   (after 1)      4   (after 1)
 *     5     20    2    3      2     5   (after 3)      6   (after 3)
 *     6     30    0    -      1     6   (next drain)   7   (next drain)
 *
 * Windows of 10 ps: 0 to 10: 1 against 2 + 1; 10 to 20: 2 against 1; 20: 2; 30, next drain: 1.
 */
static const struct step steps[] = {{0, 0, CW_NO_CAUSE, 1, 0}, {0, 1, CW_NO_CAUSE, 2, 0},
                                    {5, 2, CW_NO_CAUSE, 1, 0}, {10, 1, 0, 1, 0},
                                    {12, 0, 1, 2, 0},          {20, 2, 3, 2, 0},
                                    {30, 0, CW_NO_CAUSE, 1, 1}};
enum { STEPS = sizeof steps / sizeof *steps };

static void note(struct perf_trace *trace, const struct step *step, uint64_t index)
{
    const struct cw_event event = {.time_ps = step->time_ps, .lp = step->lp, .type = step->type};
    const struct cw_trace told = {
        .index = index, .cause = step->cause, .drain = step->drain, .cost_s = step->type};
    perf_trace_note(trace, &event, &told);
}

static struct perf_projection project(size_t room, int64_t lookahead_ps)
{
    static const uint32_t lp_worker[] = {0, 1, 1};
    const struct perf_placement placement = {2, lp_worker, lookahead_ps};
    struct perf_projection projection;
    struct perf_trace trace;
    struct cw_error error;
    assert_true(perf_trace_create(&trace, room));
    for (size_t i = 0; i < STEPS; i++)
        note(&trace, &steps[i], i);
    assert_int_equal(trace.count, room < STEPS ? room : STEPS);
    assert_int_equal(trace.left_out, STEPS - trace.count);
    assert_int_equal(perf_project(&trace, 3, &placement, &projection, &error), CW_OK);
    perf_trace_free(&trace);
    return projection;
}

static void the_bounds_are_those_worked_out_by_hand(void **state)
{
    (void)state;
    const struct perf_projection projection = project(100, 10);
    assert_true(near_to(projection.total_s, 10));
    assert_true(near_to(projection.critical_s, 6));
    assert_true(near_to(projection.ordered_s, 7));
    assert_true(near_to(projection.windowed_s, 3 + 2 + 2 + 1));
}

static void without_lookahead_there_are_no_windows(void **state)
{
    (void)state;
    assert_true(near_to(project(100, 0).windowed_s, 0));
    assert_true(near_to(project(100, 0).ordered_s, 7));
}

static void workers_that_send_each_other_nothing_meet_between_drains_only(void **state)
{
    (void)state;
    /* 1 + 2 against 2 + 1 + 1 + 2; then 1 */
    assert_true(near_to(project(100, CW_TIME_MAX).windowed_s, 6 + 1));
}

static void a_trace_that_is_full_is_the_beginning_of_the_run(void **state)
{
    (void)state;
    /* events 0 to 3 */
    const struct perf_projection projection = project(4, 10);
    assert_true(near_to(projection.total_s, 5));
    assert_true(near_to(projection.critical_s, 3));
    assert_true(near_to(projection.ordered_s, 4));
    assert_true(near_to(projection.windowed_s, 3 + 1));
}

static void a_type_costs_the_mean_of_its_samples_or_of_all(void **state)
{
    (void)state;
    struct perf_trace trace;
    assert_true(perf_trace_create(&trace, 10));
    const double costs_s[] = {1, -1, 3, -1, 8, -1};
    const uint16_t types[] = {7, 7, 7, 7, 9, 11};
    for (size_t i = 0; i < 6; i++) {
        const struct cw_event event = {.type = types[i]};
        const struct cw_trace told = {.cause = CW_NO_CAUSE, .cost_s = costs_s[i]};
        perf_trace_note(&trace, &event, &told);
    }
    assert_true(near_to(perf_trace_cost_s(&trace, 7), 2));
    assert_true(near_to(perf_trace_cost_s(&trace, 9), 8));
    assert_true(near_to(perf_trace_cost_s(&trace, 11), 4));
    perf_trace_free(&trace);
}

static void a_thread_that_lost_its_core_makes_no_event_dear(void **state)
{
    (void)state;
    struct perf_trace trace;
    assert_true(perf_trace_create(&trace, 10));
    for (int i = 0; i < 400; i++) {
        const struct cw_event event = {.type = (uint16_t)(i % 2)};
        /* of type 0 one in 200 is long, of type 1 one in 50 */
        const bool is_long = i == 100 || i % 100 == 1;
        const struct cw_trace told = {.cause = CW_NO_CAUSE, .cost_s = is_long ? 1e-3 : 1e-7};
        perf_trace_note(&trace, &event, &told);
    }
    assert_true(near_to(perf_trace_cost_s(&trace, 0), 1e-7));
    assert_true(perf_trace_cost_s(&trace, 1) > 1e-5);
    assert_int_equal(trace.costs[0].events_all, 200);
    assert_int_equal(trace.left_out, 390);
    perf_trace_free(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bounds_are_those_worked_out_by_hand),
        cmocka_unit_test(without_lookahead_there_are_no_windows),
        cmocka_unit_test(workers_that_send_each_other_nothing_meet_between_drains_only),
        cmocka_unit_test(a_trace_that_is_full_is_the_beginning_of_the_run),
        cmocka_unit_test(a_type_costs_the_mean_of_its_samples_or_of_all),
        cmocka_unit_test(a_thread_that_lost_its_core_makes_no_event_dear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
