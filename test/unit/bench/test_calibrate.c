/*
 * test_calibrate.c: the parts of `calibrate` without a simulation: the search on functions whose
 * minimum is known, coordinates of keys, errors of rows, what keys move, and the study's fit.
 */
#include "test/support/test_config_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/calibrate/minimum.h"
#include "bench/calibrate/parameters.h"
#include "bench/calibrate/row_errors.h"
#include "bench/calibrate/sensitivity.h"
#include "bench/study/study_line.h"
#include "bench/study/study_read.h"

/* ---- the search ------------------------------------------------------------------------------ */

enum { DIMENSIONS_MOST = 4, UPPER_LIMIT = 1000 };

/* A function of the unit cube with a known minimum. */
struct landscape {
    unsigned dimensions, calls, stop_after; /* 0: never */
    double least[DIMENSIONS_MOST];
    double (*value)(const struct landscape *landscape, const double *x);
};

static double bowl(const struct landscape *landscape, const double *x)
{
    double value = 0;
    for (unsigned i = 0; i < landscape->dimensions; i++)
        value += (i + 1) * (x[i] - landscape->least[i]) * (x[i] - landscape->least[i]);
    return value;
}

/* A bent valley: Rosenbrock's, moved into the unit square, with its minimum at (0.75, 0.75). */
static double valley(const struct landscape *landscape, const double *x)
{
    const double a = 4 * x[0] - 2, b = 4 * x[1] - 2;
    (void)landscape;
    return 100 * (b - a * a) * (b - a * a) + (1 - a) * (1 - a);
}

/* A bowl beside which every point fails. */
static double bowl_with_cliff(const struct landscape *landscape, const double *x)
{
    return x[0] > landscape->least[0] + 0.05 ? UPPER_LIMIT : bowl(landscape, x);
}

/* Two minima; the deeper one is at `least`. */
static double two_bowls(const struct landscape *landscape, const double *x)
{
    const double near = x[0] - 0.1, deep = x[0] - landscape->least[0];
    return fmin(0.01 + near * near, deep * deep);
}

static bool call(void *arg, const double *x, double *value)
{
    struct landscape *const landscape = arg;
    for (unsigned i = 0; i < landscape->dimensions; i++)
        assert_true(x[i] >= 0 && x[i] <= 1);
    if (++landscape->calls == landscape->stop_after)
        return false;
    *value = landscape->value(landscape, x);
    return true;
}

static struct minimum find(struct landscape *landscape, const double *start, unsigned starts)
{
    const struct minimum_setup setup = {.dimensions = landscape->dimensions,
                                        .start = start,
                                        .starts = starts,
                                        .evaluations = 400,
                                        .step = 0.1,
                                        .seed = 7,
                                        .is_checked = true};
    struct nlopt_library library;
    struct minimum minimum;
    struct cw_error error;
    assert_int_equal(nlopt_library_open(&library, &error), CW_OK);
    assert_int_equal(minimum_find(&library, &setup, call, landscape, &minimum, &error), CW_OK);
    nlopt_library_close(&library);
    return minimum;
}

static void finds(struct landscape landscape, const double *start, unsigned starts)
{
    const struct minimum minimum = find(&landscape, start, starts);
    assert_int_equal(minimum.evaluations, landscape.calls);
    assert_true(minimum.is_confirmed);
    assert_false(minimum.is_stopped);
    for (unsigned i = 0; i < landscape.dimensions; i++)
        assert_float_equal(minimum.x[i], landscape.least[i], 5e-4);
}

static void a_known_minimum_is_found(void **state)
{
    static const double middle[] = {0.5, 0.5, 0.5, 0.5}, corner[] = {0, 1, 0, 1};
    (void)state;
    finds((struct landscape){1, .least = {0.3}, .value = bowl}, middle, 1);
    finds((struct landscape){4, .least = {0.3, 0.9, 0.5, 0.1}, .value = bowl}, corner, 1);
    finds((struct landscape){2, .least = {0.5, 0.5}, .value = bowl}, middle, 1); /* at the start */
    finds((struct landscape){2, .least = {0, 1}, .value = bowl}, middle, 1);     /* at the bounds */
}

static void points_that_fail_do_not_mislead_the_search(void **state)
{
    static const double start[] = {0.9, 0.9};
    (void)state;
    finds((struct landscape){2, .least = {0.6, 0.4}, .value = bowl_with_cliff},
          (double[]){0.5, 0.5}, 1);
    finds((struct landscape){2, .least = {0.6, 0.4}, .value = bowl_with_cliff}, start, 8);
}

