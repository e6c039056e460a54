/*
 * matmul_verify.c: the bits of a product (matmul_verify.h), evaluated from the seed's inputs
 * element by element, without kernels, tiles in memories or the data pass.
 */
#include "collectives/compute/matmul_verify.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/data/input.h"

/* A matrix in memory: tile by tile. */
struct matrix {
    uint32_t rows, columns, tile;
    float *element; /* in f32, in the order of memory */
};

static uint64_t matmul_verify_place(const struct matrix *m, uint32_t row, uint32_t column)
{
    const uint32_t tile_row = row / m->tile, tile_column = column / m->tile;
    const uint32_t below = m->rows - tile_row * m->tile, right = m->columns - tile_column * m->tile;
    const uint64_t height = below < m->tile ? below : m->tile;
    const uint64_t width = right < m->tile ? right : m->tile;
    return (uint64_t)tile_row * m->tile * m->columns + tile_column * height * m->tile +
           (row % m->tile) * width + column % m->tile;
}

static bool matmul_verify_fill(struct matrix *m, enum dtype dtype, uint64_t seed, uint64_t first)
{
    const uint64_t count = (uint64_t)m->rows * m->columns;
    void *raw = malloc(count * dtype_bytes(dtype));
    m->element = malloc(count * sizeof *m->element);
    if (raw != NULL && m->element != NULL) {
        input_fill(dtype, seed, first, raw, count);
        dtype_to_f32(dtype, m->element, raw, count);
    }
    free(raw);
    return raw != NULL && m->element != NULL;
}

/* One element, rounded to the dtype after each tile of the inner dimension. */
static float element(const struct matrix *a, const struct matrix *b, enum dtype dtype, uint32_t row,
                     uint32_t column)
{
    float c = 0;
    for (uint32_t inner = 0; inner < a->columns; inner++) {
        c += a->element[matmul_verify_place(a, row, inner)] *
             b->element[matmul_verify_place(b, inner, column)];
        if (inner + 1 == a->columns || (inner + 1) % a->tile == 0) {
            uint8_t rounded[DTYPE_BYTES_MAX];
            dtype_from_f32(dtype, rounded, &c, 1);
            dtype_to_f32(dtype, &c, rounded, 1);
        }
    }
    return c;
}

bool matmul_verify(const struct matmul_shape *shape, enum dtype dtype, uint64_t seed,
                   uint64_t first, const void *result, uint64_t *wrong)
{
    struct matrix a = {.rows = shape->m, .columns = shape->k, .tile = shape->tile};
    struct matrix b = {.rows = shape->k, .columns = shape->n, .tile = shape->tile};
    const struct matrix c = {.rows = shape->m, .columns = shape->n, .tile = shape->tile};
    const size_t itemsize = dtype_bytes(dtype);
    const bool filled = matmul_verify_fill(&a, dtype, seed, first) &&
                        matmul_verify_fill(&b, dtype, seed, first + (uint64_t)shape->m * shape->k);
    *wrong = 0;
    for (uint32_t row = 0; filled && row < c.rows; row++)
        for (uint32_t column = 0; column < c.columns; column++) {
            uint8_t expected[DTYPE_BYTES_MAX];
            const float value = element(&a, &b, dtype, row, column);
            dtype_from_f32(dtype, expected, &value, 1);
            *wrong +=
                memcmp(expected,
                       (const uint8_t *)result + matmul_verify_place(&c, row, column) * itemsize,
                       itemsize) != 0;
        }
    free(a.element);
    free(b.element);
    return filled;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Elements of the stream in f32; `raw`: room for them in their type. */
static void take(enum dtype dtype, uint64_t seed, uint64_t first, void *raw, float *to,
                 uint32_t count)
{
    input_fill(dtype, seed, first, raw, count);
    dtype_to_f32(dtype, to, raw, count);
}

/* A row of the block: each sum in order of the inner dimension. */
static void sum_row(const struct matmul_shape *s, const float *a, const float *b, float *sum)
{
    memset(sum, 0, s->n * sizeof *sum);
    for (uint32_t l = 0; l < s->k; l++)
        for (uint32_t j = 0; j < s->n; j++)
            sum[j] += a[l] * b[(size_t)l * s->n + j];
}

bool compute_verify(const struct compute_job *job, uint32_t index, uint64_t seed, uint64_t first,
                    struct ccl_arithmetic arithmetic, const void *result, uint64_t *wrong)
{
    const enum dtype dtype = job->request.dtype;
    const size_t itemsize = dtype_bytes(dtype);
    const struct compute_block block = compute_block_of(job, index);
    const struct matmul_shape *const s = &block.shape;
    const struct matrix c = {.rows = s->m, .columns = s->n, .tile = s->tile};
    const uint32_t longest = s->k > s->n ? s->k : s->n;
    const uint64_t first_b = first + (uint64_t)job->request.m * s->k;
    uint8_t *const raw = malloc(longest * itemsize);
    float *const a = malloc(s->k * sizeof *a), *const sum = malloc(s->n * sizeof *sum);
    float *const b = malloc((size_t)s->k * s->n * sizeof *b);
    const bool room = raw != NULL && a != NULL && sum != NULL && b != NULL;
    *wrong = 0;
    for (uint32_t l = 0; room && l < s->k; l++)
        take(dtype, seed, first_b + (uint64_t)l * job->request.n + block.column, raw,
             b + (size_t)l * s->n, s->n);
    for (uint32_t i = 0; room && i < s->m; i++) {
        take(dtype, seed, first + (uint64_t)(block.row + i) * s->k, raw, a, s->k);
        sum_row(s, a, b, sum);
        dtype_from_f32(dtype_of_results(dtype, arithmetic), raw, sum, s->n);
        for (uint32_t j = 0; j < s->n; j++)
            *wrong += memcmp(raw + j * itemsize,
                             (const uint8_t *)result + matmul_verify_place(&c, i, j) * itemsize,
                             itemsize) != 0;
    }
    free(raw);
    free(a);
    free(sum);
    free(b);
    return room;
}
