/*
 * test_group_algorithms.c: every algorithm on groups whose ranks are anywhere: in any order, apart
 * from each other, one alone, two, all; on all kinds of SIP topologies. Each run is verified bit
 * for bit, or refused as the algorithm's conditions say (collectives/algorithms/ALGORITHMS.md). A
 * sample of the list runs; GROUPS_EVERY=1 runs all of it.
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

static const char *const topologies[] = {"ring_1d",
                                         "torus_2d",
                                         "mesh_2d_no_wrap",
                                         "switch",
                                         "fully_connected",
                                         "pair_switch",
                                         "[{'ring_1d':4},{'switch':2}]",
                                         "[{'torus_2d':[2,2]},{'switch':2}]",
                                         "torus_3d"};

struct ranks {
    const char *list;
    uint32_t count;
    bool packages; /* both dies of each */
};
static const struct ranks groups[] = {{"[5,2,7,0]", 4, false},    {"6", 1, false},
                                      {"[3,6]", 2, false},        {"[4,1,6]", 3, false},
                                      {"[7,1,6,0]", 4, true},     {"[7,6,5,4,3,2,1,0]", 8, true},
                                      {"[5,0,4,1,2,3]", 6, true}, {"0-7", 8, true}};

struct algorithm {
    const char *name, *collective;
    /* What it is for, by its description. */
    bool one_cube, dies, powers_of_two, more_ranks;
};
static const struct algorithm algorithms[] = {
    {.name = "lrab_hierarchical_allreduce", .collective = "all_reduce"},
    {.name = "intercube_allreduce", .collective = "all_reduce"},
    {.name = "lrab_pipelined_allreduce", .collective = "all_reduce"},
    {.name = "pe_hierarchical_allreduce", .collective = "all_reduce"},
    {.name = "ring_allreduce", .collective = "all_reduce"},
    {.name = "tree_allreduce", .collective = "all_reduce"},
    {.name = "birs_allreduce", .collective = "all_reduce", .one_cube = true, .dies = true},
    {.name = "ring_rs_ag", .collective = "all_reduce"},
    {.name = "torus_rs_ag", .collective = "all_reduce"},
    {.name = "direct_rs_ag", .collective = "all_reduce"},
    {.name = "halving_doubling", .collective = "all_reduce"},
    {.name = "recursive_doubling", .collective = "all_reduce"},
    {.name = "double_binary_tree", .collective = "all_reduce"},
    {.name = "hierarchical", .collective = "all_reduce"},
    {.name = "auto_all_reduce", .collective = "all_reduce"},
    {.name = "birs", .collective = "reduce_scatter", .one_cube = true, .dies = true},
    {.name = "birs_inter",
     .collective = "reduce_scatter",
     .one_cube = true,
     .dies = true,
     .more_ranks = true},
    {.name = "rhd", .collective = "reduce_scatter", .one_cube = true},
    {.name = "mesh", .collective = "reduce_scatter", .one_cube = true},
    {.name = "auto", .collective = "reduce_scatter", .one_cube = true},
    {.name = "rings_reduce_scatter", .collective = "reduce_scatter"},
    {.name = "torus_reduce_scatter", .collective = "reduce_scatter"},
    {.name = "direct_reduce_scatter", .collective = "reduce_scatter"},
    {.name = "halving_reduce_scatter", .collective = "reduce_scatter", .powers_of_two = true},
    {.name = "auto_reduce_scatter", .collective = "reduce_scatter"},
    {.name = "ring_all_gather", .collective = "all_gather"},
    {.name = "rings_all_gather", .collective = "all_gather"},
    {.name = "torus_all_gather", .collective = "all_gather"},
    {.name = "direct_all_gather", .collective = "all_gather"},
    {.name = "doubling_all_gather", .collective = "all_gather", .powers_of_two = true},
    {.name = "auto_all_gather", .collective = "all_gather"},
    {.name = "pairwise_all_to_all", .collective = "all_to_all"},
    {.name = "auto_all_to_all", .collective = "all_to_all"},
    {.name = "relay_broadcast", .collective = "broadcast"},
};

enum {
    TOPOLOGIES = sizeof topologies / sizeof *topologies,
    GROUPS = sizeof groups / sizeof *groups,
    ALGORITHMS = sizeof algorithms / sizeof *algorithms,
    CUBES = 2,
    ALL = TOPOLOGIES * GROUPS * ALGORITHMS * CUBES
};

static bool is_legal(const struct algorithm *algorithm, const char *topology,
                     const struct ranks *ranks, uint32_t cubes)
{
    const bool paired = strcmp(topology, "pair_switch") == 0;
    return !(algorithm->one_cube && cubes > 1) &&
           !(algorithm->dies && (!paired || !ranks->packages)) &&
           !(algorithm->powers_of_two && (ranks->count & (ranks->count - 1)) != 0) &&
           !algorithm->more_ranks;
}

