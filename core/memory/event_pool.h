/*
 * event_pool.h: event records, recycled last in, first out, in size classes of 16 bytes of payload.
 *
 * One pool per worker; no other thread enters. A record that was just handled is the one that the
 * next send writes, while it is still in the nearest cache. Records never move and never return
 * to the allocator before pool_free().
 */
#ifndef CORE_POOL_H
#define CORE_POOL_H

#include "core/cw.h"
#include "core/memory/slab_alloc.h"

enum { POOL_CLASS_BYTES = 16, POOL_CLASSES = 1 + CW_PAYLOAD_BYTES_MAX / POOL_CLASS_BYTES };

struct pool_class {
    void *free;      /* the record freed last; its first word links to the one before */
    uint8_t *unused; /* never handed out yet: up to `end` */
    uint8_t *end;
    size_t record_bytes;
};

struct pool {
    struct pool_class classes[POOL_CLASSES];
    struct slabs slabs;
    uint64_t alive, alive_max; /* records handed out */
};

void pool_init(struct pool *pool, struct memory *memory);
void pool_free(struct pool *pool);

/* The slow way: a record of that class that was never used before. NULL: out of memory. */
void *pool_fresh(struct pool *pool, struct pool_class *class);

static inline struct pool_class *pool_class_of(struct pool *pool, size_t payload_bytes)
{
    return &pool->classes[(payload_bytes + POOL_CLASS_BYTES - 1) / POOL_CLASS_BYTES];
}

/* A record with room for that payload, not cleared. NULL: out of memory. */
static inline struct cw_event *pool_get(struct pool *pool, size_t payload_bytes)
{
    struct pool_class *const class = pool_class_of(pool, payload_bytes);
    void *record = class->free;
    if (__builtin_expect(record != NULL, 1)) {
        MEMORY_UNPOISON(record, class->record_bytes);
        class->free = *(void **)record;
        __builtin_prefetch(class->free, 1);
    } else {
        record = pool_fresh(pool, class);
        if (record == NULL)
            return NULL;
    }
    if (++pool->alive > pool->alive_max)
        pool->alive_max = pool->alive;
    return record;
}

static inline void pool_put(struct pool *pool, struct cw_event *event)
{
    struct pool_class *const class = pool_class_of(pool, event->payload_bytes);
    *(void **)(void *)event = class->free;
    class->free = event;
    MEMORY_POISON(event, class->record_bytes);
    pool->alive--;
}

#endif
