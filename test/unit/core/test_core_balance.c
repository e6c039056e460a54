/*
 * test_core_balance.c: which parts are to go where, and whether a move was worth it
 * (core/run/balance.h), by made-up measurements.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/run/balance.h"
#include "core/cw.h"

enum { PARTS = 8, WORKERS = 4 };

/* ---- the draft ------------------------------------------------------------------------------- */

static double even_out(const double *part_work, uint32_t workers, uint32_t *part_worker)
{
    double load[WORKERS];
    const struct draft draft = {
        .part_count = PARTS, .worker_count = workers, .part_work = part_work, .load = load};
    return draft_even_out(&draft, part_worker);
}

static void parts_go_to_the_idle_worker_until_both_have_as_much(void **state)
{
    (void)state;
    const double work[PARTS] = {3, 3, 3, 3, 1, 1, 1, 1};
    uint32_t worker[PARTS] = {0, 0, 0, 0, 1, 1, 1, 1};
    const uint32_t expected[PARTS] = {0, 0, 0, 1, 1, 1, 1, 1};
    const double off = even_out(work, 2, worker);
    assert_memory_equal(worker, expected, sizeof expected); /* the part next to the other's */
    assert_true(off > 0.24 && off < 0.26);
}

static void parts_go_the_other_way_as_well(void **state)
{
    (void)state;
    const double work[PARTS] = {1, 1, 1, 1, 3, 3, 3, 3};
    uint32_t worker[PARTS] = {0, 0, 0, 0, 1, 1, 1, 1};
    const uint32_t expected[PARTS] = {0, 0, 0, 0, 0, 1, 1, 1};
    (void)even_out(work, 2, worker);
    assert_memory_equal(worker, expected, sizeof expected);
}

static void workers_that_are_even_keep_their_parts(void **state)
{
    (void)state;
    const double work[PARTS] = {2, 2, 2, 2, 2, 2, 2, 2};
    uint32_t worker[PARTS] = {0, 0, 0, 0, 1, 1, 1, 1};
    const uint32_t expected[PARTS] = {0, 0, 0, 0, 1, 1, 1, 1};
    assert_true(even_out(work, 2, worker) == 0);
    assert_memory_equal(worker, expected, sizeof expected);
}

static void a_part_too_large_to_help_stays(void **state)
{
    (void)state;
    const double work[PARTS] = {0, 0, 0, 10, 1, 0, 0, 0};
    uint32_t worker[PARTS] = {0, 0, 0, 0, 1, 1, 1, 1};
    assert_true(even_out(work, 2, worker) == 0);
    assert_int_equal(worker[3], 0);
}

static void one_worker_gives_to_several(void **state)
{
    (void)state;
    const double work[PARTS] = {1, 1, 1, 1, 1, 1, 1, 1};
    uint32_t worker[PARTS] = {0}, parts[WORKERS] = {0};
    const double off = even_out(work, WORKERS, worker);
    for (uint32_t i = 0; i < PARTS; i++)
        parts[worker[i]]++;
    for (uint32_t i = 0; i < WORKERS; i++)
        assert_in_range(parts[i], 1, 3);
    assert_true(off > 0.6);
}

static void loads_come_with_the_largest_and_the_mean(void **state)
{
    (void)state;
    const double work[PARTS] = {1, 2, 3, 4, 5, 6, 7, 8};
    const uint32_t worker[PARTS] = {0, 0, 2, 2, 2, 1, 0, 0};
    double load[WORKERS], mean;
    const struct draft draft = {
        .part_count = PARTS, .worker_count = WORKERS, .part_work = work, .load = load};
    assert_true(draft_loads(&draft, worker, &mean) == 1 + 2 + 7 + 8);
    assert_true(load[0] == 18 && load[1] == 6 && load[2] == 3 + 4 + 5 && load[3] == 0);
    assert_true(mean == 36.0 / WORKERS);
}

static void less_work_is_worth_less_time(void **state)
{
    (void)state;
    const struct draft_cost cost = {
        .busy = 0.9, .off = 0.4, .before_ps = 100, .after_ps = 100, .moved = 1000};
    const double gain = draft_gain(&cost);
    assert_true(gain > 0.35 && gain < 0.37);
}

/* Three SIPs on two workers: whole SIPs are 52.1 ns apart, cubes 4.02 ns. */
static void a_cut_that_shrinks_the_lookahead_does_not_pay(void **state)
{
    (void)state;
    struct draft_cost cost = {.busy = 1, .off = 0.25, .before_ps = 52100, .after_ps = 4020};
    assert_true(draft_gain(&cost) <= 0);
    cost.after_ps = 52100;
    assert_true(draft_gain(&cost) > 0.15);
    cost.after_ps = 40000; /* a little less may pay */
    assert_true(draft_gain(&cost) > 0.1);
    cost.after_ps = 0;
    assert_true(draft_gain(&cost) <= 0);
    cost = (struct draft_cost){.busy = 1, .off = 0.5, .before_ps = CW_TIME_MAX, .after_ps = 52100};
    assert_true(draft_gain(&cost) <= 0); /* workers that did not have to look at each other */
}

static void too_many_events_to_move_do_not_pay(void **state)
{
    (void)state;
    struct draft_cost cost = {.busy = 1, .off = 0.2, .moved = 100000};
    assert_true(draft_gain(&cost) > 0);
    cost.moved = 10000000;
    assert_true(draft_gain(&cost) <= 0);
}

/* ---- the trial ------------------------------------------------------------------------------- */

/* A model on two placements. */
struct run {
    struct trial trial;
    double rate[2]; /* events per second */
    unsigned place;
    double now_s, spent_s[2];
    unsigned moves, returns;
};

