/*
 * test_failures.c: how a run ends whose program fails (QUEUES.md, "Failures"; DECISIONS.md): exit
 * code, message and hint as a user sees them, with kernels from a shared object that is built here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/built_plugin.h"
#include "test/support/run_cubewarp.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

BUILT_PLUGIN("broken_kernels")

/* Runs kernel `name` on 2 x 2 cubes; the message on standard error has these parts. */
static void expect_failure(const char *name, const char *more, const char *const *parts,
                           size_t count)
{
    struct run_output output = run_line(3, "run --preset tiny --ccl %s %s",
                                        built_plugin_name_symbol(&plugin, name, "none"), more);
    for (size_t i = 0; i < count; i++)
        if (strstr(output.err, parts[i]) == NULL)
            fail_msg("%s: not there: %s\nstandard error: %s", name, parts[i], output.err);
    run_output_free(&output);
}
#define EXPECT_FAILURE(name, more, ...)                                                            \
    expect_failure(name, more, (const char *const[]){__VA_ARGS__},                                 \
                   COUNT_OF(((const char *const[]){__VA_ARGS__})))

static void a_direction_that_is_not_installed(void **state)
{
    (void)state;
    EXPECT_FAILURE("wrong_direction", "",
                   "IpcqInvalidDirection: PE 0.0.0, kernel wrong_direction: send in direction "
                   "global_E, which is not installed there; installed: S, E, intra_S, intra_E (at "
                   "test/plugins/broken_kernels.c:19)\n");
}

/* Four ranks wait for the machine, and one has drained it. */
static void a_failure_of_the_machine_names_no_rank(void **state)
{
    (void)state;
    struct run_output output =
        run_line(3, "run --ccl %s", built_plugin_name_symbol(&plugin, "too_large", "none"));
    const char text[] =
        "cubewarp run: IpcqTileTooLarge: PE 0.0.0, kernel too_large: a tile of 4098 "
        "bytes does not fit in a slot of 4096 (defaults.slot_size) (at "
        "test/plugins/broken_kernels.c:";
    assert_memory_equal(output.err, text, sizeof text - 1);
    assert_ptr_equal(strchr(output.err, '\n'), output.err + strlen(output.err) - 1);
    run_output_free(&output);
}

static void a_loaded_algorithm_of_another_collective(void **state)
{
    (void)state;
    const char *const ccl = built_plugin_name_symbol(&plugin, "wrong_direction", "none");
    struct run_output named =
        run_line(2, "run --preset tiny --ccl %s --bench ccl_all_gather --algorithm built", ccl);
    if (strstr(named.err, "--algorithm built: built does all_reduce, and ccl_all_gather is a bench "
                          "of all_gather, for which there are: ") == NULL)
        fail_msg("%s", named.err);
    run_output_free(&named);
    json_t *root = run_json("run --preset tiny --ccl %s --bench ccl_all_gather", ccl);
    assert_string_equal(json_string_value(json_object_get(root, "algorithm")), "ring_all_gather");
    json_decref(root);
}

static void a_tile_of_another_size_than_its_receive(void **state)
{
    (void)state;
    EXPECT_FAILURE("wrong_size", "--set defaults.strict_validation=true",
                   "IpcqTypeMismatch: PE 0.0.0 sent tile 0 in direction E as 16 bytes of f16 (at "
                   "test/plugins/broken_kernels.c:29), and PE 0.1.0 received it from direction W, "
                   "at ",
                   " ns, as 8 bytes of f16 (at test/plugins/broken_kernels.c:31); both ends must "
                   "name one type and one shape\n");
    EXPECT_FAILURE("wrong_size", "--threads 2",
                   "IpcqTypeMismatch: PE 0.1.0 received tile 0 from direction W as 8 bytes (at "
                   "test/plugins/broken_kernels.c:31), and it was sent as 16 bytes (at "
                   "test/plugins/broken_kernels.c:29); both ends must name one size\n");
    EXPECT_FAILURE("wrong_size", "--no-data", /* there it is looked for only where asked */
                   "nothing has written the PE's");
}

