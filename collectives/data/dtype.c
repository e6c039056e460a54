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
#include <math.h>
#include <string.h>

#include "collectives/data/dtype_scalar.h"
#include "collectives/data/simd.h"

#define BLOCK_BYTES 32u
#define NAN_F16     0x7e00
#define NAN_BF16    0x7fc0
#define NAN_F32     0x7fc00000

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct {
    const char *name[3];
} dtype_table[LP_DTYPES] = {
#define DTYPE_ROW(name, text, bytes, nccl, other) [DTYPE_##name] = {{text, nccl, other}},
    LP_DTYPE_LIST(DTYPE_ROW)
#undef DTYPE_ROW
};
/* name, nccl-tests' */
static const char *const redop_table[REDOPS][2] = {
    [REDOP_SUM] = {"sum", "sum"}, [REDOP_MAX] = {"max", "max"},
    [REDOP_MIN] = {"min", "min"}, [REDOP_PROD] = {"prod", "prod"},
    [REDOP_AVG] = {"avg", "avg"}, [REDOP_PREMULSUM] = {"premulsum", "mulsum"}};
/* Of types with fractions. */
static const struct {
    int digits, least_exponent;
} format_table[LP_DTYPES] = {
    [DTYPE_F16] = {11, -24},   [DTYPE_BF16] = {8, -133},   [DTYPE_F32] = {24, -149},
    [DTYPE_F64] = {53, -1074}, [DTYPE_FP8_E4M3] = {4, -9}, [DTYPE_FP8_E5M2] = {3, -16}};

/* The type as records have it. */
static inline enum dtype recorded(enum dtype dtype)
{
    return dtype == DTYPE_FP8_E4M3_OPEN   ? DTYPE_FP8_E4M3
           : dtype == DTYPE_FP8_E5M2_OPEN ? DTYPE_FP8_E5M2
                                          : dtype;
}

bool dtype_is_known(unsigned dtype) { return lp_dtype_is_known(dtype); }
bool redop_is_known(unsigned op) { return op >= REDOP_SUM && op <= REDOP_PROD; }

enum redop redop_of_kernels(enum redop op)
{
    return op == REDOP_AVG || op == REDOP_PREMULSUM ? REDOP_SUM : op;
}

size_t dtype_bytes(enum dtype dtype)
{
    assert(dtype_is_known(recorded(dtype)));
    return lp_dtype_bytes((enum lp_dtype)recorded(dtype));
}

const char *dtype_name(enum dtype dtype)
{
    return dtype_is_known(recorded(dtype)) ? dtype_table[recorded(dtype)].name[0] : "?";
}

const char *redop_name(enum redop op)
{
    return op >= REDOP_SUM && op < REDOPS ? redop_table[op][0] : "?";
}

const char *dtype_at(size_t i) { return i + 1 < LP_DTYPES ? dtype_table[i + 1].name[0] : NULL; }

const char *redop_at(size_t i)
{
    return REDOP_SUM + i < REDOPS ? redop_table[REDOP_SUM + i][0] : NULL;
}

bool dtype_parse(const char *name, enum dtype *dtype)
{
    for (size_t i = 1; i < LP_DTYPES; i++)
        for (size_t k = 0; k < COUNT(dtype_table[i].name); k++)
            if (!strcmp(name, dtype_table[i].name[k])) {
                *dtype = (enum dtype)i;
                return true;
            }
    return false;
}

bool redop_parse(const char *name, enum redop *op)
{
    for (size_t i = REDOP_SUM; i < REDOPS; i++)
        if (!strcmp(name, redop_table[i][0]) || !strcmp(name, redop_table[i][1])) {
            *op = (enum redop)i;
            return true;
        }
    return false;
}

enum dtype dtype_of_results(enum dtype dtype, struct ccl_arithmetic arithmetic)
{
    if (arithmetic.fp8_overflow == CCL_FP8_SATURATE)
        return dtype;
    return dtype == DTYPE_FP8_E4M3   ? DTYPE_FP8_E4M3_OPEN
           : dtype == DTYPE_FP8_E5M2 ? DTYPE_FP8_E5M2_OPEN
                                     : dtype;
}