static void several_starts_leave_a_shallow_minimum(void **state)
{
    static const double start[] = {0.1};
    struct landscape landscape = {1, .least = {0.8}, .value = two_bowls};
    (void)state;
    assert_float_equal(find(&landscape, start, 1).x[0], 0.1, 1e-3);
    finds((struct landscape){1, .least = {0.8}, .value = two_bowls}, start, 10);
}

static void a_seed_gives_one_result(void **state)
{
    static const double start[] = {0.1, 0.1};
    struct landscape first = {2, .value = valley}, second = first;
    (void)state;
    const struct minimum a = find(&first, start, 3), b = find(&second, start, 3);
    assert_memory_equal(a.x, b.x, sizeof(double[2]));
    assert_int_equal(a.evaluations, b.evaluations);
}

static void a_search_that_is_stopped_keeps_its_best_point(void **state)
{
    static const double start[] = {0.5};
    struct landscape landscape = {1, .stop_after = 5, .least = {0.3}, .value = bowl};
    struct landscape at_once = {1, .stop_after = 1, .least = {0.3}, .value = bowl};
    (void)state;
    struct minimum minimum = find(&landscape, start, 3);
    assert_true(minimum.is_stopped);
    assert_false(minimum.is_confirmed);
    assert_int_equal(minimum.evaluations, 4);
    assert_true(minimum.value <= 0.2 * 0.2); /* no worse than its start */
    minimum = find(&at_once, start, 3);
    assert_true(minimum.is_stopped);
    assert_int_equal(minimum.evaluations, 0);
    assert_float_equal(minimum.x[0], 0.5, 0);
}

