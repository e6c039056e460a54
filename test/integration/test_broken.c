/*
 * test_broken.c: runs on machines whose links and SIPs have failed, and on those with single slow
 * links (hw/HARDWARE.md, "Faults").
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"
#define TEST_SCRATCH "broken"
#include "test/support/scratch_folder.h"

#define TORUS "--set system.sips.count=64 --set system.sips.topology=torus_2d "
#define DEAD  "--set faults.dead.links=0-1 --set faults.dead.failed=true "

#define RUN "run --quiet --json - --verify-data "

static json_t *row_of(json_t *root) { return json_array_get(json_object_get(root, "results"), 0); }

static json_t *json_of(const char *line)
{
    struct run_output output = run_line(0, "%s", line);
    json_t *const root = json_loads(output.out, 0, NULL);
    assert_non_null(root);
    run_output_free(&output);
    return root;
}

static double time_ns(json_t *root)
{
    return json_number_value(json_object_get(row_of(root), "time_ns"));
}

static const char *engine_text(json_t *root, const char *key)
{
    return json_string_value(json_object_get(json_object_get(root, "engine"), key));
}

static void write_file(const char *path, const char *text)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void is_right(json_t *root)
{
    assert_true(json_number_value(json_object_get(row_of(root), "wrong")) == 0);
    assert_true(time_ns(root) >= json_number_value(json_object_get(row_of(root), "bound_ns")));
}

/* What the link at an outlet of a SIP carried, by a table of links; 0: it has no row. */
static long long bytes_of(const char *links, const char *outlet, int sip)
{
    char name[80];
    int count;
    snprintf(name, sizeof name, ",\"sip_link %s\",\"%d\",", outlet, sip);
    const char *const row = strstr(links, name);
    long long bytes = 0;
    if (row != NULL)
        assert_int_equal(sscanf(row + strlen(name), "%d,%lld", &count, &bytes), 2);
    return bytes;
}

/* In rings of 8 with two SIPs that share a link less, what crosses it goes by three others: those
 * carry twice what each link carries on the whole machine. */
static void a_dead_link_of_a_torus_costs_time_and_no_bit(void **state)
{
    (void)state;
    static const char line[] = RUN "--algorithm torus_rs_ag --bytes-per-rank 16KiB " TORUS;
    const char *const table = in_folder("links.csv");
    char text[400];
    json_t *const whole = json_of(line);
    snprintf(text, sizeof text, "%s" DEAD "--links %s", line, table);
    json_t *const broken = json_of(text);
    is_right(broken);
    assert_string_equal(json_string_value(json_object_get(row_of(broken), "data_hash")),
                        json_string_value(json_object_get(row_of(whole), "data_hash")));
    assert_true(time_ns(broken) > time_ns(whole));
    char *const links = read_file(table);
    const long long each = bytes_of(links, "W", 0); /* to SIP 7 */
    assert_true(each > 0);
    assert_int_equal(bytes_of(links, "E", 0), 0);
    assert_non_null(strstr(links, ",failed,\"sip 0 E\",\"0\",1,0,"));
    assert_non_null(strstr(links, ",failed,\"sip 1 W\",\"1\",1,0,"));
    assert_int_equal(bytes_of(links, "W", 1), 0);
    assert_int_equal(bytes_of(links, "N", 0) + bytes_of(links, "S", 0), 3 * each);
    assert_int_equal(bytes_of(links, "N", 1) + bytes_of(links, "S", 1), 3 * each);
    assert_int_equal(bytes_of(links, "E", 8) + bytes_of(links, "E", 56), 3 * each);
    free(links);
    json_decref(whole);
    json_decref(broken);
}

static void topo_shows_what_has_failed_and_the_way_round_it(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "topo " TORUS DEAD);
    assert_non_null(strstr(output.out,
                           "failed       sip 0 E, now by sip 0 N, sip 56 E, sip 57 S\n"
                           "             sip 1 W, now by sip 1 N, sip 57 W, sip 56 S\n"));
    run_output_free(&output);
}

static void a_failed_sip_is_no_rank(void **state)
{
    (void)state;
    static const char *const algorithms[] = {"ring_allreduce", "tree_allreduce", "torus_rs_ag",
                                             "direct_rs_ag", "halving_doubling"};
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        char line[300];
        snprintf(line, sizeof line,
                 RUN "--set system.sips.count=9 --set system.sips.topology=torus_2d --bytes 4KiB "
                     "--set faults.dead.at=[4,7] --set faults.dead.failed=true --algorithm %s",
                 algorithms[i]);
        json_t *const root = json_of(line);
        is_right(root);
        json_decref(root);
    }
    struct run_output output =
        run_line(2, "run --bytes 4KiB --set faults.dead.at=1 --set faults.dead.failed=true");
    assert_non_null(strstr(output.err,
                           "goes by the machine's own queues, and some of its SIPs have "
                           "failed (faults)"));
    run_output_free(&output);
}