int dtype_digits(enum dtype dtype) { return format_table[recorded(dtype)].digits; }
int dtype_least_exponent(enum dtype dtype) { return format_table[recorded(dtype)].least_exponent; }

uint64_t dtype_whole_max(enum dtype dtype)
{
    return dtype == DTYPE_INT8    ? INT8_MAX
           : dtype == DTYPE_INT32 ? INT32_MAX
                                  : (uint64_t)1 << dtype_digits(dtype);
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
    assert(dtype_is_known(recorded(dtype)) && redop_is_known(op));
    if (dtype >= DTYPE_F64) {
        scalar_reduce(dtype, op, dst, a, b, count);
        return;
    }
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
    memcpy(&in, src, n * lp_dtype_bytes((enum lp_dtype)dtype));
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
    memcpy(dst, &out, n * lp_dtype_bytes((enum lp_dtype)dtype));
}

__attribute__((always_inline)) static inline void widen_all(enum dtype dtype, float *dst,
                                                            const uint8_t *src, size_t count)
{
    size_t i = 0;
    for (; count - i >= 8; i += 8)
        dtype_widen(dtype, dst + i, src + i * lp_dtype_bytes((enum lp_dtype)dtype), 8);
    dtype_widen(dtype, dst + i, src + i * lp_dtype_bytes((enum lp_dtype)dtype), count - i);
}

__attribute__((always_inline)) static inline void narrow_all(enum dtype dtype, uint8_t *dst,
                                                             const float *src, size_t count)
{
    size_t i = 0;
    for (; count - i >= 8; i += 8)
        dtype_narrow(dtype, dst + i * lp_dtype_bytes((enum lp_dtype)dtype), src + i, 8);
    dtype_narrow(dtype, dst + i * lp_dtype_bytes((enum lp_dtype)dtype), src + i, count - i);
}

enum { PIECE = 256 }; /* elements that are converted at a time */

void dtype_to_f32(enum dtype dtype, float *dst, const void *src, size_t count)
{
    double piece[PIECE];
    if (dtype == DTYPE_F16)
        widen_all(DTYPE_F16, dst, src, count);
    else if (dtype == DTYPE_BF16)
        widen_all(DTYPE_BF16, dst, src, count);
    else if (dtype == DTYPE_F32)
        widen_all(DTYPE_F32, dst, src, count);
    else
        for (size_t done = 0; done < count; done += PIECE) {
            const size_t n = count - done < PIECE ? count - done : PIECE;
            scalar_to_f64(dtype, piece, (const uint8_t *)src + done * dtype_bytes(dtype), n);
            for (size_t i = 0; i < n; i++)
                dst[done + i] = (float)piece[i];
        }
}

void dtype_from_f32(enum dtype dtype, void *dst, const float *src, size_t count)
{
    double piece[PIECE];
    if (dtype == DTYPE_F16)
        narrow_all(DTYPE_F16, dst, src, count);
    else if (dtype == DTYPE_BF16)
        narrow_all(DTYPE_BF16, dst, src, count);
    else if (dtype == DTYPE_F32)
        narrow_all(DTYPE_F32, dst, src, count);
    else
        for (size_t done = 0; done < count; done += PIECE) {
            const size_t n = count - done < PIECE ? count - done : PIECE;
            for (size_t i = 0; i < n; i++)
                piece[i] = src[done + i];
            scalar_from_f64(dtype, (uint8_t *)dst + done * dtype_bytes(dtype), piece, n);
        }
}

void dtype_to_f64(enum dtype dtype, double *dst, const void *src, size_t count)
{
    float piece[PIECE];
    if (dtype >= DTYPE_F64) {
        scalar_to_f64(dtype, dst, src, count);
        return;
    }
    for (size_t done = 0; done < count; done += PIECE) {
        const size_t n = count - done < PIECE ? count - done : PIECE;
        dtype_to_f32(dtype, piece, (const uint8_t *)src + done * dtype_bytes(dtype), n);
        for (size_t i = 0; i < n; i++)
            dst[done + i] = piece[i];
    }
}

