/*
 * test_group_times.c: what groups of ranks take side by side and in turn, to the picosecond: times
 * that follow from the serialisations of hw/HARDWARE.md, section 4, and from its rule that a PE
 * runs one kernel at a time. All kernels of a run are launched together.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define RUN                                                                                        \
    "run --bench concurrent --quiet --no-data --set system.sips.count=8 --set sip.cube_mesh.w=1 "  \
    "--set sip.cube_mesh.h=1 --set launch_together=true --set system.sips.topology=%s %s"

/* A call among those of a run: from its first kernel's start to its last one's end. */
struct times {
    long long time_ps, begin_ps, end_ps;
};

static long long ps_at(const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return llround(json_number_value(value) * 1000);
}

/* The first `count` calls of a run. */
static void run_calls(struct times *times, size_t count, const char *topology, const char *args)
{
    json_t *const root = run_json(RUN, topology, args);
    for (size_t i = 0; i < count; i++) {
        const json_t *const row = json_array_get(json_object_get(root, "results"), i);
        const json_t *const groups = json_object_get(row, "groups");
        times[i] = (struct times){ps_at(row, "time_ns"), ps_at(groups, "begin_ns"),
                                  ps_at(groups, "end_ns")};
        assert_true(times[i].time_ps > 0);
    }
    json_decref(root);
}

static long long time_alone(const char *topology, const char *args)
{
    struct times times;
    run_calls(&times, 1, topology, args);
    return times.time_ps;
}

/* ---- side by side on links that they share --------------------------------------------------- */

/* PEs 0 and 1 share a router, and so all links from there on. Their tiles come to it at one
 * instant. The second one leaves the slowest link that they share one serialisation later. */
static void the_second_of_two_tiles_is_one_serialisation_later(void **state)
{
    (void)state;
    static const struct {
        const char *topology, *ranks;
        long long slowest_gbs; /* of noc, noc_ucie 256, ucie 128, sip_link 100, sio 270, hccs 196 */
    } ways[] = {{"ring_1d", "0-1", 100},       {"ring_1d", "[2,0]", 100},
                {"torus_2d", "[0,5]", 100},    {"mesh_2d_no_wrap", "[6,1]", 100},
                {"switch", "[3,7]", 100},      {"fully_connected", "[4,2]", 100},
                {"pair_switch", "[0,1]", 128}, {"pair_switch", "[6,2]", 128}};
    static const long long bytes[] = {64, 1000, 4096};
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        const long long n = bytes[i % COUNT_OF(bytes)], gbs = ways[i].slowest_gbs;
        char groups[300], args[600];
        struct times times[2];
        snprintf(groups, sizeof groups,
                 "--set groups.a.ranks=%s --set groups.a.lanes=0 --set groups.b.ranks=%s "
                 "--set groups.b.lanes=1",
                 ways[i].ranks, ways[i].ranks);
        snprintf(args, sizeof args, "%s --call broadcast:b:%lld", groups, n);
        const long long alone_ps = time_alone(ways[i].topology, args);
        snprintf(args, sizeof args, "%s --call broadcast:a:%lld --call broadcast:b:%lld", groups, n,
                 n);
        run_calls(times, 2, ways[i].topology, args);
        assert_int_equal(times[0].time_ps, alone_ps);
        assert_int_equal(times[1].time_ps, alone_ps + (n * 1000 + gbs - 1) / gbs);
    }
}

/* A lone rank's PE exchanges nothing, and has its own link to its own HBM slice. */
static void lanes_that_share_no_link_take_the_time_of_one(void **state)
{
    (void)state;
    enum { LANES = 8 };
    char args[2000] = "";
    struct times times[LANES];
    for (int i = 0; i < LANES; i++) {
        const size_t used = strlen(args);
        snprintf(args + used, sizeof args - used,
                 "--set groups.g%d.ranks=5 --set groups.g%d.lanes=%d "
                 "--set groups.g%d.algorithm=ring_allreduce --call all_reduce:g%d:4096 ",
                 i, i, i, i, i);
    }
    run_calls(times, LANES, "ring_1d", args);
    const long long alone_ps =
        time_alone("ring_1d", "--set groups.g.ranks=5 --set groups.g.lanes=0 --set "
                              "groups.g.algorithm=ring_allreduce --call all_reduce:g:4096");
    for (int i = 0; i < LANES; i++) {
        assert_int_equal(times[i].begin_ps, 0);
        assert_int_equal(times[i].time_ps, alone_ps);
    }
}

/* ---- in turn --------------------------------------------------------------------------------- */

/* All ranks of these calls end at one instant, since each does what the others do. */
static const struct {
    const char *algorithm, *collective;
} alike[] = {{"ring_allreduce", "all_reduce"},
             {"ring_rs_ag", "all_reduce"},
             {"lrab_hierarchical_allreduce", "all_reduce"},
             {"pairwise_all_to_all", "all_to_all"}};

