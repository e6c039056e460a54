/*
 * config_arena.c: bump allocation in blocks of 64 KiB; a larger request gets a block of its own.
 */
#include "collectives/config/input/config_arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 * 1024)
#define ALIGNMENT   16u

struct config_arena_block {
    struct config_arena_block *next;
    size_t used, bytes;
    _Alignas(ALIGNMENT) unsigned char data[];
};

void *config_arena_alloc(struct config_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) {
        arena->failed = true;
        return NULL;
    }
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct config_arena_block *block = arena->blocks;
    if (block == NULL || block->bytes - block->used < bytes) {
        const size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        block = calloc(1, sizeof *block + room);
        if (block == NULL) {
            arena->failed = true;
            return NULL;
        }
        block->bytes = room;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *const part = block->data + block->used;
    block->used += bytes;
    return part;
}

char *config_arena_text(struct config_arena *arena, const char *text, size_t bytes)
{
    if (bytes == SIZE_MAX) {
        arena->failed = true;
        return NULL;
    }
    char *const copy = config_arena_alloc(arena, bytes + 1);
    if (copy != NULL && bytes > 0)
        memcpy(copy, text, bytes);
    return copy;
}

void config_arena_free(struct config_arena *arena)
{
    while (arena->blocks != NULL) {
        struct config_arena_block *const next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    arena->failed = false;
}