#define LINE_41 " (at test/plugins/broken_kernels.c:41)"

static void a_tile_of_another_type_or_shape_than_its_receive(void **state)
{
    (void)state;
    EXPECT_FAILURE("wrong_type", "--set defaults.strict_validation=true",
                   "IpcqTypeMismatch: PE 0.0.0 sent tile 0 in direction E as 32 bytes of f32 "
                   "(4 x 2) (at test/plugins/broken_kernels.c:",
                   "), and PE 0.1.0 received it from direction W, at ",
                   " ns, as 32 bytes of f16 (at test/plugins/broken_kernels.c:",
                   "); both ends must name one type and one shape (or set");
    EXPECT_FAILURE("wrong_shape", "--set defaults.strict_validation=true --no-data", "(4 x 2) (at ",
                   " ns, as 32 bytes of f32 (2 x 4) (at ");
    struct run_output output =
        run_line(0, "run --preset tiny --ccl %s --set defaults.strict_validation=true",
                 built_plugin_name_symbol(&plugin, "right_shape", "none"));
    run_output_free(&output);
}

static void a_circle_of_receives(void **state)
{
    (void)state;
    EXPECT_FAILURE(
        "everybody_receives", "",
        "cubewarp run: IpcqDeadlock: 4 kernels wait and nothing is left to happen: a cycle of 4: "
        "PE 0.0.0 waits for data from E" LINE_41 ", PE 0.1.0 waits for data from S" LINE_41
        ", PE 0.3.0 waits for data from W" LINE_41 ", PE 0.2.0 waits for data from N" LINE_41
        ", back to PE 0.0.0. Each send needs a receive on the other "
        "side, in the opposite direction\n",
        "\n0.0.0 E my_head=0 my_tail=0 peer_head_cache=0 peer_tail_cache=0\n",
        "\n0.2.0 N my_head=0 my_tail=0 peer_head_cache=0 peer_tail_cache=0\n");
}

static void a_ring_that_nobody_empties(void **state)
{
    (void)state;
    EXPECT_FAILURE("nobody_receives", "",
                   "IpcqDeadlock: 1 kernel waits and nothing is left to happen: PE 0.0.0 waits for "
                   "room in E (at test/plugins/broken_kernels.c:51): its peer, PE 0.1.0, has "
                   "finished. Each send needs a receive",
                   "\n0.0.0 E my_head=8 my_tail=0 peer_head_cache=0 peer_tail_cache=0\n",
                   "\n0.1.0 W my_head=0 my_tail=0 peer_head_cache=8 peer_tail_cache=0\n");
}

/* With every call, so that the next one does not take the tile for its own. */
static void a_tile_that_nobody_receives(void **state)
{
    (void)state;
    static const char *const more[] = {"", "--iters 3", "--no-data", "--threads 2",
                                       "--set defaults.strict_validation=true"};
    for (size_t i = 0; i < COUNT_OF(more); i++)
        EXPECT_FAILURE(
            "leaves_a_tile", more[i],
            "IpcqUnreceived: all kernels have ended, and PE 0.1.0, kernel "
            "leaves_a_tile, has not received 1 tile from direction W that PE 0.0.0, "
            "kernel leaves_a_tile, sent in E (at test/plugins/broken_kernels.c:61). Each send "
            "needs a receive");
}

static void a_tile_larger_than_its_slot(void **state)
{
    (void)state;
    EXPECT_FAILURE("too_large", "--set defaults.slot_size=256",
                   "IpcqTileTooLarge: PE 0.0.0, kernel too_large: a tile of 258 bytes does not fit "
                   "in a slot of 256 (defaults.slot_size)");
}

static void an_address_that_is_not_mapped(void **state)
{
    (void)state;
    EXPECT_FAILURE("null_pointer", "",
                   "PageFault: PE 0.0.0, kernel null_pointer: load of 16 bytes at "
                   "address 0x0, which is not mapped there");
}

#define AT "PE 0.0.0, kernel "

