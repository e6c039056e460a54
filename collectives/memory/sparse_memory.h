/*
 * sparse_memory.h: bytes at 64-bit addresses, nearly all of them zero. Bytes that have never been
 * written read as zeros and cost nothing; storage comes in pages of 1 KiB, when they are first
 * touched. Pages are small because a study of a million PEs may hold one small tile on each. They
 * come from the arena (sparse_arena.h) of the worker that owns the memory now; the caller names it.
 *
 * One thread at a time, but for functions that take a const memory: while nothing changes, any
 * number of threads may call those. Two memories share nothing but their arena.
 */
#ifndef COLLECTIVES_SPARSE_MEMORY_H
#define COLLECTIVES_SPARSE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/memory/sparse_arena.h"

struct sparse_range {
    uint64_t address, bytes;
};

/* Bytes that a function gives: those from byte `at` of the content on. Pure. */
struct sparse_content {
    void (*make)(const struct sparse_content *content, uint64_t at, void *dst, size_t bytes);
    uint64_t word[3]; /* its arguments */
};

/* The contents of untouched places, where they are not zeros (sparse_fills.h): disjoint ranges, by
 * address. */
struct sparse_fill {
    uint64_t address, bytes;
    uint64_t at; /* of the content: the range's first byte */
    struct sparse_content content;
};
struct sparse_fills {
    struct sparse_fill *list;
    size_t count, capacity;
};

/* One block remembered for each value of an address's two upper bits. */
#define SPARSE_CACHE_WAYS 4u

/* Zero-initialised by its owner; only the functions below touch it. */
struct sparse_memory {
    void *blocks; /* JudyL: block number -> struct sparse_block * */
    struct {
        uint64_t number;
        struct sparse_block *block; /* NULL: nothing remembered */
    } cache[SPARSE_CACHE_WAYS];
    struct sparse_fills fills;
};

/* Frees all but the pages, which are the arenas'. */
void sparse_memory_free(struct sparse_memory *memory);

/*
 * A stretch of the memory itself: the bytes from `address` on, and in *run how many of them are
 * contiguous here: at least 1, at most `want`, which is > 0. The address range of a call does not
 * pass 2^64. Valid until the memory is freed or the place is filled, but _look's of an untouched
 * place is valid for the next SPARSE_LOOKS - 1 looks with this arena only.
 */
const uint8_t *sparse_memory_look(struct sparse_memory *memory, struct sparse_arena *arena,
                                  uint64_t address, size_t want, size_t *run);
/* For writing. NULL: out of storage, and *run has no meaning. */
uint8_t *sparse_memory_touch(struct sparse_memory *memory, struct sparse_arena *arena,
                             uint64_t address, size_t want, size_t *run);
/* The same for a stretch whose bytes the caller all overwrites: their contents are undefined. */
uint8_t *sparse_memory_replace(struct sparse_memory *memory, struct sparse_arena *arena,
                               uint64_t address, size_t want, size_t *run);

/* A stretch for reading alone, as above: the memory's own, or a copy in `shown`, which has room for
 * `want` bytes or a block. */
const uint8_t *sparse_memory_peek(const struct sparse_memory *memory, uint64_t address, size_t want,
                                  size_t *run, uint8_t *shown);
void sparse_memory_read(const struct sparse_memory *memory, uint64_t address, void *dst,
                        size_t bytes);
/* False: out of storage, and part of it may have been written. */
bool sparse_memory_write(struct sparse_memory *memory, struct sparse_arena *arena, uint64_t address,
                         const void *src, size_t bytes);

/*
 * The range, which is not empty, has this content from now on; zeros, if there is no function. It
 * counts as untouched, and its storage is given back to the arena; so a range that is only read
 * takes none, if it is long. False: out of storage, and nothing is changed.
 */
bool sparse_memory_fill(struct sparse_memory *memory, struct sparse_arena *arena,
                        struct sparse_range range, struct sparse_content content);

/* Adds the range's bytes to a hash of 64 bits (XXH3_state_t). */
void sparse_memory_hash(const struct sparse_memory *memory, struct sparse_range range,
                        void *xxh3_state);

/*
 * Adds each page of the range that is not all zeros to such a hash, in the order of addresses:
 * its address (8 bytes, little-endian), then its bytes. So it depends on contents alone, not on
 * which pages were touched. The range begins and ends at a block.
 */
void sparse_memory_digest(const struct sparse_memory *memory, struct sparse_range range,
                          void *xxh3_state);

#endif
