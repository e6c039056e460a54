/*
 * test_explain.c: `run --explain`: the parts of the critical path sum to the time, the explanation
 * does not depend on threads, results do not depend on it, and the limit that it names is one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

static json_t *row_of(json_t *root) { return json_array_get(json_object_get(root, "results"), 0); }

static long long ps_of(const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    assert_true(json_is_number(value));
    const double ns = json_number_value(value);
    return (long long)(1000 * ns + (ns < 0 ? -0.5 : 0.5));
}

static long long sum_of(const json_t *list)
{
    long long sum = 0;
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) sum += ps_of(item, "time_ns");
    return sum;
}

/* The shares of a kernel's time are all of it; a mean's may be less by their rounding. */
static void check_shares(const json_t *kernel, long long slack_ps)
{
    long long sum = 0;
    const char *name;
    json_t *share;
    json_object_foreach(json_object_get(kernel, "shares_ns"), name, share)
    {
        assert_true(json_number_value(share) >= -0.001);
        sum += ps_of(json_object_get(kernel, "shares_ns"), name);
    }
    assert_true(llabs(ps_of(kernel, "time_ns") - sum) <= slack_ps);
}

/* A tree of three switches that reduce. */
#define THREE_SWITCHES(KEYS)                                                                       \
    "--preset tiny --algorithm switch_all_reduce --n-elem 16384 --set "                            \
    "system.sips.topology={\"graph\":{\"sips\":6,\"switches\":[{\"name\":\"s\",\"count\":3,"       \
    "\"reduce\":" KEYS "}],\"links\":[{\"from\":\"0-2\",\"to\":\"s.0\"},{\"from\":\"3-5\","        \
    "\"to\":\"s.1\"},{\"from\":\"s.0-1\",\"to\":\"s.2\"}],\"transit\":false}}"

/* Runs with these arguments; checks that all sums fit. */
static void check_sums(const char *args, bool is_rows_time)
{
    json_t *root = run_json("run --quiet --no-data --explain %s", args);
    const json_t *const explain = json_object_get(row_of(root), "explain");
    const json_t *const path = json_object_get(explain, "path");
    if (json_object_get(path, "parts") == NULL)
        fail_msg("%s: %s", args, json_string_value(json_object_get(explain, "sentence")));
    assert_int_equal(sum_of(json_object_get(path, "parts")), ps_of(explain, "time_ns"));
    if (is_rows_time)
        assert_int_equal(ps_of(explain, "time_ns"), ps_of(row_of(root), "time_ns"));
    check_shares(json_object_get(explain, "slowest"), 0);
    check_shares(json_object_get(explain, "mean"), 100);
    json_decref(root);
}

static void parts_sum_to_the_time(void **state)
{
    (void)state;
    static const char *const collectives[] = {
        "--n-elem 8192",
        "--algorithm ring_allreduce --bytes 16KiB",
        "--algorithm tree_allreduce --bytes 16KiB",
        "--algorithm lrab_pipelined_allreduce --bytes 64KiB",
        "--algorithm pe_hierarchical_allreduce --bytes 16KiB",
        "--algorithm pe_hierarchical_allreduce --bytes 4KiB --set launch_together=true",
        "--algorithm ring_rs_ag --bytes 64KiB",
        "--algorithm direct_rs_ag --bytes 16KiB --set system.sips.topology=switch",
        "--algorithm double_binary_tree --bytes 16KiB",
        "--bench ccl_reduce_scatter --preset a3_8 --algorithm mesh --bytes 64KiB",
        "--bench ccl_reduce_scatter --preset a3_16 --bytes 64KiB",
        "--bench ccl_all_gather --bytes 16KiB",
        "--bench ccl_all_to_all --bytes 16KiB",
        "--bench ccl_broadcast --bytes 16KiB",
        "--bench ccl_barrier",
        "--bench gemm_allreduce",
        "--preset torus_4x4x4 --bytes 1KiB",
        "--preset rail_128 --bytes 1KiB",
        "--n-elem 4096 --set fabric.contention=chunk",
        "--n-elem 4096 --set fabric.contention=none",
        "--n-elem 4096 --set defaults.buffer_kind=hbm",
        "--n-elem 4096 --set defaults.buffer_kind=sram",
        "--n-elem 4096 --set defaults.credit_return_mode=fabric",
        "--n-elem 4096 --set defaults.backpressure=poll",
        "--n-elem 4096 --set slot_access.tcm.bw_gbs=512",
        "--n-elem 4096 --set jitter.links.ucie.distribution=exponential "
        "--set jitter.links.ucie.mean_ns=10",
        "--preset tiny --set system.sips.count=16 --set system.sips.topology=torus_2d --set "
        "fabric.contention=chunk --algorithm pairwise_all_to_all --bench ccl_all_to_all --n-elem "
        "16384",
        "--preset h100_8 --algorithm switch_all_reduce --n-elem 65536",
        "--preset h100_8 --algorithm switch_broadcast --bench ccl_broadcast --n-elem 4096",
        THREE_SWITCHES("push,\"trees\":2") " --threads 3 --sync stress",
        THREE_SWITCHES("pull,\"reduce_ns\":30"),
    };
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
        check_sums(collectives[i], true);
    check_sums("--n-elem 4096 -n 3 -w 1", false);
    check_sums("--bench raw_store --bytes 4096", false);
    check_sums("--bench ipcq_pingpong --bytes 4096", false);
}

