/*
 * test_neighbour_hooks.c: an algorithm's neighbors() hook (DECISIONS.md): it
 * replaces the built-in map, changes it, or keeps it. The algorithms come from a shared object
 * built here.
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

BUILT_PLUGIN("neighbour_hooks")

/* The call whose bits and times are compared: the maximum over all ranks of one shard each. */
#define TENSOR "--op max --n-elem 100 --set system.sips.count=5 --set system.sips.topology=ring_1d"

static void run_and_compare(const char *symbol, const char *topology, bool same_time)
{
    json_t *ours =
        run_json("run " TENSOR " --ccl %s", built_plugin_name_symbol(&plugin, symbol, topology));
    json_t *ring = run_json("run " TENSOR " --algorithm ring_allreduce");
    const json_t *a = json_array_get(json_object_get(ours, "results"), 0);
    const json_t *b = json_array_get(json_object_get(ring, "results"), 0);
    assert_string_equal(json_string_value(json_object_get(a, "data_hash")),
                        json_string_value(json_object_get(b, "data_hash")));
    if (same_time)
        assert_int_equal(json_ps(ours, "time_ns"), json_ps(ring, "time_ns"));
    json_decref(ours);
    json_decref(ring);
}

static void a_hook_may_replace_the_map(void **state)
{
    (void)state;
    run_and_compare("replaced", "none", false);
    run_and_compare("replaced", "custom", false);
    run_and_compare("replaced", "tree_binary", false);
}

static void a_hook_may_keep_the_map(void **state)
{
    (void)state;
    run_and_compare("kept", "ring_1d", true);
    run_and_compare("without_a_hook", "ring_1d", true);
}

static void a_hook_may_drop_a_direction(void **state)
{
    (void)state;
    struct run_output output = run_line(3, "run " TENSOR " --ccl %s",
                                        built_plugin_name_symbol(&plugin, "cut_ring", "ring_1d"));
    /* Whichever end of the cut comes first: rank 0 has no W, the last one no E. */
    assert_non_null(strstr(output.err, "IpcqInvalidDirection: PE 4.0.0, kernel cut_ring: send in "
                                       "direction E, which is not installed there; installed: W "
                                       "(at test/plugins/neighbour_hooks.c:"));
    run_output_free(&output);
}

static void a_direction_dropped_at_one_end_is_refused(void **state)
{
    (void)state;
    struct run_output output =
        run_line(2, "run " TENSOR " --ccl %s",
                 built_plugin_name_symbol(&plugin, "half_cut_ring", "ring_1d"));
    assert_non_null(strstr(output.err, "ccl.yaml:5:13: I3: direction E of rank 4 leads to rank 0, "
                                       "which has no direction W to lead back\n"));
    run_output_free(&output);
}

/* A line is made of a ring, or of a ring cut open; not of queues of other names, nor of none. */
static void an_all_gather_goes_by_what_the_hook_leaves(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"kept", "ring_1d"}, {"cut_ring", "ring_1d"}, {"cut_ring", "mesh_2d_no_wrap"}};
    static const char *const none[][2] = {
        {"replaced", "ring_1d"}, {"cut_ring", "ring_1d_unidir"}, {"kept", "none"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct run_output output =
            run_line(0, "run --bench ccl_all_gather --n-elem 9000 --verify-data --ccl %s",
                     built_plugin_name_symbol(&plugin, lines[i][0], lines[i][1]));
        run_output_free(&output);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char text[200];
        struct run_output output =
            run_line(2, "run --bench ccl_all_gather --ccl %s",
                     built_plugin_name_symbol(&plugin, none[i][0], none[i][1]));
        snprintf(text, sizeof text,
                 "ccl.yaml:5:13: an all-gather goes along lines of ranks, and the neighbors() hook "
                 "of %s leaves rank 0 without a direction E to rank 1; legal is ",
                 none[i][0]);
        if (strstr(output.err, text) == NULL)
            fail_msg("%s over %s said %s", none[i][0], none[i][1], output.err);
        run_output_free(&output);
    }
}

static void a_custom_topology_is_the_hook_s(void **state)
{
    (void)state;
    struct run_output output =
        run_line(2, "run " TENSOR " --ccl %s",
                 built_plugin_name_symbol(&plugin, "without_a_hook", "custom"));
    assert_non_null(strstr(output.err, "ccl.yaml:6:15: topology custom: the module of built has no "
                                       "neighbors() hook, which would say who is joined with whom; "
                                       "legal: a module with one, or a topology by name, such as "
                                       "ring_1d\n"));
    run_output_free(&output);
}

static void a_broadcast_over_a_hook_without_queues_names_the_module(void **state)
{
    (void)state;
    struct run_output output = run_line(2, "run --bench ccl_broadcast --ccl %s",
                                        built_plugin_name_symbol(&plugin, "kept", "none"));
    assert_non_null(strstr(output.err, "ccl.yaml:5:13: no queues lead from rank 0 to rank 1; "));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hook_may_replace_the_map),
        cmocka_unit_test(a_hook_may_keep_the_map),
        cmocka_unit_test(a_hook_may_drop_a_direction),
        cmocka_unit_test(a_direction_dropped_at_one_end_is_refused),
        cmocka_unit_test(an_all_gather_goes_by_what_the_hook_leaves),
        cmocka_unit_test(a_custom_topology_is_the_hook_s),
        cmocka_unit_test(a_broadcast_over_a_hook_without_queues_names_the_module),
    };
    return cmocka_run_group_tests_name("neighbour hooks", tests, build, clean);
}
