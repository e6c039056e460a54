/*
 * test_types.c: every element type and operation through whole runs: a sample of algorithms, each
 * verified; results that are known without a computer; overflow of 8-bit floats; a log that is
 * replayed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST_SCRATCH "types"
#include "test/support/run_cubewarp.h"
#include "test/support/scratch_folder.h"

static const json_t *of_row(const json_t *root, const char *key)
{
    return json_object_get(json_array_get(json_object_get(root, "results"), 0), key);
}

static void verified(const char *line, const char *dtype, const char *redop)
{
    json_t *const root = run_json("run --verify-data -d %s %s", dtype, line);
    const json_t *const name = of_row(root, "dtype"), *const op = of_row(root, "redop");
    if (json_integer_value(of_row(root, "wrong")) != 0 || json_is_null(of_row(root, "wrong")))
        fail_msg("%s %s: wrong values", dtype, line);
    assert_string_equal(json_string_value(name), dtype);
    if (redop != NULL)
        assert_string_equal(json_string_value(op), redop);
    json_decref(root);
}

static const char *const types[] = {"f16",      "bf16",     "f32",  "f64",
                                    "fp8_e4m3", "fp8_e5m2", "int8", "int32"};
static const char *const operations[] = {"sum", "max", "min", "prod", "avg", "premulsum"};
enum { TYPES = sizeof types / sizeof *types, OPERATIONS = sizeof operations / sizeof *operations };

/* Kernels of their own and schedules; 1,001 elements are odd everywhere. Each type meets each
 * operation, and each algorithm each type. */
static void algorithms_are_verified_with_each_type(void **state)
{
    (void)state;
    static const char *const algorithms[] = {"lrab_hierarchical_allreduce",
                                             "lrab_pipelined_allreduce",
                                             "pe_hierarchical_allreduce",
                                             "ring_allreduce",
                                             "tree_allreduce",
                                             "ring_rs_ag",
                                             "halving_doubling",
                                             "double_binary_tree",
                                             "hierarchical"};
    for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++)
        for (size_t t = 0; t < TYPES; t++) {
            char line[200];
            const char *const op = operations[(a + t) % OPERATIONS];
            snprintf(line, sizeof line, "--algorithm %s --n-elem 1001 -o %s", algorithms[a], op);
            verified(line, types[t], op);
        }
}

static void other_collectives_are_verified_with_each_type(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--bench ccl_reduce_scatter --preset a3_8 --algorithm mesh --n-elem 1000",
        "--bench ccl_reduce_scatter --preset a3_8 --algorithm rhd --n-elem 1000",
        "--bench ccl_reduce_scatter --algorithm rings_reduce_scatter --n-elem 1000",
        "--bench ccl_all_gather --n-elem 1000",
        "--bench ccl_all_to_all --n-elem 1000",
        "--bench ccl_broadcast --n-elem 1001"};
    for (size_t t = 0; t < TYPES; t++)
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
            verified(lines[i], types[t], NULL);
}

/* The factor and the quotient of a reduce-scatter, whose input is another tensor. */
static void scaled_sums_of_a_reduce_scatter_are_verified(void **state)
{
    (void)state;
    static const char *const ops[] = {"avg", "premulsum"};
    for (size_t t = 0; t < TYPES; t++)
        for (size_t i = 0; i < 2; i++) {
            char line[200];
            snprintf(line, sizeof line,
                     "--bench ccl_reduce_scatter --preset a3_8 --algorithm %s --n-elem 1000 -o %s "
                     "-n 2",
                     i == 0 ? "rhd" : "rings_reduce_scatter", ops[i]);
            verified(line, types[t], ops[i]);
        }
}

/* The result of four ranks with one element each. */
static uint64_t reduced(const void *values, size_t bytes, const char *options)
{
    FILE *const to = fopen(in_folder("in"), "wb");
    uint64_t result = 0;
    assert_non_null(to);
    assert_int_equal(fwrite(values, bytes, 4, to), 4);
    assert_int_equal(fclose(to), 0);
    json_t *const root = run_json("run --bench ccl_gradient --algorithm ring_rs_ag --verify-data "
                                  "--data %s --data-out %s %s",
                                  in_folder("in"), in_folder("out"), options);
    assert_int_equal(json_integer_value(of_row(root, "wrong")), 0);
    json_decref(root);
    FILE *const from = fopen(in_folder("out"), "rb");
    assert_non_null(from);
    assert_int_equal(fread(&result, 1, sizeof result, from), bytes);
    assert_int_equal(fclose(from), 0);
    return result;
}

