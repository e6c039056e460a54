/*
 * sparse_arena.h: the pages of the sparse memories of one worker (sparse_memory.h). They are cut
 * from chunks one after the other, so pages that are touched together are neighbours. Chunks grow
 * with the arena, up to several huge pages.
 *
 * Used by the worker that owns it, or by the host between drains. All is freed at once.
 */
#ifndef COLLECTIVES_SPARSE_ARENA_H
#define COLLECTIVES_SPARSE_ARENA_H

#include "collectives/memory/storage.h"

#define SPARSE_PAGE_BYTES      ((size_t)1024)
#define SPARSE_PAGES_PER_BLOCK ((size_t)16)
#define SPARSE_BLOCK_BYTES     (SPARSE_PAGES_PER_BLOCK * SPARSE_PAGE_BYTES)
#define SPARSE_LOOKS           4u

/* The pages of one block of addresses; NULL: untouched. */
struct sparse_block {
    uint8_t *page[SPARSE_PAGES_PER_BLOCK];
};

struct sparse_chunk;

/* The chunk that pieces of one size are cut from. */
struct sparse_cutter {
    uint8_t *at;
    size_t left;
    bool zeroed;
};

struct sparse_arena {
    struct storage *storage;
    struct sparse_chunk *chunks;
    size_t chunk_bytes; /* of all chunks */
    struct sparse_cutter page_cutter, block_cutter;
    void *free_pages; /* each holds a pointer to the next */
    uint8_t *shown;   /* [SPARSE_LOOKS] blocks for the last looks at untouched places */
    uint32_t shown_next;
};

/* False: out of memory. */
bool sparse_arena_init(struct sparse_arena *arena, struct storage *storage);
void sparse_arena_free(struct sparse_arena *arena);

/* Zeroed; NULL: out of storage. */
uint8_t *sparse_arena_page(struct sparse_arena *arena);
/* The same with undefined contents. */
uint8_t *sparse_arena_raw_page(struct sparse_arena *arena);
struct sparse_block *sparse_arena_block(struct sparse_arena *arena);
/* The page may come from any arena of the same storage. */
void sparse_arena_give(struct sparse_arena *arena, uint8_t *page);
/* Room for a block, which stays as it is for the next SPARSE_LOOKS - 1 calls. */
uint8_t *sparse_arena_scratch(struct sparse_arena *arena);

#endif
