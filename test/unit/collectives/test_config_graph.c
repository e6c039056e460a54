/*
 * test_config_graph.c: graphs of SIPs and switches out of files and values (hw/HARDWARE.md,
 * "Graphs"): what they say reaches the machine, and what is wrong is named with its place.
 */
#include "test/support/test_config_support.h"

#include <unistd.h>

#include "hw/route.h"
#include "hw/topology/topology.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static char folder[] = "/tmp/cubewarp-graph-XXXXXX";

/* A configuration with this topology; NULL: `text` has the first error. */
static struct config *load_graph(const char *value, char *text, size_t bytes)
{
    char option[3000];
    const char *const set[] = {option};
    struct config_errors errors = {0};
    struct config *config = NULL;
    snprintf(option, sizeof option, "system.sips.topology=%s", value);
    const struct config_request request = {.sets = set, .set_count = 1};
    (void)config_load(&request, &config, &errors);
    text[0] = '\0';
    if (config == NULL && errors.count > 0)
        snprintf(text, bytes, "%s", errors.list[0].text);
    config_errors_free(&errors);
    return config;
}

static struct config *load_good(const char *value)
{
    char text[400];
    struct config *const config = load_graph(value, text, sizeof text);
    if (config == NULL)
        print_message("%s\n", text);
    assert_non_null(config);
    return config;
}

static const char tree[] =
    "{graph: {sips: 8, switches: [{name: leaf, count: 2, latency_ns: 300, ports: 8}, "
    "{name: spine, count: 2, latency_ns: 500.5}], classes: {down: {bw_gbs: 50, latency_ns: 10, "
    "distance_mm: 0}, up: {bw_gbs: 100, distance_mm: 2, ns_per_mm: 5}}, links: ["
    "{from: 0-3, to: leaf.0, class: down, port: S, name: u}, "
    "{from: [4, 5-7], to: leaf.1, class: down, port: S}, "
    "{from: leaf, to: spine.0-1, class: up, back_class: down, cables: 2}]}}";

static void figures_reach_the_machine(void **state)
{
    (void)state;
    struct config *const config = load_good(tree);
    const struct hw_config *const hw = &config->hw;
    char name[HW_OUTLET_NAME_BYTES], text[HW_SWITCH_TEXT_BYTES];
    assert_int_equal(hw->sip_count, 8);
    assert_int_equal(hw_switches(hw), 4);
    const struct hw_hop up = hw_hop(hw, 0, HW_PORT_S);
    assert_int_equal(up.to, 8);
    assert_int_equal(hw->link[up.link].prop_ps, 10000);
    assert_string_equal(hw_link_name_of(hw, up.link), "down");
    assert_int_equal(hw_hop(hw, 0, HW_PORT_E).link, HW_LINK_KINDS);
    hw_outlet_name(hw, 0, HW_PORT_S, name);
    assert_string_equal(name, "u");
    hw_outlet_name(hw, 4, HW_PORT_S, name);
    assert_string_equal(name, "S");
    /* leaf 0: four SIPs, then two cables to each of two spines */
    assert_int_equal(hw_hop(hw, 8, 3).to, 3);
    const struct hw_hop spine = hw_hop(hw, 8, 5);
    assert_int_equal(spine.to, 10);
    assert_string_equal(hw_link_name_of(hw, spine.link), "up");
    assert_int_equal(hw->link[spine.link].prop_ps, 10000);
    assert_string_equal(hw_link_name_of(hw, hw_hop(hw, 10, spine.back).link), "down");
    assert_int_equal(hw_hop(hw, 8, 8).link, HW_LINK_KINDS);
    assert_int_equal(hw->overhead_ps[hw_node_at(hw, 9)], 300000);
    assert_int_equal(hw->overhead_ps[hw_node_at(hw, 11)], 500500);
    assert_string_equal(hw_switch_text(hw, 3, text), "switch spine.1");
    assert_string_equal(hw_node_name_of(hw, hw_node_at(hw, 9)), "leaf");
    assert_int_equal(hw_route_exit(hw, 8, 5, 0), 4); /* the first cable to the first spine */
    config_free(config);
}

