/*
 * test_switches.c: collectives through switches that reduce and multicast, as a user runs them:
 * their bits, their times beside their bounds, the same run on any number of threads, and what is
 * refused (HARDWARE.md, "Switches that reduce"; ALGORITHMS.md, "Through switches").
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST_SCRATCH "switches"
#include "test/support/run_cubewarp.h"
#include "test/support/scratch_folder.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char star[] = "--preset tiny --set system.sips.topology=switch "
                           "--set system.sips.count=4";

static const struct {
    const char *bench, *entry;
} calls[] = {
    {"ccl_allreduce", "switch_all_reduce"},
    {"ccl_reduce_scatter", "switch_reduce_scatter"},
    {"ccl_all_gather", "switch_all_gather"},
    {"ccl_broadcast", "switch_broadcast"},
};

static const char *const modes[] = {"push", "pull"};

/* Writes a fat tree of eight SIPs, two levels of switches, and room for two sums in the upper ones;
 * its path. */
static const char *fat_tree(const char *mode)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s.yaml", folder, mode);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "sip: {cube_mesh: {w: 1, h: 1}}\n"
            "cube: {pe_layout: {pe_per_corner: 1}}\n"
            "system:\n"
            "  sips:\n"
            "    topology:\n"
            "      graph:\n"
            "        sips: 8\n"
            "        switches:\n"
            "          - {name: leaf, count: 4, latency_ns: 100, reduce: %s}\n"
            "          - {name: spine, count: 2, latency_ns: 100, reduce: %s, reduce_ns: 7,\n"
            "             trees: 2}\n"
            "        classes: {down: {bw_gbs: 50, latency_ns: 50}, up: {bw_gbs: 50}}\n"
            "        links:\n"
            "          - {from: 0-1, to: leaf.0, class: down}\n"
            "          - {from: 2-3, to: leaf.1, class: down}\n"
            "          - {from: 4-5, to: leaf.2, class: down}\n"
            "          - {from: 6-7, to: leaf.3, class: down}\n"
            "          - {from: leaf.0-3, to: spine.0-1, class: up}\n",
            mode, mode);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* A verified run takes at least its bound. */
static void is_right(const char *machine, size_t call, const char *mode, const char *more)
{
    json_t *const root = run_json("run %s --bench %s --algorithm %s --bytes 8KiB --verify-data %s",
                                  machine, calls[call].bench, calls[call].entry, more);
    const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
    assert_int_equal(json_integer_value(json_object_get(row, "wrong")), 0);
    assert_string_equal(json_string_value(json_object_get(row, "algorithm")), calls[call].entry);
    if (json_ps(root, "time_ns") < json_ps(root, "bound_ns"))
        fail_msg("%s through switches that %s is faster than its bound", calls[call].entry, mode);
    json_decref(root);
}

static void bits_are_right(void **state)
{
    (void)state;
    for (size_t m = 0; m < COUNT_OF(modes); m++)
        for (size_t c = 0; c < COUNT_OF(calls); c++) {
            char machine[200];
            snprintf(machine, sizeof machine, "%s --set nodes.switch.reduce=%s", star, modes[m]);
            is_right(machine, c, modes[m], "--set fabric.contention=message");
            snprintf(machine, sizeof machine, "--preset %s", fat_tree(modes[m]));
            is_right(machine, c, modes[m], c % 2 ? "--dtype f32" : "--set fabric.contention=chunk");
        }
    is_right("--preset h100_8", 0, "pull", "--dtype bf16 --op max");
}

static char *hashes(const char *line)
{
    struct run_output output = run_line(0, "%s", line);
    const char *const at = strstr(output.out, "result hash");
    assert_non_null(at);
    char *const copy = strndup(at, strcspn(at, "\n"));
    assert_non_null(copy);
    run_output_free(&output);
    return copy;
}

static void every_mode_and_thread_is_the_same_run(void **state)
{
    (void)state;
    static const char *const engines[] = {"adaptive --threads 2", "conservative --threads 4",
                                          "optimistic --threads 3",
                                          "stress --stress-rate 0.5 --threads 4"};
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        char line[400];
        const int length = snprintf(line, sizeof line,
                                    "run --preset %s --algorithm switch_all_reduce --bytes 16KiB "
                                    "--verify-data --set fabric.contention=chunk",
                                    fat_tree(modes[m]));
        char *const expected = hashes(line);
        for (size_t e = 0; e < COUNT_OF(engines); e++) {
            snprintf(line + length, sizeof line - (size_t)length, " --sync %s", engines[e]);
            char *const found = hashes(line);
            assert_string_equal(found, expected);
            free(found);
        }
        free(expected);
    }
}

