/*
 * matmul_verify.h: the bits that a matrix product must have (matmul.h), computed from the inputs
 * alone. Pure.
 */
#ifndef COLLECTIVES_MATMUL_VERIFY_H
#define COLLECTIVES_MATMUL_VERIFY_H

#include "collectives/matmul/matmul.h"

/*
 * The bits of C from the inputs alone: element `first` of the seed's stream is A's
 * first. Counts how many of C's elements, `result`, have other bits. False: out of memory.
 */
bool matmul_verify(const struct matmul_shape *shape, enum dtype dtype, uint64_t seed,
                   uint64_t first, const void *result, uint64_t *wrong);

#endif
