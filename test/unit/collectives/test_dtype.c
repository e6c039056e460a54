/*
 * test_dtype.c: arithmetic on f16, bf16 and f32 against a slow reference on exact integers, which
 * knows nothing of the processor's floating point: a number is sign * magnitude * 2^exponent.
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

typedef unsigned __int128 u128;

/* ---- the reference -------------------------------------------------------------------------- */

/* A binary format: `digits` with the hidden one, least exponent of the last digit, field widths. */
struct format {
    int digits, exponent_bits;
    uint32_t nan, infinity;
};
static const struct format formats[] = {[DTYPE_F16] = {11, 5, 0x7e00, 0x7c00},
                                        [DTYPE_BF16] = {8, 8, 0x7fc0, 0x7f80},
                                        [DTYPE_F32] = {24, 8, 0x7fc00000, 0x7f800000}};

struct exact {
    bool negative;
    u128 magnitude;
    int exponent;
};

static int total_bits(const struct format *f) { return f->digits + f->exponent_bits; }
static uint32_t magnitude_mask(const struct format *f) { return (1u << (total_bits(f) - 1)) - 1; }
static bool is_negative(const struct format *f, uint32_t x) { return x >> (total_bits(f) - 1) & 1; }
static bool is_nan(const struct format *f, uint32_t x)
{
    return (x & magnitude_mask(f)) > f->infinity;
}
static bool is_infinite(const struct format *f, uint32_t x)
{
    return (x & magnitude_mask(f)) == f->infinity;
}
static uint32_t signed_bits(const struct format *f, bool negative, uint32_t magnitude)
{
    return magnitude | (negative ? 1u << (total_bits(f) - 1) : 0);
}
/* Exponent of the last digit of subnormal numbers. */
static int least_exponent(const struct format *f)
{
    return 3 - (1 << (f->exponent_bits - 1)) - f->digits;
}

static struct exact exact_of(const struct format *f, uint32_t x)
{
    const uint32_t magnitude = x & magnitude_mask(f);
    const uint32_t field = magnitude >> (f->digits - 1);
    const uint32_t fraction = magnitude & ((1u << (f->digits - 1)) - 1);
    if (field == 0)
        return (struct exact){is_negative(f, x), fraction, least_exponent(f)};
    return (struct exact){is_negative(f, x), fraction | 1u << (f->digits - 1),
                          least_exponent(f) + (int)field - 1};
}

/* Rounds once, to nearest even. A zero keeps its sign. */
static uint32_t rounded(const struct format *f, struct exact x)
{
    int exponent = x.exponent;
    u128 kept = x.magnitude;
    bool half = false, rest = false;
    while (kept >= (u128)1 << f->digits || (exponent < least_exponent(f) && kept)) {
        rest |= half;
        half = kept & 1;
        kept >>= 1;
        exponent++;
    }
    if (!kept && exponent < least_exponent(f)) { /* nothing is left of it */
        rest |= half;
        half = false;
        exponent = least_exponent(f);
    }
    while (kept < (u128)1 << (f->digits - 1) && exponent > least_exponent(f)) {
        kept <<= 1;
        exponent--;
    }
    if (half && (rest || kept & 1))
        kept++;
    if (kept == (u128)1 << f->digits) {
        kept >>= 1;
        exponent++;
    }
    const bool normal = kept >> (f->digits - 1);
    const uint32_t field = normal ? (uint32_t)(exponent - least_exponent(f) + 1) : 0;
    if (field >= (1u << f->exponent_bits) - 1)
        return signed_bits(f, x.negative, f->infinity);
    const uint32_t fraction = (uint32_t)kept & ((1u << (f->digits - 1)) - 1);
    return signed_bits(f, x.negative, field << (f->digits - 1) | fraction);
}