/* To as many digits as a type has that is not greater than f32; its greatest number is another
 * matter. */
static float rounded_once(enum dtype dtype, double x)
{
    int exponent;
    if (x == 0 || !isfinite(x))
        return (float)x;
    (void)frexp(x, &exponent);
    const int least = dtype_least_exponent(dtype), own = exponent - dtype_digits(dtype);
    const int last = own > least ? own : least;
    return (float)ldexp(nearbyint(ldexp(x, -last)), last);
}

void dtype_from_f64(enum dtype dtype, void *dst, const double *src, size_t count)
{
    const enum dtype known = recorded(dtype);
    float piece[PIECE];
    if (known == DTYPE_F64 || known == DTYPE_INT8 || known == DTYPE_INT32) {
        scalar_from_f64(dtype, dst, src, count);
        return;
    }
    for (size_t done = 0; done < count; done += PIECE) {
        const size_t n = count - done < PIECE ? count - done : PIECE;
        for (size_t i = 0; i < n; i++)
            piece[i] = rounded_once(dtype, src[done + i]);
        dtype_from_f32(dtype, (uint8_t *)dst + done * dtype_bytes(dtype), piece, n);
    }
}

static bool needs_f64(enum dtype dtype) { return dtype == DTYPE_F64 || dtype == DTYPE_INT32; }

void dtype_convert(enum dtype to, void *dst, enum dtype from, const void *src, size_t count)
{
    for (size_t done = 0; done < count; done += PIECE) {
        const size_t n = count - done < PIECE ? count - done : PIECE;
        const void *const in = (const uint8_t *)src + done * dtype_bytes(from);
        void *const out = (uint8_t *)dst + done * dtype_bytes(to);
        if (needs_f64(from) || needs_f64(to)) {
            double wide[PIECE];
            dtype_to_f64(from, wide, in, n);
            dtype_from_f64(to, out, wide, n);
        } else {
            float wide[PIECE];
            dtype_to_f32(from, wide, in, n);
            dtype_from_f32(to, out, wide, n);
        }
    }
}

/* ---- values that are not finite -------------------------------------------------------------- */

/* Of a type of the template's size: all ones in the exponent. */
#define COUNT_EXPONENTS(name, type)                                                                \
    static uint64_t name(const uint8_t *values, size_t count, type exponent)                       \
    {                                                                                              \
        uint64_t not_finite = 0;                                                                   \
        for (size_t i = 0; i < count; i++) {                                                       \
            type bits;                                                                             \
            memcpy(&bits, values + i * sizeof bits, sizeof bits);                                  \
            not_finite += (bits & exponent) == exponent;                                           \
        }                                                                                          \
        return not_finite;                                                                         \
    }
COUNT_EXPONENTS(count_exponents8, uint8_t)
COUNT_EXPONENTS(count_exponents16, uint16_t)
COUNT_EXPONENTS(count_exponents32, uint32_t)
COUNT_EXPONENTS(count_exponents64, uint64_t)

uint64_t dtype_count_not_finite(enum dtype dtype, const void *values, size_t count)
{
    switch (recorded(dtype)) {
    case DTYPE_F16:
        return count_exponents16(values, count, 0x7c00);
    case DTYPE_BF16:
        return count_exponents16(values, count, 0x7f80);
    case DTYPE_F32:
        return count_exponents32(values, count, 0x7f800000);
    case DTYPE_F64:
        return count_exponents64(values, count, UINT64_C(0x7ff0000000000000));
    case DTYPE_FP8_E4M3: /* NaN alone */
        return count_exponents8(values, count, 0x7f);
    case DTYPE_FP8_E5M2:
        return count_exponents8(values, count, 0x7c);
    default:
        return 0;
    }
}
