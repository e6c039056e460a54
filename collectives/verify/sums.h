/*
 * sums.h: the bits of a reduction's results, from their formulas (schedule_values.h) and from the
 * inputs alone. The formulas are the one notion of order here: an algorithm that declares its order
 * of additions (order.h) has them made by expect.h, a schedule by schedule_check.h.
 */
#ifndef COLLECTIVES_SUMS_H
#define COLLECTIVES_SUMS_H

#include "collectives/data/scaling.h"
#include "collectives/schedule/schedule_values.h"
#include "core/cw.h"

struct sums {
    const struct schedule_values *values; /* their results are the collective's */
    uint32_t members; /* this many ranks of the formulas are one of the process group, each with one
                         of its shards: rank r is member r mod members */
    uint32_t shards;  /* of each tensor of the process group, with contents of their own */
    uint32_t parts;   /* with several shards and one member: shard i goes by part i mod parts */
    bool scatters; /* a rank's result is its block of the sum; n_elem is a multiple of the ranks */
    bool moves; /* a result's chunk may be made of other chunks of the inputs; n_elem is a multiple
                   of them */
    bool of_input; /* chunks divide the input, not each result */
    enum dtype dtype;
    enum redop op;
    bool in_f32;     /* a sum that is another's `wide` operand is taken in f32 */
    uint64_t n_elem; /* per shard of the input */
    uint64_t seed;
    struct scaling scaling; /* of the inputs */
    const void *given;      /* a program's own inputs instead of the seed's; NULL: the seed's */
    struct cw_sim *sim;     /* whose workers evaluate; NULL: the calling thread does */
};

/* Some elements of a shard's result. */
struct sums_result {
    uint32_t worker, rank, shard;
    uint64_t first, count;
    const void *bits;
    void *scratch; /* room for as many elements */
};
/* Called by several workers at the same time. Non-zero: an exit code, with *error filled. */
typedef int (*sums_fn)(void *arg, const struct sums_result *result, struct cw_error *error);

/* Evaluates every element of every rank's every shard. */
int sums_each(const struct sums *sums, sums_fn visit, void *arg, struct cw_error *error);
/* Puts elements first .. first + count - 1 of a shard, as they ended, into dst. Non-zero: an exit
 * code, with *error filled. Called by several workers at the same time. */
typedef int (*expect_read_fn)(void *arg, uint32_t rank, uint32_t shard, uint64_t first,
                              uint64_t count, void *dst, struct cw_error *error);
/* Compares them; *wrong: how many have other bits. */
int sums_compare(const struct sums *sums, expect_read_fn read, void *arg, uint64_t *wrong,
                 struct cw_error *error);

#endif
