/*
 * test_cause_log.c: the log of causes, the names of limits, and how a limit becomes twice as fast.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/explain/cause_log.h"
#include "bench/explain/limits.h"

enum { LPS = 3, MEBIBYTE = 1 << 20 };

static void add(struct cause_log *log, uint32_t worker, uint32_t lp, int64_t now_ps,
                uint32_t number)
{
    const struct cw_event event = {.time_ps = now_ps, .lp = lp, .entity = 7, .type = 3};
    const uint32_t step[] = {number, number + 1};
    const struct lp_sent sent = {.at_ps = now_ps + 10, .entity = 9, .number = number, .to_lp = lp};
    cause_log_add(log, worker, &event, &sent, (struct cause_steps){step, 2});
}

/* An LP's entries come in their order, although workers write those of several LPs. */
static void each_lp_has_a_log(void **state)
{
    (void)state;
    struct cause_log *const log = cause_log_create(LPS, 2, 64 * MEBIBYTE);
    assert_non_null(log);
    assert_null(cause_log_until(log, 1, INT64_MAX));
    for (uint32_t i = 0; i < 100000; i++)
        add(log, i % 2, i % 2 == 0 ? 0 : 1 + i / 2 % 2, 5 * (int64_t)i, i);
    assert_true(cause_log_is_whole(log));
    const struct lp_cause_entry *entry = cause_log_until(log, 2, INT64_MAX);
    for (uint32_t i = 99999; entry != NULL; i -= 4, entry = entry->before) {
        assert_int_equal(entry->number, i);
        assert_int_equal(entry->now_ps, 5 * (int64_t)i);
        assert_int_equal(lp_cause_steps_of(entry)[1], i + 1);
        if (i < 4)
            assert_null(entry->before);
    }
    cause_log_free(log);
}

/* Falling times, and a time that is later than the one before. */
static void the_last_entry_until_a_time_is_found(void **state)
{
    (void)state;
    struct cause_log *const log = cause_log_create(LPS, 1, 64 * MEBIBYTE);
    for (uint32_t i = 1; i <= 10; i++)
        add(log, 0, 1, 10 * (int64_t)i, i);
    assert_int_equal(cause_log_until(log, 1, 85)->number, 8);
    assert_int_equal(cause_log_until(log, 1, 30)->number, 3);
    assert_int_equal(cause_log_until(log, 1, 99)->number, 9);
    assert_null(cause_log_until(log, 1, 9));
    assert_int_equal(cause_log_until(log, 1, 100)->number, 10);
    assert_null(cause_log_until(log, LPS, 100));
    cause_log_clear(log);
    assert_null(cause_log_until(log, 1, 100));
    add(log, 0, 1, 7, 1);
    assert_int_equal(cause_log_until(log, 1, 100)->number, 1);
    cause_log_free(log);
}

/* A question for any time finds the same entry in a log of many blocks as a search of all of it. */
static void questions_begin_in_the_right_block(void **state)
{
    (void)state;
    enum { ENTRIES = 20000 };
    struct cause_log *const log = cause_log_create(LPS, 1, 64 * MEBIBYTE);
    for (uint32_t round = 0; round < 2; round++) {
        cause_log_clear(log);
        for (uint32_t i = 0; i < ENTRIES; i++)
            add(log, 0, i % 1000 == 999 ? 2 : 1, i / 3, i);
        uint64_t random = 1;
        for (uint32_t i = 0; i < 3000; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const uint32_t lp = 1 + (uint32_t)(random >> 60) % 2;
            const int64_t until_ps = (int64_t)(random >> 33) % (ENTRIES / 3 + 2);
            int64_t number = until_ps * 3 + 2 < ENTRIES ? until_ps * 3 + 2 : ENTRIES - 1;
            while (number >= 0 && (number % 1000 == 999) != (lp == 2))
                number--;
            const struct lp_cause_entry *const found = cause_log_until(log, lp, until_ps);
            if (number < 0)
                assert_null(found);
            else
                assert_int_equal(found->number, number);
        }
    }
    cause_log_free(log);
}

/* Beyond the limit nothing is kept, and the log says so until it is cleared. */
static void the_limit_of_memory_holds(void **state)
{
    (void)state;
    struct cause_log *const log = cause_log_create(LPS, 1, 4 * MEBIBYTE);
    for (uint32_t i = 0; i < 100000; i++)
        add(log, 0, 1, i, i);
    assert_false(cause_log_is_whole(log));
    assert_int_equal(cause_log_bytes(log), 4 * MEBIBYTE);
    cause_log_clear(log);
    add(log, 0, 1, 1, 1);
    assert_true(cause_log_is_whole(log));
    cause_log_free(log);
}

/* The steps of a long delay come in several records. */
static void steps_are_joined(void **state)
{
    (void)state;
    struct cause_log *const log = cause_log_create(LPS, 1, 4 * MEBIBYTE);
    const uint32_t first[] = {1, 2, 3};
    const struct lp_cause cause = {.sent = {.count = 2}, .step = {4, 5}};
    assert_ptr_equal(cause_log_join(log, 0, &cause).step, cause.step);
    cause_log_more(log, 0, first, 3);
    const struct cause_steps steps = cause_log_join(log, 0, &cause);
    assert_int_equal(steps.count, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(steps.step[i], i + 1);
    assert_int_equal(cause_log_join(log, 0, &cause).count, 2);
    cause_log_free(log);
}

static void limits_become_twice_as_fast(void **state)
{
    (void)state;
    struct hw_config hw = {0};
    char text[128];
    hw.link[HW_LINK_SIP_LINK].rate = (struct hw_rate){10, 1}; /* 100 GB/s */
    hw.link[HW_LINK_UCIE].prop_ps = 41;
    hw.overhead_ps[HW_NODE_PE_MATH] = 4000;
    hw.math_cycle = (struct hw_rate){1000, 1};
    const struct explain_limit limits[] = {{.kind = EXPLAIN_RATE, .which = HW_LINK_SIP_LINK},
                                           {.kind = EXPLAIN_FLIGHT, .which = HW_LINK_UCIE},
                                           {.kind = EXPLAIN_NODE, .which = HW_NODE_PE_MATH}};
    static const char *const settings[] = {"links.sip_link.bw_gbs=200",
                                           "links.ucie.distance_mm=0 links.ucie.latency_ns=0.021",
                                           "nodes.pe_math.overhead_ns=2 nodes.pe_math.clock_ghz=2"};
    static const char *const names[] = {"the bandwidth of sip_link", "the flight time of ucie",
                                        "pe_math (overhead and work)"};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        assert_string_equal(explain_double_settings(&hw, &limits[i], text, sizeof text),
                            settings[i]);
        assert_string_equal(explain_limit_name(&limits[i], text, sizeof text), names[i]);
        explain_double(&hw, &limits[i]);
    }
    assert_int_equal(hw.link[HW_LINK_SIP_LINK].rate.den, 2);
    assert_int_equal(hw.link[HW_LINK_UCIE].prop_ps, 21);
    assert_int_equal(hw.overhead_ps[HW_NODE_PE_MATH], 2000);
    assert_int_equal(hw.math_cycle.den, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_lp_has_a_log),
        cmocka_unit_test(the_last_entry_until_a_time_is_found),
        cmocka_unit_test(questions_begin_in_the_right_block),
        cmocka_unit_test(the_limit_of_memory_holds),
        cmocka_unit_test(steps_are_joined),
        cmocka_unit_test(limits_become_twice_as_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
