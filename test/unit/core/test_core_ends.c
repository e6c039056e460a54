/*
 * test_core_ends.c: the parts of a key, the counters and the number of workers at their ends, in
 * every mode. Nothing runs until it gets there: times and numbers begin near their ends, and the
 * test sets the counters of events and messages, and an event's depth, to values near theirs before
 * a drain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/queue/event.h"
#include "core/worker/simulation.h"
#include "core/speculation/timewarp.h"
#include "core/worker/worker.h"

enum { LPS = 12, WORKERS = 3, TOKENS = 24, HOPS = 40 };

struct ends_state {
    struct cw_rng rng;
    uint64_t seen, number;
};

/* The model's data. A token hops HOPS times, to LPs at random. */
struct ends {
    int64_t last_ps;       /* no event is sent beyond it */
    uint64_t first_number; /* of each entity; it counts from there */
    uint32_t least_ps;     /* of a delay */
};

static size_t ends_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(struct ends_state);
}

static void ends_init(const void *data, uint32_t lp, void *state)
{
    const struct ends *const ends = data;
    struct ends_state *const s = state;
    s->rng = cw_rng_seeded(18, lp);
    s->number = ends->first_number;
}

static void ends_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct ends *const ends = cw_model_data(ctx);
    const struct ends_state *const s = state;
    struct cw_rng *const rng = CW_MUT(ctx, &s->rng);
    ++*CW_MUT(ctx, &s->seen);
    const uint32_t to = cw_rng_below(rng, LPS);
    const int64_t delay_ps = ends->least_ps + cw_rng_below(rng, 50);
    if (event->type == HOPS || delay_ps > ends->last_ps - cw_now(ctx))
        return;
    uint64_t *const number = CW_MUT(ctx, &s->number);
    cw_send(ctx, to, delay_ps, (uint16_t)(event->type + 1), UINT32_MAX - event->lp, *number, NULL,
            0);
    *number = *number == CW_NUMBER_MAX ? ends->first_number : *number + 1;
}

/* Between creation and drain: where counters are set. */
typedef void (*prepare_fn)(struct cw_sim *sim);

static struct cw_stats run_ends(const struct ends *ends, enum cw_sync sync, int64_t first_ps,
                                prepare_fn prepare)
{
    int64_t least_ps[WORKERS * WORKERS] = {0};
    for (size_t i = 0; i < WORKERS * WORKERS; i++)
        least_ps[i] = i % (WORKERS + 1) == 0 ? 0 : ends->least_ps;
    const struct cw_model model = {.name = "ends",
                                   .data = ends,
                                   .lp_count = LPS,
                                   .state_bytes = ends_bytes,
                                   .init = ends_init,
                                   .handle = ends_handle};
    const struct cw_config config = {.sync = sync,
                                     .worker_count = sync == CW_SEQUENTIAL ? 1 : WORKERS,
                                     .tuning.thread_count = 2,
                                     .least_delay_ps = sync == CW_SEQUENTIAL ? NULL : least_ps,
                                     .tuning.window_ps = sync == CW_OPTIMISTIC ? 1000 : 0,
                                     .end_ps = CW_TIME_MAX};
    struct cw_error error = {0};
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    if (sim == NULL)
        fail_msg("%s", error.text);
    for (uint32_t i = 0; i < TOKENS; i++)
        assert_int_equal(
            cw_inject(sim, i % LPS, first_ps, 0, i, CW_NUMBER_MAX - i, NULL, 0, &error), CW_OK);
    if (prepare != NULL)
        prepare(sim);
    if (cw_drain(sim, &error) != CW_OK)
        fail_msg("%s: %s", cw_sync_name[sync], error.text);
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    assert_true(cw_sim_now(sim) <= ends->last_ps);
    cw_sim_free(sim);
    return stats;
}

