/*
 * test_bounds.c: over machines, topologies, algorithms, placements and sizes: no run is faster than
 * its bound, and where a link is busy nearly all the time at a low efficiency, the table says why
 * (COMMANDS.md, "Bound"), nor is a call of a group. A fixed sample of small machines;
 * BOUNDS_EVERY=1 runs all combinations, those of machines of up to 256 SIPs, and 3,000 groups (make
 * nightly).
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

#include "core/cw.h"
#include "test/support/run_cubewarp.h"
#include "test/support/sanitized.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

struct call {
    const char *bench, *entry;
};

/* Machines, calls, mappers and sizes, all with all others. */
struct product {
    const char *const *machines;
    const struct call *calls;
    const char *const *mappers, *const *sizes;
    size_t counts[4];
};

static const char *const small_machines[] = {
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
    "--set system.sips.count=4 --set links.noc.bw_gbs=4",
    "--set system.sips.count=4 --set links.pe_noc.bw_gbs=4",
    "--set system.sips.topology=ring_1d --set system.sips.count=6 --set links.hub.bw_gbs=2",
    "--preset a3_8",
    "--preset six_3x2",
};

static const struct call small_calls[] = {
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
static const char *const small_sizes[] = {"--n-elem 840", "--n-elem 13440",
                                          "--n-elem 107520"}; /* which all ranks divide */

static const struct product small = {
    small_machines,
    small_calls,
    mappers,
    small_sizes,
    {COUNT_OF(small_machines), COUNT_OF(small_calls), COUNT_OF(mappers), COUNT_OF(small_sizes)}};

static const char *const large_machines[] = {
    "--preset default",
    "--preset mi300x_8",
    "--preset a3_16",
    "--preset a3_16_vendor",
    "--preset wormhole_t3k",
    "--preset kernbench",
    "--preset pod64",
    "--preset torus_4x4x4",
    "--preset fat_tree_64",
    "--preset dragonfly_64",
    "--preset dragonfly_64 --set system.sips.topology=mesh_2d_no_wrap",
    "--preset dragonfly_64 --set system.sips.topology=ring_1d",
};

static const struct call large_calls[] = {
    {"ccl_allreduce", "ring_rs_ag"},
    {"ccl_allreduce", "torus_rs_ag"},
    {"ccl_allreduce", "direct_rs_ag"},
    {"ccl_allreduce", "halving_doubling"},
    {"ccl_allreduce", "recursive_doubling"},
    {"ccl_allreduce", "double_binary_tree"},
    {"ccl_allreduce", "hierarchical"},
    {"ccl_allreduce", "ring_allreduce"},
    {"ccl_reduce_scatter", "rings_reduce_scatter"},
    {"ccl_reduce_scatter", "torus_reduce_scatter"},
    {"ccl_reduce_scatter", "direct_reduce_scatter"},
    {"ccl_reduce_scatter", "halving_reduce_scatter"},
    {"ccl_all_gather", "rings_all_gather"},
    {"ccl_all_gather", "torus_all_gather"},
    {"ccl_all_gather", "direct_all_gather"},
    {"ccl_all_gather", "doubling_all_gather"},
    {"ccl_all_to_all", "pairwise_all_to_all"},
};

static const char *const large_sizes[] = {"-b 65536 -e 65536", "-b 1048576 -e 1048576"};

static const struct product large = {
    large_machines,
    large_calls,
    mappers,
    large_sizes,
    {COUNT_OF(large_machines), COUNT_OF(large_calls), COUNT_OF(mappers), COUNT_OF(large_sizes)}};

/* 128 and 256 SIPs, where one shard of a rank is enough. */
static const char *const largest_machines[] = {
    "--preset rail_128",
    "--preset pod64 --set system.sips.count=256",
    "--preset pod64 --set system.sips.count=256 --set system.sips.topology=torus_3d",
    "--preset pod64 --set system.sips.count=256 --set system.sips.topology=mesh_2d_no_wrap",
    "--preset pod64 --set system.sips.count=256 --set system.sips.topology=ring_1d",
    "--preset pod64 --set system.sips.count=256 --set system.sips.topology=fully_connected",
    "--preset pod64 --set system.sips.count=256 --set system.sips.topology=switch",
    "--preset pod64 --set system.sips.count=256 --set system.sips.topology=pair_switch",
};

static const char *const largest_sizes[] = {"-b 65536 -e 65536", "-b 4194304 -e 4194304"};

static const struct product largest = {
    largest_machines,
    large_calls,
    mappers,
    largest_sizes,
    {COUNT_OF(largest_machines), COUNT_OF(large_calls), 1, COUNT_OF(largest_sizes)}};

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
static bool check_run(const char *machine, const struct call *call, const char *mapper,
                      const char *size)
{
    char line[700];
    const char *args[48] = {NULL};
    size_t count = 0;
    char *rest = line;
    snprintf(
        line, sizeof line,
        "run --bench %s --algorithm %s --set algorithms.%s.mapper=%s %s %s --no-data --quiet %s",
        call->bench, call->entry, call->entry, mapper, machine, size,
        strstr(machine, "preset") == NULL ? "--set sip.cube_mesh.w=2 --set sip.cube_mesh.h=2" : "");
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL && count + 1 < COUNT_OF(args);)
        args[count++] = word;
    struct run_output output = run_cubewarp(args);
    const bool ran = output.exit_code == 0;
    if (ran)
        check_table(output.out);
    else if (output.exit_code != 2)
        fail_msg("%s %s %s %s: exit code %d: %s", machine, call->entry, mapper, size,
                 output.exit_code, output.err);
    run_output_free(&output);
    return ran;
}

