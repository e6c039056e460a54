/*
 * dtype.c: element types (dtype.h). Everything is done on blocks of 32 bytes (simd.h); the
 * rest of an array goes through a padded block, so that one piece of code makes every element
 * whatever its position.
 *
 * Why f16 and bf16 may be computed in f32 and rounded again without a second rounding error:
 *   f16, sum.  f32 has p = 24 >= 2 * 11 + 2 digits, so rounding the exact sum to f32 and then to
 *     f16 gives the same as rounding it once to f16 (Figueroa, "When is double rounding
 *     innocuous?", 1995); where the f16 result is subnormal, the sum of two multiples of 2^-24
 *     is exact in f32, and the theorem needs nothing.
 *   f16, prod.  11 + 11 digits fit in 24 and exponents from -48 to 31 are normal in f32: exact.
 *   bf16, sum.  p = 8, the same theorem; both types have the same exponent range, so a subnormal
 *     result is an exact sum of multiples of 2^-133. A sum that overflows f32 overflows bf16.
 *   bf16, prod.  16 digits: exact where the product is a multiple of 2^-149, which it is whenever
 *     its leading digit is 2^-134 or more. Below that, both the f32 value, at most 2^-134, and
 *     the exact product round to bf16 zero (half of 2^-133 is a tie, and goes to even).
 * test_dtype.c compares with arithmetic on exact integers.
 */
#include "collectives/data/dtype.h"

#include <assert.h>
#include <string.h>

#include "collectives/data/simd.h"

#define BLOCK_BYTES 32u
#define NAN_F16     0x7e00
#define NAN_BF16    0x7fc0
#define NAN_F32     0x7fc00000

