/*
 * memory.h: the engine's memory account, and its door to the allocator.
 *
 * Whatever grows with the model, the run or the number of workers is taken here and counted against
 * a limit, so that a run that outgrows the machine ends with an exit code and a figure instead of
 * being killed. Not counted: the simulation itself, and what pin.c knows of the machine's cores.
 *
 * I-MEM-1: what has been handed out, as asked for, is at most bytes_max. Any worker may take and
 * give; a request that is refused may for a moment have another one refused.
 */
#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include "core/cw.h"
#include "core/host/sync.h"

enum { MEMORY_ALIGN = 512 };

struct memory {
    struct sync_u64 taken;  /* bytes, now; all workers */
    uint64_t bytes_max;     /* the limit */
    struct sync_u64 needed; /* what the last refused request would have made of it */
};

/* `bytes_max` 0: 80 % of what the machine, or this process's cgroup, has. */
void memory_init(struct memory *memory, uint64_t bytes_max);

/*
 * A zeroed block, aligned to MEMORY_ALIGN, or from 2 MiB on to a huge page. NULL if it would pass
 * the limit or the allocator has no more; memory->needed then says what would have been
 * needed.
 */
void *memory_take(struct memory *memory, size_t bytes);
void memory_give(struct memory *memory, void *block, size_t bytes); /* accepts NULL */

/*
 * Makes room in a growing array. `items` is the address of its pointer, *capacity the items that it
 * has room for, of item_bytes each, `used` how many of them are in use. If `needed` is more than
 * *capacity the array moves to a larger block: capacity_min items at first, then twice as many
 * until they suffice. False: out of memory, and nothing has changed.
 */
bool memory_grow_array(struct memory *memory, void *items, size_t *capacity, size_t used,
                       size_t needed, size_t item_bytes, size_t capacity_min);
static inline bool memory_grow(struct memory *memory, void *items, size_t *capacity, size_t used,
                               size_t needed, size_t item_bytes, size_t capacity_min)
{
    return __builtin_expect(needed <= *capacity, 1) ||
           memory_grow_array(memory, items, capacity, used, needed, item_bytes, capacity_min);
}

/* How much of the limit is taken: the watermarks of 10-engine.md. */
enum memory_level {
    MEMORY_PLENTY,
    MEMORY_TIGHT,   /* 70 %: speculate less */
    MEMORY_SCARCE,  /* 85 %: not at all */
    MEMORY_NO_MORE, /* 95 %: undo what was speculated */
};
enum memory_level memory_level(const struct memory *memory);

/* Fills `error` after memory_take() returned NULL. Returns CW_NO_RESOURCE. */
int memory_error(const struct memory *memory, struct cw_error *error);

/* Freed records inside a block: AddressSanitizer then reports who touches them. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define MEMORY_POISON(block, bytes)   ASAN_POISON_MEMORY_REGION((block), (bytes))
#define MEMORY_UNPOISON(block, bytes) ASAN_UNPOISON_MEMORY_REGION((block), (bytes))
#else
#define MEMORY_POISON(block, bytes)   ((void)0)
#define MEMORY_UNPOISON(block, bytes) ((void)0)
#endif

#endif
