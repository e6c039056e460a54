/*
 * test_costs.c: costs and energies of runs, worked out by hand from hw/HARDWARE.md, "Costs".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/run_cubewarp.h"

/* A member of results[0]. */
static double figure(const json_t *root, const char *key)
{
    const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
    return json_number_value(json_object_get(row, key));
}

static double of_machine(const json_t *root, const char *key)
{
    return json_number_value(json_object_get(json_object_get(root, "topology"), key));
}

static void assert_near(double value, double expected)
{
    assert_float_equal(value / expected, 1, 1e-12);
}

/* A ring of 4 ranks sends 2 x 3/4 of the tensor each: 4 x 98,304 bytes. */
#define RING                                                                                       \
    "run --quiet --no-data --algorithm ring_rs_ag --bytes-per-rank 64KiB --set "                   \
    "system.sips.topology="
static const double ring_bits = 8.0 * 4 * 98304;

static void bits_on_links_cost_their_energy(void **state)
{
    (void)state;
    json_t *const root = run_json(RING "ring_1d --set links.sip_link.pj_per_bit=5");
    assert_near(figure(root, "joules"), ring_bits * 5e-12);
    assert_near(figure(root, "joules_per_byte"), ring_bits * 5e-12 / 65536);
    assert_null(json_object_get(json_object_get(root, "topology"), "cost"));
    json_decref(root);
}

/* On a switch the same bits cross two links, and the switch once. */
static void switches_and_watts_count_folded_or_not(void **state)
{
    (void)state;
    double times[2] = {0};
    for (int i = 0; i < 2; i++) {
        json_t *const root = run_json(
            RING "switch --set links.sip_link.pj_per_bit=5 --set nodes.switch.pj_per_bit=3 --set "
                 "nodes.switch.watts=10 --set sip.watts=2.5 --set links.sip_link.watts=0.25 --set "
                 "nodes.switch.cost=9 --set sip.cost=100 --set links.sip_link.cost=0.5 --fold %s",
            i == 0 ? "on" : "off");
        times[i] = figure(root, "time_ns");
        assert_near(of_machine(root, "watts"), 10 + 4 * 2.5 + 4 * 0.25);
        assert_near(of_machine(root, "cost"), 9 + 4 * 100 + 4 * 0.5);
        assert_near(of_machine(root, "switches"), 1);
        assert_near(figure(root, "joules"), 21 * times[i] * 1e-9 + ring_bits * 13e-12);
        assert_near(figure(root, "time_cost_us"), 411 * times[i] / 1000);
        json_decref(root);
    }
    assert_near(times[0], times[1]);
}

/* Twice the bandwidth, at twice the cost. */
static void a_scale_is_another_bandwidth_at_another_cost(void **state)
{
    (void)state;
    json_t *const scaled = run_json(RING "ring_1d --set links.scale=2 --set links.sip_link.cost=7");
    json_t *const given = run_json(RING "ring_1d --set links.sip_link.bw_gbs=200");
    assert_near(figure(scaled, "time_ns"), figure(given, "time_ns"));
    assert_near(of_machine(scaled, "cost"), 4 * 14);
    json_decref(scaled);
    json_decref(given);
}

static void the_table_the_csv_and_topo_have_them(void **state)
{
    (void)state;
    struct run_output output = run_line(0, RING "ring_1d --set links.sip_link.cost=7");
    assert_non_null(strstr(output.out, "# Built             : 4 sip_link of 100 GB/s, 0 switches; "
                                       "cost 28\n"));
    assert_null(strstr(output.out, "per byte"));
    run_output_free(&output);
    output = run_line(0, RING "ring_1d --csv -");
    assert_null(strstr(output.out, "time_cost_us"));
    run_output_free(&output);
    output = run_line(0, RING "ring_1d --csv - --set sip.watts=1");
    assert_non_null(strstr(output.out, ",links_built,switches,cost,time_cost_us,watts,joules,"
                                       "joules_per_byte,"));
    assert_non_null(strstr(output.out, ",4,0,,,4,"));
    run_output_free(&output);
    output = run_line(0, "topo --preset fat_tree_64 --set links.sip_link.cost=2");
    assert_non_null(strstr(output.out, "links        64 level_1"));
    assert_non_null(strstr(output.out, "             64 level_2"));
    assert_non_null(strstr(output.out, "switches     16\ncost         256,"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_on_links_cost_their_energy),
        cmocka_unit_test(switches_and_watts_count_folded_or_not),
        cmocka_unit_test(a_scale_is_another_bandwidth_at_another_cost),
        cmocka_unit_test(the_table_the_csv_and_topo_have_them),
    };
    return cmocka_run_group_tests_name("costs", tests, NULL, NULL);
}