static uint32_t slow_sum(const struct format *f, uint32_t a, uint32_t b)
{
    if (is_nan(f, a) || is_nan(f, b))
        return f->nan;
    if (is_infinite(f, a) && is_infinite(f, b))
        return a == b ? a : f->nan;
    if (is_infinite(f, a) || is_infinite(f, b))
        return is_infinite(f, a) ? a : b;
    struct exact x = exact_of(f, a), y = exact_of(f, b);
    if (x.exponent < y.exponent || (x.exponent == y.exponent && x.magnitude < y.magnitude)) {
        const struct exact swap = x;
        x = y, y = swap;
    }
    /* 64 more digits for x; digits of y below them can only say "more than nothing". */
    x.magnitude <<= 64, x.exponent -= 64;
    if (x.exponent >= y.exponent) {
        const int shift = x.exponent - y.exponent;
        const bool lost = shift > 60 ? y.magnitude != 0 : y.magnitude & (((u128)1 << shift) - 1);
        y.magnitude = shift > 60 ? 0 : y.magnitude >> shift;
        y.magnitude |= lost;
    } else {
        y.magnitude <<= y.exponent - x.exponent;
    }
    struct exact sum = {x.negative, x.magnitude + y.magnitude, x.exponent};
    if (x.negative != y.negative) {
        const bool flipped = x.magnitude < y.magnitude;
        sum.magnitude = flipped ? y.magnitude - x.magnitude : x.magnitude - y.magnitude;
        sum.negative = sum.magnitude ? (flipped ? y.negative : x.negative) : false;
    }
    return rounded(f, sum);
}

static uint32_t slow_prod(const struct format *f, uint32_t a, uint32_t b)
{
    const bool negative = is_negative(f, a) != is_negative(f, b);
    if (is_nan(f, a) || is_nan(f, b))
        return f->nan;
    const struct exact x = exact_of(f, a), y = exact_of(f, b);
    if (is_infinite(f, a) || is_infinite(f, b))
        return x.magnitude && y.magnitude ? signed_bits(f, negative, f->infinity) : f->nan;
    return rounded(f, (struct exact){negative, x.magnitude * y.magnitude, x.exponent + y.exponent});
}

/* a > b, with -0 < +0; neither is a NaN. */
static bool slow_greater(const struct format *f, uint32_t a, uint32_t b)
{
    const uint32_t x = a & magnitude_mask(f), y = b & magnitude_mask(f);
    if (is_negative(f, a) != is_negative(f, b))
        return is_negative(f, b);
    return is_negative(f, a) ? x < y : x > y;
}

static uint32_t slow(enum dtype dtype, enum redop op, uint32_t a, uint32_t b)
{
    const struct format *f = &formats[dtype];
    switch (op) {
    case REDOP_SUM:
        return slow_sum(f, a, b);
    case REDOP_PROD:
        return slow_prod(f, a, b);
    default:
        if (is_nan(f, a) || is_nan(f, b))
            return f->nan;
        return slow_greater(f, a, b) == (op == REDOP_MAX) ? a : b;
    }
}

/* ---- helpers -------------------------------------------------------------------------------- */

enum { BATCH = 4096 };

