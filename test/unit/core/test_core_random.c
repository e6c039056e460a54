/*
 * test_core_random.c: random models, a million events each, against an engine of twenty lines.
 *
 * The model digests every event that an LP sees, field by field, into the LP's state, and draws
 * its sends from it, so that one event out of order changes all that follows. The reference keeps
 * whole events in a plain binary heap (reference_heap.h) and knows nothing of the engine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cw.h"
#include "test/support/reference_heap.h"

/* ---- the model ------------------------------------------------------------------------------- */

enum { SENDS_MAX = 3 };

struct shape {
    uint32_t lps;
    uint32_t zero_of_16; /* how many of 16 sends have no delay */
    int64_t mean_ps;
    uint32_t grain_ps; /* delays are multiples of it: equal times */
    uint32_t clash;    /* entities and numbers are drawn from so many: equal keys */
};

struct digest {
    struct cw_rng rng;
    uint64_t sum, events;
};

struct plan {
    uint32_t lp, entity;
    int64_t delay_ps;
    uint64_t number;
    uint16_t type, payload_bytes;
    uint8_t payload[CW_PAYLOAD_BYTES_MAX];
};

static uint64_t stir(uint64_t sum, uint64_t with)
{
    sum = (sum ^ with) * 0x9e3779b97f4a7c15;
    return sum ^ sum >> 29;
}

/* An LP's handling of an event: both engines call this. Returns how many sends. */
static unsigned digest_event(const struct shape *shape, struct digest *digest,
                             const struct cw_event *event, struct plan plans[SENDS_MAX])
{
    digest->events++;
    uint64_t sum = stir(digest->sum, (uint64_t)event->time_ps);
    sum = stir(sum, event->number);
    sum = stir(sum, (uint64_t)event->entity << 32 | event->lp);
    sum = stir(sum,
               (uint64_t)event->depth << 32 | (uint64_t)event->type << 16 | event->payload_bytes);
    for (unsigned i = 0; i < event->payload_bytes; i++)
        sum = stir(sum, event->payload[i]);
    digest->sum = sum;
    digest->rng.s ^= sum;
    struct cw_rng *const rng = &digest->rng;
    /* One child on average; a deep chain of zero delays ends. */
    const unsigned draw = cw_rng_below(rng, 8);
    const unsigned sends = draw < 2 ? 0 : draw < 6 ? 1 : draw - 5 + (draw == 7);
    for (unsigned i = 0; i < sends; i++) {
        struct plan *const plan = &plans[i];
        *plan = (struct plan){.lp = cw_rng_below(rng, shape->lps)};
        if (event->depth > 50 || cw_rng_below(rng, 16) >= shape->zero_of_16)
            plan->delay_ps = (1 + cw_rng_exp_ps(rng, shape->mean_ps) / shape->grain_ps) *
                             (int64_t)shape->grain_ps;
        plan->entity = cw_rng_below(rng, shape->clash);
        plan->number = cw_rng_below(rng, shape->clash);
        plan->type = (uint16_t)cw_rng_below(rng, 3);
        plan->payload_bytes = (uint16_t)cw_rng_below(rng, CW_PAYLOAD_BYTES_MAX + 1);
        if (cw_rng_below(rng, 2) == 0)
            plan->payload_bytes = 0;
        for (unsigned b = 0; b < plan->payload_bytes; b++)
            plan->payload[b] = (uint8_t)cw_rng_below(rng, 2);
    }
    return sends < SENDS_MAX ? sends : SENDS_MAX;
}

static size_t digest_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(struct digest);
}

static void digest_init(const void *data, uint32_t lp, void *state)
{
    (void)data;
    ((struct digest *)state)->rng = cw_rng_seeded(99, lp);
}

static void digest_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct digest *const digest = state;
    struct plan plans[SENDS_MAX];
    const unsigned sends = digest_event(cw_model_data(ctx), CW_MUT(ctx, digest), event, plans);
    for (unsigned i = 0; i < sends; i++)
        cw_send(ctx, plans[i].lp, plans[i].delay_ps, plans[i].type, plans[i].entity,
                plans[i].number, plans[i].payload, plans[i].payload_bytes);
    cw_emit(ctx, event->type, &digest->sum, sizeof digest->sum);
}

/* ---- the reference --------------------------------------------------------------------------- */

