/*
 * test_hw_graph.c: graphs (hw/topology/graph.h): each built-in topology as a plain list of links is
 * the same machine; routes of random graphs arrive over as few links as there are.
 */
#include "test/support/test_hw_support.h"
#include "test/support/test_machines.h"

#include "hw/route.h"
#include "hw/topology/graph.h"

enum { LINKS_MAX = 2000 };

/* ---- built-in topologies as lists ------------------------------------------------------------ */

struct list {
    struct hw_graph_given given;
    struct hw_graph_link link[LINKS_MAX];
};

static void name_end(const struct hw_config *hw, uint32_t stop, uint32_t outlet,
                     struct hw_graph_end *end)
{
    end->stop = stop;
    end->port = HW_PORT_NONE;
    if (hw_is_switch(hw, stop))
        return;
    end->port = hw_side(hw, outlet);
    hw_outlet_name(hw, stop, outlet, end->name);
}

/* A link is listed where it leads on: from the end whose outlet has the lesser number there. */
static bool leads_on(const struct hw_config *hw, uint32_t stop, uint32_t outlet,
                     const struct hw_hop *hop)
{
    if (hw_is_switch(hw, stop) || hw_is_switch(hw, hop->to))
        return !hw_is_switch(hw, stop);
    const enum hw_port side = hw_side(hw, outlet);
    if (side == hop->in) /* half way round, between every two */
        return stop < hop->to;
    return side == HW_PORT_E || side == HW_PORT_S;
}

static void list_links(const struct hw_config *hw, struct list *list)
{
    const struct hw_sip_dims dims = hw_sip_dims_of(hw);
    list->given = (struct hw_graph_given){.sips = hw->sip_count,
                                          .switches = hw_switches(hw),
                                          .links = list->link,
                                          .policy = HW_ROUTES_DIMENSION_ORDER,
                                          .lines = hw->sip_topology->lines,
                                          .dims = dims.count};
    for (uint32_t k = 0; k < dims.count; k++)
        list->given.dim[k] = dims.at[k].size;
    for (uint32_t pass = 0; pass < 2; pass++) /* those of switches first */
        for (uint32_t stop = 0; stop < hw->sip_count; stop++)
            for (uint32_t outlet = 0; outlet < hw_outlets(hw); outlet++) {
                const struct hw_hop hop = hw_hop(hw, stop, outlet);
                if (hop.link == HW_LINK_KINDS || hw_is_switch(hw, hop.to) != (pass == 0) ||
                    !leads_on(hw, stop, outlet, &hop))
                    continue;
                struct hw_graph_link *const link = &list->link[list->given.link_count++];
                assert_true(list->given.link_count <= LINKS_MAX);
                *link = (struct hw_graph_link){.link = hop.link, .back = hop.link};
                name_end(hw, stop, outlet, &link->from);
                name_end(hw, hop.to, hop.back, &link->to);
            }
    if (hw->sip_topology->paired)
        list->given.policy = HW_ROUTES_LISTED;
}

/* Both leave a SIP by links of one kind, at the same ports, to the same stop. */
static void check_hops(const struct hw_config *a, const struct hw_config *b, uint32_t stop,
                       uint32_t exit_a, uint32_t exit_b)
{
    const struct hw_hop hop_a = hw_hop(a, stop, exit_a), hop_b = hw_hop(b, stop, exit_b);
    if (hop_b.to != hop_a.to)
        fail_msg("%s of %u SIPs: from %u to %u, listed to %u", a->sip_topology->name, a->sip_count,
                 stop, hop_a.to, hop_b.to);
    assert_int_equal(hop_b.link, hop_a.link);
    assert_int_equal(hop_b.in, hop_a.in);
    if (!hw_is_switch(a, stop))
        assert_int_equal(hw_side(b, exit_b), hw_side(a, exit_a));
}