static void results_are_those_of_arithmetic(void **state)
{
    (void)state;
    static const int32_t whole[4] = {1, -2, -30, 20};
    static const int8_t bytes[4] = {100, 100, 1, 1};
    static const uint16_t halves[4] = {0x3c00, 0x4000, 0x4200, 0x4600}; /* 1, 2, 3, 6 */
    static const double wide[4] = {1, 0x1p-52, 0x1p-52, 0};
    static const uint8_t small[4] = {0x38, 0x38, 0x40, 0x40}; /* 1, 1, 2, 2 in E4M3 */
    const double sum = 1 + 0x1p-51;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    assert_int_equal(reduced(whole, 4, "-d int32"), (uint32_t)-11);
    assert_int_equal(reduced(whole, 4, "-d int32 -o avg"), (uint32_t)-2);
    assert_int_equal(reduced(whole, 4, "-d int32 -o prod"), 1200);
    assert_int_equal(reduced(whole, 4, "-d int32 -o mulsum --scalar 3"), (uint32_t)-33);
    assert_int_equal(reduced(bytes, 1, "-d int8"), (uint8_t)(202 - 256));
    assert_int_equal(reduced(bytes, 1, "-d int8 -o max"), 100);
    assert_int_equal(reduced(halves, 2, "-d half"), 0x4a00);                           /* 12 */
    assert_int_equal(reduced(halves, 2, "-d half -o avg"), 0x4200);                    /* 3 */
    assert_int_equal(reduced(halves, 2, "-d half -o premulsum --scalar 0.5"), 0x4600); /* 6 */
    assert_int_equal(reduced(wide, 8, "-d double"), bits);
    assert_int_equal(reduced(small, 1, "-d fp8_e4m3"), 0x4c); /* 6 */
}

/* 448 + 448 in E4M3, 57344 + 57344 in E5M2. */
static void eight_bit_floats_overflow_as_configured(void **state)
{
    (void)state;
    static const uint8_t e4m3[4] = {0x7e, 0x7e, 0, 0}, e5m2[4] = {0x7b, 0x7b, 0, 0};
    assert_int_equal(reduced(e4m3, 1, "-d fp8_e4m3"), 0x7e);
    assert_int_equal(reduced(e5m2, 1, "-d fp8_e5m2"), 0x7b);
    assert_int_equal(reduced(e4m3, 1, "-d fp8_e4m3 --set defaults.fp8_overflow=infinity"), 0x7f);
    assert_int_equal(reduced(e5m2, 1, "-d fp8_e5m2 --set defaults.fp8_overflow=infinity"), 0x7c);
    struct run_output output =
        run_line(0,
                 "run --bench ccl_gradient --algorithm ring_rs_ag --verify-data --data %s "
                 "-d fp8_e5m2 --set defaults.fp8_overflow=infinity",
                 in_folder("in"));
    assert_non_null(strstr(output.out, "# 4 results are not finite though all inputs are"));
    run_output_free(&output);
}

/* A log has the types, the factor's effect, and how results overflow. */
static void logs_of_each_type_are_replayed(void **state)
{
    (void)state;
    for (size_t t = 0; t < TYPES; t++) {
        struct run_output output =
            run_line(0,
                     "run -d %s --n-elem 1001 -o %s --set defaults.fp8_overflow=infinity "
                     "--algorithm ring_rs_ag --op-log %s",
                     types[t], operations[t % OPERATIONS], in_folder("log"));
        run_output_free(&output);
        output = run_line(0, "replay %s", in_folder("log"));
        assert_non_null(strstr(output.out, types[t]));
        assert_non_null(strstr(output.out, " OK"));
        run_output_free(&output);
    }
}

/* Several threads and speculation change nothing. */
static void threads_give_the_bits_of_one(void **state)
{
    (void)state;
    static const char *const lines[] = {"-d fp8_e5m2 -o avg", "-d f64 -o premulsum",
                                        "-d int8 -o avg"};
    for (size_t i = 0; i < 3; i++) {
        json_t *const one = run_json("run %s --n-elem 1001", lines[i]);
        json_t *const two = run_json("run %s --n-elem 1001 --threads 2", lines[i]);
        assert_true(json_equal(of_row(one, "data_hash"), of_row(two, "data_hash")));
        assert_true(json_equal(of_row(one, "time_ns"), of_row(two, "time_ns")));
        json_decref(one);
        json_decref(two);
    }
}

/* Times are those of as many elements of another type of the same size. */
static void times_depend_on_the_bytes_alone(void **state)
{
    (void)state;
    static const char *const same[][2] = {{"int32", "f32"}, {"int8", "fp8_e4m3"}};
    for (size_t i = 0; i < 2; i++) {
        json_t *const a = run_json("run -d %s --n-elem 1001 -o avg", same[i][0]);
        json_t *const b = run_json("run -d %s --n-elem 1001", same[i][1]);
        assert_true(json_equal(of_row(a, "time_ns"), of_row(b, "time_ns")));
        json_decref(a);
        json_decref(b);
    }
}

/* 2048 + 1 + 1 + 1 in f16: each addition of 1 is lost alone, and f32 has 2051, which rounds to
 * 2052. Only what is added in one PE is kept: the chunks of ring_rs_ag are sent after each
 * addition. */
