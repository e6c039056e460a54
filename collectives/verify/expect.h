/*
 * expect.h: the bits of a collective's final tensors, computed from the order of
 * additions that the algorithm declares (order.h) and from the seed's inputs alone: no kernel, no
 * queue, no memory of the simulation has a part in it. So a difference between the two is a bug in
 * one of them.
 *
 * The order is made into formulas, which sums.h evaluates some elements at a time, so that memory
 * is bounded whatever the tensors' size. Called by one thread at a time; the work is done by all
 * workers of the engine, between drains. Two expectations share nothing.
 */
#ifndef COLLECTIVES_EXPECT_H
#define COLLECTIVES_EXPECT_H

#include "collectives/config/ccl_config.h"
#include "collectives/verify/sums.h"
#include "hw/hw_config.h"

struct expect;

/* An all-reduce or a reduce-scatter. hw and ccl must outlive the expectation. */
struct expect_request {
    const struct hw_config *hw;
    const struct ccl_config *ccl;
    const char *module; /* of the algorithm whose order counts; NULL: ccl->module */
    enum dtype dtype;
    enum redop op;
    uint64_t n_elem; /* per shard, of the inputs; > 0 */
    uint64_t seed;
    struct scaling scaling; /* of the inputs, and of results that no order is compared for */
    const void *values;     /* a program's own instead of the seed's (input.h); NULL: the seed's */
    const struct relay *relay; /* of CCL_BETWEEN_RELAY; else NULL */
    struct cw_sim *sim; /* whose workers evaluate and compare; NULL: the calling thread does */
};

/* Sums stay in f32 between the additions of one PE (defaults.accumulate). */
static inline bool expect_in_f32(const struct expect_request *request)
{
    return request->ccl->arithmetic.accumulate == CCL_ACCUMULATE_F32 && request->op == REDOP_SUM &&
           dtype_is_narrow(request->dtype);
}

/* NULL on failure: CW_USAGE (no order is specified for this), CW_NO_RESOURCE. */
struct expect *expect_create(const struct expect_request *request, struct cw_error *error);
void expect_free(struct expect *expect); /* accepts NULL */

/* Ranks, shards of each rank's result, and elements of a shard. All shards of a rank end with the
 * same bits. */
uint32_t expect_ranks(const struct expect *expect);
uint32_t expect_shards(const struct expect *expect);
uint64_t expect_result_elems(const struct expect *expect);

/* Evaluates every element of every rank's every shard. */
int expect_each(const struct expect *expect, sums_fn visit, void *arg, struct cw_error *error);

/* Compares every element of every rank's every shard; *wrong: how many have other bits. `shards`:
 * those of each tensor. Where the order has one shard of each rank, each is reduced for itself. */
int expect_verify(const struct expect *expect, uint32_t shards, expect_read_fn read, void *arg,
                  uint64_t *wrong, struct cw_error *error);

#endif
