/*
 * expect_results.h: all results that an expectation gives (collectives/verify/expect.h), in one
 * block, for tests that compare or hash them.
 */
#ifndef TEST_EXPECT_RESULTS_H
#define TEST_EXPECT_RESULTS_H

#include <stdlib.h>
#include <string.h>

#include "collectives/verify/expect.h"

/* Where the results of shard 0 are gathered, rank after rank. */
struct gathering {
    uint8_t *all;
    size_t each, itemsize; /* bytes of a rank, of an element */
};

static inline int gather_result(void *arg, const struct sums_result *result, struct cw_error *error)
{
    const struct gathering *const g = arg;
    (void)error;
    if (result->shard == 0)
        memcpy(g->all + result->rank * g->each + result->first * g->itemsize, result->bits,
               result->count * g->itemsize);
    return CW_OK;
}

/* The results of shard 0, rank after rank: *bytes in all. The caller frees them. */
static inline uint8_t *expect_all_results(struct expect *expect, enum dtype dtype, size_t *bytes)
{
    const size_t itemsize = dtype_bytes(dtype), each = expect_result_elems(expect) * itemsize;
    struct cw_error error;
    *bytes = each * expect_ranks(expect);
    struct gathering g = {malloc(*bytes), each, itemsize};
    assert_non_null(g.all);
    assert_int_equal(expect_each(expect, gather_result, &g, &error), CW_OK);
    return g.all;
}

#endif
