/*
 * test_graph_rules.c: the rules of graph files: counts, degrees, diameters and cuts as the papers
 * have them, products that are the built-in topologies link by link, and what is refused.
 */
#include "test/support/test_hw_support.h"

#include "collectives/config/input/config_parse.h"
#include "collectives/config/input/graph_rules.h"
#include "hw/route.h"

/* ---- reading a rule -------------------------------------------------------------------------- */

struct reading {
    struct config_arena arena;
    struct config_errors errors;
    struct config_loader loader;
    struct graph_list list;
};

/* The graph of one line, "fat_tree: {k: 4}". */
static bool read_rule(struct reading *r, const char *text)
{
    *r = (struct reading){0};
    r->loader =
        (struct config_loader){.arena = &r->arena, .scratch = &r->arena, .errors = &r->errors};
    const uint32_t source = config_source_add(
        &r->loader, &(struct config_source){.name = "graph.yaml", .is_file = true});
    const struct config_node *const root = config_parse(&r->loader, source, text, strlen(text));
    assert_non_null(root);
    assert_true(graph_rule_is(root->first->text));
    const bool read = graph_rule_read(&r->loader, "graph", root->first, &r->list);
    assert_int_equal(r->errors.count, read ? 0 : 1);
    if (read)
        assert_true(!r->list.failed && r->list.why == NULL);
    return read;
}

static void drop(struct reading *r)
{
    graph_list_free(&r->list);
    config_errors_free(&r->errors);
    config_arena_free(&r->arena);
}

static void expect_refusal(const char *text, const char *why)
{
    struct reading r;
    assert_false(read_rule(&r, text));
    if (strstr(r.errors.list[0].text, why) == NULL)
        fail_msg("%s: \"%s\", not \"%s\"", text, r.errors.list[0].text, why);
    drop(&r);
}

static struct hw_topology_ops *build(const struct graph_list *list)
{
    char why[HW_GRAPH_WHY_BYTES];
    uint8_t *const kind = calloc(list->switches + 1, 1);
    assert_non_null(kind);
    for (uint32_t k = 0; k < list->kinds; k++)
        memset(kind + list->kind[k].first, (int)k, list->kind[k].count);
    struct hw_graph_given given = {.sips = list->sips,
                                   .switches = list->switches,
                                   .links = list->link,
                                   .link_count = list->links,
                                   .switch_kind = kind,
                                   .ends = list->ends,
                                   .policy = list->routes,
                                   .lines = list->lines,
                                   .dims = list->dims};
    memcpy(given.dim, list->dim, sizeof given.dim);
    struct hw_topology_ops *const graph = hw_graph_create(&given, why);
    if (graph == NULL)
        fail_msg("%s", why);
    free(kind);
    return graph;
}

/* ---- properties, from the list alone --------------------------------------------------------- */

static void expect_counts(const struct graph_list *list, uint32_t sips, uint32_t switches,
                          uint32_t links)
{
    assert_int_equal(list->sips, sips);
    assert_int_equal(list->switches, switches);
    assert_int_equal(list->links, links);
}

static uint32_t degree(const struct graph_list *list, uint32_t stop)
{
    uint32_t links = 0;
    for (uint32_t i = 0; i < list->links; i++)
        links += (list->link[i].from.stop == stop) + (list->link[i].to.stop == stop);
    return links;
}

/* Links between the farthest two of the stops from `first` to `last`, over all of these. */
static uint32_t diameter(const struct graph_list *list, uint32_t first, uint32_t last)
{
    const uint32_t stops = list->sips + list->switches;
    uint32_t *const steps = calloc(stops, sizeof *steps);
    uint32_t farthest = 0;
    assert_non_null(steps);
    for (uint32_t from = first; from < last; from++) {
        uint32_t step = 0;
        bool grew = true;
        memset(steps, 0xff, stops * sizeof *steps);
        for (steps[from] = 0; grew; step++) {
            grew = false;
            for (uint32_t i = 0; i < list->links; i++) {
                const uint32_t a = list->link[i].from.stop, b = list->link[i].to.stop;
                if (steps[a] == step && steps[b] > step + 1) {
                    steps[b] = step + 1;
                    grew = true;
                } else if (steps[b] == step && steps[a] > step + 1) {
                    steps[a] = step + 1;
                    grew = true;
                }
            }
        }
        for (uint32_t to = first; to < last; to++) {
            assert_true(steps[to] != UINT32_MAX);
            farthest = steps[to] > farthest ? steps[to] : farthest;
        }
    }
    free(steps);
    return farthest;
}

