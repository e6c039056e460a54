/*
 * test_repeat_calls.c: which calls are simulated once a state has come again (repeat.h), for every
 * number of calls, of warm-up calls, of calls that are done, and every period: with their weights
 * they count each call of the row once, and the last one is an image of the row's last.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/programs/bench_program.h"

enum { CALLS_MAX = 24, PERIOD_PS = 1000 };

/* Timed calls from `done` on, by their place in the period. */
struct count {
    uint32_t at[REPEAT_KEPT];
};

static struct count count_all(uint32_t warmup, uint32_t calls, uint32_t done, uint32_t period)
{
    struct count count = {{0}};
    for (uint32_t call = done; call < calls; call++)
        count.at[(call - done) % period] += call >= warmup;
    return count;
}

static void check(uint32_t warmup, uint32_t calls, uint32_t done, uint32_t period)
{
    struct bench_session session = {.repeat = {.warmup = warmup,
                                               .calls = calls,
                                               .end = calls,
                                               .done = done,
                                               .timed_from = warmup,
                                               .once = calls - warmup,
                                               .weight = 1}};
    struct repeat *const repeat = &session.repeat;
    struct count count = {{0}};
    repeat_found(repeat, period, (int64_t)period * PERIOD_PS);
    for (; !repeat_is_over(&session.repeat); repeat->done++)
        count.at[(repeat->done - done) % period] += repeat_weight(&session.repeat);
    const struct count all = count_all(warmup, calls, done, period);
    if (memcmp(&count, &all, sizeof all) != 0 ||
        (repeat->end - 1 - done) % period != (calls - 1 - done) % period)
        fail_msg("warm-up %u, calls %u, done %u, period %u", warmup, calls, done, period);
    assert_int_equal(repeat->left_out_ps, (int64_t)(calls - repeat->end) * PERIOD_PS);
    assert_true(repeat->end <= calls && repeat->end < done + 3 * period);
}

static void all_calls_count_once(void **state)
{
    (void)state;
    for (uint32_t calls = 3; calls < CALLS_MAX; calls++)
        for (uint32_t warmup = 0; warmup < calls; warmup++)
            for (uint32_t done = 2; done < calls; done++)
                for (uint32_t period = 1; period < done && period < REPEAT_KEPT; period++)
                    check(warmup, calls, done, period);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_calls_count_once)};
    return cmocka_run_group_tests_name("repeat_calls", tests, NULL, NULL);
}
