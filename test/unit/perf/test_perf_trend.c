/*
 * test_perf_trend.c: histories that are made up: changes that the search for a change point finds
 * and misses; results that change; a night against several; the forms for CI.
 *
 * The noise of a night, as the harness itself measured it for the median of five rounds: between 1
 * and 2 % for cases on one thread.
 */
#include "test/support/test_perf_support.h"

#include <math.h>

#include "core/cw.h"
#include "perf/perf_compare.h"
#include "perf/perf_history.h"
#include "perf/trend/trend.h"

enum { NIGHTS = 30, HISTORIES = 1000, WEEKS_2 = 14 };
#define NOISE 0.015

/* A number around 0 of variance 1: the sum of twelve uniform ones. */
static double normal(struct cw_rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)cw_rng_below(rng, 1 << 20) / (1 << 20);
    return sum;
}

static void make_up(struct cw_rng *rng, double *figures, size_t steady, size_t count, double loss)
{
    for (size_t i = 0; i < count; i++)
        figures[i] = 1e7 * (1 + NOISE * normal(rng)) *
                     pow(1 - loss, i < steady ? 0 : (double)(i - steady + 1));
}

static void a_steady_series_is_called_changed_once_in_a_hundred(void **state)
{
    (void)state;
    double figures[NIGHTS];
    int alarms = 0;
    for (uint64_t seed = 0; seed < HISTORIES; seed++) {
        struct cw_rng rng = cw_rng_seeded(seed, 1);
        make_up(&rng, figures, NIGHTS, NIGHTS, 0);
        alarms += change_point_of(figures, NIGHTS).at > 0;
    }
    assert_true(alarms <= HISTORIES / 100);
}

/* How many of a hundred histories show a loss of one per cent a night within two weeks. */
static void one_per_cent_a_night_is_found_within_two_weeks(void **state)
{
    (void)state;
    double figures[NIGHTS];
    int found = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct cw_rng rng = cw_rng_seeded(seed, 2);
        const size_t steady = 10;
        make_up(&rng, figures, steady, steady + WEEKS_2, 0.01);
        bool alarm = false;
        for (size_t night = steady + 1; night <= steady + WEEKS_2 && !alarm; night++) {
            const struct change_point change = change_point_of(figures, night);
            alarm = change.at > 0 && change.z < 0;
        }
        found += alarm;
    }
    assert_true(found >= 95);
}

/* The night between two levels, in the middle of both, may belong to either: the distances sum up
 * to the same. The change is said to begin with it. */
static void of_two_places_alike_the_earlier_one_is_named(void **state)
{
    (void)state;
    static const double figures[] = {100, 100, 100, 100, 150, 200, 200, 200, 200};
    const struct change_point change = change_point_of(figures, sizeof figures / sizeof *figures);
    assert_int_equal(change.at, 4);
    assert_true(change.before == 100 && change.after == 200);
}

static void a_step_is_found_where_it_is(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        double figures[NIGHTS];
        struct cw_rng rng = cw_rng_seeded(seed, 3);
        make_up(&rng, figures, NIGHTS, NIGHTS, 0);
        for (size_t i = 17; i < NIGHTS; i++)
            figures[i] *= 1.1;
        const struct change_point change = change_point_of(figures, NIGHTS);
        assert_true(change.at >= 16 && change.at <= 18 && change.z > 0);
        assert_true(fabs(change.after / change.before - 1.1) < 0.04);
    }
    assert_int_equal(change_point_of((const double[]){1, 1, 1, 9, 9, 9, 9}, 7).at, 0);
}

/* A run of that day, all of whose rounds have that speed, and whose results have that digest. */
static struct perf_run a_night(double millions, const char *results)
{
    struct perf_run run = made_up_run();
    const double rounds[] = {millions, millions, millions, millions, millions};
    struct perf_case_run *const measured = add_case(&run, "m/sequential/1", 1, rounds);
    for (size_t i = 0; i < measured->sample_count; i++)
        snprintf(measured->samples[i].results, PERF_RESULTS_BYTES, "%s", results);
    return run;
}

static void fill_history(const char *path, const double *millions, size_t count, size_t changed)
{
    for (size_t i = 0; i < count; i++) {
        struct perf_run run = a_night(millions[i], i < changed ? "0123456789abcdef" : "f");
        int64_t id;
        struct cw_error error;
        assert_int_equal(perf_history_add(path, &run, &id, &error), CW_OK);
        assert_int_equal(id, i + 1);
        perf_run_free(&run);
    }
}

/* The text of a table or a picture; the caller's. */
static char *printed(void (*print)(FILE *, const struct trend *), const struct trend *trend)
{
    char *text = NULL;
    size_t bytes;
    FILE *const file = open_memstream(&text, &bytes);
    assert_non_null(file);
    print(file, trend);
    assert_int_equal(fclose(file), 0);
    return text;
}

static const double losing[] = {100, 101, 99, 100, 102, 98, 100, 101, 90, 91, 89, 90, 91};
enum { LOSING = sizeof losing / sizeof *losing };

