/*
 * test_perf_statistics.c: medians, spreads and the rule for slower cases (perf/statistics.h);
 * the summary of a case's rounds (perf/perf_run.h); the rule for a disturbance.
 */
#include "test/support/test_perf_support.h"

static bool near_to(double a, double b) { return a - b < 1e-9 && b - a < 1e-9; }

static void a_median_is_the_middle_figure_or_between_the_two_middle_ones(void **state)
{
    (void)state;
    assert_true(near_to(perf_median((const double[]){9, 1, 5}, 3), 5));
    assert_true(near_to(perf_median((const double[]){9, 1, 5, 2}, 4), 3.5));
    assert_true(near_to(perf_median((const double[]){7}, 1), 7));
    assert_true(near_to(perf_median(NULL, 0), 0));
}

static void a_spread_is_worked_out_by_hand(void **state)
{
    (void)state;
    /* sorted 1 2 4 8 10: quartiles at places 1 and 3; distances from 4: 3 2 0 4 6, sorted
     * 0 2 3 4 6; mean 5, squares 16 + 9 + 1 + 9 + 25 = 60, over 4: 15 */
    const struct perf_spread spread = perf_spread_of((const double[]){8, 1, 4, 10, 2}, 5);
    assert_int_equal(spread.count, 5);
    assert_true(near_to(spread.median, 4));
    assert_true(near_to(spread.least, 1));
    assert_true(near_to(spread.most, 10));
    assert_true(near_to(spread.first_quartile, 2));
    assert_true(near_to(spread.third_quartile, 8));
    assert_true(near_to(spread.mad, 3));
    assert_true(near_to(spread.mean, 5));
    assert_true(near_to(spread.stddev * spread.stddev, 15));
    /* of four, quartiles lie a quarter of the way between: places 0.75 and 2.25 of 1 2 3 4 */
    const struct perf_spread four = perf_spread_of((const double[]){4, 3, 2, 1}, 4);
    assert_true(near_to(four.first_quartile, 1.75));
    assert_true(near_to(four.third_quartile, 3.25));
}

static int is_lower(const double *before, const double *after)
{
    const struct perf_spread b = perf_spread_of(before, 5), a = perf_spread_of(after, 5);
    return perf_is_lower(&b, &a, 0);
}

static void slower_is_what_is_beyond_three_per_cent_and_the_noise_of_both(void **state)
{
    (void)state;
    const double calm[] = {100, 101, 99, 100, 100};
    assert_false(is_lower(calm, calm));
    /* 2 % less is within the least loss that counts, however calm both were */
    assert_false(is_lower(calm, (const double[]){98, 98, 98, 98, 98}));
    assert_true(is_lower(calm, (const double[]){96, 96, 96, 96, 96}));
    assert_false(is_lower((const double[]){96, 96, 96, 96, 96}, calm));
    /* 10 % less, but MADs of 2 each: 3 x 4 % is more */
    assert_false(
        is_lower((const double[]){96, 98, 100, 102, 104}, (const double[]){86, 88, 90, 92, 94}));
    assert_true(
        is_lower((const double[]){96, 98, 100, 102, 104}, (const double[]){76, 78, 80, 82, 84}));
    /* 4 % less, where the machine itself may be 2 % slower */
    const struct perf_spread b = perf_spread_of(calm, 5);
    const struct perf_spread a = perf_spread_of((const double[]){96, 96, 96, 96, 96}, 5);
    assert_false(perf_is_lower(&b, &a, 0.02));
    assert_true(perf_is_lower(&b, &a, 0.005));
    /* one slow round of five changes neither median nor MAD */
    assert_false(is_lower(calm, (const double[]){50, 101, 99, 100, 100}));
    /* medians far apart, MADs of 0, but a quarter of the later rounds as fast as ever */
    assert_false(
        is_lower((const double[]){100, 100, 100, 80, 80}, (const double[]){85, 85, 85, 100, 100}));
}

static void disturbed_rounds_are_left_out_while_the_others_are_more_than_half(void **state)
{
    (void)state;
    struct perf_run run = made_up_run();
    struct perf_case_run *const measured = perf_run_add(&run, "m/adaptive/2", "phold", 2);
    add_round(measured, 10, &near_line, false);
    add_round(measured, 1, &near_line, true);
    add_round(measured, 12, &near_line, false);
    struct perf_summary summary = perf_summary_of(measured, PERF_MIXED);
    assert_true(near_to(summary.events_per_s.median, 11e6));
    assert_int_equal(summary.disturbed, 1);
    assert_int_equal(summary.repeats, 2);
    assert_int_equal(summary.rounds, 3);
    assert_int_equal(summary.state, PERF_NEAR);
    add_round(measured, 2, &near_line, true); /* half: all count */
    summary = perf_summary_of(measured, PERF_MIXED);
    assert_true(near_to(summary.events_per_s.median, 6e6));
    perf_run_free(&run);
}

