/*
 * simd.h: blocks of 32 bytes, and the operations on them that dtype.c is made of. On x86-64 each is
 * an instruction of AVX2 or F16C. For other processors the compiler's vectors say the same, and a
 * type _Float16 that rounds to nearest even is all that is asked of them. Every operation has the
 * same bits on all processors; test_dtype.c compares with arithmetic on exact integers.
 */
#ifndef COLLECTIVES_SIMD_H
#define COLLECTIVES_SIMD_H

#include <stdint.h>

#if defined(__AVX2__) && defined(__F16C__)

#include <immintrin.h>

typedef __m256i bits256;
typedef __m128i bits128;
typedef __m256 f32x8;

static inline bits256 bits_zero(void) { return _mm256_setzero_si256(); }
static inline f32x8 f32_zero(void) { return _mm256_setzero_ps(); }
static inline f32x8 f32_of_bits(bits256 x) { return _mm256_castsi256_ps(x); }
static inline bits256 bits_of_f32(f32x8 x) { return _mm256_castps_si256(x); }
static inline bits256 halves(bits128 low, bits128 high) { return _mm256_set_m128i(high, low); }
static inline bits128 low_half(bits256 x) { return _mm256_castsi256_si128(x); }
static inline bits128 high_half(bits256 x) { return _mm256_extracti128_si256(x, 1); }
/* The upper half is of no account. */
static inline bits256 bits_wide(bits128 x) { return _mm256_castsi128_si256(x); }

