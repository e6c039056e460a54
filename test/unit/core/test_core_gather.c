/*
 * test_core_gather.c: how workers avoid work that does not pay. One thread takes all events
 * (core/run/pace.h), and a run does not show it. Speculation is bounded (throttle.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/phold/phold.h"
#include "core/at_random.h"
#include "core/run/pace.h"
#include "core/worker/simulation.h"
#include "core/speculation/throttle.h"

/* A machine on which each way has a rate, and a change takes a while. */
struct machine {
    double rate[THREADING_MODES]; /* events per second */
    double change_s;
    uint64_t pending;
    double now_s;
    double events;
    double apart_s; /* spent so */
    struct pace pace;
};

static void machine_begin(struct machine *machine, enum threading_mode way)
{
    machine->now_s = machine->events = machine->apart_s = 0;
    pace_init(&machine->pace, way, 0, 0);
}

static void machine_run(struct machine *machine, double run_s)
{
    const double step_s = 0.00005, end_s = machine->now_s + run_s;
    enum threading_mode way = machine->pace.mode;
    while (machine->now_s < end_s) {
        machine->now_s += step_s;
        machine->events += step_s * machine->rate[way];
        machine->apart_s += way == THREADS_PARALLEL ? step_s : 0;
        const enum threading_mode next =
            pace_look(&machine->pace, machine->now_s, (uint64_t)machine->events, machine->pending,
                      machine->change_s);
        machine->now_s += next != way ? machine->change_s : 0;
        way = next;
    }
}

static void the_faster_way_is_found_and_kept(void **state)
{
    (void)state;
    for (enum threading_mode first = THREADS_PARALLEL; first < THREADING_MODES; first++)
        for (enum threading_mode faster = THREADS_PARALLEL; faster < THREADING_MODES; faster++) {
            struct machine machine = {.rate = {20e6, 20e6}, .change_s = 20e-6};
            machine.rate[faster] = 30e6;
            machine_begin(&machine, first);
            machine_run(&machine, 1);
            assert_int_equal(machine.pace.best, faster);
            assert_true(machine.events > 0.97 * 30e6);
        }
}

static void trials_take_a_fiftieth_of_the_time(void **state)
{
    (void)state;
    struct machine machine = {.rate = {1e5, 30e6}, .change_s = 0.005};
    machine_begin(&machine, THREADS_SINGLE);
    machine_run(&machine, 20);
    assert_true(machine.events > 0.98 * 20 * 30e6);
    assert_true(machine.apart_s > 0);
}

/* Of few events threads seldom gain: a run of some milliseconds pays for no trial. */
static void a_short_run_of_few_events_has_no_trial(void **state)
{
    (void)state;
    struct machine machine = {.rate = {60e6, 30e6}, .change_s = 20e-6, .pending = 512};
    machine_begin(&machine, THREADS_SINGLE);
    machine_run(&machine, 0.009);
    assert_true(machine.apart_s == 0);
    machine_run(&machine, 0.02);
    assert_int_equal(machine.pace.best, THREADS_PARALLEL);
    machine.pending = 513;
    machine_begin(&machine, THREADS_SINGLE);
    machine_run(&machine, 0.009);
    assert_int_equal(machine.pace.best, THREADS_PARALLEL);
}

/* The slower a trial is, the sooner it ends: at a quarter of its millisecond, or at half of it. */
static void a_trial_that_loses_clearly_ends_early(void **state)
{
    (void)state;
    double apart_s[3];
    const double shares[3] = {0.95, 0.8, 0.5};
    for (int i = 0; i < 3; i++) {
        struct machine machine = {
            .rate = {shares[i] * 30e6, 30e6}, .change_s = 20e-6, .pending = 1024};
        machine_begin(&machine, THREADS_SINGLE);
        machine_run(&machine, 0.01);
        assert_int_equal(machine.pace.best, THREADS_SINGLE);
        apart_s[i] = machine.apart_s;
    }
    assert_true(apart_s[1] < 0.7 * apart_s[0]);
    assert_true(apart_s[2] < 0.8 * apart_s[1]);
}