/* Handles all events before the end; returns how many. */
static uint64_t reference_run(const struct shape *shape, struct digest *digests,
                              struct reference *reference, int64_t end_ps)
{
    uint64_t handled = 0;
    while (reference->count > 0 && reference->events[0].time_ps < end_ps) {
        const struct cw_event event = reference_pop(reference);
        struct plan plans[SENDS_MAX];
        const unsigned sends = digest_event(shape, &digests[event.lp], &event, plans);
        for (unsigned i = 0; i < sends; i++) {
            struct cw_event sent = {
                .time_ps = event.time_ps + plans[i].delay_ps,
                .number = plans[i].number,
                .entity = plans[i].entity,
                .lp = plans[i].lp,
                .depth = plans[i].delay_ps == 0 ? (uint16_t)(event.depth + 1) : 0,
                .type = plans[i].type,
                .payload_bytes = plans[i].payload_bytes,
            };
            memcpy(sent.payload, plans[i].payload, sizeof sent.payload);
            reference_push(reference, &sent);
        }
        handled++;
    }
    return handled;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Sees that commit order is the total order. */
struct watch {
    struct cw_event last;
    uint64_t records;
};

static void watch_record(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                         uint16_t bytes)
{
    (void)record;
    struct watch *const watch = arg;
    struct cw_event whole = {0};
    memcpy(&whole, event, offsetof(struct cw_event, payload) + event->payload_bytes);
    assert_true(watch->records == 0 || compare_events(&watch->last, &whole) <= 0);
    assert_int_equal(kind, event->type);
    assert_int_equal(bytes, 8);
    watch->last = whole;
    watch->records++;
}

static void compare_runs(const struct shape *shape, int64_t end_ps, uint64_t events_min)
{
    const struct cw_model model = {
        .name = "digest",
        .data = shape,
        .lp_count = shape->lps,
        .state_bytes = digest_bytes,
        .init = digest_init,
        .handle = digest_handle,
    };
    struct watch watch = {.records = 0};
    const struct cw_config config = {
        .sync = CW_SEQUENTIAL,
        .worker_count = 1,
        .end_ps = end_ps,
        .record = watch_record,
        .record_arg = &watch,
    };
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    struct digest *const digests = calloc(shape->lps, sizeof *digests);
    assert_non_null(digests);
    struct reference reference = {.events = NULL};
    struct cw_rng rng = cw_rng_seeded(7, 7);
    for (uint32_t lp = 0; lp < shape->lps; lp++) {
        digest_init(NULL, lp, &digests[lp]);
        for (unsigned i = 0; i < 16; i++) {
            struct cw_event event = {
                .time_ps = cw_rng_exp_ps(&rng, shape->mean_ps) / shape->grain_ps * shape->grain_ps,
                .number = i,
                .entity = lp,
                .lp = lp,
            };
            reference_push(&reference, &event);
            assert_int_equal(cw_inject(sim, lp, event.time_ps, 0, lp, i, NULL, 0, &error), CW_OK);
        }
    }
    if (cw_drain(sim, &error) != CW_OK)
        fail_msg("%s", error.text);
    const uint64_t handled = reference_run(shape, digests, &reference, end_ps);
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    assert_true(handled >= events_min);
    assert_true(stats.events_committed == handled);
    assert_true(watch.records == handled);
    assert_true(stats.events_alive == reference.count);
    for (uint32_t lp = 0; lp < shape->lps; lp++)
        assert_memory_equal(cw_state(sim, lp), &digests[lp], sizeof *digests);
    free(reference.events);
    free(digests);
    cw_sim_free(sim);
}

static void smooth_models_agree_with_the_reference(void **state)
{
    (void)state;
    const struct shape shape = {.lps = 1000, .mean_ps = 1000000, .grain_ps = 1, .clash = 1000000};
    compare_runs(&shape, 60000000, 500000);
}

static void models_in_lock_step_agree_with_the_reference(void **state)
{
    (void)state;
    const struct shape shape = {
        .lps = 1000, .zero_of_16 = 1, .mean_ps = 5000, .grain_ps = 1000, .clash = 1000000};
    compare_runs(&shape, 400000, 500000);
}

static void models_with_many_equal_keys_agree_with_the_reference(void **state)
{
    (void)state;
    const struct shape shape = {
        .lps = 500, .zero_of_16 = 2, .mean_ps = 20000, .grain_ps = 10000, .clash = 2};
    compare_runs(&shape, 3000000, 500000);
}

static void models_with_hardly_any_delay_agree_with_the_reference(void **state)
{
    (void)state;
    const struct shape shape = {
        .lps = 300, .zero_of_16 = 14, .mean_ps = 3, .grain_ps = 1, .clash = 100};
    compare_runs(&shape, 40, 10000);
}

static void a_single_lp_agrees_with_the_reference(void **state)
{
    (void)state;
    const struct shape shape = {.lps = 1, .mean_ps = 100000, .grain_ps = 1, .clash = 1000};
    compare_runs(&shape, 20000000, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_models_agree_with_the_reference),
        cmocka_unit_test(models_in_lock_step_agree_with_the_reference),
        cmocka_unit_test(models_with_many_equal_keys_agree_with_the_reference),
        cmocka_unit_test(models_with_hardly_any_delay_agree_with_the_reference),
        cmocka_unit_test(a_single_lp_agrees_with_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