static struct run run_begin(double first, double second)
{
    struct run run = {.rate = {first, second}};
    trial_init(&run.trial);
    return run;
}

/* Moves to the second placement whenever that is allowed. */
static void run_on(struct run *run, double seconds)
{
    const double step_s = 0.005, end_s = run->now_s + seconds;
    for (; run->now_s < end_s; run->now_s += step_s) {
        bool ended;
        const enum trial_says says = trial_look(
            &run->trial, step_s, (uint64_t)(step_s * run->rate[run->place]), true, true, &ended);
        run->spent_s[run->place] += step_s;
        if (says == TRIAL_TAKE_BACK || (says == TRIAL_MAY_MOVE && run->place == 0)) {
            run->moves += says == TRIAL_MAY_MOVE;
            run->returns += says == TRIAL_TAKE_BACK;
            run->place = says == TRIAL_MAY_MOVE;
            trial_moved(&run->trial);
        }
    }
}

static void a_move_that_gains_is_kept(void **state)
{
    (void)state;
    struct run run = run_begin(20e6, 30e6);
    run_on(&run, 5);
    assert_int_equal(run.moves, 1);
    assert_int_equal(run.returns, 0);
    assert_true(run.spent_s[0] < 0.1);
}

static void a_move_that_loses_is_taken_back_and_not_tried_soon(void **state)
{
    (void)state;
    struct run run = run_begin(20e6, 18e6);
    run_on(&run, 20);
    assert_int_equal(run.place, 0);
    assert_int_equal(run.moves, run.returns);
    assert_in_range(run.moves, 2, 8);
    /* no more than a fiftieth of the events is lost */
    assert_true(run.spent_s[1] * 0.1 < 20 / 50.);
}

static void a_move_that_gains_nothing_is_taken_back(void **state)
{
    (void)state;
    struct run run = run_begin(20e6, 20.1e6);
    run_on(&run, 0.5);
    assert_int_equal(run.returns, 1);
}

static void a_move_that_loses_much_is_taken_back_at_once(void **state)
{
    (void)state;
    struct run run = run_begin(20e6, 5e6);
    run_on(&run, 20);
    assert_true(run.spent_s[1] < 0.02 * 20);
}

static void disturbed_time_is_in_no_window(void **state)
{
    (void)state;
    struct trial trial;
    bool ended;
    trial_init(&trial);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(trial_look(&trial, 0.005, 1, false, true, &ended), TRIAL_WAITS);
        assert_false(ended);
    }
    assert_true(trial.rate == 0);
}

static void a_move_waits_for_enough_samples(void **state)
{
    (void)state;
    struct trial trial;
    bool ended;
    trial_init(&trial);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(trial_look(&trial, 0.005, 1000, true, false, &ended), TRIAL_WAITS);
    assert_int_equal(trial_look(&trial, 0.005, 1000, true, true, &ended), TRIAL_MAY_MOVE);
    assert_true(ended);
}

/* 30 ms of looks, and 100 ms on trial, which are in no later window. */
static void a_window_begins_behind_the_trial(void **state)
{
    enum { LOOKS_MOST = 100, LOOKS_OF_A_WINDOW = 6 };
    (void)state;
    struct trial trial;
    bool ended = false;
    trial_init(&trial);
    while (trial_look(&trial, 0.005, 1000, true, true, &ended) != TRIAL_MAY_MOVE)
        ;
    trial_moved(&trial);
    ended = false;
    for (unsigned i = 0; i < LOOKS_MOST && !ended; i++) /* twice the rate */
        assert_int_equal(trial_look(&trial, 0.005, 2000, true, true, &ended), TRIAL_WAITS);
    assert_true(ended && !trial.tries);
    for (unsigned i = 1; i < LOOKS_OF_A_WINDOW - 1; i++) {
        (void)trial_look(&trial, 0.005, 2000, true, true, &ended);
        assert_false(ended);
    }
    for (unsigned i = 0; i < 2 && !ended; i++)
        (void)trial_look(&trial, 0.005, 2000, true, true, &ended);
    assert_true(ended);
}

static void a_move_is_asked_back_until_it_is_planned(void **state)
{
    (void)state;
    struct run run = run_begin(20e6, 5e6);
    bool ended;
    while (run.returns == 0) {
        const struct trial before = run.trial;
        run_on(&run, 0.005);
        if (run.returns > 0)
            run.trial = before;
    }
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(trial_look(&run.trial, 0.005, 25000, true, true, &ended), TRIAL_TAKE_BACK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_go_to_the_idle_worker_until_both_have_as_much),
        cmocka_unit_test(parts_go_the_other_way_as_well),
        cmocka_unit_test(workers_that_are_even_keep_their_parts),
        cmocka_unit_test(a_part_too_large_to_help_stays),
        cmocka_unit_test(one_worker_gives_to_several),
        cmocka_unit_test(loads_come_with_the_largest_and_the_mean),
        cmocka_unit_test(less_work_is_worth_less_time),
        cmocka_unit_test(a_cut_that_shrinks_the_lookahead_does_not_pay),
        cmocka_unit_test(too_many_events_to_move_do_not_pay),
        cmocka_unit_test(a_move_that_gains_is_kept),
        cmocka_unit_test(a_move_that_loses_is_taken_back_and_not_tried_soon),
        cmocka_unit_test(a_move_that_gains_nothing_is_taken_back),
        cmocka_unit_test(a_move_that_loses_much_is_taken_back_at_once),
        cmocka_unit_test(disturbed_time_is_in_no_window),
        cmocka_unit_test(a_move_waits_for_enough_samples),
        cmocka_unit_test(a_window_begins_behind_the_trial),
        cmocka_unit_test(a_move_is_asked_back_until_it_is_planned),
    };
    return cmocka_run_group_tests_name("balance", tests, NULL, NULL);
}