static void all_modes_agree(const struct ends *ends, int64_t first_ps, prepare_fn prepare)
{
    const struct cw_stats expected = run_ends(ends, CW_SEQUENTIAL, first_ps, NULL);
    assert_true(expected.events_committed > TOKENS);
    for (enum cw_sync sync = CW_CONSERVATIVE; sync < CW_SYNCS; sync++) {
        const struct cw_stats stats = run_ends(ends, sync, first_ps, prepare);
        assert_true(stats.trace_hash == expected.trace_hash);
        if (prepare == NULL)
            assert_int_equal(stats.events_committed, expected.events_committed);
    }
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void times_go_up_to_the_last_one(void **state)
{
    (void)state;
    const struct ends ends = {.last_ps = CW_TIME_MAX - 1, .first_number = 0, .least_ps = 5};
    for (int64_t before_ps = 1; before_ps < 4000; before_ps = 4 * before_ps + 45)
        all_modes_agree(&ends, CW_TIME_MAX - 50 - before_ps, NULL);
    /* and from far below to there: by one step */
    all_modes_agree(&(struct ends){.last_ps = 5000, .least_ps = 1}, 0, NULL);
}

/* Of entities whose numbers pass 2^32, or end at the greatest one. */
static void numbers_go_up_to_the_last_one(void **state)
{
    (void)state;
    struct ends ends = {.last_ps = 100000, .least_ps = 5};
    ends.first_number = UINT32_MAX - UINT64_C(20);
    all_modes_agree(&ends, 0, NULL);
    ends.first_number = CW_NUMBER_MAX - 60;
    all_modes_agree(&ends, 0, NULL);
}

static void hop_without_delay(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct ends_state *const s = state;
    ++*CW_MUT(ctx, &s->seen);
    if (event->depth < CW_DEPTH_MAX || *(const bool *)cw_model_data(ctx))
        cw_send(ctx, (event->lp + 5) % LPS, 0, 1, 7, event->number + 1, NULL, 0);
}

static void zero_bytes(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp, (void)state;
}

/* Gives the only event that is pending another depth. */
static void set_depth(struct cw_sim *sim, uint16_t depth)
{
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        struct pending *const pending = &sim->workers[i].pending;
        const struct entry *const least = pending_peek(pending);
        if (least == NULL)
            continue;
        struct cw_event *const event = least->event;
        pending_pop(pending, least);
        event->depth = depth;
        assert_true(pending_push(pending, entry_of_event(event)));
    }
}

/* A chain between workers that ends at the greatest depth, or goes one too far. */
static void chains_without_delay_go_down_to_the_last_depth(void **state)
{
    (void)state;
    enum { LEFT = 30 };
    for (int i = 0; i < 2 * CW_SYNCS; i++) {
        const enum cw_sync sync = (enum cw_sync)(i / 2);
        const bool too_far = i % 2 != 0;
        const struct cw_model model = {.name = "chain",
                                       .data = &too_far,
                                       .lp_count = LPS,
                                       .state_bytes = ends_bytes,
                                       .init = zero_bytes,
                                       .handle = hop_without_delay};
        const struct cw_config config = {.sync = sync,
                                         .worker_count = sync == CW_SEQUENTIAL ? 1 : WORKERS,
                                         .tuning.thread_count = 2,
                                         .end_ps = CW_TIME_MAX};
        struct cw_error error = {0};
        if (sync == CW_CONSERVATIVE) /* it wants a delay */
            continue;
        struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
        assert_non_null(sim);
        assert_int_equal(cw_inject(sim, 0, 1000, 0, 7, 0, NULL, 0, &error), CW_OK);
        set_depth(sim, CW_DEPTH_MAX - LEFT);
        assert_int_equal(cw_drain(sim, &error), too_far ? CW_PROGRAM_FAILED : CW_OK);
        if (too_far)
            assert_non_null(strstr(error.text, "a chain of more than 65535 events without delay"));
        struct cw_stats stats;
        cw_sim_stats(sim, &stats);
        assert_int_equal(stats.events_committed, LEFT + !too_far);
        cw_sim_free(sim);
    }
}

/* ---- counters -------------------------------------------------------------------------------- */

/* 2^32 events of a worker, and messages between each two, less a few. */
static void begin_below_2_to_32(struct cw_sim *sim)
{
    const uint64_t first = UINT32_MAX - UINT64_C(10);
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        struct timewarp *const tw = sim->workers[i].timewarp;
        sim->workers[i].committed = sim->workers[i].processed = sim->workers[i].undone = first;
        tw->safe = tw->turns = first;
        tw->gvt.processed_then = first;
        tw->peers.anti_messages = tw->peers.sent_for_good = first;
        tw->peers.messages = 3 * first; /* I-QUOTA-2 */
        tw->undo_log.bytes = first;
        for (uint32_t k = 0; k < tw->peers.out_count; k++)
            tw->peers.out[k].numbers = first;
        for (uint32_t k = 0; k < tw->peers.in_count; k++)
            tw->peers.in[k].arrivals.first = tw->peers.in[k].arrivals.next = first;
    }
}

static void counters_go_beyond_2_to_32(void **state)
{
    (void)state;
    const struct ends ends = {.last_ps = 100000, .least_ps = 5};
    all_modes_agree(&ends, 0, begin_below_2_to_32);
    const uint64_t begun = WORKERS * (UINT32_MAX - UINT64_C(10));
    const struct cw_stats expected = run_ends(&ends, CW_SEQUENTIAL, 0, NULL);
    const struct cw_stats stats = run_ends(&ends, CW_ADAPTIVE, 0, begin_below_2_to_32);
    assert_true(stats.events_committed == begun + expected.events_committed);
}

/* ---- workers --------------------------------------------------------------------------------- */

enum { MOST_WORKERS = 1024 };

