/*
 * entry_chain.c: the slow side of entry_chain.h.
 */
#include "core/queue/entry_chain.h"

void chunk_pool_init(struct chunk_pool *pool, struct memory *memory)
{
    *pool = (struct chunk_pool){.free = NULL};
    slab_alloc_init(&pool->slabs, memory);
}

void chunk_pool_free(struct chunk_pool *pool) { slab_alloc_free(&pool->slabs); }

struct entry *entry_chain_extend(struct chunk_pool *pool, struct entry *full)
{
    struct chunk *chunk = pool->free;
    if (chunk != NULL) {
        pool->free = chunk->previous;
    } else {
        if (pool->unused == pool->end) {
            size_t bytes;
            void *const block = slab_alloc_more(&pool->slabs, &bytes);
            if (block == NULL)
                return NULL;
            pool->unused = block;
            pool->end = pool->unused + bytes / CHUNK_BYTES;
        }
        chunk = pool->unused++;
    }
    chunk->previous = full == NULL ? NULL : (struct chunk *)(void *)full - 1;
    return chunk->entries;
}