static char *explanation(const char *args)
{
    json_t *root = run_json("run --quiet --explain --n-elem 4096 %s", args);
    char *const text = json_dumps(json_object_get(row_of(root), "explain"), JSON_SORT_KEYS);
    assert_non_null(text);
    json_decref(root);
    return text;
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const char *const modes[] = {"--threads 2", "--threads 4 --sync optimistic",
                                        "--threads 3 --sync conservative --partition block",
                                        "--threads 2 --sync stress --stress-rate 30%"};
    char *const alone = explanation("");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        char *const with = explanation(modes[i]);
        assert_string_equal(with, alone);
        free(with);
    }
    free(alone);
}

/* With --links each crossing is noted for itself, and else a whole way through a cube is one step.
 */
static void ways_have_the_links_that_were_crossed(void **state)
{
    (void)state;
    static const char *const machines[] = {"",
                                           "--preset pod64 --no-data",
                                           "--preset six_3x2",
                                           "--preset a3_16",
                                           "--preset dragonfly_64 --no-data",
                                           "--set sip.cube_mesh.w=3 --set sip.cube_mesh.h=2"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        char args[256], file[64];
        snprintf(file, sizeof file, "/tmp/test_explain_%d.json", (int)getpid());
        char *const as_ways = explanation(machines[i]);
        snprintf(args, sizeof args, "%s --links %s", machines[i], file);
        char *const as_links = explanation(args);
        unlink(file);
        assert_string_equal(as_ways, as_links);
        free(as_ways);
        free(as_links);
    }
}

