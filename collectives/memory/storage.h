/*
 * storage.h: the account of all bytes that the contents of simulated memories and tiles take, with
 * their limit, and the door to the system's memory.
 *
 * Any worker may take and give; the account is one shared word (core/os/sync.h). A request that
 * is refused may, for a moment, cause another one to be refused.
 */
#ifndef COLLECTIVES_STORAGE_H
#define COLLECTIVES_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/os/sync.h"

struct storage {
    struct sync_u64 taken; /* bytes, now */
    uint64_t bytes_max;
};

/* bytes_max 0: no limit. */
void storage_init(struct storage *storage, uint64_t bytes_max);
uint64_t storage_taken(const struct storage *storage);

/* Counts bytes that the caller allocates itself. False: that would pass the limit. */
bool storage_charge(struct storage *storage, uint64_t bytes);
void storage_discharge(struct storage *storage, uint64_t bytes);

/* Blocks from here on come from the system, zeroed and in huge pages if it has some. */
enum { STORAGE_LARGE_BYTES = 2 << 20 };
/* A block, aligned to a cache line; its contents are undefined below STORAGE_LARGE_BYTES. NULL: it
 * would pass the limit, or there is no memory. */
void *storage_take(struct storage *storage, size_t bytes);
void storage_give(struct storage *storage, void *block, size_t bytes);

#endif
