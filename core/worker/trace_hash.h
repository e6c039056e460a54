/*
 * trace_hash.h: the trace hash, one number that is equal for two runs if, and only if (but for
 * chance), every LP committed the same events in the same order.
 *
 * Each LP's hash runs over its committed events, h <- XXH3(packed event, seed h). The packed
 * event is the event's own memory, little-endian: the 32 bytes before the payload (time 8,
 * number 8, entity 4, LP 4, depth 2, type 2, payload bytes 2, zero 2), then the payload, without
 * the bytes that the size class leaves unused. The LP is in it only because leaving it out would
 * cost a copy. The hash of a run is the sum over LPs of XXH3(LP 4 bytes, h 8 bytes), which does not
 * depend on where an LP ran.
 */
#ifndef CORE_TRACE_HASH_H
#define CORE_TRACE_HASH_H

#include "core/cw.h"

/* Takes one more committed event into an LP's hash. */
uint64_t trace_hash_event(uint64_t hash, const struct cw_event *event);

/* An LP's share of a run's hash. */
uint64_t trace_hash_lp(uint32_t lp, uint64_t hash);

/* The hash of any bytes, for checks within a run. */
uint64_t trace_hash_bytes(const void *bytes, size_t count);

#endif
