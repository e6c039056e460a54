/*
 * entry_chain.h: unordered bags of entries, as chains of 512-byte chunks. The pending set's buckets
 * are such bags.
 *
 * Appending writes half a cache line, in sequence. A bag of any size costs one pointer while it is
 * empty. Chunks are recycled last in, first out. There is one chunk pool per pending set; no other
 * thread enters.
 */
#ifndef CORE_ENTRY_CHAIN_H
#define CORE_ENTRY_CHAIN_H

#include "core/queue/event.h"
#include "core/os/slab_alloc.h"

enum { CHUNK_BYTES = 512, CHUNK_ENTRIES = CHUNK_BYTES / sizeof(struct entry) - 1 };

struct chunk {
    struct chunk *previous; /* in the chain; NULL: the oldest */
    uint64_t unused[3];
    struct entry entries[CHUNK_ENTRIES];
};
_Static_assert(sizeof(struct chunk) == CHUNK_BYTES, "a chunk's end is recognised by its address");
_Static_assert(SLAB_ALIGN % CHUNK_BYTES == 0, "a chunk lies at a multiple of its size");

struct chunk_pool {
    struct chunk *free;
    struct chunk *unused, *end; /* never handed out yet */
    struct slab_alloc slabs;
};

/* Chunks are at multiples of their size, so `next` at such a multiple means: no room left. */
struct entry_chain {
    struct entry *next; /* where the next entry goes; NULL: an empty chain */
};

void chunk_pool_init(struct chunk_pool *pool, struct memory *memory);
void chunk_pool_free(struct chunk_pool *pool);

/* A chunk more, after the one that ends at `full` (NULL: the first). NULL: out of memory. */
struct entry *entry_chain_extend(struct chunk_pool *pool, struct entry *full);

static inline bool entry_chain_has_room(const struct entry_chain *chain)
{
    return __builtin_expect((uintptr_t)chain->next % CHUNK_BYTES != 0, 1);
}

/* Into a chain that has room. */
static inline void entry_chain_put(struct entry_chain *chain, struct entry entry)
{
    struct entry *const slot = chain->next++;
    slot->time_ps = entry.time_ps;
    slot->key_high = entry.key_high;
    slot->key_low = entry.key_low;
    slot->event = entry.event;
}

/* False: out of memory. */
static inline bool entry_chain_append(struct chunk_pool *pool, struct entry_chain *chain,
                                      struct entry entry)
{
    if (!entry_chain_has_room(chain)) {
        struct entry *const next = entry_chain_extend(pool, chain->next);
        if (next == NULL)
            return false;
        chain->next = next;
    }
    entry_chain_put(chain, entry);
    return true;
}

/* The newest chunk of a chain that is not empty; walk from here by `previous`. */
static inline struct chunk *entry_chain_newest(const struct entry_chain *chain)
{
    return (struct chunk *)(void *)((uint8_t *)(chain->next - 1) -
                                    (uintptr_t)(chain->next - 1) % CHUNK_BYTES);
}

/* How many entries the newest chunk holds; all others are full. */
static inline size_t entry_chain_newest_count(const struct entry_chain *chain)
{
    return (size_t)(chain->next - entry_chain_newest(chain)->entries);
}

static inline void chunk_put(struct chunk_pool *pool, struct chunk *chunk)
{
    chunk->previous = pool->free;
    pool->free = chunk;
}

#endif