static void threads_and_rollbacks_change_nothing(void **state)
{
    (void)state;
    static const char *const how[] = {"--threads 2", "--threads 4 --sync conservative",
                                      "--threads 3 --sync stress", "--threads 1 --sync stress"};
    const char *const file = in_folder("faults.yaml");
    char line[500];
    write_file(file, "faults:\n"
                     "  dead: {links: [0-1, sip 4 E], failed: true}\n"
                     "  old: {links: 2->5, slower: 9x, from_ns: 900}\n"
                     "  dirty: {links: every 3rd, bandwidth: 20}\n"
                     "  hot: {at: {random: {share: 40%, seed: 5}}, nodes: pe_math, slower: 80%}\n");
    snprintf(line, sizeof line,
             RUN "--preset tiny --set system.sips.count=6 --set system.sips.topology=torus_2d "
                 "--algorithm ring_allreduce --bytes 4KiB --components %s ",
             file);
    json_t *const one = json_of(line);
    is_right(one);
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        char other[600];
        snprintf(other, sizeof other, "%s%s", line, how[i]);
        json_t *const many = json_of(other);
        is_right(many);
        assert_string_equal(engine_text(many, "trace_hash"), engine_text(one, "trace_hash"));
        json_decref(many);
    }
    json_decref(one);
}

static void refused(const char *args, const char *text)
{
    struct run_output output = run_line(2, "run %s", args);
    if (strstr(output.err, text) == NULL)
        fail_msg("%s\nsaid: %s\ninstead of: %s", args, output.err, text);
    run_output_free(&output);
}

/* At time 0 the machine is the one without the link. A tail is on the link between 8.9 and 12 us:
 * then the run ends. When all is over by then, nothing changes. */
static void a_link_that_fails_during_a_run(void **state)
{
    (void)state;
    static const char line[] =
        RUN "--algorithm torus_rs_ag --bytes-per-rank 64KiB " TORUS "--set faults.dead.links=0-1 ";
    static const char *const as[] = {"true", "false"};
    for (size_t i = 0; i < sizeof as / sizeof *as; i++) {
        char first[400], second[400];
        const char *const file = in_folder("later.yaml");
        char text[100];
        snprintf(text, sizeof text, "faults: {dead: {failed: {at_ns: %s}}}\n",
                 i == 0 ? "0" : "900000");
        write_file(file, text);
        snprintf(first, sizeof first, "%s--components %s", line, file);
        snprintf(second, sizeof second, "%s--set faults.dead.failed=%s", line, as[i]);
        json_t *const later = json_of(first), *const same = json_of(second);
        is_right(later);
        assert_true(time_ns(later) == time_ns(same));
        json_decref(later);
        json_decref(same);
    }
    const char *const file = in_folder("during.yaml");
    write_file(file, "faults: {dead: {links: 0-1, failed: {at_ns: 9000}}}\n");
    struct run_output output = run_line(RUN_ANY_CODE,
                                        "run --algorithm torus_rs_ag --bytes-per-rank 64KiB "
                                        "--no-data " TORUS "--components %s",
                                        file);
    assert_int_not_equal(output.exit_code, 0);
    assert_non_null(strstr(output.err,
                           "IpcqLinkDown: link 'sip 1 W', from sip 1 to sip 0, failed at "
                           "9000.000 ns before the tail had left it of a transfer "));
    run_output_free(&output);
}

