/*
 * pool.c: the slow side of pool.h. Slabs double from 64 KiB to 2 MiB, so that a small model stays
 * small and a large one lives on huge pages.
 */
#include "core/pool.h"

enum { SLAB_BYTES_MIN = 64 << 10, SLAB_BYTES_MAX = 2 << 20, SLAB_HEADER_BYTES = 64 };

struct pool_slab {
    struct pool_slab *next;
    size_t bytes;
};
_Static_assert(sizeof(struct pool_slab) <= SLAB_HEADER_BYTES, "records start at a cache line");

void pool_init(struct pool *pool, struct memory *memory)
{
    *pool = (struct pool){.memory = memory};
    for (size_t i = 0; i < POOL_CLASSES; i++)
        pool->classes[i].record_bytes = offsetof(struct cw_event, payload) + i * POOL_CLASS_BYTES;
}

void pool_free(struct pool *pool)
{
    while (pool->slabs != NULL) {
        struct pool_slab *const slab = pool->slabs;
        pool->slabs = slab->next;
        POOL_UNPOISON(slab, slab->bytes);
        memory_give(pool->memory, slab, slab->bytes);
    }
}

void *pool_fresh(struct pool *pool, struct pool_class *class)
{
    if ((size_t)(class->end - class->unused) < class->record_bytes) {
        size_t bytes = pool->slabs == NULL ? SLAB_BYTES_MIN : pool->slabs->bytes * 2;
        if (bytes > SLAB_BYTES_MAX)
            bytes = SLAB_BYTES_MAX;
        struct pool_slab *const slab = memory_take(pool->memory, bytes);
        if (slab == NULL)
            return NULL;
        *slab = (struct pool_slab){.next = pool->slabs, .bytes = bytes};
        pool->slabs = slab;
        class->unused = (uint8_t *)slab + SLAB_HEADER_BYTES;
        class->end = (uint8_t *)slab + bytes;
    }
    void *const record = class->unused;
    class->unused += class->record_bytes;
    return record;
}
