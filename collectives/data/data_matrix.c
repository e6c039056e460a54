/*
 * data_matrix.c: casts and matrix products of the data pass (data_matrix.h). Both go through f32
 * scratch of a fixed size, so that no record decides how much is allocated; a product keeps a block
 * of its result in f32 while it walks along the inner dimension, in order.
 */
#include "collectives/data/data_matrix.h"

#include <assert.h>
#include <string.h>

#include "collectives/data/dtype.h"

#define CAST_ELEMENTS 1024u
#define BLOCK_ROWS    32u
#define BLOCK_COLS    1024u
#define BLOCK_INNER   64u

struct gemm_scratch {
    float sum[BLOCK_ROWS][BLOCK_COLS];
    float a[BLOCK_ROWS][BLOCK_INNER];
    float b[BLOCK_COLS];
    uint8_t raw[BLOCK_COLS * DTYPE_BYTES_MAX];
};

int data_apply_cast(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    const enum dtype from = (enum dtype)op->dtype, to = (enum dtype)op->math;
    const uint64_t count = op->bytes / dtype_bytes(from);
    const struct target target = {data_operand_address(site->pass, op->pe, &op->dst),
                                  count * dtype_bytes(to), dtype_bytes(from) == dtype_bytes(to)};
    uint8_t raw[CAST_ELEMENTS * DTYPE_BYTES_MAX], cast[CAST_ELEMENTS * DTYPE_BYTES_MAX];
    struct source a;
    bool done = data_bind(site, op, &op->a, op->bytes, &target, &a);
    for (uint64_t at = 0, n; done && at < count; at += n) {
        n = count - at < CAST_ELEMENTS ? count - at : CAST_ELEMENTS;
        data_gather(site, &a, at * dtype_bytes(from), raw, n * dtype_bytes(from));
        dtype_convert(data_type(site->pass, to), cast, from, raw, n);
        done = data_store(site, target.address + at * dtype_bytes(to), cast, n * dtype_bytes(to));
    }
    data_unbind(site, op, &op->a, &a);
    return done ? CW_OK : data_out_of_storage(site->pass, error);
}

size_t data_gemm_itemsize(const struct lp_op *op, enum lp_sums side)
{
    return op->dir & side ? sizeof(float) : dtype_bytes((enum dtype)op->dtype);
}

struct data_gemm data_gemm_shape(const struct lp_op *op)
{
    const uint64_t itemsize = dtype_bytes((enum dtype)op->dtype);
    const uint64_t column_bytes = op->seq * (uint64_t)data_gemm_itemsize(op, LP_SUMS_TO_F32);
    if (op->seq == 0 || op->bytes == 0 || op->bytes % column_bytes)
        return (struct data_gemm){0};
    const uint32_t cols = (uint32_t)(op->bytes / column_bytes);
    return (struct data_gemm){.rows = op->seq,
                              .cols = cols,
                              .inner = op->peer,
                              .a_bytes = (uint64_t)op->seq * op->peer * itemsize,
                              .b_bytes = (uint64_t)op->peer * cols * itemsize};
}

/* One product in progress. */
struct gemm {
    const struct data_site *site;
    const struct lp_op *op;
    struct data_gemm shape;
    struct source a, b;
    uint64_t dst;
    enum dtype old, result; /* types of dst, before and after */
    struct gemm_scratch *scratch;
};

/* `count` elements of this type, from element `first` on, in f32. */
static void widen_elements(const struct gemm *g, const struct source *source, enum dtype dtype,
                           uint64_t first, float *dst, size_t count)
{
    const size_t itemsize = dtype_bytes(dtype);
    data_gather(g->site, source, first * itemsize, g->scratch->raw, count * itemsize);
    dtype_to_f32(dtype, dst, g->scratch->raw, count);
}