static void a_bent_valley_is_followed_to_its_end(void **state)
{
    static const double corner[] = {0, 1};
    struct landscape landscape = {2, .value = valley};
    (void)state;
    const struct minimum minimum = find(&landscape, corner, 1);
    assert_float_equal(minimum.x[0], 0.75, 1e-3);
    assert_float_equal(minimum.x[1], 0.75, 1e-3);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void coordinates_go_by_the_logarithm_above_zero(void **state)
{
    const struct parameter rate = {.least = 10, .most = 1000}, time = {.least = 0, .most = 200};
    (void)state;
    assert_float_equal(parameter_value(&rate, 0.5), 100, 1e-9); /* the geometric mean */
    assert_float_equal(parameter_coordinate(&rate, 100), 0.5, 1e-12);
    assert_float_equal(parameter_value(&time, 0.25), 50, 1e-9);
    assert_float_equal(parameter_coordinate(&time, 50), 0.25, 1e-12);
}

static void values_have_six_digits(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{45, "k=45.0000"},
                 {1234567.8, "k=1234568"},
                 {0.0123456789, "k=0.012346"},
                 {333.3333333, "k=333.333"},
                 {0, "k=0"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct parameters parameters = {
            .list = {{.name = "k", .least = 0, .most = 1e7}}, .count = 1, .fitted = 1};
        const struct assignment assignment = {.x = {cases[i].value / 1e7}};
        char text[PARAMETER_TEXT_BYTES];
        assert_string_equal(parameter_text(&parameters, 0, &assignment, text), cases[i].text);
    }
}

/* ---- errors of rows -------------------------------------------------------------------------- */

static void errors_are_those_of_run_measured(void **state)
{
    /* Simulated / measured - 1: 0.1, -0.2, 0.5, 0.25; the fifth is not compared, the last failed.
     */
    struct curve_row rows[6] = {{.measured_ps = 100},
                                {.measured_ps = 100},
                                {.measured_ps = 100},
                                {.measured_ps = 400, .use = ROW_JUDGED},
                                {.measured_ps = 1, .use = ROW_OUT},
                                {.measured_ps = 100}};
    const struct row_answer answers[6] = {{.time_ps = 110}, {.time_ps = 80},  {.time_ps = 150},
                                          {.time_ps = 500}, {.time_ps = 999}, {.exit_code = 3}};
    const struct curves curves = {.rows = rows, .row_count = 6};
    const double l1 = log(1.1), l2 = log(0.8), l3 = log(1.5), l4 = log(1.25);
    (void)state;
    struct row_errors errors = row_errors_of(&curves, answers, 0, 5, ROW_JUDGED);
    assert_int_equal(errors.rows, 4);
    assert_int_equal(errors.failed, 0);
    assert_float_equal(errors.median, (0.2 + 0.25) / 2, 1e-12);
    assert_float_equal(errors.largest, 0.5, 1e-12);
    assert_float_equal(errors.squares, l1 * l1 + l2 * l2 + l3 * l3 + l4 * l4, 1e-12);
    errors = row_errors_of(&curves, answers, 0, 3, ROW_FITTED);
    assert_int_equal(errors.rows, 3);
    assert_float_equal(errors.median, 0.2, 1e-12);
    errors = row_errors_of(&curves, answers, 5, 1, ROW_FITTED);
    assert_int_equal(errors.failed, 1);
    assert_true(isnan(errors.median));
    assert_float_equal(errors.squares, log(1000) * log(1000), 1e-12);
}

/* ---- what keys move -------------------------------------------------------------------------- */

static void keys_that_move_rows_alike_are_not_told_apart(void **state)
{
    /* Rows by keys: the first two move the same rows by 1 and 2, the third another row, the last
     * none. */
    static const double jacobian[4][4] = {{1, 2, 0, 0}, {1, 2, 0, 0}, {0, 0, 1, 0}, {1, 2, 0, 0}};
    struct sensitivity sensitivity;
    (void)state;
    sensitivity_of(jacobian[0], 4, 4, 0.04, &sensitivity);
    assert_float_equal(sensitivity.moves[0], sqrt(3.0 / 4), 1e-12);
    assert_float_equal(sensitivity.moves[1], 2 * sqrt(3.0 / 4), 1e-12);
    assert_float_equal(sensitivity.moves[2], 0.5, 1e-12);
    assert_float_equal(sensitivity.moves[3], 0, 0);
    assert_true(isinf(sensitivity.spread[3]));
    assert_int_equal(sensitivity.confusion_count, 1);
    assert_true(sensitivity.confusions[0].has[0] && sensitivity.confusions[0].has[1]);
    assert_false(sensitivity.confusions[0].has[2] || sensitivity.confusions[0].has[3]);
    assert_float_equal(sensitivity.confusions[0].left, 0, 1e-6);
}

static void the_standard_error_is_that_of_least_squares(void **state)
{
    /* One key that moves five rows by 0.5 % each: variance 0.04 / 4, over the sum 5 * 0.25. */
    static const double jacobian[5] = {0.5, 0.5, 0.5, 0.5, 0.5};
    /* Two keys at right angles: as alone. */
    static const double two[4][2] = {{1, 1}, {1, -1}, {1, 1}, {1, -1}};
    struct sensitivity sensitivity;
    (void)state;
    sensitivity_of(jacobian, 5, 1, 0.04, &sensitivity);
    assert_float_equal(sensitivity.spread[0], 100 * sqrt(0.01 / 1.25), 1e-9);
    assert_int_equal(sensitivity.confusion_count, 0);
    sensitivity_of(two[0], 4, 2, 0.02, &sensitivity);
    assert_float_equal(sensitivity.spread[0], 100 * sqrt(0.01 / 4), 1e-9);
    assert_float_equal(sensitivity.spread[1], 100 * sqrt(0.01 / 4), 1e-9);
    assert_int_equal(sensitivity.confusion_count, 0);
}

/* ---- the study ------------------------------------------------------------------------------- */

static char path[] = "/tmp/test_calibrate.XXXXXX";

static int make_file(void **state)
{
    (void)state;
    const int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static int read_fit(const char *fit, struct study **study, struct config_errors *errors)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "study: s\nbase: {seed: 1}\naxes: {defaults.n_slots: [2, 4]}\nfit:\n  %s\n", fit);
    assert_int_equal(fclose(file), 0);
    return study_read(path, study, errors);
}

static void a_fit_has_bounds_starts_and_lists(void **state)
{
    struct config_errors errors = {0};
    struct study *study;
    (void)state;
    assert_int_equal(read_fit("links.sip_link.bw_gbs: {from: 10, to: 1e2, start: 20.5}\n"
                              "  launch_static_ns:\n"
                              "  defaults.slot_size: [4096, 8192]\n",
                              &study, &errors),
                     CW_OK);
    assert_int_equal(study->fit_count, 3);
    assert_float_equal(study->fits[0].least, 10, 0);
    assert_float_equal(study->fits[0].most, 100, 0);
    assert_float_equal(study->fits[0].start, 20.5, 0);
    assert_true(isnan(study->fits[1].least) && isnan(study->fits[1].start));
    assert_int_equal(study->fits[2].values.count, 2);
    assert_string_equal(study->fits[2].values.list[1].argument, "defaults.slot_size=8192");
    study_free(study);
}

