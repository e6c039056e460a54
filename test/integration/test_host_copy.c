/*
 * test_host_copy.c: `host_copy: simulated` (HARDWARE.md, "Control plane"): maps and fills are
 * messages before the collective, which itself changes in nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

static long long top_ps(const json_t *root, const char *key)
{
    return (long long)(json_number_value(json_object_get(root, key)) * 1000 + 0.5);
}

static void the_collective_itself_changes_in_nothing(void **state)
{
    (void)state;
    static const char *const keys[] = {"time_ns", "host_time_ns", "start_skew_ns"};
    json_t *instant = run_json("run --n-elem 5000 --iters 2 --verify-data");
    json_t *simulated = run_json("run --n-elem 5000 --iters 2 --verify-data "
                                 "--set defaults.host_copy=simulated");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_int_equal(json_ps(simulated, keys[i]), json_ps(instant, keys[i]));
    assert_int_equal(top_ps(simulated, "init_time_ns"), top_ps(instant, "init_time_ns"));
    const json_t *a = json_array_get(json_object_get(instant, "results"), 0);
    const json_t *b = json_array_get(json_object_get(simulated, "results"), 0);
    assert_string_equal(json_string_value(json_object_get(a, "data_hash")),
                        json_string_value(json_object_get(b, "data_hash")));
    assert_true(top_ps(simulated, "sim_time_ns") > top_ps(instant, "sim_time_ns"));
    json_decref(instant);
    json_decref(simulated);
}

/*
 * One SIP of one cube: a map is 64 bytes there and back, as an IpcqInitMsg to one PE (603.080 ns,
 * see test_lp_control.c), and each fill of 4,032 bytes is 126 longer on the m_cpu link, its
 * slowest.
 */
static void a_map_and_each_fill_take_their_messages_time(void **state)
{
    (void)state;
    static const char machine[] = "--set system.sips.count=1 --set system.sips.topology=ring_1d "
                                  "--set sip.cube_mesh.w=1 --set sip.cube_mesh.h=1";
    json_t *instant = run_json("run %s --n-elem 2016 --warmup 0 --iters 3", machine);
    json_t *simulated = run_json("run %s --n-elem 2016 --warmup 0 --iters 3 "
                                 "--set defaults.host_copy=simulated",
                                 machine);
    const long long more_ps = top_ps(simulated, "sim_time_ns") - top_ps(instant, "sim_time_ns");
    assert_int_equal(more_ps, 603080 + 3 * (603080 + 126000));
    json_decref(instant);
    json_decref(simulated);
}

/* Bytes go to every shard's PE, also without a data pass. */
static void fills_take_their_time_without_data_too(void **state)
{
    (void)state;
    json_t *with = run_json("run --n-elem 5000 --set defaults.host_copy=simulated");
    json_t *without = run_json("run --n-elem 5000 --no-data --set defaults.host_copy=simulated");
    assert_int_equal(top_ps(with, "sim_time_ns"), top_ps(without, "sim_time_ns"));
    json_decref(with);
    json_decref(without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_collective_itself_changes_in_nothing),
        cmocka_unit_test(a_map_and_each_fill_take_their_messages_time),
        cmocka_unit_test(fills_take_their_time_without_data_too),
    };
    return cmocka_run_group_tests_name("host_copy", tests, NULL, NULL);
}
