/*
 * event_pool.h: event records, recycled last in, first out, in size classes of 16 bytes of payload.
 *
 * One pool per worker; no other thread enters. A record that was just handled is the one that the
 * next send writes, while it is still in the nearest cache. Records never move and never return
 * to the allocator before event_pool_free().
 */
#ifndef CORE_EVENT_POOL_H
#define CORE_EVENT_POOL_H

#include "core/cw.h"
#include "core/invariant.h"
#include "core/memory/slab_alloc.h"

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
    uint64_t alive, alive_max; /* records handed out */
};

void event_pool_init(struct event_pool *pool, struct memory *memory);
void event_pool_free(struct event_pool *pool);

/* The slow way: a record of that class that was never used before. NULL: out of memory. */
void *event_pool_fresh(struct event_pool *pool, struct event_pool_class *class);

static inline struct event_pool_class *event_pool_class_of(struct event_pool *pool,
                                                           size_t payload_bytes)
{
    return &pool->classes[(payload_bytes + EVENT_POOL_CLASS_BYTES - 1) / EVENT_POOL_CLASS_BYTES];
}

/* A record with room for that payload, not cleared. NULL: out of memory. */
static inline struct cw_event *event_pool_get(struct event_pool *pool, size_t payload_bytes)
{
    struct event_pool_class *const class = event_pool_class_of(pool, payload_bytes);
    void *record = class->free;
    if (__builtin_expect(record != NULL, 1)) {
        MEMORY_UNPOISON(record, class->record_bytes);
        class->free = *(void **)record;
        __builtin_prefetch(class->free, 1);
    } else {
        record = event_pool_fresh(pool, class);
        if (record == NULL)
            return NULL;
    }
    if (++pool->alive > pool->alive_max)
        pool->alive_max = pool->alive;
    return record;
}

static inline void event_pool_put(struct event_pool *pool, struct cw_event *event)
{
    struct event_pool_class *const class = event_pool_class_of(pool, event->payload_bytes);
    CW_INVARIANT("I-TW-2", pool->alive > 0 && class->free != event,
                 "an event of %u payload bytes is freed, %llu are alive",
                 (unsigned)event->payload_bytes, (unsigned long long)pool->alive);
    *(void **)(void *)event = class->free;
    class->free = event;
    MEMORY_POISON(event, class->record_bytes);
    pool->alive--;
}

#endif
