/*
 * test_core_stop.c: a host ends a drain that would go on for ever, in every mode, on one thread and
 * on several, and before the first event; the simulation accepts nothing more. A stop that is never
 * asked for changes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/cw.h"
#include "core/os/sync.h"
#include "core/run/sequential.h"
#include "core/worker/activity_clock.h"

enum { LPS = 16, WORKERS = 3, LOOKAHEAD_PS = 1000 };

static size_t stop_state_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(uint64_t);
}

static void stop_init(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp, (void)state;
}

/* To the next LP, without end. */
static void stop_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const uint64_t *const count = state;
    const uint64_t number = ++*CW_MUT(ctx, count);
    cw_send(ctx, (event->lp + 1) % LPS, LOOKAHEAD_PS, 1, event->lp, number, NULL, 0);
    cw_emit(ctx, 1, &number, sizeof number);
}

static const struct cw_model endless = {.name = "endless",
                                        .lp_count = LPS,
                                        .state_bytes = stop_state_bytes,
                                        .init = stop_init,
                                        .handle = stop_handle};

struct asked {
    struct sync_u64 times;
    uint64_t yes_at; /* the answer is yes from this time on */
    int64_t last_ps; /* of the records */
    uint64_t records;
};

static bool stop_at(void *arg)
{
    struct asked *const asked = arg;
    return sync_add_relaxed(&asked->times, 1) + 1 >= asked->yes_at;
}

static void stop_record(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                        uint16_t bytes)
{
    struct asked *const asked = arg;
    (void)kind, (void)record, (void)bytes;
    assert_true(event->time_ps >= asked->last_ps);
    asked->last_ps = event->time_ps;
    asked->records++;
}

static struct cw_sim *create(enum cw_sync sync, struct asked *asked, int64_t end_ps)
{
    struct cw_config config = {.sync = sync,
                               .worker_count = sync == CW_SEQUENTIAL ? 1 : WORKERS,
                               .end_ps = end_ps,
                               .stop = stop_at,
                               .stop_arg = asked,
                               .record = stop_record,
                               .record_arg = asked};
    int64_t least[WORKERS * WORKERS];
    struct cw_error error;
    for (size_t i = 0; i < WORKERS * WORKERS; i++)
        least[i] = LOOKAHEAD_PS;
    if (sync != CW_SEQUENTIAL)
        config.least_delay_ps = least;
    struct cw_sim *const sim = cw_sim_create(&config, &endless, &error);
    assert_non_null(sim);
    for (uint32_t lp = 0; lp < LPS; lp++)
        assert_int_equal(cw_inject(sim, lp, 0, 1, LPS + lp, 0, NULL, 0, &error), CW_OK);
    return sim;
}

/* Events before the n-th look of a sequential run; before the first one it looks at 0. */
static uint64_t events_at_look(uint64_t n)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < n; i++)
        at = sequential_next_look(i == 0 ? 0 : at + EVENTS_BEFORE_SAMPLE + EVENTS_PER_SAMPLE);
    return at;
}

static void a_drain_ends_when_asked(void **state)
{
    (void)state;
    for (enum cw_sync sync = 0; sync < CW_SYNCS; sync++)
        for (uint64_t yes_at = 1; yes_at <= 10000; yes_at *= 100) {
            struct asked asked = {.yes_at = sync == CW_SEQUENTIAL ? 1 + yes_at / 100 : yes_at};
            struct cw_error error;
            struct cw_sim *const sim = create(sync, &asked, CW_TIME_MAX);
            assert_int_equal(cw_drain(sim, &error), CW_INTERRUPTED);
            assert_string_equal(error.text, "interrupted");
            assert_null(cw_failed_event(sim));
            assert_int_equal(cw_drain(sim, &error), CW_INTERRUPTED);
            assert_int_equal(cw_inject(sim, 0, CW_TIME_MAX - 1, 1, 0, 0, NULL, 0, &error),
                             CW_INTERRUPTED);
            if (sync == CW_SEQUENTIAL) {
                struct cw_stats stats;
                cw_sim_stats(sim, &stats);
                assert_int_equal(stats.events_committed, asked.records);
                assert_int_equal(asked.records, events_at_look(asked.yes_at - 1));
            }
            cw_sim_free(sim);
        }
}

static void a_stop_that_is_not_asked_for_changes_nothing(void **state)
{
    (void)state;
    uint64_t hash = 0;
    for (enum cw_sync sync = 0; sync < CW_SYNCS; sync++) {
        struct asked asked = {.yes_at = UINT64_MAX};
        struct cw_error error;
        struct cw_stats stats;
        struct cw_sim *const sim = create(sync, &asked, 1000 * LOOKAHEAD_PS);
        assert_int_equal(cw_drain(sim, &error), CW_OK);
        cw_sim_stats(sim, &stats);
        assert_int_equal(asked.records, 1000 * LPS);
        assert_true(sync == CW_SEQUENTIAL || hash == stats.trace_hash);
        hash = stats.trace_hash;
        cw_sim_free(sim);
    }
}

static void count_progress(void *arg, const struct cw_progress *progress)
{
    uint64_t *const told = arg;
    ++*told;
    assert_int_equal(progress->events_committed / 65536, *told - 1);
}

static void a_sequential_run_reports_its_progress_and_ends_when_asked(void **state)
{
    (void)state;
    /* Before the first event, and then once in every 8,192: once more after the third report. */
    struct asked asked = {.yes_at = 2 + 3 * 65536 / 8192};
    uint64_t told = 0;
    const struct cw_config config = {.sync = CW_SEQUENTIAL,
                                     .worker_count = 1,
                                     .end_ps = CW_TIME_MAX,
                                     .stop = stop_at,
                                     .stop_arg = &asked,
                                     .tuning.progress = count_progress,
                                     .tuning.progress_arg = &told};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &endless, &error);
    assert_non_null(sim);
    assert_int_equal(cw_inject(sim, 0, 0, 1, LPS, 0, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_INTERRUPTED);
    assert_int_equal(told, 3);
    cw_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drain_ends_when_asked),
        cmocka_unit_test(a_stop_that_is_not_asked_for_changes_nothing),
        cmocka_unit_test(a_sequential_run_reports_its_progress_and_ends_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
