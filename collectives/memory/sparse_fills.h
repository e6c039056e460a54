/*
 * sparse_fills.h: the contents of untouched places of a sparse memory, where they are not zeros:
 * ranges whose bytes a function gives, so that a tensor that is only read takes no storage. A
 * sorted list of disjoint ranges. Internal to sparse_memory.c; one thread at a time.
 */
#ifndef COLLECTIVES_SPARSE_FILLS_H
#define COLLECTIVES_SPARSE_FILLS_H

#include "collectives/memory/sparse_memory.h"

void sparse_fills_free(struct sparse_fills *fills);
/* The range shows this content from now on; no function: zeros. False: out of memory, and nothing
 * is changed. */
bool sparse_fills_add(struct sparse_fills *fills, struct sparse_range range,
                      struct sparse_content content);
/* Bytes from `address` on as the fills have them, zeros where there is none. False: all zeros, and
 * nothing was written. */
bool sparse_fills_show(const struct sparse_fills *fills, uint64_t address, void *dst, size_t bytes);
/* The first fill that has a byte of the `bytes` bytes from `address` on; NULL: none has. */
const struct sparse_fill *sparse_fills_at(const struct sparse_fills *fills, uint64_t address,
                                          size_t bytes);
/* The first address at or after this one that a fill has; false: none. */
bool sparse_fills_next(const struct sparse_fills *fills, uint64_t address, uint64_t *next);

#endif
