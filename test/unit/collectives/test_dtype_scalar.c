/*
 * test_dtype_scalar.c: 8-bit floats, f64, whole numbers. The reference of the 8-bit floats is the
 * list of their numbers, made from the definition of the formats (OCP OFP8): sign, exponent,
 * fraction, as doubles; a conversion or an operation is right if it gives the nearest number of the
 * list to the exact result, of two the one with an even code.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "collectives/data/dtype.h"
#include "collectives/data/scaling.h"

struct fp8 {
    enum dtype saturating, open;
    int exponent_bits, fraction_bits, bias;
    uint8_t greatest, nan; /* codes of magnitudes */
    bool has_infinity;
    double top; /* the greatest number, as the specification prints it */
    double least;
};
static const struct fp8 formats[] = {
    {DTYPE_FP8_E4M3, DTYPE_FP8_E4M3_OPEN, 4, 3, 7, 0x7e, 0x7f, false, 448, 0x1p-9},
    {DTYPE_FP8_E5M2, DTYPE_FP8_E5M2_OPEN, 5, 2, 15, 0x7b, 0x7e, true, 57344, 0x1p-16}};

/* The number of a magnitude's code up to the greatest, by the definition. */
static double number_of(const struct fp8 *f, unsigned code)
{
    const int exponent = (int)(code >> f->fraction_bits);
    const double fraction =
        (double)(code & ((1u << f->fraction_bits) - 1)) / (double)(1 << f->fraction_bits);
    return exponent == 0 ? ldexp(fraction, 1 - f->bias) : ldexp(1 + fraction, exponent - f->bias);
}

static double value_of(const struct fp8 *f, uint8_t code)
{
    const unsigned magnitude = code & 0x7f;
    double x = number_of(f, magnitude);
    if (magnitude > f->greatest)
        x = f->has_infinity && magnitude == 0x7cu ? (double)INFINITY : (double)NAN;
    return code & 0x80 ? -x : x;
}

/* The code of the nearest number; a tie is even. One more number follows the greatest. */
static uint8_t nearest(const struct fp8 *f, double x, bool saturates)
{
    const uint8_t sign = signbit(x) ? 0x80 : 0;
    const double size = fabs(x);
    unsigned low = 0, high = f->greatest + 1u;
    if (isnan(x))
        return f->nan;
    while (high - low > 1) { /* number(low) <= size < number(high), but beyond the last */
        const unsigned middle = (low + high) / 2;
        if (number_of(f, middle) <= size)
            low = middle;
        else
            high = middle;
    }
    const double below = size - number_of(f, low), above = number_of(f, high) - size;
    const unsigned code = below < above || (below == above && low % 2 == 0) ? low : high;
    if (code <= f->greatest)
        return (uint8_t)(sign | code);
    return (uint8_t)(sign | (saturates ? f->greatest : f->has_infinity ? 0x7c : f->nan));
}

static void check_code(const struct fp8 *f, const char *what, double x, uint8_t found,
                       uint8_t expected)
{
    (void)f;
    /* a NaN has one code, without sign, whichever way it comes about */
    const uint8_t magnitude = expected & 0x7f;
    const uint8_t wanted =
        isnan(value_of(f, expected)) && magnitude == f->nan && isnan(x) ? f->nan : expected;
    if (found != wanted)
        fail_msg("%s of %a: %02x, not %02x", what, x, found, wanted);
}

static void the_formats_have_the_numbers_of_the_specification(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const struct fp8 *const f = &formats[k];
        assert_true(number_of(f, f->greatest) == f->top && number_of(f, 1) == f->least);
        for (unsigned code = 0; code < 256; code++) {
            const uint8_t byte = (uint8_t)code;
            const double expected = value_of(f, byte);
            float narrow;
            double wide;
            dtype_to_f32(f->saturating, &narrow, &byte, 1);
            dtype_to_f64(f->open, &wide, &byte, 1);
            if (isnan(expected)) {
                assert_true(isnan(narrow) && isnan(wide));
                assert_int_equal(dtype_count_not_finite(f->saturating, &byte, 1), 1);
                continue;
            }
            assert_true((double)narrow == expected && wide == expected);
            assert_true(!signbit(narrow) == !signbit(expected));
            assert_int_equal(dtype_count_not_finite(f->open, &byte, 1), !isfinite(expected));
        }
    }
}

