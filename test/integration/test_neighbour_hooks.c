/*
 * test_neighbour_hooks.c: an algorithm's neighbors() hook (seed ADR-0023, D11): it replaces the
 * built-in map, changes it, or keeps it. The algorithms come from a shared object built here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/integration/built_plugin.h"
#include "test/integration/run_cubewarp.h"

static struct built_plugin plugin;

static int build(void **state)
{
    (void)state;
    return built_plugin_make(&plugin, "neighbour_hooks");
}

static int clean(void **state)
{
    (void)state;
    return built_plugin_remove(&plugin);
}

/* What is compared: the maximum over all ranks of one shard each, and how long it took. */
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
    assert_non_null(strstr(output.err,
                           "IpcqInvalidDirection: PE 4.0.0, kernel cut_ring: send in "
                           "direction E, which is not installed there; installed: W\n"));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hook_may_replace_the_map),
        cmocka_unit_test(a_hook_may_keep_the_map),
        cmocka_unit_test(a_hook_may_drop_a_direction),
        cmocka_unit_test(a_direction_dropped_at_one_end_is_refused),
    };
    return cmocka_run_group_tests_name("neighbour hooks", tests, build, clean);
}
