/*
 * slab_alloc.h: large blocks for things of one size: doubling from 64 KiB to 2 MiB, so that a small
 * model stays small and a large one lives on huge pages. Freed all at once.
 */
#ifndef CORE_SLABS_H
#define CORE_SLABS_H

#include "core/memory/memory.h"

enum { SLAB_ALIGN = 512 }; /* of what slabs_more() gives */

struct slab;

struct slabs {
    struct memory *memory;
    struct slab *newest;
};

void slabs_init(struct slabs *slabs, struct memory *memory);
void slabs_free(struct slabs *slabs);

/* A zeroed block of *bytes bytes, which it sets. NULL: out of memory. */
void *slabs_more(struct slabs *slabs, size_t *bytes);

#endif