static void results_stay(void **state)
{
    (void)state;
    json_t *with = run_json("run --quiet --explain --n-elem 8192 --verify-data");
    json_t *without = run_json("run --quiet --n-elem 8192 --verify-data");
    static const char *const same[] = {"config_digest", "sim_time_ns"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_true(json_equal(json_object_get(with, same[i]), json_object_get(without, same[i])));
    assert_true(json_equal(json_object_get(json_object_get(with, "engine"), "trace_hash"),
                           json_object_get(json_object_get(without, "engine"), "trace_hash")));
    assert_null(json_object_get(row_of(without), "explain"));
    json_object_del(row_of(with), "explain");
    assert_true(json_equal(row_of(with), row_of(without)));
    json_decref(with);
    json_decref(without);
}

/* The ring's time goes to the IO ports, and half of their part goes if they are twice as fast. */
static void the_limit_is_one(void **state)
{
    (void)state;
    json_t *root = run_json("run --quiet --no-data --explain --algorithm ring_allreduce "
                            "--bytes 16KiB");
    const json_t *const limit = json_array_get(
        json_object_get(json_object_get(json_object_get(row_of(root), "explain"), "path"),
                        "limits"),
        0);
    assert_string_equal(json_string_value(json_object_get(limit, "limit")),
                        "io_port (overhead and work)");
    assert_string_equal(json_string_value(json_object_get(limit, "twice_as_fast_set")),
                        "nodes.io_port.overhead_ns=25");
    const long long foretold = ps_of(limit, "twice_as_fast_ns");
    json_t *faster = run_json("run --quiet --no-data --algorithm ring_allreduce --bytes 16KiB "
                              "--set nodes.io_port.overhead_ns=25");
    assert_int_equal(ps_of(row_of(faster), "time_ns"), foretold);
    json_decref(faster);
    json_decref(root);
}

/* The saving that is foretold for the first limit, against a run with the settings that make it
 * faster: at most so many per cent of it off. */
static void check_saving(const char *args, const char *name, double percent)
{
    json_t *root = run_json("run --quiet --no-data --explain %s", args);
    const json_t *const explain = json_object_get(row_of(root), "explain");
    const json_t *const limit =
        json_array_get(json_object_get(json_object_get(explain, "path"), "limits"), 0);
    assert_string_equal(json_string_value(json_object_get(limit, "limit")), name);
    const char *const set = json_string_value(json_object_get(limit, "twice_as_fast_set"));
    assert_null(strchr(set, ' '));
    json_t *faster = run_json("run --quiet --no-data %s --set %s", args, set);
    const double before = (double)ps_of(explain, "time_ns");
    const double saved = before - (double)ps_of(row_of(faster), "time_ns");
    const double foretold = before - (double)ps_of(limit, "twice_as_fast_ns");
    assert_true(saved > 0);
    assert_float_equal(foretold, saved, percent / 100 * saved);
    json_decref(faster);
    json_decref(root);
}

/* The first kernel's launch message crosses an IO port, too: the collective begins earlier. */
static void the_start_is_earlier_on_a_faster_machine(void **state)
{
    (void)state;
    check_saving("--preset six_3x2 --bytes 4KiB", "io_port (overhead and work)", 0);
    check_saving("--bench gemm_allreduce", "io_port (overhead and work)", 0);
}

/* What was there earlier, but not much: a transfer on its way to a busy link, the other part of a
 * load, and of the engine of PE_DMA what is left of another operation. */
static void what_else_was_nearly_there_decides(void **state)
{
    (void)state;
    check_saving("--n-elem 8192 --set defaults.buffer_kind=hbm", "the bandwidth of hbm", 0.5);
    check_saving("--n-elem 8192 --set defaults.buffer_kind=sram", "the bandwidth of pe_noc", 3);
    check_saving("--preset tiny --bytes 4KiB", "the bandwidth of pe_noc", 10);
    check_saving("--algorithm double_binary_tree --bytes 64KiB", "io_port (overhead and work)", 5);
}

/* A timeline shows the waits of kernels, which the explanation uses too. */
static void a_timeline_stays(void **state)
{
    (void)state;
    static const char *const more[] = {"", "--explain", "--explain --threads 2"};
    char path[] = "/tmp/test_explain_XXXXXX";
    close(mkstemp(path));
    json_t *first = NULL;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        struct run_output output =
            run_line(0, "run --quiet --no-data --n-elem 512 --trace %s %s", path, more[i]);
        run_output_free(&output);
        json_t *const trace = json_load_file(path, 0, NULL);
        assert_non_null(trace);
        if (i == 0)
            first = json_incref(trace);
        assert_true(json_equal(trace, first));
        json_decref(trace);
    }
    json_decref(first);
    unlink(path);
}

/* Beyond the memory that causes may take, the row says that there is no path. */
static void too_many_causes_are_said(void **state)
{
    (void)state;
    json_t *root = run_json("run --quiet --no-data --fold off --explain --preset pod64 "
                            "--bytes 128KiB --max-memory 24MiB");
    const json_t *const explain = json_object_get(row_of(root), "explain");
    assert_true(json_is_null(json_object_get(explain, "path")));
    assert_non_null(
        strstr(json_string_value(json_object_get(explain, "sentence")), "--max-memory"));
    check_shares(json_object_get(explain, "slowest"), 0);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_sum_to_the_time),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(ways_have_the_links_that_were_crossed),
        cmocka_unit_test(results_stay),
        cmocka_unit_test(the_start_is_earlier_on_a_faster_machine),
        cmocka_unit_test(what_else_was_nearly_there_decides),
        cmocka_unit_test(a_timeline_stays),
        cmocka_unit_test(the_limit_is_one),
        cmocka_unit_test(too_many_causes_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
