/*
 * test_workload_check.c: `cubewarp workload check`: tables, JSON and messages of workload files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "test/support/run_cubewarp.h"

static json_t *check_json(const char *line)
{
    struct run_output output = run_line(0, "workload check --json - %s", line);
    json_error_t error;
    json_t *const root = json_loads(output.out, 0, &error);
    if (root == NULL)
        fail_msg("%s", error.text);
    run_output_free(&output);
    return root;
}

static long long whole_at(const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static void test_json_of_one_operation(void **state)
{
    (void)state;
    json_t *const root = check_json("configs/workloads/all_reduce.yaml");
    const json_t *const class = json_array_get(json_object_get(root, "classes"), 0);
    const json_t *const op = json_array_get(json_object_get(class, "operations"), 0);
    assert_int_equal(whole_at(root, "ranks"), 4);
    assert_int_equal(json_array_size(json_object_get(class, "ranks")), 4);
    assert_int_equal(json_array_size(json_object_get(class, "operations")), 1);
    assert_string_equal(json_string_value(json_object_get(op, "kind")), "all_reduce");
    assert_int_equal(whole_at(op, "bytes"), 1 << 20);
    assert_int_equal(whole_at(op, "line"), 5);
    json_decref(root);
}

/* Twice the hidden size: four times the parameters; the layout follows --set, too. */
static void test_settings_change_what_follows(void **state)
{
    (void)state;
    json_t *const root = check_json("--set workload.values.hidden=2048 "
                                    "--set workload.parallel.dp=4 "
                                    "configs/workloads/gpt_small.yaml");
    const json_t *const class = json_array_get(json_object_get(root, "classes"), 0);
    assert_int_equal(whole_at(root, "ranks"), 16);
    assert_int_equal(whole_at(json_object_get(class, "bytes_held"), "gradients"),
                     2LL * 2 * 12 * 2048 * 2048 / 2);
    json_decref(root);
}

static void test_table(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "workload check configs/workloads/gpt_small.yaml");
    assert_non_null(strstr(output.out, "gpt_small: 8 ranks in 2 classes\n"));
    assert_non_null(strstr(output.out, "groups of pp: 4; the first is ranks 0 4\n"));
    assert_non_null(strstr(output.out, "\nstage 1: 4 ranks, 226 operations of each\n"));
    run_output_free(&output);
}

static void test_messages(void **state)
{
    (void)state;
    struct run_output output =
        run_line(2, "workload check --set workload.parallel.tp=3/2 --set workload.valus.a=1 "
                    "configs/workloads/gpt_small.yaml");
    assert_non_null(strstr(output.err, "--set workload.valus.a=1: unknown key 'valus' of "
                                       "workload; did you mean 'values'?"));
    run_output_free(&output);
    output = run_line(2, "workload check --set workload.parallel.tp=3/2 "
                         "configs/workloads/gpt_small.yaml");
    assert_string_equal(output.err, "--set workload.parallel.tp=3/2: 1.5; legal is a whole number "
                                    "from 1 to 1048576\n");
    run_output_free(&output);
    output = run_line(2, "workload check configs/workloads/gpt_smal.yaml");
    assert_non_null(strstr(output.err, "configs/workloads/gpt_smal.yaml:1:1: cannot open"));
    assert_non_null(strstr(output.err, "did you mean"));
    run_output_free(&output);
    output = run_line(2, "workload check");
    assert_non_null(strstr(output.err, "name a workload file"));
    run_output_free(&output);
    output = run_line(2, "workload chek");
    assert_non_null(strstr(output.err, "workload has no part 'chek'; there are new and check"));
    run_output_free(&output);
}

static void test_an_algorithm_that_there_is_not(void **state)
{
    (void)state;
    struct run_output output = run_line(2, "step --no-data --set workload.algorithms.all=nope "
                                           "configs/workloads/all_reduce.yaml");
    assert_non_null(strstr(output.err, "configs/workloads/all_reduce.yaml: 5: no algorithm 'nope' "
                                       "for groups of all"));
    run_output_free(&output);
}

/* What `workload new` writes is read: every model, with the ranks that it was asked for. */
static void test_what_new_writes(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int ranks;
    } cases[] = {{"gpt --layers 4 --tp 2 --pp 2 --dp 2 --global-batch 8 --zero 3", 8},
                 {"gpt --layers 8 --pp 2 --chunks 2 --schedule interleaved --global-batch 4 "
                  "--recompute full --sequence-parallel --tp 2",
                  4},
                 {"moe --layers 2 --dp 4 --ep 2 --global-batch 8", 4},
                 {"inference --layers 2 --tp 2 --pp 2 --tokens 3", 4},
                 {"attention --cp 4", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[64];
        snprintf(path, sizeof path, "/tmp/test_workload_check.%d.yaml", (int)getpid());
        struct run_output output = run_line(0, "workload new %s -o %s", cases[i].line, path);
        run_output_free(&output);
        json_t *const root = check_json(path);
        assert_int_equal(whole_at(root, "ranks"), cases[i].ranks);
        json_decref(root);
        remove(path);
    }
}

/* Rank 0 of 4 gets 4 times the bytes of an even all-to-all: its links take up to 4 times as long,
 * and longer than twice. A factor of 1 is the even one. */
static void test_uneven_blocks_take_longer(void **state)
{
    (void)state;
    static const char *const blocks[] = {"", ", to_first: 1", ", to_first: 4", ", from_first: 4"};
    char path[64];
    long long ps[4];
    snprintf(path, sizeof path, "/tmp/test_workload_check.%d.yaml", (int)getpid());
    for (size_t i = 0; i < 4; i++) {
        FILE *const file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "workload:\n  ranks: 4\n  ops: [{collective: all_to_all, bytes: 4MiB%s}]\n",
                blocks[i]);
        assert_int_equal(fclose(file), 0);
        json_t *const root = run_json("step --no-data %s", path);
        ps[i] = json_ps(root, "time_ns");
        json_decref(root);
    }
    remove(path);
    assert_true(ps[1] == ps[0]);
    for (size_t i = 2; i < 4; i++) {
        assert_true(ps[i] > 2 * ps[0]);
        assert_true(ps[i] < 5 * ps[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_of_one_operation),
        cmocka_unit_test(test_settings_change_what_follows),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_an_algorithm_that_there_is_not),
        cmocka_unit_test(test_what_new_writes),
        cmocka_unit_test(test_uneven_blocks_take_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
