/*
 * test_perf_engine_model.c: the model of the engine (perf/model/engine_model.h) on small traces
 * whose schedules are known. Events cost a second, turns a microsecond, so that the answers are
 * whole seconds but for a small part.
 */
#include "test/support/test_perf_support.h"

#include <string.h>

#include "perf/model/engine_model.h"

enum { WORKERS_MAX = 4, NEVER = -1 };

static const struct perf_engine_costs cheap = {.event_factor = 1,
                                               .turn_s = 1e-6,
                                               .look_s = 1e-7,
                                               .idle_s = 1e-4,
                                               .round_s = 1e-6,
                                               .promise_lines = 1};

struct fixture {
    struct perf_trace trace;
    double cost_s[UINT16_MAX + 1];
    uint32_t lp_worker[8];
    int64_t least_ps[WORKERS_MAX * WORKERS_MAX];
    struct perf_socket_layout layout;
    struct perf_engine_run run;
};

static void begin(struct fixture *fixture, uint32_t workers, int64_t lookahead_ps)
{
    memset(fixture, 0, sizeof *fixture);
    assert_true(perf_trace_create(&fixture->trace, 10000));
    fixture->cost_s[0] = 1;
    fixture->layout = perf_socket_layout_flat("test", workers, 0);
    for (uint32_t i = 0; i < workers * workers; i++)
        fixture->least_ps[i] = lookahead_ps;
    for (uint32_t lp = 0; lp < 8; lp++)
        fixture->lp_worker[lp] = lp % workers;
    fixture->run = (struct perf_engine_run){.trace = &fixture->trace,
                                            .cost_s = fixture->cost_s,
                                            .lp_count = 8,
                                            .workers = workers,
                                            .lp_worker = fixture->lp_worker,
                                            .least_ps = fixture->least_ps,
                                            .costs = cheap,
                                            .layout = &fixture->layout};
}

static void add(struct fixture *fixture, int64_t time_ps, uint32_t lp, int64_t cause,
                uint64_t drain)
{
    const struct cw_event event = {.time_ps = time_ps, .lp = lp};
    const struct cw_trace told = {.index = fixture->trace.count,
                                  .cause = cause == NEVER ? CW_NO_CAUSE : (uint64_t)cause,
                                  .drain = drain,
                                  .cost_s = -1};
    perf_trace_note(&fixture->trace, &event, &told);
}

static bool is_about(double figure, double expected)
{
    return figure > expected * 0.99 && figure < expected * 1.01;
}

/* Runs the model. All that the workers do adds up to their time. */
static struct perf_engine_figures play(struct fixture *fixture)
{
    struct perf_engine_figures f;
    struct cw_error error;
    assert_int_equal(perf_engine_model(&fixture->run, &f, &error), CW_OK);
    const double sum_s = f.handling_s + f.overhead_s + f.messages_s + f.lines_s + f.turns_s +
                         f.rounds_s + f.undone_s + f.waiting_s;
    assert_true(is_about(sum_s, f.took_s * fixture->run.workers));
    return f;
}

/* Plays the trace and frees it. */
static struct perf_engine_figures play_once(struct fixture *fixture)
{
    const struct perf_engine_figures figures = play(fixture);
    perf_trace_free(&fixture->trace);
    return figures;
}

/* `count` LPs, each with a chain of so many events of its own, 10 ps apart. */
static void add_chains(struct fixture *fixture, uint32_t count, int64_t length)
{
    for (int64_t i = 0; i < length; i++)
        for (uint32_t lp = 0; lp < count; lp++)
            add(fixture, 10 * i, lp, i == 0 ? NEVER : (int64_t)fixture->trace.count - count, 0);
}

static void add_ping_pong(struct fixture *fixture, int64_t length)
{
    for (int64_t i = 0; i < length; i++)
        add(fixture, 10 * i, i % 2, i - 1, 0);
}

/* Two chains of so many events, on a worker each; each event sends one to the listener. */
static struct perf_engine_figures play_told(int64_t length, uint32_t listener)
{
    struct fixture fixture;
    begin(&fixture, 2, CW_TIME_MAX);
    fixture.run.listener = listener;
    fixture.run.costs.listen_s = 0.5;
    fixture.run.costs.listen_serial_s = 0.25;
    for (int64_t i = 0; i < length; i++)
        for (uint32_t lp = 1; lp <= 2; lp++) {
            const int64_t before = (int64_t)fixture.trace.count;
            add(&fixture, 10 * i, lp, i == 0 ? NEVER : before - 4, 0);
            add(&fixture, 10 * i, 0, before, 0);
        }
    return play_once(&fixture);
}

