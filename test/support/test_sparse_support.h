/*
 * test_sparse_support.h: a sparse memory with an arena and an account of its own, as one value.
 */
#ifndef TEST_SPARSE_SUPPORT_H
#define TEST_SPARSE_SUPPORT_H

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "collectives/memory/sparse_memory.h"

struct sparse {
    struct storage storage;
    struct sparse_arena arena;
    struct sparse_memory memory;
};

/* bytes_max 0: as much as there is. */
static inline struct sparse *sparse_create(uint64_t bytes_max)
{
    struct sparse *const sparse = calloc(1, sizeof *sparse);
    assert_non_null(sparse);
    storage_init(&sparse->storage, bytes_max);
    assert_true(sparse_arena_init(&sparse->arena, &sparse->storage));
    return sparse;
}

static inline void sparse_free(struct sparse *sparse)
{
    sparse_memory_free(&sparse->memory);
    sparse_arena_free(&sparse->arena);
    assert_int_equal(storage_taken(&sparse->storage), 0);
    free(sparse);
}

static inline void sparse_read(const struct sparse *sparse, uint64_t address, void *dst,
                               size_t bytes)
{
    sparse_memory_read(&sparse->memory, address, dst, bytes);
}

static inline bool sparse_write(struct sparse *sparse, uint64_t address, const void *src,
                                size_t bytes)
{
    return sparse_memory_write(&sparse->memory, &sparse->arena, address, src, bytes);
}

static inline bool sparse_fill(struct sparse *sparse, struct sparse_range range,
                               struct sparse_content content)
{
    return sparse_memory_fill(&sparse->memory, &sparse->arena, range, content);
}

static inline uint64_t sparse_hash(const struct sparse *sparse, const struct sparse_range *ranges,
                                   size_t count)
{
    XXH3_state_t *const hash = XXH3_createState();
    XXH3_64bits_reset(hash);
    for (size_t i = 0; i < count; i++)
        sparse_memory_hash(&sparse->memory, ranges[i], hash);
    const uint64_t value = XXH3_64bits_digest(hash);
    XXH3_freeState(hash);
    return value;
}

/* Of the whole memory, in two ranges: a length does not reach 2^64. */
static inline uint64_t sparse_digest(const struct sparse *sparse)
{
    XXH3_state_t *const hash = XXH3_createState();
    const uint64_t half = (uint64_t)1 << 63;
    XXH3_64bits_reset(hash);
    sparse_memory_digest(&sparse->memory, (struct sparse_range){0, half}, hash);
    sparse_memory_digest(&sparse->memory, (struct sparse_range){half, half}, hash);
    const uint64_t value = XXH3_64bits_digest(hash);
    XXH3_freeState(hash);
    return value;
}

#endif
