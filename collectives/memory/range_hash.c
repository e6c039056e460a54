/*
 * range_hash.c: hashes ranges of memories by all workers (range_hash.h). XXH3 reads a long input in
 * blocks of 1 KiB. From a block it makes eight sums, which depend on that block alone. It adds them
 * to eight accumulators, and scrambles these before the next block. So the workers make the sums of
 * all blocks but the last, each of a part of the input, and the caller adds and scrambles. That is
 * one addition for each 128 bytes.
 *
 * Threads: in a round each worker reads the memories and writes the sums of its own part; the round
 * ends before the caller reads them (cw_each_worker()).
 */
#include "collectives/memory/range_hash.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    LANES = 8,
    BLOCK_BYTES =
        (XXH_SECRET_DEFAULT_SIZE - XXH_STRIPE_LEN) / XXH_SECRET_CONSUME_RATE * XXH_STRIPE_LEN,
    ROUND_BLOCKS_MAX = 1 << 15,    /* 32 MiB of input, 2 MiB of sums, which stay in a cache */
    SHARED_BYTES_MIN = 256 * 1024, /* less is not worth waking a thread for */
};

struct block_sums {
    _Alignas(XXH_ACC_ALIGN) uint64_t lane[LANES];
};

/* The bytes of the ranges from some place on. */
struct range_reader {
    const struct range_hash_request *request;
    size_t range;
    uint64_t done; /* bytes of it */
    uint8_t shown[SPARSE_BLOCK_BYTES];
};

/* A round: `blocks` blocks of the input from `first` on. */
struct summing {
    const struct range_hash_request *request;
    uint32_t workers;
    uint64_t first, blocks;
    struct block_sums *sums; /* [blocks] */
};

static void seek(struct range_reader *reader, const struct range_hash_request *request, uint64_t to)
{
    reader->request = request;
    reader->range = 0;
    while (to >= request->ranges[reader->range].bytes)
        to -= request->ranges[reader->range++].bytes;
    reader->done = to;
}

/* The next bytes: *run of them, at least 1 and at most `want`, which is > 0. */
static const uint8_t *read_on(struct range_reader *reader, uint64_t want, size_t *run)
{
    const struct sparse_range *range = &reader->request->ranges[reader->range];
    for (; reader->done == range->bytes; range++) {
        reader->range++;
        reader->done = 0;
    }
    const uint64_t address = range->address + reader->done, left = range->bytes - reader->done;
    want = want < left ? want : left;
    want = want < SPARSE_BLOCK_BYTES ? want : SPARSE_BLOCK_BYTES;
    const uint8_t *const bytes =
        sparse_memory_peek(reader->request->memory_of(reader->request->arg, address), address,
                           (size_t)want, run, reader->shown);
    reader->done += *run;
    return bytes;
}

static void copy_on(struct range_reader *reader, uint8_t *to, size_t bytes)
{
    for (size_t run; bytes > 0; bytes -= run, to += run) {
        const uint8_t *const from = read_on(reader, bytes, &run);
        memcpy(to, from, run);
    }
}

static void sum_stripes(const uint8_t *bytes, size_t stripes, struct block_sums *sums)
{
    for (size_t i = 0; i < stripes; i++)
        XXH3_accumulate_512(sums->lane, bytes + i * XXH_STRIPE_LEN,
                            XXH3_kSecret + i * XXH_SECRET_CONSUME_RATE);
}

/* The sums of as many blocks, of which a reader is at the first. */
static void sum_blocks(struct range_reader *reader, struct block_sums *sums, uint64_t blocks)
{
    uint8_t block[BLOCK_BYTES];
    memset(sums, 0, blocks * sizeof *sums);
    while (blocks > 0) {
        size_t run;
        const uint8_t *bytes = read_on(reader, blocks * BLOCK_BYTES, &run);
        for (; run >= BLOCK_BYTES; run -= BLOCK_BYTES, bytes += BLOCK_BYTES, blocks--)
            sum_stripes(bytes, BLOCK_BYTES / XXH_STRIPE_LEN, sums++);
        if (run == 0)
            continue;
        memcpy(block, bytes, run);
        copy_on(reader, block + run, BLOCK_BYTES - run);
        sum_stripes(block, BLOCK_BYTES / XXH_STRIPE_LEN, sums++);
        blocks--;
    }
}

static void sum_part(void *arg, uint32_t worker)
{
    const struct summing *const summing = arg;
    const uint64_t first = summing->blocks * worker / summing->workers,
                   end = summing->blocks * (worker + 1) / summing->workers;
    struct range_reader reader;
    if (first == end)
        return;
    seek(&reader, summing->request, (summing->first + first) * BLOCK_BYTES);
    sum_blocks(&reader, summing->sums + first, end - first);
}

#define SCRAMBLE_KEY (XXH3_kSecret + XXH_SECRET_DEFAULT_SIZE - XXH_STRIPE_LEN)

#if defined(__AVX2__)

/* XXH3_scrambleAcc() for half of the lanes, in a register: the library's goes through memory, and
 * each block waits for the block before. */
