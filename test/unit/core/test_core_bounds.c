/*
 * test_core_bounds.c: the memory of a run is bounded by its need, whatever the model sends: one
 * event far ahead, a sender that is faster than its receiver. Each model ends under a limit of some
 * MiB, however long it runs. No test depends on a time or on the number of cores.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/cw.h"

enum { MIB = 1 << 20 };

static size_t count_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(uint64_t);
}

static void begin_at_zero(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp, (void)state;
}

/* Runs the model; all that is pending at first is injected by `inject`. Fails the test unless the
 * run ends well. */
static struct cw_stats run_model(const struct cw_model *model, const struct cw_config *config,
                                 void (*inject)(struct cw_sim *sim))
{
    struct cw_error error = {0};
    struct cw_sim *const sim = cw_sim_create(config, model, &error);
    if (sim == NULL)
        fail_msg("%s: %s", cw_sync_name[config->sync], error.text);
    inject(sim);
    if (cw_drain(sim, &error) != CW_OK)
        fail_msg("%s: %s", cw_sync_name[config->sync], error.text);
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    cw_sim_free(sim);
    return stats;
}

/* ---- one event far ahead --------------------------------------------------------------------- */

enum { TOKENS = 16, FAR_PS = INT32_MAX, FAR_TYPE = 2 };

/* Tokens go to and fro between two LPs. The first event also sends one for much later, which its
 * sender may cancel until then. */
static void pass_tokens(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const uint64_t *const seen = state;
    const uint64_t steps = *(const uint64_t *)cw_model_data(ctx);
    ++*CW_MUT(ctx, seen);
    if (event->type == FAR_TYPE)
        return;
    if (*seen == 1 && event->lp == 0)
        cw_send(ctx, 1, (int64_t)FAR_PS * 1000, FAR_TYPE, TOKENS, 1, NULL, 0);
    if (event->number < steps)
        cw_send(ctx, 1 - event->lp, 100, 1, event->entity, event->number + 1, NULL, 0);
}

static void inject_tokens(struct cw_sim *sim)
{
    struct cw_error error;
    for (uint32_t i = 0; i < TOKENS; i++)
        assert_int_equal(cw_inject(sim, i & 1, i, 1, i, 0, NULL, 0, &error), CW_OK);
}

static void an_event_far_ahead_holds_no_memory_of_later_messages(void **state)
{
    (void)state;
    uint64_t steps = 20000; /* 320,000 events: 10 MB, if each message took 32 bytes for good */
    const struct cw_model model = {.name = "far",
                                   .data = &steps,
                                   .lp_count = 2,
                                   .state_bytes = count_bytes,
                                   .init = begin_at_zero,
                                   .handle = pass_tokens};
    struct cw_config config = {.worker_count = 1, .end_ps = CW_TIME_MAX};
    const uint64_t hash = run_model(&model, &config, inject_tokens).trace_hash;
    config.worker_count = 2;
    config.memory_bytes_max = 3 * MIB;
    for (int i = 0; i < 4; i++) {
        config.sync = i % 2 == 0 ? CW_OPTIMISTIC : CW_ADAPTIVE;
        config.lazy_cancellation = i / 2 != 0;
        const struct cw_stats stats = run_model(&model, &config, inject_tokens);
        assert_true(stats.trace_hash == hash);
        assert_int_equal(stats.events_committed, TOKENS * (steps + 1) + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_far_ahead_holds_no_memory_of_later_messages),
    };
    return cmocka_run_group_tests_name("core_bounds", tests, NULL, NULL);
}
