/*
 * expect_moves.c: compares results of collectives that only move data (expect_moves.h), some
 * elements at a time.
 */
#include "collectives/verify/expect_moves.h"

#include <string.h>

#include "collectives/data/input.h"

enum { STEP = 4096 };

/* Compares a shard's elements at + 0 .. n_elem - 1 with the input of rank `from`. */
static int expect_moves_compare(const struct expect_moves *moves, expect_read_fn read, void *arg,
                                uint32_t rank, uint32_t shard, uint32_t from, uint64_t at,
                                uint64_t *wrong, struct cw_error *error)
{
    _Alignas(16) uint8_t found[STEP * 4], expected[STEP * 4];
    const size_t itemsize = dtype_bytes(moves->dtype);
    const uint64_t first = input_first(from, moves->shards, shard, moves->n_elem);
    for (uint64_t done = 0; done < moves->n_elem;) {
        const uint64_t left = moves->n_elem - done, count = left < STEP ? left : STEP;
        const int code = read(arg, rank, shard, at + done, count, found, error);
        if (code != CW_OK)
            return code;
        input_fill(moves->dtype, moves->seed, first + done, expected, count);
        for (uint64_t i = 0; i < count; i++)
            *wrong += memcmp(found + i * itemsize, expected + i * itemsize, itemsize) != 0;
        done += count;
    }
    return CW_OK;
}

int expect_moves_verify(const struct expect_moves *moves, expect_read_fn read, void *arg,
                        uint64_t *wrong, struct cw_error *error)
{
    const bool gathers = moves->collective == CCL_ALL_GATHER;
    *wrong = 0;
    for (uint32_t rank = 0; rank < moves->ranks; rank++)
        for (uint32_t shard = 0; shard < moves->shards; shard++)
            for (uint32_t part = 0; part < (gathers ? moves->ranks : 1); part++) {
                const uint32_t from = gathers ? part : moves->root;
                const int code = expect_moves_compare(moves, read, arg, rank, shard, from,
                                                      part * moves->n_elem, wrong, error);
                if (code != CW_OK)
                    return code;
            }
    return CW_OK;
}
