/*
 * test_hw_topology.c: rules that every topology in the registry keeps, on every number of SIPs that
 * it joins, and on lists of levels: routes arrive, links are given once, switches are where they
 * are said to be, distances are those of the links at most.
 */
#include "test/support/test_hw_support.h"
#include "test/support/test_machines.h"

#include "hw/route.h"

enum { NODES_MAX = 4 * SIPS_MAX };

/* ---- routes against a search over the links -------------------------------------------------- */

/* SIPs, then switches, as nodes: half a link's length from one to a switch, in halves. */
struct graph {
    uint32_t nodes, edges;
    uint32_t from[2 * NODES_MAX * SIPS_MAX], to[2 * NODES_MAX * SIPS_MAX],
        halves[2 * NODES_MAX * SIPS_MAX];
};

static void add_edge(struct graph *graph, uint32_t from, uint32_t to, uint32_t halves)
{
    assert_true(graph->edges < COUNT_OF(graph->from));
    graph->from[graph->edges] = from;
    graph->to[graph->edges] = to;
    graph->halves[graph->edges++] = halves;
}

static void draw_graph(const struct hw_config *hw, struct graph *graph)
{
    graph->nodes = hw_stops(hw);
    graph->edges = 0;
    assert_true(graph->nodes <= NODES_MAX);
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            if (hop.link < HW_LINK_KINDS)
                add_edge(graph, stop, hop.to,
                         hw_is_switch(hw, stop) || hw_is_switch(hw, hop.to) ? 1 : 2);
        }
}

/* Lengths of the shortest ways from a SIP, in halves of links. */
static void search(const struct graph *graph, uint32_t from, uint32_t length[NODES_MAX])
{
    bool shorter = true;
    for (uint32_t i = 0; i < graph->nodes; i++)
        length[i] = i == from ? 0 : UINT32_MAX / 2;
    while (shorter) {
        shorter = false;
        for (uint32_t i = 0; i < graph->edges; i++) {
            const uint32_t by = length[graph->from[i]] + graph->halves[i];
            if (by >= length[graph->to[i]])
                continue;
            length[graph->to[i]] = by;
            shorter = true;
        }
    }
}

/* Links of the route: through a switch, one. */
static uint32_t route_length(const struct hw_config *hw, uint32_t from, uint32_t to)
{
    uint32_t links = 0;
    for (uint32_t at = from; at != to;) {
        const uint32_t outlet = hw_route_exit(hw, at, to, 0);
        const struct hw_hop hop = hw_hop(hw, at, outlet);
        assert_true(outlet < hw_outlets_of(hw, at));
        assert_true(hw_is_switch(hw, at) || outlet != HW_OUTLET_NONE);
        assert_true(links < hw->sip_count && hop.link < HW_LINK_KINDS && hop.to < hw_stops(hw));
        links += !hw_is_switch(hw, at);
        if (!hw_is_switch(hw, at) && hw_is_switch(hw, hop.to))
            assert_int_equal(hw_hop(hw, hop.to, hw_route_exit(hw, hop.to, to, 0)).to,
                             hw_route_next_sip(hw, at, outlet, to, 0));
        at = hop.to;
    }
    return links;
}

static void check_routes(const struct hw_config *hw)
{
    static struct graph graph;
    uint32_t length[NODES_MAX];
    draw_graph(hw, &graph);
    for (uint32_t from = 0; from < hw->sip_count; from++) {
        search(&graph, from, length);
        for (uint32_t to = 0; to < hw->sip_count; to++) {
            const uint32_t links = route_length(hw, from, to);
            assert_true(length[to] <= 2 * links);
            if (!hw->sip_topology->paired) /* routes are shortest */
                assert_int_equal(2 * links, length[to]);
        }
    }
}

static void every_route_arrives_over_as_few_links_as_there_are(void **state)
{
    (void)state;
    on_each_machine(check_routes);
}

/* ---- links ----------------------------------------------------------------------------------- */

/* Each link leads back, by the port at which it enters; a switch's links are in the order of their
 * SIPs; and all links of one outlet are at one port. */