static void pass_on(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct ends_state *const s = state;
    ++*CW_MUT(ctx, &s->seen);
    if (event->number < MOST_WORKERS + 10)
        cw_send(ctx, (event->lp + 1) % MOST_WORKERS, 100, 1, event->lp, event->number + 1, NULL, 0);
}

static const struct cw_model ring_model = {.name = "ring",
                                           .lp_count = MOST_WORKERS,
                                           .state_bytes = ends_bytes,
                                           .init = zero_bytes,
                                           .handle = pass_on};

/* Of a ring, in which each worker sends to the next one alone. */
static int64_t *ring_delays(void)
{
    int64_t *const least_ps = malloc(sizeof *least_ps * MOST_WORKERS * MOST_WORKERS);
    assert_non_null(least_ps);
    for (size_t i = 0; i < (size_t)MOST_WORKERS * MOST_WORKERS; i++) {
        const size_t from = i / MOST_WORKERS, to = i % MOST_WORKERS;
        least_ps[i] = from == to ? 0 : to == (from + 1) % MOST_WORKERS ? 100 : CW_TIME_MAX;
    }
    return least_ps;
}

/* Returns the trace hash. *are_apart: whether the states of different workers are (lp_states.h). */
static uint64_t run_ring(enum cw_sync sync, const int64_t *least_ps, bool *are_apart)
{
    const bool alone = sync == CW_SEQUENTIAL;
    const struct cw_config config = {.sync = sync,
                                     .worker_count = alone ? 1 : MOST_WORKERS,
                                     .tuning.thread_count = 2,
                                     .least_delay_ps = alone ? NULL : least_ps,
                                     .end_ps = CW_TIME_MAX};
    struct cw_error error = {0};
    struct cw_sim *const sim = cw_sim_create(&config, &ring_model, &error);
    if (sim == NULL)
        fail_msg("%s", error.text);
    *are_apart = sim->lp_states.is_apart;
    assert_int_equal(cw_inject(sim, MOST_WORKERS - 5, 0, 0, 0, 0, NULL, 0, &error), CW_OK);
    if (cw_drain(sim, &error) != CW_OK)
        fail_msg("%s", error.text);
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    assert_int_equal(stats.events_committed, MOST_WORKERS + 11);
    cw_sim_free(sim);
    return stats.trace_hash;
}

static void a_token_goes_round_1024_workers(void **state)
{
    (void)state;
    bool are_apart;
    int64_t *const least_ps = ring_delays();
    const uint64_t hash = run_ring(CW_SEQUENTIAL, NULL, &are_apart);
    assert_true(run_ring(CW_CONSERVATIVE, least_ps, &are_apart) == hash);
    assert_true(run_ring(CW_ADAPTIVE, least_ps, &are_apart) == hash);
    const struct cw_config config = {
        .sync = CW_ADAPTIVE, .worker_count = MOST_WORKERS + 1, .end_ps = CW_TIME_MAX};
    struct cw_error error = {0};
    assert_null(cw_sim_create(&config, &ring_model, &error));
    assert_int_equal(error.exit_code, CW_USAGE);
    free(least_ps);
}

/* In a process of its own: the limit stays. Returns its exit code: 0 if all is as it should be. */
static int run_ring_with_limit(int resource, bool should_be_apart)
{
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        const struct rlimit limit = {(rlim_t)2 << 30, (rlim_t)2 << 30};
        bool are_apart, are_right = setrlimit(resource, &limit) == 0;
        int64_t *const least_ps = ring_delays();
        const uint64_t hash = run_ring(CW_SEQUENTIAL, NULL, &are_apart);
        are_right &= run_ring(CW_ADAPTIVE, least_ps, &are_apart) == hash;
        are_right &= are_apart == should_be_apart;
        free(least_ps);
        _exit(are_right ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(process, &status, 0), process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* 1,024 workers would like 16 GiB of addresses for their states. */
static void few_addresses_are_enough_for_1024_workers(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* a sanitizer takes terabytes of addresses itself */
#endif
    assert_int_equal(run_ring_with_limit(RLIMIT_AS, false), 0);
}

/* A limit on memory that may be written, which the system counts as with vm.overcommit_memory 2. */
static void addresses_do_not_count_as_memory(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* as above */
#endif
    assert_int_equal(run_ring_with_limit(RLIMIT_DATA, true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_go_up_to_the_last_one),
        cmocka_unit_test(numbers_go_up_to_the_last_one),
        cmocka_unit_test(chains_without_delay_go_down_to_the_last_depth),
        cmocka_unit_test(counters_go_beyond_2_to_32),
        cmocka_unit_test(a_token_goes_round_1024_workers),
        cmocka_unit_test(few_addresses_are_enough_for_1024_workers),
        cmocka_unit_test(addresses_do_not_count_as_memory),
    };
    return cmocka_run_group_tests_name("core_ends", tests, NULL, NULL);
}
