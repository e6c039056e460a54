/*
 * test_parameters.c: parameters that an algorithm declares: set in its entry of ccl.yaml, read by
 * its kernel and hooks, printed with their places, part of the digest, and refused where they are
 * none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/built_plugin.h"
#include "test/support/run_cubewarp.h"

BUILT_PLUGIN("parameters")

/* A ccl.yaml with an entry for `symbol` that begins on line 4, and lines of its own from 7 on. */
static const char *ccl_of(const char *symbol, const char *lines)
{
    static char path[100];
    snprintf(path, sizeof path, "%s/own.yaml", plugin.folder);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "defaults:\n  algorithm: mine\nalgorithms:\n  mine:\n    module: %s:%s\n"
            "    topology: ring_1d\n%s",
            plugin.path, symbol, lines);
    assert_int_equal(fclose(file), 0);
    return path;
}

static long long tiles_of(const char *lines, const char *options)
{
    json_t *root = run_json("run --bench ccl_barrier --ccl %s %s", ccl_of("tuned", lines), options);
    const long long tiles =
        json_integer_value(json_object_get(json_object_get(root, "engine"), "ipcq_messages"));
    json_decref(root);
    return tiles;
}

static void a_kernel_reads_its_parameters(void **state)
{
    (void)state;
    assert_int_equal(tiles_of("", ""), 4 * 2); /* the default */
    assert_int_equal(tiles_of("    kernel_depth: 3\n", ""), 4 * 3);
    assert_int_equal(tiles_of("    kernel_depth: 3\n    route: both\n", ""), 4 * 3 * 2);
    assert_int_equal(tiles_of("    kernel_depth: 3\n", "--set algorithms.mine.kernel_depth=5"),
                     4 * 5);
    assert_int_equal(tiles_of("    kernel_depth: 3\n  heir:\n    extends: mine\n    route: both\n",
                              "--algorithm heir"),
                     4 * 3 * 2);
}

static void a_hook_reads_them_too(void **state)
{
    (void)state;
    struct run_output output =
        run_line(2, "run --bench ccl_barrier --ccl %s",
                 ccl_of("tuned", "    kernel_depth: 9\n    limited: true\n"));
    assert_non_null(strstr(output.err, "kernel_depth: 9 is too much where limited; up to 8 is "
                                       "legal"));
    run_output_free(&output);
}

static void neighbors_reads_them_too(void **state)
{
    (void)state;
    static const char *const commands[] = {"check", "run --bench ccl_barrier"};
    for (int i = 0; i < 2; i++) {
        struct run_output output =
            run_line(2, "%s --ccl %s", commands[i], ccl_of("tuned", "    opened: true\n"));
        assert_non_null(strstr(output.err, "I3: direction E of rank 3 leads to rank 0"));
        run_output_free(&output);
    }
    assert_int_equal(tiles_of("    opened: false\n", ""), 4 * 2);
}

static void config_prints_them_with_their_places(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "config --ccl %s", ccl_of("tuned", "    kernel_depth: 12\n    route: both\n"));
    char line[200];
    snprintf(line, sizeof line,
             "\n    kernel_depth: 12                        # %s/own.yaml:7:19\n", plugin.folder);
    assert_non_null(strstr(output.out, line));
    snprintf(line, sizeof line,
             "\n    route: both                             # %s/own.yaml:8:12\n", plugin.folder);
    assert_non_null(strstr(output.out, line));
    assert_non_null(strstr(output.out, "\n    limited: false                          # the "
                                       "algorithm's default\n"));
    run_output_free(&output);
}

static void they_are_part_of_the_digest(void **state)
{
    (void)state;
    static const char *const lines[] = {"", "    kernel_depth: 3\n", "    kernel_depth: 2\n"};
    char digest[3][32];
    for (size_t i = 0; i < 3; i++) {
        json_t *root = run_json("run --bench ccl_barrier --ccl %s", ccl_of("tuned", lines[i]));
        snprintf(digest[i], sizeof digest[i], "%s",
                 json_string_value(json_object_get(root, "config_digest")));
        json_decref(root);
    }
    assert_string_not_equal(digest[0], digest[1]);
    assert_string_equal(digest[0], digest[2]); /* the default, said or not */
}

static void what_is_no_parameter_is_refused_with_what_would_be(void **state)
{
    (void)state;
    static const struct {
        const char *symbol, *lines, *place, *text;
    } cases[] = {
        {"tuned", "    kernel_dept: 3\n", "own.yaml:7:5: ",
         "unknown key 'kernel_dept' in algorithms.mine; did you mean 'kernel_depth'? known here: "},
        {"tuned", "    kernel_depth: 65\n", "own.yaml:7:19: ",
         "algorithms.mine.kernel_depth: expected a whole number from 1 to 64; found '65'"},
        {"tuned", "    kernel_depth: deep\n", "own.yaml:7:19: ", "found 'deep'"},
        {"tuned", "    limited: 1\n", "own.yaml:7:14: ", "expected true or false"},
        {"tuned", "    route: west\n",
         "own.yaml:7:12: ", "algorithms.mine.route: expected one of east, both; found 'west'"},
        {"out_of_range", "", "", "out_of_range: parameter 0, beyond, is declared wrong"},
        {"taken", "",
         "own.yaml:5:13: ", "taken declares a parameter 'n_slots', which is a key of every entry"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_output output = run_line(2, "run --bench ccl_barrier --ccl %s",
                                            ccl_of(cases[i].symbol, cases[i].lines));
        if (strstr(output.err, cases[i].text) == NULL || strstr(output.err, cases[i].place) == NULL)
            fail_msg("%zu: %s", i, output.err);
        run_output_free(&output);
    }
    /* a built-in algorithm has none */
    struct run_output output = run_line(2, "run --set algorithms.ring_allreduce.kernel_depth=3");
    assert_non_null(strstr(output.err, "unknown key 'kernel_depth' in algorithms.ring_allreduce"));
    run_output_free(&output);
}

/* An entry that does not run: its shared object is not loaded, and may not even be there. */
static void entries_that_do_not_run_keep_theirs_unread(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "config --algorithm ring_allreduce --ccl %s",
                 ccl_of("tuned", "    anything: 3\n  gone:\n    module: ./gone.so:gone\n"
                                 "    topology: ring_1d\n    depth: 4\n"));
    assert_non_null(strstr(output.out, "\n    anything: 3 "));
    assert_non_null(strstr(output.out, "\n    depth: 4 "));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_reads_its_parameters),
        cmocka_unit_test(a_hook_reads_them_too),
        cmocka_unit_test(neighbors_reads_them_too),
        cmocka_unit_test(config_prints_them_with_their_places),
        cmocka_unit_test(they_are_part_of_the_digest),
        cmocka_unit_test(what_is_no_parameter_is_refused_with_what_would_be),
        cmocka_unit_test(entries_that_do_not_run_keep_theirs_unread),
    };
    return cmocka_run_group_tests_name("parameters", tests, build, clean);
}
