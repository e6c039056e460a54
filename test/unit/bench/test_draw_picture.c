/*
 * test_draw_picture.c: pictures have every link of the machine once in each direction, are drawn as
 * well-formed XML with unique ids, come back from JSON unchanged, fold without losing a link, and
 * are written as graphs.
 */
#include "test/support/test_config_support.h"

#include <expat.h>
#include <jansson.h>

#include "bench/draw/picture_fold.h"
#include "bench/draw/picture_format.h"
#include "bench/draw/picture_json.h"
#include "bench/draw/picture_svg.h"
#include "hw/topology/broken.h"
#include "hw/topology/topology.h"

struct machine {
    const char *preset;
    const char *set[2];
    size_t links; /* between SIPs and switches, one way */
};

/* Two leaves, the first with two cables to each of its SIPs, a spine, and a link one way. */
static const char graph[] =
    "system.sips.topology={graph: {sips: 4, switches: [{name: leaf, count: 2}, {name: spine}], "
    "classes: {down: {bw_gbs: 50}, up: {bw_gbs: 100}, shortcut: {bw_gbs: 10}}, links: ["
    "{from: 0-1, to: leaf.0, class: down, cables: 2}, {from: 2-3, to: leaf.1, class: down}, "
    "{from: leaf.0-1, to: spine, class: up}, {from: 0, to: 3, class: shortcut, one_way: true}]}}";

/* Links counted by hand: rings of n have 2 n, of 2 SIPs 4; lines 2 (n - 1); a switch 2 n. */
static const struct machine machines[] = {
    {NULL, {"system.sips.count=4", "system.sips.topology=torus_2d"}, 16},
    {NULL, {"system.sips.count=1", "system.sips.topology=ring_1d"}, 0},
    {NULL, {"system.sips.count=2", "system.sips.topology=ring_1d"}, 4},
    {NULL, {"system.sips.count=16", "system.sips.topology=ring_1d"}, 32},
    {NULL, {"system.sips.count=41", "system.sips.topology=ring_1d"}, 82},
    {NULL, {"system.sips.count=1024", "system.sips.topology=ring_1d"}, 2048},
    {NULL, {"system.sips.count=16", "system.sips.topology=torus_2d"}, 64},
    {NULL, {"system.sips.count=16", "system.sips.topology=mesh_2d_no_wrap"}, 48},
    {NULL, {"system.sips.count=16", "system.sips.topology=switch"}, 32},
    {NULL, {"system.sips.count=300", "system.sips.topology=switch"}, 600},
    {NULL, {"system.sips.count=8", "system.sips.topology=fully_connected"}, 56},
    {NULL, {"system.sips.count=37", "system.sips.topology=fully_connected"}, 1332},
    {"torus_4x4x4", {NULL}, 384},
    {"a3_16", {NULL}, 48},               /* 16 x 2 hccs, 8 x 2 sio */
    {"rail_128", {NULL}, 16 * 56 + 256}, /* 16 nodes of 8, 8 rails */
    {"pod1024", {NULL}, 4096},
    {NULL,
     {"system.sips.topology=[{ring_1d: 50}, {switch: 4}, {mesh_2d_no_wrap: [2, 3]}]",
      "system.sips.count=1200"},
     24 * 100 + 300 * 8 + 200 * 14},
    {NULL, {graph}, 2 * (2 * 2 + 2 + 2) + 1},
    {NULL, {graph, "faults={cut: {links: 0->3, failed: true}}"}, 17},
    {NULL, {"faults={cut: {links: 0-1, failed: true}}"}, 16},
};

static struct config *machine_of(const struct machine *m)
{
    const size_t sets = (size_t)(m->set[0] != NULL) + (m->set[1] != NULL);
    return load_with(m->preset, (const char *const *)m->set, sets);
}

/* A use that differs from link to link. */
static void use_all(struct picture *picture)
{
    struct cw_error error;
    assert_int_equal(picture_use(picture, 1000000, true, &error), CW_OK);
    snprintf(picture->caption, sizeof picture->caption, "a < b & \"c\"");
    for (size_t i = 0; i < picture->link_count; i++) {
        picture->links[i].bytes = i * 64 % 4099;
        picture->links[i].busy_ps = (int64_t)(i * 7919 % 1000001);
        picture->links[i].queue_ps = (int64_t)(i % 3);
    }
    for (size_t i = 0; i < (size_t)picture->sip_count * picture->cube_w * picture->cube_h; i++)
        picture->cubes[i] = (struct picture_cube){(int64_t)(i / 20 * 101 % 1000001), 1000000};
}