static void check_hops(const struct hw_config *hw)
{
    uint32_t counted = 0, hops = 0;
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++) {
        uint32_t own = 0, last = 0;
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            const bool to_switch = hw_is_switch(hw, hop.to), from_switch = hw_is_switch(hw, stop);
            if (hop.link == HW_LINK_KINDS)
                continue;
            assert_true(hw_link_is_outer(hop.link) && hop.to < hw_stops(hw) && hop.to != stop);
            assert_true(hop.back < hw_outlets_of(hw, hop.to));
            const struct hw_hop back = hw_hop(hw, hop.to, hop.back);
            assert_true(back.to == stop && back.back == outlet && back.link == hop.link);
            assert_int_equal(hop.in, to_switch ? HW_PORT_NONE : hw_side(hw, hop.back));
            assert_true(to_switch || hop.in < HW_PORTS);
            assert_true(from_switch || outlet != HW_OUTLET_NONE);
            assert_true(!from_switch || own == 0 || hop.to > last);
            counted += hw_hop_counts(&hop, stop);
            last = hop.to;
            own++;
        }
        hops += own;
        assert_in_range(own, hw->sip_count > 1, hw_outlets_of(hw, stop));
    }
    assert_int_equal(2 * counted, hops);
}

static void every_link_leads_back_and_counts_once(void **state)
{
    (void)state;
    on_each_machine(check_hops);
}

static uint32_t links_of(const struct hw_config *hw, uint32_t stop)
{
    uint32_t links = 0;
    for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++)
        links += hw_hop(hw, stop, outlet).link < HW_LINK_KINDS;
    return links;
}

/* Outlets have names of their own, and no SIP has more links than the dimensions say. */
static void check_dims(const struct hw_config *hw)
{
    const struct hw_sip_dims dims = hw_sip_dims_of(hw);
    uint32_t product = 1, most = 0, degree = 0, links[SIPS_MAX] = {0};
    for (uint32_t k = 0; k < dims.count; k++) {
        assert_int_equal(dims.at[k].stride, product);
        product *= dims.at[k].size;
        degree += hw_dim_degree(&dims.at[k]);
    }
    assert_int_equal(product, hw->sip_count);
    for (uint32_t sip = 0; sip < hw->sip_count; sip++) {
        uint32_t sum = 0;
        for (uint32_t k = 0; k < dims.count; k++)
            sum += hw_sip_coordinate(&dims.at[k], sip) * dims.at[k].stride;
        assert_int_equal(sum, sip);
        for (uint32_t outlet = 0; outlet < hw_outlets(hw); outlet++) {
            const struct hw_hop hop = hw_hop(hw, sip, outlet);
            links[sip] +=
                hop.link < HW_LINK_KINDS && (!hw_is_switch(hw, hop.to) || links_of(hw, hop.to) > 1);
        }
    }
    for (uint32_t sip = 0; sip < hw->sip_count; sip++)
        most = links[sip] > most ? links[sip] : most;
    assert_int_equal(degree, most);
    for (uint32_t a = 0; a < hw_outlets(hw); a++)
        for (uint32_t b = 0; b < a; b++) {
            char name[2][HW_OUTLET_NAME_BYTES];
            hw_outlet_name(hw, 0, a, name[0]);
            hw_outlet_name(hw, 0, b, name[1]);
            assert_true(name[0][0] == '\0' || strcmp(name[0], name[1]) != 0 ||
                        hw_is_switch(hw, hw_hop(hw, 0, a).to));
        }
}

static void the_dimensions_of_a_machine_say_how_its_links_are(void **state)
{
    (void)state;
    on_each_machine(check_dims);
}

