/*
 * matmul_verify.h: the bits that a matrix product must have (matmul.h), computed from the inputs
 * alone. Pure.
 */
#ifndef COLLECTIVES_MATMUL_VERIFY_H
#define COLLECTIVES_MATMUL_VERIFY_H

#include "collectives/compute/compute.h"

/*
 * Computes the block of C at PE request.first + index from the inputs alone, which are where
 * compute_fill() says. *wrong becomes the number of elements of `result`, a block in the layout of
 * its shard, that have other bits. False: out of memory.
 */
bool compute_verify(const struct compute_job *job, uint32_t index, uint64_t seed, uint64_t first,
                    struct ccl_arithmetic arithmetic, const void *result, uint64_t *wrong);

/*
 * The same of a product that is a PE's own, with sums of its own type. The elements of A, then of
 * B, are in the seed's stream from element `first` on, tile by tile.
 */
bool matmul_verify(const struct matmul_shape *shape, enum dtype dtype, uint64_t seed,
                   uint64_t first, const void *result, uint64_t *wrong);

#endif
