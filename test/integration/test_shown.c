/*
 * test_shown.c: presets that run as they are, waiting for credits apart from
 * waiting for data, drawings of machines, places that are none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

static void every_preset_runs_as_it_is(void **state)
{
    (void)state;
    static const struct {
        const char *line, *bench;
    } cases[] = {{"--preset a3_16 --bytes 64k", "ccl_reduce_scatter"},
                 {"--preset a3_4 --bytes 64k", "ccl_reduce_scatter"},
                 {"--preset tiny", "ccl_allreduce"},
                 {"--preset a3_4 --algorithm ring_allreduce", "ccl_allreduce"},
                 {"--preset tiny --bench ccl_broadcast", "ccl_broadcast"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *root = run_json("run --no-data %s", cases[i].line);
        assert_string_equal(json_string_value(json_object_get(root, "bench")), cases[i].bench);
        json_decref(root);
    }
}

/* A tile to the next SIP and one back: each receive waits for one credit. */
static void a_wait_for_credits_is_told_apart(void **state)
{
    (void)state;
    static const char line[] = "run --algorithm ring_allreduce --n-elem 8 "
                               "--set system.sips.count=2 --set system.sips.topology=ring_1d";
    json_t *root = run_json(line);
    const double waited = json_real_value(json_object_get(root, "credit_wait_ns"));
    const double with = (double)json_ps(root, "time_ns") / 1000;
    json_decref(root);
    root = run_json("%s --set defaults.recv_blocks_on_credit=false", line);
    const double without = (double)json_ps(root, "time_ns") / 1000;
    assert_true(json_real_value(json_object_get(root, "credit_wait_ns")) == 0);
    json_decref(root);
    assert_true(waited > 100 && with - without > waited - 0.01 && with - without < waited + 0.01);
    struct run_output output = run_line(0, line);
    assert_non_null(strstr(output.out, "\n# Waited for credits: 0."));
    assert_non_null(strstr(output.out, "\n# waits for credits "));
    char costs[100]; /* the wait is as long as what the run takes more */
    snprintf(costs, sizeof costs, "recv_blocks_on_credit: true, %.0f %% of the time at 16 bytes",
             100 * (with - without) / with);
    assert_non_null(strstr(output.out, costs));
    run_output_free(&output);

    char folder[] = "/tmp/cubewarp-test-XXXXXX", path[64], command[80];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/trace.json", folder);
    output = run_line(0, "%s --trace %s", line, path);
    run_output_free(&output);
    json_t *trace = json_load_file(path, 0, NULL), *event;
    double shown_us = 0;
    size_t i;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, event)
    {
        const char *const name = json_string_value(json_object_get(event, "name"));
        if (name != NULL && strcmp(name, "wait for credit") == 0)
            shown_us += json_number_value(json_object_get(event, "dur"));
    }
    assert_true(shown_us * 1000 > 2 * waited - 0.01 && shown_us * 1000 < 2 * waited + 0.01);
    json_decref(trace);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static double row_ns(const json_t *root, size_t row, const char *key)
{
    return json_number_value(
        json_object_get(json_array_get(json_object_get(root, "results"), row), key));
}

/* Rank 1 starts behind rank 0 and ends last. The ring of two: so many tiles, one credit each, from
 * SIP to SIP. Iterations and warm-up leave a row's figures as they are, and rows have their own. */
static void waits_for_credits_are_a_row_s(void **state)
{
    (void)state;
    static const char ring[] =
        "run --algorithm ring_allreduce --set system.sips.count=2 --set "
        "system.sips.topology=ring_1d --bytes 4096:8192:x2 --set cube.pe_layout.corners=[NW]";
    json_t *const once = run_json("%s", ring), *const often = run_json("%s -n 3 -w 2", ring);
    for (size_t row = 0; row < 2; row++) {
        const double wait = row_ns(once, row, "credit_wait_ns");
        assert_true(wait > 100 && row_ns(often, row, "credit_wait_ns") == wait);
        assert_true(row_ns(once, row, "last_pe_credit_wait_ns") == wait);
    }
    assert_true(row_ns(once, 1, "credit_wait_ns") == 2 * row_ns(once, 0, "credit_wait_ns"));
    assert_int_equal((int)json_real_value(json_object_get(once, "credit_wait_ns")),
                     (int)(3 * row_ns(once, 0, "credit_wait_ns")));
    json_decref(once);
    json_decref(often);
    /* PE 0 of the root cube receives most; one far from it ends last, and waits less */
    json_t *const mesh = run_json("run --n-elem 8192");
    assert_true(row_ns(mesh, 0, "last_pe_credit_wait_ns") > 0);
    assert_true(row_ns(mesh, 0, "last_pe_credit_wait_ns") < row_ns(mesh, 0, "credit_wait_ns"));
    json_decref(mesh);
}

static unsigned count_of(const char *text, const char *part)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

static void a_drawing_shows_the_topology_as_it_is(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        unsigned switches, sips, links; /* links between SIPs and switches, one way */
        const char *directions;
    } cases[] = {{"--set system.sips.count=6 --set system.sips.topology=ring_1d", 0, 6, 12,
                  "global_E leads to the next number"},
                 {"--set system.sips.count=6 --set system.sips.topology=switch", 1, 6, 12,
                  "through the switch"},
                 {"--preset a3_16", 2, 16, 48, "sio joins the dies of a package"},
                 {"--set system.sips.count=6 --set system.sips.topology=fully_connected", 0, 6, 30,
                  "global_E leads to the next number"},
                 {"--preset six_3x2", 0, 6, 18,
                  /* two links between the SIPs of a column are one line */ "global_S down"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_output output = run_line(0, "topo %s --svg -", cases[i].line);
        const char *const svg = strstr(output.out, "<svg");
        assert_non_null(svg);
        assert_int_equal(count_of(svg, " data-switch="), cases[i].switches);
        assert_int_equal(count_of(svg, " data-sip="), cases[i].sips);
        assert_int_equal(count_of(svg, " data-link=") - count_of(svg, "ucie,"), cases[i].links);
        assert_non_null(strstr(svg, cases[i].directions));
        assert_non_null(strstr(svg, "root\""));
        assert_non_null(strstr(svg, "class=\"pe\""));
        assert_non_null(strstr(svg, " GB/s each way"));
        run_output_free(&output);
    }
}

