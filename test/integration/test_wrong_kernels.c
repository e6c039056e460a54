/*
 * test_wrong_kernels.c: kernels that do one thing wrong each (test/plugins/wrong_kernels.c): every
 * run ends by itself, with exit code 3, and names the kernel's fault, its PE, its file and line,
 * and the legal alternatives.
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

static struct built_plugin plugin;

static int build(void **state)
{
    (void)state;
    return built_plugin_make(&plugin, "wrong_kernels");
}

static int clean(void **state)
{
    (void)state;
    return built_plugin_remove(&plugin);
}

/* Two SIPs in a ring; the shard of each rank has 4096 bytes. Returns the run's output. */
static struct run_output run_wrong(const char *name, const char *more, int exit_code)
{
    return run_line(exit_code,
                    "run --ccl %s --set system.sips.count=2 --set system.sips.topology=ring_1d "
                    "--n-elem 2048 %s",
                    built_plugin_name_symbol(&plugin, name, "ring_1d"), more);
}

/* PE 0.0.0 does something wrong. */
struct wrong {
    const char *fault, *kernel, *text;
    int line;
};

#define AT(line_) " (at test/plugins/wrong_kernels.c:" #line_ ")"
#define BETWEEN   ", between the line named here and the kernel's next call"
#define FOR_EVER                                                                                   \
    ", forever: after 65537 calls without a receive the frame is one that it had before; a "       \
    "variable that changes is a member of the frame"
#define NOT_MAPPED                                                                                 \
    ", which is not mapped there; legal: 0x10000000000 to 0x10000001000, its cube's SRAM from "    \
    "0x4000000000000000 on"
#define UNWRITTEN                                                                                  \
    "the all_reduce is over, and nothing has written the PE's 4096 bytes of the result; legal: "   \
    "at least a store, a receive or a put into them"

static const struct wrong wrongs[] = {
    {"", "calls_abort", "abort()" BETWEEN, 104},
    {"", "calls_exit", "exit()" BETWEEN, 204},
    {"IpcqInvalidDirection: ", "sends_where_no_queue_is",
     "send in direction N, which is not installed there; installed: E, W", 305},
    {"IpcqInvalidDirection: ", "sends_in_no_direction",
     "send in direction 77, which is not installed there; installed: E, W", 405},
    {"", "loads_for_ever", "load" FOR_EVER, 706},
    {"", "meets_nobody_for_ever", "barrier" FOR_EVER, 806},
    {"", "adds_beyond_tcm", "math of 18000 bytes at offset 1040000 of TCM, which has 1048576",
     1005},
    {"", "waits_without_a_call",
     "it returns TL_WAITING without an operation; a kernel waits by TL_CALL alone", 1104},
    {"", "does_nothing", UNWRITTEN, 1205},
    {"", "waits_for_a_stranger",
     "wait_notify, but the algorithm declares no peers for one-sided operations", 1305},
    {"PageFault: ", "loads_behind_its_shard",
     "load of 4096 bytes at address 0x10000001000" NOT_MAPPED, 1505},
    {"PageFault: ", "loads_from_nowhere", "load of 4096 bytes at address 0x3039" NOT_MAPPED, 1605},
    {"PageFault: ", "loads_behind_its_page",
     "load of 4096 bytes at address 0x10000010000" NOT_MAPPED, 1705},
    {"", "adds_by_no_operation", "math with operation 0; legal: 1 (sum) to 4 (prod)", 1805},
    {"PageFault: ", "stores_across_its_shard_s_end",
     "store of 4096 bytes at address 0x10000000fa0" NOT_MAPPED, 1905},
    {"", "loads_beyond_tcm", "load of 4096 bytes at offset 2000000 of TCM, which has 1048576",
     2005},
    {"", "puts_to_nobody", "put to PE 999999, which does not exist; there are 0 to 255", 2105},
    {"", "adds_nothing_received", "math with operation 0; legal: 1 (sum) to 4 (prod)", 2205},
    {"", "uses_a_tile_of_no_queue", "math of a tile of direction 0, which is not installed there",
     2305},
    {"", "loads_up_to_its_rings",
     "load of 4096 bytes at offset 983040 of the TCM of PE 0.0.0, whose receive ring of direction "
     "E is there (983040 to 1015808); legal: below 983040",
     2408},
    {"", "loads_into_a_ring",
     "load of 4096 bytes at offset 1044480 of the TCM of PE 0.0.0, whose receive ring of direction "
     "W is there (1015808 to 1048576); legal: below 983040",
     2505},
    {"", "writes_to_null", "segmentation fault at address 0x0" BETWEEN, 2604},
    {"", "spins", "no return for 2 s of processor time" BETWEEN, 2704},
    {"IpcqTileTooLarge: ", "sends_too_large_a_tile",
     "a tile of 8192 bytes does not fit in a slot of 4096 (defaults.slot_size)", 2805},
    {"", "loads_twice_in_one_call",
     "2 operations before it waits, the last of them load; each operation is one TL_CALL", 3006},
    {"", "waits_for_handle_7", "wait_dma with handle 7; there are 0 to 2", 3105},
    {"", "exchanges_empty_tiles", UNWRITTEN, 3307},
};

