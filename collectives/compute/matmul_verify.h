/*
 * matmul_verify.h: the bits that a matrix product must have (matmul.h), computed from the inputs
 * alone. Pure.
 */
#ifndef COLLECTIVES_MATMUL_VERIFY_H
#define COLLECTIVES_MATMUL_VERIFY_H

#include "collectives/compute/matmul.h"

/*
 * Computes C from the inputs alone. The elements of A, then of B, are in the seed's stream
 * from element `first` on, row by row. *wrong becomes the number of elements of `result` that have
 * other bits. False: out of memory.
 */
bool matmul_verify(const struct matmul_shape *shape, enum dtype dtype, uint64_t seed,
                   uint64_t first, const void *result, uint64_t *wrong);

#endif
