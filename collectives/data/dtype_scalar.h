/*
 * dtype_scalar.h: the element types that are computed element by element (dtype.h): f64, the two
 * formats of 8 bits (OCP OFP8), whole numbers; and all types to and from f64. For dtype.c.
 */
#ifndef COLLECTIVES_DTYPE_SCALAR_H
#define COLLECTIVES_DTYPE_SCALAR_H

#include "collectives/data/dtype.h"

/* As the functions of dtype.h, for types from DTYPE_F64 on. */
void scalar_reduce(enum dtype dtype, enum redop op, void *dst, const void *a, const void *b,
                   size_t count);
void scalar_to_f64(enum dtype dtype, double *dst, const void *src, size_t count);
/* Values that f32 has, if the type is an 8-bit float. */
void scalar_from_f64(enum dtype dtype, void *dst, const double *src, size_t count);

/* One 8-bit float to f32, exactly; and back, to nearest even, or beyond the greatest number as the
 * type says: DTYPE_FP8_... saturate, DTYPE_FP8_..._OPEN do not. */
float fp8_widen(enum dtype dtype, uint8_t bits);
uint8_t fp8_narrow(enum dtype dtype, float x);

#endif
