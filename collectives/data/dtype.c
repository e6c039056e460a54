/*
 * dtype.c: element types (dtype.h). Everything is done on blocks of 32 bytes, one AVX2 register of
 * elements; the rest of an array goes through a padded block, so that one piece of code makes every
 * element whatever its position.
 *
 * Why f16 and bf16 may be computed in f32 and rounded again without a second rounding error:
 *   f16, sum.  f32 has p = 24 >= 2 * 11 + 2 digits, so rounding the exact sum to f32 and then to
 *     f16 gives what rounding it once to f16 gives (Figueroa, "When is double rounding
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
#include <immintrin.h>
#include <string.h>

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

/* ---- conversions of eight elements ---------------------------------------------------------- */

static inline __m256 f32_canonical(__m256 x)
{
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(NAN_F32));
    return _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

static inline __m256 f16_widen(__m128i x) { return _mm256_cvtph_ps(x); }

/* x is canonical: cvtps2ph keeps the upper bits of a NaN's payload, which are those of NAN_F16. */
static inline __m128i f16_narrow(__m256 x)
{
    return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline __m256 bf16_widen(__m128i x)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
}

/* Adding half a unit less one, plus the lowest digit that stays, carries exactly when rounding to
 * nearest even goes up, through the exponent and into infinity. A canonical NaN stays. */
static inline __m128i bf16_narrow(__m256 x)
{
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i even = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i half = _mm256_add_epi32(even, _mm256_set1_epi32(0x7fff));
    const __m256i high = _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
}

/* ---- operations on one block ---------------------------------------------------------------- */

typedef __m256i (*block_fn)(__m256i a, __m256i b);

static inline __m256i halves(__m128i low, __m128i high) { return _mm256_set_m128i(high, low); }
static inline __m128i low_half(__m256i x) { return _mm256_castsi256_si128(x); }
static inline __m128i high_half(__m256i x) { return _mm256_extracti128_si256(x, 1); }

static inline __m128i f16_sum8(__m128i a, __m128i b)
{
    return f16_narrow(f32_canonical(_mm256_add_ps(f16_widen(a), f16_widen(b))));
}
static inline __m128i f16_prod8(__m128i a, __m128i b)
{
    return f16_narrow(f32_canonical(_mm256_mul_ps(f16_widen(a), f16_widen(b))));
}
static inline __m128i bf16_sum8(__m128i a, __m128i b)
{
    return bf16_narrow(f32_canonical(_mm256_add_ps(bf16_widen(a), bf16_widen(b))));
}
static inline __m128i bf16_prod8(__m128i a, __m128i b)
{
    return bf16_narrow(f32_canonical(_mm256_mul_ps(bf16_widen(a), bf16_widen(b))));
}

static inline __m256i f16_sum(__m256i a, __m256i b)
{
    return halves(f16_sum8(low_half(a), low_half(b)), f16_sum8(high_half(a), high_half(b)));
}
static inline __m256i f16_prod(__m256i a, __m256i b)
{
    return halves(f16_prod8(low_half(a), low_half(b)), f16_prod8(high_half(a), high_half(b)));
}
static inline __m256i bf16_sum(__m256i a, __m256i b)
{
    return halves(bf16_sum8(low_half(a), low_half(b)), bf16_sum8(high_half(a), high_half(b)));
}
static inline __m256i bf16_prod(__m256i a, __m256i b)
{
    return halves(bf16_prod8(low_half(a), low_half(b)), bf16_prod8(high_half(a), high_half(b)));
}
static inline __m256i f32_sum(__m256i a, __m256i b)
{
    const __m256 sum = _mm256_add_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
    return _mm256_castps_si256(f32_canonical(sum));
}
static inline __m256i f32_prod(__m256i a, __m256i b)
{
    const __m256 product = _mm256_mul_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
    return _mm256_castps_si256(f32_canonical(product));
}

/*
 * Maximum and minimum work on the bits: with the magnitude's bits of negative numbers inverted,
 * the patterns of a type are ordered as signed integers, -0 next below +0. The inversion undoes
 * itself. MAXPS is no help: it returns its second operand for NaNs and for zeros of any sign.
 */
