/*
 * event_pool.c: the slow side of event_pool.h.
 */
#include "core/queue/event_pool.h"

void event_pool_init(struct event_pool *pool, struct memory *memory)
{
    *pool = (struct event_pool){.alive_max = 0};
    slab_alloc_init(&pool->slabs, memory);
    for (size_t i = 0; i < EVENT_POOL_CLASSES; i++)
        pool->classes[i].record_bytes =
            offsetof(struct cw_event, payload) + i * EVENT_POOL_CLASS_BYTES;
}

void event_pool_free(struct event_pool *pool) { slab_alloc_free(&pool->slabs); }

void *event_pool_fresh(struct event_pool *pool, struct event_pool_class *class)
{
    if ((size_t)(class->end - class->unused) < class->record_bytes) {
        size_t bytes;
        class->unused = slab_alloc_more(&pool->slabs, &bytes);
        if (class->unused == NULL) {
            class->end = NULL;
            return NULL;
        }
        class->end = class->unused + bytes;
    }
    void *const record = class->unused;
    class->unused += class->record_bytes;
    return record;
}
