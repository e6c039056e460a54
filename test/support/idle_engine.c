/*
 * idle_engine.c: see idle_engine.h.
 */
#include "test/support/idle_engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static size_t idle_state_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return 0;
}

static void idle_init(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp, (void)state;
}

static void idle_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)ctx, (void)state, (void)event;
}

struct cw_sim *idle_engine_on(uint32_t workers, uint32_t threads)
{
    const struct cw_model model = {.name = "idle",
                                   .lp_count = 8,
                                   .state_bytes = idle_state_bytes,
                                   .init = idle_init,
                                   .handle = idle_handle};
    const struct cw_config config = {.sync = CW_ADAPTIVE,
                                     .worker_count = workers,
                                     .tuning.thread_count = threads,
                                     .end_ps = CW_TIME_MAX};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    return sim;
}

struct cw_sim *idle_engine(uint32_t workers)
{
    return workers == 0 ? NULL : idle_engine_on(workers, workers < 3 ? workers : 3);
}