static void an_illegal_value_in_a_call_is_the_kernels_fault(void **state)
{
    (void)state;
    EXPECT_FAILURE("notify_tag", "", AT "notify_tag: notify with tag 4; there are 0 to 3");
    EXPECT_FAILURE("wait_notify_tag", "", AT "wait_notify_tag: wait_notify with tag 77; there are");
    EXPECT_FAILURE("put_operation", "",
                   AT "put_operation: put with operation 5; legal: 1 (sum) to 4 (prod)");
    EXPECT_FAILURE("store_to_peer", "",
                   AT "store_to_peer: store_to PE 1073741824, which does not exist");
    EXPECT_FAILURE("math_operation", "",
                   AT "math_operation: math with operation 0; legal: 1 (sum) to 4 (prod)");
    EXPECT_FAILURE("math_range", "", AT "math_range: math of 16 bytes at offset 1073741824 of TCM");
    EXPECT_FAILURE("cast_from", "", AT "cast_from: cast from type 9; legal: 1 (f16) to 8 (int32)");
    EXPECT_FAILURE("cast_to", "", AT "cast_to: cast to type 0; legal: 1 (f16) to 8 (int32)");
    EXPECT_FAILURE("dot_no_rows", "", AT "dot_no_rows: dot of 0 x 8 elements, inner dimension 8");
    EXPECT_FAILURE("dot_many_rows", "", AT "dot_many_rows: dot of 2147483648 x 2 elements");
    EXPECT_FAILURE("dot_range", "", AT "dot_range: dot of 2199023255552 bytes at offset 0 of TCM");
    EXPECT_FAILURE("received_from", "", AT "received_from: received_from direction ",
                   "which is not installed there");
    static const char *const more[] = {"", "--no-data"};
    for (size_t i = 0; i < COUNT_OF(more); i++) {
        EXPECT_FAILURE("load_range", more[i],
                       AT "load_range: load of 16 bytes at offset 1073741824 of TCM");
        EXPECT_FAILURE("send_range", more[i],
                       AT "send_range: send of 16 bytes at offset 1073741824 of TCM");
        EXPECT_FAILURE("into_range", more[i],
                       AT "into_range: recv_into of 16 bytes at offset 1073741824 of SRAM");
    }
}

static void a_receive_that_is_not_waited_for_names_its_line(void **state)
{
    (void)state;
    EXPECT_FAILURE("never_waited", "--no-data",
                   AT "never_waited ends without having waited for its receive of tile 0 of "
                      "direction E (wait); its latest recv_async is (at "
                      "test/plugins/broken_kernels.c:");
    EXPECT_FAILURE("waits_for_nothing", "--no-data",
                   AT "waits_for_nothing: wait for a receive that no recv_async has begun (at "
                      "test/plugins/broken_kernels.c:");
}

static void an_algorithm_that_does_too_little_is_not_our_bug(void **state)
{
    (void)state;
    EXPECT_FAILURE("stores_alone", "--bytes 64KiB", "below its lower bound",
                   "does less than its collective needs");
}

/* A result that nothing has written is no result, however long the kernel took. */
static void a_result_that_nothing_has_written_is_named(void **state)
{
    (void)state;
    static const char text[] = ": the all_reduce is over, and nothing has written the PE's 65536 "
                               "bytes of the result; legal: at least a store, a receive or a put "
                               "into them";
    char whole[400];
    snprintf(whole, sizeof whole, "PE 0.0.0, kernel nothing%s\n", text);
    EXPECT_FAILURE("nothing", "--bytes 64KiB --no-data", whole);
    snprintf(whole, sizeof whole,
             "PE 0.0.0, kernel load_alone%s (at test/plugins/broken_kernels.c:", text);
    EXPECT_FAILURE("load_alone", "--bytes 64KiB --threads 2", whole);
}

/* F4: before anything runs, with the place of the name. */
static void expect_refusal(const char *module, const char *text)
{
    struct run_output output = run_line(2, "run --preset tiny --ccl %s",
                                        built_plugin_name_module(&plugin, module, "none"));
    if (strstr(output.err, "ccl.yaml:5:13: ") == NULL || strstr(output.err, text) == NULL)
        fail_msg("%s: not there: %s\nstandard error: %s", module, text, output.err);
    run_output_free(&output);
}

