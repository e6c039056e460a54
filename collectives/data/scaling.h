/*
 * scaling.h: the operations that are a sum and a factor: `avg` and `premulsum`, as NCCL defines
 * them (COMMANDS.md, "Operations"). Kernels carry out the sum; operands are multiplied before it,
 * and a sum of whole numbers is divided after it. Pure functions.
 */
#ifndef COLLECTIVES_SCALING_H
#define COLLECTIVES_SCALING_H

#include "collectives/data/dtype.h"

/* All zero: nothing is scaled. */
struct scaling {
    bool multiplies;
    uint8_t factor[DTYPE_BYTES_MAX]; /* an element */
    uint64_t divisor;                /* of whole numbers; 0: none */
};

/* For a sum of `operands` operands; `scalar` is premulsum's, rounded to the type. */
struct scaling scaling_of(enum dtype dtype, enum redop op, double scalar, uint64_t operands);
/* Operands, in place: each times the factor, rounded once. */
void scaling_multiply(const struct scaling *scaling, enum dtype dtype, void *values, size_t count);
/* Results, in place: each divided, towards zero. */
void scaling_divide(const struct scaling *scaling, enum dtype dtype, void *values, size_t count);

#endif