static inline bits256 all16(short x) { return _mm256_set1_epi16(x); }
static inline bits256 all32(int x) { return _mm256_set1_epi32(x); }
static inline bits256 bits_and(bits256 a, bits256 b) { return _mm256_and_si256(a, b); }
static inline bits256 bits_xor(bits256 a, bits256 b) { return _mm256_xor_si256(a, b); }
static inline bits256 add_u32(bits256 a, bits256 b) { return _mm256_add_epi32(a, b); }
static inline bits256 shift_right_u16(bits256 x, int places)
{
    return _mm256_srli_epi16(x, places);
}
static inline bits256 shift_right_i16(bits256 x, int places)
{
    return _mm256_srai_epi16(x, places);
}
static inline bits256 shift_right_u32(bits256 x, int places)
{
    return _mm256_srli_epi32(x, places);
}
static inline bits256 shift_right_i32(bits256 x, int places)
{
    return _mm256_srai_epi32(x, places);
}
static inline bits256 max_i16(bits256 a, bits256 b) { return _mm256_max_epi16(a, b); }
static inline bits256 min_i16(bits256 a, bits256 b) { return _mm256_min_epi16(a, b); }
static inline bits256 max_i32(bits256 a, bits256 b) { return _mm256_max_epi32(a, b); }
static inline bits256 min_i32(bits256 a, bits256 b) { return _mm256_min_epi32(a, b); }
/* All bits of an element are 1 where a > b, else 0. */
static inline bits256 greater_i16(bits256 a, bits256 b) { return _mm256_cmpgt_epi16(a, b); }
static inline bits256 greater_i32(bits256 a, bits256 b) { return _mm256_cmpgt_epi32(a, b); }
/* b where the mask's bits are 1, else a. */
static inline bits256 bits_choose(bits256 a, bits256 b, bits256 mask)
{
    return _mm256_blendv_epi8(a, b, mask);
}
static inline f32x8 f32_add(f32x8 a, f32x8 b) { return _mm256_add_ps(a, b); }
static inline f32x8 f32_mul(f32x8 a, f32x8 b) { return _mm256_mul_ps(a, b); }
/* `nan` where x is a NaN, else x. */
static inline f32x8 f32_choose_nan(f32x8 x, f32x8 nan)
{
    return _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
/* Each element's lower half, where its upper half is 0. */
static inline bits128 u16_of_u32(bits256 x)
{
    return _mm_packus_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
}
static inline f32x8 f16_widen(bits128 x) { return _mm256_cvtph_ps(x); }
/* x is canonical: the upper bits of a NaN's payload stay, and they equal f16's NaN. */
static inline bits128 f16_narrow(f32x8 x)
{
    return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline f32x8 bf16_widen(bits128 x)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
}

#elif defined(__FLT16_MAX__)

typedef int64_t bits256 __attribute__((vector_size(32)));
typedef int64_t bits128 __attribute__((vector_size(16)));
typedef float f32x8 __attribute__((vector_size(32)));
typedef int16_t simd_i16 __attribute__((vector_size(32)));
typedef uint16_t simd_u16 __attribute__((vector_size(32)));
typedef int32_t simd_i32 __attribute__((vector_size(32)));
typedef uint32_t simd_u32 __attribute__((vector_size(32)));
typedef uint16_t simd_u16x8 __attribute__((vector_size(16)));
typedef _Float16 simd_f16x8 __attribute__((vector_size(16)));

static inline bits256 bits_zero(void) { return (bits256){0}; }
static inline f32x8 f32_zero(void) { return (f32x8){0}; }
static inline f32x8 f32_of_bits(bits256 x) { return (f32x8)x; }
static inline bits256 bits_of_f32(f32x8 x) { return (bits256)x; }
static inline bits256 halves(bits128 low, bits128 high)
{
    return (bits256){low[0], low[1], high[0], high[1]};
}
static inline bits128 low_half(bits256 x) { return (bits128){x[0], x[1]}; }
static inline bits128 high_half(bits256 x) { return (bits128){x[2], x[3]}; }
static inline bits256 bits_wide(bits128 x) { return (bits256){x[0], x[1]}; }

static inline bits256 all16(short x) { return (bits256)((simd_i16){0} + x); }
static inline bits256 all32(int x) { return (bits256)((simd_i32){0} + x); }
static inline bits256 bits_and(bits256 a, bits256 b) { return a & b; }
static inline bits256 bits_xor(bits256 a, bits256 b) { return a ^ b; }
static inline bits256 add_u32(bits256 a, bits256 b) { return (bits256)((simd_u32)a + (simd_u32)b); }
static inline bits256 shift_right_u16(bits256 x, int places)
{
    return (bits256)((simd_u16)x >> places);
}
static inline bits256 shift_right_i16(bits256 x, int places)
{
    return (bits256)((simd_i16)x >> places);
}
static inline bits256 shift_right_u32(bits256 x, int places)
{
    return (bits256)((simd_u32)x >> places);
}
static inline bits256 shift_right_i32(bits256 x, int places)
{
    /* cppcheck-suppress shiftTooManyBitsSigned ; it takes the vector for a number */
    return (bits256)((simd_i32)x >> places);
}
static inline bits256 greater_i16(bits256 a, bits256 b)
{
    return (bits256)((simd_i16)a > (simd_i16)b);
}
static inline bits256 greater_i32(bits256 a, bits256 b)
{
    return (bits256)((simd_i32)a > (simd_i32)b);
}
static inline bits256 bits_choose(bits256 a, bits256 b, bits256 mask)
{
    return (a & ~mask) | (b & mask);
}
static inline bits256 max_i16(bits256 a, bits256 b) { return bits_choose(b, a, greater_i16(a, b)); }
static inline bits256 min_i16(bits256 a, bits256 b) { return bits_choose(a, b, greater_i16(a, b)); }
static inline bits256 max_i32(bits256 a, bits256 b) { return bits_choose(b, a, greater_i32(a, b)); }
static inline bits256 min_i32(bits256 a, bits256 b) { return bits_choose(a, b, greater_i32(a, b)); }
static inline f32x8 f32_add(f32x8 a, f32x8 b) { return a + b; }
static inline f32x8 f32_mul(f32x8 a, f32x8 b) { return a * b; }
static inline f32x8 f32_choose_nan(f32x8 x, f32x8 nan)
{
    return f32_of_bits(bits_choose(bits_of_f32(x), bits_of_f32(nan), (bits256)(x != x)));
}
static inline bits128 u16_of_u32(bits256 x)
{
    return (bits128) __builtin_convertvector((simd_u32)x, simd_u16x8);
}
static inline f32x8 f16_widen(bits128 x) { return __builtin_convertvector((simd_f16x8)x, f32x8); }
static inline bits128 f16_narrow(f32x8 x)
{
    return (bits128) __builtin_convertvector(x, simd_f16x8);
}
static inline f32x8 bf16_widen(bits128 x)
{
    return (f32x8)(__builtin_convertvector((simd_u16x8)x, simd_u32) << 16);
}

#else
#error "dtype.c needs AVX2 and F16C, or a compiler with _Float16"
#endif

#endif
