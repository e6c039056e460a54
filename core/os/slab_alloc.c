/*
 * slab_alloc.c: cuts things of one size from slabs (slab_alloc.h). A slab starts with its header,
 * padded to the alignment of the rest.
 */
#include "core/os/slab_alloc.h"

#ifndef SLAB_BYTES_ONLY
enum { SLAB_BYTES_FIRST = 64 << 10, SLAB_BYTES_MAX = 2 << 20 };
enum { SLAB_BYTES_MIN = 8 << 10 }; /* near the limit */
#else /* for the schedule explorer: with small slabs a short run takes many, and each may be       \
         refused */
enum { SLAB_BYTES_FIRST = SLAB_BYTES_ONLY, SLAB_BYTES_MAX = SLAB_BYTES_ONLY };
enum { SLAB_BYTES_MIN = SLAB_BYTES_ONLY };
#endif
enum { LIMIT_PER_SLAB = 64 }; /* times the workers */

struct slab {
    struct slab *older;
    size_t bytes;
    _Alignas(SLAB_ALIGN) uint8_t rest[];
};
_Static_assert(MEMORY_ALIGN % SLAB_ALIGN == 0, "so the rest is aligned as the slab is");

void slab_alloc_init(struct slab_alloc *slabs, struct memory *memory)
{
    *slabs = (struct slab_alloc){.memory = memory};
}

void slab_alloc_free(struct slab_alloc *slabs)
{
    while (slabs->newest != NULL) {
        struct slab *const slab = slabs->newest;
        slabs->newest = slab->older;
        memory_give(slabs->memory, slab, slab->bytes);
    }
}

void *slab_alloc_more(struct slab_alloc *slabs, size_t *bytes)
{
    size_t slab_bytes = slabs->newest == NULL ? SLAB_BYTES_FIRST : slabs->newest->bytes * 2;
    if (slab_bytes > SLAB_BYTES_MAX)
        slab_bytes = SLAB_BYTES_MAX;
    /* memory that a worker leaves unused may be needed by others */
    const uint64_t most = slabs->memory->bytes_max / LIMIT_PER_SLAB / slabs->memory->sharers;
    while (slab_bytes > SLAB_BYTES_MIN && slab_bytes > most)
        slab_bytes /= 2;
    struct slab *slab = memory_take(slabs->memory, slab_bytes);
    while (slab == NULL && slab_bytes > SLAB_BYTES_MIN) { /* near the limit */
        slab_bytes /= 2;
        slab = memory_take(slabs->memory, slab_bytes);
    }
    if (slab == NULL)
        return NULL;
    slab->older = slabs->newest;
    slab->bytes = slab_bytes;
    slabs->newest = slab;
    *bytes = slab_bytes - sizeof *slab;
    return slab->rest;
}