static uint32_t links_of_class(const struct graph_list *list, const char *name)
{
    uint32_t links = 0;
    for (uint32_t i = 0; i < list->links; i++)
        links += strcmp(list->class[list->link[i].link - HW_LINK_CLASS_1].name, name) == 0;
    return links;
}

/* ---- fat trees ------------------------------------------------------------------------------- */

/* Al-Fares, Loukissas, Vahdat (2008): k^3 / 4 hosts, 5 k^2 / 4 switches of k ports, diameter 6. */
static void three_level_fat_trees(void **state)
{
    (void)state;
    static const uint32_t ports[] = {4, 6, 8};
    for (uint32_t i = 0; i < 3; i++) {
        struct reading r;
        char text[64];
        const uint32_t k = ports[i];
        snprintf(text, sizeof text, "fat_tree: {k: %u}", k);
        assert_true(read_rule(&r, text));
        expect_counts(&r.list, k * k * k / 4, 5 * k * k / 4, 3 * k * k * k / 4);
        assert_int_equal(r.list.kinds, 3);
        assert_string_equal(r.list.kind[1].name, "aggregation");
        assert_int_equal(r.list.kind[2].count, k * k / 4);
        for (uint32_t stop = 0; stop < r.list.sips + r.list.switches; stop++)
            assert_int_equal(degree(&r.list, stop), stop < r.list.sips ? 1 : k);
        assert_int_equal(diameter(&r.list, 0, r.list.sips), 6);
        assert_int_equal(links_of_class(&r.list, "up_3"), k * k * k / 4);
        drop(&r);
    }
}

/* Each pair of SIPs crosses 2, 4 or 6 links; and any SIPs of one edge switch leave it by different
 * links if their destinations' last digits differ. */
static void fat_tree_routes_go_up_and_down(void **state)
{
    (void)state;
    struct reading r;
    assert_true(read_rule(&r, "fat_tree: {k: 4}"));
    struct hw_topology_ops *const graph = build(&r.list);
    struct hw_config hw = default_machine();
    hw.sip_count = r.list.sips;
    hw_join_sips(&hw, graph, &(struct hw_sip_size){.w = hw.sip_count, .h = 1});
    for (uint32_t from = 0; from < hw.sip_count; from++)
        for (uint32_t to = 0; to < hw.sip_count; to++) {
            uint32_t steps = 0;
            for (uint32_t stop = from; stop != to; steps++)
                stop = hw_hop(&hw, stop, hw_route_exit(&hw, stop, to, 0)).to;
            assert_int_equal(steps, from == to           ? 0
                                    : from / 2 == to / 2 ? 2
                                    : from / 4 == to / 4 ? 4
                                                         : 6);
        }
    const uint32_t edge = hw_hop(&hw, 0, hw_route_exit(&hw, 0, 15, 0)).to;
    assert_int_not_equal(hw_route_exit(&hw, edge, 14, 0), hw_route_exit(&hw, edge, 15, 0));
    assert_int_equal(hw_route_exit(&hw, edge, 12, 0), hw_route_exit(&hw, edge, 14, 0));
    hw_graph_free(graph);
    drop(&r);
}

