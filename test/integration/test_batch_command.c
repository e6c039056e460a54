/*
 * test_batch_command.c: `cubewarp batch` (COMMANDS.md, "batch"): the same rows in batches of
 * several sizes; whether their bits agree, and its message on the first rows that do not.
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

struct batch_line {
    unsigned rows, calls;
    unsigned long long bytes, hash, different;
    char algorithm[32];
};

/* The lines of the table. Returns how many there are, at most 16. */
static unsigned read_lines(const char *text, struct batch_line lines[16])
{
    unsigned count = 0;
    for (const char *at = text; at != NULL && count < 16; at = strchr(at, '\n')) {
        struct batch_line *const line = &lines[count];
        at += *at == '\n';
        if (sscanf(at, " %u %u %llu %31s %llx %llu", &line->rows, &line->calls, &line->bytes,
                   line->algorithm, &line->hash, &line->different) == 6)
            count++;
    }
    return count;
}

static void the_bits_of_one_algorithm_agree_in_all_batches(void **state)
{
    (void)state;
    static const char *const algorithms[] = {"birs", "mesh", "rhd"};
    struct batch_line lines[16];
    unsigned long long hash[3];
    for (unsigned i = 0; i < 3; i++) {
        struct run_output output = run_line(
            0, "batch --preset a3_16 --dtype bf16 --rows 12 --algorithm %s", algorithms[i]);
        assert_int_equal(read_lines(output.out, lines), 6); /* 1, 2, 3, 4, 6, 12 */
        for (unsigned k = 0; k < 6; k++) {
            assert_int_equal(lines[k].rows * lines[k].calls, 12);
            assert_int_equal(lines[k].bytes, lines[k].rows * 1024ull * 2);
            assert_string_equal(lines[k].algorithm, algorithms[i]);
            assert_true(lines[k].hash == lines[0].hash && lines[k].different == 0);
        }
        assert_non_null(strstr(output.out, "# the bits of all rows agree in batches of 6 sizes\n"));
        hash[i] = lines[0].hash;
        run_output_free(&output);
    }
    assert_true(hash[0] == hash[1]); /* neighbours first */
    assert_true(hash[0] != hash[2]);
}

static void birs_inter_agrees_where_ranks_are_no_power_of_two(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "batch --preset a3_16 --set system.sips.count=24 --algorithm birs_inter "
                    "--dtype bf16 --rows 8");
    assert_non_null(strstr(output.out, "agree in batches of 4 sizes\n"));
    run_output_free(&output);
}

static void a_choice_that_changes_with_the_batch_is_found(void **state)
{
    (void)state;
    struct batch_line lines[16];
    struct run_output output =
        run_line(1, "batch --preset a3_16 --rows 8 --row-elems 131072 --dtype bf16 "
                    "--set defaults.birs_enable=false");
    assert_int_equal(read_lines(output.out, lines), 4);
    assert_string_equal(lines[0].algorithm, "mesh");
    assert_string_equal(lines[3].algorithm, "rhd");
    assert_true(lines[0].hash != lines[3].hash && lines[3].different > 131072);
    assert_non_null(strstr(output.out, "# rows in a batch of 1 (mesh) and of 4 (rhd) differ first "
                                       "in row 0, element "));
    assert_non_null(strstr(output.out, "# the bits depend on the batch: 2 of 4 sizes differ from "
                                       "the first\n"));
    assert_non_null(strstr(output.err, "cubewarp batch: the bits of a row depend on the batch\n"));
    run_output_free(&output);
}

static const char *chosen(const json_t *root)
{
    return json_string_value(
        json_object_get(json_array_get(json_object_get(root, "results"), 0), "algorithm"));
}

/* A schedule is made for each size of a batch, as for a size of a run. */
static void a_schedule_is_chosen_for_each_size_of_a_batch(void **state)
{
    (void)state;
    struct run_output output = run_line(1, "batch --algorithm auto_reduce_scatter --dtype bf16 "
                                           "--rows 16 --row-elems 256");
    json_t *const one = run_json("run --bench ccl_reduce_scatter --algorithm auto_reduce_scatter "
                                 "--dtype bf16 --n-elem 256");
    json_t *const all = run_json("run --bench ccl_reduce_scatter --algorithm auto_reduce_scatter "
                                 "--dtype bf16 --n-elem 4096");
    char text[200];
    snprintf(text, sizeof text, "in a batch of 1 (%s) and of", chosen(one));
    assert_non_null(strstr(output.out, text));
    snprintf(text, sizeof text, "         8192  %s ", chosen(all));
    assert_non_null(strstr(output.out, text));
    assert_string_not_equal(chosen(one), chosen(all));
    json_decref(one);
    json_decref(all);
    run_output_free(&output);
}

