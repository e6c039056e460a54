/* expect_order.c: reductions along lines of vectors (expect_order.h). */
#include "collectives/verify/expect_order.h"

#include <string.h>

static uint8_t *at(const struct expect_math *math, uint8_t *vectors, struct expect_line line,
                   uint32_t i)
{
    return vectors + (size_t)(line.base + i * line.stride) * math->vector_bytes;
}

static const uint8_t *at_const(const struct expect_math *math, const uint8_t *vectors,
                               struct expect_line line, uint32_t i)
{
    return vectors + (size_t)(line.base + i * line.stride) * math->vector_bytes;
}

static void add_vector(const struct expect_math *math, uint8_t *acc, const uint8_t *received)
{
    dtype_reduce(math->dtype, math->op, acc, acc, received, math->count);
}

static void copy(const struct expect_math *math, uint8_t *to, const uint8_t *from)
{
    if (to != from)
        memcpy(to, from, math->count * dtype_bytes(math->dtype));
}

void expect_converge(const struct expect_math *math, uint8_t *vectors, struct expect_line line,
                     uint32_t root)
{
    for (uint32_t i = 1; i <= root; i++)
        add_vector(math, at(math, vectors, line, i), at(math, vectors, line, i - 1));
    for (uint32_t i = line.length - 1; i > root; i--)
        add_vector(math, at(math, vectors, line, i - 1), at(math, vectors, line, i));
}

void expect_spread(const struct expect_math *math, uint8_t *vectors, struct expect_line line,
                   uint32_t root)
{
    for (uint32_t i = 0; i < line.length; i++)
        copy(math, at(math, vectors, line, i), at(math, vectors, line, root));
}

void expect_ring(const struct expect_math *math, uint8_t *results, const uint8_t *vectors,
                 struct expect_line line)
{
    for (uint32_t i = 0; i < line.length; i++) {
        uint8_t *acc = at(math, results, line, i);
        copy(math, acc, at_const(math, vectors, line, i));
        for (uint32_t k = 1; k < line.length; k++)
            add_vector(math, acc,
                       at_const(math, vectors, line, (i + line.length - k) % line.length));
    }
}

void expect_in_order(const struct expect_math *math, uint8_t *results, const uint8_t *vectors,
                     struct expect_line line)
{
    uint8_t *acc = at(math, results, line, 0);
    copy(math, acc, at_const(math, vectors, line, 0));
    for (uint32_t i = 1; i < line.length; i++)
        add_vector(math, acc, at_const(math, vectors, line, i));
    expect_spread(math, results, line, 0);
}

void expect_tree(const struct expect_math *math, uint8_t *vectors, uint32_t n)
{
    const struct expect_line all = {0, 1, n};
    for (uint32_t s = 1; s < n; s *= 2)
        for (uint32_t i = s; i < n; i += 2 * s)
            add_vector(math, at(math, vectors, all, i - s), at(math, vectors, all, i));
}

void expect_halving(const struct expect_math *math, uint8_t *vectors, uint32_t n)
{
    const struct expect_line all = {0, 1, n};
    uint32_t p = 1;
    while (2 * p <= n)
        p *= 2;
    const uint32_t folded = n - p;
    for (uint32_t i = 0; i < p; i++) {
        const uint32_t from = i < folded ? 2 * i : i + folded;
        copy(math, at(math, vectors, all, i), at(math, vectors, all, from));
        if (i < folded)
            add_vector(math, at(math, vectors, all, i), at(math, vectors, all, from + 1));
    }
    for (uint32_t d = p / 2; d > 0; d /= 2)
        for (uint32_t i = 0; i < d; i++)
            add_vector(math, at(math, vectors, all, i), at(math, vectors, all, i + d));
}