/* 2:1 at the edge: half of the links above it, half of the switches above it. */
static void tapered_fat_trees(void **state)
{
    (void)state;
    struct reading r;
    assert_true(read_rule(&r, "fat_tree: {k: 16}"));
    expect_counts(&r.list, 1024, 128 + 128 + 64, 3 * 1024);
    drop(&r);
    assert_true(read_rule(&r, "fat_tree: {k: 16, taper: 2}"));
    expect_counts(&r.list, 1024, 128 + 64 + 32, 1024 + 512 + 512);
    for (uint32_t i = 0; i < 128; i++) /* 8 down, 4 up */
        assert_int_equal(degree(&r.list, graph_list_switch(&r.list, 0, i)), 12);
    drop(&r);
    assert_true(read_rule(&r, "fat_tree: {k: 16, taper: [2, 2]}"));
    expect_counts(&r.list, 1024, 128 + 64 + 16, 1024 + 512 + 256);
    drop(&r);
    assert_true(read_rule(&r, "fat_tree: {k: 12, levels: 2, taper: 1.5}"));
    expect_counts(&r.list, 72, 12 + 4, 72 + 12 * 4);
    drop(&r);
    assert_true(read_rule(&r, "fat_tree: {k: 16, levels: 2, pods: 8, taper: 2}"));
    expect_counts(&r.list, 64, 8 + 4, 64 + 8 * 4);
    assert_int_equal(diameter(&r.list, 0, 64), 4);
    drop(&r);
    assert_true(read_rule(&r, "fat_tree: {k: 8, levels: 1}"));
    expect_counts(&r.list, 8, 1, 8);
    drop(&r);
    assert_true(read_rule(&r, "fat_tree: {k: 4, levels: 5}")); /* 2 (k / 2)^L */
    expect_counts(&r.list, 64, 4 * 32 + 16, 5 * 64);
    assert_int_equal(diameter(&r.list, 0, 64), 10);
    hw_graph_free(build(&r.list));
    drop(&r);
}

/* ---- dragonflies ----------------------------------------------------------------------------- */

/* Global links between two groups, at the least and at the most. */
static void links_between_groups(const struct graph_list *list, uint32_t a, uint32_t g,
                                 uint32_t *least, uint32_t *most)
{
    uint32_t *const count = calloc((size_t)g * g, sizeof *count);
    assert_non_null(count);
    for (uint32_t i = 0; i < list->links; i++)
        if (list->link[i].from.stop >= list->sips) {
            const uint32_t from = (list->link[i].from.stop - list->sips) / a,
                           to = (list->link[i].to.stop - list->sips) / a;
            count[from < to ? from * g + to : to * g + from]++;
        }
    *least = UINT32_MAX;
    *most = 0;
    for (uint32_t from = 0; from < g; from++)
        for (uint32_t to = from + 1; to < g; to++) {
            const uint32_t links = count[from * g + to];
            *least = links < *least ? links : *least;
            *most = links > *most ? links : *most;
        }
    free(count);
}

/* Kim, Dally, Scott, Abts (2008): a p (a h + 1) terminals with one link between any two groups,
 * routers of p + a - 1 + h ports, three links between the farthest routers. */
static void dragonflies_of_all_groups(void **state)
{
    (void)state;
    static const struct {
        uint32_t a, h, p;
    } fly[] = {{4, 2, 2}, {2, 1, 1}, {3, 1, 2}, {1, 4, 1}, {5, 3, 1}};
    for (uint32_t i = 0; i < 5; i++) {
        struct reading r;
        char text[64];
        const uint32_t a = fly[i].a, h = fly[i].h, p = fly[i].p, g = a * h + 1;
        uint32_t least, most;
        snprintf(text, sizeof text, "dragonfly: {a: %u, h: %u, p: %u}", a, h, p);
        assert_true(read_rule(&r, text));
        expect_counts(&r.list, a * p * g, a * g, a * p * g + g * a * (a - 1) / 2 + g * a * h / 2);
        for (uint32_t stop = r.list.sips; stop < r.list.sips + r.list.switches; stop++)
            assert_int_equal(degree(&r.list, stop), p + a - 1 + h);
        links_between_groups(&r.list, a, g, &least, &most);
        assert_int_equal(least, 1);
        assert_int_equal(most, 1);
        assert_true(diameter(&r.list, r.list.sips, r.list.sips + r.list.switches) <= 3);
        hw_graph_free(build(&r.list));
        drop(&r);
    }
}

