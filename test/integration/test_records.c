/*
 * test_records.c: the records that a run leaves of its operations: the op log, which replays to the
 * same memory, the timeline and the CCL trace, the same bytes for any number of threads; and the
 * failures that a user of them sees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TEST_SCRATCH "records"
#include "test/support/run_cubewarp.h"
#include "test/support/scratch_folder.h"

struct bytes {
    char *data;
    size_t size;
};

static struct bytes bytes_of(const char *name)
{
    struct bytes bytes;
    bytes.data = read_file_bytes(in_folder(name), &bytes.size);
    return bytes;
}

static void write_file(const char *name, const void *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static void expect_equal_files(const char *a, const char *b)
{
    struct bytes x = bytes_of(a), y = bytes_of(b);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    free(x.data);
    free(y.data);
}

static void expect_in(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", text, part);
}

/* ---- op logs -------------------------------------------------------------------------------- */

static void a_log_of_a_pod_replays_to_the_same_memory(void **state)
{
    (void)state;
    struct run_output run =
        run_line(0, "run --preset pod64 --n-elem 64 --verify-data --op-log %s/pod", folder);
    struct run_output replay = run_line(0, "replay %s/pod", folder);
    expect_in(replay.out, "ccl_allreduce lrab_hierarchical_allreduce, f16 sum, seed 1");
    expect_in(replay.out, "64 SIPs, 1024 cubes and 8192 PEs in all");
    expect_in(replay.out, "fill_input 1024");
    expect_in(replay.out, " OK\n");
    assert_null(strstr(replay.out, "DIFFERS"));
    run_output_free(&run);
    run_output_free(&replay);
}

static void the_files_are_the_same_for_any_threads(void **state)
{
    (void)state;
    static const char *const modes[] = {"--threads 1 --sync sequential",
                                        "--threads 2 --sync conservative",
                                        "--threads 8 --sync adaptive",
                                        "--threads 2 --sync optimistic --window 100",
                                        "--threads 8 --sync optimistic --cancellation lazy",
                                        "--threads 2 --sync stress",
                                        "--threads 1 --sync optimistic",
                                        "--threads 2 --sync adaptive --partition metis"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        const char *const name = i == 0 ? "first" : "other";
        struct run_output run = run_line(
            0,
            "run --n-elem 5000 --iters 2 --dtype bf16 --op max %s --no-pin --op-log %s/%s.ops "
            "--trace %s/%s.json --ccl-trace %s/%s.txt",
            modes[i], folder, name, folder, name, folder, name);
        run_output_free(&run);
        if (i == 0)
            continue;
        expect_equal_files("first.ops", "other.ops");
        expect_equal_files("first.json", "other.json");
        expect_equal_files("first.txt", "other.txt");
    }
    struct run_output replay = run_line(0, "replay --list %s/first.ops", folder);
    struct bytes trace = bytes_of("first.txt");
    size_t lines = 0, tiles = 0;
    for (const char *at = trace.data; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    for (const char *at = replay.out; at != NULL; at = strchr(at, '\n'), at += at != NULL)
        tiles += strncmp(at, "ipcq_", 5) == 0;
    assert_int_equal(lines, tiles);                      /* both know of each send and receive */
    assert_non_null(strstr(replay.out, " shape 2048 ")); /* of bf16, 4,096 bytes */
    const char *const recv = strstr(replay.out, "ipcq_recv ");
    assert_non_null(recv);
    const char *const source = strstr(recv, " a tcm 0x"), *const end = strchr(recv, '\n');
    const char *const sender = strstr(recv, " peer ");
    assert_true(source != NULL && source < end && sender != NULL && sender < end);
    free(trace.data);
    run_output_free(&replay);
}

static void a_log_that_is_not_whole_is_refused_with_its_place(void **state)
{
    (void)state;
    struct run_output run = run_line(0, "run --preset tiny --n-elem 64 --op-log %s/ops", folder);
    run_output_free(&run);
    struct bytes log = bytes_of("ops");
    write_file("half", log.data, log.size / 2);
    write_file("none", "", 0);
    write_file("text", "rank 0\n", 7);
    log.data[log.size - 1] ^= 1; /* of the checksum */
    write_file("changed", log.data, log.size);
    static const char *const cases[][2] = {
        {"half", "/half:0: the file ends in the middle of a Zstandard frame: it is truncated\n"},
        {"none",
         "/none:0: this is no op log of version 3: it begins otherwise; run again with --op-log\n"},
        {"text", "/text:0: this is no op log (Unknown frame descriptor); expected an op log, a "
                 "Zstandard stream with a window of at most 8 MiB, as cubewarp run --op-log writes "
                 "it\n"},
        {"changed",
         ": the compressed data is damaged after this point (Restored data doesn't match "
         "checksum); expected an op log"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_output replay = run_line(2, "replay %s/%s", folder, cases[i][0]);
        expect_in(replay.err, cases[i][1]);
        assert_string_equal(replay.out, "");
        run_output_free(&replay);
    }
    free(log.data);
}

static void replay_refuses_what_it_does_not_know(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"replay", "cubewarp replay: name an op log, as run --op-log FILE writes it\nTry 'cubewarp "
                   "replay --help'.\n"},
        {"replay a b", "unexpected argument 'b'; one op log at a time"},
        {"replay --lst a", "unknown option '--lst'; did you mean '--list'?"},
        {"replay /nowhere/ops", "cannot read '/nowhere/ops': No such file or directory"},
        {"replay /tmp", "/tmp: cannot be read: Is a directory"},
        {"replay --max-memory x a", "--max-memory 'x'"},
        {"run --op-log f --no-data", "--no-data leaves nothing for --op-log to replay"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_output output = run_line(2, "%s", cases[i][0]);
        expect_in(output.err, cases[i][1]);
        run_output_free(&output);
    }
    struct run_output help = run_line(0, "replay --help");
    expect_in(help.out, "--list");
    run_output_free(&help);
}

static void a_run_that_fails_leaves_no_files(void **state)
{
    (void)state;
    struct run_output run =
        run_line(2, "run --bench ccl_all_gather --n-elem 3 --op-log %s/gone --trace %s/gone.json",
                 folder, folder);
    char path[128];
    snprintf(path, sizeof path, "%s/gone", folder);
    assert_int_equal(access(path, F_OK), -1);
    run_output_free(&run);
}

/* ---- the timeline --------------------------------------------------------------------------- */

/* Operations and phases are those of the run; test_timeline.c checks the form. */
static void the_timeline_has_each_operation_once(void **state)
{
    (void)state;
    struct run_output run =
        run_line(0, "run --preset tiny --n-elem 9000 --trace %s/t.json", folder);
    char path[128];
    snprintf(path, sizeof path, "%s/t.json", folder);
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error), *event;
    if (root == NULL)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    size_t i, loads = 0, stores = 0, sends = 0, phases = 0;
    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        const char *const type = json_string_value(json_object_get(event, "ph"));
        if (strcmp(type, "X") != 0 && strcmp(type, "B") != 0)
            continue;
        const char *const name = json_string_value(json_object_get(event, "name"));
        loads += strcmp(name, "dma_load") == 0;
        stores += strcmp(name, "dma_store") == 0;
        sends += strncmp(name, "ipcq_send", 9) == 0;
        phases += strcmp(name, "row reduce") == 0;
    }
    /* 4 cubes; 5 tiles of 4 KiB, each sent up and down a tree of 4 nodes */
    assert_int_equal(loads, 4);
    assert_int_equal(stores, 4); /* of five tiles each, where they were received */
    assert_int_equal(sends, 2 * 3 * 5);
    assert_true(phases > 0);
    json_decref(root);
    run_output_free(&run);
}