static char *svg_of(const struct picture *picture)
{
    char note[GRAPHVIZ_NOTE_BYTES];
    struct cw_error error;
    char *text = NULL;
    size_t bytes;
    FILE *const out = open_memstream(&text, &bytes);
    assert_non_null(out);
    assert_int_equal(picture_svg(out, picture, "p-", note, &error), CW_OK);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* ---- reading a drawing ----------------------------------------------------------------------- */

struct seen {
    json_t *ids; /* an object: each id once */
    size_t sips, links, switches, titles;
};

static void on_element(void *arg, const char *name, const char **attributes)
{
    struct seen *const seen = arg;
    seen->titles += strcmp(name, "title") == 0;
    for (; *attributes != NULL; attributes += 2) {
        seen->sips += strcmp(attributes[0], "data-sip") == 0;
        seen->links += strcmp(attributes[0], "data-link") == 0;
        seen->switches += strcmp(attributes[0], "data-switch") == 0;
        if (strcmp(attributes[0], "d") == 0 || attributes[0][1] == '\0')
            assert_null(strstr(attributes[1], "nan"));
        if (strcmp(attributes[0], "id") != 0)
            continue;
        if (json_object_get(seen->ids, attributes[1]) != NULL)
            fail_msg("id %s stands twice", attributes[1]);
        json_object_set_new(seen->ids, attributes[1], json_true());
    }
}

static struct seen read_svg(const char *svg)
{
    struct seen seen = {.ids = json_object()};
    const XML_Parser parser = XML_ParserCreate("UTF-8");
    XML_SetUserData(parser, &seen);
    XML_SetElementHandler(parser, on_element, NULL);
    if (XML_Parse(parser, svg, (int)strlen(svg), 1) != XML_STATUS_OK)
        fail_msg("%s in %s", XML_ErrorString(XML_GetErrorCode(parser)), svg);
    XML_ParserFree(parser);
    json_decref(seen.ids);
    return seen;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void each_link_is_there_once(void **state)
{
    (void)state;
    struct cw_error error;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct config *const config = machine_of(&machines[i]);
        struct picture *const picture = picture_create(&config->hw, 0, &error);
        assert_non_null(picture);
        size_t outer = 0;
        for (size_t k = 0; k < picture->link_count; k++)
            outer += picture->links[k].side == HW_PORT_NONE;
        if (outer != machines[i].links)
            fail_msg("machine %zu: %zu links, not %zu", i, outer, machines[i].links);
        assert_int_equal(picture->dim_count, hw_sip_dims_of(&config->hw).count);
        picture_free(picture);
        config_free(config);
    }
}

static uint32_t node_of_stop(const struct hw_config *hw, uint32_t stop)
{
    return hw_is_switch(hw, stop) ? picture_switch(stop - hw->sip_count) : picture_sip(stop);
}

/* Every outlet of a SIP or a switch with a link finds it, and it leads where the topology says. */
static void outlets_find_their_links(void **state)
{
    (void)state;
    struct cw_error error;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct config *const config = machine_of(&machines[i]);
        const struct hw_config *const hw = &config->hw;
        struct picture *const picture = picture_create(hw, 0, &error);
        for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
            for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
                const struct hw_hop hop = hw_hop(hw_whole(hw), stop, outlet);
                const struct picture_link *const there =
                    picture_outlet(picture, node_of_stop(hw, stop), outlet);
                assert_int_equal(there == NULL, hop.link == HW_LINK_KINDS);
                if (there == NULL)
                    continue;
                assert_int_equal(there->to, node_of_stop(hw, hop.to));
                if (hop.back == HW_ONE_WAY)
                    continue;
                const struct picture_link *const back =
                    picture_outlet(picture, there->to, hop.back);
                assert_non_null(back);
                assert_int_equal(back->to, there->from);
            }
        picture_free(picture);
        config_free(config);
    }
}

