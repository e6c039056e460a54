/*
 * arithmetic.h: whole-number functions that hw and the folders above it share. Pure.
 */
#ifndef HW_ARITHMETIC_H
#define HW_ARITHMETIC_H

#include <stdint.h>

/* a / b rounded up; b is not 0, and a + b is below 2^64. */
/* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): weights and units are positive */
static inline uint64_t hw_ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/* The least multiple of `to` that is not below `value`; their sum is below 2^64. */
static inline uint64_t hw_round_up(uint64_t value, uint64_t to)
{
    return hw_ceil_div(value, to) * to;
}

/*
 * A divisor that is known long before the divisions: each becomes a multiplication. With
 * inverse m = (2^64 - 1 - r) / d and r < d, for x = q d + s with s < d:
 *   m (x + 1) = 2^64 (q + (s + 1) / d) - (1 + r) (x + 1) / d
 * 1. The part after the minus sign is positive, and (s + 1) / d is at most 1, so that this is
 * below 2^64 (q + 1).
 * 2. It is at least 2^64 q, since (1 + r) (x + 1) is at most 2^32 2^32, which is at most
 *    2^64 (s + 1).
 * So the high word of the product is q, for each x and each d of 32 bits.
 */
struct hw_divisor {
    uint64_t inverse;
    uint32_t value;
};

static inline struct hw_divisor hw_divisor_of(uint32_t value) /* not 0 */
{
    return (struct hw_divisor){UINT64_MAX / value, value};
}

static inline uint32_t hw_divide(uint32_t x, const struct hw_divisor *by)
{
    return (uint32_t)((__uint128_t)by->inverse * (x + UINT64_C(1)) >> 64);
}

static inline uint32_t hw_remainder(uint32_t x, const struct hw_divisor *by)
{
    return x - hw_divide(x, by) * by->value;
}

/* splitmix64's finaliser: each bit of the result depends on each bit of z. core/rng.c has its own,
 * because core includes no other folder. */
static inline uint64_t hw_mix_high(uint64_t z) /* the upper 31 bits of hw_mix(); others differ */
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    return (z ^ z >> 27) * 0x94d049bb133111ebu;
}
static inline uint64_t hw_mix(uint64_t z)
{
    z = hw_mix_high(z);
    return z ^ z >> 31;
}

#endif