static void check_directions(const struct hw_config *a, const struct hw_config *b, uint32_t sip)
{
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        uint32_t to_a = 0, to_b = 0;
        const bool is_there = hw_sip_neighbour(a, sip, port, &to_a);
        assert_int_equal(hw_sip_neighbour(b, sip, port, &to_b), is_there);
        if (!is_there)
            continue;
        assert_int_equal(to_a, to_b);
        uint32_t exit_a = a->sip_topology->global_exit(a, sip, port);
        uint32_t exit_b = b->sip_topology->global_exit(b, sip, port);
        if (exit_a == HW_OUTLET_NONE)
            exit_a = hw_route_exit(a, sip, to_a, 0);
        if (exit_b == HW_OUTLET_NONE)
            exit_b = hw_route_exit(b, sip, to_b, 0);
        check_hops(a, b, sip, exit_a, exit_b);
    }
}

static struct hw_config graph_of(const struct hw_config *hw, const struct hw_topology_ops *graph,
                                 const struct hw_graph_given *given)
{
    struct hw_config listed = *hw;
    const struct hw_sip_size size = {.w = given->dims > 1 ? given->dim[0] : hw->sip_count,
                                     .h = given->dims > 1 ? hw->sip_count / given->dim[0] : 1};
    hw_join_sips(&listed, graph, &size);
    return listed;
}

static void check_list(const struct hw_config *hw)
{
    static struct list list;
    char why[HW_GRAPH_WHY_BYTES];
    list_links(hw, &list);
    struct hw_topology_ops *const graph = hw_graph_create(&list.given, why);
    if (graph == NULL)
        fail_msg("%s of %u SIPs: %s", hw->sip_topology->name, hw->sip_count, why);
    const struct hw_config listed = graph_of(hw, graph, &list.given);
    const struct hw_sip_dims a = hw_sip_dims_of(hw), b = hw_sip_dims_of(&listed);
    assert_int_equal(hw_switches(&listed), hw_switches(hw));
    assert_int_equal(b.count, a.count);
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++) {
        for (uint32_t to = 0; to < hw->sip_count; to++) {
            if (to == stop || (hw_is_switch(hw, stop) && hw->sip_count == 1))
                continue;
            if (hw_is_switch(hw, stop) && hw->sip_topology->paired && hw->sip_count < 4)
                continue;
            check_hops(hw, &listed, stop, hw_route_exit(hw, stop, to, 0),
                       hw_route_exit(&listed, stop, to, 0));
        }
        if (!hw_is_switch(hw, stop))
            check_directions(hw, &listed, stop);
    }
    hw_graph_free(graph);
}

static void each_topology_is_the_same_as_a_list(void **state)
{
    (void)state;
    on_each_machine(check_list);
}

/* ---- random graphs --------------------------------------------------------------------------- */

enum { GRAPH_STOPS_MAX = 40, UNREACHED = 1000 };

struct random_graph {
    struct hw_graph_given given;
    struct hw_graph_link link[LINKS_MAX];
    bool ends[GRAPH_STOPS_MAX];
    uint32_t steps[GRAPH_STOPS_MAX][GRAPH_STOPS_MAX]; /* links of shortest ways */
};

static void add_link(struct random_graph *r, uint32_t from, uint32_t to, bool one_way)
{
    r->link[r->given.link_count++] =
        (struct hw_graph_link){.from = {.stop = from, .port = HW_PORT_NONE},
                               .to = {.stop = to, .port = HW_PORT_NONE},
                               .link = HW_LINK_SIP_LINK,
                               .back = HW_LINK_SIP_LINK,
                               .one_way = one_way};
}

/* All pairs, over the links; SIPs that are ends have none go through them. */
static void count_ways(struct random_graph *r)
{
    const uint32_t stops = r->given.sips + r->given.switches;
    for (uint32_t a = 0; a < stops; a++)
        for (uint32_t b = 0; b < stops; b++)
            r->steps[a][b] = a == b ? 0 : UNREACHED;
    for (uint32_t i = 0; i < r->given.link_count; i++) {
        r->steps[r->link[i].from.stop][r->link[i].to.stop] = 1;
        if (!r->link[i].one_way)
            r->steps[r->link[i].to.stop][r->link[i].from.stop] = 1;
    }
    for (uint32_t via = 0; via < stops; via++)
        for (uint32_t a = 0; a < stops && !(via < r->given.sips && r->ends[via]); a++)
            for (uint32_t b = 0; b < stops; b++)
                if (r->steps[a][via] + r->steps[via][b] < r->steps[a][b])
                    r->steps[a][b] = r->steps[a][via] + r->steps[via][b];
}

