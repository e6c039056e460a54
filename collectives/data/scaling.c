/* scaling.c: multiplies operands by a factor, and divides sums of whole numbers (scaling.h). */
#include "collectives/data/scaling.h"

#include <string.h>

enum { SCALING_PIECE = 256 };

struct scaling scaling_of(enum dtype dtype, enum redop op, double scalar, uint64_t operands)
{
    struct scaling scaling = {.multiplies = false};
    const bool averages = op == REDOP_AVG;
    if (!averages && op != REDOP_PREMULSUM)
        return scaling;
    if (averages && dtype_digits(dtype) == 0) {
        scaling.divisor = operands;
        return scaling;
    }
    const double factor = averages ? 1 / (double)operands : scalar;
    scaling.multiplies = true;
    dtype_from_f64(dtype, scaling.factor, &factor, 1);
    return scaling;
}

void scaling_multiply(const struct scaling *scaling, enum dtype dtype, void *values, size_t count)
{
    uint8_t factors[SCALING_PIECE * DTYPE_BYTES_MAX], *at = values;
    const size_t itemsize = dtype_bytes(dtype);
    if (!scaling->multiplies)
        return;
    for (size_t i = 0; i < SCALING_PIECE; i++)
        memcpy(factors + i * itemsize, scaling->factor, itemsize);
    for (size_t done = 0, n; done < count; done += n, at += n * itemsize) {
        n = count - done < SCALING_PIECE ? count - done : SCALING_PIECE;
        dtype_reduce(dtype, REDOP_PROD, at, at, factors, n);
    }
}

void scaling_divide(const struct scaling *scaling, enum dtype dtype, void *values, size_t count)
{
    uint8_t *const at = values;
    for (size_t i = 0; i < count && scaling->divisor > 0; i++) {
        int32_t whole;
        if (dtype == DTYPE_INT8)
            whole = (int8_t)at[i];
        else
            memcpy(&whole, at + i * sizeof whole, sizeof whole);
        whole = (int32_t)(whole / (int64_t)scaling->divisor);
        if (dtype == DTYPE_INT8)
            at[i] = (uint8_t)whole;
        else
            memcpy(at + i * sizeof whole, &whole, sizeof whole);
    }
}
