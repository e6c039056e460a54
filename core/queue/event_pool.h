/*
 * event_pool.h: event records, recycled last in, first out, in size classes of 16 bytes of payload.
 *
 * One pool per worker; no other thread enters. A record that was just handled is the one that the
 * next send writes, while it is still in the nearest cache. Records never move and never return
 * to the allocator before event_pool_free().
 *
 * Bound: of each class a pool has at most as many records as it has had handed out at one time. A
 * fresh record is made only where none is free, and no record changes its pool.
 */
#ifndef CORE_EVENT_POOL_H
#define CORE_EVENT_POOL_H

#include "core/cw.h"
#include "core/invariant.h"
#include "core/os/slab_alloc.h"

enum {
    EVENT_POOL_CLASS_BYTES = 16,
    EVENT_POOL_CLASSES = 1 + CW_PAYLOAD_BYTES_MAX / EVENT_POOL_CLASS_BYTES
};

struct event_pool_class {
    void *free;      /* the record freed last; its first word links to the one before */
    uint8_t *unused; /* never handed out yet: up to `end` */
    uint8_t *end;
    size_t record_bytes;
};

struct event_pool {
    struct event_pool_class classes[EVENT_POOL_CLASSES];
    struct slab_alloc slabs;
    uint64_t alive_max;      /* the most records in use at a time, less those handed over ... */
    int64_t alive_below_max; /* ... and how many fewer are now: one word changes per event */
};

void event_pool_init(struct event_pool *pool, struct memory *memory);
void event_pool_free(struct event_pool *pool);

/* Records that are handed out. */
static inline uint64_t event_pool_alive(const struct event_pool *pool)
{
    return pool->alive_max - (uint64_t)pool->alive_below_max;
}

/* One more is handed out, or one less. */
static inline void event_pool_count_in(struct event_pool *pool)
{
    if (__builtin_expect(--pool->alive_below_max < 0, 0)) {
        pool->alive_below_max = 0;
        pool->alive_max++;
    }
}
static inline void event_pool_count_out(struct event_pool *pool) { pool->alive_below_max++; }
/* An event has moved to another pool, and has raised the maximum there: here it counts no
 * longer. */
static inline void event_pool_hand_over(struct event_pool *pool)
{
    pool->alive_below_max--;
    pool->alive_max--;
}

/* The slow way: a record of that class that was never used before. NULL: out of memory. */
void *event_pool_fresh(struct event_pool *pool, struct event_pool_class *class);

static inline struct event_pool_class *event_pool_class_of(struct event_pool *pool,
                                                           size_t payload_bytes)
{
    return &pool->classes[(payload_bytes + EVENT_POOL_CLASS_BYTES - 1) / EVENT_POOL_CLASS_BYTES];
}

/* A record that was used before, with room for that payload, not cleared. NULL: there is none. */
static inline struct cw_event *event_pool_get_used(struct event_pool *pool, size_t payload_bytes)
{
    struct event_pool_class *const class = event_pool_class_of(pool, payload_bytes);
    void *const record = class->free;
    if (__builtin_expect(record == NULL, 0))
        return NULL;
    MEMORY_UNPOISON(record, class->record_bytes);
    class->free = *(void **)record;
    __builtin_prefetch(class->free, 1);
    event_pool_count_in(pool);
    return record;
}

/* A record with room for that payload, not cleared. NULL: out of memory. */
static inline struct cw_event *event_pool_get(struct event_pool *pool, size_t payload_bytes)
{
    void *record = event_pool_get_used(pool, payload_bytes);
    if (__builtin_expect(record != NULL, 1))
        return record;
    record = event_pool_fresh(pool, event_pool_class_of(pool, payload_bytes));
    if (record != NULL)
        event_pool_count_in(pool);
    return record;
}

static inline void event_pool_put(struct event_pool *pool, struct cw_event *event)
{
    struct event_pool_class *const class = event_pool_class_of(pool, event->payload_bytes);
    CW_INVARIANT("I-TW-2", event_pool_alive(pool) > 0 && class->free != event,
                 "an event of %u payload bytes is freed, %llu are alive",
                 (unsigned)event->payload_bytes, (unsigned long long)event_pool_alive(pool));
    *(void **)(void *)event = class->free;
    class->free = event;
    MEMORY_POISON(event, class->record_bytes);
    event_pool_count_out(pool);
}

#endif