/* With fewer groups each pair has a link or several, as many as h allows, evenly but for one. */
static void dragonflies_of_fewer_groups(void **state)
{
    (void)state;
    for (uint32_t a = 1; a <= 4; a++)
        for (uint32_t h = 1; h <= 3; h++)
            for (uint32_t g = 2; g <= a * h + 1; g++) {
                struct reading r;
                char text[64];
                uint32_t least, most;
                snprintf(text, sizeof text, "dragonfly: {a: %u, h: %u, g: %u, p: 1}", a, h, g);
                assert_true(read_rule(&r, text));
                const uint32_t used = a * h - (a * h % 2 != 0 && g % 2 != 0);
                assert_int_equal(links_of_class(&r.list, "global"), g * used / 2);
                for (uint32_t stop = r.list.sips; stop < r.list.sips + r.list.switches; stop++)
                    assert_true(degree(&r.list, stop) <= 1 + a - 1 + h);
                links_between_groups(&r.list, a, g, &least, &most);
                assert_int_equal(least, a * h / (g - 1));
                assert_true(most <= least + 1);
                hw_graph_free(build(&r.list));
                drop(&r);
            }
    struct reading r;
    assert_true(read_rule(&r, "dragonfly: {a: 8, h: 4, g: 32, p: 4}"));
    assert_int_equal(r.list.sips, 1024);
    drop(&r);
}

/* ---- rails ----------------------------------------------------------------------------------- */

static void rails_of_one_group(void **state)
{
    (void)state;
    struct reading r;
    assert_true(read_rule(&r, "rail: {nodes: 4, sips: 8}"));
    expect_counts(&r.list, 32, 4 + 8, 64);
    assert_null(r.list.ends);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(degree(&r.list, graph_list_switch(&r.list, 0, i)), 8);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(degree(&r.list, graph_list_switch(&r.list, 1, i)), 4);
    assert_int_equal(diameter(&r.list, 0, 32), 4); /* through a SIP of the other rail */
    hw_graph_free(build(&r.list));
    drop(&r);
}