/* Both ways, by f32 and by f64. */
static void check_narrow(const struct fp8 *f, double x)
{
    const float as_f32 = (float)x;
    for (int saturates = 0; saturates < 2; saturates++) {
        const enum dtype dtype = saturates ? f->saturating : f->open;
        uint8_t found;
        if ((double)as_f32 == x || isnan(x)) {
            dtype_from_f32(dtype, &found, &as_f32, 1);
            check_code(f, "f32 to fp8", x, found, nearest(f, x, saturates));
        }
        dtype_from_f64(dtype, &found, &x, 1);
        check_code(f, "f64 to fp8", x, found, nearest(f, x, saturates));
    }
}

/* Every number of f16, every boundary between two numbers, and its neighbours in f32 and f64. */
static void conversion_rounds_to_nearest_even_everywhere(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const struct fp8 *const f = &formats[k];
        for (unsigned bits = 0; bits <= UINT16_MAX; bits++) {
            const uint16_t half = (uint16_t)bits;
            double x;
            dtype_to_f64(DTYPE_F16, &x, &half, 1);
            check_narrow(f, x);
        }
        for (unsigned code = 0; code <= f->greatest; code++) {
            const double middle = (number_of(f, code) + number_of(f, code + 1)) / 2;
            for (int sign = -1; sign <= 1; sign += 2) {
                check_narrow(f, sign * middle);
                check_narrow(f, sign * (double)nextafterf((float)middle, INFINITY));
                check_narrow(f, sign * (double)nextafterf((float)middle, 0));
                check_narrow(f, sign * nextafter(middle, INFINITY));
                check_narrow(f, sign * nextafter(middle, 0));
            }
        }
        check_narrow(f, 1e30);
        check_narrow(f, -1e-30);
        check_narrow(f, 0x1p-1074);
        check_narrow(f, (double)INFINITY);
        check_narrow(f, -(double)INFINITY);
        check_narrow(f, (double)NAN);
    }
}

/* What the specification says in words: 464 is the boundary above 448, and goes to even. */
static void values_beyond_the_greatest_number_are_as_configured(void **state)
{
    (void)state;
    static const struct {
        enum dtype dtype;
        float x;
        uint8_t code;
    } of[] = {{DTYPE_FP8_E4M3, 464, 0x7e},        {DTYPE_FP8_E4M3_OPEN, 464, 0x7e},
              {DTYPE_FP8_E4M3, 465, 0x7e},        {DTYPE_FP8_E4M3_OPEN, 465, 0x7f},
              {DTYPE_FP8_E4M3, -1e9f, 0xfe},      {DTYPE_FP8_E5M2, 61440, 0x7b},
              {DTYPE_FP8_E5M2_OPEN, 61440, 0x7c}, {DTYPE_FP8_E5M2_OPEN, 61439, 0x7b},
              {DTYPE_FP8_E5M2, -1e9f, 0xfb},      {DTYPE_FP8_E5M2_OPEN, -1e9f, 0xfc}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        uint8_t found;
        dtype_from_f32(of[i].dtype, &found, &of[i].x, 1);
        assert_int_equal(found, of[i].code);
    }
}

static double exactly(enum redop op, double a, double b)
{
    return op == REDOP_SUM ? a + b : a * b; /* of two 8-bit floats: exact in f64 */
}

