/*
 * test_record_files.c: the configuration files that the design records print (test/records/) load
 * as they stand, and run as the shipped entries of the same algorithms do. Names that no record has
 * stay refused, with their place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

#define RECORDS "test/records/"

static void each_file_of_the_records_is_legal(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--ccl " RECORDS "ccl-ipcq.yaml", "--ccl " RECORDS "ccl-launcher.yaml",
        "--ccl " RECORDS "ccl-allreduce.yaml", "--ccl " RECORDS "ccl-allreduce-earlier.yaml",
        "--topology " RECORDS "topology-allreduce.yaml"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct run_output output = run_line(0, "check %s", lines[i]);
        run_output_free(&output);
        output = run_line(0, "run --verify-data %s", lines[i]);
        assert_non_null(strstr(output.out, "# Wrong values      : 0 OK"));
        run_output_free(&output);
    }
}

/* A record's file and our own words for the same machine. */
static void compare_runs(const char *theirs, const char *ours)
{
    json_t *const a = run_json("run %s", theirs);
    json_t *const b = run_json("run %s", ours);
    const json_t *const x = json_array_get(json_object_get(a, "results"), 0);
    const json_t *const y = json_array_get(json_object_get(b, "results"), 0);
    assert_int_equal(json_ps(a, "time_ns"), json_ps(b, "time_ns"));
    assert_string_equal(json_string_value(json_object_get(x, "data_hash")),
                        json_string_value(json_object_get(y, "data_hash")));
    json_decref(a);
    json_decref(b);
}

static void they_run_as_our_own_words_do(void **state)
{
    (void)state;
    compare_runs("--ccl " RECORDS "ccl-ipcq.yaml", "--algorithm ring_allreduce --n-elem 8");
    compare_runs("--ccl " RECORDS "ccl-allreduce.yaml --topology " RECORDS
                 "topology-allreduce.yaml",
                 "--set system.sips.count=2 --set system.sips.topology=ring_1d --n-elem 8");
    compare_runs("--ccl " RECORDS "ccl-allreduce-earlier.yaml", "--algorithm intercube_allreduce");
}

static void a_placeholder_that_is_not_read_is_told(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "run --ccl " RECORDS "ccl-allreduce.yaml");
    assert_non_null(strstr(output.err, "cubewarp: note: " RECORDS "ccl-allreduce.yaml:12:16: "
                                       "root_cube is a placeholder that is not read, and the root "
                                       "is `root: center`; `root: 3,3` makes cube 15 the root\n"));
    run_output_free(&output);
    output = run_line(0, "run");
    assert_null(strstr(output.err, "root_cube"));
    run_output_free(&output);
    output = run_line(2, "check --ccl " RECORDS "ccl-allreduce.yaml --set sip.cube_mesh.w=3");
    assert_non_null(strstr(output.err, "ccl-allreduce.yaml:12:16: root_cube: 15, where a SIP has 3 "
                                       "x 4 cubes; legal: 0 to 11\n"));
    run_output_free(&output);
}

static void write_entry(const char *path, const char *module, const char *key)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "algorithms:\n  ring_allreduce:\n    module: %s\n    %s: 15\n", module, key);
    assert_int_equal(fclose(file), 0);
}

static void names_of_no_record_stay_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/cubewarp-records-XXXXXX";
    assert_true(mkstemp(path) >= 0);
    write_entry(path, "kernbench.ccl.algorithms.ring_allreduce", "root_cubes");
    struct run_output output = run_line(2, "check --ccl %s", path);
    assert_non_null(strstr(output.err, ":4:5: unknown key 'root_cubes' in algorithms."
                                       "ring_allreduce; did you mean 'root_cube'? "));
    run_output_free(&output);
    write_entry(path, "mine.algorithms.ring_allreduce", "n_slots");
    output = run_line(2, "check --ccl %s", path);
    assert_non_null(strstr(output.err, ":3:13: algorithms.ring_allreduce.module: expected "));
    run_output_free(&output);
    write_entry(path, "kernbench.ccl.algorithms.star_allreduce", "n_slots");
    output = run_line(2, "check --algorithm ring_allreduce --ccl %s", path);
    assert_non_null(strstr(output.err,
                           "algorithm module kernbench.ccl.algorithms.star_allreduce is "
                           "not part of this "));
    run_output_free(&output);
    assert_int_equal(remove(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_of_the_records_is_legal),
        cmocka_unit_test(they_run_as_our_own_words_do),
        cmocka_unit_test(a_placeholder_that_is_not_read_is_told),
        cmocka_unit_test(names_of_no_record_stay_refused),
    };
    return cmocka_run_group_tests_name("files of the records", tests, NULL, NULL);
}