static void a_gain_of_little_does_not_take_the_other_cores(void **state)
{
    (void)state;
    struct machine machine = {.rate = {30.5e6, 30e6}, .change_s = 20e-6};
    machine_begin(&machine, THREADS_SINGLE);
    machine_run(&machine, 1);
    assert_int_equal(machine.pace.best, THREADS_SINGLE);
}

/* The first measurement finds the caches cold: here together is slow only in the beginning. */
static void a_slow_beginning_is_not_taken_for_a_slow_way(void **state)
{
    (void)state;
    struct machine machine = {.rate = {24e6, 20e6}, .change_s = 20e-6, .pending = 1024};
    machine_begin(&machine, THREADS_SINGLE);
    while (!machine.pace.tries)
        machine_run(&machine, 0.00005);
    machine.rate[THREADS_SINGLE] = 30e6;
    machine_run(&machine, 0.02);
    assert_int_equal(machine.pace.best, THREADS_SINGLE);
    assert_true(machine.apart_s < 0.004);
}

/* Near the ratio at which together is chosen, noise does not change the way for ever. */
static void a_ratio_near_the_threshold_changes_the_way_once(void **state)
{
    (void)state;
    for (int permille = 950; permille <= 1000; permille++) {
        struct machine machine = {.rate = {30e6, permille * 30e3}, .change_s = 20e-6};
        machine_begin(&machine, THREADS_PARALLEL);
        machine_run(&machine, 1);
        const enum threading_mode chosen = machine.pace.best;
        for (int second = 0; second < 5; second++) {
            machine_run(&machine, 1);
            assert_int_equal(machine.pace.best, chosen);
        }
    }
}

static void ways_that_are_equal_leave_the_other_cores(void **state)
{
    (void)state;
    struct machine machine = {.rate = {30e6, 29.5e6}, .change_s = 20e-6};
    machine_begin(&machine, THREADS_PARALLEL);
    machine_run(&machine, 1);
    assert_int_equal(machine.pace.best, THREADS_SINGLE);
    machine.rate[THREADS_PARALLEL] = 32e6;
    machine_begin(&machine, THREADS_PARALLEL);
    machine_run(&machine, 1);
    assert_int_equal(machine.pace.best, THREADS_PARALLEL);
}

static void a_machine_that_changes_is_noticed(void **state)
{
    (void)state;
    struct machine machine = {.rate = {50e6, 30e6}, .change_s = 20e-6};
    machine_begin(&machine, THREADS_SINGLE);
    machine_run(&machine, 2);
    assert_int_equal(machine.pace.best, THREADS_PARALLEL);
    machine.rate[THREADS_PARALLEL] = 5e6; /* other programs take a core */
    machine_run(&machine, 0.1);
    assert_int_equal(machine.pace.best, THREADS_SINGLE);
    machine.rate[THREADS_PARALLEL] = 50e6;
    machine_run(&machine, 2);
    assert_int_equal(machine.pace.best, THREADS_PARALLEL);
}

/* An iteration of a collective with data: a long phase with much work per event, a short one with
 * little. To gather would lose in both. */
static void phases_of_a_model_are_not_taken_for_a_gain(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < 40; turn++) {
        const double heavy_s = 0.006 + 0.0005 * turn, light_s = 0.003 + 0.0002 * turn;
        struct machine machine = {.change_s = 0.0003};
        machine_begin(&machine, THREADS_PARALLEL);
        while (machine.now_s < 2) {
            machine.rate[THREADS_PARALLEL] = 4e6;
            machine.rate[THREADS_SINGLE] = 2.2e6;
            machine_run(&machine, heavy_s);
            machine.rate[THREADS_PARALLEL] = 30e6;
            machine.rate[THREADS_SINGLE] = 17e6;
            machine_run(&machine, light_s);
        }
        assert_int_equal(machine.pace.best, THREADS_PARALLEL);
        assert_true(machine.apart_s > 0.96 * machine.now_s);
    }
}