static void workers_share_the_order_of_many_events_of_the_listener(void **state)
{
    (void)state;
    const struct perf_engine_figures few = play_told(100, 1), many = play_told(2100, 1);
    assert_true(is_about(few.took_s, 100 + 200 * (0.5 + 0.25)));
    assert_true(is_about(many.took_s, 2100 + 4200 * (0.5 / 2 + 0.25)));
    assert_int_equal(many.messages, 0);
    const struct perf_engine_figures none = play_told(100, 0); /* its worker has 300 events */
    assert_true(is_about(none.took_s, 300));
    assert_int_equal(none.messages, 100);
}

static void two_chains_of_their_own_take_half(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 2, CW_TIME_MAX);
    add_chains(&fixture, 2, 500);
    const struct perf_engine_figures figures = play_once(&fixture);
    assert_true(is_about(figures.took_s, 500));
    assert_int_equal(figures.messages, 0);
    assert_int_equal(figures.events, 1000);
}

static void a_lookahead_of_one_step_lets_two_chains_go_side_by_side(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 2, 10);
    add_chains(&fixture, 2, 500);
    assert_true(is_about(play_once(&fixture).took_s, 500));
}

static void ping_pong_gains_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 2, 10);
    add_ping_pong(&fixture, 400);
    const struct perf_engine_figures figures = play_once(&fixture);
    assert_true(is_about(figures.took_s, 400));
    assert_true(is_about(figures.waiting_s, 400));
    assert_int_equal(figures.messages, 399);
}

static void a_message_costs_both_sides(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 2, 10);
    add_ping_pong(&fixture, 400);
    fixture.run.costs.message_s = 1;
    assert_true(is_about(play_once(&fixture).took_s, 400 + 399));
}

static void each_hop_of_a_ping_pong_waits_for_lines(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 2, 10);
    add_ping_pong(&fixture, 400);
    fixture.layout = perf_socket_layout_flat("far", 2, 1);
    /* on its way the promise takes a second, and the worker that reads it waits as long */
    assert_true(is_about(play_once(&fixture).took_s, 400 * 3));
}

static void the_busiest_worker_decides(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 2, CW_TIME_MAX);
    add_chains(&fixture, 4, 100);
    fixture.lp_worker[1] = 0; /* LPs 0, 1 and 2 on worker 0 */
    const struct perf_engine_figures figures = play_once(&fixture);
    assert_true(is_about(figures.took_s, 300));
    assert_true(is_about(figures.imbalance_s, 200));
    assert_true(is_about(figures.waiting_s, 200));
}

static void drains_come_one_after_the_other(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 2, CW_TIME_MAX);
    for (int64_t i = 0; i < 100; i++)
        add(&fixture, i, 0, NEVER, 0);
    for (int64_t i = 0; i < 50; i++)
        add(&fixture, 100 + i, 1, NEVER, 1);
    assert_true(is_about(play_once(&fixture).took_s, 150));
}

static void one_worker_takes_the_events_cost_by_its_factor(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 1, 0);
    add_chains(&fixture, 2, 100);
    fixture.run.costs.event_factor = 1.5;
    const struct perf_engine_figures figures = play_once(&fixture);
    assert_true(is_about(figures.took_s, 300));
    assert_true(is_about(figures.overhead_s, 100));
}

static void without_lookahead_speculation_gains(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 2, 0);
    for (int64_t i = 0; i < 1000; i++) /* two chains whose times never meet */
        add(&fixture, 10 * i + i % 2, i % 2, i < 2 ? NEVER : i - 2, 0);
    const struct perf_engine_figures alone = play(&fixture);
    fixture.run.speculates = true;
    const struct perf_engine_figures ahead = play_once(&fixture);
    assert_true(is_about(alone.took_s, 1000));
    assert_true(ahead.took_s < 700);
    assert_true(ahead.speculated > 400 && ahead.undone == 0);
}

