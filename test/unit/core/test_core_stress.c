/*
 * test_core_stress.c: the stress mode: that it undoes, delays and moves, that nothing of it shows
 * in the committed events, and that it finds handlers that break the rules. STRESS_SEEDS: how many
 * random models; with two both ways of cancellation are tried.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/phold/phold.h"
#include "core/worker/simulation.h"
#include "core/speculation/stress.h"
#include "core/speculation/timewarp.h"
#include "core/worker/worker.h"
#include "test/support/random_model.h"

#define P32_ONE (UINT64_C(1) << 32)

static const unsigned percents[] = {1, 10, 50, 100};
#define PERCENTS (sizeof percents / sizeof *percents)

/* ---- nothing of it shows --------------------------------------------------------------------- */

static void random_models_are_undone_at_every_rate_and_end_the_same(void **state)
{
    (void)state;
    static const int64_t windows_ps[] = {0, 300};
    enum { WORKERS = 4, WINDOWS = 2, RUNS = PERCENTS * WORKERS * WINDOWS };
    const uint64_t seeds = random_from_environment("STRESS_SEEDS", 2);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        const struct random_model m = random_model_draw(seed, RANDOM_LPS_MAX, 30);
        const struct random_outcome expected = random_model_run(
            &m, &(struct random_run){.sync = CW_SEQUENTIAL, .workers = 1, .seed = seed});
        uint32_t number = 0;
        for (size_t i = 0; i < PERCENTS; i++)
            for (uint32_t workers = 1; workers <= WORKERS; workers++)
                for (size_t w = 0; w < WINDOWS; w++) {
                    if (!random_run_is_drawn(seed, number++, RUNS))
                        continue;
                    const struct random_run run = {.sync = CW_STRESS,
                                                   .workers = workers,
                                                   .seed = seed,
                                                   .lazy = seed % 2 == 0,
                                                   .window_ps = windows_ps[w],
                                                   .stress_rate_p32 = percents[i] * P32_ONE / 100};
                    const struct random_outcome got = random_model_run(&m, &run);
                    char text[2500];
                    if (random_outcome_differs(&got, &expected, text, sizeof text))
                        fail_msg("seed %llu, %u %%, %u workers, window %lld ps: %s",
                                 (unsigned long long)seed, percents[i], workers,
                                 (long long)windows_ps[w], text);
                    assert_true(got.injected > 0);
                    assert_true(got.rolled_back >= got.injected);
                    assert_true(got.moved > 0);
                    assert_int_equal(got.reused > 0, run.lazy);
                    assert_true(workers == 1 || got.held_back > 0);
                }
    }
}

static struct cw_stats run_phold(const struct phold_options *options, enum cw_sync sync,
                                 uint32_t threads)
{
    struct cw_stats stats = {0};
    struct cw_error error;
    double setup_s;
    if (phold_run(options, sync, threads, &stats, &setup_s, &error) != CW_OK)
        fail_msg("%s", error.text);
    return stats;
}

/* In 20,000 events and more, a share of p undone is p give or take a fifth, if each is tried once
 * on the way; events that were undone are tried a second and a third time. */
static void phold_is_undone_at_the_rate_asked_for_and_ends_the_same(void **state)
{
    (void)state;
    struct phold_options options = phold_defaults();
    options.lps = 64;
    for (int traffic = PHOLD_RANDOM; traffic <= PHOLD_MESH; traffic++) {
        options.engine.end_ps = traffic == PHOLD_MESH ? 2000000 : 30000000;
        options.traffic = (enum phold_traffic)traffic;
        const struct cw_stats expected = run_phold(&options, CW_SEQUENTIAL, 1);
        for (size_t i = 0; i < PERCENTS; i++)
            for (uint32_t threads = 1; threads <= 2; threads++) {
                options.engine.tuning.stress_rate_p32 = percents[i] * P32_ONE / 100;
                const struct cw_stats got = run_phold(&options, CW_STRESS, threads);
                assert_true(got.trace_hash == expected.trace_hash);
                assert_int_equal(got.events_committed, expected.events_committed);
                assert_true(got.events_committed >= 20000);
                const double p = percents[i] / 100.0;
                const double least = 0.8 * p * (double)got.events_committed;
                const double most = 1.2 * (p + p * p) * (double)got.events_processed + threads;
                assert_true((double)got.rollbacks_injected >= least);
                assert_true((double)got.rollbacks_injected <= most);
            }
    }
}

/* ---- models of a few lines ------------------------------------------------------------------- */

struct small {
    uint64_t count, mark;
};

static size_t small_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(struct small);
}

static const void *last_place; /* of the LP that was handled last, or was created last */

static void small_init(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp;
    last_place = state;
}

typedef void (*handler)(struct cw_ctx *ctx, const void *state, const struct cw_event *event);

