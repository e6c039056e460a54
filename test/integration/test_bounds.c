/*
 * test_bounds.c: over machines, topologies, algorithms, placements and sizes: no run is faster than
 * its bound, and where a link is busy nearly all the time at a low efficiency, the table says why
 * (COMMANDS.md, "Bound"). A fixed sample; BOUNDS_EVERY=1 runs all combinations (make nightly).
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

#include "test/support/run_cubewarp.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *const machines[] = {
    "--set system.sips.topology=ring_1d --set system.sips.count=5",
    "--set system.sips.topology=torus_2d --set system.sips.count=6",
    "--set system.sips.topology=mesh_2d_no_wrap --set system.sips.count=6",
    "--set system.sips.topology=torus_3d --set system.sips.count=8",
    "--set system.sips.topology=fully_connected --set system.sips.count=7",
    "--set system.sips.topology=switch --set system.sips.count=4",
    "--set "
    "system.sips.topology=[{\"fully_connected\":4,\"bw_gbs\":100},{\"ring_1d\":2,\"bw_gbs\":1}] "
    "--set system.sips.count=8",
    "--set system.sips.topology=[{\"switch\":4},{\"fully_connected\":2,\"bw_gbs\":5}] "
    "--set system.sips.count=8",
    "--set system.sips.count=4 --set links.noc_ucie.bw_gbs=16",
    "--set system.sips.count=4 --set links.ucie.bw_gbs=4",
    "--set system.sips.count=4 --set links.hbm.bw_gbs=8",
    "--set system.sips.count=4 --set fabric.contention=chunk",
    "--preset a3_8",
    "--preset six_3x2",
};

static const struct {
    const char *bench, *entry;
} calls[] = {
    {"ccl_allreduce", "ring_rs_ag"},
    {"ccl_allreduce", "torus_rs_ag"},
    {"ccl_allreduce", "direct_rs_ag"},
    {"ccl_allreduce", "double_binary_tree"},
    {"ccl_reduce_scatter", "torus_reduce_scatter"},
    {"ccl_reduce_scatter", "direct_reduce_scatter"},
    {"ccl_all_gather", "rings_all_gather"},
    {"ccl_all_to_all", "pairwise_all_to_all"},
};

static const char *const mappers[] = {"leader_only", "pe0_all_cubes", "all_pes"};
static const char *const sizes[] = {"840", "13440",
                                    "107520"}; /* elements, which all ranks divide */

/* The share of the time in which the busiest link was busy, in per cent; 0: no link is listed. */
static double busiest_percent(const char *table)
{
    const char *const head = strstr(table, "\n# busiest links");
    const char *const line = head != NULL ? strchr(head + 1, '\n') : NULL;
    const char *const end = line != NULL ? strchr(line + 1, '\n') : NULL;
    char last[64];
    if (end == NULL || end - line < 40)
        return 0;
    (void)snprintf(last, sizeof last, "%.*s", 28, end - 28); /* busy(%) and the longest queue */
    return atof(last);
}

/* A busy link at a low efficiency is explained: it carries more than its share, by about as much
 * as the bound is below the time. */
static void check_table(const char *table)
{
    double time, bound, efficiency, times = 0;
    const char *row = table;
    while (*row == '#')
        row = strchr(row, '\n') + 1;
    if (sscanf(row, "%*s %*s %*s %*s %lf %*s %*s %lf %lf", &time, &bound, &efficiency) != 3)
        fail_msg("%s", table);
    if (bound <= 0 || bound > time)
        fail_msg("%s", table);
    if (busiest_percent(table) < 90 || efficiency >= 45)
        return;
    const char *const line = strstr(table, "busiest link: ");
    if (line == NULL || sscanf(line, "busiest link: %lf", &times) != 1)
        fail_msg("%s", table);
    assert_true(times * 1.01 >= 90 / efficiency);
}

/* Exit code 5 is a time below its bound; 2 is a refusal, which a combination may meet. */
static bool check_run(const char *machine, const char *bench, const char *entry, const char *mapper,
                      const char *size)
{
    char line[700];
    const char *args[48] = {NULL};
    size_t count = 0;
    char *rest = line;
    snprintf(line, sizeof line,
             "run --bench %s --algorithm %s --set algorithms.%s.mapper=%s %s --n-elem %s "
             "--no-data --quiet %s",
             bench, entry, entry, mapper, machine, size,
             strstr(machine, "preset") == NULL ? "--set sip.cube_mesh.w=2 --set sip.cube_mesh.h=2"
                                               : "");
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL && count + 1 < COUNT_OF(args);)
        args[count++] = word;
    struct run_output output = run_cubewarp(args);
    const bool ran = output.exit_code == 0;
    if (ran)
        check_table(output.out);
    else if (output.exit_code != 2)
        fail_msg("%s %s %s %s: exit code %d: %s", machine, entry, mapper, size, output.exit_code,
                 output.err);
    run_output_free(&output);
    return ran;
}

static void no_run_is_faster_than_its_bound(void **state)
{
    (void)state;
    const char *const every = getenv("BOUNDS_EVERY");
    const size_t all = COUNT_OF(machines) * COUNT_OF(calls) * COUNT_OF(mappers) * COUNT_OF(sizes);
    const size_t step = every != NULL ? strtoul(every, NULL, 10) : 3;
    size_t ran = 0, asked = 0;
    for (size_t i = 0; i < all; i += step, asked++)
        ran += check_run(machines[i % COUNT_OF(machines)],
                         calls[i / COUNT_OF(machines) % COUNT_OF(calls)].bench,
                         calls[i / COUNT_OF(machines) % COUNT_OF(calls)].entry,
                         mappers[i / COUNT_OF(machines) / COUNT_OF(calls) % COUNT_OF(mappers)],
                         sizes[i / COUNT_OF(machines) / COUNT_OF(calls) / COUNT_OF(mappers)]);
    assert_true(ran * 10 >= asked * 8);
}

/* Each of eight SIPs sends seven tensors of 131,072 bytes east, at 1 GB/s. At least 2 x 7 tensors
 * leave SIPs, over 16 links: 7 / 8 of a tensor each. The mean link carries 7 / 2, the busiest 7. */
static void the_busiest_link_s_share_is_said(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "run --algorithm ring_allreduce --set system.sips.topology=ring_1d --set "
                    "system.sips.count=8 --set links.sip_link.bw_gbs=1 --n-elem 65536 --no-data");
    assert_non_null(strstr(output.out, "\n# 131072 bytes, busiest link: 8.00 × its share (bytes "
                                       "4.00 ×, uneven 2.00 ×), sip_link\n"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_run_is_faster_than_its_bound),
        cmocka_unit_test(the_busiest_link_s_share_is_said),
    };
    return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
