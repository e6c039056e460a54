/*
 * memory.h: the engine's memory account, and its door to the allocator.
 *
 * Whatever grows with the model, the run or the number of workers is taken here and counted against
 * a limit, so that a run that outgrows the machine ends with an exit code and a figure instead of
 * being killed. Not counted: the simulation itself, and pin.c's map of the machine's cores.
 *
 * I-MEM-1: the bytes that are handed out, as asked for, are at most bytes_max. Any worker may take
 * and give. A request that is refused may, for a moment, cause another one to be refused.
 *
 * While several workers run, a request that would pass the limit waits for some milliseconds, while
 * the others give back all that they can do without: they see it by memory_level().
 */
#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include "core/cw.h"
#include "core/os/sync.h"

enum { MEMORY_ALIGN = 512 };

struct memory {
    struct sync_u64 taken;   /* bytes, now; all workers */
    uint64_t bytes_max;      /* the limit */
    uint32_t sharers;        /* workers: the more there are, the less may each leave unused */
    bool is_shared;          /* several workers run: others may give something back */
    struct sync_u64 waiting; /* requests that wait for the others to give back */
    struct sync_u64
        needed; /* the bytes that would be taken with the last request that was refused */
};

/* `bytes_max` 0: 80 % of the memory of the machine, or of this process's control group. */
void memory_init(struct memory *memory, uint64_t bytes_max);

/*
 * A zeroed block, aligned to MEMORY_ALIGN, or from 2 MiB on to a huge page. NULL if it would pass
 * the limit or the allocator has no more; memory->needed is then set.
 */
void *memory_take(struct memory *memory, size_t bytes);
void memory_give(struct memory *memory, void *block, size_t bytes); /* accepts NULL */
/* This many addresses, from a huge page on, for `bytes` of memory in pieces far apart: the bytes
 * are counted. pages_open() gives a piece memory. NULL as above, or if the system grants fewer
 * addresses. */
void *memory_take_sparse(struct memory *memory, size_t bytes, size_t addresses);
void memory_give_sparse(struct memory *memory, void *block, size_t bytes, size_t addresses);

/* The same for speculation, which can do without: NULL also if that would pass 85 % of the limit.
 * The rest is for work that cannot. */
void *memory_take_spare(struct memory *memory, size_t bytes);

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

/* How much of the limit is taken: the watermarks of ENGINE.md, "Memory limit". */
enum memory_level {
    MEMORY_PLENTY,
    MEMORY_TIGHT,   /* 70 %: speculate less */
    MEMORY_SCARCE,  /* 85 %: not at all */
    MEMORY_NO_MORE, /* 95 %, or a request waits: undo all speculation */
};
enum memory_level memory_level(const struct memory *memory);

/* Fills `error` after memory_take() returned NULL. Returns CW_NO_RESOURCE. */
int memory_error(const struct memory *memory, struct cw_error *error);

/* Marks freed parts of a block: AddressSanitizer then reports any access to them. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define MEMORY_POISON(block, bytes)   ASAN_POISON_MEMORY_REGION((block), (bytes))
#define MEMORY_UNPOISON(block, bytes) ASAN_UNPOISON_MEMORY_REGION((block), (bytes))
#else
#define MEMORY_POISON(block, bytes)   ((void)0)
#define MEMORY_UNPOISON(block, bytes) ((void)0)
#endif

#endif
