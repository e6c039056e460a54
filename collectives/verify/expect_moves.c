/*
 * expect_moves.c: compares results of collectives that only move data (expect_moves.h), some
 * elements at a time. The shards of all ranks are cut into equal parts, one for each worker of the
 * engine. A worker writes its own part's figures only.
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

/* Elements of a shard of the result, and the elements of a rank's input that they must equal. */
struct moved {
    uint32_t from;          /* rank */
    uint64_t at, to, count; /* the first of the input's shard, and of the result's; how many */
};

static int expect_moves_compare(const struct moves_comparison *comparison, uint32_t rank,
                                uint32_t shard, struct moved moved, struct moves_part *part)
{
    _Alignas(16) uint8_t found[STEP * DTYPE_BYTES_MAX], expected[STEP * DTYPE_BYTES_MAX];
    const struct expect_moves *const moves = comparison->moves;
    const size_t itemsize = dtype_bytes(moves->dtype);
    const uint64_t first = input_first(moved.from, moves->shards, shard, moves->n_elem) + moved.at;
    for (uint64_t done = 0; done < moved.count;) {
        const uint64_t left = moved.count - done, count = left < STEP ? left : STEP;
        const int code = comparison->read(comparison->arg, rank, shard, moved.to + done, count,
                                          found, &part->error);
        if (code != CW_OK)
            return code;
        input_fill(moves->dtype, moves->seed, first + done, expected, count);
        for (uint64_t i = 0; i < count; i++)
            part->wrong += memcmp(found + i * itemsize, expected + i * itemsize, itemsize) != 0;
        done += count;
    }
    return CW_OK;
}

/* The i-th block of a rank's result. */
static struct moved moved_block(const struct expect_moves *moves, uint32_t rank, uint32_t i)
{
    const uint64_t n = moves->n_elem, block = n / moves->ranks;
    if (moves->collective == CCL_ALL_GATHER)
        return (struct moved){.from = i, .to = i * n, .count = n};
    if (moves->collective == CCL_ALL_TO_ALL)
        return (struct moved){.from = i, .at = rank * block, .to = i * block, .count = block};
    return (struct moved){.from = moves->root, .count = n};
}

/* A shard of a rank; of an all-gather and an all-to-all it has blocks of all ranks' inputs. */
static int compare_shard(const struct moves_comparison *comparison, uint32_t rank, uint32_t shard,
                         struct moves_part *part)
{
    const struct expect_moves *const moves = comparison->moves;
    const uint32_t blocks = moves->collective == CCL_BROADCAST ? 1 : moves->ranks;
    for (uint32_t i = 0; i < blocks; i++) {
        const int code =
            expect_moves_compare(comparison, rank, shard, moved_block(moves, rank, i), part);
        if (code != CW_OK)
            return code;
    }
    return CW_OK;
}

static void compare_part(void *arg, uint32_t worker)
{
    const struct moves_comparison *const comparison = arg;
    struct moves_part *const part = &comparison->parts[worker];
    const uint32_t shards = comparison->moves->shards;
    const uint64_t all = (uint64_t)comparison->moves->ranks * shards;
    const uint64_t end = all * (worker + 1) / comparison->workers;
    int code = CW_OK;
    for (uint64_t i = all * worker / comparison->workers; i < end && code == CW_OK; i++)
        code = compare_shard(comparison, (uint32_t)(i / shards), (uint32_t)(i % shards), part);
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