struct small_run {
    struct cw_config config;
    handler handle;
    uint32_t lps;
    int exit_code;
    struct cw_error error;
    struct cw_stats stats;
};

/* One event for each LP, at 0, 1, ... ps. */
static void run_small(struct small_run *run)
{
    const struct cw_model model = {.name = "chain",
                                   .lp_count = run->lps,
                                   .state_bytes = small_bytes,
                                   .init = small_init,
                                   .handle = run->handle};
    struct cw_sim *const sim = cw_sim_create(&run->config, &model, &run->error);
    assert_non_null(sim);
    for (uint32_t lp = 0; lp < run->lps; lp++)
        assert_int_equal(cw_inject(sim, lp, lp, 0, lp, 0, NULL, 0, &run->error), CW_OK);
    run->exit_code = cw_drain(sim, &run->error);
    cw_sim_stats(sim, &run->stats);
    cw_sim_free(sim);
}

static struct cw_config stress(uint32_t workers, unsigned percent)
{
    return (struct cw_config){.sync = CW_STRESS,
                              .worker_count = workers,
                              .end_ps = CW_TIME_MAX,
                              .tuning.stress_seed = 1,
                              .tuning.stress_rate_p32 = percent * P32_ONE / 100};
}

enum { CHAIN_EVENTS = 200 };

/* Each event sends the next one to its own LP, 2 ps later. */
static void count_on(struct cw_ctx *ctx, const struct small *small)
{
    const uint64_t count = ++*CW_MUT(ctx, &small->count);
    if (count < CHAIN_EVENTS)
        cw_send(ctx, ctx->event->lp, 2, 0, ctx->event->lp, count, NULL, 0);
}

static void handle_chain(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)event;
    count_on(ctx, state);
}

/* At 100 % each event is undone as often as may be. */
static void an_event_is_undone_twice_and_no_more(void **state)
{
    (void)state;
    struct small_run run = {.config = stress(1, 100), .handle = handle_chain, .lps = 1};
    run_small(&run);
    assert_int_equal(run.exit_code, CW_OK);
    assert_int_equal(run.stats.events_committed, CHAIN_EVENTS);
    assert_int_equal(run.stats.rollbacks_injected, 2 * CHAIN_EVENTS);
    assert_int_equal(run.stats.events_processed, 3 * CHAIN_EVENTS);
    assert_int_equal(run.stats.safe_events, 0);
}

static void handle_once(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)event;
    ++*CW_MUT(ctx, &((const struct small *)state)->count);
}

/* At a rate of 2^-32: bad luck would be certain. */
static void the_first_event_is_undone_at_any_rate(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++)
        for (int window_ps = 0; window_ps <= 1; window_ps++) {
            struct small_run run = {.config = stress(workers, 0), .handle = handle_once, .lps = 1};
            run.config.tuning.stress_rate_p32 = 1;
            run.config.tuning.window_ps = window_ps;
            run_small(&run);
            assert_int_equal(run.exit_code, CW_OK);
            assert_int_equal(run.stats.rollbacks_injected, 1);
            assert_int_equal(run.stats.events_committed, 1);
        }
}

static void a_window_lets_some_safe_events_go_without_undo(void **state)
{
    (void)state;
    struct small_run run = {.config = stress(1, 10), .handle = handle_chain, .lps = 4};
    run.config.tuning.window_ps = 1000;
    run_small(&run);
    assert_int_equal(run.exit_code, CW_OK);
    assert_int_equal(run.stats.events_committed, 4 * CHAIN_EVENTS);
    assert_true(run.stats.rollbacks_injected > 0);
    assert_in_range(run.stats.safe_events, CHAIN_EVENTS, 3 * CHAIN_EVENTS);
}

