/*
 * sparse_arena.c: cuts pages from chunks, which grow with the arena (sparse_arena.h).
 */
#include "collectives/memory/sparse_arena.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES_MIN = 256 << 10, CHUNK_BYTES_MAX = 8 << 20 };

struct sparse_chunk {
    struct sparse_chunk *next;
    size_t bytes; /* with this head */
    _Alignas(64) uint8_t pieces[];
};

bool sparse_arena_init(struct sparse_arena *arena, struct storage *storage)
{
    *arena = (struct sparse_arena){.storage = storage,
                                   .shown = malloc(SPARSE_LOOKS * SPARSE_BLOCK_BYTES)};
    return arena->shown != NULL;
}

void sparse_arena_free(struct sparse_arena *arena)
{
    while (arena->chunks != NULL) {
        struct sparse_chunk *const next = arena->chunks->next;
        storage_give(arena->storage, arena->chunks, arena->chunks->bytes);
        arena->chunks = next;
    }
    free(arena->shown);
    *arena = (struct sparse_arena){.storage = arena->storage};
}

/* About as many bytes as there are already, in a power of two. */
static size_t next_chunk_bytes(const struct sparse_arena *arena)
{
    size_t bytes = CHUNK_BYTES_MIN;
    while (bytes < CHUNK_BYTES_MAX && 2 * bytes <= arena->chunk_bytes)
        bytes *= 2;
    return bytes;
}

static bool add_chunk(struct sparse_arena *arena, struct sparse_cutter *cutter)
{
    size_t bytes = next_chunk_bytes(arena);
    struct sparse_chunk *chunk = storage_take(arena->storage, bytes);
    while (chunk == NULL && bytes > CHUNK_BYTES_MIN) {
        bytes /= 2;
        chunk = storage_take(arena->storage, bytes);
    }
    if (chunk == NULL)
        return false;
    chunk->next = arena->chunks;
    chunk->bytes = bytes;
    arena->chunks = chunk;
    arena->chunk_bytes += bytes;
    cutter->at = chunk->pieces;
    cutter->left = bytes - sizeof *chunk;
    cutter->zeroed = bytes >= STORAGE_LARGE_BYTES;
    return true;
}

/* *zeroed: the piece is all zeros. */
static void *cut(struct sparse_arena *arena, struct sparse_cutter *cutter, size_t bytes,
                 bool *zeroed)
{
    if (cutter->left < bytes && !add_chunk(arena, cutter))
        return NULL;
    void *const piece = cutter->at;
    cutter->at += bytes;
    cutter->left -= bytes;
    *zeroed = cutter->zeroed;
    return piece;
}

static uint8_t *take_page(struct sparse_arena *arena, bool *zeroed)
{
    uint8_t *const page = arena->free_pages;
    if (page == NULL)
        return cut(arena, &arena->page_cutter, SPARSE_PAGE_BYTES, zeroed);
    memcpy(&arena->free_pages, page, sizeof arena->free_pages);
    *zeroed = false;
    return page;
}

uint8_t *sparse_arena_page(struct sparse_arena *arena)
{
    bool zeroed;
    uint8_t *const page = take_page(arena, &zeroed);
    return page == NULL || zeroed ? page : memset(page, 0, SPARSE_PAGE_BYTES);
}

uint8_t *sparse_arena_raw_page(struct sparse_arena *arena)
{
    bool zeroed;
    return take_page(arena, &zeroed);
}

struct sparse_block *sparse_arena_block(struct sparse_arena *arena)
{
    bool zeroed;
    struct sparse_block *const block =
        cut(arena, &arena->block_cutter, sizeof(struct sparse_block), &zeroed);
    return block == NULL || zeroed ? block : memset(block, 0, sizeof *block);
}

void sparse_arena_give(struct sparse_arena *arena, uint8_t *page)
{
    memcpy(page, &arena->free_pages, sizeof arena->free_pages);
    arena->free_pages = page;
}

uint8_t *sparse_arena_scratch(struct sparse_arena *arena)
{
    uint8_t *const at = arena->shown + arena->shown_next * SPARSE_BLOCK_BYTES;
    arena->shown_next = (arena->shown_next + 1) % SPARSE_LOOKS;
    return at;
}