struct random {
    uint64_t s;
};
static uint64_t next(struct random *r)
{
    r->s += 0x9e3779b97f4a7c15u;
    uint64_t z = r->s;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Any pattern; or one near the other operand's exponent, where rounding happens. */
static void random_pair(struct random *r, const struct format *f, uint32_t *a, uint32_t *b)
{
    const uint64_t bits = next(r);
    const uint32_t mask = magnitude_mask(f) * 2 + 1;
    *a = (uint32_t)bits & mask;
    *b = (uint32_t)(bits >> 32) & mask;
    if (next(r) & 1) {
        const uint32_t near = (uint32_t)(next(r) % (2u * (unsigned)f->digits + 4));
        const int32_t field =
            (int32_t)((*a & magnitude_mask(f)) >> (f->digits - 1)) - (int32_t)near + f->digits;
        const int32_t last = (1 << f->exponent_bits) - 1;
        const uint32_t legal = (uint32_t)(field < 0 ? 0 : field > last ? last : field);
        *b = (*b & ~(f->infinity & mask)) | legal << (f->digits - 1);
    }
}

static void put(enum dtype dtype, void *array, size_t i, uint32_t bits)
{
    memcpy((uint8_t *)array + i * dtype_bytes(dtype), &bits, dtype_bytes(dtype));
}
static uint32_t get(enum dtype dtype, const void *array, size_t i)
{
    uint32_t bits = 0;
    memcpy(&bits, (const uint8_t *)array + i * dtype_bytes(dtype), dtype_bytes(dtype));
    return bits;
}

static void compare(enum dtype dtype, enum redop op, const void *result, const void *a,
                    const void *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t x = get(dtype, a, i), y = get(dtype, b, i), r = get(dtype, result, i);
        const uint32_t expected = slow(dtype, op, x, y);
        if (r != expected)
            fail_msg("%s %s of %08x and %08x: %08x, expected %08x", dtype_name(dtype),
                     redop_name(op), x, y, r, expected);
    }
}

static void check_random(enum dtype dtype, enum redop op, size_t batches)
{
    struct random r = {(uint64_t)dtype * 8 + op};
    uint32_t a[BATCH], b[BATCH], result[BATCH];
    for (size_t batch = 0; batch < batches; batch++) {
        for (size_t i = 0; i < BATCH; i++) {
            uint32_t x, y;
            random_pair(&r, &formats[dtype], &x, &y);
            put(dtype, a, i, x);
            put(dtype, b, i, y);
        }
        dtype_reduce(dtype, op, result, a, b, BATCH);
        compare(dtype, op, result, a, b, BATCH);
    }
}

