/*
 * event_pool.c: the slow side of event_pool.h.
 */
#include "core/memory/event_pool.h"

void pool_init(struct pool *pool, struct memory *memory)
{
    *pool = (struct pool){.alive = 0};
    slabs_init(&pool->slabs, memory);
    for (size_t i = 0; i < POOL_CLASSES; i++)
        pool->classes[i].record_bytes = offsetof(struct cw_event, payload) + i * POOL_CLASS_BYTES;
}

void pool_free(struct pool *pool) { slabs_free(&pool->slabs); }

void *pool_fresh(struct pool *pool, struct pool_class *class)
{
    if ((size_t)(class->end - class->unused) < class->record_bytes) {
        size_t bytes;
        class->unused = slabs_more(&pool->slabs, &bytes);
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
