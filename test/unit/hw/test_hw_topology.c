/*
 * test_hw_topology.c: rules that every topology in the registry keeps, on every number of SIPs that
 * it joins: routes arrive, links are given once, switches are where they are said to be, distances
 * are those of the routes at most.
 */
#include "test/support/test_hw_support.h"

#include "hw/route.h"

enum { SIPS_MAX = 24 };

/* The machine with so many SIPs; false: the topology does not join so many. */
static bool machine_of(const struct hw_topology_ops *topology, uint32_t sips, struct hw_config *hw)
{
    struct hw_sip_size size;
    struct hw_misfit misfit;
    const struct hw_sip_size given = {topology->is_grid ? sips : 0, topology->is_grid ? 1 : 0};
    if (!topology->fit(sips, (struct hw_sip_size){0, 0}, &size, &misfit) &&
        !topology->fit(sips, given, &size, &misfit)) {
        assert_true(strlen(misfit.text) > 0);
        return false;
    }
    *hw = sips_of(topology, topology->is_grid ? size.w : sips, topology->is_grid ? size.h : 1);
    assert_int_equal(hw->sip_count, sips);
    return true;
}

static void on_each_machine(void (*check)(const struct hw_config *hw))
{
    for (uint32_t i = 0; hw_topology_at(i) != NULL; i++)
        for (uint32_t sips = 1; sips <= SIPS_MAX; sips++) {
            struct hw_config hw;
            if (machine_of(hw_topology_at(i), sips, &hw))
                check(&hw);
        }
}

static void check_routes(const struct hw_config *hw)
{
    uint32_t diameter = 0;
    for (uint32_t from = 0; from < hw->sip_count; from++)
        for (uint32_t to = 0; to < hw->sip_count; to++) {
            uint32_t links = 0;
            for (uint32_t at = from; at != to; links++) {
                const enum hw_port port = hw_route_sip(hw, at, to);
                const uint32_t next = hw_route_sip_behind(hw, at, port, to);
                assert_true(links < hw->sip_count && next < hw->sip_count);
                if (hw_route_through_switch(hw, port))
                    assert_int_equal(hw->sip_topology->switch_of(hw, at),
                                     hw->sip_topology->switch_of(hw, next));
                at = next;
            }
            const uint32_t distance = hw->sip_topology->distance(hw, from, to);
            assert_true(distance <= links && (distance == 0) == (from == to));
            diameter = distance > diameter ? distance : diameter;
        }
    assert_int_equal(hw->sip_topology->diameter(hw), diameter);
}

static void every_route_arrives_over_no_fewer_links_than_the_distance(void **state)
{
    (void)state;
    on_each_machine(check_routes);
}

/* By a port that a route takes, a link leads to the same place; its other end is at the entry. */
static void check_cables(const struct hw_config *hw)
{
    uint32_t ends[SIPS_MAX] = {0};
    for (uint32_t sip = 0; sip < hw->sip_count; sip++)
        for (enum hw_port port = 0; port < HW_PORTS; port++) {
            struct hw_cable cable;
            if (!hw->sip_topology->cable(hw, sip, port, &cable))
                continue;
            ends[sip]++;
            assert_int_equal(cable.link, hw_route_outer_link(hw, port));
            assert_int_equal(cable.to_switch, hw_route_through_switch(hw, port));
            if (cable.to_switch) {
                assert_true(cable.to < hw->sip_topology->switches);
                assert_int_equal(cable.to, hw->sip_topology->switch_of(hw, sip));
                assert_int_equal(hw_switch_link(hw), cable.link);
            } else {
                assert_true(cable.to < hw->sip_count && cable.to != sip);
                assert_int_equal(hw_route_sip_behind(hw, sip, port, cable.to), cable.to);
                assert_int_equal(hw_route_sip_behind(hw, cable.to, hw_route_entry(hw, port), sip),
                                 sip);
                ends[cable.to]++;
            }
        }
    for (uint32_t sip = 0; sip < hw->sip_count && hw->sip_count > 1; sip++)
        assert_in_range(ends[sip], 1, HW_PORTS);
}

static void every_link_is_given_once_and_joins_what_routes_say(void **state)
{
    (void)state;
    on_each_machine(check_cables);
}

struct cut_count {
    const struct hw_config *hw;
    uint32_t ranks, scatters;
};

static void count_cut(void *arg, const struct hw_cut *cut)
{
    struct cut_count *const count = arg;
    assert_in_range(cut->outside, 1, count->ranks - 1);
    count->scatters += (cut->uses & HW_CUT_SCATTER) != 0;
}

static void check_cuts(const struct hw_config *hw)
{
    for (uint32_t ranks = 2; ranks <= hw->sip_count; ranks++) {
        struct cut_count count = {hw, ranks, 0};
        hw->sip_topology->cuts(hw, ranks, count_cut, &count);
        assert_true(count.scatters > 0);
    }
}

static void every_cut_has_sips_on_both_sides(void **state)
{
    (void)state;
    on_each_machine(check_cuts);
}

static void names_are_found_and_listed_as_a_sentence(void **state)
{
    (void)state;
    char text[200];
    for (uint32_t i = 0; hw_topology_at(i) != NULL; i++) {
        assert_ptr_equal(hw_topology_find(hw_topology_at(i)->name), hw_topology_at(i));
        assert_string_equal(hw_topology_name_at(i), hw_topology_at(i)->name);
    }
    assert_string_equal(hw_topology_list(hw_topology_is_paired, "and", text, sizeof text),
                        "pair_switch");
    assert_string_equal(hw_topology_list(hw_topology_is_ringed, "and", text, sizeof text),
                        "ring_1d, torus_2d and switch");
    assert_string_equal(hw_topology_list(hw_topology_is_directed, "or", text, 12), "ring_1d, to");
}

static void joined_kinds_lead_from_a_pe_to_each_memory(void **state)
{
    (void)state;
    enum hw_node_kind way[HW_NODE_KINDS];
    assert_int_equal(hw_node_way(HW_NODE_PE_DMA, HW_NODE_PE_TCM, way), 1);
    assert_int_equal(hw_node_way(HW_NODE_PE_DMA, HW_NODE_HBM, way), 2);
    assert_int_equal(way[0], HW_NODE_ROUTER);
    assert_int_equal(way[1], HW_NODE_HBM);
    assert_int_equal(hw_node_way(HW_NODE_PE_CPU, HW_NODE_HOST, way), 6);
    assert_int_equal(hw_node_way(HW_NODE_PE_DMA, HW_NODE_PE_GEMM, way), 0);
    assert_int_equal(hw_link_between(HW_NODE_HBM, HW_NODE_ROUTER), HW_LINK_HBM);
    assert_int_equal(hw_link_between(HW_NODE_HBM, HW_NODE_SRAM), HW_LINK_KINDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_arrives_over_no_fewer_links_than_the_distance),
        cmocka_unit_test(every_link_is_given_once_and_joins_what_routes_say),
        cmocka_unit_test(every_cut_has_sips_on_both_sides),
        cmocka_unit_test(names_are_found_and_listed_as_a_sentence),
        cmocka_unit_test(joined_kinds_lead_from_a_pe_to_each_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