static void rails_of_several_groups(void **state)
{
    (void)state;
    struct reading r;
    assert_true(read_rule(&r, "rail: {nodes: 128, sips: 8, group: 32}"));
    expect_counts(&r.list, 1024, 128 + 32 + 32, 2 * 1024 + 32 * 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(degree(&r.list, graph_list_switch(&r.list, 1, i)), 32 + 32);
    drop(&r);
    assert_true(read_rule(&r, "rail: {nodes: 8, sips: 2, group: 4, taper: 2}"));
    expect_counts(&r.list, 16, 8 + 4 + 2, 32 + 8);
    assert_true(r.list.ends != NULL && r.list.ends[0] && r.list.ends[15]);
    struct hw_topology_ops *const graph = build(&r.list);
    struct hw_config hw = default_machine();
    hw.sip_count = 16;
    hw_join_sips(&hw, graph, &(struct hw_sip_size){.w = 16, .h = 1});
    for (uint32_t to = 1; to < 16; to++) { /* a node, a group, and the rest, from SIP 0 on */
        uint32_t steps = 0;
        for (uint32_t stop = 0; stop != to; steps++)
            stop = hw_hop(&hw, stop, hw_route_exit(&hw, stop, to, 0)).to;
        assert_int_equal(steps, to == 1 || (to < 8 && to % 2 == 0) ? 2 : 4);
    }
    hw_graph_free(graph);
    drop(&r);
}

/* ---- slim flies ------------------------------------------------------------------------------ */

/* Besta and Hoefler (2014): 2 q^2 routers, (3 q - d) / 2 links of each to others, diameter 2. */
static void slim_flies_have_diameter_two(void **state)
{
    (void)state;
    static const struct {
        uint32_t q, degree;
    } fly[] = {{3, 5}, {4, 6}, {5, 7}, {7, 11}, {8, 12}, {9, 13}, {11, 17}, {13, 19}};
    for (uint32_t i = 0; i < 8; i++) {
        struct reading r;
        char text[64];
        const uint32_t q = fly[i].q, routers = 2 * q * q;
        snprintf(text, sizeof text, "slim_fly: {q: %u, p: 1}", q);
        assert_true(read_rule(&r, text));
        expect_counts(&r.list, routers, routers, routers + routers * fly[i].degree / 2);
        for (uint32_t stop = r.list.sips; stop < 2 * routers; stop++)
            assert_int_equal(degree(&r.list, stop), 1 + fly[i].degree);
        assert_int_equal(diameter(&r.list, routers, 2 * routers), 2);
        drop(&r);
    }
    struct reading r;
    assert_true(read_rule(&r, "slim_fly: {q: 5}")); /* the Hoffman-Singleton graph, p = 4 */
    expect_counts(&r.list, 200, 50, 200 + 175);
    hw_graph_free(build(&r.list));
    drop(&r);
    expect_refusal("slim_fly: {q: 6}", "q is 6; legal: a power of a prime above 2: 3, 4, 5, 7, 8, "
                                       "9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32, 37, 41, 43, "
                                       "47, 49, 53, 59, 61, 64, 67, 71, 73, 79, 81, 83, 89");
}

/* ---- grids, hypercubes, products ------------------------------------------------------------- */

/* The graph leaves each SIP for each other at the same port, by a link of the same name, to the
 * same stop as the built-in topology. */
static void expect_same(const char *text, const struct hw_topology_ops *topology,
                        struct hw_sip_size given)
{
    struct reading r;
    struct hw_sip_size size;
    struct hw_misfit misfit;
    assert_true(read_rule(&r, text));
    struct hw_topology_ops *const graph = build(&r.list);
    struct hw_config a = default_machine(), b = default_machine();
    a.sip_count = b.sip_count = r.list.sips;
    assert_true(topology->fit(a.sip_count, given, &size, &misfit));
    hw_join_sips(&a, topology, &size);
    hw_join_sips(&b, graph,
                 &(struct hw_sip_size){.w = r.list.dims > 1 ? r.list.dim[0] : r.list.sips,
                                       .h = r.list.dims > 1 ? r.list.sips / r.list.dim[0] : 1});
    assert_int_equal(hw_switches(&b), hw_switches(&a));
    assert_int_equal(b.sip_topology->lines, topology->lines);
    for (uint32_t stop = 0; stop < hw_stops(&a); stop++)
        for (uint32_t to = 0; to < a.sip_count; to++) {
            if (stop == to)
                continue;
            const uint32_t exit_a = hw_route_exit(&a, stop, to, 0),
                           exit_b = hw_route_exit(&b, stop, to, 0);
            const struct hw_hop hop_a = hw_hop(&a, stop, exit_a), hop_b = hw_hop(&b, stop, exit_b);
            char name_a[HW_OUTLET_NAME_BYTES], name_b[HW_OUTLET_NAME_BYTES];
            assert_int_equal(hop_a.to, hop_b.to);
            assert_int_equal(hop_a.in, hop_b.in);
            if (hw_is_switch(&a, stop))
                continue;
            assert_int_equal(hw_side(&a, exit_a), hw_side(&b, exit_b));
            hw_outlet_name(&a, stop, exit_a, name_a);
            hw_outlet_name(&b, stop, exit_b, name_b);
            assert_string_equal(name_a, name_b);
        }
    hw_graph_free(graph);
    drop(&r);
}

static struct hw_sip_size levels_of(uint32_t count, const enum hw_sip_joint *joint,
                                    const uint32_t *sizes)
{
    struct hw_sip_size size = {0};
    for (uint32_t k = 0; k < count; k++) {
        size.dims.at[k] = (struct hw_sip_dim){.joint = joint[k], .size = sizes[k]};
        size.dims.count++;
    }
    return size;
}

static void grids_and_products_are_built_in_ones(void **state)
{
    (void)state;
    expect_same("grid: [6]", &hw_ring_1d, (struct hw_sip_size){0});
    expect_same("grid: [4, 3]", &hw_torus_2d, (struct hw_sip_size){.w = 4, .h = 3});
    expect_same("grid: [2, 2]", &hw_torus_2d, (struct hw_sip_size){.w = 2, .h = 2});
    expect_same("grid: [4, 2, 3]", &hw_torus_3d, (struct hw_sip_size){.w = 4, .h = 2, .d = 3});
    expect_same("grid: {size: [3, 4], wrap: false}", &hw_mesh_2d_no_wrap,
                (struct hw_sip_size){.w = 3, .h = 4});
    expect_same("product: [{fully_connected: 8}]", &hw_fully_connected, (struct hw_sip_size){0});
    expect_same("product: [{torus_2d: [3, 2]}, {switch: 4}]", &hw_levels,
                levels_of(3, (enum hw_sip_joint[]){HW_SIP_RING, HW_SIP_RING, HW_SIP_SWITCH},
                          (uint32_t[]){3, 2, 4}));
    expect_same(
        "product: [{switch: 4}, {fully_connected: 5}, {mesh_2d_no_wrap: [2, 3]}]", &hw_levels,
        levels_of(4, (enum hw_sip_joint[]){HW_SIP_SWITCH, HW_SIP_FULL, HW_SIP_LINE, HW_SIP_LINE},
                  (uint32_t[]){4, 5, 2, 3}));
    expect_same("product: [{grid: [3, 3]}, {switch: 2}, {ring_1d: 4}, {switch: 2}]", &hw_levels,
                levels_of(5,
                          (enum hw_sip_joint[]){HW_SIP_RING, HW_SIP_RING, HW_SIP_SWITCH,
                                                HW_SIP_RING, HW_SIP_SWITCH},
                          (uint32_t[]){3, 3, 2, 4, 2}));
}

static void hypercubes(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 7; n++) {
        struct reading r;
        char text[32];
        snprintf(text, sizeof text, "hypercube: %u", n);
        assert_true(read_rule(&r, text));
        expect_counts(&r.list, 1U << n, 0, n << (n - 1));
        for (uint32_t sip = 0; sip < r.list.sips; sip++)
            assert_int_equal(degree(&r.list, sip), n);
        for (uint32_t i = 0; i < r.list.links; i++)
            assert_int_equal(__builtin_popcount(r.list.link[i].from.stop ^ r.list.link[i].to.stop),
                             1);
        assert_int_equal(diameter(&r.list, 0, r.list.sips), n);
        hw_graph_free(build(&r.list));
        drop(&r);
    }
}

