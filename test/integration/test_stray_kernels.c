/*
 * test_stray_kernels.c: kernels that would end the program, hang it, or call the kernel API wrongly
 * (test/plugins/stray_kernels.c): each run ends by itself with exit code 3, and names PE, kernel,
 * file and line (lp/QUEUES.md, "Failures").
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/built_plugin.h"
#include "test/support/run_cubewarp.h"
#include "test/support/sanitized.h"

BUILT_PLUGIN("stray_kernels")

/* Runs the kernel on 2 x 2 cubes. The message is that of PE 0.0.0, with this fault and line. */
static void expect_stray(const char *name, const char *more, const char *fault, int line)
{
    char begin[100], end[100];
    struct run_output output = run_line(3, "run --preset tiny --ccl %s %s",
                                        built_plugin_name_symbol(&plugin, name, "none"), more);
    snprintf(begin, sizeof begin, "cubewarp run: PE 0.0.0, kernel %s: ", name);
    snprintf(end, sizeof end, "stray_kernels.c:%d)\n", line);
    const size_t length = strlen(output.err), end_length = strlen(end);
    if (strncmp(output.err, begin, strlen(begin)) != 0 || strstr(output.err, fault) == NULL ||
        length < end_length || strcmp(output.err + length - end_length, end) != 0)
        fail_msg("%s %s: not there: %s ... %s ... %s\nstandard error: %s", name, more, begin, fault,
                 end, output.err);
    run_output_free(&output);
}

/* In the other modes the kernel may go astray speculatively first: nothing is said of that. */
static void expect_stray_in_all_modes(const char *name, const char *fault, int line)
{
    expect_stray(name, "", fault, line);
    expect_stray(name, "--threads 2 --partition block", fault, line);
    expect_stray(name, "--sync optimistic", fault, line);
    expect_stray(name, "--sync stress --no-data", fault, line);
}

#define NEXT ", between the line named here and the kernel's next call"

static void a_fault_names_the_last_line_before_it(void **state)
{
    (void)state;
    expect_stray_in_all_modes("writes_to_null", "segmentation fault at address 0x0" NEXT, 104);
    expect_stray("recurses_for_ever", "", "segmentation fault at address 0x", 354);
#ifdef __x86_64__ /* elsewhere a division by zero is no fault */
    expect_stray("divides_by_zero", "", "arithmetic fault" NEXT, 203);
#endif
}

static void a_kernel_does_not_end_the_program(void **state)
{
    (void)state;
    expect_stray_in_all_modes("aborts", "abort()" NEXT, 403);
    expect_stray_in_all_modes("exits", "exit()" NEXT, 503);
}

static void a_kernel_that_does_not_return_is_stopped(void **state)
{
    (void)state;
    expect_stray("spins", "", "no return for 2 s of processor time" NEXT, 604);
}

static void operations_and_calls_go_together(void **state)
{
    (void)state;
    expect_stray_in_all_modes("waits_for_nothing", "it returns TL_WAITING without an operation",
                              704);
    expect_stray_in_all_modes(
        "loads_outside_a_call",
        "2 operations before it waits, the last of them load; each operation is one TL_CALL", 805);
    expect_stray_in_all_modes("ends_behind_a_load",
                              "it ends after an operation, load, that is in no TL_CALL", 905);
}

static void a_kernel_that_repeats_itself_is_found(void **state)
{
    (void)state;
    const char *const again = "without a receive the frame is one that it had before";
    expect_stray_in_all_modes("loads_for_ever", again, 1005);
    expect_stray("loads_in_turn_for_ever", "", again, 1106);
    expect_stray_in_all_modes("adds_for_ever", again, 1205);
    expect_stray("adds_for_ever", "--no-data", again, 1205);
    expect_stray("barriers_for_ever", "", again, 1305);
    expect_stray("counts_outside_the_frame", "", again, 1406);
}

static void a_kernel_that_takes_no_time_is_found(void **state)
{
    (void)state;
    if (sanitized)
        skip(); /* millions of calls that are alike */
    expect_stray("counts_barriers_for_ever", "--set nodes.pe_cpu.overhead_ns=0",
                 "it continues without simulated time passing, by 16777216 calls and more", 1705);
}

static void expect_overrun(const char *more, const char *fault, bool kernels)
{
    struct run_output output =
        run_line(3, "run --preset tiny --ccl %s %s",
                 built_plugin_name_symbol(&plugin, "counts_for_ever", "none"), more);
    if (strstr(output.err, fault) == NULL ||
        (kernels && strstr(output.err, "stray_kernels.c:1505)") == NULL))
        fail_msg("%s: not there: %s\nstandard error: %s", more, fault, output.err);
    run_output_free(&output);
}

static void simulated_time_may_be_limited(void **state)
{
    (void)state;
    static const char fault[] = "cubewarp run: not over at 100000.000 ns, the limit of simulated "
                                "time, while 4 kernels run: "
                                "PE 0.0.0, kernel counts_for_ever (at ";
    expect_overrun("--max-sim-time 100us", fault, true);
    expect_overrun("--max-sim-time 100us --threads 2 --partition block", fault, true);
    expect_overrun("--max-sim-time 100us --sync optimistic --no-data", fault, true);
    json_t *const free_run = run_json("run --preset tiny --n-elem 64");
    json_t *const limited = run_json("run --preset tiny --n-elem 64 --max-sim-time 1s");
    assert_true(json_ps(free_run, "time_ns") == json_ps(limited, "time_ns"));
    json_decref(free_run);
    json_decref(limited);
}

static void the_number_of_events_may_be_limited(void **state)
{
    (void)state;
    static const char fault[] =
        "cubewarp run: more than 500 events, the most that this run may handle";
    expect_overrun("--max-events 500 --no-data", fault, true);
    expect_overrun("--max-events 500 --no-data --threads 2 --partition block", fault, false);
    /* without a window it speculates millions of events ahead */
    expect_overrun("--max-events 500 --no-data --sync optimistic --window 1000", fault, false);
}

/* More private work than one event has room for, and more records. */
static void much_private_work_is_no_fault(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "run --preset tiny --set fabric.contention=none --ccl %s",
                 built_plugin_name_symbol(&plugin, "counts_long", "none"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_names_the_last_line_before_it),
        cmocka_unit_test(a_kernel_does_not_end_the_program),
        cmocka_unit_test(a_kernel_that_does_not_return_is_stopped),
        cmocka_unit_test(operations_and_calls_go_together),
        cmocka_unit_test(a_kernel_that_repeats_itself_is_found),
        cmocka_unit_test(a_kernel_that_takes_no_time_is_found),
        cmocka_unit_test(simulated_time_may_be_limited),
        cmocka_unit_test(the_number_of_events_may_be_limited),
        cmocka_unit_test(much_private_work_is_no_fault),
    };
    return cmocka_run_group_tests_name("stray kernels", tests, build, clean);
}
