/*
 * test_sample.c: --verify-data sample (COMMANDS.md, "Verification"): some ranks' results, by the
 * steps of their schedule, of folded machines of any size; what it refuses; and schedules of a
 * shared object that are wrong at one rank, and at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/built_plugin.h"
#include "test/support/run_cubewarp.h"

BUILT_PLUGIN("wrong_schedule")

#define TORUS_1024 "--preset pod1024 --algorithm torus_rs_ag --set algorithms.torus_rs_ag.orders=1"
#define TORUS_OF_A_MILLION                                                                         \
    "--preset pod1024 --set system.sips.w=1024 --set system.sips.h=1024 --set "                    \
    "system.sips.count=1048576"

static void expect_text(int code, const char *line, const char *const *expected)
{
    struct run_output output = run_line(code, "%s", line);
    for (size_t i = 0; expected[i] != NULL; i++)
        if (strstr(output.out, expected[i]) == NULL && strstr(output.err, expected[i]) == NULL)
            fail_msg("%s: no '%s' in: %s%s", line, expected[i], output.out, output.err);
    run_output_free(&output);
}

static void some_ranks_of_a_folded_machine_are_verified(void **state)
{
    (void)state;
    expect_text(
        0, "run " TORUS_1024 " --bytes 64KiB --verify-data sample --fold on",
        (const char *const[]){
            "verified: 4 of 1,024 ranks (0, 341, 682, 1,023), by the steps of the schedule",
            "16,384 of their elements computed, within a bound of the error that holds for any "
            "order of additions",
            "Wrong values      : 0 OK", "simulated: 1 of 1,024 SIPs (by comparison)", NULL});
    expect_text(0,
                "run --bench ccl_reduce_scatter --preset pod64 --algorithm torus_reduce_scatter "
                "--bytes 64KiB --verify-data=sample=2 --input integers",
                (const char *const[]){"verified: 2 of 64 ranks (0, 63)",
                                      "16 of their elements computed, bit for bit: the inputs are",
                                      NULL});
    expect_text(0,
                "run --bench ccl_all_to_all --preset pod64 --algorithm pairwise_all_to_all "
                "--bytes 64KiB --verify-data sample=100",
                (const char *const[]){
                    "verified: 64 of 64 ranks (0, 1, 2, 3, 4, 5, 6, ... 63)",
                    "8,192 of their elements computed, bit for bit: the values are moved", NULL});
}

/* As many of its chunks as take some seconds to follow. */
static void a_million_ranks_are_sampled(void **state)
{
    (void)state;
    expect_text(
        0,
        "run --algorithm torus_rs_ag " TORUS_OF_A_MILLION
        " --bytes-per-rank 8MiB --verify-data sample=3",
        (const char *const[]){"verified: 3 of 1,048,576 ranks (0, 524,287, 1,048,575), 2 of ",
                              "6 of their elements computed" /* chunks of one */,
                              "simulated: 1 of 1,048,576 SIPs (by proof)", NULL});
}

