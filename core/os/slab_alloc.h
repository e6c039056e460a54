/*
 * slab_alloc.h: large blocks for things of one size: doubling from 64 KiB to 2 MiB, so that a small
 * model stays small and a large one lives on huge pages. Freed all at once.
 */
#ifndef CORE_SLAB_ALLOC_H
#define CORE_SLAB_ALLOC_H

#include "core/os/memory.h"

enum { SLAB_ALIGN = 512 }; /* of the blocks that slab_alloc_more() gives */

struct slab;

struct slab_alloc {
    struct memory *memory;
    struct slab *newest;
};

void slab_alloc_init(struct slab_alloc *slabs, struct memory *memory);
void slab_alloc_free(struct slab_alloc *slabs);

/* A zeroed block of *bytes bytes, which it sets. NULL: out of memory. */
void *slab_alloc_more(struct slab_alloc *slabs, size_t *bytes);

#endif
