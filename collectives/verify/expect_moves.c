/*
 * expect_moves.c: compares results of calls that only move data (expect_moves.h), some elements at
 * a time. Blocks of all ranks' shards are shared evenly among the workers of the engine. A worker
 * writes its own figures only.
 */
#include "collectives/verify/expect_moves.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/data/input.h"

enum { STEP = 4096 };

/* The wrong elements that a worker has found. */
struct moves_part {
    _Alignas(128) uint64_t wrong;
    struct cw_error error;
};

struct moves_comparison {
    const struct expect_moves *moves;
    expect_read_fn read;
    void *arg;
    uint32_t workers;
    struct moves_part *parts; /* [workers] */
};

static int expect_moves_compare(const struct moves_comparison *comparison, uint32_t shard,
                                struct expect_part moved, struct moves_part *part)
{
    _Alignas(16) uint8_t found[STEP * DTYPE_BYTES_MAX], expected[STEP * DTYPE_BYTES_MAX];
    const struct expect_moves *const moves = comparison->moves;
    const size_t itemsize = dtype_bytes(moves->dtype);
    const uint64_t first = input_first(moved.from, moves->shards, shard, moved.n_elem) + moved.at;
    for (uint64_t done = 0; done < moved.count;) {
        const uint64_t left = moved.count - done, count = left < STEP ? left : STEP;
        const int code = comparison->read(comparison->arg, moved.result, shard, moved.to + done,
                                          count, found, &part->error);
        if (code != CW_OK)
            return code;
        input_fill(moves->dtype, moves->seed, first + done, expected, count);
        for (uint64_t i = 0; i < count; i++)
            part->wrong += memcmp(found + i * itemsize, expected + i * itemsize, itemsize) != 0;
        done += count;
    }
    return CW_OK;
}

/* Blocks of a rank's result: of an all-gather and an all-to-all, of all ranks' inputs. */
static uint32_t blocks_of(const struct expect_moves *moves)
{
    return moves->collective == CCL_BROADCAST ? 1 : moves->ranks;
}

/* A block of a rank's result. */
static struct expect_part moved_block(const struct expect_moves *moves, uint32_t rank, uint32_t i)
{
    const uint64_t n = moves->n_elem, block = n / moves->ranks;
    struct expect_part moved = {.result = rank, .from = i, .n_elem = n, .count = n};
    if (moves->collective == CCL_BROADCAST)
        moved.from = moves->root;
    if (moves->collective == CCL_ALL_GATHER)
        moved.to = i * n;
    if (moves->collective == CCL_ALL_TO_ALL) {
        moved.at = rank * block;
        moved.to = i * block;
        moved.count = block;
    }
    return moved;
}

static uint64_t parts_of(const struct expect_moves *moves)
{
    return moves->part != NULL ? moves->part_count : (uint64_t)moves->ranks * blocks_of(moves);
}

static struct expect_part part_at(const struct expect_moves *moves, uint64_t i)
{
    const uint32_t blocks = blocks_of(moves);
    return moves->part != NULL ? moves->part[i]
                               : moved_block(moves, (uint32_t)(i / blocks), (uint32_t)(i % blocks));
}

static void compare_part(void *arg, uint32_t worker)
{
    const struct moves_comparison *const comparison = arg;
    const struct expect_moves *const moves = comparison->moves;
    struct moves_part *const part = &comparison->parts[worker];
    const uint64_t all = parts_of(moves) * moves->shards;
    const uint64_t end = all * (worker + 1) / comparison->workers;
    int code = CW_OK;
    for (uint64_t i = all * worker / comparison->workers; i < end && code == CW_OK; i++)
        code = expect_moves_compare(comparison, (uint32_t)(i % moves->shards),
                                    part_at(moves, i / moves->shards), part);
    part->error.exit_code = code;
}

int expect_moves_verify(const struct expect_moves *moves, expect_read_fn read, void *arg,
                        uint64_t *wrong, struct cw_error *error)
{
    const uint32_t workers = moves->sim != NULL ? cw_sim_worker_count(moves->sim) : 1;
    struct moves_comparison comparison = {
        .moves = moves, .read = read, .arg = arg, .workers = workers};
    const size_t bytes = workers * sizeof *comparison.parts;
    int code = CW_OK;
    *wrong = 0;
    comparison.parts = aligned_alloc(_Alignof(struct moves_part), bytes);
    if (comparison.parts == NULL)
        return cw_error_set(error, CW_NO_RESOURCE, "out of memory: %zu bytes", bytes);
    memset(comparison.parts, 0, bytes);
    if (moves->sim != NULL)
        cw_each_worker(moves->sim, compare_part, &comparison);
    else
        compare_part(&comparison, 0);
    for (uint32_t i = 0; i < workers && code == CW_OK; i++) { /* the least rank's error first */
        code = comparison.parts[i].error.exit_code;
        *wrong += comparison.parts[i].wrong;
        if (code != CW_OK)
            *error = comparison.parts[i].error;
    }
    free(comparison.parts);
    return code;
}