static const struct {
    const char *name;
    size_t bytes;
} dtype_table[] = {[DTYPE_F16] = {"f16", 2}, [DTYPE_BF16] = {"bf16", 2}, [DTYPE_F32] = {"f32", 4}};
static const char *const redop_table[] = {
    [REDOP_SUM] = "sum", [REDOP_MAX] = "max", [REDOP_MIN] = "min", [REDOP_PROD] = "prod"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

bool dtype_is_known(unsigned dtype) { return dtype >= DTYPE_F16 && dtype <= DTYPE_F32; }
bool redop_is_known(unsigned op) { return op >= REDOP_SUM && op <= REDOP_PROD; }

size_t dtype_bytes(enum dtype dtype)
{
    assert(dtype_is_known(dtype));
    return dtype_table[dtype].bytes;
}

const char *dtype_name(enum dtype dtype)
{
    return dtype_is_known(dtype) ? dtype_table[dtype].name : "?";
}

const char *redop_name(enum redop op) { return redop_is_known(op) ? redop_table[op] : "?"; }

bool dtype_parse(const char *name, enum dtype *dtype)
{
    for (size_t i = DTYPE_F16; i < COUNT(dtype_table); i++)
        if (!strcmp(name, dtype_table[i].name)) {
            *dtype = (enum dtype)i;
            return true;
        }
    return false;
}

bool redop_parse(const char *name, enum redop *op)
{
    for (size_t i = REDOP_SUM; i < COUNT(redop_table); i++)
        if (!strcmp(name, redop_table[i])) {
            *op = (enum redop)i;
            return true;
        }
    return false;
}

/* ---- conversions of eight elements ----------------------------------------------------------- */

static inline f32x8 f32_canonical(f32x8 x)
{
    return f32_choose_nan(x, f32_of_bits(all32(NAN_F32)));
}

/* Adding half a unit less one, plus the lowest digit that stays, carries exactly when rounding to
 * nearest even goes up, through the exponent and into infinity. A canonical NaN stays. */
static inline bits128 bf16_narrow(f32x8 x)
{
    const bits256 bits = bits_of_f32(x);
    const bits256 even = bits_and(shift_right_u32(bits, 16), all32(1));
    const bits256 half = add_u32(even, all32(0x7fff));
    return u16_of_u32(shift_right_u32(add_u32(bits, half), 16));
}

/* ---- operations on one block ----------------------------------------------------------------- */

typedef bits256 (*block_fn)(bits256 a, bits256 b);

static inline bits128 f16_sum8(bits128 a, bits128 b)
{
    return f16_narrow(f32_canonical(f32_add(f16_widen(a), f16_widen(b))));
}
static inline bits128 f16_prod8(bits128 a, bits128 b)
{
    return f16_narrow(f32_canonical(f32_mul(f16_widen(a), f16_widen(b))));
}
static inline bits128 bf16_sum8(bits128 a, bits128 b)
{
    return bf16_narrow(f32_canonical(f32_add(bf16_widen(a), bf16_widen(b))));
}
static inline bits128 bf16_prod8(bits128 a, bits128 b)
{
    return bf16_narrow(f32_canonical(f32_mul(bf16_widen(a), bf16_widen(b))));
}

static inline bits256 f16_sum(bits256 a, bits256 b)
{
    return halves(f16_sum8(low_half(a), low_half(b)), f16_sum8(high_half(a), high_half(b)));
}
static inline bits256 f16_prod(bits256 a, bits256 b)
{
    return halves(f16_prod8(low_half(a), low_half(b)), f16_prod8(high_half(a), high_half(b)));
}
static inline bits256 bf16_sum(bits256 a, bits256 b)
{
    return halves(bf16_sum8(low_half(a), low_half(b)), bf16_sum8(high_half(a), high_half(b)));
}
static inline bits256 bf16_prod(bits256 a, bits256 b)
{
    return halves(bf16_prod8(low_half(a), low_half(b)), bf16_prod8(high_half(a), high_half(b)));
}
static inline bits256 f32_sum(bits256 a, bits256 b)
{
    const f32x8 sum = f32_add(f32_of_bits(a), f32_of_bits(b));
    return bits_of_f32(f32_canonical(sum));
}
static inline bits256 f32_prod(bits256 a, bits256 b)
{
    const f32x8 product = f32_mul(f32_of_bits(a), f32_of_bits(b));
    return bits_of_f32(f32_canonical(product));
}

/*
 * Maximum and minimum work on the bits: with the magnitude's bits of negative numbers inverted,
 * the patterns of a type are ordered as signed integers, -0 next below +0. The inversion undoes
 * itself. MAXPS is no help: it returns its second operand for NaNs and for zeros of any sign.
 */
static inline bits256 key16(bits256 x)
{
    return bits_xor(x, shift_right_u16(shift_right_i16(x, 15), 1));
}
static inline bits256 key32(bits256 x)
{
    return bits_xor(x, shift_right_u32(shift_right_i32(x, 31), 1));
}

/* r, but `nan` where a or b is a NaN: greater in magnitude than infinity. */
static inline bits256 or_nan16(bits256 r, bits256 a, bits256 b, short infinity, short nan)
{
    const bits256 magnitude = all16(0x7fff);
    const bits256 greater = max_i16(bits_and(a, magnitude), bits_and(b, magnitude));
    return bits_choose(r, all16(nan), greater_i16(greater, all16(infinity)));
}
static inline bits256 or_nan32(bits256 r, bits256 a, bits256 b)
{
    const bits256 magnitude = all32(0x7fffffff);
    const bits256 greater = max_i32(bits_and(a, magnitude), bits_and(b, magnitude));
    return bits_choose(r, all32(NAN_F32), greater_i32(greater, all32(0x7f800000)));
}

static inline bits256 max16(bits256 a, bits256 b) { return key16(max_i16(key16(a), key16(b))); }
static inline bits256 min16(bits256 a, bits256 b) { return key16(min_i16(key16(a), key16(b))); }
static inline bits256 f16_max(bits256 a, bits256 b)
{
    return or_nan16(max16(a, b), a, b, 0x7c00, NAN_F16);
}
static inline bits256 f16_min(bits256 a, bits256 b)
{
    return or_nan16(min16(a, b), a, b, 0x7c00, NAN_F16);
}
static inline bits256 bf16_max(bits256 a, bits256 b)
{
    return or_nan16(max16(a, b), a, b, 0x7f80, NAN_BF16);
}
static inline bits256 bf16_min(bits256 a, bits256 b)
{
    return or_nan16(min16(a, b), a, b, 0x7f80, NAN_BF16);
}
static inline bits256 f32_max(bits256 a, bits256 b)
{
    return or_nan32(key32(max_i32(key32(a), key32(b))), a, b);
}
static inline bits256 f32_min(bits256 a, bits256 b)
{
    return or_nan32(key32(min_i32(key32(a), key32(b))), a, b);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static inline bits256 load_block(const uint8_t *from)
{
    bits256 block;
    memcpy(&block, from, sizeof block);
    return block;
}

/* Inlined once per operation, so that op is a known function in each loop. */
__attribute__((always_inline)) static inline void
for_blocks(block_fn op, uint8_t *dst, const uint8_t *a, const uint8_t *b, size_t bytes)
{
    size_t at = 0;
    for (; bytes - at >= BLOCK_BYTES; at += BLOCK_BYTES) {
        const bits256 result = op(load_block(a + at), load_block(b + at));
        memcpy(dst + at, &result, sizeof result);
    }
    if (at == bytes)
        return;
    uint8_t last_a[BLOCK_BYTES] = {0}, last_b[BLOCK_BYTES] = {0};
    memcpy(last_a, a + at, bytes - at);
    memcpy(last_b, b + at, bytes - at);
    const bits256 result = op(load_block(last_a), load_block(last_b));
    memcpy(dst + at, &result, bytes - at);
}

void dtype_reduce(enum dtype dtype, enum redop op, void *dst, const void *a, const void *b,
                  size_t count)
{
    assert(dtype_is_known(dtype) && redop_is_known(op));
    const size_t bytes = count * dtype_bytes(dtype);
    switch (dtype * 8 + op) {
    case DTYPE_F16 * 8 + REDOP_SUM:
        for_blocks(f16_sum, dst, a, b, bytes);
        break;
    case DTYPE_F16 * 8 + REDOP_MAX:
        for_blocks(f16_max, dst, a, b, bytes);
        break;
    case DTYPE_F16 * 8 + REDOP_MIN:
        for_blocks(f16_min, dst, a, b, bytes);
        break;
    case DTYPE_F16 * 8 + REDOP_PROD:
        for_blocks(f16_prod, dst, a, b, bytes);
        break;
    case DTYPE_BF16 * 8 + REDOP_SUM:
        for_blocks(bf16_sum, dst, a, b, bytes);
        break;
    case DTYPE_BF16 * 8 + REDOP_MAX:
        for_blocks(bf16_max, dst, a, b, bytes);
        break;
    case DTYPE_BF16 * 8 + REDOP_MIN:
        for_blocks(bf16_min, dst, a, b, bytes);
        break;
    case DTYPE_BF16 * 8 + REDOP_PROD:
        for_blocks(bf16_prod, dst, a, b, bytes);
        break;
    case DTYPE_F32 * 8 + REDOP_SUM:
        for_blocks(f32_sum, dst, a, b, bytes);
        break;
    case DTYPE_F32 * 8 + REDOP_MAX:
        for_blocks(f32_max, dst, a, b, bytes);
        break;
    case DTYPE_F32 * 8 + REDOP_MIN:
        for_blocks(f32_min, dst, a, b, bytes);
        break;
    case DTYPE_F32 * 8 + REDOP_PROD:
        for_blocks(f32_prod, dst, a, b, bytes);
        break;
    }
}

/* Converts n <= 8 elements; a caller that knows n gets straight moves. */
__attribute__((always_inline)) static inline void dtype_widen(enum dtype dtype, float *dst,
                                                              const uint8_t *src, size_t n)
{
    bits256 in = bits_zero();
    memcpy(&in, src, n * dtype_table[dtype].bytes);
    f32x8 out = f32_of_bits(in);
    if (dtype == DTYPE_F16)
        out = f16_widen(low_half(in));
    else if (dtype == DTYPE_BF16)
        out = bf16_widen(low_half(in));
    out = f32_canonical(out);
    memcpy(dst, &out, n * sizeof *dst);
}

__attribute__((always_inline)) static inline void dtype_narrow(enum dtype dtype, uint8_t *dst,
                                                               const float *src, size_t n)
{
    f32x8 in = f32_zero();
    memcpy(&in, src, n * sizeof *src);
    in = f32_canonical(in);
    bits256 out = bits_of_f32(in);
    if (dtype == DTYPE_F16)
        out = bits_wide(f16_narrow(in));
    else if (dtype == DTYPE_BF16)
        out = bits_wide(bf16_narrow(in));
    memcpy(dst, &out, n * dtype_table[dtype].bytes);
}

__attribute__((always_inline)) static inline void widen_all(enum dtype dtype, float *dst,
                                                            const uint8_t *src, size_t count)
{
    size_t i = 0;
    for (; count - i >= 8; i += 8)
        dtype_widen(dtype, dst + i, src + i * dtype_table[dtype].bytes, 8);
    dtype_widen(dtype, dst + i, src + i * dtype_table[dtype].bytes, count - i);
}

__attribute__((always_inline)) static inline void narrow_all(enum dtype dtype, uint8_t *dst,
                                                             const float *src, size_t count)
{
    size_t i = 0;
    for (; count - i >= 8; i += 8)
        dtype_narrow(dtype, dst + i * dtype_table[dtype].bytes, src + i, 8);
    dtype_narrow(dtype, dst + i * dtype_table[dtype].bytes, src + i, count - i);
}

void dtype_to_f32(enum dtype dtype, float *dst, const void *src, size_t count)
{
    switch (dtype) {
    case DTYPE_F16:
        widen_all(DTYPE_F16, dst, src, count);
        break;
    case DTYPE_BF16:
        widen_all(DTYPE_BF16, dst, src, count);
        break;
    case DTYPE_F32:
        widen_all(DTYPE_F32, dst, src, count);
        break;
    }
}

void dtype_from_f32(enum dtype dtype, void *dst, const float *src, size_t count)
{
    switch (dtype) {
    case DTYPE_F16:
        narrow_all(DTYPE_F16, dst, src, count);
        break;
    case DTYPE_BF16:
        narrow_all(DTYPE_BF16, dst, src, count);
        break;
    case DTYPE_F32:
        narrow_all(DTYPE_F32, dst, src, count);
        break;
    }
}

static uint64_t count_exponents16(const uint8_t *values, size_t count, uint16_t exponent)
{
    uint64_t not_finite = 0;
    for (size_t i = 0; i < count; i++) {
        uint16_t bits;
        memcpy(&bits, values + i * sizeof bits, sizeof bits);
        not_finite += (bits & exponent) == exponent;
    }
    return not_finite;
}

static uint64_t count_exponents32(const uint8_t *values, size_t count, uint32_t exponent)
{
    uint64_t not_finite = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, values + i * sizeof bits, sizeof bits);
        not_finite += (bits & exponent) == exponent;
    }
    return not_finite;
}

uint64_t dtype_count_not_finite(enum dtype dtype, const void *values, size_t count)
{
    return dtype == DTYPE_F16    ? count_exponents16(values, count, 0x7c00)
           : dtype == DTYPE_BF16 ? count_exponents16(values, count, 0x7f80)
                                 : count_exponents32(values, count, 0x7f800000);
}
