/*
 * give_back.c: returns what a thread has freed (give_back.h). jemalloc's threads have arenas; as
 * many as there are threads on as many cores have one of their own.
 */
#include "core/os/give_back.h"

#include <stddef.h>
#include <stdio.h>

__attribute__((weak)) int mallctl(const char *name, void *old, size_t *old_bytes, void *new,
                                  size_t new_bytes);

void give_back_freed(void)
{
    char name[32];
    unsigned arena;
    size_t bytes = sizeof arena;
    if (mallctl == NULL || mallctl("thread.arena", &arena, &bytes, NULL, 0) != 0)
        return;
    (void)mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    snprintf(name, sizeof name, "arena.%u.purge", arena);
    (void)mallctl(name, NULL, NULL, NULL, 0);
}
