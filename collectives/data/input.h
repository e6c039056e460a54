/*
 * input.h: the numbers that collectives work on (COMMANDS.md, "Inputs"). Element g of a seed's
 * stream is a pure function of (seed, g), so that any part of any tensor can be made, or checked,
 * on its own. Pure functions, callable from any thread.
 */
#ifndef COLLECTIVES_INPUT_H
#define COLLECTIVES_INPUT_H

#include "collectives/data/dtype.h"

/* Elements first .. first + count - 1 of the seed's stream, in [-1, 1), rounded to the dtype, or of
 * all values of a type of whole numbers; or small whole numbers, of a seed that input_integers()
 * made. */
void input_fill(enum dtype dtype, uint64_t seed, uint64_t first, void *dst, size_t count);

/* The same elements of a program's own values, element 0 first; values NULL: of the seed's stream.
 */
void input_take(enum dtype dtype, const void *values, uint64_t seed, uint64_t first, void *dst,
                size_t count);

/* Where element 0 of a shard is in the stream: (rank * shards + shard) * n_elem. */
static inline uint64_t input_first(uint64_t rank, uint64_t shards, uint64_t shard, uint64_t n_elem)
{
    return (rank * shards + shard) * n_elem;
}

/*
 * A seed whose stream has small whole numbers: so small, or so many zeros between them, that adding
 * up any of an element's `operands` values, in any order, is exact in the dtype. For products they
 * are 1 and -1. Element e of operand k is element k * n_elem + e of the stream. `seed` has 32 bits.
 */
uint64_t input_integers(uint64_t seed, enum dtype dtype, enum redop op, uint64_t operands,
                        uint64_t n_elem);

#endif
