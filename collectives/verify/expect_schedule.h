/*
 * expect_schedule.h: the bits of a reduction that a schedule carries out, from the formulas of its
 * output chunks (schedule_values.h) and from the inputs alone: no kernel, no queue, no memory of
 * the simulation has a part in it. See expect.h for algorithms that are no schedules.
 */
#ifndef COLLECTIVES_EXPECT_SCHEDULE_H
#define COLLECTIVES_EXPECT_SCHEDULE_H

#include "collectives/schedule/schedule_values.h"
#include "collectives/verify/expect.h"

struct expect_schedule {
    const struct schedule *schedule;      /* an all-reduce or a reduce-scatter */
    const struct schedule_values *values; /* its formulas, which are those of the collective */
    uint32_t shards; /* of each tensor of the process group, with contents of their own; more than
                        one: shard i goes by part i mod parts, or is that of member i */
    enum dtype dtype;
    enum redop op;
    uint64_t n_elem; /* per shard of the input; of a reduce-scatter a multiple of the ranks */
    uint64_t seed;
    const void *values_given; /* a program's own instead of the seed's; NULL: the seed's */
    struct cw_sim *sim;       /* whose workers compare; NULL: the calling thread does */
};

/* Compares every element of every rank's every shard; *wrong: how many have other bits. */
int expect_schedule_verify(const struct expect_schedule *expect, expect_read_fn read, void *arg,
                           uint64_t *wrong, struct cw_error *error);

#endif
