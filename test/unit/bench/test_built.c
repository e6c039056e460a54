/*
 * test_built.c: the links and switches that a machine is built of, counted by hand, and what its
 * parts cost together (hw/HARDWARE.md, "Costs").
 */
#include "test/support/test_config_support.h"

#include "collectives/config/config_load.h"
#include "hw/timing.h"
#include "hw/topology/built.h"

static struct hw_built built_with(const char *const *sets, size_t count)
{
    struct config *const config = load_with("tiny", sets, count);
    const struct hw_built built = hw_built_of(&config->hw);
    config_free(config);
    return built;
}

static void links_and_switches_are_those_counted_by_hand(void **state)
{
    (void)state;
    static const struct {
        const char *count, *topology;
        uint64_t links, switches;
    } machines[] = {
        {"1", "torus_2d", 0, 0},
        {"2", "ring_1d", 2, 0},           /* E to W, and W to E */
        {"4", "torus_2d", 8, 0},          /* 2 x 2: 2 in each of 2 rows and 2 columns */
        {"12", "torus_2d", 24, 0},        /* 4 x 3: 2 of each SIP */
        {"12", "mesh_2d_no_wrap", 17, 0}, /* 4 x 3: 3 x 3 along x, 4 x 2 along y */
        {"27", "torus_3d", 81, 0},        /* 3 of each SIP */
        {"8", "fully_connected", 28, 0},  /* 8 x 7 / 2 */
        {"8", "switch", 8, 1},            /* one of each SIP */
    };
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        char count[64], topology[64];
        const char *const sets[] = {count, topology};
        snprintf(count, sizeof count, "system.sips.count=%s", machines[i].count);
        snprintf(topology, sizeof topology, "system.sips.topology=%s", machines[i].topology);
        const struct hw_built built = built_with(sets, 2);
        assert_int_equal(built.links[HW_LINK_SIP_LINK], machines[i].links);
        assert_int_equal(built.ways[HW_LINK_SIP_LINK], 2 * machines[i].links);
        assert_int_equal(built.all_links, machines[i].links);
        assert_int_equal(built.switches, machines[i].switches);
        assert_false(built.has_cost || built.has_energy);
    }
}

/* 8 SIPs: 4 packages of two dies, and each die's link to one of two switches. */
static void paired_dies_have_links_of_two_kinds(void **state)
{
    (void)state;
    static const char *const sets[] = {"system.sips.count=8", "system.sips.topology=pair_switch"};
    const struct hw_built built = built_with(sets, COUNT_OF(sets));
    assert_int_equal(built.links[HW_LINK_SIO], 4);
    assert_int_equal(built.links[HW_LINK_HCCS], 8);
    assert_int_equal(built.all_links, 12);
    assert_int_equal(built.switches, 2);
}

/* 32 SIPs: 4 fully connected groups of 8 with 28 links each, and 8 switches for 4 SIPs each. */
static void levels_cost_what_they_say_or_what_sip_link_says(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "system.sips={count: 32, topology: [{fully_connected: 8, cost: 2.5, watts: 0.5}, "
        "{switch: 4, bw_gbs: 50, pj_per_bit: 7}]}",
        "links.sip_link.cost=10",
        "links.sip_link.watts=3",
        "sip.cost=100",
        "sip.watts=200",
        "nodes.switch.cost=1000",
        "nodes.switch.watts=40",
        "links.hccs.cost=99"};
    const struct hw_built built = built_with(sets, COUNT_OF(sets));
    assert_int_equal(built.links[HW_LINK_CLASS_1], 112);
    assert_int_equal(built.links[HW_LINK_CLASS_1 + 1], 32);
    assert_int_equal(built.switches, 8);
    assert_true(built.has_cost && built.has_energy);
    assert_float_equal(built.cost, 32 * 100 + 112 * 2.5 + 32 * 10 + 8 * 1000, 0);
    assert_float_equal(built.watts, 32 * 200 + 112 * 0.5 + 32 * 3 + 8 * 40, 0);
}

/* A torus of 4 x 2 has 16 links, one of which fails, both ways. */
static void failed_links_were_built(void **state)
{
    (void)state;
    static const char *const sets[] = {"system.sips.count=8", "system.sips.topology=torus_2d",
                                       "links.sip_link.cost=5",
                                       "faults.x={links: 0-1, failed: true}"};
    const struct hw_built built = built_with(sets, COUNT_OF(sets));
    assert_int_equal(built.links[HW_LINK_SIP_LINK], 16);
    assert_int_equal(built.ways[HW_LINK_SIP_LINK], 30);
    assert_float_equal(built.cost, 80, 0);
}

