/*
 * test_graphviz.c: machines that are no grid have the places that Graphviz gives them, and rows
 * without it, or where it says anything but all places. Programs of Graphviz' names stand in for
 * it, so that nothing here depends on what is installed; the last tests take the real ones.
 */
#define TEST_SCRATCH "graphviz"
#include "test/support/test_config_support.h"

#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench/draw/graphviz.h"
#include "bench/draw/picture_layout.h"
#include "bench/draw/picture_svg.h"
#include "test/support/scratch_folder.h"

enum { LIMIT_MS = 20000, SHORT_MS = 200 };

static char real_path[4096];
static const char *const programs[] = {"dot", "circo", "neato", "sfdp"};
enum { PROGRAMS = sizeof programs / sizeof *programs };
static const struct graphviz_sizes sizes = {22, 22, 26, 14};

/* All of Graphviz' programs say these lines, after they have kept their input in `in` and their
 * name in `ran`. */
static void stand_in(const char *lines)
{
    char path[8192];
    for (size_t i = 0; i < PROGRAMS; i++) {
        FILE *const out = fopen(in_folder(programs[i]), "w");
        fprintf(out, "#!/bin/sh\nPATH='%s'\ncat >%s/in\necho %s \"$@\" >%s/ran\n%s\n", real_path,
                folder, programs[i], folder, lines);
        assert_int_equal(fclose(out), 0);
        assert_int_equal(chmod(in_folder(programs[i]), 0755), 0);
    }
    snprintf(path, sizeof path, "%s", folder);
    setenv("PATH", path, 1);
}

static void without_graphviz(void) { setenv("PATH", "/no/such/folder", 1); }

static int as_installed(void **state)
{
    (void)state;
    setenv("PATH", real_path, 1);
    return 0;
}

static bool is_installed(void)
{
    as_installed(NULL);
    return system("dot -V >/dev/null 2>&1") == 0;
}

static struct picture *picture_of(const char *topology, uint32_t sips)
{
    char count[64], joined[64];
    struct cw_error error;
    snprintf(count, sizeof count, "system.sips.count=%u", sips);
    snprintf(joined, sizeof joined, "system.sips.topology=%s", topology);
    struct config *const config = load_with(NULL, (const char *const[]){count, joined}, 2);
    struct picture *const picture = picture_create(&config->hw, 0, &error);
    assert_non_null(picture);
    config_free(config);
    return picture;
}

static char *svg_of(const struct picture *picture, char note[GRAPHVIZ_NOTE_BYTES])
{
    struct cw_error error;
    char *text = NULL;
    size_t bytes;
    FILE *const out = open_memstream(&text, &bytes);
    assert_int_equal(picture_svg(out, picture, "", note, &error), CW_OK);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Inches, y upwards, become px, y downwards: 1.5 inches are 108 px. */
static void places_are_read(void **state)
{
    (void)state;
    char note[GRAPHVIZ_NOTE_BYTES];
    bool in_layers;
    struct picture *const picture = picture_of("switch", 2);
    stand_in("echo 'graph 1 4 4'; echo 'node 0 0 0 .3 .3 \"\" solid box black lightgrey'\n"
             "echo 'node 2 1.5 3 .3 .3 \"\" solid box black lightgrey'\n"
             "echo 'node 1 2e0 -0.5 .3 .3 \"\" solid box black lightgrey'\n"
             "echo 'edge 2 0 4 0 0 1 1 2 2 3 3 solid black'; echo stop");
    struct picture_point *const places =
        graphviz_places(picture, &sizes, LIMIT_MS, &in_layers, note);
    assert_non_null(places);
    assert_string_equal(note, "");
    assert_true(in_layers);
    static const struct picture_point expected[] = {{0, 0}, {144, 36}, {108, -216}};
    for (size_t i = 0; i < 3; i++) {
        assert_true(fabs(places[i].x - expected[i].x) < 1e-9);
        assert_true(fabs(places[i].y - expected[i].y) < 1e-9);
    }
    free(places);
    picture_free(picture);
}

/* Fixed sizes, no labels, nodes and edges in the order of their numbers, switches above SIPs. */
static void the_graph_is_written_in_order(void **state)
{
    (void)state;
    char note[GRAPHVIZ_NOTE_BYTES];
    bool in_layers;
    struct picture *const picture = picture_of("switch", 3);
    stand_in("exit 1");
    assert_null(graphviz_places(picture, &sizes, LIMIT_MS, &in_layers, note));
    char *const text = read_file(in_folder("in"));
    assert_non_null(strstr(text, "node [label=\"\" shape=box fixedsize=true width=0.3056 "
                                 "height=0.3056];\n"));
    assert_non_null(strstr(
        text, "\n0;\n1;\n2;\nnode [width=0.3611 height=0.1944];\n3;\n"
              "3 -- 0;\n3 -- 1;\n3 -- 2;\n{ rank=max; edge [style=invis]; 0 -- 1 -- 2; }\n}\n"));
    free(text);
    picture_free(picture);
}

static void each_kind_has_its_program(void **state)
{
    (void)state;
    static const struct {
        const char *topology;
        uint32_t sips;
        const char *ran;
    } machines[] = {{"switch", 8, "dot"},
                    {"switch", 128, "dot"},
                    {"switch", 129, "neato"},
                    {"switch", 600, "sfdp"},
                    {"fully_connected", 16, "circo"},
                    {"fully_connected", 17, "neato"}};
    char note[GRAPHVIZ_NOTE_BYTES], expected[32];
    bool in_layers;
    stand_in("exit 1");
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct picture *const picture = picture_of(machines[i].topology, machines[i].sips);
        assert_null(graphviz_places(picture, &sizes, LIMIT_MS, &in_layers, note));
        char *const ran = read_file(in_folder("ran"));
        snprintf(expected, sizeof expected, "%s -Tplain\n", machines[i].ran);
        assert_string_equal(ran, expected);
        free(ran);
        picture_free(picture);
    }
}

