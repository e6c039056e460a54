/*
 * trace_hash.c: digests committed events (trace_hash.h). XXH3 is compiled into this file and no
 * other one, so the engine needs no library for it.
 */
#include "core/worker/trace_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/queue/event.h"
#include "core/os/cpu.h" /* the order of bytes */

enum { HEADER_BYTES = offsetof(struct cw_event, payload) };
_Static_assert(HEADER_BYTES > 16 && HEADER_BYTES + CW_PAYLOAD_BYTES_MAX <= 128,
               "the lengths that XXH3_len_17to128_64b() is for");

/*
 * XXH3_64bits_withSeed() for the lengths that events have: by its own way for them, without the
 * dispatch on the length that leads there.
 */
static inline uint64_t hash_packed(uint64_t hash, const struct cw_event *event, size_t bytes)
{
    return XXH3_len_17to128_64b((const xxh_u8 *)(const void *)event, bytes, XXH3_kSecret,
                                sizeof XXH3_kSecret, hash);
}

/* Each length that is a constant leaves one straight path. They are functions of their own, since
 * the path with a variable length takes registers that all would have to save. */
static __attribute__((flatten, noinline)) uint64_t hash_long(uint64_t hash,
                                                             const struct cw_event *event)
{
    return hash_packed(hash, event, HEADER_BYTES + PAYLOAD_BYTES_LONG);
}

static __attribute__((flatten, noinline)) uint64_t hash_short(uint64_t hash,
                                                              const struct cw_event *event)
{
    return hash_packed(hash, event, HEADER_BYTES + PAYLOAD_BYTES_SHORT);
}

static __attribute__((flatten, noinline)) uint64_t hash_any(uint64_t hash,
                                                            const struct cw_event *event)
{
    return hash_packed(hash, event, HEADER_BYTES + (size_t)event->payload_bytes);
}

__attribute__((flatten)) uint64_t trace_hash_event(uint64_t hash, const struct cw_event *event)
{
    if (event->payload_bytes == 0)
        return hash_packed(hash, event, HEADER_BYTES);
    return event->payload_bytes == PAYLOAD_BYTES_LONG    ? hash_long(hash, event)
           : event->payload_bytes == PAYLOAD_BYTES_SHORT ? hash_short(hash, event)
                                                         : hash_any(hash, event);
}

uint64_t trace_hash_lp(uint32_t lp, uint64_t hash)
{
    const uint32_t packed[3] = {lp, (uint32_t)hash, (uint32_t)(hash >> 32)};
    return XXH3_64bits(packed, sizeof packed);
}

uint64_t trace_hash_bytes(const void *bytes, size_t count) { return XXH3_64bits(bytes, count); }