static void drawings_are_whole(void **state)
{
    (void)state;
    struct cw_error error;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        for (int used = 0; used < 2; used++) {
            struct config *const config = machine_of(&machines[i]);
            struct picture *const picture = picture_create(&config->hw, 0, &error);
            if (used)
                use_all(picture);
            char *const path = strdup(getenv("PATH"));
            if (!used)
                setenv("PATH", "/no/such/folder", 1); /* without Graphviz */
            char *const svg = svg_of(picture);
            setenv("PATH", path, 1);
            free(path);
            const struct seen seen = read_svg(svg);
            assert_true(seen.sips > 0 && seen.sips <= 1024);
            assert_true(picture->sip_count > 36 || seen.sips == picture->sip_count);
            assert_true(picture->sip_count == 1 || seen.links > 0);
            assert_true(picture->switch_count == 0 || seen.switches > 0);
            assert_int_equal(strstr(svg, "data-busy") != NULL, used && picture->link_count > 0);
            free(svg);
            picture_free(picture);
            config_free(config);
        }
}

static void json_gives_the_same_drawing(void **state)
{
    (void)state;
    struct cw_error error;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct config *const config = machine_of(&machines[i]);
        struct picture *const picture = picture_create(&config->hw, 0, &error);
        use_all(picture);
        json_t *const object = picture_json(picture);
        assert_non_null(object);
        char *const text = json_dumps(object, JSON_REAL_PRECISION(15));
        json_t *const read = json_loads(text, 0, NULL);
        struct picture *const again = picture_from_json(read, &error);
        if (again == NULL)
            fail_msg("machine %zu: %s", i, cw_error_text(&error));
        char *const before = svg_of(picture), *const after = svg_of(again);
        assert_string_equal(before, after);
        free(before);
        free(after);
        free(text);
        json_decref(object);
        json_decref(read);
        picture_free(again);
        picture_free(picture);
        config_free(config);
    }
}

/* Links and bytes add up, whatever is folded. */
static void folding_loses_nothing(void **state)
{
    (void)state;
    struct cw_error error;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct config *const config = machine_of(&machines[i]);
        struct picture *const picture = picture_create(&config->hw, 0, &error);
        use_all(picture);
        for (uint32_t boxes = 1; boxes <= 64; boxes *= 4) {
            struct picture *const folded = picture_fold(picture, boxes, SIZE_MAX, &error);
            uint64_t links = 0, bytes = 0, all_links = 0, all_bytes = 0;
            for (size_t k = 0; k < folded->link_count; k++) {
                links += folded->links[k].count;
                bytes += folded->links[k].bytes;
            }
            for (size_t k = 0; k < picture->link_count; k++)
                if (folded->sip_count == picture->sip_count ||
                    picture->links[k].side == HW_PORT_NONE) {
                    all_links += picture->links[k].count;
                    all_bytes += picture->links[k].bytes;
                }
            assert_true(folded->sip_count <= boxes);
            assert_int_equal(links, all_links);
            assert_int_equal(bytes, all_bytes);
            picture_free(folded);
        }
        picture_free(picture);
        config_free(config);
    }
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static char *graph_of(const struct picture *picture, enum picture_format format)
{
    struct cw_error error;
    char *text = NULL, note[GRAPHVIZ_NOTE_BYTES];
    size_t bytes;
    FILE *const out = open_memstream(&text, &bytes);
    assert_non_null(out);
    assert_int_equal(picture_write(out, picture, format, note, &error), CW_OK);
    assert_int_equal(fclose(out), 0);
    return text;
}

static size_t times_in(const char *text, const char *words)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, words)) != NULL; at += strlen(words))
        count++;
    return count;
}

/* Two SIPs in a ring have two links each way, of 100 GB/s and 20 ns; after 1 us one was busy for
 * 405 ns. */