/* The configured algorithm does all-reduces; the reduce-scatter that takes its place has room. */
static void without_a_reduce_scatter_in_the_configuration_auto_chooses(void **state)
{
    (void)state;
    struct batch_line lines[16];
    struct run_output output = run_line(0, "batch --set system.sips.count=2 --set "
                                           "sip.cube_mesh.w=1 --set sip.cube_mesh.h=1 --rows 4");
    assert_int_equal(read_lines(output.out, lines), 3);
    assert_string_equal(lines[0].algorithm, "mesh");
    assert_non_null(strstr(output.out, "agree in batches of 3 sizes\n"));
    run_output_free(&output);
}

/* A tree adds every element in one order, wherever it stands; a ring of chunks does not. A ring in
 * which each rank adds for itself gives rank 0's bits in all batches, and other ranks others. */
static void all_reduces_are_compared_in_batches(void **state)
{
    (void)state;
    struct batch_line lines[16];
    struct run_output output =
        run_line(0, "batch --dtype bf16 --rows 6 --algorithm tree_allreduce");
    assert_int_equal(read_lines(output.out, lines), 4); /* 1, 2, 3, 6 */
    for (unsigned k = 0; k < 4; k++) {
        assert_int_equal(lines[k].bytes, lines[k].rows * 256ull * 2); /* 64 for each of 4 ranks */
        assert_string_equal(lines[k].algorithm, "tree_allreduce");
        assert_true(lines[k].hash == lines[0].hash && lines[k].different == 0);
    }
    assert_null(strstr(output.out, "ranks differ"));
    run_output_free(&output);
    output = run_line(0, "batch --dtype bf16 --rows 6 --algorithm ring_allreduce");
    assert_non_null(strstr(output.out, "\n# ranks differ: "));
    assert_non_null(strstr(output.out, "# the bits of all rows agree in batches of 4 sizes\n"));
    run_output_free(&output);
    output = run_line(1, "batch --dtype bf16 --rows 6 --algorithm ring_rs_ag");
    assert_int_equal(read_lines(output.out, lines), 4);
    assert_true(lines[1].different > 0);
    assert_null(strstr(output.out, "ranks differ"));
    run_output_free(&output);
    output = run_line(0, "batch --dtype int32 --rows 6 --algorithm ring_rs_ag"); /* it wraps */
    assert_int_equal(read_lines(output.out, lines), 4);
    assert_int_equal(lines[1].different, 0);
    run_output_free(&output);
    output = run_line(0, "batch --rows 4 --algorithm lrab_hierarchical_allreduce"); /* 16 shards */
    assert_int_equal(read_lines(output.out, lines), 3);
    run_output_free(&output);
}

static void rows_that_cannot_be_cut_are_refused(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"batch --preset a3_16 --row-elems 100 --algorithm birs",
         "100 elements are no multiple of that; use 112, or another multiple\n"},
        {"batch --algorithm birs", "birs is for paired dies"},
        {"batch --preset a3_16 --algorithm ring_all_gather",
         "ring_all_gather does all_gather, and batch is a bench of reduce_scatter"},
        {"batch --preset a3_16 --rows 4096 --row-elems 1048576", "legal are 1073741824 at most\n"},
        {"batch --preset a3_16 --rows 0", "--rows"},
        {"batch --preset a3_16 --tiles 3", "--tiles"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct run_output output = run_line(2, "%s", lines[i][0]);
        if (strstr(output.err, lines[i][1]) == NULL)
            fail_msg("%s said %s", lines[i][0], output.err);
        run_output_free(&output);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bits_of_one_algorithm_agree_in_all_batches),
        cmocka_unit_test(birs_inter_agrees_where_ranks_are_no_power_of_two),
        cmocka_unit_test(a_schedule_is_chosen_for_each_size_of_a_batch),
        cmocka_unit_test(without_a_reduce_scatter_in_the_configuration_auto_chooses),
        cmocka_unit_test(a_choice_that_changes_with_the_batch_is_found),
        cmocka_unit_test(all_reduces_are_compared_in_batches),
        cmocka_unit_test(rows_that_cannot_be_cut_are_refused),
    };
    return cmocka_run_group_tests_name("the command batch", tests, NULL, NULL);
}
