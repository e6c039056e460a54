/*
 * dtype.h: the element types of tensors and the arithmetic on arrays of them. Results are the same
 * bits on every machine: round to nearest even, one rounding per operation, subnormals kept, and
 * every NaN that comes out of an operation or a conversion is the dtype's one canonical quiet NaN
 * (0x7e00, 0x7fc0, 0x7fc00000), so that no bit depends on the order of operands or on how a
 * processor propagates payloads. Maximum and minimum are as in IEEE 754-2019 (NaN propagates,
 * -0 < +0).
 *
 * Pure functions, callable from any thread in the default floating-point environment (rounding to
 * nearest, neither FTZ nor DAZ). Arrays need no alignment.
 */
#ifndef COLLECTIVES_DTYPE_H
#define COLLECTIVES_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lp/record.h"

/* The values equal the ones in committed records, so that no table is needed between the two. */
enum dtype { DTYPE_F16 = LP_F16, DTYPE_BF16 = LP_BF16, DTYPE_F32 = LP_F32 };
enum redop {
    REDOP_SUM = LP_MATH_SUM,
    REDOP_MAX = LP_MATH_MAX,
    REDOP_MIN = LP_MATH_MIN,
    REDOP_PROD = LP_MATH_PROD
};

#define DTYPE_BYTES_MAX 4u

/* True if the number, from a record or a file, names a dtype or an operation. */
bool dtype_is_known(unsigned dtype);
bool redop_is_known(unsigned op);

size_t dtype_bytes(enum dtype dtype);                  /* of one element */
const char *dtype_name(enum dtype dtype);              /* "f16" */
const char *redop_name(enum redop op);                 /* "sum" */
bool dtype_parse(const char *name, enum dtype *dtype); /* false: unknown, *dtype untouched */
bool redop_parse(const char *name, enum redop *op);

/* Arrays of `count` elements to and from f32. The arrays do not overlap. */
void dtype_to_f32(enum dtype dtype, float *dst, const void *src, size_t count);
void dtype_from_f32(enum dtype dtype, void *dst, const float *src, size_t count);

/* How many of the elements are infinities or NaNs. */
uint64_t dtype_count_not_finite(enum dtype dtype, const void *values, size_t count);

/* dst[i] = a[i] op b[i]. dst may be a or b itself; it overlaps neither in any other way. */
void dtype_reduce(enum dtype dtype, enum redop op, void *dst, const void *a, const void *b,
                  size_t count);

#endif