static void a_graph_has_the_attributes_of_its_links(void **state)
{
    (void)state;
    struct cw_error error;
    struct config *const config = machine_of(&machines[2]);
    config->hw.link[HW_LINK_SIP_LINK].prop_ps = 20000;
    struct picture *const picture = picture_create(&config->hw, 0, &error);
    char *text = graph_of(picture, PICTURE_DOT);
    assert_string_equal(text, "digraph machine {\n"
                              "  label=\"2 SIPs, ring_1d\";\n"
                              "  node [shape=box];\n"
                              "  s0 [label=\"0\", kind=\"sip\"];\n"
                              "  s1 [label=\"1\", kind=\"sip\"];\n"
                              "  s0 -> s1 [kind=\"sip_link\", gbs=100, latency_ns=20, "
                              "color=\"#0072b2\"];\n"
                              "  s0 -> s1 [kind=\"sip_link\", gbs=100, latency_ns=20, "
                              "color=\"#0072b2\"];\n"
                              "  s1 -> s0 [kind=\"sip_link\", gbs=100, latency_ns=20, "
                              "color=\"#0072b2\"];\n"
                              "  s1 -> s0 [kind=\"sip_link\", gbs=100, latency_ns=20, "
                              "color=\"#0072b2\"];\n"
                              "}\n");
    free(text);
    assert_int_equal(picture_use(picture, 1000000, false, &error), CW_OK);
    snprintf(picture->caption, sizeof picture->caption, "a < b & \"c\"\\");
    struct picture_link *const link = &picture->links[0];
    link->bytes = 40500;
    link->busy_ps = 405000;
    link->queue_ps = 1500;
    text = graph_of(picture, PICTURE_DOT);
    assert_non_null(strstr(text, "label=\"2 SIPs, ring_1d: a < b & \\\"c\\\"\\\\\";"));
    assert_non_null(strstr(text, "bytes=40500, busy_ns=405, busy_percent=40.5, "
                                 "longest_queue_ns=1.5, color=\"#ec7014\""));
    free(text);
    text = graph_of(picture, PICTURE_GEXF);
    assert_non_null(strstr(text, ": a &lt; b &amp; &quot;c&quot;\\</description>"));
    assert_non_null(strstr(text, "<edge id=\"0\" source=\"s0\" target=\"s1\" weight=\"100\" "
                                 "kind=\"sip_link\"><attvalues>"
                                 "<attvalue for=\"kind\" value=\"sip_link\"/>"
                                 "<attvalue for=\"gbs\" value=\"100\"/>"
                                 "<attvalue for=\"latency_ns\" value=\"20\"/>"
                                 "<attvalue for=\"failed\" value=\"false\"/>"
                                 "<attvalue for=\"bytes\" value=\"40500\"/>"
                                 "<attvalue for=\"busy_ns\" value=\"405\"/>"
                                 "<attvalue for=\"busy_percent\" value=\"40.5\"/>"
                                 "<attvalue for=\"longest_queue_ns\" value=\"1.5\"/>"
                                 "</attvalues></edge>"));
    free(text);
    picture_free(picture);
    config_free(config);
}

/* Two links each way lead from SIP 0 to SIP 1 in the columns of two of the shipped machine. */
static void failed_links_are_shown(void **state)
{
    (void)state;
    struct cw_error error;
    const struct machine broken = {NULL, {"faults={cut: {links: 0->1, failed: true}}"}, 16};
    struct config *const config = machine_of(&broken);
    struct picture *const picture = picture_create(&config->hw, 0, &error);
    size_t failed = 0;
    for (size_t i = 0; i < picture->link_count; i++) {
        failed += picture->links[i].failed;
        assert_true(!picture->links[i].failed ||
                    (picture->links[i].from == 0 && picture->links[i].to == 1));
    }
    assert_int_equal(failed, 2);
    char *text = graph_of(picture, PICTURE_DOT);
    assert_int_equal(times_in(text, "failed=true, style=dotted, color=\"#d7003a\"];"), 2);
    free(text);
    text = graph_of(picture, PICTURE_GEXF);
    assert_int_equal(times_in(text, "<attvalue for=\"failed\" value=\"true\"/>"), 2);
    assert_int_equal(times_in(text, "<attvalue for=\"failed\" value=\"false\"/>"), 14);
    free(text);
    text = svg_of(picture);
    assert_non_null(strstr(text, "Links that have failed."));
    assert_non_null(strstr(text, "SIP 0 → SIP 1\n2 links sip_link, 100 GB/s each: failed</title>"));
    assert_int_equal(times_in(text, "path class=\"failed\""), 2); /* and the legend's */
    free(text);
    picture_free(picture);
    config_free(config);
}

