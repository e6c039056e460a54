/*
 * dtype_scalar.c: arithmetic on f64, 8-bit floats and whole numbers (dtype_scalar.h).
 *
 * An 8-bit float is the upper part of an f32 with fewer exponents: f32's bits, shifted and with
 * another bias. E4M3 has a sign, 4 bits of exponent with bias 7 and 3 of fraction, no infinity, and
 * one NaN of each sign, whose magnitude is all ones; E5M2 has 5 with bias 15 and 2, and is to f16
 * what bf16 is to f32. Sums and products of two are computed in f32 and rounded again: f32 has p =
 * 24 >= 2 * 4 + 2 digits, so nothing is rounded twice (dtype.c says why).
 *
 * Whole numbers wrap, as C's unsigned ones do: sums and products have the same bits in any order.
 */
#include "collectives/data/dtype_scalar.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- 8-bit floats ---------------------------------------------------------------------------- */

struct fp8_format {
    int fraction_bits, bias;
    uint8_t greatest, nan, beyond; /* magnitudes; beyond: of values past the greatest */
};

static struct fp8_format fp8_format_of(enum dtype dtype)
{
    switch ((int)dtype) {
    case DTYPE_FP8_E4M3:
        return (struct fp8_format){3, 7, 0x7e, 0x7f, 0x7e};
    case DTYPE_FP8_E4M3_OPEN:
        return (struct fp8_format){3, 7, 0x7e, 0x7f, 0x7f};
    case DTYPE_FP8_E5M2:
        return (struct fp8_format){2, 15, 0x7b, 0x7e, 0x7b};
    default:
        return (struct fp8_format){2, 15, 0x7b, 0x7e, 0x7c};
    }
}

static inline float float_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t bits_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float widen8(struct fp8_format f, uint8_t bits)
{
    const uint32_t magnitude = bits & 0x7f, sign = (uint32_t)(bits & 0x80) << 24;
    const bool has_infinity = f.fraction_bits == 2;
    float x;
    if (magnitude > f.greatest)
        x = has_infinity && magnitude == 0x7c ? INFINITY : NAN;
    else if (magnitude >> f.fraction_bits == 0)
        x = (float)magnitude * float_of_bits((uint32_t)(128 - f.bias - f.fraction_bits) << 23);
    else
        x = float_of_bits((magnitude << (23 - f.fraction_bits)) + ((uint32_t)(127 - f.bias) << 23));
    return float_of_bits(bits_of_float(x) | sign);
}

/* The magnitude's bits, rounded as bf16_narrow() does it, and then with the format's bias; a
 * subnormal is a whole number of its last digits, to which adding 2^23 of them rounds. */
static inline uint8_t narrow8(struct fp8_format f, float x)
{
    const uint32_t bits = bits_of_float(x), magnitude = bits & 0x7fffffff;
    const uint8_t sign = (uint8_t)(bits >> 24 & 0x80);
    const int shift = 23 - f.fraction_bits;
    uint32_t code;
    if (magnitude > 0x7f800000)
        return f.nan;
    if (magnitude < (uint32_t)(128 - f.bias) << 23) {
        const float place = float_of_bits((uint32_t)(128 - f.bias - f.fraction_bits + 23) << 23);
        code = bits_of_float(float_of_bits(magnitude) + place) & 0x7f;
    } else {
        const uint32_t even = magnitude >> shift & 1, half = (1u << (shift - 1)) - 1 + even;
        code = ((magnitude + half) >> shift) - ((uint32_t)(127 - f.bias) << f.fraction_bits);
    }
    return (uint8_t)(sign | (code > f.greatest ? f.beyond : code));
}

float fp8_widen(enum dtype dtype, uint8_t bits) { return widen8(fp8_format_of(dtype), bits); }
uint8_t fp8_narrow(enum dtype dtype, float x) { return narrow8(fp8_format_of(dtype), x); }

/* Ordered as whole numbers are, -0 below +0; undoes itself (dtype.c, key16()). */
static inline int8_t key8(uint8_t bits) { return (int8_t)(bits >> 7 != 0 ? bits ^ 0x7f : bits); }

static uint8_t select8(struct fp8_format f, bool greater, uint8_t a, uint8_t b)
{
    const uint8_t infinity = f.fraction_bits == 2 ? 0x7c : 0x7e; /* the last that is no NaN */
    if ((a & 0x7f) > infinity || (b & 0x7f) > infinity)
        return f.nan;
    return (key8(a) > key8(b)) == greater ? a : b;
}

