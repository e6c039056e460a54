/*
 * test_shortcuts.c: --fold, --repeat and --replay as a user meets them: what refuses them, and that
 * the environment switches them off.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

static void expect_refusal(const char *line, const char *why)
{
    struct run_output output = run_line(2, "%s", line);
    if (strstr(output.err, why) == NULL)
        fail_msg("%s: %s", line, output.err);
    assert_string_equal(output.out, "");
    run_output_free(&output);
}

static void what_needs_all_events_refuses_on(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"run --fold on", "--fold on: each rank has values of its own: give --no-data"},
        {"run --repeat on", "--repeat on: each rank has values of its own: give --no-data"},
        {"run --fold on --no-data --explain", "--fold on: --explain follows all events"},
        {"run --repeat on --no-data --trace t.json", "--repeat on: --trace shows all kernels"},
        {"run --fold on --no-data --ccl-trace t", "--fold on: --ccl-trace has all tiles"},
        {"run --fold on --no-data --engine-log t", "--fold on: --engine-log measures the engine"},
        {"run --fold on --no-data --engine-trace t", "--fold on: --engine-trace measures"},
        {"run --fold on --no-data --dump-pointers", "--fold on: --dump-pointers prints all queues"},
        {"run --fold on --no-data --set jitter.links.ucie.distribution=uniform --set "
         "jitter.links.ucie.mean_ns=1 --set jitter.links.ucie.spread_ns=1",
         "--fold on: jitter is drawn for each operation"},
        {"run --fold on --bench ipcq_pingpong --no-data", "--fold on: the bench launches kernels"},
        {"run --replay on --no-data", "--replay does nothing in the bench ccl_allreduce"},
        {"run --fold maybe", "--fold 'maybe': expected auto, on or off"},
        {"verify --fold on", "unknown option '--fold'"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_refusal(lines[i][0], lines[i][1]);
}

static void the_environment_switches_all_off(void **state)
{
    (void)state;
    assert_int_equal(setenv("CUBEWARP_SHORTCUTS", "off", 1), 0);
    expect_refusal("run --no-data --fold on",
                   "--fold on: CUBEWARP_SHORTCUTS=off in the environment");
    assert_int_equal(setenv("CUBEWARP_SHORTCUTS", "perhaps", 1), 0);
    expect_refusal("run --no-data", "CUBEWARP_SHORTCUTS=perhaps: expected true, yes, on or 1");
    assert_int_equal(unsetenv("CUBEWARP_SHORTCUTS"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_needs_all_events_refuses_on),
                                       cmocka_unit_test(the_environment_switches_all_off)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