static void a_module_that_cannot_be_loaded(void **state)
{
    (void)state;
    char module[200];
    expect_refusal("no_such_allreduce", "there are: ");
    expect_refusal("./no_such_file.so:kernel", "no_such_file.so: cannot open shared object file");
    snprintf(module, sizeof module, "%s:no_such_symbol", plugin.path);
    expect_refusal(module, "has no symbol no_such_symbol");
    snprintf(module, sizeof module, "%s/ccl.yaml:kernel", plugin.folder);
    expect_refusal(module, "ccl.yaml");
}

static void refuse_symbol(const char *symbol, const char *text)
{
    char module[200];
    snprintf(module, sizeof module, "%s:%s", plugin.path, symbol);
    expect_refusal(module, text);
}

static void a_kernel_beyond_its_limits_is_refused(void **state)
{
    (void)state;
    refuse_symbol("large_frame", "kernel large_frame has a frame of 98 bytes; legal: 2 (its line) "
                                 "to 96 (TL_FRAME_BYTES)");
    refuse_symbol("frame_just_too_large", "a frame of 97 bytes");
    refuse_symbol("no_frame", "a frame of 0 bytes");
    refuse_symbol("no_function", "kernel no_function has no function to run: its `run` is NULL");
    refuse_symbol("many_streams", "kernel many_streams has 4 streams; legal: 0 to 3");
    refuse_symbol("no_stream", "kernel no_stream has 1 streams, and no function of stream 0");
    refuse_symbol("no_phases", "kernel no_phases has 1 phases, and no names of them");
    refuse_symbol("no_kernel", "no_kernel has no kernel");
    refuse_symbol("no_name", "no_name has no name");
    refuse_symbol("no_collective", "has no collective that there is");
    struct run_output output =
        run_line(0, "run --preset tiny --set fabric.contention=none --ccl %s",
                 built_plugin_name_symbol(&plugin, "frame_just_right", "none"));
    run_output_free(&output);
}

static void a_check_that_says_nothing_is_named(void **state)
{
    (void)state;
    refuse_symbol("silent", "silent refuses this call, and does not say why (its check())");
}

static void a_symbol_that_is_no_algorithm_is_refused(void **state)
{
    (void)state;
    refuse_symbol("a_function", ":a_function is a function; a struct ccl_algorithm is wanted");
    refuse_symbol("small_object", ":small_object is an object of 4 bytes; a struct ccl_algorithm "
                                  "is wanted, which has ");
    refuse_symbol("of_a_thread", ":of_a_thread is no object; a struct ccl_algorithm is wanted");
}

static json_t *json_in(const char *folder, const char *name)
{
    char path[200];
    json_error_t error;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    json_t *const root = json_load_file(path, 0, &error);
    if (root == NULL)
        fail_msg("%s: %s", path, error.text);
    return root;
}

static const char *string_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* Four instant events, each with the wait of its PE. */
static void expect_waits_in_trace(const json_t *trace)
{
    size_t i, instants = 0;
    json_t *event;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, event)
    {
        if (strcmp(string_of(event, "ph"), "i") != 0)
            continue;
        assert_memory_equal(string_of(event, "name"), "waits for data from ", 20);
        assert_string_equal(string_of(json_object_get(event, "args"), "kernel"),
                            "everybody_receives");
        assert_true(json_real_value(json_object_get(event, "ts")) > 0);
        instants++;
    }
    assert_int_equal(instants, 4);
}

static void expect_failure_in_json(const json_t *root)
{
    const json_t *const error = json_object_get(root, "error");
    const json_t *const waiting = json_object_get(error, "waiting");
    assert_int_equal(json_integer_value(json_object_get(error, "exit_code")), 3);
    assert_memory_equal(string_of(error, "message"), "IpcqDeadlock: 4 kernels wait", 28);
    assert_int_equal(json_array_size(waiting), 4);
    const json_t *const first = json_array_get(waiting, 0);
    assert_string_equal(string_of(first, "pe"), "0.0.0");
    assert_string_equal(string_of(first, "kernel"), "everybody_receives");
    assert_memory_equal(string_of(first, "state"), "waits for data from E (at test/plugins/", 39);
    assert_int_equal(json_array_size(json_object_get(error, "pointers")), 4);
    assert_int_equal(json_array_size(json_object_get(root, "results")), 0);
}