/* 16 nodes of 8 SIPs: a bar joins the SIPs of each, to which each SIP has a line for its seven
 * links, and one for those back. 8 switches for 16 SIPs: each is a bar, with 16 links and as many
 * back. */
static void a_drawing_shows_levels_and_layers(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "topo --preset rail_128 --svg -");
    assert_int_equal(count_of(output.out, "\n7 links level_1,"), 2 * 128);
    assert_int_equal(count_of(output.out, "\nlevel_2,"), 2 * 128);
    assert_int_equal(count_of(output.out, " data-switch="), 8);
    assert_int_equal(count_of(output.out, "a link between every two"), 16);
    assert_non_null(strstr(output.out, "128 SIPs, levels 8 x 16</text>"));
    run_output_free(&output);
    output = run_line(0, "topo --set system.sips.count=12 --set system.sips.topology=torus_3d");
    assert_non_null(strstr(output.out, "SIPs         12, torus_3d of 3 x 2 x 2\n"
                                       "  dimension 1  ring of 3: 2 sip_link of a SIP, 8 one way "
                                       "between halves, at most 1 apart\n"));
    run_output_free(&output);
}

static void a_place_outside_the_machine_is_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "run --bench raw_store --from 4.0.0 --to 0.0.0",
        "run --bench raw_store --to 9.9.9",
        "run --bench raw_store --from 0.16.0",
        "run --bench raw_store --from 0.0.8",
        "run --bench ipcq_pingpong --to 4.0.0",
        "topo --path 0.0.0 4.0.0",
        "run --set jitter.nodes.pe_cpu.only=4.0.0 "
        "--set jitter.nodes.pe_cpu.distribution=fixed --set jitter.nodes.pe_cpu.mean_ns=1"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct run_output output = run_line(2, "%s", lines[i]);
        run_output_free(&output);
    }
}

/* An option that would do nothing beside the others is refused, and no file is made. */
static void options_that_would_do_nothing_are_refused(void **state)
{
    (void)state;
    static const char one[] =
        "--path, --svg, --dot, --gexf, --graph and --xml exclude each other\n";
    static const char *const lines[][2] = {
        {"topo --svg /tmp/cubewarp-none.svg --path 0.0.0 1.0.0", one},
        {"topo --xml - --svg /tmp/cubewarp-none.svg", one},
        {"topo --path 0.0.0 1.0.0 --xml -", one},
        {"topo --dot - --gexf /tmp/cubewarp-none.svg", one},
        {"topo --path 0.0.0 1.0.0 --gexf -", one},
        {"phold --hot-share 10%", "--hot-share needs hot LPs: give --hot P, too\n"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct run_output output = run_line(2, "%s", lines[i][0]);
        if (strstr(output.err, lines[i][1]) == NULL)
            fail_msg("%s: %s", lines[i][0], output.err);
        assert_string_equal(output.out, "");
        run_output_free(&output);
    }
    assert_int_equal(access("/tmp/cubewarp-none.svg", F_OK), -1);
}

/* Messages that wait for links cost what the run takes less without contention, and nothing where
 * each link has one message. */
static void a_cost_of_contention_is_said(void **state)
{
    (void)state;
    static const char line[] = "run --algorithm torus_rs_ag --set algorithms.torus_rs_ag.mapper="
                               "pe0_all_cubes --bytes 64KiB --no-data";
    json_t *root = run_json(line);
    const double with = (double)json_ps(root, "time_ns");
    json_decref(root);
    root = run_json("%s --set fabric.contention=none", line);
    const double cost = 1 - (double)json_ps(root, "time_ns") / with;
    json_decref(root);
    assert_true(cost > 0.12);
    char said[100];
    snprintf(said, sizeof said,
             "fabric.contention: message, %.0f %% of the time at 65536 bytes (--set "
             "fabric.contention=none)\n",
             100 * cost);
    struct run_output output = run_line(0, line);
    assert_non_null(strstr(output.out, said));
    run_output_free(&output);
    output = run_line(0, "%s --set fabric.contention=none", line);
    assert_null(strstr(output.out, "fabric.contention:"));
    run_output_free(&output);
    output = run_line(0, "run --algorithm ring_allreduce --n-elem 8 --set system.sips.count=2 "
                         "--set system.sips.topology=ring_1d");
    assert_null(strstr(output.out, "fabric.contention:"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_preset_runs_as_it_is),
        cmocka_unit_test(a_wait_for_credits_is_told_apart),
        cmocka_unit_test(waits_for_credits_are_a_row_s),
        cmocka_unit_test(a_cost_of_contention_is_said),
        cmocka_unit_test(a_drawing_shows_the_topology_as_it_is),
        cmocka_unit_test(a_drawing_shows_levels_and_layers),
        cmocka_unit_test(a_place_outside_the_machine_is_refused),
        cmocka_unit_test(options_that_would_do_nothing_are_refused),
    };
    return cmocka_run_group_tests_name("shown", tests, NULL, NULL);
}