/* Every so many of the combinations; at least this share of them runs. */
static void check_product(const struct product *product, size_t step, double least)
{
    const size_t *const n = product->counts;
    size_t ran = 0, asked = 0;
    for (size_t i = 0; i < n[0] * n[1] * n[2] * n[3]; i += step, asked++)
        ran += check_run(product->machines[i % n[0]], &product->calls[i / n[0] % n[1]],
                         product->mappers[i / n[0] / n[1] % n[2]],
                         product->sizes[i / n[0] / n[1] / n[2]]);
    if ((double)ran < least * (double)asked)
        fail_msg("%zu of %zu ran", ran, asked);
}

static void no_run_is_faster_than_its_bound(void **state)
{
    (void)state;
    const char *const every = getenv("BOUNDS_EVERY");
    /* 17 machines: 306 (61) of the 1,224 combinations, each machine in turn */
    const size_t step = sanitized ? 20 : 4;
    check_product(&small, every != NULL ? strtoul(every, NULL, 10) : step, 0.8);
    if (every == NULL)
        return;
    check_product(&large, strtoul(every, NULL, 10), 0.5);
    check_product(&largest, strtoul(every, NULL, 10), 0.3);
}

/* Groups of some ranks in any order, on PEs of their own or on all, which make one call. */
static const char *const group_machines[] = {
    "",
    "--set links.hbm.bw_gbs=8",
    "--set links.pe_noc.bw_gbs=2",
    "--set links.noc.bw_gbs=2",
    "--set links.noc_ucie.bw_gbs=3",
    "--set links.ucie.bw_gbs=2",
    "--set links.hub.bw_gbs=1",
    "--set links.sip_link.bw_gbs=4",
    "--set links.sio.bw_gbs=4 --set links.hccs.bw_gbs=3",
    "--set fabric.contention=chunk",
};

static const char *const group_topologies[] = {
    "ring_1d",
    "torus_2d",
    "mesh_2d_no_wrap",
    "torus_3d",
    "switch",
    "fully_connected",
    "pair_switch",
    "[{\"fully_connected\":4,\"bw_gbs\":100},{\"ring_1d\":3,\"bw_gbs\":2}]",
    "[{\"switch\":4},{\"fully_connected\":3,\"bw_gbs\":3}]"};

static const char *const lanes[] = {"",
                                    "--set groups.g.lanes=8-15 ",
                                    "--set groups.g.lanes=0-15 ",
                                    "--set groups.g.lanes=19-22 ",
                                    "--set groups.g.lanes=16-31 ",
                                    "--set groups.g.lanes=13 "};

static const struct call group_calls[] = {{"all_reduce", ""},
                                          {"all_reduce", "ring_rs_ag"},
                                          {"all_reduce", "direct_rs_ag"},
                                          {"all_reduce", "double_binary_tree"},
                                          {"all_reduce", "lrab_hierarchical_allreduce"},
                                          {"all_reduce", "ring_allreduce"},
                                          {"reduce_scatter", "direct_reduce_scatter"},
                                          {"reduce_scatter", ""},
                                          {"all_gather", "rings_all_gather"},
                                          {"all_gather", ""},
                                          {"all_to_all", "pairwise_all_to_all"},
                                          {"broadcast", ""},
                                          {"barrier", ""},
                                          {"send", ""}};