/* A cable each way, a cable one way, two cables; switches of two kinds. */
static void graphs_say_what_their_parts_cost(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "system.sips.topology={graph: {sips: 4, switches: [{name: leaf, count: 2, cost: 50}, "
        "{name: "
        "spine, watts: 6}], classes: {down: {cost: 10}, up: {watts: 2}}, links: [{from: 0-1, to: "
        "leaf.0, class: down}, {from: 2-3, to: leaf.1, class: down}, {from: leaf.0-1, to: spine, "
        "class: up, cables: 2}, {from: 0, to: 1, class: down, one_way: true}]}}",
        "links.sip_link.cost=7", "nodes.switch.cost=400", "links.scale=2"};
    const struct hw_built built = built_with(sets, COUNT_OF(sets));
    assert_int_equal(built.links[HW_LINK_CLASS_1], 5);
    assert_int_equal(built.ways[HW_LINK_CLASS_1], 9);
    assert_int_equal(built.links[HW_LINK_CLASS_1 + 1], 4);
    assert_int_equal(built.all_links, 9);
    assert_int_equal(built.switches, 3);
    assert_float_equal(built.cost, 5 * 20 + 4 * 14 + 2 * 50 + 400, 0);
    assert_float_equal(built.watts, 4 * 4 + 6, 0);
}

/* Both scales multiply; latency and the energy of a bit stay. */
static void a_scale_holds_for_bandwidth_cost_and_watts(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "system.sips={count: 32, topology: [{fully_connected: 8, cost: 2.5, bw_gbs: 40}, "
        "{switch: 4}]}",
        "links.sip_link.cost=10",
        "links.sip_link.watts=3",
        "links.sip_link.pj_per_bit=5",
        "links.sip_link.scale=0.5",
        "links.scale=3",
        "nodes.switch.cost=1000"};
    struct config *const config = load_with("tiny", sets, COUNT_OF(sets));
    const struct hw_config *const hw = &config->hw;
    const struct hw_built built = hw_built_of(hw);
    assert_float_equal(hw_link_gbs(&hw->link[HW_LINK_CLASS_1]), 60, 0);
    assert_float_equal(hw_link_gbs(&hw->link[HW_LINK_CLASS_1 + 1]), 150, 0);
    assert_int_equal(hw->link[HW_LINK_CLASS_1].prop_ps, 2100);
    assert_int_equal(hw->link_price[HW_LINK_CLASS_1].pj_per_bit, 5000000);
    assert_float_equal(built.cost, 112 * 3.75 + 32 * 15 + 8 * 1000, 0);
    assert_float_equal(built.watts, (112 + 32) * 4.5, 0);
    config_free(config);
}

/* 1/3 of a GB/s is rounded to 6 places, as its cost is. */
static void what_is_scaled_has_six_places(void **state)
{
    (void)state;
    static const char *const sets[] = {"links.sip_link.bw_gbs=1",       "links.sip_link.cost=1",
                                       "links.scale=0.333333",          "links.sip_link.scale=0.1",
                                       "system.sips.topology=torus_2d", "system.sips.count=4"};
    struct config *const config = load_with("tiny", sets, COUNT_OF(sets));
    const struct hw_built built = hw_built_of(&config->hw);
    assert_int_equal(config->hw.link_price[HW_LINK_SIP_LINK].cost, 33333);
    assert_int_equal(config->hw.link[HW_LINK_SIP_LINK].rate.num, 1000000000);
    assert_int_equal(config->hw.link[HW_LINK_SIP_LINK].rate.den, 33333);
    assert_float_equal(built.cost, 8 * 0.033333, 1e-12);
    config_free(config);
}

static void scaled_links_stay_within_the_range_of_rates(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"links.scale=1000", "links.sip_link.bw_gbs=1001"},
        {"links.scale=0.001", "links.sip_link.bw_gbs=0.5"},
        {"links.scale=100", "links.sip_link.scale=11"},
        {"links.scale=2000", "links.sip_link.scale=1"},
        {"links.sip_link.cost=-1", "links.scale=1"},
        {"links.noc.cost=1", "links.scale=1"},
        {"sip.pj_per_bit=1", "links.scale=1"},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        const struct config_request request = {.preset = "tiny", .sets = wrong[i], .set_count = 2};
        int code;
        char *const text = load_errors(&request, &code);
        assert_int_equal(code, CW_USAGE);
        assert_non_null(strstr(text, i < 3 ? "a scale is from 0.001 to 1000" : "--set"));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_and_switches_are_those_counted_by_hand),
        cmocka_unit_test(paired_dies_have_links_of_two_kinds),
        cmocka_unit_test(levels_cost_what_they_say_or_what_sip_link_says),
        cmocka_unit_test(failed_links_were_built),
        cmocka_unit_test(graphs_say_what_their_parts_cost),
        cmocka_unit_test(a_scale_holds_for_bandwidth_cost_and_watts),
        cmocka_unit_test(what_is_scaled_has_six_places),
        cmocka_unit_test(scaled_links_stay_within_the_range_of_rates),
    };
    return cmocka_run_group_tests_name("built", tests, scratch_enter, scratch_leave);
}