static uint16_t ring_sum(const char *algorithm, const char *accumulate)
{
    static const uint16_t halves[4] = {0x6800, 0x3c00, 0x3c00, 0x3c00};
    uint16_t result = 0;
    FILE *const to = fopen(in_folder("in"), "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(halves, 2, 4, to), 4);
    assert_int_equal(fclose(to), 0);
    json_t *const root = run_json("run --bench ccl_gradient --verify-data --algorithm %s --data %s "
                                  "--data-out %s --set defaults.accumulate=%s",
                                  algorithm, in_folder("in"), in_folder("out"), accumulate);
    assert_int_equal(json_integer_value(of_row(root, "wrong")), 0);
    assert_string_equal(json_string_value(of_row(root, "proof")), "order");
    json_decref(root);
    FILE *const from = fopen(in_folder("out"), "rb");
    assert_non_null(from);
    assert_int_equal(fread(&result, 2, 1, from), 1);
    assert_int_equal(fclose(from), 0);
    return result;
}

/* A copy with the name of an algorithm file. */
static const char *xml_of(const char *path)
{
    char text[16384];
    FILE *const from = fopen(path, "rb");
    assert_non_null(from);
    const size_t bytes = fread(text, 1, sizeof text, from);
    assert_int_equal(fclose(from), 0);
    assert_in_range(bytes, 1, sizeof text - 1);
    FILE *const to = fopen(in_folder("copy.xml"), "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(text, 1, bytes, to), bytes);
    assert_int_equal(fclose(to), 0);
    return in_folder("copy.xml");
}

static void sums_of_several_operands_may_accumulate_in_f32(void **state)
{
    (void)state;
    assert_int_equal(ring_sum("ring_allreduce", "own"), 0x6800); /* rank 0: 2048 + 1 + 1 + 1 */
    assert_int_equal(ring_sum("ring_allreduce", "f32"), 0x6802); /* 2052 */
    assert_int_equal(ring_sum("tree_allreduce", "f32"), 0x6802); /* 2048 + (1 + 1) + 1 */
    char one_pass[150];
    snprintf(one_pass, sizeof one_pass, "--algorithm %s",
             xml_of("test/fuzz/base/msccl/one_pass_out_of_place"));
    const char *const lines[] = {
        "--algorithm lrab_hierarchical_allreduce",
        "--algorithm lrab_pipelined_allreduce",
        "--algorithm pe_hierarchical_allreduce",
        "--algorithm hierarchical",
        "--algorithm ring_rs_ag",
        "--set system.sips.topology=mesh_2d_no_wrap",
        "--set system.sips.topology=mesh_2d_no_wrap --set system.sips.count=6",
        "--set defaults.rank_invariant=true --set algorithms.lrab_hierarchical_allreduce.root=1,1",
        "--preset a3_8 --bench ccl_reduce_scatter --algorithm mesh",
        "--preset a3_8 --bench ccl_reduce_scatter --algorithm birs",
        "--preset a3_8 --bench ccl_reduce_scatter --algorithm rhd",
        "--preset a3_8 --algorithm birs_allreduce",
        one_pass,
        "--preset a3_8 --set system.sips.count=20 --bench ccl_reduce_scatter --algorithm "
        "birs_inter"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[200];
        snprintf(line, sizeof line, "%s --n-elem 9600 --set defaults.accumulate=f32", lines[i]);
        verified(line, "bf16", "sum");
        json_t *const own = run_json("run %s --n-elem 9600", lines[i]);
        json_t *const f32 = run_json("run %s --verify-data", line);
        assert_string_equal(json_string_value(of_row(f32, "proof")), "order");
        assert_true(json_equal(of_row(own, "time_ns"), of_row(f32, "time_ns")));
        json_decref(own);
        json_decref(f32);
    }
    struct run_output output = run_line(0,
                                        "run --n-elem 1001 --set defaults.accumulate=f32 "
                                        "--op-log %s --threads 2",
                                        in_folder("log"));
    run_output_free(&output);
    output = run_line(0, "replay %s", in_folder("log"));
    assert_non_null(strstr(output.out, " OK"));
    run_output_free(&output);
}

static void a_scalar_without_its_operation_is_refused(void **state)
{
    (void)state;
    struct run_output output = run_line(2, "run --scalar 3");
    assert_non_null(strstr(output.err, "--scalar is for --op premulsum"));
    run_output_free(&output);
    output = run_line(2, "run -d int8 -o premulsum --scalar 0.5");
    assert_non_null(strstr(output.err, "--scalar 0.5: int8 has no such number"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(algorithms_are_verified_with_each_type),
        cmocka_unit_test(other_collectives_are_verified_with_each_type),
        cmocka_unit_test(scaled_sums_of_a_reduce_scatter_are_verified),
        cmocka_unit_test(results_are_those_of_arithmetic),
        cmocka_unit_test(eight_bit_floats_overflow_as_configured),
        cmocka_unit_test(logs_of_each_type_are_replayed),
        cmocka_unit_test(threads_give_the_bits_of_one),
        cmocka_unit_test(times_depend_on_the_bytes_alone),
        cmocka_unit_test(sums_of_several_operands_may_accumulate_in_f32),
        cmocka_unit_test(a_scalar_without_its_operation_is_refused),
    };
    return cmocka_run_group_tests_name("types and operations", tests, make_folder, remove_folder);
}
