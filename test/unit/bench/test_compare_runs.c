/*
 * test_compare_runs.c: the forms in which `perf compare` prints two runs of the harness
 * (bench/result/compare_runs.h).
 */
#include "test/support/test_perf_support.h"

#include <jansson.h>

#include "bench/result/compare_runs.h"

/* One case in five calm rounds; the caller frees the run. */
static struct perf_run run_at(const char *name, double millions)
{
    const double rounds[] = {millions, millions, millions, millions, millions};
    struct perf_run run = made_up_run();
    add_case(&run, name, 1, rounds);
    return run;
}

static void print(char *text, size_t bytes, enum comparison_format format,
                  const struct perf_run *before, const struct perf_run *after)
{
    struct perf_comparison comparison;
    struct cw_error error;
    memset(text, 0, bytes);
    FILE *const file = fmemopen(text, bytes, "w");
    assert_non_null(file);
    assert_true(perf_compare(before, after, &comparison));
    assert_int_equal(compare_runs_print(file, format, before, after, &comparison, &error), CW_OK);
    assert_int_equal(fclose(file), 0);
    perf_comparison_free(&comparison);
}

/* 100, then 70 million events per second: 30 % less. */
static void each_form_has_the_case_that_became_slower(void **state)
{
    (void)state;
    static const char *const expected[COMPARISON_FORMATS] = {
        [COMPARISON_TEXT] = " m/sequential/1                    100.00       70.00     -30.0",
        [COMPARISON_MARKDOWN] = "| m/sequential/1 | 100.00 | 70.00 | -30.0 |",
        [COMPARISON_JSON] = "\"name\": \"m/sequential/1\"",
        [COMPARISON_GITHUB] = "::error title=m/sequential/1 SLOWER::100.00, then 70.00 million",
        [COMPARISON_JUNIT] = "<testcase classname=\"perf\" name=\"m/sequential/1\"><failure "
                             "message=\"SLOWER: 100.00, then 70.00",
    };
    static const char *const summaries[COMPARISON_FORMATS] = {
        [COMPARISON_TEXT] = "# slower: 1; compared 1 of 1 cases",
        [COMPARISON_MARKDOWN] = "\nslower: 1; compared 1 of 1 cases",
        [COMPARISON_JSON] = "\"slower\": 1",
        [COMPARISON_GITHUB] = "::notice title=cubewarp perf compare::slower: 1; compared",
        [COMPARISON_JUNIT] = "tests=\"1\" failures=\"1\" skipped=\"0\"",
    };
    char text[8192];
    struct perf_run fast = run_at("m/sequential/1", 100), slow = run_at("m/sequential/1", 70);
    for (enum comparison_format format = 0; format < COMPARISON_FORMATS; format++) {
        print(text, sizeof text, format, &fast, &slow);
        if (strstr(text, expected[format]) == NULL || strstr(text, summaries[format]) == NULL)
            fail_msg("%s: %s", comparison_format_name(format), text);
    }
    perf_run_free(&fast);
    perf_run_free(&slow);
}

static void json_has_null_for_a_figure_that_one_run_lacks(void **state)
{
    (void)state;
    char text[8192];
    struct perf_run before = run_at("a/sequential/1", 100), after = run_at("b/sequential/1", 100);
    print(text, sizeof text, COMPARISON_JSON, &before, &after);
    json_t *const json = json_loads(text, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(json, "schema")),
                        "cubewarp.perf_compare/1");
    const json_t *const cases = json_object_get(json, "cases");
    assert_int_equal(json_array_size(cases), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(cases, 1), "verdict")),
                        "only after");
    assert_true(json_is_null(json_object_get(json_array_get(cases, 1), "events_per_s_after")));
    json_decref(json);
    print(text, sizeof text, COMPARISON_JUNIT, &before, &after);
    assert_non_null(strstr(text, "name=\"b/sequential/1\"><skipped message=\"only after\"/>"));
    perf_run_free(&before);
    perf_run_free(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_has_the_case_that_became_slower),
        cmocka_unit_test(json_has_null_for_a_figure_that_one_run_lacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