static void links_of_a_full_mesh_are_dealt_out_to_all_four_ports(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 256; n++) {
        const struct hw_config hw = sips_of(&hw_fully_connected, n, 1);
        uint32_t at[HW_PORTS] = {0}, most = 0, least = n;
        assert_true(hw_outlets(&hw) <= HW_OUTLETS_MAX);
        for (uint32_t to = 1; to < n; to++) {
            const uint32_t outlet = hw_route_exit(&hw, 0, to, 0);
            const struct hw_hop hop = hw_hop(&hw, 0, outlet);
            at[hw_side(&hw, outlet)]++;
            assert_int_equal(hw_route_exit(&hw, to, 0, 0), hop.back);
            if (2 * to != n) /* opposite sides */
                assert_int_equal(hw_side(&hw, outlet) ^ 1, hop.in);
        }
        for (enum hw_port port = 0; port < HW_PORTS; port++) {
            most = at[port] > most ? at[port] : most;
            least = at[port] < least ? at[port] : least;
        }
        assert_in_range(most - least, 0, 1);
    }
}

/* Between SIPs i and (i + k) mod n: for k < n/2 odd k are at port E and even k at port S, their
 * other ends at W or N; a link with k = n/2 is at port E or S of both its SIPs. */
static void links_of_a_full_mesh_are_at_the_ports_that_their_length_says(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 256; n++) {
        const struct hw_config hw = sips_of(&hw_fully_connected, n, 1);
        for (uint32_t k = 1; 2 * k <= n; k++)
            for (uint32_t sip = 0; sip < n; sip++) {
                const uint32_t outlet = hw_route_exit(&hw, sip, (sip + k) % n, 0);
                const enum hw_port here = k % 2 != 0 ? HW_PORT_E : HW_PORT_S;
                const enum hw_port there = 2 * k == n ? here : k % 2 != 0 ? HW_PORT_W : HW_PORT_N;
                assert_int_equal(hw_side(&hw, outlet), here);
                assert_int_equal(hw_hop(&hw, sip, outlet).in, there);
            }
    }
}

static void a_torus_without_sizes_is_the_most_cubic(void **state)
{
    (void)state;
    static const uint32_t cases[][4] = {
        {1, 1, 1, 1},  {2, 2, 1, 1},   {7, 7, 1, 1},   {8, 2, 2, 2},    {12, 3, 2, 2},
        {16, 4, 2, 2}, {36, 4, 3, 3},  {48, 4, 4, 3},  {60, 5, 4, 3},   {64, 4, 4, 4},
        {96, 6, 4, 4}, {512, 8, 8, 8}, {22, 11, 2, 1}, {1024, 16, 8, 8}};
    struct hw_sip_size size;
    struct hw_misfit misfit;
    for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
        assert_true(hw_torus_3d.fit(cases[i][0], (struct hw_sip_size){0}, &size, &misfit));
        assert_int_equal(size.w, cases[i][1]);
        assert_int_equal(size.h, cases[i][2]);
        assert_int_equal(size.d, cases[i][3]);
    }
    assert_false(hw_torus_3d.fit(8, (struct hw_sip_size){.w = 2, .h = 4}, &size, &misfit));
    assert_string_equal(misfit.text, "system.sips.d is missing beside the others; legal: w x h x d "
                                     "= system.sips.count, such as 2 x 2 x 2 for 8 SIPs, or none "
                                     "of the three for this, the most cubic grid");
}

static void a_level_without_sizes_has_the_sips_that_the_others_leave(void **state)
{
    (void)state;
    static const struct {
        uint32_t sips, dims, given[4], want[4];
    } cases[] = {
        {48, 3, {0, 0, 4}, {4, 3, 4}},       /* [{torus_2d: rest}, {switch: 4}] */
        {4, 3, {0, 0, 4}, {1, 1, 4}},        /* nothing is left */
        {96, 4, {4, 0, 0, 0}, {4, 4, 3, 2}}, /* [{switch: 4}, {torus_3d: rest}] */
        {30, 2, {5, 0}, {5, 6}},
    };
    struct hw_sip_size size;
    struct hw_misfit misfit;
    struct hw_sip_size given = {.dims.count = 2};
    for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
        given.dims.count = cases[i].dims;
        for (uint32_t k = 0; k < cases[i].dims; k++)
            given.dims.at[k] = (struct hw_sip_dim){
                .joint = HW_SIP_RING, .link = HW_LINK_CLASS_1, .size = cases[i].given[k]};
        assert_true(hw_levels.fit(cases[i].sips, given, &size, &misfit));
        for (uint32_t k = 0; k < cases[i].dims; k++)
            assert_int_equal(size.dims.at[k].size, cases[i].want[k]);
    }
    assert_false(hw_levels.fit(31, given, &size, &misfit));
}