/* Connected mostly: a tree, and more links, some parallel, some one way. */
static void draw(struct random_graph *r, uint64_t *rng)
{
    *r = (struct random_graph){
        .given = {.sips = 1 + below(rng, 20),
                  .switches = below(rng, 12),
                  .links = r->link,
                  .ends = r->ends,
                  .policy = below(rng, 2) == 0 ? HW_ROUTES_LISTED : HW_ROUTES_DESTINATION_DIGITS}};
    const uint32_t stops = r->given.sips + r->given.switches;
    for (uint32_t sip = 0; sip < r->given.sips; sip++)
        r->ends[sip] = below(rng, 8) == 0;
    for (uint32_t stop = 1; stop < stops; stop++)
        add_link(r, below(rng, stop), stop, below(rng, 30) == 0);
    for (uint32_t more = stops > 1 ? below(rng, 2 * stops) : 0; more > 0; more--) {
        const uint32_t from = below(rng, stops), to = below(rng, stops);
        if (from != to)
            add_link(r, from, to, below(rng, 4) == 0);
    }
    count_ways(r);
}

static bool is_connected(const struct random_graph *r)
{
    for (uint32_t a = 0; a < r->given.sips; a++)
        for (uint32_t b = 0; b < r->given.sips; b++)
            if (r->steps[a][b] >= UNREACHED)
                return false;
    return true;
}

static void check_links(const struct random_graph *r, const struct hw_config *hw)
{
    uint32_t hops = 0, listed = 0;
    for (uint32_t i = 0; i < r->given.link_count; i++)
        listed += r->link[i].one_way ? 1 : 2;
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            if (hop.link == HW_LINK_KINDS)
                continue;
            hops++;
            assert_true(hw_is_switch(hw, stop) || outlet != HW_OUTLET_NONE);
            if (hop.back != HW_ONE_WAY)
                assert_true(hw_hop(hw, hop.to, hop.back).to == stop &&
                            hw_hop(hw, hop.to, hop.back).back == outlet);
        }
    assert_int_equal(hops, listed);
}

static void routes_of_graphs_are_shortest(void **state)
{
    (void)state;
    static struct random_graph r;
    uint64_t rng = 1;
    uint32_t whole = 0;
    char why[HW_GRAPH_WHY_BYTES];
    for (uint32_t i = 0; i < 3000; i++) {
        draw(&r, &rng);
        struct hw_topology_ops *const graph = hw_graph_create(&r.given, why);
        assert_int_equal(graph != NULL, is_connected(&r));
        if (graph == NULL) {
            assert_non_null(strstr(why, "no way leads from SIP"));
            continue;
        }
        struct hw_config hw = default_machine();
        hw.sip_count = r.given.sips;
        hw = graph_of(&hw, graph, &r.given);
        check_links(&r, &hw);
        for (uint32_t from = 0; from < hw.sip_count; from++)
            for (uint32_t to = 0; to < hw.sip_count; to++) {
                uint32_t steps = 0;
                for (uint32_t at = from; at != to; steps++) {
                    assert_true(steps < r.steps[from][to]);
                    assert_true(at == from || hw_is_switch(&hw, at) || !r.ends[at]);
                    at = hw_hop(&hw, at, hw_route_exit(&hw, at, to, 0)).to;
                }
                assert_int_equal(steps, r.steps[from][to]);
            }
        whole++;
        hw_graph_free(graph);
    }
    assert_in_range(whole, 500, 2900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_topology_is_the_same_as_a_list),
        cmocka_unit_test(routes_of_graphs_are_shortest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