static void a_run_that_was_not_undone_anywhere_fails(void **state)
{
    (void)state;
    const struct cw_config config = stress(2, 10);
    const struct cw_model model = {.name = "one",
                                   .lp_count = 2,
                                   .state_bytes = small_bytes,
                                   .init = small_init,
                                   .handle = handle_once};
    struct cw_error error = {.exit_code = CW_OK};
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_int_equal(stress_result(sim, &error), CW_OK); /* there was nothing to undo */
    assert_int_equal(cw_inject(sim, 0, 0, 0, 0, 0, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_OK);
    sim->workers[0].timewarp->stress.undone = 0;
    assert_int_equal(stress_result(sim, &error), CW_BUG);
    assert_string_equal(error.text, "the stress mode undid none of 1 events: it proves nothing");
    cw_sim_free(sim);
}

/* ---- handlers that break the rules ----------------------------------------------------------- */

static void change_unasked(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct small *const small = state;
    if (event->number == 20)
        ((struct small *)(uintptr_t)small)->mark = 1;
    count_on(ctx, small);
}

static void a_change_that_was_not_asked_for_is_found(void **state)
{
    (void)state;
    for (int window_ps = 0; window_ps <= 1000; window_ps += 1000) {
        struct small_run run = {.config = stress(1, 50), .handle = change_unasked, .lps = 1};
        run.config.tuning.window_ps = window_ps;
        run_small(&run);
        assert_int_equal(run.exit_code, CW_BUG);
        assert_string_equal(run.error.text,
                            "LP 0, event type 0 at 40 ps: the handler changed the state at offset "
                            "8 without asking for it (CW_MUT)");
    }
}

static const struct small *of_lp_0; /* where a handler last saw it */

/* LP 1 writes into LP 0, which no look at LP 1's state can find, but LP 0's rollbacks do. */
static void change_a_neighbour(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    if (event->lp == 0)
        of_lp_0 = state;
    else
        ((struct small *)(uintptr_t)of_lp_0)->mark++;
    count_on(ctx, state);
}

static void an_undone_state_that_is_not_what_it_was_is_found(void **state)
{
    (void)state;
    struct small_run run = {.config = stress(1, 50), .handle = change_a_neighbour, .lps = 2};
    run_small(&run);
    assert_int_equal(run.exit_code, CW_BUG);
    assert_string_equal(run.error.text,
                        "I-HIST-1: LP 0 is not as it was before an event that was undone");
}

/* ---- states that move ------------------------------------------------------------------------ */

static uint64_t moves, readable; /* places that were left, and how many can be read still */

static bool is_gone(const uint8_t *at)
{
#if defined(__SANITIZE_ADDRESS__)
    return __asan_address_is_poisoned(at) && __asan_address_is_poisoned(at + 8);
#else
    return at[0] == LP_STATES_STALE && at[sizeof(struct small) - 1] == LP_STATES_STALE;
#endif
}

static void watch_place(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)event;
    if (last_place != state) {
        moves++;
        readable += !is_gone(last_place);
    }
    last_place = state;
    count_on(ctx, state);
}

static void a_state_moves_and_leaves_nothing_behind(void **state)
{
    (void)state;
    struct small_run run = {.config = stress(1, 10), .handle = watch_place, .lps = 1};
    moves = readable = 0;
    run_small(&run);
    assert_int_equal(run.exit_code, CW_OK);
    assert_int_equal(moves, run.stats.states_moved);
    assert_in_range(moves, CHAIN_EVENTS / 8, CHAIN_EVENTS);
    assert_int_equal(readable, 0);
}

static const struct small *kept; /* from the first event on, which no handler may do */

static void keep_a_pointer(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    if (event->number == 0)
        kept = state;
    *CW_MUT(ctx, &((const struct small *)state)->mark) = kept->count;
    cw_emit(ctx, 0, &((const struct small *)state)->mark, sizeof(uint64_t));
    count_on(ctx, state);
}

/* A record that is not the LP's count ends the process, as AddressSanitizer does. */
static void expect_count(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                         uint16_t bytes)
{
    (void)arg, (void)kind, (void)bytes;
    uint64_t count;
    memcpy(&count, record, sizeof count);
    if (count != event->number)
        _exit(3);
}

static int run_keeper_apart(enum cw_sync sync)
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(4);
        struct small_run run = {.config = stress(1, 10), .handle = keep_a_pointer, .lps = 1};
        run.config.sync = sync;
        run.config.record = expect_count;
        run_small(&run);
        _exit(run.exit_code == CW_OK ? 0 : 5);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void a_pointer_kept_from_an_earlier_event_is_found(void **state)
{
    (void)state;
    assert_int_equal(run_keeper_apart(CW_OPTIMISTIC), 0); /* where states stay, it passes */
    assert_int_not_equal(run_keeper_apart(CW_STRESS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_models_are_undone_at_every_rate_and_end_the_same),
        cmocka_unit_test(phold_is_undone_at_the_rate_asked_for_and_ends_the_same),
        cmocka_unit_test(an_event_is_undone_twice_and_no_more),
        cmocka_unit_test(the_first_event_is_undone_at_any_rate),
        cmocka_unit_test(a_window_lets_some_safe_events_go_without_undo),
        cmocka_unit_test(a_run_that_was_not_undone_anywhere_fails),
        cmocka_unit_test(a_change_that_was_not_asked_for_is_found),
        cmocka_unit_test(an_undone_state_that_is_not_what_it_was_is_found),
        cmocka_unit_test(a_state_moves_and_leaves_nothing_behind),
        cmocka_unit_test(a_pointer_kept_from_an_earlier_event_is_found),
    };
    return cmocka_run_group_tests_name("stress", tests, NULL, NULL);
}