static void judge(struct throttle *throttle, uint64_t processed, uint64_t undone)
{
    throttle->usage = (struct throttle_usage){.processed = processed, .rolled_back = undone};
    throttle_adjust(throttle, true, 0, 0);
}

static void the_window_of_optimistic_follows_the_share_that_is_undone(void **state)
{
    (void)state;
    struct throttle throttle;
    throttle_init(&throttle, CW_OPTIMISTIC, UINT64_MAX, 2);
    assert_int_equal(throttle.window, 2048);
    judge(&throttle, 1000, 126);
    assert_int_equal(throttle.window, 1024);
    judge(&throttle, 1000, 100);
    assert_int_equal(throttle.window, 1024); /* neither much nor little */
    judge(&throttle, 255, 255);
    assert_int_equal(throttle.window, 1024); /* too few to tell; they count the next time */
    judge(&throttle, 1000, 31);
    assert_int_equal(throttle.window, 2048);
    judge(&throttle, 1000, 0);
    assert_int_equal(throttle.window, 2048);
    throttle.pending = 5;
    for (int i = 0; i < 10; i++)
        judge(&throttle, 1000, 500);
    assert_int_equal(throttle.window, 64);
}

/* They rest between rounds: a narrow window would be full for most of the time. */
static void the_window_of_optimistic_stays_among_many_workers(void **state)
{
    (void)state;
    struct throttle throttle;
    throttle_init(&throttle, CW_OPTIMISTIC, UINT64_MAX, 9);
    judge(&throttle, 1000, 900);
    assert_int_equal(throttle.window, 2048);
    throttle_init(&throttle, CW_OPTIMISTIC, 100 * 8 * 256 * 9, 9); /* of 100 events */
    judge(&throttle, 1000, 900);
    assert_int_equal(throttle.window, 100);
}

static void a_batch_of_speculation_is_a_small_part_of_what_is_pending(void **state)
{
    (void)state;
    struct throttle throttle;
    throttle_init(&throttle, CW_OPTIMISTIC, UINT64_MAX, 1);
    assert_int_equal(throttle_speculative_batch(&throttle, 0), 4);
    assert_int_equal(throttle_speculative_batch(&throttle, 128), 16);
    assert_int_equal(throttle_speculative_batch(&throttle, 4095), 511);
    assert_int_equal(throttle_speculative_batch(&throttle, UINT64_C(1) << 40), 512);
    throttle_init(&throttle, CW_STRESS, UINT64_MAX, 1);
    assert_int_equal(throttle_speculative_batch(&throttle, 0), 512);
}

/* A full window costs a round of GVT, so a small one does not pay, unless memory wants it. */
static void the_window_stays_large_enough_to_pay(void **state)
{
    (void)state;
    struct throttle throttle;
    throttle_init(&throttle, CW_ADAPTIVE, UINT64_MAX, 1);
    throttle.pending = 1000;
    for (int i = 0; i < 10; i++) {
        throttle.usage = (struct throttle_usage){.processed = 1000, .rolled_back = 500};
        throttle_adjust(&throttle, true, 0, 0);
    }
    assert_int_equal(throttle.window, 64);
    throttle.usage = (struct throttle_usage){.processed = 1000, .rolled_back = 100};
    throttle_adjust(&throttle, true, 0, 0);
    assert_int_equal(throttle.window, 128);
    throttle.pending = 5; /* few events: most that are handled ahead are in vain */
    for (int i = 0; i < 10; i++) {
        throttle.usage = (struct throttle_usage){.processed = 1000, .rolled_back = 500};
        throttle_adjust(&throttle, true, 0, 0);
    }
    assert_int_equal(throttle.window, 5);
    throttle.level = MEMORY_TIGHT;
    for (int i = 0; i < 10; i++)
        throttle_adjust(&throttle, true, 5, 0);
    assert_int_equal(throttle.window, 1);
}

