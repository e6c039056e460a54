/*
 * test_hw_graph.c: graphs (hw/topology/graph.h): each built-in topology as a plain list of links is
 * the same machine; routes of random graphs arrive over as few links as there are.
 */
#include "test/support/test_hw_support.h"
#include "test/support/random_graph.h"
#include "test/support/sanitized.h"
#include "test/support/test_machines.h"

#include <stdlib.h>
#include <time.h>

#include "hw/route.h"
#include "hw/topology/graph.h"

/* ---- built-in topologies as lists ------------------------------------------------------------ */

struct list {
    struct hw_graph_given given;
    struct hw_graph_link link[GRAPH_LINKS_MAX];
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
                assert_true(list->given.link_count <= GRAPH_LINKS_MAX);
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

/* A shortest way to the destination; by way of another stop, a shortest way to that one before. */
static void check_route(const struct random_graph *r, const struct hw_config *hw, uint32_t from,
                        uint32_t to, uint32_t key)
{
    uint32_t steps = 0, by = from;
    bool passed = r->given.policy != HW_ROUTES_VALIANT;
    for (uint32_t at = from; at != to; steps++) {
        assert_true(at == from || hw_is_switch(hw, at) || !r->ends[at]);
        assert_true(steps <= 2 * GRAPH_STOPS_MAX);
        key = hw_route_key_at(hw, at, key);
        if (!passed && (key & HW_ROUTE_KEY_PASSED)) {
            passed = true;
            by = at;
            assert_int_equal(steps, r->steps[from][by]);
        }
        at = hw_hop(hw, at, hw_route_exit(hw, at, to, key)).to;
    }
    assert_int_equal(steps, passed ? r->steps[from][by] + r->steps[by][to] : r->steps[from][to]);
}

static void routes_of_graphs_are_shortest(void **state)
{
    (void)state;
    static struct random_graph r;
    uint64_t rng = 1;
    uint32_t whole = 0;
    char why[HW_GRAPH_WHY_BYTES];
    for (uint32_t i = 0; i < 3000; i++) {
        random_graph_draw(&r, &rng, 20, 12);
        struct hw_topology_ops *const graph = hw_graph_create(&r.given, why);
        assert_int_equal(graph != NULL, random_graph_is_connected(&r));
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
                check_route(&r, &hw, from, to, hw_route_key(&hw, from, to, i % 3));
            }
        whole++;
        hw_graph_free(graph);
    }
    assert_in_range(whole, 500, 2900);
}

/* Dimensions' routes go both ways along dimensions that are there; the way back may be a link of
 * its own. */
static void routes_by_dimensions_need_ways_back(void **state)
{
    (void)state;
    struct random_graph r = {
        .given = {.sips = 4, .links = r.link, .ends = r.ends, .policy = HW_ROUTES_DIMENSION_ORDER}};
    char why[HW_GRAPH_WHY_BYTES];
    for (uint32_t sip = 0; sip < 4; sip++)
        add_link(&r, sip, (sip + 1) % 4, true);
    assert_null(hw_graph_create(&r.given, why));
    assert_non_null(strstr(why, "dimension_order needs dimensions, and there are none"));
    r.given.dims = 1;
    r.given.dim[0] = 4;
    assert_null(hw_graph_create(&r.given, why));
    assert_non_null(strstr(why, "dimension 1 has no link from SIP 0 to SIP 3"));
    for (uint32_t sip = 0; sip < 4; sip++)
        add_link(&r, (sip + 1) % 4, sip, true);
    struct hw_topology_ops *const graph = hw_graph_create(&r.given, why);
    assert_non_null(graph);
    struct hw_config hw = default_machine();
    hw.sip_count = 4;
    hw = graph_of(&hw, graph, &r.given);
    assert_int_equal(hw_hop(&hw, 0, hw_route_exit(&hw, 0, 3, 0)).to, 3);
    assert_int_equal(hw_hop(&hw, 0, hw_route_exit(&hw, 0, 1, 0)).to, 1);
    hw_graph_free(graph);
}

/* ---- equal ways ------------------------------------------------------------------------------ */

static const char *name_of(const void *names, uint32_t stop, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s%u", (const char *)names, stop);
    return text;
}