static void a_trend_names_the_run_since_which_a_case_is_slower(void **state)
{
    (void)state;
    char path[64];
    struct cw_error error;
    struct trend trend;
    temporary(path, "perf.sqlite");
    fill_history(path, losing, LOSING, LOSING);
    const struct perf_run here = made_up_run();
    assert_int_equal(trend_read(path, &here.machine, NULL, 60, &trend, &error), CW_OK);
    assert_int_equal(trend.run_count, LOSING);
    assert_int_equal(trend.case_count, 1);
    assert_int_equal(trend.ids[trend.cases[0].change_run], 9);
    assert_true(trend_is_slower(&trend, &trend.cases[0]));
    assert_false(trend_has_new_results(&trend, &trend.cases[0]));
    char *const text = printed(trend_print, &trend);
    assert_non_null(strstr(text, "SLOWER by 10."));
    assert_non_null(strstr(text, "since run 9, "));
    assert_non_null(strstr(text, "1 slower, results changed in 0; 1 of 1 cases"));
    free(text);
    trend_free(&trend);
    assert_int_equal(trend_read(path, &here.machine, NULL, 5, &trend, &error), CW_OK);
    assert_int_equal(trend.run_count, 5);
    assert_int_equal(trend.ids[0], 9);
    char *const few = printed(trend_print, &trend);
    assert_non_null(strstr(few, "  too few runs\n"));
    assert_null(strstr(few, "steady"));
    free(few);
    trend_free(&trend);
    remove_temporary(path);
}

static void results_that_change_are_no_loss(void **state)
{
    (void)state;
    static const double steady[] = {100, 101, 99, 100, 102, 98, 100, 101, 100, 100};
    char path[64];
    struct cw_error error;
    struct trend trend;
    temporary(path, "perf.sqlite");
    fill_history(path, steady, 10, 7);
    const struct perf_run here = made_up_run();
    assert_int_equal(trend_read(path, &here.machine, NULL, 60, &trend, &error), CW_OK);
    assert_int_equal(trend.ids[trend.cases[0].results_run], 8);
    assert_true(trend_has_new_results(&trend, &trend.cases[0]));
    assert_false(trend_is_slower(&trend, &trend.cases[0]));
    struct perf_run base;
    assert_true(perf_base_of(trend.runs, 7, &base));
    struct perf_comparison comparison;
    assert_true(perf_compare(&base, &trend.runs[8], &comparison));
    assert_int_equal(comparison.counts.of[PERF_RESULTS_CHANGED], 1);
    assert_int_equal(perf_outcome_of(&comparison.counts), PERF_HAS_OTHER_RESULTS);
    perf_comparison_free(&comparison);
    assert_true(perf_compare(&base, &trend.runs[6], &comparison));
    assert_int_equal(comparison.counts.of[PERF_SAME], 1);
    assert_int_equal(perf_outcome_of(&comparison.counts), PERF_WELL);
    perf_comparison_free(&comparison);
    perf_run_free(&base);
    trend_free(&trend);
    remove_temporary(path);
}

static void several_nights_are_a_base_with_the_noise_between_them(void **state)
{
    (void)state;
    static const double millions[] = {100, 106, 95, 103, 97};
    struct perf_run runs[5], base, same = a_night(96, ""), slower = a_night(70, "");
    for (size_t i = 0; i < 5; i++)
        runs[i] = a_night(millions[i], "");
    assert_true(perf_base_of(runs, 5, &base));
    assert_int_equal(base.cases[0].sample_count, 5);
    assert_int_equal(perf_compare_case(&base.cases[0], &same.cases[0], 0).verdict, PERF_SAME);
    assert_int_equal(perf_compare_case(&base.cases[0], &slower.cases[0], 0).verdict, PERF_SLOWER);
    for (size_t i = 0; i < 5; i++)
        perf_run_free(&runs[i]);
    perf_run_free(&base);
    perf_run_free(&same);
    perf_run_free(&slower);
}

static void too_little_that_can_be_compared_is_told(void **state)
{
    (void)state;
    struct perf_counts counts = {.of = {[PERF_SAME] = 1, [PERF_NOT_COMPARABLE] = 2}, .cases = 3};
    assert_int_equal(perf_outcome_of(&counts), PERF_TOO_FEW);
    counts.of[PERF_SAME]++, counts.cases++;
    assert_int_equal(perf_outcome_of(&counts), PERF_WELL);
    assert_int_equal(perf_outcome_of(&(struct perf_counts){.cases = 0}), PERF_TOO_FEW);
}

/* A curve of zeros alone has a height, too. */
static void a_picture_has_no_figure_that_is_none(void **state)
{
    (void)state;
    struct perf_run *const runs = calloc(2, sizeof *runs);
    int64_t *const ids = calloc(2, sizeof *ids);
    struct trend trend;
    struct cw_error error;
    runs[0] = a_night(0, ""), runs[1] = a_night(0, "");
    assert_int_equal(trend_of_runs(runs, ids, 2, &trend, &error), CW_OK);
    char *const text = printed(trend_print_svg, &trend);
    assert_non_null(strstr(text, "<circle"));
    assert_null(strstr(text, "nan"));
    free(text);
    trend_free(&trend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_series_is_called_changed_once_in_a_hundred),
        cmocka_unit_test(one_per_cent_a_night_is_found_within_two_weeks),
        cmocka_unit_test(a_step_is_found_where_it_is),
        cmocka_unit_test(of_two_places_alike_the_earlier_one_is_named),
        cmocka_unit_test(a_trend_names_the_run_since_which_a_case_is_slower),
        cmocka_unit_test(results_that_change_are_no_loss),
        cmocka_unit_test(several_nights_are_a_base_with_the_noise_between_them),
        cmocka_unit_test(too_little_that_can_be_compared_is_told),
        cmocka_unit_test(a_picture_has_no_figure_that_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