/* ---- strict_validation ---------------------------------------------------------------------- */

/* More tiles than slots: the shipped kernel holds them longer than the slots do. */
static void slot_reuse_is_a_warning_on_standard_error(void **state)
{
    (void)state;
    char first[4096] = "";
    for (int threads = 1; threads <= 2; threads++) {
        struct run_output run =
            run_line(0,
                     "run --preset tiny --n-elem 40960 --threads %d --no-data --set "
                     "defaults.strict_validation=true",
                     threads);
        const char *const warnings = strstr(run.err, "cubewarp: warning: IpcqSlotReuse: PE 0.");
        assert_non_null(warnings); /* a sanitizer may have said something before */
        assert_null(strstr(run.out, "IpcqSlotReuse"));
        if (threads == 2)
            assert_string_equal(warnings, first);
        snprintf(first, sizeof first, "%s", warnings);
        run_output_free(&run);
    }
    struct run_output run = run_line(
        0, "run --preset tiny --n-elem 4096 --set defaults.strict_validation=true --verify-data");
    assert_null(strstr(run.err, "IpcqSlotReuse"));
    run_output_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_of_a_pod_replays_to_the_same_memory),
        cmocka_unit_test(the_files_are_the_same_for_any_threads),
        cmocka_unit_test(a_log_that_is_not_whole_is_refused_with_its_place),
        cmocka_unit_test(replay_refuses_what_it_does_not_know),
        cmocka_unit_test(a_run_that_fails_leaves_no_files),
        cmocka_unit_test(the_timeline_has_each_operation_once),
        cmocka_unit_test(slot_reuse_is_a_warning_on_standard_error),
    };
    return cmocka_run_group_tests_name("records", tests, make_folder, remove_folder);
}