/* On one thread and on two the logs are the same. */
static void the_logs_of_a_run_that_fails_end_with_the_failure(void **state)
{
    (void)state;
    static const char *const modes[] = {"", "--threads 2 --partition block"};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        const char *const at = plugin.folder;
        struct run_output output = run_line(
            3,
            "run --preset tiny --ccl %s %s --json %s/j --trace %s/t --ccl-trace %s/c --op-log %s/o",
            built_plugin_name_symbol(&plugin, "everybody_receives", "none"), modes[i], at, at, at,
            at);
        run_output_free(&output);
        json_t *const result = json_in(at, "j"), *const trace = json_in(at, "t");
        expect_failure_in_json(result);
        expect_waits_in_trace(trace);
        json_decref(result);
        json_decref(trace);
        char path[200], line[200] = "";
        snprintf(path, sizeof path, "%s/c", at);
        FILE *const ccl_trace = fopen(path, "r");
        assert_non_null(ccl_trace);
        assert_non_null(fgets(line, sizeof line, ccl_trace));
        assert_int_equal(fclose(ccl_trace), 0);
        assert_memory_equal(line, "rank 0, t ", 10);
        assert_non_null(strstr(line, " ns, waits for data from E (at test/plugins/"));
        assert_non_null(strstr(line, "), PE 0.0.0\n"));
        output = run_line(0, "replay %s/o", at);
        assert_non_null(strstr(output.out, " OK\n"));
        run_output_free(&output);
    }
}

/* The sizes that were done before stay known. */
static void the_result_of_a_run_that_fails_has_the_sizes_before(void **state)
{
    (void)state;
    struct run_output output =
        run_line(3, "run --preset tiny --bytes 1KiB:2KiB:x2 --max-events 600 --json -");
    json_t *const root = json_loads(output.out, 0, NULL);
    assert_non_null(root);
    assert_non_null(json_object_get(root, "error"));
    const json_t *const rows = json_object_get(root, "results");
    for (size_t i = 0; i < json_array_size(rows); i++)
        assert_true(json_real_value(json_object_get(json_array_get(rows, i), "time_ns")) > 0);
    json_decref(root);
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_direction_that_is_not_installed),
        cmocka_unit_test(a_failure_of_the_machine_names_no_rank),
        cmocka_unit_test(a_loaded_algorithm_of_another_collective),
        cmocka_unit_test(a_tile_of_another_size_than_its_receive),
        cmocka_unit_test(a_tile_of_another_type_or_shape_than_its_receive),
        cmocka_unit_test(a_circle_of_receives),
        cmocka_unit_test(the_logs_of_a_run_that_fails_end_with_the_failure),
        cmocka_unit_test(the_result_of_a_run_that_fails_has_the_sizes_before),
        cmocka_unit_test(a_ring_that_nobody_empties),
        cmocka_unit_test(a_tile_that_nobody_receives),
        cmocka_unit_test(a_tile_larger_than_its_slot),
        cmocka_unit_test(an_address_that_is_not_mapped),
        cmocka_unit_test(a_module_that_cannot_be_loaded),
        cmocka_unit_test(an_illegal_value_in_a_call_is_the_kernels_fault),
        cmocka_unit_test(a_receive_that_is_not_waited_for_names_its_line),
        cmocka_unit_test(an_algorithm_that_does_too_little_is_not_our_bug),
        cmocka_unit_test(a_result_that_nothing_has_written_is_named),
        cmocka_unit_test(a_kernel_beyond_its_limits_is_refused),
        cmocka_unit_test(a_check_that_says_nothing_is_named),
        cmocka_unit_test(a_symbol_that_is_no_algorithm_is_refused),
    };
    return cmocka_run_group_tests_name("failures", tests, build, clean);
}