/* Tight memory narrows the window to one event. It does not stay there behind it, not even where as
 * much is undone as leaves the window as it is. */
static void a_window_that_memory_has_narrowed_returns(void **state)
{
    (void)state;
    const enum cw_sync modes[] = {CW_OPTIMISTIC, CW_ADAPTIVE};
    const uint64_t undone[] = {50, 200}; /* of 1,000: between the shares that move the window */
    for (int i = 0; i < 2; i++) {
        struct throttle throttle;
        throttle_init(&throttle, modes[i], UINT64_MAX, 2);
        throttle.pending = 1000;
        throttle.level = MEMORY_TIGHT;
        for (int round = 0; round < 16; round++)
            throttle_adjust(&throttle, true, 1, 0);
        assert_int_equal(throttle.window, 1);
        throttle.level = MEMORY_PLENTY;
        throttle.usage = (struct throttle_usage){.processed = 1000, .rolled_back = undone[i]};
        throttle_adjust(&throttle, true, 0, 0);
        assert_int_equal(throttle.window, 64);
    }
}

/* Long enough for several changes of the way. */
static void a_run_that_gathers_commits_the_same(void **state)
{
    (void)state;
    struct phold_options options = phold_defaults();
    options.lps = 256;
    options.population = 2;
    options.remote_p32 = UINT64_C(1) << 31;
    options.engine.end_ps = 200000000;
    struct cw_stats expected, got;
    struct cw_error error;
    double setup_s;
    assert_int_equal(phold_run(&options, CW_SEQUENTIAL, 1, &expected, &setup_s, &error), CW_OK);
    options.engine.tuning.gather = CW_GATHER_IF_FASTER;
    assert_int_equal(phold_run(&options, CW_ADAPTIVE, 2, &got, &setup_s, &error), CW_OK);
    assert_true(got.trace_hash == expected.trace_hash);
    assert_true(got.gathered_events > 0); /* it begins so */
    options.engine.tuning.gather = CW_GATHER_OFTEN;
    assert_int_equal(phold_run(&options, CW_ADAPTIVE, 4, &got, &setup_s, &error), CW_OK);
    assert_true(got.trace_hash == expected.trace_hash);
    assert_in_range(got.gathered_events, 1, got.events_committed - 1);
}

/* Without lookahead most events are speculative when one thread takes them. */
static void speculation_is_undone_before_events_gather(void **state)
{
    (void)state;
    struct phold_options options = phold_defaults();
    options.lps = 256;
    options.population = 8;
    options.lookahead_ps = 0;
    options.remote_p32 = UINT64_C(1) << 31;
    options.engine.end_ps = 10000000;
    struct cw_stats expected, got;
    struct cw_error error;
    double setup_s;
    assert_int_equal(phold_run(&options, CW_SEQUENTIAL, 1, &expected, &setup_s, &error), CW_OK);
    options.engine.tuning.gather = CW_GATHER_OFTEN;
    assert_int_equal(phold_run(&options, CW_ADAPTIVE, 2, &got, &setup_s, &error), CW_OK);
    assert_true(got.trace_hash == expected.trace_hash);
    assert_in_range(got.gathered_events, 1, got.events_committed - 1);
}

enum { TOKENS = 50, DRAINS = 200, STEPS = 100, GROWTH_BYTES = 1 << 20 };

static size_t count_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(uint64_t);
}

static void begin_at_zero(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp;
    *(uint64_t *)state = 0;
}

/* A token goes to and fro between two LPs. */
static void pass_on(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    ++*CW_MUT(ctx, (const uint64_t *)state);
    if (event->number < STEPS)
        cw_send(ctx, 1 - event->lp, 10, 0, event->entity, event->number + 1, NULL, 0);
}

