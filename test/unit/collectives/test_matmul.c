/*
 * test_matmul.c: the rules of a product: the specified order of roundings, the layout tile by tile,
 * and that a wrong bit is found. Results are worked out here by the textbook's triple loop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collectives/data/input.h"
#include "collectives/compute/matmul_verify.h"

enum { SIDE = 12 };

static float rounded(enum dtype dtype, float value)
{
    uint8_t raw[DTYPE_BYTES_MAX];
    dtype_from_f32(dtype, raw, &value, 1);
    dtype_to_f32(dtype, &value, raw, 1);
    return value;
}

/* Row-major matrices from tile by tile: element by element in the order of memory. */
static void unpack(const float *memory, uint32_t rows, uint32_t columns, uint32_t tile, float *out)
{
    for (uint32_t i = 0; i < rows; i += tile)
        for (uint32_t j = 0; j < columns; j += tile)
            for (uint32_t y = i; y < rows && y < i + tile; y++)
                for (uint32_t x = j; x < columns && x < j + tile; x++)
                    out[y * columns + x] = *memory++;
}

static void pack(const float *matrix, uint32_t rows, uint32_t columns, uint32_t tile,
                 enum dtype dtype, uint8_t *out)
{
    for (uint32_t i = 0; i < rows; i += tile)
        for (uint32_t j = 0; j < columns; j += tile)
            for (uint32_t y = i; y < rows && y < i + tile; y++)
                for (uint32_t x = j; x < columns && x < j + tile; x++, out += dtype_bytes(dtype))
                    dtype_from_f32(dtype, out, &matrix[y * columns + x], 1);
}

/* C in the layout of memory. */
static void multiply(const struct matmul_shape *s, enum dtype dtype, uint64_t seed, uint64_t first,
                     uint8_t *c)
{
    uint8_t raw[2 * SIDE * SIDE * DTYPE_BYTES_MAX];
    float memory[2 * SIDE * SIDE], a[SIDE * SIDE], b[SIDE * SIDE], sum[SIDE * SIDE];
    input_fill(dtype, seed, first, raw, s->m * s->k + s->k * s->n);
    dtype_to_f32(dtype, memory, raw, s->m * s->k + s->k * s->n);
    unpack(memory, s->m, s->k, s->tile, a);
    unpack(memory + s->m * s->k, s->k, s->n, s->tile, b);
    for (uint32_t y = 0; y < s->m; y++)
        for (uint32_t x = 0; x < s->n; x++) {
            sum[y * s->n + x] = 0;
            for (uint32_t from = 0; from < s->k; from += s->tile) {
                float part = sum[y * s->n + x];
                for (uint32_t l = from; l < s->k && l < from + s->tile; l++)
                    part += a[y * s->k + l] * b[l * s->n + x];
                sum[y * s->n + x] = rounded(dtype, part);
            }
        }
    pack(sum, s->m, s->n, s->tile, dtype, c);
}

#define SHAPE(m_, n_, k_, tile_)                                                                   \
    {                                                                                              \
        .m = (m_), .n = (n_), .k = (k_), .tile = (tile_)                                           \
    }
static const struct matmul_shape shapes[] = {
    SHAPE(1, 1, 1, 1),   SHAPE(1, 1, 12, 5),  SHAPE(12, 12, 12, 4), SHAPE(5, 7, 9, 4),
    SHAPE(12, 5, 11, 3), SHAPE(3, 12, 2, 12), SHAPE(12, 12, 12, 1), SHAPE(7, 11, 12, 12)};

static void products_of_all_shapes_and_types_are_what_the_triple_loop_gives(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (enum dtype dtype = DTYPE_F16; dtype <= DTYPE_F32; dtype++) {
            uint8_t c[SIDE * SIDE * DTYPE_BYTES_MAX];
            uint64_t wrong = 99;
            multiply(&shapes[i], dtype, 7, 1000, c);
            assert_true(matmul_verify(&shapes[i], dtype, 7, 1000, c, &wrong));
            assert_int_equal(wrong, 0);
        }
}

static void each_wrong_element_is_counted(void **state)
{
    (void)state;
    const struct matmul_shape *shape = &shapes[3];
    uint8_t c[SIDE * SIDE * DTYPE_BYTES_MAX];
    uint64_t wrong;
    multiply(shape, DTYPE_F16, 1, 0, c);
    c[0] ^= 1;
    c[2 * 17 + 1] ^= 0x80;
    c[2 * 34] ^= 1;
    assert_true(matmul_verify(shape, DTYPE_F16, 1, 0, c, &wrong));
    assert_int_equal(wrong, 3);
    multiply(shape, DTYPE_F16, 1, 0, c);
    assert_true(matmul_verify(shape, DTYPE_F16, 2, 0, c, &wrong)); /* another seed's */
    assert_true(wrong > 20);
}

/* Rounding after each tile of the inner dimension is part of the result. */
static void another_tile_is_another_rounding(void **state)
{
    (void)state;
    const struct matmul_shape fine = SHAPE(12, 1, 12, 1), coarse = SHAPE(12, 1, 12, 12);
    uint8_t a[SIDE * DTYPE_BYTES_MAX], b[SIDE * DTYPE_BYTES_MAX];
    /* with one column and tiles of one row, both layouts of B and C are the same, and of A not */
    multiply(&fine, DTYPE_BF16, 3, 0, a);
    multiply(&coarse, DTYPE_BF16, 3, 0, b);
    assert_memory_not_equal(a, b, 2 * SIDE);
}

static void a_kernel_with_streams_or_a_large_frame_leaves_no_room(void **state)
{
    (void)state;
    struct matmul_beside beside;
    struct tl_kernel kernel = {.name = "k", .frame_bytes = 80};
    assert_true(matmul_beside(&beside, &kernel));
    assert_int_equal(beside.kernel.phase_count, 2);
    assert_int_equal(beside.kernel.stream_count, 1);
    kernel.frame_bytes = 81;
    assert_false(matmul_beside(&beside, &kernel));
    kernel.frame_bytes = 8;
    kernel.stream_count = 1;
    assert_false(matmul_beside(&beside, &kernel));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_all_shapes_and_types_are_what_the_triple_loop_gives),
        cmocka_unit_test(each_wrong_element_is_counted),
        cmocka_unit_test(another_tile_is_another_rounding),
        cmocka_unit_test(a_kernel_with_streams_or_a_large_frame_leaves_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
