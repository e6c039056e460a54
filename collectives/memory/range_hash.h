/*
 * range_hash.h: XXH3 (64 bits) over ranges of sparse memories, one after the other. Long ranges are
 * hashed by all workers of a simulation together; the value is the same.
 */
#ifndef COLLECTIVES_RANGE_HASH_H
#define COLLECTIVES_RANGE_HASH_H

#include "collectives/memory/sparse_memory.h"
#include "core/cw.h"

struct range_hash_request {
    const struct sparse_range *ranges;
    size_t count;
    /* The memory that has an address. Several threads may ask at the same time. */
    const struct sparse_memory *(*memory_of)(const void *arg, uint64_t address);
    const void *arg;
    struct cw_sim *sim; /* NULL: the calling thread alone */
};

/* Between drains. Nothing may change the memories meanwhile. */
uint64_t range_hash(const struct range_hash_request *request);

#endif