static void a_file_is_the_same_as_its_text(void **state)
{
    (void)state;
    char path[80], value[120], top[80], text[400];
    snprintf(path, sizeof path, "%s/tree.yaml", folder);
    snprintf(top, sizeof top, "%s/topology.yaml", folder);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    const char *const inner = strstr(tree, "{sips");
    fprintf(file, "%.*s\n", (int)(strlen(inner) - 1), inner);
    assert_int_equal(fclose(file), 0);
    file = fopen(top, "we");
    fprintf(file, "system:\n  sips:\n    topology: {graph: tree.yaml}\n");
    assert_int_equal(fclose(file), 0);
    snprintf(value, sizeof value, "{graph: %s}", path);
    struct config *const one = load_good(value), *two = NULL;
    struct config_errors errors = {0};
    const struct config_request request = {.topology = top};
    assert_int_equal(config_load(&request, &two, &errors), 0);
    config_errors_free(&errors);
    assert_int_equal(two->hw.sip_count, 8);
    for (uint32_t stop = 0; stop < hw_stops(&one->hw); stop++)
        for (uint32_t outlet = 0; outlet < hw_outlets_of(&one->hw, stop); outlet++) {
            const struct hw_hop a = hw_hop(&one->hw, stop, outlet),
                                b = hw_hop(&two->hw, stop, outlet);
            assert_memory_equal(&a, &b, sizeof a);
        }
    assert_string_equal(one->digest, two->digest);
    config_free(two);
    /* another file is another machine */
    file = fopen(path, "ae");
    fprintf(file, "# more\n");
    assert_int_equal(fclose(file), 0);
    two = load_graph(value, text, sizeof text);
    assert_non_null(two);
    assert_string_not_equal(one->digest, two->digest);
    config_free(one);
    config_free(two);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *value, *says;
    } cases[] = {
        {"{grapf: x}", "expected one key, graph"},
        {"{graph: [1]}", "expected a graph, such as"},
        {"{graph: {links: []}}", "sips: the number of SIPs"},
        {"{graph: {sips: 0}}", "sips: a whole number from 1 to 16384; found '0'"},
        {"{graph: {sips: 2, lniks: []}}", "unknown key 'lniks' in a graph; did you mean 'links'?"},
        {"{graph: {sips: 2, links: [{from: 0}]}}", "both ends of a link"},
        {"{graph: {sips: 2, links: [{from: 0, to: 2}]}}",
         "to: SIPs 0 to 1, or ranges of them; found '2'"},
        {"{graph: {sips: 2, links: [{from: 0, to: 0}]}}", "a link from sip 0 to itself"},
        {"{graph: {sips: 2, links: [{from: 0, to: 1, port: X}]}}", "port: N, E, S or W; found 'X'"},
        {"{graph: {sips: 2, links: [{from: 0, to: 1, class: a}]}}", "the graph has no `classes`"},
        {"{graph: {sips: 2, classes: {a: {bw: 1}}}}",
         "unknown key 'bw' in a class; known: distance_mm"},
        {"{graph: {sips: 2, classes: {a: {bw_gbs: 0}}}}", "bw_gbs: a number of GB/s from 0.001"},
        {"{graph: {sips: 2, switches: [{name: a}, {name: a}]}}", "different names"},
        {"{graph: {sips: 2, switches: [{name: a, ports: 1}], links: [{from: 0-1, to: a}]}}",
         "2 cables at a, which has 1 ports"},
        {"{graph: {sips: 2, links: [{from: 0, to: 1, one_way: true}]}}",
         "no way leads from sip 1 to sip 0"},
        {"{graph: {sips: 2, links: [{from: 0, to: 1}], routes: best}}", "routes: one of listed"},
        {"{graph: {sips: 4, dimensions: [2, 3]}}", "sizes whose product is 4 SIPs"},
        {"{graph: {sips: 2, dimensions: [2], coordinates: [[1], [0]], links: [{from: 0, to: 1}]}}",
         "coordinates: 0, as the number of SIP 0 says in dimension 1; found '1'"},
        {"{graph: {sips: 3, links: [{from: 0, to: 1}, {from: 1, to: 2}], transit: {none: 1}}}",
         "no way leads from sip 0 to sip 2"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[600];
        assert_null(load_graph(cases[i].value, text, sizeof text));
        if (strstr(text, cases[i].says) == NULL)
            print_message("%s\n  says %s\n", cases[i].value, text);
        assert_non_null(strstr(text, cases[i].says));
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    char path[80];
    snprintf(path, sizeof path, "%s/tree.yaml", folder);
    (void)unlink(path);
    snprintf(path, sizeof path, "%s/topology.yaml", folder);
    (void)unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_reach_the_machine),
        cmocka_unit_test(a_file_is_the_same_as_its_text),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