static void one_of_the_list(uint32_t number)
{
    const struct algorithm *const algorithm = &algorithms[number % ALGORITHMS];
    const char *const topology = topologies[number / ALGORITHMS % TOPOLOGIES];
    const struct ranks *const ranks = &groups[number / ALGORITHMS / TOPOLOGIES % GROUPS];
    const uint32_t cubes = 1 + number / ALGORITHMS / TOPOLOGIES / GROUPS;
    const bool legal = is_legal(algorithm, topology, ranks, cubes);
    struct run_output output = run_line(
        legal ? 0 : 2,
        "run --bench concurrent --verify-data --quiet --max-events 10000000 "
        "--set system.sips.count=8 --set system.sips.topology=%s --set sip.cube_mesh.w=%u "
        "--set sip.cube_mesh.h=1 --set groups.g.ranks=%s --set groups.g.algorithm=%s "
        "--call %s:g:%u",
        topology, cubes, ranks->list, algorithm->name, algorithm->collective, 6720u << number % 3);
    const char *const wanted = legal ? "Wrong values      : 0 OK" : NULL;
    if (legal && (strstr(output.out, wanted) == NULL || strstr(output.out, "Verified") == NULL))
        fail_msg("%s on %s, ranks %s:\n%s", algorithm->name, topology, ranks->list, output.out);
    if (!legal && strstr(output.err, "legal") == NULL && strstr(output.err, " use ") == NULL)
        fail_msg("%s on %s, ranks %s, does not say what is legal:\n%s", algorithm->name, topology,
                 ranks->list, output.err);
    run_output_free(&output);
}

static void any_group_runs_every_algorithm_or_says_what_is_legal(void **state)
{
    (void)state;
    const char *const given = getenv("GROUPS_EVERY");
    const uint32_t every = given != NULL ? (uint32_t)strtoul(given, NULL, 10) : 101;
    assert_true(every > 0);
    for (uint32_t number = 0; number < ALL; number += every)
        one_of_the_list(number);
}

/* The samples of the list may lack these. */
static void kernels_on_paired_dies_run_on_any_packages(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < ALL / CUBES; number++)
        if (algorithms[number % ALGORITHMS].dies &&
            strcmp(topologies[number / ALGORITHMS % TOPOLOGIES], "pair_switch") == 0)
            one_of_the_list(number);
}

/* A broadcast and a barrier go along the queues of the group's algorithm, wherever its lanes are.
 */
static void relays_go_by_the_groups_lanes(void **state)
{
    (void)state;
    static const char *const entries[] = {"ring_rs_ag", "pairwise_all_to_all", "ring_allreduce",
                                          "double_binary_tree"};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct run_output output =
            run_line(0,
                     "run --bench concurrent --verify-data --quiet --set system.sips.count=4 "
                     "--set sip.cube_mesh.w=2 --set sip.cube_mesh.h=1 --set groups.g.ranks=[3,1] "
                     "--set groups.g.algorithm=%s --set groups.g.lanes=%s "
                     "--call broadcast:g:6720",
                     entries[i], i % 2 == 0 ? "4-7" : "8-15");
        assert_non_null(strstr(output.out, "Wrong values      : 0 OK"));
        run_output_free(&output);
    }
    struct run_output output =
        run_line(2, "run --bench concurrent --set system.sips.count=4 --set groups.g.ranks=0-3 "
                    "--set groups.g.algorithm=ring_rs_ag --set groups.g.lanes=5 --set "
                    "algorithms.ring_rs_ag.rings=4 "
                    "--call all_reduce:g:6720");
    assert_non_null(strstr(output.err, "legal: more lanes"));
    run_output_free(&output);
}

/* A lone rank has no queues, so any number of them fits on one PE. */
static void many_groups_of_one_rank_fit(void **state)
{
    (void)state;
    enum { LONE = 20 };
    char line[4000];
    size_t used = (size_t)snprintf(line, sizeof line,
                                   "run --bench concurrent --verify-data --quiet --set "
                                   "system.sips.count=2 --set sip.cube_mesh.w=1 --set "
                                   "sip.cube_mesh.h=1 --set groups.all.algorithm=ring_allreduce "
                                   "--call all_reduce:all:4KiB");
    for (int i = 0; i < LONE; i++)
        used += (size_t)snprintf(line + used, sizeof line - used,
                                 " --set groups.g%d.ranks=1 --set "
                                 "groups.g%d.algorithm=ring_allreduce --call all_reduce:g%d:4KiB",
                                 i, i, i);
    assert_true(used < sizeof line);
    struct run_output output = run_line(0, "%s", line);
    assert_non_null(strstr(output.out, "Wrong values      : 0 OK"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_group_runs_every_algorithm_or_says_what_is_legal),
        cmocka_unit_test(kernels_on_paired_dies_run_on_any_packages),
        cmocka_unit_test(relays_go_by_the_groups_lanes),
        cmocka_unit_test(many_groups_of_one_rank_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
