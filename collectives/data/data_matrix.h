/*
 * data_matrix.h: casts and matrix products of the data pass: operations whose operands differ in
 * size.
 */
#ifndef COLLECTIVES_DATA_MATRIX_H
#define COLLECTIVES_DATA_MATRIX_H

#include "collectives/data/data_operand.h"

/* Carry out a record that has been checked. */
int data_apply_cast(const struct data_site *site, const struct lp_op *op, struct cw_error *error);
int data_apply_gemm(const struct data_site *site, const struct lp_op *op, struct cw_error *error);

/* Bytes of each operand of a GEMM; all 0 if its shape is none. */
struct data_gemm {
    uint64_t a_bytes, b_bytes;
    uint32_t rows, cols, inner;
};
struct data_gemm data_gemm_shape(const struct lp_op *op);
/* Bytes of an element of dst before (LP_SUMS_FROM_F32) or after it (LP_SUMS_TO_F32). */
size_t data_gemm_itemsize(const struct lp_op *op, enum lp_sums side);

#endif