/* A product's SIPs have the links of each factor; its diameter is the sum of theirs. */
static void products_of_rules(void **state)
{
    (void)state;
    struct reading r;
    assert_true(read_rule(&r, "product: [{fully_connected: 4, bw_gbs: 100}, "
                              "{fat_tree: {k: 4, levels: 2}}, {fat_tree: {k: 2, levels: 2}}]"));
    /* factors of 4, 8 and 2 SIPs; 0, 6 and 3 switches; 6, 8 + 8 and 2 + 2 links */
    expect_counts(&r.list, 64, 6 * 8 + 3 * 32, 6 * 16 + 16 * 8 + 4 * 32);
    assert_int_equal(r.list.kinds, 4);
    assert_string_equal(r.list.kind[0].name, "edge");
    assert_string_equal(r.list.kind[3].name, "core_3");
    assert_int_equal(r.list.classes, 5);
    assert_string_equal(r.list.class[0].name, "level_1");
    assert_true(r.list.class[0].figures.given[LEVEL_BW_GBS]);
    assert_string_equal(r.list.class[4].name, "up_2_3");
    assert_int_equal(r.list.dims, 0);
    for (uint32_t sip = 0; sip < 64; sip++)
        assert_int_equal(degree(&r.list, sip), 3 + 1 + 1);
    assert_int_equal(diameter(&r.list, 0, 64), 1 + 4 + 4);
    hw_graph_free(build(&r.list));
    drop(&r);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void bad_rules_are_refused(void **state)
{
    (void)state;
    expect_refusal("fat_tree: {k: 1000000}", "graph.fat_tree: expected k: a whole number from 2 to "
                                             "16384; found '1000000'");
    expect_refusal("fat_tree: {k: 16384}", "1099511627776 SIPs; legal: up to 16384");
    expect_refusal("fat_tree: {k: 16384, levels: 8}", "too many SIPs; legal: up to 16384");
    expect_refusal("fat_tree: {k: 5}", "k is 5; legal: an even number");
    expect_refusal("fat_tree: {levels: 2}", "k is missing; legal: a whole number from 2 to 16384");
    expect_refusal("fat_tree: {k: 8, tapper: 2}", "unknown key 'tapper'; did you mean 'taper'? "
                                                  "known: k, levels, pods, taper");
    expect_refusal("fat_tree: {k: 8, taper: 3}", "so that 4 links down over it is a whole number");
    expect_refusal("fat_tree: {k: 8, taper: 0.5}", "expected taper: 1, or more");
    expect_refusal("fat_tree: {k: 8, taper: [2]}", "one for each level but the top: 2");
    expect_refusal("fat_tree: {k: 8, taper: [2, 2, 2]}", "one for each level but the top: 2");
    expect_refusal("fat_tree: {k: 8, pods: 9}", "pods is 9; legal: up to the 8 ports");
    expect_refusal("fat_tree: 8", "expected a mapping of the rule's parameters; found '8'");
    expect_refusal("fat_tree: {k: 8, levels: 1, taper: 2}", "has no links to taper");
    expect_refusal("dragonfly: {a: 4, h: 2, g: 10}", "g is 10; legal: 2 to a x h + 1 = 9");
    expect_refusal("dragonfly: {a: 16384, h: 16384}", "would be a x h + 1 = 268435457");
    expect_refusal("dragonfly: {a: 4000, h: 1, g: 4}", "legal: up to 2000000");
    expect_refusal("dragonfly: {a: 4, g: 2}", "h is missing");
    expect_refusal("rail: {nodes: 8, sips: 4, group: 3}", "group is 3; legal: a divisor of the 8");
    expect_refusal("rail: {nodes: 8, sips: 4, taper: 2}", "one group has no spine to taper");
    expect_refusal("rail: {nodes: 16384, sips: 2}", "32768 SIPs; legal: up to 16384");
    expect_refusal("grid: [200, 100]", "20000 SIPs; legal: up to 16384");
    expect_refusal("grid: []", "expected a list of sizes");
    expect_refusal("grid: {wrap: true}", "size is missing");
    expect_refusal("grid: {size: [4], wrap: no}", "expected wrap: true or false; found 'no'");
    expect_refusal("grid: [0]", "expected size: a whole number from 1 to 16384");
    expect_refusal("hypercube: 13", "expected hypercube: a whole number from 1 to 12");
    expect_refusal("product: []", "expected a list of levels and rules");
    expect_refusal("product: [{grid: [4]}, {product: [{ring_1d: 2}]}]", "a product in a product");
    expect_refusal("product: [{switch: rest}]", "a level of a graph has sizes");
    expect_refusal("product: [{switch: 200}, {switch: 200}]", "40000 SIPs; legal: up to 16384");
    expect_refusal("product: [{grid: [2], fat_tree: {k: 2}}]", "nothing beside it");
    expect_refusal("product: [{hypercube: 9}, {hypercube: 4}]", "from 1 to 3");
    expect_refusal("product: [{fully_connected: 16384}]", "134209536 links; legal: up to 2000000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_level_fat_trees),
        cmocka_unit_test(fat_tree_routes_go_up_and_down),
        cmocka_unit_test(tapered_fat_trees),
        cmocka_unit_test(dragonflies_of_all_groups),
        cmocka_unit_test(dragonflies_of_fewer_groups),
        cmocka_unit_test(rails_of_one_group),
        cmocka_unit_test(rails_of_several_groups),
        cmocka_unit_test(slim_flies_have_diameter_two),
        cmocka_unit_test(grids_and_products_are_built_in_ones),
        cmocka_unit_test(hypercubes),
        cmocka_unit_test(products_of_rules),
        cmocka_unit_test(bad_rules_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