/* A graph's dimensions place its SIPs unless it has a link that they do not tell. */
static void a_graph_with_other_links_is_no_product(void **state)
{
    (void)state;
    static const struct {
        const char *graph;
        uint32_t dims;
    } graphs[] = {
        {"grid: [4, 3]", 2},
        {"grid: {size: [4, 3], wrap: false}", 2},
        {"grid: {size: [4, 3], wrap: false}, links: [{from: 0, to: 3}]", 1},
        {"grid: [4, 4], links: [{from: 0, to: 5}]", 1},
        {"grid: [4, 4], links: [{from: 0, to: 2}]", 1},
        {"grid: [4, 4], switches: [{name: x}], links: [{from: [0, 3], to: x}]", 1},
        {"grid: [4, 4], switches: [{name: x}], links: [{from: [0, 5], to: x}]", 1},
        {"hypercube: 3", 3},
        {"product: [{fully_connected: 4}, {switch: 3}]", 2},
    };
    struct cw_error error;
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        char text[300];
        snprintf(text, sizeof text, "system.sips.topology={graph: {%s}}", graphs[i].graph);
        const struct machine machine = {NULL, {text}, 0};
        struct config *const config = machine_of(&machine);
        struct picture *const picture = picture_create(&config->hw, 0, &error);
        if (picture->dim_count != graphs[i].dims)
            fail_msg("%s: %u dimensions", graphs[i].graph, picture->dim_count);
        assert_int_equal(picture_is_product(picture), graphs[i].dims > 1);
        picture_free(picture);
        config_free(config);
    }
}

/* Names of the graph, and lines of its kinds side by side. */
static void switches_have_the_names_of_a_graph(void **state)
{
    (void)state;
    struct cw_error error;
    const struct machine named = {NULL, {graph}, 17};
    struct config *const config = machine_of(&named);
    struct picture *const picture = picture_create(&config->hw, 0, &error);
    char *text = graph_of(picture, PICTURE_DOT);
    assert_non_null(strstr(text, "  x1 [label=\"leaf.1\", kind=\"switch\", shape=ellipse];\n"
                                 "  x2 [label=\"spine\", kind=\"switch\", shape=ellipse];\n"));
    free(text);
    text = graph_of(picture, PICTURE_GEXF);
    assert_non_null(strstr(text, "<node id=\"x0\" label=\"leaf.0\">"));
    free(text);
    text = svg_of(picture);
    assert_non_null(strstr(text, ">leaf.1</text><title>switch leaf.1</title></g>"));
    assert_non_null(strstr(text, "SIP 0 → switch leaf.0\n2 links down, 50 GB/s each</title>"));
    assert_non_null(strstr(text, "data-link=\"0&gt;3\"><title>SIP 0 → SIP 3\nshortcut, 10 GB/s<"));
    assert_null(strstr(text, "\"3&gt;0\""));
    free(text);
    snprintf(picture->switch_kind[0].name, sizeof picture->switch_kind[0].name, "<b>\"&");
    text = svg_of(picture);
    (void)read_svg(text);
    assert_non_null(strstr(text, "<title>switch &lt;b&gt;&quot;&amp;.1</title>"));
    free(text);
    picture_free(picture);
    config_free(config);
}

struct gexf {
    json_t *nodes, *edges, *attributes; /* objects: each id once */
    bool of_edges;
};