static void errors_of_a_fit_have_place_and_remedy(void **state)
{
    static const struct {
        const char *fit, *error;
    } cases[] = {
        {"links.sip_lin.bw_gbs:", "5:3: unknown option or key 'links.sip_lin.bw_gbs'; did you mean "
                                  "'links.sip_link.bw_gbs'?"},
        {"bytes:", "5:3: bytes is an option; expected a key of the configuration"},
        {"defaults.slot_size: {from: 1, to: 2}", "5:23: defaults.slot_size: not a number with "
                                                 "decimals, so it is not fitted; expected a list "
                                                 "of values to choose from, as in [2, 4, 8]"},
        {"launch_static_ns: 7",
         "5:21: launch_static_ns: expected {from: A, to: B, start: C}, a list "
         "of values, or nothing; found '7'"},
        {"launch_static_ns: {from: 7}",
         "5:21: launch_static_ns: expected both bounds, as in {from: 10, to: 100}; found one"},
        {"launch_static_ns: {from: 7, to: 7}",
         "5:21: launch_static_ns: expected from below to; found 7 and 7"},
        {"launch_static_ns: {from: 1, to: 7, start: 8}",
         "5:21: launch_static_ns: expected a start between its bounds, 1 to 7; found 8"},
        {"launch_static_ns: {form: 1}",
         "5:22: launch_static_ns: unknown key 'form' of a fit; legal are from, to, start"},
        {"launch_static_ns: {from: -1, to: 7}", NULL},
        {"defaults.slot_size: [4096]",
         "5:23: defaults.slot_size: expected a list of two values or more to choose from; found 1"},
        {"defaults.n_slots: [2, 4]",
         "5:3: defaults.n_slots is set by an axis; expected a key that no axis sets"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[400];
        struct config_errors errors = {0};
        struct study *study;
        assert_int_equal(read_fit(cases[i].fit, &study, &errors), CW_USAGE);
        assert_int_equal(errors.count, 1);
        snprintf(expected, sizeof expected, "%s:%s", path, cases[i].error);
        if (cases[i].error != NULL)
            assert_string_equal(errors.list[0].text, expected);
        config_errors_free(&errors);
    }
}

static void a_fit_is_of_no_study_at_equal_cost(void **state)
{
    struct config_errors errors = {0};
    struct study *study;
    char expected[200];
    (void)state;
    assert_int_equal(read_fit("launch_static_ns:\nequal_cost: {budget: 100}", &study, &errors),
                     CW_USAGE);
    snprintf(
        expected, sizeof expected,
        "%s:5:3: fit: beside equal_cost, which sets the bandwidths of each point; expected one "
        "of the two",
        path);
    assert_string_equal(errors.list[0].text, expected);
    config_errors_free(&errors);
}

static void a_line_is_a_study_of_its_tables(void **state)
{
    const char *const tables[] = {path}, *const sets[] = {"launch_static_ns=5"};
    const struct study_line_option options[] = {{"preset", "tiny"}};
    const struct study_line line = {.measured = tables,
                                    .measured_count = 1,
                                    .options = options,
                                    .option_count = 1,
                                    .sets = sets,
                                    .set_count = 1,
                                    .fit = "links.sip_link.bw_gbs,launch_static_ns"};
    struct config_errors errors = {0};
    struct study *study;
    (void)state;
    assert_int_equal(study_of_line(&line, &study, &errors), CW_OK);
    assert_int_equal(study->point_count, 1);
    assert_int_equal(study->fit_count, 2);
    char *const command = study_command(study, 0);
    char expected[200];
    snprintf(expected, sizeof expected,
             "cubewarp run --preset tiny --set launch_static_ns=5 --measured %s", path);
    assert_string_equal(command, expected);
    free(command);
    study_free(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_minimum_is_found),
        cmocka_unit_test(a_bent_valley_is_followed_to_its_end),
        cmocka_unit_test(points_that_fail_do_not_mislead_the_search),
        cmocka_unit_test(several_starts_leave_a_shallow_minimum),
        cmocka_unit_test(a_seed_gives_one_result),
        cmocka_unit_test(a_search_that_is_stopped_keeps_its_best_point),
        cmocka_unit_test(coordinates_go_by_the_logarithm_above_zero),
        cmocka_unit_test(values_have_six_digits),
        cmocka_unit_test(errors_are_those_of_run_measured),
        cmocka_unit_test(keys_that_move_rows_alike_are_not_told_apart),
        cmocka_unit_test(the_standard_error_is_that_of_least_squares),
        cmocka_unit_test(a_fit_has_bounds_starts_and_lists),
        cmocka_unit_test(errors_of_a_fit_have_place_and_remedy),
        cmocka_unit_test(a_fit_is_of_no_study_at_equal_cost),
        cmocka_unit_test(a_line_is_a_study_of_its_tables),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