static void json_says_what_was_sampled(void **state)
{
    (void)state;
    json_t *const result = run_json("run --preset pod64 --algorithm torus_rs_ag --bytes 64KiB "
                                    "--verify-data sample");
    const json_t *const row = json_array_get(json_object_get(result, "results"), 0);
    const json_t *const sampled = json_object_get(row, "sampled");
    assert_string_equal(json_string_value(json_object_get(row, "proof")), "sample");
    assert_int_equal(json_integer_value(json_object_get(row, "wrong")), 0);
    assert_true(json_is_null(json_object_get(row, "data_hash")));
    assert_int_equal(json_integer_value(json_object_get(sampled, "ranks")), 4);
    assert_int_equal(json_integer_value(json_object_get(sampled, "of_ranks")), 64);
    const json_t *const which = json_object_get(sampled, "which");
    static const int64_t ranks[] = {0, 21, 42, 63}; /* the first, the last, evenly spread */
    assert_int_equal(json_array_size(which), 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(json_integer_value(json_array_get(which, i)), ranks[i]);
    /* Four parts, of as many chunks as there are ranks. */
    assert_int_equal(json_integer_value(json_object_get(sampled, "of_chunks")), 256);
    assert_int_equal(json_integer_value(json_object_get(sampled, "chunks")), 256);
    /* The first and the last of each chunk of 128. */
    assert_int_equal(json_integer_value(json_object_get(sampled, "elements")), 4 * 256 * 2);
    assert_string_equal(json_string_value(json_object_get(sampled, "elements_proof")),
                        "error_bound");
    assert_true(json_is_null(json_object_get(sampled, "fault")));
    json_decref(result);
}

static void what_has_no_steps_is_refused(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"run --algorithm lrab_hierarchical_allreduce --verify-data sample",
         "lrab_hierarchical_allreduce is a kernel of its own, whose values only a run with tensor "
         "data gives; legal are ccl_allreduce"},
        {"run --bench gemm --verify-data sample", "--verify-data sample: gemm has no steps"},
        {"run --bench ccl_broadcast --verify-data sample", "--verify-data sample: ccl_broadcast"},
        {"run --verify-data sample --op-log log", "the run has no tensor data, and --op-log needs"},
        {"run --verify-data sample=0", "expected a whole number from 1 to 65536"},
        {"run --verify-data=some", "--verify-data 'some': expected sample, or sample=K"},
        {"run --verify-data some", "unexpected argument 'some'"},
        {"run --fold on --verify-data",
         "--fold on: each rank has values of its own: give --no-data, or --verify-data sample"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_text(2, lines[i][0], (const char *const[]){lines[i][1], NULL});
}

/* ---- wrong schedules ------------------------------------------------------------------------- */

#define GATHER                                                                                     \
    "--bench ccl_all_gather --set system.sips.count=16 --set system.sips.topology=ring_1d "        \
    "--bytes 4KiB"

/* Rank 6 has rank 5's block twice, and so have all after it; of 16 ranks all but rank 5. */
static void a_wrong_source_is_found(void **state)
{
    (void)state;
    char line[300];
    snprintf(line, sizeof line, "run " GATHER " --verify-data sample --ccl %s",
             built_plugin_name_symbol(&plugin, "right", "none"));
    expect_text(0, line, (const char *const[]){"verified: 4 of 16 ranks (0, 5, 10, 15)", NULL});
    snprintf(line, sizeof line, "run " GATHER " --verify-data sample --ccl %s",
             built_plugin_name_symbol(&plugin, "rank_5_is_wrong", "none"));
    expect_text(1, line,
                (const char *const[]){
                    "NOT verified: 4 of 16 ranks (0, 5, 10, 15)",
                    "rank 0: o[4] has chunk 0 of rank 4 not at all, chunk 0 of rank 5 once",
                    "elements of the sampled ranks are not what the collective demands", NULL});
    snprintf(line, sizeof line, "run " GATHER " --verify-data sample --fold on --ccl %s",
             built_plugin_name_symbol(&plugin, "all_are_wrong", "none"));
    expect_text(
        1, line,
        (const char *const[]){"NOT verified: 4 of 16 ranks", "simulated: 1 of 16 SIPs", NULL});
}

/* ---- studies --------------------------------------------------------------------------------- */

static void a_study_has_it_as_a_key(void **state)
{
    (void)state;
    char study[120], db[120], line[300];
    snprintf(study, sizeof study, "%s/sample.yaml", plugin.folder);
    snprintf(db, sizeof db, "%s/sample.sqlite", plugin.folder);
    FILE *const file = fopen(study, "w");
    assert_non_null(file);
    fputs("study: sample\nbase: {preset: pod64, algorithm: torus_rs_ag, bytes: 64KiB}\n"
          "axes: {verify-data: [sample, sample=9, true, false]}\n",
          file);
    assert_int_equal(fclose(file), 0);
    struct run_output swept = run_line(0, "sweep --quiet %s --db %s", study, db);
    run_output_free(&swept);
    snprintf(line, sizeof line, "report %s --csv -", db);
    expect_text(0, line,
                (const char *const[]){"verify-data=sample,done", "verify-data=sample=9,done",
                                      "verify-data=true,done", "verify-data=false,done", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_ranks_of_a_folded_machine_are_verified),
        cmocka_unit_test(a_million_ranks_are_sampled),
        cmocka_unit_test(json_says_what_was_sampled),
        cmocka_unit_test(what_has_no_steps_is_refused),
        cmocka_unit_test(a_wrong_source_is_found),
        cmocka_unit_test(a_study_has_it_as_a_key),
    };
    return cmocka_run_group_tests(tests, build, clean);
}