/* All pairs: a sum or a product is exact in f64, then rounded once. */
static void every_operation_on_every_pair_rounds_once(void **state)
{
    (void)state;
    static const enum redop rounds[] = {REDOP_SUM, REDOP_PROD};
    for (size_t k = 0; k < 2; k++)
        for (int saturates = 0; saturates < 2; saturates++)
            for (unsigned pair = 0; pair < 65536; pair++) {
                const struct fp8 *const f = &formats[k];
                const enum dtype dtype = saturates ? f->saturating : f->open;
                const uint8_t a = (uint8_t)pair, b = (uint8_t)(pair >> 8);
                const double x = value_of(f, a), y = value_of(f, b);
                uint8_t found;
                for (size_t i = 0; i < 2; i++) {
                    const double exact = exactly(rounds[i], x, y);
                    dtype_reduce(dtype, rounds[i], &found, &a, &b, 1);
                    check_code(f, redop_name(rounds[i]), exact, found,
                               nearest(f, exact, saturates));
                }
                const bool none = isnan(x) || isnan(y);
                const bool a_is_greater = x > y || (x == y && !signbit(x));
                dtype_reduce(dtype, REDOP_MAX, &found, &a, &b, 1);
                assert_int_equal(found, none ? f->nan : a_is_greater ? a : b);
                dtype_reduce(dtype, REDOP_MIN, &found, &a, &b, 1);
                assert_int_equal(found, none ? f->nan : a_is_greater ? b : a);
            }
}

static void whole_numbers_wrap(void **state)
{
    (void)state;
    for (unsigned pair = 0; pair < 65536; pair++) {
        const int8_t a = (int8_t)(uint8_t)pair, b = (int8_t)(uint8_t)(pair >> 8);
        const int expected[] = {a + b, a > b ? a : b, a < b ? a : b, a * b};
        for (int i = 0; i < 4; i++) {
            uint8_t found;
            dtype_reduce(DTYPE_INT8, (enum redop)(REDOP_SUM + i), &found, &a, &b, 1);
            assert_int_equal(found, (uint8_t)expected[i]);
        }
    }
    const int32_t most = INT32_MAX, one = 1, least = INT32_MIN;
    int32_t found;
    dtype_reduce(DTYPE_INT32, REDOP_SUM, &found, &most, &one, 1);
    assert_int_equal(found, least);
    dtype_reduce(DTYPE_INT32, REDOP_MAX, &found, &least, &one, 1);
    assert_int_equal(found, 1);
    dtype_reduce(DTYPE_INT32, REDOP_PROD, &found, &most, &most, 1);
    assert_int_equal(found, 1);
}

static void f64_has_all_its_digits(void **state)
{
    (void)state;
    const double a = 1, b = 0x1p-52, none = (double)NAN, zero = 0, minus = -0.0;
    double found;
    dtype_reduce(DTYPE_F64, REDOP_SUM, &found, &a, &b, 1);
    assert_true(found == 1 + 0x1p-52);
    dtype_reduce(DTYPE_F64, REDOP_MAX, &found, &minus, &zero, 1);
    assert_false(signbit(found));
    dtype_reduce(DTYPE_F64, REDOP_MIN, &found, &minus, &zero, 1);
    assert_true(signbit(found));
    uint64_t bits;
    const double negative = -none;
    dtype_reduce(DTYPE_F64, REDOP_SUM, &found, &negative, &a, 1);
    memcpy(&bits, &found, sizeof bits);
    assert_true(bits == UINT64_C(0x7ff8000000000000));
}

/* A cast rounds once: in two steps, by f32, the first would be 1 in f16. */
static void a_conversion_from_f64_rounds_once(void **state)
{
    (void)state;
    const double above = 1 + 0x1p-11 + 0x1p-40, large = 3e9, small = -200.5;
    uint16_t half;
    int32_t whole;
    int8_t byte;
    dtype_convert(DTYPE_F16, &half, DTYPE_F64, &above, 1);
    assert_int_equal(half, 0x3c01);
    dtype_convert(DTYPE_INT32, &whole, DTYPE_F64, &large, 1);
    assert_int_equal(whole, INT32_MAX);
    dtype_convert(DTYPE_INT8, &byte, DTYPE_F64, &small, 1);
    assert_int_equal(byte, -128);
    whole = 16777217; /* f32 has no such number */
    double wide;
    dtype_convert(DTYPE_F64, &wide, DTYPE_INT32, &whole, 1);
    assert_true(wide == 16777217);
}

