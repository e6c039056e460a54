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
    const uint32_t step[LP_STEPS_AT_ONCE] = {number, number + 1};
    const struct lp_sent sent = {
        .at_ps = now_ps + 10, .entity = 9, .number = number, .to_lp = lp, .count = 2};
    cause_log_add(log, worker, &event, &sent, step);
}

/* An LP's entries come in their order, although workers write those of several LPs. */
static void each_lp_has_a_log(void **state)
{
    (void)state;
    struct cause_log *const log = cause_log_create(LPS, 2, false, 64 * MEBIBYTE);
    assert_non_null(log);
    assert_int_equal(cause_log_until(log, 1, INT64_MAX).place, 0);
    for (uint32_t i = 0; i < 100000; i++)
        add(log, i % 2, i % 2 == 0 ? 0 : 1 + i / 2 % 2, 5 * (int64_t)i, i);
    assert_true(cause_log_is_whole(log));
    struct lp_cause_entry entry = cause_log_until(log, 2, INT64_MAX);
    uint32_t count = 0;
    for (uint32_t i = 99999; entry.place != 0; i -= 4, entry = cause_log_before(log, 2, &entry)) {
        assert_int_equal(entry.number, i);
        assert_int_equal(entry.now_ps, 5 * (int64_t)i);
        assert_int_equal(entry.step[1], i + 1);
        count++;
    }
    assert_int_equal(count, 25000);
    cause_log_free(log);
}

/* Falling times, and a time that is later than the one before. */
static void the_last_entry_until_a_time_is_found(void **state)
{
    (void)state;
    struct cause_log *const log = cause_log_create(LPS, 1, true, 64 * MEBIBYTE);
    for (uint32_t i = 1; i <= 10; i++)
        add(log, 0, 1, 10 * (int64_t)i, i);
    assert_int_equal(cause_log_until(log, 1, 85).number, 8);
    assert_int_equal(cause_log_until(log, 1, 30).number, 3);
    assert_int_equal(cause_log_until(log, 1, 99).number, 9);
    assert_int_equal(cause_log_until(log, 1, 9).place, 0);
    assert_int_equal(cause_log_until(log, 1, 100).number, 10);
    assert_int_equal(cause_log_until(log, LPS, 100).place, 0);
    cause_log_clear(log, NULL);
    assert_int_equal(cause_log_until(log, 1, 100).place, 0);
    add(log, 0, 1, 7, 1);
    assert_int_equal(cause_log_until(log, 1, 100).number, 1);
    cause_log_free(log);
}

/* A question for any time finds the same entry in a log of many blocks as a search of all of it. */
static void questions_begin_in_the_right_block(void **state)
{
    (void)state;
    enum { ENTRIES = 20000 };
    struct cause_log *const log = cause_log_create(LPS, 1, true, 64 * MEBIBYTE);
    for (uint32_t round = 0; round < 2; round++) {
        cause_log_clear(log, NULL);
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
            const struct lp_cause_entry found = cause_log_until(log, lp, until_ps);
            if (number < 0)
                assert_int_equal(found.place, 0);
            else
                assert_int_equal(found.number, number);
        }
    }
    cause_log_free(log);
}

/* Beyond the limit nothing is kept, and the log says so until it is cleared. */
static void the_limit_of_memory_holds(void **state)
{
    (void)state;
    struct cause_log *const log = cause_log_create(LPS, 1, true, 4 * MEBIBYTE);
    for (uint32_t i = 0; i < 200000; i++)
        add(log, 0, 1, i, i);
    assert_false(cause_log_is_whole(log));
    assert_int_equal(cause_log_bytes(log), 4 * MEBIBYTE);
    cause_log_clear(log, NULL);
    add(log, 0, 1, 1, 1);
    assert_true(cause_log_is_whole(log));
    cause_log_free(log);
}

/* An event and the one that it sent: fields that are the same as another one, left out, or too long
 * for their word, in all combinations. */
enum { COMBINATIONS = 5 * 3 * 64, STEPS = 40 };
static void make_sent(uint32_t i, struct cw_event *event, struct lp_sent *sent)
{
    static const int64_t times_ps[] = {0, 5, INT64_C(3) << 30, INT64_C(1) << 40, 7};
    static const int64_t delays_ps[] = {0, UINT32_MAX, INT64_C(1) << 33};
    *event = (struct cw_event){.time_ps = times_ps[i / 192],
                               .lp = 1,
                               .entity = i & 1 ? 7 : 8,
                               .number = i & 2 ? 5 : 6,
                               .type = 13};
    *sent = (struct lp_sent){.at_ps = event->time_ps + delays_ps[i / 64 % 3],
                             .entity = 7,
                             .number = 5,
                             .to_lp = i & 4 ? 1 : 2,
                             .bytes = i & 8 ? 4096 : 0,
                             .sigma_ps = i & 16 ? UINT32_MAX : 0,
                             .type = i & 1,
                             .context = 15,
                             .count = i & 32 ? STEPS : i % 10};
}

