/*
 * test_hw_channels.c: circles of channel dependences (hw/topology/channels.h). On random graphs the
 * dependences are also found by walking the route between every two SIPs.
 */
#include "test/support/random_graph.h"

#include "hw/route.h"
#include "hw/topology/channels.h"

static uint32_t circle_of(const struct hw_config *hw)
{
    struct hw_circle circle = hw_circle_of(hw);
    assert_in_range(circle.kind, HW_CIRCLE_NONE, HW_CIRCLE_FOUND);
    assert_int_equal(circle.kind == HW_CIRCLE_FOUND, circle.count > 0);
    for (uint32_t i = 0; i < circle.count; i++) {
        const struct hw_channel *const own = &circle.channel[i],
                                       *const next = &circle.channel[(i + 1) % circle.count];
        const struct hw_hop hop = hw_hop(hw, own->stop, own->outlet);
        assert_true(hop.link < HW_LINK_KINDS);
        assert_int_equal(hop.to, next->stop);
    }
    const uint32_t count = circle.count;
    hw_circle_free(&circle);
    return count;
}

/* A line of SIPs that a route may cross two links of in one sense, all the way round. */
static bool is_long_ring(const struct hw_config *hw)
{
    const struct hw_sip_dims dims = hw_sip_dims_of(hw);
    for (uint32_t k = 0; k < dims.count; k++)
        if (dims.at[k].joint == HW_SIP_RING && dims.at[k].size >= 4)
            return true;
    return false;
}

static void check_machine(const struct hw_config *hw)
{
    const uint32_t found = circle_of(hw);
    if ((found > 0) != is_long_ring(hw))
        fail_msg("%s of %u SIPs: a circle of %u", hw->sip_topology->name, hw->sip_count, found);
}

/* Rings of four and more have circles, in any dimension; all else has none. */
static void built_in_machines_have_circles_in_rings_alone(void **state)
{
    (void)state;
    on_each_machine(check_machine);
}

/* By walking. */
static bool has_circle(const struct hw_config *hw)
{
    enum { CHANNELS_MAX = 400 };
    static bool after[CHANNELS_MAX][CHANNELS_MAX];
    static uint32_t first[GRAPH_STOPS_MAX + 1];
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        first[stop + 1] = first[stop] + hw_outlets_of(hw, stop);
    const uint32_t channels = first[hw_stops(hw)];
    assert_true(channels <= CHANNELS_MAX);
    memset(after, 0, sizeof after);
    for (uint32_t from = 0; from < hw->sip_count; from++)
        for (uint32_t to = 0; to < hw->sip_count; to++)
            for (uint32_t at = from, before = UINT32_MAX; at != to;) {
                const uint32_t outlet = hw_route_exit(hw, at, to, 0);
                if (before != UINT32_MAX)
                    after[before][first[at] + outlet] = true;
                before = first[at] + outlet;
                at = hw_hop(hw, at, outlet).to;
            }
    for (uint32_t k = 0; k < channels; k++)
        for (uint32_t a = 0; a < channels; a++)
            for (uint32_t b = 0; after[a][k] && b < channels; b++)
                after[a][b] |= after[k][b];
    for (uint32_t a = 0; a < channels; a++)
        if (after[a][a])
            return true;
    return false;
}

static void circles_of_graphs_are_those_of_their_routes(void **state)
{
    (void)state;
    static struct random_graph r;
    uint64_t rng = 3;
    uint32_t found = 0, none = 0;
    char why[HW_GRAPH_WHY_BYTES];
    while (found + none < 150) {
        random_graph_draw(&r, &rng, 10, 6);
        r.given.policy = below(&rng, 2) == 0 ? HW_ROUTES_LISTED : HW_ROUTES_DESTINATION_DIGITS;
        if (!random_graph_is_connected(&r))
            continue;
        struct hw_topology_ops *const graph = hw_graph_create(&r.given, why);
        assert_non_null(graph);
        const struct hw_config base = default_machine(), hw = graph_of(&base, graph, &r.given);
        const bool circle = has_circle(&hw);
        assert_int_equal(circle_of(&hw) > 0, circle);
        found += circle;
        none += !circle;
        hw_graph_free(graph);
    }
    assert_true(found > 10 && none > 10);
}

static uint32_t circle_with(struct random_graph *r, enum hw_route_policy policy)
{
    char why[HW_GRAPH_WHY_BYTES];
    r->given.policy = policy;
    struct hw_topology_ops *const graph = hw_graph_create(&r->given, why);
    assert_non_null(graph);
    const struct hw_config base = default_machine(), hw = graph_of(&base, graph, &r->given);
    const uint32_t count = circle_of(&hw);
    hw_graph_free(graph);
    return count;
}

/* Ways up and down a tree wait for nothing in a circle, whichever a key takes. By way of others
 * they go up after they have been down. */
static void trees_have_circles_only_by_way_of_others(void **state)
{
    (void)state;
    struct random_graph tree = {.given = {.sips = 8, .switches = 6, .links = tree.link}};
    for (uint32_t sip = 0; sip < 8; sip++)
        add_link(&tree, sip, 8 + sip / 2, false);
    for (uint32_t leaf = 0; leaf < 4; leaf++)
        for (uint32_t spine = 0; spine < 2; spine++)
            add_link(&tree, 8 + leaf, 12 + spine, false);
    assert_int_equal(circle_with(&tree, HW_ROUTES_DESTINATION_DIGITS), 0);
    assert_int_equal(circle_with(&tree, HW_ROUTES_MINIMAL), 0);
    assert_true(circle_with(&tree, HW_ROUTES_VALIANT) > 0);
    struct random_graph star = {.given = {.sips = 4, .switches = 1, .links = star.link}};
    for (uint32_t sip = 0; sip < 4; sip++)
        add_link(&star, sip, 4, false);
    assert_int_equal(circle_with(&star, HW_ROUTES_VALIANT), 0);
    struct random_graph full = {.given = {.sips = 3, .links = full.link}};
    for (uint32_t sip = 0; sip < 3; sip++)
        add_link(&full, sip, (sip + 1) % 3, false);
    assert_int_equal(circle_with(&full, HW_ROUTES_MINIMAL), 0);
    assert_true(circle_with(&full, HW_ROUTES_VALIANT) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_machines_have_circles_in_rings_alone),
        cmocka_unit_test(circles_of_graphs_are_those_of_their_routes),
        cmocka_unit_test(trees_have_circles_only_by_way_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
