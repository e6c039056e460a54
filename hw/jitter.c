/*
 * jitter.c: draws (jitter.h). No floating point: mathematical libraries differ in their last bits,
 * and times must not.
 */
#include "hw/jitter.h"

#include <stddef.h>

#include "hw/arithmetic.h"

typedef __uint128_t u128;

static uint64_t combine(uint64_t hash, uint64_t value)
{
    return hw_mix(hash + value + 0x9E3779B97F4A7C15u);
}

static int64_t uniform_ps(const struct hw_jitter_kind *kind, uint64_t hash)
{
    const int64_t least = kind->mean_ps > kind->spread_ps ? kind->mean_ps - kind->spread_ps : 0;
    const uint64_t values = (uint64_t)(kind->mean_ps + kind->spread_ps - least) + 1;
    return least + (int64_t)((u128)hw_mix(hash) * values >> 64);
}

static int64_t normal_ps(const struct hw_jitter_kind *kind, uint64_t hash)
{
    int64_t sum = -6 * (1ll << 32); /* in units of 2^-32; with variance 1 */
    for (uint64_t i = 0; i < 6; i++) {
        const uint64_t two = combine(hash, i);
        sum += (int64_t)(two >> 32) + (int64_t)(two & UINT32_MAX);
    }
    const __int128_t away = (__int128_t)kind->spread_ps * sum / (1ll << 32);
    const int64_t ps = kind->mean_ps + (int64_t)away;
    return ps > 0 ? ps : 0;
}

/* -log2(x / 2^64) in units of 2^-32: the whole part by counting zeros, then bit by bit, each the
 * carry of a squaring. */
static uint64_t minus_log2(uint64_t x)
{
    const int zeros = __builtin_clzll(x);
    uint64_t m = x << zeros, fraction = 0; /* m / 2^63 is from 1 to 2 */
    for (int bit = 31; bit >= 0; bit--) {
        const u128 square = (u128)m * m >> 63;
        const bool carry = square >> 64 != 0;
        fraction |= (uint64_t)carry << bit;
        m = (uint64_t)(carry ? square >> 1 : square);
    }
    return (((uint64_t)zeros + 1) << 32) - fraction;
}

static int64_t exponential_ps(const struct hw_jitter_kind *kind, uint64_t hash)
{
    static const uint64_t ln2 = 2977044472; /* in units of 2^-32 */
    return (int64_t)((u128)kind->mean_ps * minus_log2(hw_mix(hash) | 1) * ln2 >> 64);
}

int64_t hw_jitter_draw_ps(const struct hw_jitter_kind *kind, uint64_t seed,
                          const struct hw_jitter_place *place, uint64_t operation)
{
    if (operation == HW_JITTER_PIECE || !hw_is_there(&kind->only, place))
        return 0;
    uint64_t hash = combine(combine(seed, kind->salt), (uint64_t)place->sip << 32 | place->cube);
    hash = combine(hash, (uint64_t)place->pe << 32 | place->index);
    hash = combine(hash, kind->per_instance ? 0 : operation);
    switch ((enum hw_jitter_distribution)kind->distribution) {
    case HW_JITTER_FIXED:
        return kind->mean_ps;
    case HW_JITTER_UNIFORM:
        return uniform_ps(kind, hash);
    case HW_JITTER_NORMAL:
        return normal_ps(kind, hash);
    case HW_JITTER_EXPONENTIAL:
        return exponential_ps(kind, hash);
    default:
        return 0;
    }
}
