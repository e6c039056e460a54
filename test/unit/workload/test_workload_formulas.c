/*
 * test_workload_formulas.c: the formulas of workload files (workload/STEPS.md, "Formulas"): their
 * values, by hand, and their mistakes with line and column.
 */
#include "test/support/test_workload_support.h"

static const char *text_of(const char *formula, char text[600])
{
    snprintf(text, 600,
             "workload:\n"
             "  ranks: 8\n"
             "  values: {a: 7, b: a * 2, big: 2^62, half: 1/2}\n"
             "  ops:\n"
             "    - flops: %s\n",
             formula);
    return text;
}

static uint64_t value_of(const char *formula)
{
    char text[600];
    struct workload_graph graph = good_workload(text_of(formula, text));
    const uint64_t value = graph.programs[0].ops[0].flops;
    workload_graph_free(&graph);
    return value;
}

static void test_operators(void **state)
{
    (void)state;
    assert_int_equal(value_of("1 + 2 * 3"), 7);
    assert_int_equal(value_of("(1 + 2) * 3"), 9);
    assert_int_equal(value_of("10 - 3 - 2"), 5);
    assert_int_equal(value_of("2^3^2"), 512); /* 2^(3^2) */
    assert_int_equal(value_of("100 - 2^2"), 96);
    assert_int_equal(value_of("10 + -3"), 7);
    assert_int_equal(value_of("7 // 2"), 3);
    assert_int_equal(value_of("10 + -7 // 2"), 6); /* -7 // 2 = -4 */
    assert_int_equal(value_of("-7 % 3"), 2);
    assert_int_equal(value_of("7 % 3"), 1);
    assert_int_equal(value_of("7 / 2 * 2"), 7);
    assert_int_equal(value_of("b + a"), 21);
    assert_int_equal(value_of("ranks * 3"), 24);
    assert_int_equal(value_of("4 * half"), 2);
    assert_int_equal(value_of("dtype_bytes"), 2); /* bf16 */
}

static void test_truth(void **state)
{
    (void)state;
    assert_int_equal(value_of("1 < 2"), 1);
    assert_int_equal(value_of("2 <= 1"), 0);
    assert_int_equal(value_of("1 / 3 == 2 / 6"), 1);
    assert_int_equal(value_of("3 != 3"), 0);
    assert_int_equal(value_of("1 > 0 and 2 >= 2"), 1);
    assert_int_equal(value_of("not 1 or 0"), 0);
    assert_int_equal(value_of("not 0 and 5"), 1);
    assert_int_equal(value_of("a == 7 and b == 14"), 1);
    assert_int_equal(value_of("true"), 1);
    /* what decides comes first */
    assert_int_equal(value_of("0 and 1 / 0"), 0);
    assert_int_equal(value_of("1 or 1 / 0"), 1);
    assert_int_equal(value_of("if(1, 5, 1 / 0)"), 5);
}

static void test_functions(void **state)
{
    (void)state;
    assert_int_equal(value_of("ceil(7 / 2)"), 4);
    assert_int_equal(value_of("floor(7 / 2)"), 3);
    assert_int_equal(value_of("ceil(-7 / 2) + 5"), 2);
    assert_int_equal(value_of("round(5 / 2)"), 3);
    assert_int_equal(value_of("min(3, 1, 2)"), 1);
    assert_int_equal(value_of("max(3, 1, 2)"), 3);
    assert_int_equal(value_of("abs(3 - 5)"), 2);
    assert_int_equal(value_of("log2(1024)"), 10);
    assert_int_equal(value_of("log2(1 / 8) + 4"), 1);
    assert_int_equal(value_of("sqrt(144)"), 12);
    assert_int_equal(value_of("if(a > 6, 10, 20)"), 10);
}

/* 2^53 + 1 is no double; a product of 126 bits, divided again, is exact. */
static void test_exact(void **state)
{
    (void)state;
    assert_int_equal(value_of("2^53 + 1"), UINT64_C(9007199254740993));
    assert_int_equal(value_of("9223372036854775807"), INT64_MAX);
    assert_int_equal(value_of("big * big / big + 1"), (UINT64_C(1) << 62) + 1);
    assert_int_equal(value_of("big + big - 1"), INT64_MAX);
    assert_int_equal(value_of("3 * (9007199254740993 / 3)"), UINT64_C(9007199254740993));
    assert_int_equal(value_of("1e15 + 1"), UINT64_C(1000000000000001));
    assert_int_equal(value_of("0.1 * 10"), 1);
    assert_int_equal(value_of("2.5e-1 * 4"), 1);
    /* beyond 127 bits as doubles, which are exact for powers of two */
    assert_int_equal(value_of("2^200 / 2^190"), 1024);
}

static void test_units(void **state)
{
    (void)state;
    assert_int_equal(value_of("64MiB"), 64 << 20);
    assert_int_equal(value_of("1KB + 1KiB"), 2024);
    assert_int_equal(value_of("2.5T"), UINT64_C(2500000000000));
    assert_int_equal(value_of("1.5GFLOP"), 1500000000);
    assert_int_equal(value_of("5us"), 5000); /* a time is in ns */
    assert_int_equal(value_of("1500ps * 2"), 3);
    assert_int_equal(value_of("1TiB / 1GiB"), 1024);
}