static void cut_off_places_are_named(void **state)
{
    (void)state;
    struct random_graph r = {.given = {.sips = 3, .switches = 1, .links = r.link, .ends = r.ends}};
    char why[HW_GRAPH_WHY_BYTES];
    add_link(&r, 0, 3, false);
    add_link(&r, 1, 3, false);
    add_link(&r, 2, 3, true); /* SIP 2 only sends */
    assert_null(hw_graph_create(&r.given, why));
    assert_string_equal(why, "no way leads from SIP 0 to SIP 2");
    r.given.stop_name = name_of;
    r.given.names = "node ";
    assert_null(hw_graph_create(&r.given, why));
    assert_string_equal(why, "no way leads from node 0 to node 2");
    /* through an end there is no way either */
    r.given.link_count = 0;
    add_link(&r, 0, 1, false);
    add_link(&r, 1, 2, false);
    r.ends[1] = true;
    assert_null(hw_graph_create(&r.given, why));
    assert_non_null(strstr(why, "no way leads from node "));
    r.ends[1] = false;
    struct hw_topology_ops *const graph = hw_graph_create(&r.given, why);
    assert_non_null(graph);
    hw_graph_free(graph);
}

/* Eight SIPs at two switches that eight cables join: keys of 4,000 queues use each cable, none more
 * than twice as much as the mean. By way of others, each of the SIPs but the ends of the queue. */
static void keys_use_all_ways(void **state)
{
    (void)state;
    struct random_graph r = {.given = {.sips = 8, .switches = 2, .links = r.link, .ends = r.ends}};
    char why[HW_GRAPH_WHY_BYTES];
    for (uint32_t sip = 0; sip < 8; sip++)
        add_link(&r, sip, 8 + sip / 4, false);
    for (uint32_t cable = 0; cable < 8; cable++)
        add_link(&r, 8, 9, false);
    for (uint32_t digits = 0; digits < 2; digits++) {
        uint32_t used[20] = {0};
        r.given.policy = digits ? HW_ROUTES_DESTINATION_DIGITS : HW_ROUTES_MINIMAL;
        struct hw_topology_ops *const graph = hw_graph_create(&r.given, why);
        assert_non_null(graph);
        struct hw_config hw = default_machine();
        hw.sip_count = 8;
        hw = graph_of(&hw, graph, &r.given);
        assert_int_equal(graph->hashes, !digits);
        for (uint32_t queue = 0; queue < 4000; queue++)
            used[hw_route_exit(&hw, 8, 4 + queue % 4,
                               hw_route_key(&hw, queue / 8, 4, queue % 8))]++;
        for (uint32_t outlet = 4; outlet < 12; outlet++) /* after those to SIPs 0 to 3 */
            if (!digits)
                assert_in_range(used[outlet], 250, 1000);
            else /* SIPs 4 to 7 have four digits of eight */
                assert_int_equal(used[outlet], outlet >= 8 ? 1000 : 0);
        hw_graph_free(graph);
    }
}

/* Every two of eight SIPs are joined: by way of each of the others, or straight on. */
static void ways_by_others_lead_over_all(void **state)
{
    (void)state;
    struct random_graph r = {
        .given = {.sips = 8, .links = r.link, .ends = r.ends, .policy = HW_ROUTES_VALIANT}};
    char why[HW_GRAPH_WHY_BYTES];
    uint32_t by[8] = {0}, seeds_differ = 0, before[100];
    for (uint32_t a = 0; a < 8; a++)
        for (uint32_t b = a + 1; b < 8; b++)
            add_link(&r, a, b, false);
    r.ends[6] = true; /* nothing goes through it */
    for (r.given.seed = 0; r.given.seed < 2; r.given.seed++) {
        struct hw_topology_ops *const graph = hw_graph_create(&r.given, why);
        assert_non_null(graph);
        struct hw_config hw = default_machine();
        hw.sip_count = 8;
        hw = graph_of(&hw, graph, &r.given);
        for (uint32_t queue = 0; queue < 100; queue++) {
            const uint32_t key = hw_route_key_of(queue, 1, 0);
            const uint32_t next = hw_hop(&hw, 0, hw_route_exit(&hw, 0, 1, key)).to;
            by[next]++;
            seeds_differ += r.given.seed > 0 && before[queue] != next;
            before[queue] = next;
        }
        hw_graph_free(graph);
    }
    assert_int_equal(by[0] + by[6], 0);
    for (uint32_t sip = 2; sip < 8; sip++)
        assert_true(sip == 6 || by[sip] >= 10);
    assert_true(seeds_differ > 50);
}

/* ---- large graphs ---------------------------------------------------------------------------- */

struct large {
    struct hw_graph_given given;
    struct hw_graph_link *link;
};

static void join(struct large *l, uint32_t from, uint32_t to)
{
    l->link[l->given.link_count++] =
        (struct hw_graph_link){.from = {.stop = from, .port = HW_PORT_NONE},
                               .to = {.stop = to, .port = HW_PORT_NONE},
                               .link = HW_LINK_SIP_LINK};
}

/* Three levels: 8 SIPs at a leaf, 32 leaves and 16 switches above them in a pod, and 64 spines
 * above each of the 16. 64 pods are 16,384 SIPs and 4,096 switches. */
