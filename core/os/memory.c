/*
 * memory.c: the account, one word for all workers, and the blocks that it pays for (memory.h).
 * Blocks below a huge page come from the allocator, larger ones straight from the system: those
 * arrive zeroed without being touched, and asking for huge pages saves the address translation that
 * a random walk over events and LP states pays otherwise.
 */
#include "core/os/memory.h"

#include "core/invariant.h"

#include <stdlib.h>
#include <string.h>

#include "core/os/host_limits.h"
#include "core/os/pages.h"

void memory_init(struct memory *memory, uint64_t bytes_max)
{
    *memory = (struct memory){
        .bytes_max = bytes_max > 0 ? bytes_max : host_limits_memory_bytes() / 5 * 4, .sharers = 1};
}

/* A request that is refused waits: looks, and the time between two. */
enum { LOOKS = 40, SLEEP_NS = 50000 };

/* Adds to the account, unless that would pass the limit. */
static bool account(struct memory *memory, size_t bytes)
{
    uint64_t needed = bytes;
    if (bytes <= SIZE_MAX / 2) {
        needed = sync_add_relaxed(&memory->taken, bytes) + bytes;
        if (needed <= memory->bytes_max)
            return true;
        (void)sync_add_relaxed(&memory->taken, -(uint64_t)bytes);
    }
    sync_store_release(&memory->needed, needed); /* pairs with none: a figure for a message */
    return false;
}

/* The limit is reached: waits for the others to give something back. No worker depends on that this
 * one continues within that time, and the time is bounded. */
static bool account_later(struct memory *memory, size_t bytes)
{
    bool taken = false;
    if (!memory->is_shared || bytes > memory->bytes_max)
        return false;
    (void)sync_add_relaxed(&memory->waiting, 1);
    for (unsigned looks = 0; looks < LOOKS && !taken; looks++) {
        sync_doze(SLEEP_NS);
        taken = account(memory, bytes);
    }
    (void)sync_add_relaxed(&memory->waiting, UINT64_MAX);
    return taken;
}

static bool account_soon(struct memory *memory, size_t bytes)
{
    return account(memory, bytes) || account_later(memory, bytes);
}

/* The system has no memory for a request that was accounted. */
static void refuse(struct memory *memory, size_t bytes)
{
    sync_store_release(&memory->needed, /* a figure for a message */
                       sync_add_relaxed(&memory->taken, -(uint64_t)bytes));
}

static void account_back(struct memory *memory, size_t bytes)
{
    const uint64_t taken = sync_add_relaxed(&memory->taken, -(uint64_t)bytes);
    CW_INVARIANT("I-MEM-1", taken >= bytes, "%zu bytes come back, but only %llu were taken", bytes,
                 (unsigned long long)taken);
    (void)taken;
}

void *memory_take(struct memory *memory, size_t bytes)
{
    if (bytes == 0)
        bytes = 1;
    if (!account_soon(memory, bytes))
        return NULL;
    void *block = NULL;
    if (bytes >= PAGES_HUGE_BYTES) {
        block = pages_map(bytes);
    } else if (posix_memalign(&block, MEMORY_ALIGN, bytes) == 0) {
        memset(block, 0, bytes);
    } else {
        block = NULL;
    }
    if (block == NULL)
        refuse(memory, bytes);
    return block;
}

void *memory_take_sparse(struct memory *memory, size_t bytes, size_t addresses)
{
    if (!account_soon(memory, bytes))
        return NULL;
    void *const block = pages_map_sparse(addresses);
    if (block == NULL)
        refuse(memory, bytes);
    return block;
}

void memory_give_sparse(struct memory *memory, void *block, size_t bytes, size_t addresses)
{
    if (block == NULL)
        return;
    pages_unmap(block, addresses);
    account_back(memory, bytes);
}

void *memory_take_spare(struct memory *memory, size_t bytes)
{
    const uint64_t taken = sync_load_acquire(&memory->taken); /* a figure: orders nothing */
    const uint64_t most = memory->bytes_max / 20 * 17;
    return taken < most && bytes <= most - taken ? memory_take(memory, bytes) : NULL;
}

void memory_give(struct memory *memory, void *block, size_t bytes)
{
    if (block == NULL)
        return;
    if (bytes == 0)
        bytes = 1;
    MEMORY_UNPOISON(block, bytes);
    if (bytes >= PAGES_HUGE_BYTES)
        pages_unmap(block, bytes);
    else
        free(block);
    account_back(memory, bytes);
}

bool memory_grow_array(struct memory *memory, void *items, size_t *capacity, size_t used,
                       size_t needed, size_t item_bytes, size_t capacity_min)
{
#ifdef ARRAYS_BEGIN_AT /* the schedule explorer's: short runs then grow each array */
    capacity_min = ARRAYS_BEGIN_AT;
#endif
    size_t wider = *capacity == 0 ? capacity_min : 2 * *capacity;
    while (wider < needed)
        wider *= 2;
    void *old;
    memcpy(&old, items, sizeof old); /* whatever it points to, a pointer is a pointer */
    void *const block = memory_take(memory, wider * item_bytes);
    if (block == NULL)
        return false;
    if (used > 0)
        memcpy(block, old, used * item_bytes);
    memory_give(memory, old, *capacity * item_bytes);
    memcpy(items, &block, sizeof block);
    *capacity = wider;
    CW_INVARIANT("I-MEM-1", wider * item_bytes <= memory->bytes_max,
                 "an array of %zu bytes; the limit is %llu", wider * item_bytes,
                 (unsigned long long)memory->bytes_max);
    return true;
}

enum memory_level memory_level(const struct memory *memory)
{
    const uint64_t taken = sync_load_acquire(&memory->taken); /* a figure: orders nothing */
    const uint64_t share = memory->bytes_max / 20;            /* 5 % */
    if (taken < 14 * share)
        return MEMORY_PLENTY;
    if (sync_load_acquire(&memory->waiting) > 0) /* likewise */
        return MEMORY_NO_MORE;
    return taken < 17 * share ? MEMORY_TIGHT : taken < 19 * share ? MEMORY_SCARCE : MEMORY_NO_MORE;
}

int memory_error(const struct memory *memory, struct cw_error *error)
{
    const uint64_t needed = sync_load_acquire(&memory->needed); /* a figure: orders nothing */
    if (needed > memory->bytes_max)
        return cw_error_set(error, CW_NO_RESOURCE,
                            "out of memory: the simulation needs at least %llu bytes, the limit is "
                            "%llu (--max-memory)",
                            (unsigned long long)needed, (unsigned long long)memory->bytes_max);
    return cw_error_set(error, CW_NO_RESOURCE,
                        "out of memory: the simulation needs at least %llu bytes, and the system "
                        "has no more",
                        (unsigned long long)needed);
}
