/*
 * event.h: an event in memory, and the total order of events.
 *
 * A record is a struct cw_event whose payload is only as long as its size class; the pool owns it
 * (pool.h). An entry is what queues hold: the key inline, so that ordering almost never touches
 * the record, and the receiver, so that its state can be fetched early.
 *
 * I-ORDER-1: entry_before() is a strict total order on (time, depth, entity, number, type,
 * payload, LP); events that are equal in all of that are interchangeable.
 */
#ifndef CORE_EVENT_H
#define CORE_EVENT_H

#include "core/cw.h"

struct entry {
    int64_t time_ps;
    uint64_t key_high; /* depth, entity, number's upper 16 bits */
    uint64_t key_low;  /* number's lower 32 bits, then the receiving LP */
    struct cw_event *event;
};
_Static_assert(sizeof(struct entry) == 32, "two entries to a cache line");

static inline uint32_t entry_lp(const struct entry *entry) { return (uint32_t)entry->key_low; }

static inline struct entry entry_of(struct cw_event *event)
{
    return (struct entry){
        .time_ps = event->time_ps,
        .key_high =
            (uint64_t)event->depth << 48 | (uint64_t)event->entity << 16 | event->number >> 32,
        .key_low = event->number << 32 | event->lp,
        .event = event,
    };
}

/* The order of entries whose time, depth, entity and number are equal: type, payload, LP. */
bool entry_before_tied(const struct entry *a, const struct entry *b);

static inline bool entry_before(const struct entry *a, const struct entry *b)
{
    if (a->time_ps != b->time_ps)
        return a->time_ps < b->time_ps;
    if (a->key_high != b->key_high)
        return a->key_high < b->key_high;
    if ((a->key_low ^ b->key_low) >> 32)
        return a->key_low < b->key_low;
    return entry_before_tied(a, b);
}

#endif