/* A kernel that waits for its PE starts when the kernel before it ends. */
static void groups_in_turn_start_when_the_one_before_ends(void **state)
{
    (void)state;
    static const struct {
        const char *topology, *ranks;
    } ways[] = {{"ring_1d", "[0,1]"},
                {"torus_2d", "[6,7]"},
                {"fully_connected", "[5,2]"},
                {"switch", "[7,0]"}};
    for (size_t i = 0; i < COUNT_OF(ways) * COUNT_OF(alike); i++) {
        const char *const topology = ways[i % COUNT_OF(ways)].topology, *const ranks =
                                                                            ways[i % COUNT_OF(ways)]
                                                                                .ranks;
        const size_t first = i / COUNT_OF(ways), second = (first + 1 + i % 3) % COUNT_OF(alike);
        char groups[500], args[700];
        snprintf(groups, sizeof groups,
                 "--set groups.a.ranks=%s --set groups.a.algorithm=%s --set groups.b.ranks=%s "
                 "--set groups.b.algorithm=%s",
                 ranks, alike[first].algorithm, ranks, alike[second].algorithm);
        struct times times[3];
        snprintf(args, sizeof args, "%s --call %s:a:2048", groups, alike[first].collective);
        const long long a_ps = time_alone(topology, args);
        snprintf(args, sizeof args, "%s --call %s:b:2048", groups, alike[second].collective);
        const long long b_ps = time_alone(topology, args);
        snprintf(args, sizeof args, "%s --call %s:a:2048 --call %s:b:2048 --call %s:a:2048", groups,
                 alike[first].collective, alike[second].collective, alike[first].collective);
        run_calls(times, 3, topology, args);
        const long long starts_ps[] = {0, a_ps, a_ps + b_ps, a_ps + b_ps + a_ps};
        for (int call = 0; call < 3; call++) {
            assert_int_equal(times[call].begin_ps, starts_ps[call]);
            assert_int_equal(times[call].end_ps, starts_ps[call + 1]);
        }
    }
}

/* ---- on SIPs of their own -------------------------------------------------------------------- */

/* The routes between a group's SIPs share no link with those of the other group (hw/HARDWARE.md,
 * sections 2 and 3): rows of a grid, arcs of a ring, switches of a parity, inner levels, links
 * between two SIPs each. A switch has links of its own for each SIP. */
static const struct {
    const char *topology, *a, *b;
} apart[] = {{"ring_1d", "[0,1,2,3]", "[4,5,6,7]"},
             {"torus_2d", "[0,1,2,3]", "[4,5,6,7]"},
             {"torus_2d", "[2,0,3,1]", "[6,4,7,5]"},
             {"mesh_2d_no_wrap", "[0,1,2,3]", "[4,5,6,7]"},
             {"switch", "[5,0,6,3]", "[1,7,2,4]"},
             {"fully_connected", "[7,2,0,5]", "[1,6,3,4]"},
             {"pair_switch", "[0,4,2,6]", "[1,5,3,7]"},
             {"torus_3d", "[0,1,2,3]", "[4,5,6,7]"},
             {"[{'ring_1d':4},{'switch':2}]", "[3,1,0,2]", "[7,5,4,6]"}};
static const struct {
    const char *algorithm, *collective;
} any[] = {{"ring_allreduce", "all_reduce"},
           {"ring_rs_ag", "all_reduce"},
           {"tree_allreduce", "all_reduce"},
           {"lrab_hierarchical_allreduce", "all_reduce"},
           {"pairwise_all_to_all", "all_to_all"}};

static void groups_whose_routes_share_no_part_take_the_time_of_one(void **state)
{
    (void)state;
    const char *const every = getenv("GROUPS_EVERY");
    const size_t step = every != NULL ? strtoul(every, NULL, 10) : 7;
    assert_true(step > 0);
    for (size_t i = 0; i < COUNT_OF(apart) * COUNT_OF(any); i += step) {
        const size_t way = i % COUNT_OF(apart), which = i / COUNT_OF(apart);
        char groups[500], args[700];
        snprintf(groups, sizeof groups,
                 "--set groups.a.ranks=%s --set groups.a.algorithm=%s --set groups.b.ranks=%s "
                 "--set groups.b.algorithm=%s",
                 apart[way].a, any[which].algorithm, apart[way].b, any[which].algorithm);
        long long alone_ps[2];
        for (int call = 0; call < 2; call++) {
            snprintf(args, sizeof args, "%s --call %s:%c:20480", groups, any[which].collective,
                     "ab"[call]);
            alone_ps[call] = time_alone(apart[way].topology, args);
        }
        struct times times[2];
        snprintf(args, sizeof args, "%s --call %s:a:20480 --call %s:b:20480", groups,
                 any[which].collective, any[which].collective);
        run_calls(times, 2, apart[way].topology, args);
        for (int call = 0; call < 2; call++)
            if (times[call].begin_ps != 0 || times[call].time_ps != alone_ps[call])
                fail_msg("%s on %s: from %lld, %lld ps, alone %lld", any[which].algorithm,
                         apart[way].topology, times[call].begin_ps, times[call].time_ps,
                         alone_ps[call]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_of_two_tiles_is_one_serialisation_later),
        cmocka_unit_test(lanes_that_share_no_link_take_the_time_of_one),
        cmocka_unit_test(groups_in_turn_start_when_the_one_before_ends),
        cmocka_unit_test(groups_whose_routes_share_no_part_take_the_time_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