/* Half of the SIPs on each side: hw_dim_bisection() is the number of links between the sides. */
static void bisections_are_the_links_between_the_halves(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < LEVELED; seed++) {
        const struct hw_config hw = leveled_machine(seed);
        const struct hw_sip_dims dims = hw_sip_dims_of(&hw);
        for (uint32_t k = 0; k < dims.count; k++) {
            const struct hw_sip_dim *const dim = &dims.at[k];
            uint32_t links = 0;
            for (uint32_t sip = 0; sip < hw.sip_count; sip++)
                for (uint32_t outlet = 0; outlet < hw_outlets(&hw); outlet++) {
                    const struct hw_hop hop = hw_hop(&hw, sip, outlet);
                    const bool low = hw_sip_coordinate(dim, sip) < dim->size / 2;
                    if (hop.link != dim->link)
                        continue;
                    if (hw_is_switch(&hw, hop.to))
                        links += low;
                    else
                        links += low && hw_sip_coordinate(dim, hop.to) >= dim->size / 2;
                }
            assert_int_equal(hw_dim_bisection(&hw, dim), links);
        }
    }
}

/* "a, b and c" of the topologies whose lines are rings, in the order of the registry. */
static void sentence_of_ringed(char *text, size_t bytes)
{
    uint32_t last = 0;
    bool first = true;
    for (uint32_t i = 0; hw_topology_at(i) != NULL; i++)
        if (hw_topology_at(i)->lines == HW_SIP_LINES_RINGS)
            last = i;
    text[0] = '\0';
    for (uint32_t i = 0; hw_topology_at(i) != NULL; i++)
        if (hw_topology_at(i)->lines == HW_SIP_LINES_RINGS) {
            const size_t used = strlen(text);
            snprintf(text + used, bytes - used, "%s%s",
                     first       ? ""
                     : i == last ? " and "
                                 : ", ",
                     hw_topology_at(i)->name);
            first = false;
        }
}

static void names_are_found_and_listed_as_a_sentence(void **state)
{
    (void)state;
    char text[200], ringed[200];
    for (uint32_t i = 0; hw_topology_at(i) != NULL; i++) {
        assert_ptr_equal(hw_topology_find(hw_topology_at(i)->name), hw_topology_at(i));
        assert_string_equal(hw_topology_name_at(i), hw_topology_at(i)->name);
    }
    assert_string_equal(hw_topology_list(hw_topology_is_paired, "and", text, sizeof text),
                        "pair_switch");
    sentence_of_ringed(ringed, sizeof ringed);
    assert_true(strlen(ringed) > 20);
    assert_string_equal(hw_topology_list(hw_topology_is_ringed, "and", text, sizeof text), ringed);
    ringed[11] = '\0'; /* a list that is too long for its place is cut */
    assert_string_equal(hw_topology_list(hw_topology_is_ringed, "and", text, 12), ringed);
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
        cmocka_unit_test(every_route_arrives_over_as_few_links_as_there_are),
        cmocka_unit_test(every_link_leads_back_and_counts_once),
        cmocka_unit_test(the_dimensions_of_a_machine_say_how_its_links_are),
        cmocka_unit_test(links_of_a_full_mesh_are_dealt_out_to_all_four_ports),
        cmocka_unit_test(links_of_a_full_mesh_are_at_the_ports_that_their_length_says),
        cmocka_unit_test(a_torus_without_sizes_is_the_most_cubic),
        cmocka_unit_test(a_level_without_sizes_has_the_sips_that_the_others_leave),
        cmocka_unit_test(bisections_are_the_links_between_the_halves),
        cmocka_unit_test(names_are_found_and_listed_as_a_sentence),
        cmocka_unit_test(joined_kinds_lead_from_a_pe_to_each_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