/* "3,0,7": so many of the `world` ranks. */
static void draw_ranks(struct cw_rng *rng, uint32_t world, uint32_t count, char text[64])
{
    uint32_t rank[12];
    size_t n = 0;
    for (uint32_t i = 0; i < world; i++)
        rank[i] = i;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = i + cw_rng_below(rng, world - i), drawn = rank[at];
        rank[at] = rank[i];
        rank[i] = drawn;
        n += (size_t)snprintf(text + n, 64 - n, "%s%u", i > 0 ? "," : "", drawn);
    }
}

#define DRAWN(rng, list) list[cw_rng_below(rng, COUNT_OF(list))]

/* True: it ran, with a bound above 0. */
static bool check_group(struct cw_rng *rng)
{
    static const char *const sizes[] = {"840KiB", "105KiB", "6720B", "13440B"};
    enum { SIPS = 12 };
    char line[900], ranks[64], call[64], entry[160] = "";
    const struct call drawn = DRAWN(rng, group_calls);
    const bool sends = strcmp(drawn.bench, "send") == 0;
    const uint32_t size = 2 + cw_rng_below(rng, 7);
    draw_ranks(rng, SIPS, sends ? 2 : size == 8 ? SIPS : size, ranks);
    if (sends)
        snprintf(call, sizeof call, "send:%.*s-%s:%s", (int)strcspn(ranks, ","), ranks,
                 strchr(ranks, ',') + 1, DRAWN(rng, sizes));
    else
        snprintf(call, sizeof call, "%s:g%s%s", drawn.bench,
                 strcmp(drawn.bench, "barrier") == 0 ? "" : ":",
                 strcmp(drawn.bench, "barrier") == 0 ? "" : DRAWN(rng, sizes));
    if (drawn.entry[0] != '\0')
        snprintf(entry, sizeof entry, "--set groups.g.algorithm=%s --set algorithms.%s.mapper=%s ",
                 drawn.entry, drawn.entry, DRAWN(rng, mappers));
    snprintf(line, sizeof line,
             "run --bench concurrent --quiet --no-data --set sip.cube_mesh.w=%u --set "
             "sip.cube_mesh.h=2 --set system.sips.count=%d --set system.sips.topology=%s %s --set "
             "groups.g.ranks=[%s] %s%s--call %s",
             2 + cw_rng_below(rng, 2), SIPS, DRAWN(rng, group_topologies),
             DRAWN(rng, group_machines), ranks, DRAWN(rng, lanes), entry, call);
    const char *args[48] = {NULL};
    size_t count = 0;
    char words[sizeof line], *rest = words;
    memcpy(words, line, sizeof words);
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL && count + 1 < COUNT_OF(args);)
        args[count++] = word;
    struct run_output output = run_cubewarp(args);
    const bool ran = output.exit_code == 0;
    double efficiency = 0;
    if (ran) {
        const char *row = output.out;
        while (*row == '#')
            row = strchr(row, '\n') + 1;
        if (sscanf(row, "%*s %*s %*s %*s %*s %*s %*s %*s %lf", &efficiency) != 1 ||
            efficiency > 100)
            fail_msg("%s: %s", line, output.out);
    } else if (output.exit_code != 2) {
        fail_msg("%s: exit code %d: %s", line, output.exit_code, output.err);
    }
    if (getenv("BOUNDS_SHOWN") != NULL)
        printf("%.2f %d %s\n", efficiency, output.exit_code, ran ? line : output.err);
    run_output_free(&output);
    return ran && efficiency > 0;
}

static void no_group_is_faster_than_its_bound(void **state)
{
    (void)state;
    const char *const asked = getenv("BOUNDS_GROUPS");
    struct cw_rng rng = cw_rng_seeded(7, 0);
    const uint32_t count = asked != NULL                    ? (uint32_t)strtoul(asked, NULL, 10)
                           : getenv("BOUNDS_EVERY") != NULL ? 3000
                           : sanitized                      ? 12
                                                            : 60;
    uint32_t ran = 0;
    for (uint32_t i = 0; i < count; i++)
        ran += check_group(&rng);
    if (ran < count * 7 / 10)
        fail_msg("%u of %u ran", ran, count);
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
        cmocka_unit_test(no_group_is_faster_than_its_bound),
        cmocka_unit_test(the_busiest_link_s_share_is_said),
    };
    return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