static void fat_tree(struct large *l, uint32_t pods)
{
    const uint32_t sips = pods * 256, leaf = sips, up = leaf + pods * 32, spine = up + pods * 16;
    l->given.sips = sips;
    l->given.switches = pods * 48 + 1024;
    for (uint32_t sip = 0; sip < sips; sip++)
        join(l, sip, leaf + sip / 8);
    for (uint32_t i = 0; i < pods * 32; i++)
        for (uint32_t k = 0; k < 16; k++)
            join(l, leaf + i, up + i / 32 * 16 + k);
    for (uint32_t i = 0; i < pods * 16; i++)
        for (uint32_t k = 0; k < 64; k++)
            join(l, up + i, spine + i % 16 * 64 + k);
}

static void torus(struct large *l, uint32_t side)
{
    l->given.sips = side * side;
    for (uint32_t sip = 0; sip < side * side; sip++) {
        join(l, sip, sip - sip % side + (sip + 1) % side);
        join(l, sip, (sip + side) % (side * side));
    }
}

/* Routes of a sample arrive, over the least number of links. */
static void check_large(const struct large *l, const struct hw_topology_ops *graph, bool is_torus,
                        uint32_t side)
{
    struct hw_config hw = default_machine();
    uint64_t rng = 7;
    hw.sip_count = l->given.sips;
    hw = graph_of(&hw, graph, &l->given);
    for (uint32_t i = 0; i < 2000; i++) {
        const uint32_t from = below(&rng, hw.sip_count), to = below(&rng, hw.sip_count);
        const uint32_t key = hw_route_key_of(from, to, i % 3);
        const uint32_t dx = (from + side - to % side) % side,
                       dy = (from / side + side - to / side) % side;
        const uint32_t in_torus =
            (dx < side - dx ? dx : side - dx) + (dy < side - dy ? dy : side - dy);
        const uint32_t in_tree = from == to               ? 0
                                 : from / 8 == to / 8     ? 2
                                 : from / 256 == to / 256 ? 4
                                                          : 6;
        uint32_t steps = 0;
        for (uint32_t at = from; at != to; steps++)
            at = hw_hop(&hw, at, hw_route_exit(&hw, at, to, key | HW_ROUTE_KEY_PASSED)).to;
        assert_int_equal(steps, is_torus ? in_torus : in_tree);
    }
}

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* 16,384 SIPs and 4,096 switches take less than 5 s and 1 GiB; here 4,096 SIPs and 1,792 switches,
 * since time and memory grow with the square. */
static void large_graphs_are_quick(void **state)
{
    (void)state;
    const char *const given = getenv("GRAPH_PODS");
    const uint32_t pods = given != NULL ? (uint32_t)strtoul(given, NULL, 10) : 16;
    const uint32_t side = pods >= 64 ? 128 : 64;
    const double most_s = pods >= 64 ? 5 : 1.25;
    for (enum hw_route_policy policy = 0; policy < HW_ROUTES_KINDS; policy++)
        for (uint32_t is_torus = 0; is_torus < 2; is_torus++) {
            struct large l = {.link = malloc((size_t)pods * 2048 * sizeof *l.link)};
            char why[HW_GRAPH_WHY_BYTES];
            assert_non_null(l.link);
            l.given.links = l.link;
            l.given.policy = policy;
            if (is_torus)
                torus(&l, side);
            else
                fat_tree(&l, pods);
            if (policy == HW_ROUTES_DIMENSION_ORDER) {
                l.given.dims = is_torus ? 2 : 0;
                l.given.dim[0] = l.given.dim[1] = side;
            }
            const double before_s = cpu_seconds();
            struct hw_topology_ops *const graph = policy == HW_ROUTES_DIMENSION_ORDER && !is_torus
                                                      ? NULL
                                                      : hw_graph_create(&l.given, why);
            const double took_s = cpu_seconds() - before_s;
            if (graph != NULL) {
                print_message("%s, %s: %.2f s\n", is_torus ? "torus" : "fat tree",
                              hw_route_policy_name[policy], took_s);
                if (!sanitized)
                    assert_true(took_s < most_s);
                check_large(&l, graph, is_torus, side);
            }
            hw_graph_free(graph);
            free(l.link);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_topology_is_the_same_as_a_list),
        cmocka_unit_test(routes_of_graphs_are_shortest),
        cmocka_unit_test(cut_off_places_are_named),
        cmocka_unit_test(routes_by_dimensions_need_ways_back),
        cmocka_unit_test(keys_use_all_ways),
        cmocka_unit_test(ways_by_others_lead_over_all),
        cmocka_unit_test(large_graphs_are_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