/* The block's sums begin with +0, or with the values that are there. */
static void begin_block(const struct gemm *g, uint32_t row, uint32_t rows, uint32_t col,
                        uint32_t cols)
{
    const struct source dst = {.address = g->dst};
    for (uint32_t i = 0; i < rows; i++)
        if (g->op->math == LP_MATH_SUM)
            widen_elements(g, &dst, g->old, (uint64_t)(row + i) * g->shape.cols + col,
                           g->scratch->sum[i], cols);
        else
            memset(g->scratch->sum[i], 0, cols * sizeof(float));
}

static void add_products(const struct gemm *g, uint32_t row, uint32_t rows, uint32_t col,
                         uint32_t cols)
{
    struct gemm_scratch *s = g->scratch;
    for (uint32_t first = 0, n; first < g->shape.inner; first += n) {
        n = g->shape.inner - first < BLOCK_INNER ? g->shape.inner - first : BLOCK_INNER;
        for (uint32_t i = 0; i < rows; i++)
            widen_elements(g, &g->a, (enum dtype)g->op->dtype,
                           (uint64_t)(row + i) * g->shape.inner + first, s->a[i], n);
        for (uint32_t k = 0; k < n; k++) {
            widen_elements(g, &g->b, (enum dtype)g->op->dtype,
                           (uint64_t)(first + k) * g->shape.cols + col, s->b, cols);
            for (uint32_t i = 0; i < rows; i++)
                for (uint32_t j = 0; j < cols; j++)
                    s->sum[i][j] += s->a[i][k] * s->b[j];
        }
    }
}

static bool end_block(const struct gemm *g, uint32_t row, uint32_t rows, uint32_t col,
                      uint32_t cols)
{
    const size_t itemsize = dtype_bytes(g->result);
    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t at = ((uint64_t)(row + i) * g->shape.cols + col) * itemsize;
        dtype_from_f32(data_type(g->site->pass, g->result), g->scratch->raw, g->scratch->sum[i],
                       cols);
        if (!data_store(g->site, g->dst + at, g->scratch->raw, cols * itemsize))
            return false;
    }
    return true;
}

/* A result narrower than the sums that were there must not be written over those that are still to
 * be read: so blocks follow each other in memory. */
static bool multiply_blocks(const struct gemm *g)
{
    const uint32_t most = g->old != g->result && g->shape.cols > BLOCK_COLS ? 1 : BLOCK_ROWS;
    for (uint32_t row = 0, rows; row < g->shape.rows; row += rows) {
        rows = g->shape.rows - row < most ? g->shape.rows - row : most;
        for (uint32_t col = 0, cols; col < g->shape.cols; col += cols) {
            cols = g->shape.cols - col < BLOCK_COLS ? g->shape.cols - col : BLOCK_COLS;
            begin_block(g, row, rows, col, cols);
            add_products(g, row, rows, col, cols);
            if (!end_block(g, row, rows, col, cols))
                return false;
        }
    }
    return true;
}

int data_apply_gemm(const struct data_site *site, const struct lp_op *op, struct cw_error *error)
{
    struct gemm g = {.site = site,
                     .op = op,
                     .shape = data_gemm_shape(op),
                     .dst = data_operand_address(site->pass, op->pe, &op->dst),
                     .old = op->dir & LP_SUMS_FROM_F32 ? DTYPE_F32 : (enum dtype)op->dtype,
                     .result = op->dir & LP_SUMS_TO_F32 ? DTYPE_F32 : (enum dtype)op->dtype};
    const struct target target = {g.dst, op->bytes, false};
    struct tile_buffer *scratch = tile_pool_take(&site->worker->pool, sizeof *g.scratch);
    bool done = scratch != NULL;
    if (done) {
        g.scratch = (struct gemm_scratch *)(void *)scratch->bytes;
        done = data_bind(site, op, &op->a, g.shape.a_bytes, &target, &g.a) &&
               data_bind(site, op, &op->b, g.shape.b_bytes, &target, &g.b) && multiply_blocks(&g);
        tile_buffer_release(scratch, &site->worker->pool);
    }
    data_unbind(site, op, &op->a, &g.a);
    data_unbind(site, op, &op->b, &g.b);
    return done ? CW_OK : data_out_of_storage(site->pass, error);
}
