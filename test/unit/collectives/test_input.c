/* test_input.c: whole numbers as inputs (input.h): all sums of an element's operands are exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collectives/data/input.h"

/* Element e of all operands, added up from the first and from the last on in the dtype, and in
 * doubles, by magnitude. */
static void check_element(enum dtype dtype, uint64_t seed, uint64_t operands, uint64_t n_elem,
                          uint64_t e, double last)
{
    uint8_t up[4] = {0}, down[4] = {0}, x[4];
    double magnitude = 0;
    float value, ends[2];
    for (uint64_t k = 0; k < operands; k++) {
        input_fill(dtype, seed, k * n_elem + e, x, 1);
        dtype_reduce(dtype, REDOP_SUM, up, up, x, 1);
        dtype_to_f32(dtype, &value, x, 1);
        magnitude += value < 0 ? -value : value;
        input_fill(dtype, seed, (operands - 1 - k) * n_elem + e, x, 1);
        dtype_reduce(dtype, REDOP_SUM, down, down, x, 1);
    }
    dtype_to_f32(dtype, &ends[0], up, 1);
    dtype_to_f32(dtype, &ends[1], down, 1);
    assert_true(magnitude <=
                last); /* so every sum of some of them is a whole number of the dtype */
    assert_true(ends[0] == ends[1]);
}

static void sums_of_integers_are_exact_in_any_order(void **state)
{
    (void)state;
    static const struct {
        enum dtype dtype;
        double last;
    } types[] = {{DTYPE_F16, 2048}, {DTYPE_BF16, 256}, {DTYPE_F32, 16777216}};
    static const uint64_t operands[] = {1, 2, 31, 256, 257, 1024, 16384},
                          sizes[] = {1, 7, 128, 30030, 65536};
    for (size_t t = 0; t < 3; t++)
        for (size_t o = 0; o < sizeof operands / sizeof *operands; o++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                const uint64_t seed =
                    input_integers(3, types[t].dtype, REDOP_SUM, operands[o], sizes[s]);
                for (uint64_t e = 0; e < sizes[s]; e += sizes[s] / 5 + 1)
                    check_element(types[t].dtype, seed, operands[o], sizes[s], e, types[t].last);
            }
}

/* However thinly they are spread, every operand has numbers that are not zero. */
static void no_operand_is_all_zeros(void **state)
{
    (void)state;
    enum { N = 4096, OPERANDS = 16384 };
    const uint64_t seed = input_integers(1, DTYPE_BF16, REDOP_SUM, OPERANDS, N);
    for (uint64_t k = 0; k < OPERANDS; k += 1000) {
        float x[N];
        unsigned found = 0;
        input_fill(DTYPE_F32, seed, k * N, x, N);
        for (int i = 0; i < N; i++)
            found += x[i] != 0;
        assert_in_range(found, 10, N);
    }
}

static void factors_are_one_and_minus_one(void **state)
{
    (void)state;
    float x[1000];
    int sum = 0;
    input_fill(DTYPE_F32, input_integers(9, DTYPE_F16, REDOP_PROD, 64, 1000), 0, x, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_true(x[i] == 1 || x[i] == -1);
        sum += (int)x[i];
    }
    assert_in_range(sum + 1000, 800, 1200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_integers_are_exact_in_any_order),
        cmocka_unit_test(no_operand_is_all_zeros),
        cmocka_unit_test(factors_are_one_and_minus_one),
    };
    return cmocka_run_group_tests_name("input", tests, NULL, NULL);
}