static void test_rounding(void **state)
{
    (void)state;
    assert_int_equal(value_of("5 / 2"), 3);
    assert_int_equal(value_of("7 / 3"), 2);
    struct workload_graph graph = good_workload("workload:\n  ranks: 1\n  ops: [{time: 0.0015}]\n");
    assert_int_equal(graph.programs[0].ops[0].time_ps, 2); /* 1.5 ps */
    workload_graph_free(&graph);
}

static void bad(const char *formula, const char *expected)
{
    char text[600];
    bad_workload(text_of(formula, text), NULL, &expected, 1);
}

/* The formula begins in column 14 of line 5. */
static void test_mistakes(void **state)
{
    (void)state;
    bad("1 +", "w.yaml:5:17: the formula ends where a number or a name is expected");
    bad("(1 + 2", "w.yaml:5:20: expected )");
    bad("1 2", "w.yaml:5:16: expected an operator");
    bad("hiden * 2", "w.yaml:5:14: unknown name 'hiden'; legal are");
    bad("2 * rank_s", "w.yaml:5:18: unknown name 'rank_s'; did you mean 'ranks'?");
    bad("64K", "w.yaml:5:14: no such unit; legal are KiB");
    bad("1 / (a - 7)", "w.yaml:5:16: a division by 0");
    bad("1 // 0", "w.yaml:5:16: a division by 0");
    bad("0^-1", "w.yaml:5:15: a division by 0");
    bad("a % 0", "w.yaml:5:16: a division by 0");
    bad("3 - 5", "w.yaml:5:14: -2; legal is a number from 0 to 2^63");
    bad("2^63", "w.yaml:5:14: 9.223372037e+18; legal is a number from 0 to 2^63");
    bad("10^400", "w.yaml:5:16: a number beyond 10^308");
    bad("sqrt(0 - 1)", "w.yaml:5:14: sqrt of a negative number");
    bad("log2(0)", "w.yaml:5:14: log2 of a number that is not above 0");
    bad("(0 - 8)^(1/3)", "w.yaml:5:21: no number: a root of a negative one");
    bad("cos(1)", "w.yaml:5:14: no such function; legal are if, ceil");
    bad("ceil(1, 2)", "w.yaml:5:14: 2 arguments; legal is ceil(X)");
    bad("min(1", "w.yaml:5:19: expected , or ) of min(X, Y, ...)");
    bad("ceil", "w.yaml:5:14: a function or a word where a number or a name is expected");
    bad("$a", "w.yaml:5:14: expected a number, a name or a formula");
    bad("12345678901234567890123", "w.yaml:5:14: a number with more digits than fit");
    bad("layer", "w.yaml:5:14: 'layer' (in each_layer, the number of the layer) has no value here");
    bad("[1]", "w.yaml:5:14: expected a number or a formula such as 2 * hidden / tp; found a list");
    bad("\"1 + \"", "w.yaml:5:19: the formula ends");
}

static void test_deep_formulas_end(void **state)
{
    (void)state;
    char text[8192], nested[5000];
    memset(nested, '(', 100);
    strcpy(nested + 100, "1");
    bad(nested, "w.yaml:5:74: nested more than 60 deep");
    memset(nested, '1', sizeof nested - 1);
    nested[sizeof nested - 1] = '\0';
    snprintf(text, sizeof text, "workload:\n  ranks: 1\n  ops: [{time: %s}]\n", nested);
    const char *const longer = "w.yaml:3:16: a formula of more than 4096 bytes";
    bad_workload(text, NULL, &longer, 1);
    for (size_t i = 0; i < 2000; i++)
        memcpy(nested + 2 * i, "-1", 2);
    nested[4000] = '\0';
    memset(nested, '-', 80);
    bad(nested, "w.yaml:5:74: nested more than 60 deep");
}

static void test_values_that_depend_on_themselves(void **state)
{
    (void)state;
    const char *const circle = "w.yaml:3:25: 'a' depends on itself";
    bad_workload("workload:\n  ranks: 1\n  values: {a: b + 1, b: a}\n  ops: [{time: a}]\n", NULL,
                 &circle, 1);
    /* a tower of sums, each of the one before twice, is computed once for each */
    char text[8000];
    size_t used =
        (size_t)snprintf(text, sizeof text, "workload:\n  ranks: 1\n  values:\n    v0: 1\n");
    for (int i = 1; i < 60; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "    v%d: v%d + v%d\n", i, i - 1,
                                 i - 1);
    snprintf(text + used, sizeof text - used, "  ops: [{flops: v59}]\n");
    struct workload_graph graph = good_workload(text);
    assert_int_equal(graph.programs[0].ops[0].flops, UINT64_C(1) << 59);
    workload_graph_free(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_truth),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_deep_formulas_end),
        cmocka_unit_test(test_values_that_depend_on_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