static void expect_wrong(const struct wrong *wrong, const char *more)
{
    char text[600];
    struct run_output output = run_wrong(wrong->kernel, more, 3);
    snprintf(text, sizeof text,
             "cubewarp run: %sPE 0.0.0, kernel %s: %s (at test/plugins/wrong_kernels.c:%d)\n",
             wrong->fault, wrong->kernel, wrong->text, wrong->line);
    assert_string_equal(output.err, text);
    run_output_free(&output);
}

static void each_run_says_what_the_kernel_did_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++)
        expect_wrong(&wrongs[i], "");
}

static void without_data_it_says_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++)
        if (strcmp(wrongs[i].kernel, "spins") != 0) /* for two seconds */
            expect_wrong(&wrongs[i], "--no-data");
}

/* A local variable has any value when the kernel is entered again: it counts for ever, or not at
 * all. Either is found. */
static void a_count_outside_of_the_frame_is_found(void **state)
{
    (void)state;
    static const char begin[] = "cubewarp run: PE 0.0.0, kernel counts_outside_of_its_frame: ";
    struct run_output output = run_wrong("counts_outside_of_its_frame", "", 3);
    assert_memory_equal(output.err, begin, sizeof begin - 1);
    assert_true(strstr(output.err, "load" FOR_EVER AT(907)) != NULL ||
                strstr(output.err, UNWRITTEN AT(908)) != NULL);
    run_output_free(&output);
}

/* A fault of two kernels together: the message begins with `text`. */
static void expect_text(const char *name, const char *more, const char *text)
{
    struct run_output output = run_wrong(name, more, 3);
    if (strncmp(output.err + strlen("cubewarp run: "), text, strlen(text)) != 0)
        fail_msg("%s\ninstead of\n%s", output.err, text);
    run_output_free(&output);
}

static void faults_of_two_kernels_name_the_lines_of_both(void **state)
{
    (void)state;
    expect_text("receives_first", "",
                "IpcqDeadlock: 2 kernels wait and nothing is left to happen: a cycle of 2: PE "
                "0.0.0 waits for data from W" AT(505) ", PE 1.0.0 waits for data from W" AT(
                    505) ", back to PE 0.0.0.");
    expect_text("leaves_a_tile", "",
                "IpcqUnreceived: all kernels have ended, and PE 1.0.0, kernel leaves_a_tile, has "
                "not received 1 tile from direction W that PE 0.0.0, kernel leaves_a_tile, sent in "
                "E" AT(605) "; PE 0.0.0, kernel leaves_a_tile, has not received 1 tile from "
                            "direction W that PE 1.0.0, kernel leaves_a_tile, sent in E" AT(605));
    expect_text("receives_on_one_side", "",
                "IpcqDeadlock: 1 kernel waits and nothing is left to happen: PE 0.0.0 waits for "
                "data from W" AT(1406) ": its peer, PE 1.0.0, has finished.");
    expect_text("sends_more_than_a_ring_holds", "",
                "IpcqDeadlock: 2 kernels wait and nothing is left to happen: a cycle of 2: PE "
                "0.0.0 waits for room in E" AT(2906) ", PE 1.0.0 waits for room in E" AT(
                    2906) ", back to PE 0.0.0.");
    expect_text("sends_half_of_what_is_received", "",
                "IpcqTypeMismatch: PE 0.0.0 received tile 0 from direction W as 4096 bytes" AT(
                    3206) ", and it was sent as 2048 bytes" AT(3205) "; both ends must name one "
                                                                     "size\n");
}

/* Under strict validation: sizes and types of tiles, and the type that a cast has given one. */
static void strict_validation_names_the_lines_of_both(void **state)
{
    (void)state;
    static const char strict[] = "--set defaults.strict_validation=true";
    static const struct wrong behind = {"PageFault: ", "loads_behind_its_shard",
                                        "load of 4096 bytes at address 0x10000001000" NOT_MAPPED,
                                        1505};
    expect_wrong(&behind, strict);
    expect_text("sends_half_of_what_is_received", strict,
                "IpcqTypeMismatch: PE 1.0.0 sent tile 0 in direction E as 2048 bytes of f16" AT(
                    3205) ", and PE 0.0.0 received it from direction W, at ");
    expect_text("sends_a_cast_as_the_launch_s_type", strict,
                "IpcqTypeMismatch: PE 0.0.0 sent tile 0 in direction E as 64 bytes of f32" AT(
                    3407) ", and PE 1.0.0 received it from direction W, at ");
}

static void what_is_no_kernel_is_refused_before_the_run(void **state)
{
    (void)state;
    static const char *const names[] = {"large", "no_such_symbol"};
    static const char *const texts[] = {
        "kernel large has a frame of 202 bytes; legal: 2 (its line) to 96 (TL_FRAME_BYTES)\n",
        "has no symbol no_such_symbol\n"};
    for (size_t i = 0; i < 2; i++) {
        struct run_output output = run_wrong(names[i], "", 2);
        if (strstr(output.err, texts[i]) == NULL)
            fail_msg("%s", output.err);
        run_output_free(&output);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_run_says_what_the_kernel_did_wrong),
        cmocka_unit_test(without_data_it_says_the_same),
        cmocka_unit_test(a_count_outside_of_the_frame_is_found),
        cmocka_unit_test(faults_of_two_kernels_name_the_lines_of_both),
        cmocka_unit_test(strict_validation_names_the_lines_of_both),
        cmocka_unit_test(what_is_no_kernel_is_refused_before_the_run),
    };
    return cmocka_run_group_tests_name("wrong_kernels", tests, build, clean);
}
