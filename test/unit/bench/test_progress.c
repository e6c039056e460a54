/*
 * test_progress.c: how many events a size is expected to have, from the sizes before it; and how a
 * time that is left is written.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/output/progress.h"

static void assert_near(double value, double expected)
{
    assert_true(fabs(value - expected) < 1e-6 * expected + 1e-9);
}

static void one_size_is_proportional_two_are_a_line(void **state)
{
    (void)state;
    struct event_estimate estimate = {.known = 0};
    assert_near(event_estimate_of(&estimate, 8), 0);
    event_estimate_note(&estimate, 2, 1000);
    assert_near(event_estimate_of(&estimate, 2), 1000);
    assert_near(event_estimate_of(&estimate, 8), 4000);
    event_estimate_note(&estimate, 4, 1600); /* 400 + 300 x tiles */
    assert_near(event_estimate_of(&estimate, 8), 2800);
    event_estimate_note(&estimate, 8, 2800);
    assert_near(event_estimate_of(&estimate, 16), 5200);
}

/* Sizes of as many tiles, and sizes that need fewer events, as where another algorithm is taken. */
static void no_line_goes_through_nothing(void **state)
{
    (void)state;
    struct event_estimate estimate = {.known = 0};
    event_estimate_note(&estimate, 1, 1000);
    event_estimate_note(&estimate, 1, 1200);
    assert_int_equal(estimate.known, 1);
    assert_near(event_estimate_of(&estimate, 2), 2400);
    event_estimate_note(&estimate, 4, 600);
    assert_near(event_estimate_of(&estimate, 8), 1200);
}

static void a_time_that_is_left_has_one_unit(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } times[] = {{0, "0 s"},        {59.6, "60 s"},      {99.4, "99 s"},
                 {100, "2 min"},    {5900, "98 min"},    {7200, "2.0 h"},
                 {86400, "24.0 h"}, {864000, "10 days"}, {1e30, "41666667 days"}};
    char text[PROGRESS_ETA_BYTES];
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_string_equal(progress_eta(times[i].seconds, text), times[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_size_is_proportional_two_are_a_line),
        cmocka_unit_test(no_line_goes_through_nothing),
        cmocka_unit_test(a_time_that_is_left_has_one_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