typedef void (*handle_fn)(struct cw_ctx *ctx, const void *state, const struct cw_event *event);

/* Each worker has one LP. */
static struct cw_sim *one_lp_each(uint32_t workers, enum cw_gather gather, handle_fn handle)
{
    const struct cw_model model = {.name = "counts",
                                   .lp_count = workers,
                                   .state_bytes = count_bytes,
                                   .init = begin_at_zero,
                                   .handle = handle};
    const struct cw_config config = {.worker_count = workers,
                                     .sync = CW_ADAPTIVE,
                                     .tuning.gather = gather,
                                     .end_ps = CW_TIME_MAX};
    struct cw_error error = {0};
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    return sim;
}

/* Many drains, each with events for both workers. After each one no worker has a record that was
 * not given back, whichever thread has handled its events. Records that come into another worker's
 * pool would be missed in their own: memory would grow with each change of the way. */
static struct cw_sim *pass_tokens(enum cw_gather gather, struct cw_stats stats[2])
{
    struct cw_error error = {0};
    struct cw_sim *const sim = one_lp_each(2, gather, pass_on);
    uint64_t early_bytes = 0;
    for (int64_t drain = 0; drain < DRAINS; drain++) {
        for (uint32_t i = 0; i < TOKENS; i++)
            assert_int_equal(cw_inject(sim, 1, drain * 10 * (STEPS + 1), 0, i, 0, NULL, 0, &error),
                             CW_OK);
        assert_int_equal(cw_drain(sim, &error), CW_OK);
        for (uint32_t i = 0; i < 2; i++) {
            cw_sim_worker_stats(sim, i, &stats[i]);
            assert_int_equal(stats[i].events_alive, 0);
        }
        if (drain == DRAINS / 4)
            early_bytes = sync_load_acquire(&sim->memory.taken);
    }
    assert_in_range(sync_load_acquire(&sim->memory.taken), 1, early_bytes + GROWTH_BYTES);
    return sim;
}

static void records_are_given_back_to_the_owner_of_their_lp(void **state)
{
    (void)state;
    struct cw_stats sum, stats[2];
    struct cw_sim *const sim = pass_tokens(CW_GATHER_IF_FASTER, stats);
    cw_sim_stats(sim, &sum);
    assert_int_equal(sum.events_committed, DRAINS * TOKENS * (STEPS + 1));
    /* an event that changes its owner is not counted twice */
    if (sum.gathered_events == sum.events_committed)
        assert_in_range(sum.events_alive_max, TOKENS, TOKENS + 1);
    cw_sim_free(sim);
}

static void records_are_given_back_when_threads_part(void **state)
{
    (void)state;
    struct cw_stats sum, stats[2];
    struct cw_sim *const sim = pass_tokens(CW_GATHER_OFTEN, stats);
    cw_sim_stats(sim, &sum);
    assert_int_equal(sum.events_committed, DRAINS * TOKENS * (STEPS + 1));
    assert_in_range(sum.gathered_events, 1, sum.events_committed - 1);
    cw_sim_free(sim);
}

enum { PEAK = 1000, PEAK_RUNS = 40, KEPT = 100, KEPT_STEPS = 2000 };

static void die_or_stay(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    ++*CW_MUT(ctx, (const uint64_t *)state);
    if (event->entity < KEPT && event->number < KEPT_STEPS)
        cw_send(ctx, 1 - event->lp, 10, 0, event->entity, event->number + 1, NULL, 0);
}

