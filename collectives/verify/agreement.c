/*
 * agreement.c: compares what the ranks ended with, and counts values that are not finite
 * (agreement.h). The elements that are equal somewhere else make up lines: one line of a shard's
 * elements where all ranks and shards have the same, one for each shard, or one for each rank and
 * shard. All lines together are cut into equal shares, one for each worker of the engine; a worker
 * writes its own share's figures only.
 */
#include "collectives/verify/agreement.h"

#include <stdlib.h>
#include <string.h>

enum { AGREEMENT_STEP = 2048 };

/* The findings of a worker. */
struct agreement_share {
    _Alignas(128) uint64_t differ;
    uint64_t not_finite;
    struct cw_error error;
};

struct agreement_look {
    const struct agreement *agreement;
    expect_read_fn read;
    void *arg;
    uint32_t workers;
    uint32_t lines, places; /* of each element of a line */
    struct agreement_share *shares;
};

bool agreement_is_due(enum ccl_collective collective)
{
    return collective == CCL_ALL_REDUCE || collective == CCL_ALL_GATHER ||
           collective == CCL_BROADCAST;
}

/* Rank and shard of a line's i-th place. */
static void place_of(const struct agreement_look *look, uint32_t line, uint32_t i, uint32_t *rank,
                     uint32_t *shard)
{
    const struct agreement *const a = look->agreement;
    const uint32_t at = look->places == a->ranks ? i * a->shards + line : line * look->places + i;
    *rank = at / a->shards;
    *shard = at % a->shards;
}

static void mark_different(const struct agreement *agreement, const uint8_t *first,
                           const uint8_t *found, uint64_t count, bool *differs)
{
    const size_t itemsize = dtype_bytes(agreement->dtype);
    for (uint64_t i = 0; i < count; i++)
        differs[i] |= memcmp(first + i * itemsize, found + i * itemsize, itemsize) != 0;
}

/* Some elements of a line, at all their places. */
static int look_at(const struct agreement_look *look, uint32_t line, uint64_t at, uint64_t count,
                   struct agreement_share *share)
{
    _Alignas(64) uint8_t first[AGREEMENT_STEP * DTYPE_BYTES_MAX];
    _Alignas(64) uint8_t found[AGREEMENT_STEP * DTYPE_BYTES_MAX];
    bool differs[AGREEMENT_STEP] = {false};
    const enum dtype dtype = look->agreement->dtype;
    uint64_t not_finite = 0; /* of `first` */
    for (uint32_t i = 0; i < look->places; i++) {
        uint32_t rank, shard;
        place_of(look, line, i, &rank, &shard);
        uint8_t *const here = i == 0 ? first : found;
        const int code = look->read(look->arg, rank, shard, at, count, here, &share->error);
        if (code != CW_OK)
            return code;
        const bool same = i > 0 && memcmp(first, found, count * dtype_bytes(dtype)) == 0;
        if (i == 0)
            not_finite = dtype_count_not_finite(dtype, first, count);
        else if (!same)
            mark_different(look->agreement, first, found, count, differs);
        share->not_finite +=
            i == 0 || same ? not_finite : dtype_count_not_finite(dtype, found, count);
    }
    for (uint64_t i = 0; i < count; i++)
        share->differ += differs[i];
    return CW_OK;
}

static void look_at_share(void *arg, uint32_t worker)
{
    const struct agreement_look *const look = arg;
    struct agreement_share *const share = &look->shares[worker];
    const uint64_t n = look->agreement->n_elem, all = n * look->lines;
    const uint64_t end =
        all / look->workers * (worker + 1) + (worker + 1 == look->workers) * (all % look->workers);
    int code = CW_OK;
    uint64_t count;
    for (uint64_t at = all / look->workers * worker; at < end && code == CW_OK; at += count) {
        const uint64_t line_end = (at / n + 1) * n, left = (line_end < end ? line_end : end) - at;
        count = left < AGREEMENT_STEP ? left : AGREEMENT_STEP;
        code = look_at(look, (uint32_t)(at / n), at % n, count, share);
    }
    share->error.exit_code = code;
}

int agreement_look(const struct agreement *agreement, expect_read_fn read, void *arg,
                   struct agreement_found *found, struct cw_error *error)
{
    const uint32_t workers = agreement->sim != NULL ? cw_sim_worker_count(agreement->sim) : 1;
    const uint32_t all = agreement->ranks * agreement->shards;
    const bool is_due = agreement_is_due(agreement->collective);
    struct agreement_look look = {
        .agreement = agreement, .read = read, .arg = arg, .workers = workers};
    look.places = !is_due ? 1 : agreement->shards_apart ? agreement->ranks : all;
    look.lines = all / look.places;
    *found = (struct agreement_found){.ranks_differ = is_due ? 0 : -1};
    look.shares = aligned_alloc(_Alignof(struct agreement_share), workers * sizeof *look.shares);
    if (look.shares == NULL)
        return cw_error_memory(error, "verification");
    memset(look.shares, 0, workers * sizeof *look.shares);
    if (workers > 1)
        cw_each_worker(agreement->sim, look_at_share, &look);
    else
        look_at_share(&look, 0);
    int code = CW_OK;
    for (uint32_t i = 0; i < workers && code == CW_OK; i++) {
        code = look.shares[i].error.exit_code;
        if (code != CW_OK)
            *error = look.shares[i].error;
        found->ranks_differ += is_due ? (int64_t)look.shares[i].differ : 0;
        found->not_finite += (int64_t)look.shares[i].not_finite;
    }
    free(look.shares);
    return code;
}