static void anything_but_all_places_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *note;
    } cases[] = {
        {"", "circo wrote something else than all places"},
        {"echo hello", "circo wrote something else"},
        {"echo stop", "circo wrote something else"},
        {"head -c 100000 /dev/urandom", "circo wrote something else"},
        /* one is missing; one stands twice; one is not there */
        {"echo 'node 0 0 0 1 1'; echo 'node 1 0 0 1 1'; echo stop", "circo wrote something else"},
        {"for i in 0 1 1 2; do echo \"node $i 0 0 1 1\"; done; echo stop",
         "circo wrote something else"},
        {"for i in 0 1 2 3; do echo \"node $i 0 0 1 1\"; done; echo stop",
         "circo wrote something else"},
        /* no end, as on a full disk */
        {"for i in 0 1 2; do echo \"node $i 0 0 1 1\"; done", "circo wrote something else"},
        /* no numbers */
        {"for i in 0 1 2; do echo \"node $i nan 0 1 1\"; done; echo stop",
         "circo wrote something else"},
        {"for i in 0 1 2; do echo \"node $i 0 inf 1 1\"; done; echo stop",
         "circo wrote something else"},
        {"for i in 0 1 2; do echo \"node $i 1,5 0 1 1\"; done; echo stop",
         "circo wrote something else"},
        {"for i in 0 1 2; do echo \"node $i 0 0 1 1\"; done; echo stop; exit 1", "circo failed"},
        {"kill -9 $$", "circo failed"},
        {"exec sleep 60", "circo took too long"},
    };
    struct picture *const picture = picture_of("fully_connected", 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char note[GRAPHVIZ_NOTE_BYTES];
        bool in_layers;
        stand_in(cases[i].lines);
        const bool hangs = strstr(cases[i].lines, "sleep") != NULL;
        assert_null(
            graphviz_places(picture, &sizes, hangs ? SHORT_MS : LIMIT_MS, &in_layers, note));
        if (strstr(note, cases[i].note) == NULL)
            fail_msg("%s: '%s' is not in '%s'", cases[i].lines, cases[i].note, note);
    }
    picture_free(picture);
}

/* ---- drawings without it --------------------------------------------------------------------- */

