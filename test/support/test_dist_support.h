/*
 * test_dist_support.h: worlds for tests of the host runtime: a configuration that must load, a
 * world that must be made of it.
 */
#ifndef TEST_DIST_SUPPORT_H
#define TEST_DIST_SUPPORT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "collectives/config/config_load.h"

#include "collectives/runtime/distributed.h"

/* The caller frees with config_free(). */
static inline struct config *must_load(const struct config_request *request)
{
    struct config *config = NULL;
    struct config_errors errors = {0};
    if (config_load(request, &config, &errors) != CW_OK) {
        config_errors_print(stderr, &errors);
        fail();
    }
    return config;
}

/* The caller frees with dist_free(). */
static inline struct dist *must_create(const struct dist_options *options)
{
    struct cw_error error;
    struct dist *dist = dist_create(options, &error);
    if (dist == NULL)
        fail_msg("%s", error.text);
    return dist;
}

/* A worker begins: it joins the process group, on the SIP of its number. */
static inline void join_group(int rank)
{
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
}

enum { SUMS_MAX = 4000 }; /* elements */

/* One shard of f32; element i is value + i mod 7. */
static inline struct tensor *filled_tensor(uint32_t n, float value)
{
    static const struct dp_policy one = {
        .cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_cubes = 1, .num_pes = 1};
    static float values[SUMS_MAX];
    struct tensor *const tensor = dist_tensor_zeros(n, DTYPE_F32, &one);
    assert_true(n <= SUMS_MAX);
    for (uint32_t i = 0; i < n; i++)
        values[i] = value + (float)(i % 7);
    dist_tensor_copy_from(tensor, DTYPE_F32, values, n);
    return tensor;
}

/* Each value is `sum` + `ranks` * (i mod 7). */
static inline void expect_tensor_sums(struct tensor *tensor, uint32_t n, float sum, uint32_t ranks)
{
    static float values[SUMS_MAX];
    dist_tensor_copy_to(tensor, DTYPE_F32, values, n);
    for (uint32_t i = 0; i < n; i++)
        if (values[i] != sum + (float)(ranks * (i % 7)))
            fail_msg("element %u of %u is %g instead of %g", i, n, (double)values[i],
                     (double)(sum + (float)(ranks * (i % 7))));
}

#endif