/* 64 MiB on eight GPUs and four switches are within 5 % of the bound, which is S over a GPU's links
 * with push, (1 + 1/8) S with pull: 450 GB/s. A ring takes longer, and auto knows. */
static void large_all_reduces_are_near_their_bounds(void **state)
{
    (void)state;
    static const char large[] = "run --preset h100_8 --bytes-per-rank 64MiB --no-data";
    long long pull = 0;
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        json_t *const root = run_json(
            "%s --algorithm switch_all_reduce --set system.sips.topology={\"graph\":{\"sips\":"
            "8,\"switches\":[{\"name\":\"s\",\"count\":4,\"reduce\":\"%s\"}],"
            "\"classes\":{\"l\":{\"bw_gbs\":112.5,\"latency_ns\":50}},"
            "\"links\":[{\"from\":\"0-7\",\"to\":\"s.0-3\",\"class\":\"l\"}]}}",
            large, modes[m]);
        const long long ps = json_ps(root, "time_ns"), bound = json_ps(root, "bound_ns");
        const double bytes = 67108864.0 * (m == 0 ? 1 : 1.125);
        assert_true((double)bound >= bytes / 450e9 * 1e12 - 1 &&
                    (double)bound <= bytes / 450e9 * 1e12 * 1.01);
        assert_true(ps >= bound && ps * 0.95 <= bound);
        pull = ps;
        json_decref(root);
    }
    json_t *const ring = run_json("%s --algorithm ring_rs_ag", large);
    assert_true(json_ps(ring, "time_ns") > pull);
    json_decref(ring);
    json_t *const best = run_json("%s --algorithm auto_all_reduce", large);
    const json_t *const row = json_array_get(json_object_get(best, "results"), 0);
    assert_string_equal(json_string_value(json_object_get(row, "algorithm")), "switch_all_reduce");
    json_decref(best);
}

static void other_machines_are_refused_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *args, *says;
    } cases[] = {
        {"--algorithm switch_all_reduce", "this machine has none"},
        {"--set nodes.switch.reduce=push --algorithm switch_all_reduce --set "
         "system.sips.topology=switch --set system.sips.count=4 --set defaults.world_size=2",
         "switch_all_reduce takes all 4 SIPs"},
        {"--set nodes.switch.reduce=push --algorithm switch_all_reduce --set "
         "system.sips.topology=switch --set system.sips.count=4 --coarse 1MiB",
         "and no coarse ones"},
        {"--set nodes.switch.reduce=pusch", "nodes.switch.reduce=pusch: "},
        {"--set nodes.switch.trees=0", "nodes.switch.trees=0: "},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct run_output output = run_line(2, "run --preset tiny %s", cases[i].args);
        if (strstr(output.err, cases[i].says) == NULL)
            fail_msg("run %s says\n%sand not '%s'", cases[i].args, output.err, cases[i].says);
        run_output_free(&output);
    }
    struct run_output file =
        run_line(2, "topo --preset h100_8 --algorithm switch_all_reduce --xml %s/no.xml", folder);
    assert_non_null(strstr(file.err, "goes through switches that reduce, and MSCCL XML files"));
    run_output_free(&file);
}

/* Of four trees one is lost: with a link from the start, the others do; with one that fails during
 * the run, the run ends. */
static void links_that_fail_are_in_no_tree(void **state)
{
    (void)state;
    static const char line[] = "run --preset h100_8 --algorithm switch_all_reduce --bytes 64KiB "
                               "--verify-data --set faults.x.links=0-nvswitch.0 --set "
                               "faults.x.failed=%s";
    struct run_output output = run_line(0, line, "true");
    assert_non_null(strstr(output.out, "0 OK"));
    run_output_free(&output);
    output = run_line(3, line, "{\"at_ns\":100}");
    assert_non_null(strstr(output.err, "IpcqLinkDown: link 'sip 0 E', from sip 0 to switch "
                                       "nvswitch.0, failed at 100.000 ns"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_right),
        cmocka_unit_test(every_mode_and_thread_is_the_same_run),
        cmocka_unit_test(large_all_reduces_are_near_their_bounds),
        cmocka_unit_test(other_machines_are_refused_with_the_reason),
        cmocka_unit_test(links_that_fail_are_in_no_tree),
    };
    return cmocka_run_group_tests_name("switches", tests, make_folder, remove_folder);
}