static inline __m256i scrambled(__m256i lanes, __m256i key)
{
    const __m256i prime = _mm256_set1_epi64x((long long)XXH_PRIME32_1);
    lanes = _mm256_xor_si256(_mm256_xor_si256(lanes, key), _mm256_srli_epi64(lanes, 47));
    const __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(lanes, 32), prime);
    return _mm256_add_epi64(_mm256_mul_epu32(lanes, prime), _mm256_slli_epi64(high, 32));
}

static void add_blocks(struct block_sums *to, const struct block_sums *sums, uint64_t blocks)
{
    __m256i half[2], key[2];
    memcpy(half, to, sizeof half);
    memcpy(key, SCRAMBLE_KEY, sizeof key);
    for (uint64_t i = 0; i < blocks; i++)
        for (int k = 0; k < 2; k++) {
            __m256i more;
            memcpy(&more, sums[i].lane + k * LANES / 2, sizeof more);
            half[k] = scrambled(_mm256_add_epi64(half[k], more), key[k]);
        }
    memcpy(to, half, sizeof half);
}

#else

static void add_blocks(struct block_sums *to, const struct block_sums *sums, uint64_t blocks)
{
    for (uint64_t i = 0; i < blocks; i++) {
        for (unsigned k = 0; k < LANES; k++)
            to->lane[k] += sums[i].lane[k];
        XXH3_scrambleAcc(to->lane, SCRAMBLE_KEY);
    }
}

#endif

/* The last block, which is a whole one or less, and the value. The last stripe begins anywhere, and
 * may have been read before. */
static uint64_t finish(const struct range_hash_request *request, struct block_sums *sums,
                       uint64_t blocks, uint64_t bytes)
{
    struct range_reader reader;
    uint8_t last[XXH_STRIPE_LEN + BLOCK_BYTES];
    const size_t left = (size_t)(bytes - blocks * BLOCK_BYTES);
    seek(&reader, request, blocks * BLOCK_BYTES - XXH_STRIPE_LEN);
    copy_on(&reader, last, XXH_STRIPE_LEN + left);
    sum_stripes(last + XXH_STRIPE_LEN, (left - 1) / XXH_STRIPE_LEN, sums);
    XXH3_accumulate_512(sums->lane, last + left,
                        XXH3_kSecret + XXH_SECRET_DEFAULT_SIZE - XXH_STRIPE_LEN -
                            XXH_SECRET_LASTACC_START);
    return XXH3_mergeAccs(sums->lane, XXH3_kSecret + XXH_SECRET_MERGEACCS_START,
                          bytes * XXH_PRIME64_1);
}

static uint64_t hash_together(const struct range_hash_request *request, uint64_t bytes,
                              struct summing *summing)
{
    struct block_sums sums = {XXH3_INIT_ACC};
    const uint64_t blocks = (bytes - 1) / BLOCK_BYTES; /* the last one is for finish() */
    const uint64_t room = summing->blocks;
    for (; summing->first < blocks; summing->first += summing->blocks) {
        const uint64_t left = blocks - summing->first;
        summing->blocks = left < room ? left : room;
        cw_each_worker(request->sim, sum_part, summing);
        add_blocks(&sums, summing->sums, summing->blocks);
    }
    return finish(request, &sums, blocks, bytes);
}

/* A hash that one thread makes. */
struct hashing {
    const struct range_hash_request *request;
    uint64_t hash;
};

static void hash_all(void *arg, uint32_t worker)
{
    struct hashing *const hashing = arg;
    const struct range_hash_request *const request = hashing->request;
    XXH3_state_t state;
    if (worker > 0)
        return;
    XXH3_64bits_reset(&state);
    for (size_t i = 0; i < request->count; i++) {
        const struct sparse_range range = request->ranges[i];
        sparse_memory_hash(request->memory_of(request->arg, range.address), range, &state);
    }
    hashing->hash = XXH3_64bits_digest(&state);
}

static uint64_t hash_alone(const struct range_hash_request *request)
{
    struct hashing hashing = {request, 0};
    hash_all(&hashing, 0);
    return hashing.hash;
}

uint64_t range_hash(const struct range_hash_request *request)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < request->count; i++)
        bytes += request->ranges[i].bytes;
    if (request->sim == NULL || bytes < SHARED_BYTES_MIN)
        return hash_alone(request);
    const uint32_t workers = cw_sim_worker_count(request->sim);
    if (workers < 2) {
        struct hashing hashing = {request, 0};
        cw_each_worker(request->sim, hash_all,
                       &hashing); /* so that its time is counted as theirs */
        return hashing.hash;
    }
    const uint64_t all = bytes / BLOCK_BYTES;
    struct summing summing = {.request = request,
                              .workers = workers,
                              .blocks = all < ROUND_BLOCKS_MAX ? all : ROUND_BLOCKS_MAX};
    summing.sums = aligned_alloc(XXH_ACC_ALIGN, summing.blocks * sizeof *summing.sums);
    if (summing.sums == NULL) /* slower, not wrong */
        return hash_alone(request);
    const uint64_t hash = hash_together(request, bytes, &summing);
    free(summing.sums);
    return hash;
}
