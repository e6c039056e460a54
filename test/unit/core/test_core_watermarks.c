/*
 * test_core_watermarks.c: a worker's behaviour at each watermark of memory (core/ENGINE.md, "Memory
 * limit"). The account is told of far more than the model takes, and the limit is set to a share of
 * that: so the engine gets the memory it asks for, and finds memory tight, scarce or at its end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/cw.h"
#include "core/worker/simulation.h"

enum { LPS = 8, WORKERS = 2, EVENTS = 3000, MARK_ROUND = 40 };
#define BALLAST_BYTES (UINT64_C(64) << 20)

struct state {
    uint64_t count;
};

static size_t state_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(struct state);
}

static void init(const void *data, uint32_t lp, void *state) { (void)data, (void)lp, (void)state; }

/* Each LP sends on to the next, which the other worker has, and to itself. The payload is the same
 * whatever the state, so that undone messages are sent again as they were. */
static void handle(struct cw_ctx *ctx, const void *state_, const struct cw_event *event)
{
    const struct state *const state = state_;
    ++*CW_MUT(ctx, &state->count);
    if (event->number >= EVENTS)
        return;
    if (event->type == 0)
        cw_send(ctx, event->lp, 10, 0, event->lp, event->number + 1, NULL, 0);
    if (event->number % 8 == event->lp)
        cw_send(ctx, (event->lp + 1) % LPS, 3, 1, LPS + event->lp, event->number, NULL, 0);
}

struct watch {
    struct cw_sim *sim;
    uint64_t percent, rounds;       /* of the limit, that are taken from MARK_ROUND on */
    uint64_t before, after;         /* events that were speculated, at most, per round */
    uint64_t reused_before, reused; /* sends that lazy cancellation has kept and used again */
};

static uint64_t reused_by_all(const struct cw_sim *sim)
{
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    return stats.sends_reused;
}

static void look(void *arg, const struct cw_progress *progress)
{
    struct watch *const watch = arg;
    const uint64_t history = progress->history_events;
    watch->rounds++;
    if (watch->rounds < MARK_ROUND)
        watch->before = history > watch->before ? history : watch->before;
    if (watch->rounds == MARK_ROUND) {
        watch->sim->memory.bytes_max = watch->sim->memory.taken.word * 100 / watch->percent;
        watch->reused_before = reused_by_all(watch->sim);
    }
    if (watch->rounds > MARK_ROUND + 2) /* all have seen it, and have told of it since */
        watch->after = history > watch->after ? history : watch->after;
}

/* On one thread, so that the workers take turns and each speculates. */
static struct watch run_at(uint64_t percent)
{
    static const uint32_t owners[LPS] = {0, 1, 0, 1, 0, 1, 0, 1};
    struct watch watch = {.percent = percent};
    const struct cw_config config = {.sync = CW_STRESS,
                                     .worker_count = WORKERS,
                                     .tuning.thread_count = 1,
                                     .lp_worker = owners,
                                     .end_ps = CW_TIME_MAX,
                                     .tuning.window_ps = 200, /* so that there are many rounds */
                                     .tuning.lazy_cancellation = true,
                                     .memory_bytes_max = UINT64_C(1) << 30,
                                     .tuning.each_round = look,
                                     .tuning.progress_arg = &watch};
    const struct cw_model model = {.name = "watermarks",
                                   .lp_count = LPS,
                                   .state_bytes = state_bytes,
                                   .init = init,
                                   .handle = handle};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    watch.sim = sim;
    sim->memory.taken.word += BALLAST_BYTES;
    for (uint32_t lp = 0; lp < LPS; lp++)
        assert_int_equal(cw_inject(sim, lp, lp, 0, lp, 0, NULL, 0, &error), CW_OK);
    if (cw_drain(sim, &error) != CW_OK)
        fail_msg("%s", error.text);
    watch.reused = reused_by_all(sim);
    sim->memory.taken.word -= BALLAST_BYTES;
    cw_sim_free(sim);
    assert_true(watch.rounds > 2 * MARK_ROUND);
    assert_true(watch.before > 0);
    assert_true(watch.reused_before > 0);
    return watch;
}

static void from_70_percent_on_no_send_is_kept(void **state)
{
    (void)state;
    const struct watch plenty = run_at(69), tight = run_at(72);
    assert_true(plenty.after > 0);
    assert_true(plenty.reused > plenty.reused_before + 1000);
    assert_true(tight.after > 0);
    assert_true(tight.reused < tight.reused_before + 100); /* sends that were kept at that moment */
}

static void from_95_percent_on_nothing_is_speculated_and_what_was_is_undone(void **state)
{
    (void)state;
    assert_int_equal(run_at(96).after, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_70_percent_on_no_send_is_kept),
        cmocka_unit_test(from_95_percent_on_nothing_is_speculated_and_what_was_is_undone),
    };
    return cmocka_run_group_tests_name("watermarks", tests, NULL, NULL);
}