/* Every number of the type against some: zeros, subnormals, powers, greatest, infinity, NaNs. */
static void check_edges(enum dtype dtype, enum redop op)
{
    const struct format *f = &formats[dtype];
    const uint32_t one = f->infinity / 2 & f->infinity;
    const uint32_t edges[] = {0,
                              1,
                              2,
                              3,
                              one / 2,
                              (1u << (f->digits - 1)) - 1,
                              1u << (f->digits - 1),
                              one - 1,
                              one,
                              one + 1,
                              f->infinity - 1,
                              f->infinity,
                              f->infinity + 1,
                              f->nan,
                              magnitude_mask(f)};
    const size_t edge_count = 2 * sizeof edges / sizeof edges[0];
    uint32_t a[BATCH], b[BATCH], result[BATCH];
    const uint64_t step = dtype == DTYPE_F32 ? 65521 : 1, end = (uint64_t)1 << total_bits(f);
    size_t n = 0;
    for (uint64_t x = 0; x < end; x += step)
        for (size_t e = 0; e < edge_count; e++) {
            put(dtype, a, n, (uint32_t)x);
            put(dtype, b, n, signed_bits(f, e & 1, edges[e / 2]));
            if (++n == BATCH || (x + step >= end && e + 1 == edge_count)) {
                dtype_reduce(dtype, op, result, a, b, n);
                compare(dtype, op, result, a, b, n);
                n = 0;
            }
        }
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void an_operation_on_f16_rounds_once(void **state)
{
    (void)state;
    for (enum redop op = REDOP_SUM; op <= REDOP_PROD; op++) {
        check_edges(DTYPE_F16, op);
        check_random(DTYPE_F16, op, 256);
    }
}

static void an_operation_on_bf16_rounds_once(void **state)
{
    (void)state;
    for (enum redop op = REDOP_SUM; op <= REDOP_PROD; op++) {
        check_edges(DTYPE_BF16, op);
        check_random(DTYPE_BF16, op, 256);
    }
}

static void an_operation_on_f32_rounds_once(void **state)
{
    (void)state;
    for (enum redop op = REDOP_SUM; op <= REDOP_PROD; op++) {
        check_edges(DTYPE_F32, op);
        check_random(DTYPE_F32, op, 256);
    }
}

/* Products of every pair of bf16 significands near the least number: where f32 rounds, too. */
static void tiny_bf16_products_round_once(void **state)
{
    (void)state;
    uint32_t a[BATCH], b[BATCH], result[BATCH];
    size_t n = 0;
    for (uint32_t field = 100; field < 122; field++)
        for (uint32_t x = 0; x < 128; x++)
            for (uint32_t y = 0; y < 128; y++) {
                put(DTYPE_BF16, a, n, field << 7 | x);
                put(DTYPE_BF16, b, n, 10u << 7 | y);
                if (++n == BATCH) {
                    dtype_reduce(DTYPE_BF16, REDOP_PROD, result, a, b, n);
                    compare(DTYPE_BF16, REDOP_PROD, result, a, b, n);
                    n = 0;
                }
            }
}

static void every_16_bit_number_widens_exactly_and_comes_back(void **state)
{
    (void)state;
    for (enum dtype dtype = DTYPE_F16; dtype <= DTYPE_BF16; dtype++) {
        const struct format *f = &formats[dtype];
        for (uint32_t x = 0; x < 65536; x++) {
            const uint16_t in = (uint16_t)x;
            uint16_t back;
            float wide;
            uint32_t wide_bits;
            dtype_to_f32(dtype, &wide, &in, 1);
            dtype_from_f32(dtype, &back, &wide, 1);
            memcpy(&wide_bits, &wide, sizeof wide);
            if (is_nan(f, x)) {
                assert_int_equal(wide_bits, 0x7fc00000);
                assert_int_equal(back, f->nan);
            } else if (is_infinite(f, x)) {
                assert_int_equal(wide_bits, 0x7f800000 | (x & 0x8000) << 16);
                assert_int_equal(back, x);
            } else {
                const struct exact e = exact_of(f, x);
                const double value = ldexp((double)e.magnitude, e.exponent);
                assert_true(wide == (float)(e.negative ? -value : value));
                assert_int_equal(wide_bits >> 31, x >> 15);
                assert_int_equal(back, x);
            }
        }
    }
}

static void check_narrowing(enum dtype dtype, uint32_t bits)
{
    const struct format *f = &formats[dtype], *wide = &formats[DTYPE_F32];
    float x;
    uint32_t expected;
    memcpy(&x, &bits, sizeof x);
    if (is_nan(wide, bits))
        expected = f->nan;
    else if (is_infinite(wide, bits))
        expected = signed_bits(f, bits >> 31, f->infinity);
    else
        expected = rounded(f, exact_of(wide, bits));
    uint16_t result;
    dtype_from_f32(dtype, &result, &x, 1);
    if (result != expected)
        fail_msg("f32 %08x to %s: %04x, expected %04x", bits, dtype_name(dtype), result, expected);
}

static void narrowing_rounds_to_nearest_even(void **state)
{
    (void)state;
    struct random r = {42};
    for (enum dtype dtype = DTYPE_F16; dtype <= DTYPE_BF16; dtype++) {
        /* Around every number and every midpoint of two neighbours. */
        for (uint32_t x = 0; x < formats[dtype].infinity; x++) {
            const uint16_t pair[2] = {(uint16_t)x, (uint16_t)(x + 1)};
            float wide[2];
            uint32_t bits;
            dtype_to_f32(dtype, wide, pair, 2);
            const float middle = x + 1 == formats[dtype].infinity
                                     ? 65520.0f /* half a unit above f16's greatest */
                                     : (float)(((double)wide[0] + (double)wide[1]) / 2);
            memcpy(&bits, &middle, sizeof bits);
            for (uint32_t d = 0; d < 3; d++) {
                check_narrowing(dtype, bits + d - 1);
                check_narrowing(dtype, (bits + d - 1) ^ 0x80000000);
            }
        }
        for (size_t i = 0; i < 1000000; i++)
            check_narrowing(dtype, (uint32_t)next(&r));
    }
}

static void an_f32_passes_through_with_its_nan_made_canonical(void **state)
{
    (void)state;
    const uint32_t in[5] = {0xffc12345, 0x7f800001, 0x80000000, 0x00000001, 0xff800000};
    const uint32_t expected[5] = {0x7fc00000, 0x7fc00000, 0x80000000, 0x00000001, 0xff800000};
    float wide[5];
    uint32_t out[5];
    dtype_to_f32(DTYPE_F32, wide, in, 5);
    assert_memory_equal(wide, expected, sizeof expected);
    memcpy(wide, in, sizeof wide);
    dtype_from_f32(DTYPE_F32, out, wide, 5);
    assert_memory_equal(out, expected, sizeof expected);
}

/* The same elements whatever the array's length, alignment and whether dst is an operand. */
static void position_and_aliasing_change_no_element(void **state)
{
    (void)state;
    struct random r = {7};
    uint8_t a[600], b[600], whole[600], part[600];
    for (enum dtype dtype = DTYPE_F16; dtype <= DTYPE_F32; dtype++)
        for (enum redop op = REDOP_SUM; op <= REDOP_PROD; op++)
            for (size_t count = 0; count <= 70; count++) {
                const size_t bytes = count * dtype_bytes(dtype), at = count % 7;
                for (size_t i = 0; i < sizeof a; i++) {
                    a[i] = (uint8_t)next(&r);
                    b[i] = (uint8_t)next(&r);
                }
                for (size_t i = 0; i < count; i++)
                    dtype_reduce(dtype, op, whole + i * dtype_bytes(dtype),
                                 a + at + i * dtype_bytes(dtype), b + i * dtype_bytes(dtype), 1);
                memset(part, 0xa5, sizeof part);
                dtype_reduce(dtype, op, part + 1, a + at, b, count);
                assert_memory_equal(part + 1, whole, bytes);
                assert_int_equal(part[0], 0xa5);
                assert_int_equal(part[1 + bytes], 0xa5);
                memcpy(part, b, sizeof part);
                dtype_reduce(dtype, op, part, a + at, part, count); /* dst is b */
                assert_memory_equal(part, whole, bytes);
                dtype_reduce(dtype, op, a + at, a + at, b, count); /* dst is a */
                assert_memory_equal(a + at, whole, bytes);
            }
}

static void names_are_those_of_the_command_line(void **state)
{
    (void)state;
    enum dtype dtype = DTYPE_F32;
    enum redop op = REDOP_PROD;
    assert_true(dtype_parse("bf16", &dtype));
    assert_int_equal(dtype, DTYPE_BF16);
    assert_string_equal(dtype_name(dtype), "bf16");
    assert_int_equal(dtype_bytes(dtype), 2);
    assert_true(redop_parse("min", &op));
    assert_int_equal(op, REDOP_MIN);
    assert_string_equal(redop_name(op), "min");
    assert_false(dtype_parse("f8", &dtype));
    assert_false(redop_parse("", &op));
    assert_int_equal(dtype, DTYPE_BF16);
    assert_false(dtype_is_known(0) || dtype_is_known(9) || redop_is_known(0) || redop_is_known(5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_on_f16_rounds_once),
        cmocka_unit_test(an_operation_on_bf16_rounds_once),
        cmocka_unit_test(an_operation_on_f32_rounds_once),
        cmocka_unit_test(tiny_bf16_products_round_once),
        cmocka_unit_test(every_16_bit_number_widens_exactly_and_comes_back),
        cmocka_unit_test(narrowing_rounds_to_nearest_even),
        cmocka_unit_test(an_f32_passes_through_with_its_nan_made_canonical),
        cmocka_unit_test(position_and_aliasing_change_no_element),
        cmocka_unit_test(names_are_those_of_the_command_line),
    };
    return cmocka_run_group_tests_name("dtype", tests, NULL, NULL);
}