static void every_type_has_its_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *nccl;
        enum dtype dtype;
        size_t bytes;
    } of[] = {{"f16", "half", DTYPE_F16, 2},
              {"bf16", "bfloat16", DTYPE_BF16, 2},
              {"f32", "float", DTYPE_F32, 4},
              {"f64", "double", DTYPE_F64, 8},
              {"fp8_e4m3", "f8e4m3", DTYPE_FP8_E4M3, 1},
              {"fp8_e5m2", "f8e5m2", DTYPE_FP8_E5M2, 1},
              {"int8", "int8", DTYPE_INT8, 1},
              {"int32", "int32", DTYPE_INT32, 4}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        enum dtype dtype;
        assert_true(dtype_parse(of[i].nccl, &dtype));
        assert_int_equal(dtype, of[i].dtype);
        assert_int_equal(dtype, i + 1); /* the numbers that op logs have */
        assert_string_equal(dtype_name(dtype), of[i].name);
        assert_string_equal(dtype_at(i), of[i].name);
        assert_int_equal(dtype_bytes(dtype), of[i].bytes);
    }
    assert_null(dtype_at(sizeof of / sizeof *of));
    enum redop op;
    assert_true(redop_parse("mulsum", &op));
    assert_int_equal(op, REDOP_PREMULSUM);
    assert_int_equal(redop_of_kernels(op), REDOP_SUM);
    assert_string_equal(redop_at(4), "avg");
    assert_null(redop_at(6));
}

/* avg: a third in f16 is 0x3555; whole numbers are divided towards zero. */
static void operands_are_scaled_as_nccl_does(void **state)
{
    (void)state;
    struct scaling scaling = scaling_of(DTYPE_F16, REDOP_AVG, 0, 3);
    uint16_t half = 0x4200; /* 3 * 0.33325 rounds to 1 */
    assert_true(scaling.multiplies && scaling.factor[0] == 0x55 && scaling.factor[1] == 0x35);
    scaling_multiply(&scaling, DTYPE_F16, &half, 1);
    scaling_divide(&scaling, DTYPE_F16, &half, 1);
    assert_int_equal(half, 0x3c00);
    scaling = scaling_of(DTYPE_INT32, REDOP_AVG, 0, 4);
    int32_t whole[2] = {-11, 11};
    scaling_multiply(&scaling, DTYPE_INT32, whole, 2);
    scaling_divide(&scaling, DTYPE_INT32, whole, 2);
    assert_int_equal(whole[0], -2);
    assert_int_equal(whole[1], 2);
    scaling = scaling_of(DTYPE_INT8, REDOP_PREMULSUM, -3, 4);
    int8_t byte = 7;
    scaling_multiply(&scaling, DTYPE_INT8, &byte, 1);
    scaling_divide(&scaling, DTYPE_INT8, &byte, 1);
    assert_int_equal(byte, -21);
    assert_false(scaling_of(DTYPE_F32, REDOP_SUM, 5, 4).multiplies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_formats_have_the_numbers_of_the_specification),
        cmocka_unit_test(conversion_rounds_to_nearest_even_everywhere),
        cmocka_unit_test(values_beyond_the_greatest_number_are_as_configured),
        cmocka_unit_test(every_operation_on_every_pair_rounds_once),
        cmocka_unit_test(whole_numbers_wrap),
        cmocka_unit_test(f64_has_all_its_digits),
        cmocka_unit_test(a_conversion_from_f64_rounds_once),
        cmocka_unit_test(every_type_has_its_names),
        cmocka_unit_test(operands_are_scaled_as_nccl_does),
    };
    return cmocka_run_group_tests_name("8-bit floats, f64, whole numbers", tests, NULL, NULL);
}
