/*
 * test_reference.c: the figures of test/reference/cases.json, which an independent implementation
 * of the specification gives: times to the picosecond, tensors to the bit.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

static const char *arg_at(const json_t *args, size_t i)
{
    return json_string_value(json_array_get(args, i));
}

static void check_number(const char *line, const char *key, const json_t *got, double expected)
{
    if (!json_is_number(got) || llround(json_number_value(got) * 1000) != llround(expected * 1000))
        fail_msg("%s: %s is %.3f, expected %.3f", line, key, json_number_value(got), expected);
}

static void check_case(const json_t *args, const json_t *expect)
{
    const char *argv[64];
    char line[1024] = "";
    size_t count = 0;
    for (; count < json_array_size(args); count++) {
        assert_true(count < 56);
        argv[count] = arg_at(args, count);
        strncat(line, argv[count], sizeof line - strlen(line) - 2);
        strcat(line, " ");
    }
    argv[count++] = "--json";
    argv[count++] = "-";
    const bool verified = json_object_get(expect, "data_hash") != NULL;
    if (verified)
        argv[count++] = "--verify-data";
    argv[count] = NULL;
    struct run_output output = run_cubewarp(argv);
    if (output.exit_code != 0)
        fail_msg("%s: exit code %d\n%s", line, output.exit_code, output.err);
    json_t *root = json_loads(output.out, 0, NULL);
    const json_t *result = json_array_get(json_object_get(root, "results"), 0);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)expect, key, value)
    {
        const json_t *got = json_object_get(strcmp(key, "init_time_ns") == 0 ? root : result, key);
        if (json_is_string(value))
            assert_string_equal(json_string_value(got), json_string_value(value));
        else
            check_number(line, key, got, json_number_value(value));
    }
    if (verified)
        assert_int_equal(json_integer_value(json_object_get(result, "wrong")), 0);
    json_decref(root);
    run_output_free(&output);
}

static void every_reference_case_agrees(void **state)
{
    (void)state;
    json_error_t error;
    json_t *cases = json_load_file("test/reference/cases.json", 0, &error);
    if (cases == NULL)
        fail_msg("test/reference/cases.json:%d: %s", error.line, error.text);
    size_t checked = 0;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *args = json_object_get(json_array_get(cases, i), "args");
        check_case(args, json_object_get(json_array_get(cases, i), "expect"));
        checked++;
    }
    json_decref(cases);
    assert_true(checked >= 22);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_reference_case_agrees)};
    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
