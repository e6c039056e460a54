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

#endif
