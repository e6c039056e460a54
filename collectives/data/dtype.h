/*
 * dtype.h: the element types of tensors and the arithmetic on arrays of them. Results are the same
 * bits on every machine: round to nearest even, one rounding per operation, subnormals kept, and
 * every NaN that comes out of an operation or a conversion is the dtype's one canonical quiet NaN
 * (0x7e00, 0x7fc0, 0x7fc00000; f64 0x7ff8 and zeros, E4M3 0x7f, E5M2 0x7e), so that no bit depends
 * on the order of operands or on how a processor propagates payloads. Maximum and minimum are as in
 * IEEE 754-2019 (NaN propagates, -0 < +0). Whole numbers wrap.
 *
 * Pure functions, callable from any thread in the default floating-point environment (rounding to
 * nearest, neither FTZ nor DAZ). Arrays need no alignment.
 */
#ifndef COLLECTIVES_DTYPE_H
#define COLLECTIVES_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/config/ccl_config.h"
#include "lp/record.h"

/* The values equal the ones in committed records, so that no table is needed between the two. */
enum dtype {
#define DTYPE_ROW(name, text, bytes, nccl, other) DTYPE_##name = LP_##name,
    LP_DTYPE_LIST(DTYPE_ROW)
#undef DTYPE_ROW
    /* In no record: as results of arithmetic, 8-bit floats that do not saturate. */
    DTYPE_FP8_E4M3_OPEN = LP_DTYPES,
    DTYPE_FP8_E5M2_OPEN,
    DTYPES
};
/* What a collective does with its operands: kernels and records know the first ones alone. */
enum redop {
    REDOP_SUM = LP_MATH_SUM,
    REDOP_MAX = LP_MATH_MAX,
    REDOP_MIN = LP_MATH_MIN,
    REDOP_PROD = LP_MATH_PROD,
    REDOP_AVG,       /* the sum, divided by the number of operands (scaling.h) */
    REDOP_PREMULSUM, /* the sum of operands that are multiplied by a scalar first */
    REDOPS
};

#define DTYPE_BYTES_MAX 8u

/* True if the number, from a record or a file, names a dtype or an operation of records. */
bool dtype_is_known(unsigned dtype);
bool redop_is_known(unsigned op);
/* The operation that kernels carry out for it. */
enum redop redop_of_kernels(enum redop op);

size_t dtype_bytes(enum dtype dtype);     /* of one element */
const char *dtype_name(enum dtype dtype); /* "f16" */
const char *redop_name(enum redop op);    /* "sum" */
/* By any name that it has, nccl-tests' included. false: unknown, *dtype untouched. */
bool dtype_parse(const char *name, enum dtype *dtype);
bool redop_parse(const char *name, enum redop *op);
/* For lists: the i-th one's name, NULL after the last. */
const char *dtype_at(size_t i);
const char *redop_at(size_t i);

/* The same type, but for what arithmetic does with values beyond its greatest number. */
enum dtype dtype_of_results(enum dtype dtype, struct ccl_arithmetic arithmetic);
/* Digits of a number, the hidden one included; 0: whole numbers. */
int dtype_digits(enum dtype dtype);
/* Sums of the type may be kept in f32. */
static inline bool dtype_is_narrow(enum dtype dtype)
{
    return dtype_digits(dtype) > 0 && dtype_digits(dtype) < 24;
}
/* Exponent of the least number above 0. */
int dtype_least_exponent(enum dtype dtype);
/* All whole numbers up to this one are there. */
uint64_t dtype_whole_max(enum dtype dtype);

/* Arrays of `count` elements to and from f32. The arrays do not overlap. */
void dtype_to_f32(enum dtype dtype, float *dst, const void *src, size_t count);
void dtype_from_f32(enum dtype dtype, void *dst, const float *src, size_t count);

/* Likewise to and from f64. To whole numbers: to nearest even, the nearest that there is, NaN to
 * 0. */
void dtype_to_f64(enum dtype dtype, double *dst, const void *src, size_t count);
void dtype_from_f64(enum dtype dtype, void *dst, const double *src, size_t count);
/* From one type to another: through f32, or through f64 where one of them is f64 or int32. The
 * arrays do not overlap. */
void dtype_convert(enum dtype to, void *dst, enum dtype from, const void *src, size_t count);

/* How many of the elements are infinities or NaNs. */
uint64_t dtype_count_not_finite(enum dtype dtype, const void *values, size_t count);

/* dst[i] = a[i] op b[i]. dst may be a or b itself; it overlaps neither in any other way. */
void dtype_reduce(enum dtype dtype, enum redop op, void *dst, const void *a, const void *b,
                  size_t count);

#endif