static void what_is_handled_too_early_is_undone(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 2, 0);
    /* Worker 0 computes for long and then sends to LP 1, which has gone ahead meanwhile. */
    for (int64_t i = 0; i < 600; i++)
        add(&fixture, i, 0, NEVER, 0);
    add(&fixture, 1000, 1, 599, 0);
    for (int64_t i = 0; i < 100; i++)
        add(&fixture, 2000 + i, 1, NEVER, 0);
    fixture.run.speculates = true;
    const struct perf_engine_figures figures = play_once(&fixture);
    assert_int_equal(figures.undone, 100);
    assert_true(figures.undone_s > 99);
}

static void the_same_trace_gives_the_same_figures(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 4, 10);
    add_chains(&fixture, 8, 100);
    const struct perf_engine_figures once = play(&fixture), again = play_once(&fixture);
    assert_memory_equal(&once, &again, sizeof once);
}

/* ---- layouts --------------------------------------------------------------------------------- */

static void a_layout_knows_near_and_far_cores(void **state)
{
    (void)state;
    struct perf_socket_layout layout;
    struct cw_error error;
    assert_int_equal(perf_socket_layout_read("2x32", &layout, &error), CW_OK);
    assert_int_equal(layout.sockets, 2);
    assert_int_equal(layout.cores, 32);
    assert_string_equal(layout.name, "2x32");
    assert_true(perf_socket_line_s(&layout, 0, 7) < perf_socket_line_s(&layout, 0, 8));
    assert_true(perf_socket_line_s(&layout, 0, 31) < perf_socket_line_s(&layout, 0, 32));
    assert_true(perf_socket_line_s(&layout, 40, 47) == perf_socket_line_s(&layout, 0, 7));
}

static void other_layouts_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"64", "x", "0x4", "4x0", "2x32x2", "64x64", "", "1x4 "};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct perf_socket_layout layout;
        struct cw_error error;
        assert_int_equal(perf_socket_layout_read(wrong[i], &layout, &error), CW_USAGE);
        assert_non_null(strstr(error.text, "sockets x cores"));
    }
}

/* Two chains, ten events within the lookahead. Turns cost a tenth of an event, short ones a
 * hundredth. */
static struct perf_engine_figures play_narrow(bool takes_short_turns, int64_t lookahead_ps)
{
    struct fixture fixture;
    begin(&fixture, 2, lookahead_ps);
    fixture.run.costs.turn_s = 0.1;
    fixture.run.costs.short_share = 0.1;
    fixture.run.takes_short_turns = takes_short_turns;
    add_chains(&fixture, 2, 1000);
    return play_once(&fixture);
}

static void short_turns_leave_the_upkeep_to_every_128th_event(void **state)
{
    (void)state;
    const struct perf_engine_figures full = play_narrow(false, 100), cut = play_narrow(true, 100);
    assert_int_equal(full.turns_short, 0);
    assert_true(cut.turns_short > (cut.turns - cut.turns_idle) / 2);
    assert_true(cut.turns - cut.turns_short >= 2 * (1000 / 256)); /* batches end short turns late */
    assert_true(cut.took_s < full.took_s);
    assert_true(cut.turns_s < full.turns_s / 2);
    assert_int_equal(cut.events, full.events);
}

static void without_lookahead_no_turn_is_cut_short(void **state)
{
    (void)state;
    assert_int_equal(play_narrow(true, 0).turns_short, 0);
    assert_true(play_narrow(true, 100).turns_short > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_share_the_order_of_many_events_of_the_listener),
        cmocka_unit_test(two_chains_of_their_own_take_half),
        cmocka_unit_test(a_lookahead_of_one_step_lets_two_chains_go_side_by_side),
        cmocka_unit_test(ping_pong_gains_nothing),
        cmocka_unit_test(a_message_costs_both_sides),
        cmocka_unit_test(each_hop_of_a_ping_pong_waits_for_lines),
        cmocka_unit_test(the_busiest_worker_decides),
        cmocka_unit_test(drains_come_one_after_the_other),
        cmocka_unit_test(one_worker_takes_the_events_cost_by_its_factor),
        cmocka_unit_test(without_lookahead_speculation_gains),
        cmocka_unit_test(what_is_handled_too_early_is_undone),
        cmocka_unit_test(the_same_trace_gives_the_same_figures),
        cmocka_unit_test(a_layout_knows_near_and_far_cores),
        cmocka_unit_test(other_layouts_are_refused),
        cmocka_unit_test(short_turns_leave_the_upkeep_to_every_128th_event),
        cmocka_unit_test(without_lookahead_no_turn_is_cut_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