static void rounds_in_one_state_are_summed_up_by_themselves(void **state)
{
    (void)state;
    struct perf_run run = made_up_run();
    struct perf_case_run *const measured = perf_run_add(&run, "m/adaptive/2", "phold", 2);
    add_round(measured, 10, &near_line, false);
    add_round(measured, 6, &far_line, false);
    add_round(measured, 12, &near_line, false);
    assert_int_equal(perf_summary_of(measured, PERF_MIXED).state, PERF_MIXED);
    assert_true(near_to(perf_summary_of(measured, PERF_NEAR).events_per_s.median, 11e6));
    assert_true(near_to(perf_summary_of(measured, PERF_FAR).events_per_s.median, 6e6));
    assert_int_equal(perf_summary_of(measured, PERF_FAR).rounds, 1);
    perf_run_free(&run);
}

static void ratios_are_taken_round_by_round_and_scaled_by_what_two_loops_gain(void **state)
{
    (void)state;
    struct perf_run run = made_up_run();
    /* pointers to cases do not outlive the next one */
    struct perf_case_run *measured = perf_run_add(&run, "m/sequential/1", "phold", 1);
    add_round(measured, 10, &near_line, false);
    add_round(measured, 20, &near_line, false);
    add_round(measured, 40, &near_line, false);
    measured = perf_run_add(&run, "m/adaptive/2", "phold", 2);
    const struct perf_calibration busy = {1.0, 1.6, 45.0};
    add_round(measured, 15, &busy, false);
    add_round(measured, 32, &busy, false);
    add_round(measured, 68, &busy, false);
    /* 1.5, 1.6, 1.7; times 2 / 1.6 */
    const struct perf_spread raw = perf_ratio_of(&run.cases[1], &run.cases[0], false, PERF_MIXED);
    const struct perf_spread scaled = perf_ratio_of(&run.cases[1], &run.cases[0], true, PERF_MIXED);
    assert_true(near_to(raw.median, 1.6));
    assert_true(near_to(scaled.median, 2.0));
    assert_int_equal(raw.count, 3);
    /* nothing to scale on one thread */
    assert_true(near_to(perf_ratio_of(&run.cases[0], &run.cases[0], true, PERF_MIXED).median, 1.0));
    assert_int_equal(perf_ratio_of(&run.cases[1], &run.cases[0], true, PERF_FAR).count, 0);
    perf_run_free(&run);
}

static void a_disturbance_is_another_state_or_a_figure_that_moved_by_a_twelfth(void **state)
{
    (void)state;
    const struct perf_calibration calm = {1.0, 2.0, 45.0};
    assert_null(perf_disturbance(&calm, &(struct perf_calibration){1.05, 1.9, 90.0}));
    assert_non_null(perf_disturbance(&calm, &(struct perf_calibration){1.0, 2.0, 205.0}));
    assert_non_null(perf_disturbance(&calm, &(struct perf_calibration){1.0, 1.8, 45.0}));
    assert_non_null(perf_disturbance(&(struct perf_calibration){1.0, 1.8, 45.0}, &calm));
    assert_non_null(perf_disturbance(&calm, &(struct perf_calibration){1.1, 2.0, 45.0}));
}

static void a_calibration_gives_figures_that_can_be(void **state)
{
    (void)state;
    struct perf_calibration calibration;
    struct cw_error error;
    assert_int_equal(perf_calibrate(&calibration, &error), CW_OK);
    assert_true(calibration.loop_ns > 0);
    assert_true(calibration.gain > 0);
    assert_int_equal(perf_state_of(&calibration) == PERF_ONE_CORE, perf_cores() == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_median_is_the_middle_figure_or_between_the_two_middle_ones),
        cmocka_unit_test(a_spread_is_worked_out_by_hand),
        cmocka_unit_test(slower_is_what_is_beyond_three_per_cent_and_the_noise_of_both),
        cmocka_unit_test(disturbed_rounds_are_left_out_while_the_others_are_more_than_half),
        cmocka_unit_test(rounds_in_one_state_are_summed_up_by_themselves),
        cmocka_unit_test(ratios_are_taken_round_by_round_and_scaled_by_what_two_loops_gain),
        cmocka_unit_test(a_disturbance_is_another_state_or_a_figure_that_moved_by_a_twelfth),
        cmocka_unit_test(a_calibration_gives_figures_that_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