static const char *value_of(const char **attributes, const char *name)
{
    for (; *attributes != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    fail_msg("no attribute %s", name);
    return NULL;
}

static void add_id(json_t *ids, const char **attributes)
{
    const char *const id = value_of(attributes, "id");
    if (json_object_get(ids, id) != NULL)
        fail_msg("id %s stands twice", id);
    json_object_set_new(ids, id, json_true());
}

static void on_gexf(void *arg, const char *name, const char **attributes)
{
    struct gexf *const gexf = arg;
    if (strcmp(name, "attributes") == 0)
        gexf->of_edges = strcmp(value_of(attributes, "class"), "edge") == 0;
    if (strcmp(name, "attribute") == 0 && gexf->of_edges)
        add_id(gexf->attributes, attributes);
    if (strcmp(name, "node") == 0)
        add_id(gexf->nodes, attributes);
    if (strcmp(name, "attvalue") == 0 && json_object_size(gexf->edges) > 0)
        assert_non_null(json_object_get(gexf->attributes, value_of(attributes, "for")));
    if (strcmp(name, "edge") != 0)
        return;
    add_id(gexf->edges, attributes);
    assert_non_null(json_object_get(gexf->nodes, value_of(attributes, "source")));
    assert_non_null(json_object_get(gexf->nodes, value_of(attributes, "target")));
}

/* Every SIP and switch is a node, every link an edge between nodes, with attributes that are
 * declared. */
static void graphs_are_whole(void **state)
{
    (void)state;
    struct cw_error error;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        for (int used = 0; used < 2; used++) {
            struct config *const config = machine_of(&machines[i]);
            struct picture *const picture = picture_create(&config->hw, 0, &error);
            const size_t nodes = config->hw.sip_count + hw_switches(&config->hw);
            if (used)
                use_all(picture);
            char *text = graph_of(picture, PICTURE_GEXF);
            struct gexf gexf = {json_object(), json_object(), json_object(), false};
            const XML_Parser parser = XML_ParserCreate("UTF-8");
            XML_SetUserData(parser, &gexf);
            XML_SetElementHandler(parser, on_gexf, NULL);
            assert_int_equal(XML_Parse(parser, text, (int)strlen(text), 1), XML_STATUS_OK);
            XML_ParserFree(parser);
            assert_int_equal(json_object_size(gexf.nodes), nodes);
            assert_int_equal(json_object_size(gexf.edges), machines[i].links);
            assert_int_equal(json_object_size(gexf.attributes), used ? 8 : 4);
            json_decref(gexf.nodes);
            json_decref(gexf.edges);
            json_decref(gexf.attributes);
            free(text);
            text = graph_of(picture, PICTURE_DOT);
            assert_int_equal(times_in(text, "kind=\"sip\"") + times_in(text, "kind=\"switch\""),
                             nodes);
            assert_int_equal(times_in(text, " -> "), machines[i].links);
            free(text);
            picture_free(picture);
            config_free(config);
        }
}

static void expect_refusal(json_t *object, const char *member, json_t *value, const char *words)
{
    struct cw_error error = {.exit_code = CW_OK};
    json_t *const copy = json_deep_copy(object);
    json_object_set_new(copy, member, value);
    assert_null(picture_from_json(copy, &error));
    assert_int_equal(error.exit_code, CW_USAGE);
    if (strstr(cw_error_text(&error), words) == NULL)
        fail_msg("%s: '%s' is not in '%s'", member, words, cw_error_text(&error));
    json_decref(copy);
}

static void other_json_is_refused(void **state)
{
    (void)state;
    struct cw_error error;
    struct config *const config = machine_of(&machines[0]);
    struct picture *const picture = picture_create(&config->hw, 10, &error);
    use_all(picture);
    json_t *const object = picture_json(picture);
    expect_refusal(object, "sips", json_integer(5), "dims");
    expect_refusal(object, "sips", json_string("4"), "sips: expected a whole number");
    expect_refusal(object, "root", json_integer(16), "root");
    expect_refusal(object, "time_ns", json_integer(-1), "time_ns");
    expect_refusal(object, "cube_grid", json_array(), "cube_grid");
    expect_refusal(object, "kinds", json_null(), "kinds");
    expect_refusal(object, "topology", json_integer(1), "topology");
    static const char *const places[] = {
        "0>4",  "0>",       "0>1x", "0.16>0E",  "0>0.3",
        "x0>1", "0>1  1>0", "-1>0", "0.1.1>0E", "99999999999999>0"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        expect_refusal(object, "links",
                       json_pack("[{s:s,s:i,s:i,s:f,s:f,s:s}]", "kind", "sip_link", "count", 1,
                                 "bytes", 1, "busy_ns", 1.0, "longest_queue_ns", 0.0, "at",
                                 places[i]),
                       "links: at");
    expect_refusal(object, "links", json_pack("[{s:s}]", "kind", "hbm"), "links: kind");
    expect_refusal(object, "cubes",
                   json_pack("[{s:s,s:[],s:[]}]", "sips", "0", "work_ns", "end_ns"), "cubes");
    assert_null(picture_from_json(NULL, &error));
    json_decref(object);
    picture_free(picture);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_link_is_there_once),
        cmocka_unit_test(outlets_find_their_links),
        cmocka_unit_test(drawings_are_whole),
        cmocka_unit_test(json_gives_the_same_drawing),
        cmocka_unit_test(folding_loses_nothing),
        cmocka_unit_test(a_graph_has_the_attributes_of_its_links),
        cmocka_unit_test(failed_links_are_shown),
        cmocka_unit_test(switches_have_the_names_of_a_graph),
        cmocka_unit_test(a_graph_with_other_links_is_no_product),
        cmocka_unit_test(graphs_are_whole),
        cmocka_unit_test(other_json_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
