/*
 * arithmetic.h: whole-number functions that hw and the folders above it share. Pure.
 */
#ifndef HW_ARITHMETIC_H
#define HW_ARITHMETIC_H

#include <stdint.h>

/* a / b rounded up; a + b is below 2^64. */
static inline uint64_t hw_ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/* The least multiple of `to` that is not below `value`; their sum is below 2^64. */
static inline uint64_t hw_round_up(uint64_t value, uint64_t to)
{
    return hw_ceil_div(value, to) * to;
}

/* splitmix64's finaliser: each bit of the result depends on each bit of z. core/rng.c has its own,
 * because core includes no other folder. */
static inline uint64_t hw_mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
