/*
 * hash.h: the trace hash, one number that is equal for two runs if, and only if (but for chance),
 * every LP committed the same events in the same order.
 *
 * Each LP's hash runs over its committed events, h <- XXH3(packed event, seed h). The packed
 * event is the event's own memory, little-endian: the 32 bytes before the payload (time 8,
 * number 8, entity 4, LP 4, depth 2, type 2, payload bytes 2, zero 2), then the payload, without
 * what the size class leaves unused. The LP is in it only because leaving it out would cost a
 * copy. The hash of a run is the sum over LPs of XXH3(LP 4 bytes, h 8 bytes), which does not
 * depend on where an LP ran.
 */
#ifndef CORE_HASH_H
#define CORE_HASH_H

#include "core/cw.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "an event is hashed where it lies");

enum { HASH_HEADER_BYTES = offsetof(struct cw_event, payload) };
_Static_assert(HASH_HEADER_BYTES > 16 && HASH_HEADER_BYTES + CW_PAYLOAD_BYTES_MAX <= 128,
               "the lengths that XXH3_len_17to128_64b() is for");

/*
 * XXH3_64bits_withSeed() for the lengths that events have. Called from there, the same function
 * costs a dispatch on the length and is not inlined; together 4 % of a PHOLD event.
 */
static inline uint64_t hash_bytes(uint64_t hash, const struct cw_event *event, size_t bytes)
{
    return XXH3_len_17to128_64b((const xxh_u8 *)(const void *)event, bytes, XXH3_kSecret,
                                sizeof XXH3_kSecret, hash);
}

static inline uint64_t hash_event(uint64_t hash, const struct cw_event *event)
{
    if (event->payload_bytes == 0) /* a constant length leaves one straight path */
        return hash_bytes(hash, event, HASH_HEADER_BYTES);
    return hash_bytes(hash, event, HASH_HEADER_BYTES + event->payload_bytes);
}

static inline uint64_t hash_lp(uint32_t lp, uint64_t hash)
{
    const uint32_t packed[3] = {lp, (uint32_t)hash, (uint32_t)(hash >> 32)};
    return XXH3_64bits(packed, sizeof packed);
}

#endif