static void what_is_cut_off_or_not_there_is_named(void **state)
{
    (void)state;
    write_file(in_folder("two.yaml"), "faults:\n  a: {links: 0-1, failed: {at_ns: 5}}\n"
                                      "  b: {links: 2-3, failed: {at_ns: 6}}\n");
    char two[200];
    snprintf(two, sizeof two, "--components %s", in_folder("two.yaml"));
    refused(two, "two.yaml:3:27: faults.b.failed: {at_ns: 6}: faults.a has {at_ns: 5}; legal: one "
                 "time for all");
    refused(TORUS "--set faults.x.links=[0-1,0-7,0-8,0-56] --set faults.x.failed=true",
            "faults.x.failed: no way is left from sip 1, sip 2, sip 3 and 60 more to sip 0");
    refused("--set system.sips.topology=switch --set faults.x.links=0->2 --set faults.x.slower=2x",
            "there is no link '0->2'; legal there: 'sip 0 E', to switch 0");
    refused("--set faults.x.links=9-1 --set faults.x.slower=2x",
            "'9-1' begins with no SIP and no switch of the machine, and is no kind of link");
    refused("--set faults.x.slower=2x", "faults.x: it names no parts; legal: links, nodes, at");
    refused("--set faults.x.links=0-1",
            "faults.x: it does not say what is wrong with them; legal: slower, bandwidth, failed");
    refused("--set faults.x.links=0-1 --set faults.x.slower=2x --set faults.x.failed=true",
            "faults.x.failed: what has failed is not slower");
    refused("--set faults.x.links=0-1 --set faults.x.bandwidth=200",
            "200 GB/s is above the 100 of sip_link");
    refused("--set faults.x.at=1.2 --set faults.x.failed=true",
            "faults.x.at: expected SIPs, since cubes and PEs do not fail alone; found \"1.2\"");
    refused("--set faults.x.nodes=pe_meth --set faults.x.slower=2x", "did you mean 'pe_math'?");
    refused("--set faults.x.links=ucie --set faults.x.failed=true",
            "no such link is between SIPs, and only those can fail");
    refused("--set faults.x.links=0-1 --set faults.x.slower=0.5x", "a factor is at least 1x");
    refused("--set faults.x.at=0-3 --set faults.x.failed=true", "all 4 SIPs have failed");
    refused("--set jitter.links.ucie.slower_percent=5",
            "faults.NAME.links=ucie with faults.NAME.slower=PERCENT");
}

/* Of 16 SIPs in a torus one link has half the speed: the explanation names it, and its factor. */
static void a_single_slow_link_is_named(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "run --algorithm torus_rs_ag --set algorithms.torus_rs_ag.mapper=all_pes --set "
                    "system.sips.count=16 --bytes-per-rank 4MiB --no-data --explain --set "
                    "faults.old.links=5-6 --set faults.old.slower=2x");
    const char *const limit = strstr(output.out, "# limited by the bandwidth of sip_link, ");
    assert_non_null(limit);
    assert_non_null(strstr(limit, "(2.0 × slower on link 5-6; with half the slowness: "));
    assert_null(strstr(output.out, "jitter and waits"));
    run_output_free(&output);
}

/* Two and three SIPs at two switches, and 1 GB/s between those. Without SIP 0 one rank exchanges
 * blocks with three others: 3 x 20 KiB each way, at 1 GB/s 61.44 us. */
static void bounds_are_of_the_sips_that_are_left(void **state)
{
    (void)state;
    write_file(in_folder("thin.yaml"),
               "sips: 5\nswitches: [{name: a}, {name: b}]\nclasses: {thin: {bw_gbs: 1}}\nlinks: "
               "[{from: 0-1, to: a}, {from: 2-4, to: b}, {from: a, to: b, class: thin}]\n");
    char line[500];
    snprintf(line, sizeof line,
             RUN "--bench ccl_all_to_all --algorithm pairwise_all_to_all --bytes-per-rank 80KiB "
                 "--set system.sips.topology={\"graph\":\"%s\"} --set faults.f.at=0 --set "
                 "faults.f.failed=true",
             in_folder("thin.yaml"));
    json_t *const root = json_of(line);
    is_right(root);
    assert_int_equal(json_number_value(json_object_get(row_of(root), "bound_ns")), 61440);
    json_decref(root);
}

/* A step's rank is the SIP of its number: SIPs after those with ranks may fail, no others. */
static void a_step_has_the_sips_of_its_ranks(void **state)
{
    (void)state;
    char line[300];
    write_file(in_folder("three.yaml"),
               "workload:\n  ranks: 3\n  ops:\n    - {collective: all_reduce, bytes: 96KiB}\n");
    for (int failed = 1; failed < 4; failed += 2) {
        snprintf(line, sizeof line,
                 "step %s --quiet --set system.sips.count=4 --set faults.f.failed=true --set "
                 "faults.f.at=%d",
                 in_folder("three.yaml"), failed);
        struct run_output output = run_line(failed == 1 ? 2 : 0, "%s", line);
        assert_int_equal(strstr(output.err, "rank 1 is on SIP 1, and that SIP or one before it has "
                                            "failed") != NULL,
                         failed == 1);
        run_output_free(&output);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dead_link_of_a_torus_costs_time_and_no_bit),
        cmocka_unit_test(topo_shows_what_has_failed_and_the_way_round_it),
        cmocka_unit_test(a_failed_sip_is_no_rank),
        cmocka_unit_test(bounds_are_of_the_sips_that_are_left),
        cmocka_unit_test(a_step_has_the_sips_of_its_ranks),
        cmocka_unit_test(threads_and_rollbacks_change_nothing),
        cmocka_unit_test(a_link_that_fails_during_a_run),
        cmocka_unit_test(what_is_cut_off_or_not_there_is_named),
        cmocka_unit_test(a_single_slow_link_is_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