/* Four SIPs, which are boxes of 22 px: three columns 36 px apart, below a row for the switch. */
static void without_it_there_are_rows(void **state)
{
    (void)state;
    struct cw_error error;
    struct picture_layout layout;
    struct picture *const picture = picture_of("switch", 40);
    without_graphviz();
    assert_int_equal(picture_layout_make(&layout, picture, LIMIT_MS, &error), CW_OK);
    assert_string_equal(layout.note,
                        "Graphviz' program dot is not there; its Debian package is graphviz");
    const struct picture_rect first = picture_box(&layout, 0), next = picture_box(&layout, 1);
    const struct picture_rect below = picture_box(&layout, 8);
    const struct picture_rect above = picture_switch_box(&layout, 0);
    assert_true(next.y == first.y && next.x == first.x + 22 + 14);
    assert_true(below.x == first.x && below.y == first.y + 22 + 14); /* sqrt(1.4 * 40) = 7.5 */
    assert_true(above.y + above.h < first.y);
    picture_layout_free(&layout);

    char note[GRAPHVIZ_NOTE_BYTES];
    char *const svg = svg_of(picture, note);
    assert_string_equal(note, "Graphviz' program dot is not there; its Debian package is graphviz");
    assert_non_null(strstr(svg,
                           "In rows: Graphviz' program dot is not there; its Debian package is "
                           "graphviz.</text>"));
    free(svg);
    picture_free(picture);
}

/* Nothing runs for rings, lines and products, or where no link is. */
static void grids_need_no_graphviz(void **state)
{
    (void)state;
    static const struct {
        const char *topology;
        uint32_t sips;
    } machines[] = {{"torus_2d", 16},
                    {"ring_1d", 9},
                    {"torus_3d", 27},
                    {"[{switch: 4}, {ring_1d: 3}]", 12},
                    {"fully_connected", 1}};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        char note[GRAPHVIZ_NOTE_BYTES];
        struct picture *const picture = picture_of(machines[i].topology, machines[i].sips);
        without_graphviz();
        char *const svg = svg_of(picture, note);
        assert_string_equal(note, "");
        as_installed(NULL);
        char *const again = svg_of(picture, note);
        assert_string_equal(svg, again);
        free(svg);
        free(again);
        picture_free(picture);
    }
}

/* ---- the real programs ----------------------------------------------------------------------- */

static bool overlap(struct picture_rect a, struct picture_rect b)
{
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/* No two boxes overlap, and the drawing is the same each time. */
static void graphviz_places_boxes_apart(void **state)
{
    (void)state;
    if (!is_installed())
        skip();
    static const struct {
        const char *topology;
        uint32_t sips;
    } machines[] = {{"switch", 8},
                    {"switch", 500},
                    {"fully_connected", 3},
                    {"fully_connected", 16},
                    {"fully_connected", 17}};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct cw_error error;
        struct picture_layout layout;
        char note[GRAPHVIZ_NOTE_BYTES];
        struct picture *const picture = picture_of(machines[i].topology, machines[i].sips);
        assert_int_equal(picture_layout_make(&layout, picture, LIMIT_MS, &error), CW_OK);
        assert_string_equal(layout.note, "");
        for (uint32_t a = 0; a < picture->sip_count; a++)
            for (uint32_t b = 0; b < a; b++)
                if (overlap(picture_box(&layout, a), picture_box(&layout, b)))
                    fail_msg("%s of %u: SIPs %u and %u overlap", machines[i].topology,
                             machines[i].sips, a, b);
        picture_layout_free(&layout);
        char *const svg = svg_of(picture, note), *const again = svg_of(picture, note);
        assert_string_equal(note, "");
        assert_string_equal(svg, again);
        free(svg);
        free(again);
        picture_free(picture);
    }
}

static int enter(void **state)
{
    snprintf(real_path, sizeof real_path, "%s", getenv("PATH"));
    return make_folder(state);
}

static int leave(void **state)
{
    as_installed(state);
    return remove_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(places_are_read, as_installed),
        cmocka_unit_test_teardown(the_graph_is_written_in_order, as_installed),
        cmocka_unit_test_teardown(each_kind_has_its_program, as_installed),
        cmocka_unit_test_teardown(anything_but_all_places_is_refused, as_installed),
        cmocka_unit_test_teardown(without_it_there_are_rows, as_installed),
        cmocka_unit_test_teardown(grids_need_no_graphviz, as_installed),
        cmocka_unit_test(graphviz_places_boxes_apart),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