static void entries_come_back_as_they_were(void **state)
{
    (void)state;
    struct cause_log *const log = cause_log_create(LPS, 1, true, 4 * MEBIBYTE);
    uint32_t steps[STEPS];
    struct cw_event event;
    struct lp_sent sent;
    for (uint32_t i = 0; i < STEPS; i++)
        steps[i] = 1000 + i;
    for (uint32_t i = 0; i < COMBINATIONS; i++) {
        make_sent(i, &event, &sent);
        cause_log_add(log, 0, &event, &sent, steps);
    }
    struct lp_cause_entry entry = cause_log_until(log, 1, INT64_MAX);
    for (uint32_t i = COMBINATIONS; i-- > 0; entry = cause_log_before(log, 1, &entry)) {
        make_sent(i, &event, &sent);
        assert_true(entry.now_ps == event.time_ps && entry.at_ps == sent.at_ps);
        assert_true(entry.by_entity == event.entity && entry.by_number == event.number);
        assert_true(entry.entity == sent.entity && entry.number == sent.number);
        assert_true(entry.by_type == event.type && entry.type == sent.type);
        assert_true(entry.bytes == sent.bytes && entry.sigma_ps == sent.sigma_ps);
        assert_true(entry.to_lp == sent.to_lp && entry.context == sent.context);
        assert_int_equal(entry.steps, sent.count);
        assert_memory_equal(entry.step, steps, sent.count * sizeof *steps);
    }
    assert_int_equal(entry.place, 0);
    cause_log_free(log);
}

/* The steps of a long delay come in several records. */
static void steps_are_joined(void **state)
{
    (void)state;
    struct cause_log *const log = cause_log_create(LPS, 1, true, 4 * MEBIBYTE);
    const uint32_t first[] = {1, 2, 3};
    const struct lp_cause cause = {.sent = {.number = 9, .count = 2}, .step = {4, 5}};
    struct lp_sent sent;
    assert_int_equal(cause_log_join(log, 0, &cause, &sent)[1], 5);
    assert_int_equal(sent.count, 2);
    cause_log_more(log, 0, first, 3);
    const uint32_t *const steps = cause_log_join(log, 0, &cause, &sent);
    assert_int_equal(sent.count, 5);
    assert_int_equal(sent.number, 9);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(steps[i], i + 1);
    (void)cause_log_join(log, 0, &cause, &sent);
    assert_int_equal(sent.count, 2);
    cause_log_free(log);
}

static void limits_become_twice_as_fast(void **state)
{
    (void)state;
    struct hw_config hw = {0};
    hw.link[HW_LINK_SIP_LINK].rate = (struct hw_rate){10, 1}; /* 100 GB/s */
    hw.link[HW_LINK_UCIE].prop_ps = 41;
    hw.overhead_ps[HW_NODE_PE_MATH] = 4000;
    hw.math_cycle = (struct hw_rate){1000, 1};
    const int64_t no_slow_ps[HW_PART_KINDS] = {0};
    struct hw_faults faults = {0};
    struct explain_limit limits[] = {{.kind = EXPLAIN_RATE, .which = HW_LINK_SIP_LINK},
                                     {.kind = EXPLAIN_FLIGHT, .which = HW_LINK_UCIE},
                                     {.kind = EXPLAIN_NODE, .which = HW_NODE_PE_MATH}};
    static const char *const settings[] = {"links.sip_link.bw_gbs=200",
                                           "links.ucie.distance_mm=0 links.ucie.latency_ns=0.021",
                                           "nodes.pe_math.overhead_ns=2 nodes.pe_math.clock_ghz=2"};
    static const char *const names[] = {"the bandwidth of sip_link", "the flight time of ucie",
                                        "pe_math (overhead and work)"};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        explain_double_settings(&hw, &limits[i]);
        explain_name_limit(&hw, no_slow_ps, &limits[i]);
        assert_string_equal(limits[i].settings, settings[i]);
        assert_string_equal(limits[i].name, names[i]);
        assert_string_equal(limits[i].slow, "");
        explain_double(&hw, &faults, &limits[i]);
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
        cmocka_unit_test(entries_come_back_as_they_were),
        cmocka_unit_test(steps_are_joined),
        cmocka_unit_test(limits_become_twice_as_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
