/*
 * storage.c: counts the bytes that are taken from the system and given back, and refuses those
 * above the limit (storage.h).
 */
#include "collectives/memory/storage.h"

#include <stdlib.h>

#include "core/os/pages.h"

enum { STORAGE_ALIGN = 64 };

void storage_init(struct storage *storage, uint64_t bytes_max)
{
    *storage = (struct storage){.bytes_max = bytes_max > 0 ? bytes_max : UINT64_MAX};
}

uint64_t storage_taken(const struct storage *storage)
{
    return sync_load_acquire(&storage->taken); /* a figure: it orders nothing */
}

bool storage_charge(struct storage *storage, uint64_t bytes)
{
    if (bytes <= storage->bytes_max &&
        sync_add_relaxed(&storage->taken, bytes) <= storage->bytes_max - bytes)
        return true;
    if (bytes <= storage->bytes_max)
        storage_discharge(storage, bytes);
    return false;
}

void storage_discharge(struct storage *storage, uint64_t bytes)
{
    (void)sync_add_relaxed(&storage->taken, -bytes);
}

void *storage_take(struct storage *storage, size_t bytes)
{
    if (!storage_charge(storage, bytes))
        return NULL;
    void *const block = bytes >= STORAGE_LARGE_BYTES
                            ? pages_map(bytes)
                            : aligned_alloc(STORAGE_ALIGN, (bytes + STORAGE_ALIGN - 1) /
                                                               STORAGE_ALIGN * STORAGE_ALIGN);
    if (block == NULL)
        storage_discharge(storage, bytes);
    return block;
}

void storage_give(struct storage *storage, void *block, size_t bytes)
{
    if (block == NULL)
        return;
    if (bytes >= STORAGE_LARGE_BYTES)
        pages_unmap(block, bytes);
    else
        free(block);
    storage_discharge(storage, bytes);
}
