/*
 * sparse_memory.h: bytes at 64-bit addresses, nearly all of them zero. What has never been written
 * reads as zeros and costs nothing; storage comes in pages of 1 KiB, when they are first touched.
 * Pages are small because a study of a million PEs may hold one small tile on each.
 *
 * One thread at a time, but for sparse_memory_read(); two memories share nothing.
 */
#ifndef COLLECTIVES_SPARSE_MEMORY_H
#define COLLECTIVES_SPARSE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPARSE_PAGE_BYTES ((size_t)1024)
#define SPARSE_LOOKS      4u

struct sparse_memory;

/* Stores at most bytes_max bytes; 0: as much as there is. NULL: out of memory. */
struct sparse_memory *sparse_memory_create(uint64_t bytes_max);
void sparse_memory_free(struct sparse_memory *memory); /* accepts NULL */

/* Bytes of storage taken so far; and another limit, for later allocations. */
uint64_t sparse_memory_bytes(const struct sparse_memory *memory);
void sparse_memory_limit(struct sparse_memory *memory, uint64_t bytes_max);

/*
 * A stretch of the memory itself: the bytes from `address` on, and in *run how many of them lie one
 * after the other here: at least 1, at most `want`, which is > 0. The address range of a call does
 * not pass 2^64. Valid until the memory is freed or the place is filled, but _look's of an
 * untouched place is valid for the next SPARSE_LOOKS - 1 looks only, and later writes do not change
 * it.
 */
const uint8_t *sparse_memory_look(struct sparse_memory *memory, uint64_t address, size_t want,
                                  size_t *run);
/* For writing. NULL: out of storage. */
uint8_t *sparse_memory_touch(struct sparse_memory *memory, uint64_t address, size_t want,
                             size_t *run);

/* Changes nothing: while nothing else does, any number of threads may read. */
void sparse_memory_read(const struct sparse_memory *memory, uint64_t address, void *dst,
                        size_t bytes);
/* False: out of storage, and part of it may have been written. */
bool sparse_memory_write(struct sparse_memory *memory, uint64_t address, const void *src,
                         size_t bytes);

struct sparse_range {
    uint64_t address, bytes;
};

/* Bytes that a function gives: those from byte `at` of the content on. Pure. */
struct sparse_content {
    void (*make)(const struct sparse_content *content, uint64_t at, void *dst, size_t bytes);
    uint64_t word[3]; /* its arguments */
};

/*
 * The range, which is not empty, has this content from now on; zeros, if there is no function. It
 * counts as untouched, and its storage is given back; so a range that is only read takes none.
 * False: out of storage, and nothing is changed.
 */
bool sparse_memory_fill(struct sparse_memory *memory, struct sparse_range range,
                        struct sparse_content content);

/* XXH3 (64 bits) over the ranges' bytes, one range after the other. */
uint64_t sparse_memory_hash(struct sparse_memory *memory, const struct sparse_range *ranges,
                            size_t count);

/*
 * XXH3 (64 bits) over each page that is not all zeros, in the order of addresses: its address (8
 * bytes, little-endian), then its bytes. So it depends on contents alone, not on which pages were
 * touched.
 */
uint64_t sparse_memory_digest(const struct sparse_memory *memory);

#endif
