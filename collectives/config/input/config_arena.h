/*
 * config_arena.h: memory of one configuration: blocks that are given back all at once. Allocations
 * are zeroed and 16-byte aligned, and NULL when there is no memory; `failed` remembers it, so that
 * a loader may continue with the memory that it has and ask once at its end.
 */
#ifndef COLLECTIVES_CONFIG_ARENA_H
#define COLLECTIVES_CONFIG_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct config_arena_block;

/* Zero-initialised by its owner. */
struct config_arena {
    struct config_arena_block *blocks; /* the first one is being filled */
    bool failed;
};

void *config_arena_alloc(struct config_arena *arena, size_t bytes);
/* A copy, terminated by a NUL. */
char *config_arena_text(struct config_arena *arena, const char *text, size_t bytes);
void config_arena_free(struct config_arena *arena);

#endif