static void fp8_reduce(enum dtype dtype, enum redop op, uint8_t *dst, const uint8_t *a,
                       const uint8_t *b, size_t count)
{
    const struct fp8_format f = fp8_format_of(dtype);
    for (size_t i = 0; i < count; i++)
        dst[i] = op == REDOP_SUM    ? narrow8(f, widen8(f, a[i]) + widen8(f, b[i]))
                 : op == REDOP_PROD ? narrow8(f, widen8(f, a[i]) * widen8(f, b[i]))
                                    : select8(f, op == REDOP_MAX, a[i], b[i]);
}

/* ---- f64 ------------------------------------------------------------------------------------- */

static inline uint64_t bits_of_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double canonical64(double x)
{
    const uint64_t nan = UINT64_C(0x7ff8000000000000);
    if (x == x)
        return x;
    memcpy(&x, &nan, sizeof x);
    return x;
}

static inline int64_t key64(double x)
{
    const uint64_t bits = bits_of_double(x);
    return (int64_t)(bits >> 63 != 0 ? bits ^ (UINT64_MAX >> 1) : bits);
}

static double reduce64(enum redop op, double a, double b)
{
    if (op == REDOP_SUM)
        return canonical64(a + b);
    if (op == REDOP_PROD)
        return canonical64(a * b);
    if (a != a || b != b)
        return canonical64(NAN);
    return (key64(a) > key64(b)) == (op == REDOP_MAX) ? a : b;
}

/* ---- whole numbers --------------------------------------------------------------------------- */

static uint32_t reduce_whole(enum redop op, int32_t a, int32_t b)
{
    return op == REDOP_SUM    ? (uint32_t)a + (uint32_t)b
           : op == REDOP_PROD ? (uint32_t)a * (uint32_t)b
                              : (uint32_t)((a > b) == (op == REDOP_MAX) ? a : b);
}

/* To nearest even, the nearest that there is; no number is 0. */
static int32_t whole_of(double x, double least, double greatest)
{
    return x != x ? 0 : (int32_t)fmin(fmax(nearbyint(x), least), greatest);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

void scalar_reduce(enum dtype dtype, enum redop op, void *dst, const void *a, const void *b,
                   size_t count)
{
    if (dtype == DTYPE_F64) {
        for (size_t i = 0; i < count; i++) {
            double x, y;
            memcpy(&x, (const uint8_t *)a + i * sizeof x, sizeof x);
            memcpy(&y, (const uint8_t *)b + i * sizeof y, sizeof y);
            x = reduce64(op, x, y);
            memcpy((uint8_t *)dst + i * sizeof x, &x, sizeof x);
        }
    } else if (dtype == DTYPE_INT32) {
        for (size_t i = 0; i < count; i++) {
            int32_t x, y;
            memcpy(&x, (const uint8_t *)a + i * sizeof x, sizeof x);
            memcpy(&y, (const uint8_t *)b + i * sizeof y, sizeof y);
            const uint32_t result = reduce_whole(op, x, y);
            memcpy((uint8_t *)dst + i * sizeof result, &result, sizeof result);
        }
    } else if (dtype == DTYPE_INT8) {
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)dst)[i] =
                (uint8_t)reduce_whole(op, ((const int8_t *)a)[i], ((const int8_t *)b)[i]);
    } else {
        fp8_reduce(dtype, op, dst, a, b, count);
    }
}

void scalar_to_f64(enum dtype dtype, double *dst, const void *src, size_t count)
{
    const uint8_t *const from = src;
    for (size_t i = 0; i < count; i++) {
        int32_t whole;
        if (dtype == DTYPE_F64) {
            memcpy(&dst[i], from + i * sizeof *dst, sizeof *dst);
            dst[i] = canonical64(dst[i]);
        } else if (dtype == DTYPE_INT32) {
            memcpy(&whole, from + i * sizeof whole, sizeof whole);
            dst[i] = whole;
        } else {
            dst[i] = dtype == DTYPE_INT8 ? (int8_t)from[i] : fp8_widen(dtype, from[i]);
        }
    }
}

void scalar_from_f64(enum dtype dtype, void *dst, const double *src, size_t count)
{
    uint8_t *const to = dst;
    for (size_t i = 0; i < count; i++) {
        const double x = canonical64(src[i]);
        const int32_t whole = dtype == DTYPE_INT32 ? whole_of(x, INT32_MIN, INT32_MAX) : 0;
        if (dtype == DTYPE_F64)
            memcpy(to + i * sizeof x, &x, sizeof x);
        else if (dtype == DTYPE_INT32)
            memcpy(to + i * sizeof whole, &whole, sizeof whole);
        else
            to[i] = dtype == DTYPE_INT8 ? (uint8_t)whole_of(x, INT8_MIN, INT8_MAX)
                                        : fp8_narrow(dtype, (float)x);
    }
}
