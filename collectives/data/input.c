/*
 * input.c: the seeds' streams (input.h). x = (z >> 48) / 2^15 - 1 has 16 digits and is exact in
 * f32; the one rounding is the one to the dtype. f64 and whole numbers have values of their own.
 *
 * A seed of whole numbers has three fields above its 32 bits: the greatest value `most`, `apart`,
 * and whether there are zeros. Element g is zero unless g is a multiple of `apart`. Why sums are
 * exact: (1) the operands of element e are the elements k * n_elem + e; (2) `apart` and n_elem have
 * no common factor, so of `apart` operands in a row exactly one is at a multiple of `apart`; (3) so
 * at most operands / apart + 1 of them are not zero, and most * (that) is at most the dtype's
 * last whole number before the first gap.
 */
#include "collectives/data/input.h"

#include <string.h>

#include "hw/arithmetic.h"

#define PIECE  512u
#define STRIDE UINT64_C(0x9e3779b97f4a7c15) /* of splitmix64, from one element to the next */

/* A seed of whole numbers: bits 32 to 55 have `apart`, 56 to 59 `most`. */
enum { APART_BIT = 32, APART_BITS = 24, MOST_BIT = 56, MOST_BITS = 4, MOST = 8 };
#define IS_PRODUCT  (UINT64_C(1) << 62) /* 1 and -1 */
#define IS_INTEGERS (UINT64_C(1) << 63)

static float integer_at(uint64_t seed, uint64_t g)
{
    const uint64_t z = hw_mix(((seed << 32) + g + 1) * STRIDE);
    const uint64_t apart = seed >> APART_BIT & ((1u << APART_BITS) - 1);
    const uint64_t most = seed >> MOST_BIT & ((1u << MOST_BITS) - 1);
    if ((seed & IS_PRODUCT) != 0)
        return z >> 63 != 0 ? 1 : -1;
    return g % apart != 0 ? 0 : (float)((int64_t)((z >> 32) % (2 * most + 1)) - (int64_t)most);
}

static bool has_common_factor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a > 1;
}

uint64_t input_integers(uint64_t seed, enum dtype dtype, enum redop op, uint64_t operands,
                        uint64_t n_elem)
{
    const uint64_t last = dtype_whole_max(dtype);
    const uint64_t low = seed & UINT32_MAX;
    uint64_t most = last / operands, apart = 1;
    if (op == REDOP_PROD)
        return low | IS_INTEGERS | IS_PRODUCT;
    most = most > MOST ? MOST : most;
    if (most == 0) {
        most = 1;
        for (apart = operands / (last - 1) + 1; has_common_factor(apart, n_elem);)
            apart++;
    }
    return low | apart << APART_BIT | most << MOST_BIT | IS_INTEGERS;
}

/* Types that need more than the 16 digits of the others: f64 has all that fit, and a whole number
 * is the upper bits. */
static void fill_wide(enum dtype dtype, uint64_t seed, uint64_t first, uint8_t *dst, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t z = hw_mix(((seed << 32) + first + i + 1) * STRIDE);
        double x = (int32_t)(z >> 32);
        if ((seed & IS_INTEGERS) != 0)
            x = integer_at(seed, first + i);
        else if (dtype == DTYPE_F64)
            x = (double)(z >> 11) * 0x1p-52 - 1;
        else if (dtype == DTYPE_INT8)
            x = (int8_t)(z >> 56);
        dtype_from_f64(dtype, dst + i * dtype_bytes(dtype), &x, 1);
    }
}

void input_fill(enum dtype dtype, uint64_t seed, uint64_t first, void *dst, size_t count)
{
    const uint64_t stream = (seed << 32) + first + 1;
    float piece[PIECE];
    if (dtype_digits(dtype) == 0 || dtype == DTYPE_F64) {
        fill_wide(dtype, seed, first, dst, count);
        return;
    }
    for (size_t done = 0; done < count; done += PIECE) {
        const size_t n = count - done < PIECE ? count - done : PIECE;
        uint64_t z = (stream + done) * STRIDE;
        for (size_t i = 0; i < n; i++, z += STRIDE) /* compiles to vectors of four */
            piece[i] = (float)((int32_t)(hw_mix_high(z) >> 48) - 32768) * (1.0f / 32768);
        for (size_t i = 0; i < n && (seed & IS_INTEGERS) != 0; i++)
            piece[i] = integer_at(seed, first + done + i);
        dtype_from_f32(dtype, (uint8_t *)dst + done * dtype_bytes(dtype), piece, n);
    }
}

void input_take(enum dtype dtype, const void *values, uint64_t seed, uint64_t first, void *dst,
                size_t count)
{
    const size_t itemsize = dtype_bytes(dtype);
    if (values == NULL)
        input_fill(dtype, seed, first, dst, count);
    else
        memcpy(dst, (const uint8_t *)values + first * itemsize, count * itemsize);
}