/* Of a run on threads: the most events at a time, each counted at the worker that has it. */
static uint64_t most_events_of_a_run(void)
{
    struct cw_error error = {0};
    struct cw_sim *const sim = one_lp_each(2, CW_GATHER_OFTEN, die_or_stay);
    for (uint32_t i = 0; i < PEAK; i++)
        assert_int_equal(cw_inject(sim, i % 2, i, 0, i, 0, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_OK);
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    assert_int_equal(stats.events_committed, PEAK + KEPT * KEPT_STEPS);
    assert_in_range(stats.gathered_events, 1, stats.events_committed - 1);
    assert_in_range(stats.events_alive_max, PEAK, 2 * PEAK);
    cw_sim_free(sim);
    return stats.events_alive_max;
}

/*
 * Most events end at once. The others change their owner again and again. Where half of the events
 * counted at both workers, the sum would be half as much again in each run. Threads in an unlucky
 * order come near to it, but seldom, so the least of some runs tells.
 */
static void the_most_events_at_a_time_stay_known(void **state)
{
    (void)state;
    uint64_t least = UINT64_MAX;
    for (int run = 0; run < PEAK_RUNS && least > PEAK + PEAK / 4; run++) {
        const uint64_t most = most_events_of_a_run();
        least = most < least ? most : least;
    }
    assert_in_range(least, PEAK, PEAK + PEAK / 4);
}

enum { LONE_STEPS = 200000 };

static void stay(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    ++*CW_MUT(ctx, (const uint64_t *)state);
    if (event->number < LONE_STEPS)
        cw_send(ctx, event->lp, 10, 0, 0, event->number + 1, NULL, 0);
}

/* The last worker never has an event, and waits. That must not keep the events of the others from
 * being gathered, nor the threads from parting. */
static void a_worker_that_waits_for_ever_does_not_hold_up_the_others(void **state)
{
    (void)state;
    for (uint32_t workers = 2; workers <= 5; workers++) {
        struct cw_error error = {0};
        struct cw_sim *const sim = one_lp_each(workers, CW_GATHER_OFTEN, stay);
        assert_int_equal(cw_inject(sim, 0, 0, 0, 0, 0, NULL, 0, &error), CW_OK);
        assert_int_equal(cw_drain(sim, &error), CW_OK);
        struct cw_stats stats;
        cw_sim_stats(sim, &stats);
        assert_int_equal(stats.events_committed, LONE_STEPS + 1);
        assert_in_range(stats.gathered_events, LONE_STEPS / 8, LONE_STEPS);
        cw_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_faster_way_is_found_and_kept),
        cmocka_unit_test(trials_take_a_fiftieth_of_the_time),
        cmocka_unit_test(a_short_run_of_few_events_has_no_trial),
        cmocka_unit_test(a_trial_that_loses_clearly_ends_early),
        cmocka_unit_test(a_gain_of_little_does_not_take_the_other_cores),
        cmocka_unit_test(a_slow_beginning_is_not_taken_for_a_slow_way),
        cmocka_unit_test(a_ratio_near_the_threshold_changes_the_way_once),
        cmocka_unit_test(ways_that_are_equal_leave_the_other_cores),
        cmocka_unit_test(a_machine_that_changes_is_noticed),
        cmocka_unit_test(phases_of_a_model_are_not_taken_for_a_gain),
        cmocka_unit_test(the_window_of_optimistic_follows_the_share_that_is_undone),
        cmocka_unit_test(the_window_of_optimistic_stays_among_many_workers),
        cmocka_unit_test(a_batch_of_speculation_is_a_small_part_of_what_is_pending),
        cmocka_unit_test(the_window_stays_large_enough_to_pay),
        cmocka_unit_test(a_window_that_memory_has_narrowed_returns),
        cmocka_unit_test(a_run_that_gathers_commits_the_same),
        cmocka_unit_test(records_are_given_back_to_the_owner_of_their_lp),
        cmocka_unit_test(records_are_given_back_when_threads_part),
        cmocka_unit_test(speculation_is_undone_before_events_gather),
        cmocka_unit_test(the_most_events_at_a_time_stay_known),
        cmocka_unit_test(a_worker_that_waits_for_ever_does_not_hold_up_the_others),
    };
    return cmocka_run_group_tests_name("gather", tests, NULL, NULL);
}