static inline __m256i key16(__m256i x)
{
    return _mm256_xor_si256(x, _mm256_srli_epi16(_mm256_srai_epi16(x, 15), 1));
}
static inline __m256i key32(__m256i x)
{
    return _mm256_xor_si256(x, _mm256_srli_epi32(_mm256_srai_epi32(x, 31), 1));
}

/* r, but `nan` where a or b is a NaN: greater in magnitude than infinity. */
static inline __m256i or_nan16(__m256i r, __m256i a, __m256i b, short infinity, short nan)
{
    const __m256i magnitude = _mm256_set1_epi16(0x7fff);
    const __m256i greater =
        _mm256_max_epi16(_mm256_and_si256(a, magnitude), _mm256_and_si256(b, magnitude));
    return _mm256_blendv_epi8(r, _mm256_set1_epi16(nan),
                              _mm256_cmpgt_epi16(greater, _mm256_set1_epi16(infinity)));
}
static inline __m256i or_nan32(__m256i r, __m256i a, __m256i b)
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    const __m256i greater =
        _mm256_max_epi32(_mm256_and_si256(a, magnitude), _mm256_and_si256(b, magnitude));
    return _mm256_blendv_epi8(r, _mm256_set1_epi32(NAN_F32),
                              _mm256_cmpgt_epi32(greater, _mm256_set1_epi32(0x7f800000)));
}

static inline __m256i max16(__m256i a, __m256i b)
{
    return key16(_mm256_max_epi16(key16(a), key16(b)));
}
static inline __m256i min16(__m256i a, __m256i b)
{
    return key16(_mm256_min_epi16(key16(a), key16(b)));
}
static inline __m256i f16_max(__m256i a, __m256i b)
{
    return or_nan16(max16(a, b), a, b, 0x7c00, NAN_F16);
}
static inline __m256i f16_min(__m256i a, __m256i b)
{
    return or_nan16(min16(a, b), a, b, 0x7c00, NAN_F16);
}
static inline __m256i bf16_max(__m256i a, __m256i b)
{
    return or_nan16(max16(a, b), a, b, 0x7f80, NAN_BF16);
}
static inline __m256i bf16_min(__m256i a, __m256i b)
{
    return or_nan16(min16(a, b), a, b, 0x7f80, NAN_BF16);
}
static inline __m256i f32_max(__m256i a, __m256i b)
{
    return or_nan32(key32(_mm256_max_epi32(key32(a), key32(b))), a, b);
}
static inline __m256i f32_min(__m256i a, __m256i b)
{
    return or_nan32(key32(_mm256_min_epi32(key32(a), key32(b))), a, b);
}

/* ---- arrays --------------------------------------------------------------------------------- */

static inline __m256i load_block(const uint8_t *from)
{
    __m256i block;
    memcpy(&block, from, sizeof block);
    return block;
}

/* Inlined once per operation, so that op is a known function in each loop. */
__attribute__((always_inline)) static inline void
for_blocks(block_fn op, uint8_t *dst, const uint8_t *a, const uint8_t *b, size_t bytes)
{
    size_t at = 0;
    for (; bytes - at >= BLOCK_BYTES; at += BLOCK_BYTES) {
        const __m256i result = op(load_block(a + at), load_block(b + at));
        memcpy(dst + at, &result, sizeof result);
    }
    if (at == bytes)
        return;
    uint8_t last_a[BLOCK_BYTES] = {0}, last_b[BLOCK_BYTES] = {0};
    memcpy(last_a, a + at, bytes - at);
    memcpy(last_b, b + at, bytes - at);
    const __m256i result = op(load_block(last_a), load_block(last_b));
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
    __m256i in = _mm256_setzero_si256();
    memcpy(&in, src, n * dtype_table[dtype].bytes);
    __m256 out = _mm256_castsi256_ps(in);
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
    __m256 in = _mm256_setzero_ps();
    memcpy(&in, src, n * sizeof *src);
    in = f32_canonical(in);
    __m256i out = _mm256_castps_si256(in);
    if (dtype == DTYPE_F16)
        out = _mm256_castsi128_si256(f16_narrow(in));
    else if (dtype == DTYPE_BF16)
        out = _mm256_castsi128_si256(bf16_narrow(in));
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
