/*
 * test_shortcuts.c: --fold, --repeat and --replay as a user meets them: what refuses them, that the
 * environment switches them off, and that a folded run shows the whole machine. Many more runs with
 * and without are in test/equality.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST_SCRATCH "shortcuts"
#include "test/support/run_cubewarp.h"
#include "test/support/scratch_folder.h"

static void expect_refusal(const char *line, const char *why)
{
    struct run_output output = run_line(2, "%s", line);
    if (strstr(output.err, why) == NULL)
        fail_msg("%s: %s", line, output.err);
    assert_string_equal(output.out, "");
    run_output_free(&output);
}

static void what_needs_all_events_refuses_on(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"run --fold on",
         "--fold on: each rank has values of its own: give --no-data, or --verify-data sample"},
        {"run --repeat on",
         "--repeat on: each rank has values of its own: give --no-data, or --verify-data sample"},
        {"run --repeat on --no-data --explain", "--repeat on: --explain follows all events"},
        {"run --fold on --no-data --explain --preset tiny --set system.sips.topology=switch --set "
         "system.sips.count=8 --algorithm halving_doubling",
         "--fold on: --explain goes by folds that are translations alone"},
        {"run --repeat on --no-data --trace t.json", "--repeat on: --trace shows all kernels"},
        {"run --fold on --no-data --ccl-trace t", "--fold on: --ccl-trace has all tiles"},
        {"run --fold on --no-data --engine-log t", "--fold on: --engine-log measures the engine"},
        {"run --fold on --no-data --engine-trace t", "--fold on: --engine-trace measures"},
        {"run --fold on --no-data --dump-pointers", "--fold on: --dump-pointers prints all queues"},
        {"run --fold on --no-data --set jitter.links.ucie.distribution=uniform --set "
         "jitter.links.ucie.mean_ns=1 --set jitter.links.ucie.spread_ns=1",
         "--fold on: the jitter of ucie is drawn for each operation"},
        {"run --fold on --bench ipcq_pingpong --no-data",
         "--fold on: the bench does more than one call"},
        {"run --fold on --no-data --bench ccl_reduce_scatter --algorithm birs --set "
         "system.sips.topology=pair_switch --set system.sips.count=4 --set sip.cube_mesh.w=1 --set "
         "sip.cube_mesh.h=1 --set algorithms.birs.mate=[2,3,0,1]",
         "--fold on: `mate` or `package` say where ranks are"},
        {"run --fold on --no-data --set defaults.strict_validation=true",
         "--fold on: strict_validation looks at the messages of every PE"},
        {"run --fold on --no-data --max-events 100000000", "--fold on: --max-events counts all"},
        {"run --fold on --no-data --bench ccl_broadcast", "--fold on: "},
        {"run --fold on --no-data --set system.sips.topology=mesh_2d_no_wrap",
         "--fold on: SIPs of mesh_2d_no_wrap are not alike"},
        {"run --fold on --no-data --set jitter.nodes.pe_dma.distribution=fixed --set "
         "jitter.nodes.pe_dma.mean_ns=9 --set jitter.nodes.pe_dma.only=2",
         "--fold on: only SIP 2 has a late pe_dma"},
        {"run --fold on --no-data --set faults.slow.nodes=pe_dma --set faults.slow.slower=9 --set "
         "faults.slow.at=0-2",
         "--fold on: SIP 2 has a late pe_dma, and SIP 3 has not"},
        {"run --replay on --no-data", "--replay does nothing in the bench ccl_allreduce"},
        {"step configs/workloads/ring_8.yaml --preset pod64 --replay on --threads 2",
         "--replay on: operations are replayed on one thread alone: give --threads 1"},
        {"step configs/workloads/ring_8.yaml --preset pod64 --replay on --threads 1 --launches "
         "free",
         "--replay on: launches take no time"},
        {"step configs/workloads/ring_8.yaml --preset pod64 --replay on --fold on --launches free",
         "--replay on: launches take no time"},
        {"run --fold maybe", "--fold 'maybe': expected auto, on or off"},
        {"verify --fold on", "unknown option '--fold'"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_refusal(lines[i][0], lines[i][1]);
}

/* 16 elements do not divide among 9 ranks. */
static void a_size_that_does_not_run_keeps_no_other_from_folding(void **state)
{
    (void)state;
    static const char *const sizes[] = {"16,45", "45,16"};
    for (size_t i = 0; i < 2; i++) {
        struct run_output output =
            run_line(0,
                     "run --fold on --no-data --bench ccl_reduce_scatter --algorithm "
                     "torus_reduce_scatter --set system.sips.topology=ring_1d --set "
                     "system.sips.count=9 --n-elem %s",
                     sizes[i]);
        assert_non_null(strstr(output.out, "# simulated: 1 of 9 SIPs (by comparison), factor 9\n"));
        assert_non_null(strstr(output.out, "16 elements are no multiple of 9 ranks"));
        run_output_free(&output);
    }
}

/* A ring of representatives has as many links as SIPs; a switch one for each. */
static void links_of_a_folded_machine_count_once(void **state)
{
    static const char *const lines[][2] = {{"ring_1d", " of 1 sip_link"},
                                           {"switch", " of 1 sip_link"},
                                           {"torus_2d", " of 2 sip_link"}};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct run_output output =
            run_line(0,
                     "run --no-data --fold on --threads 2 --n-elem 64 --algorithm "
                     "lrab_hierarchical_allreduce --set system.sips.count=16 --set "
                     "system.sips.topology=%s",
                     lines[i][0]);
        if (strstr(output.out, lines[i][1]) == NULL)
            fail_msg("no '%s' in: %s", lines[i][1], output.out);
        run_output_free(&output);
    }
}

static void a_run_of_64_sips_says_why_none_fold(void **state)
{
    static const char *const lines[][2] = {
        {"--preset pod64 --no-data --bench ccl_broadcast",
         "# simulated: all SIPs: rank 0 is the root of a spanning tree, and others are not\n"},
        {"--preset pod64", "# simulated: all SIPs: each rank has values of its own: give "},
        {"--preset pod64 --no-data --fold off", NULL},
        {"--set system.sips.count=63", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct run_output output = run_line(0, "run --n-elem 64 %s", lines[i][0]);
        if ((strstr(output.out, lines[i][1] != NULL ? lines[i][1] : "# simulated:") != NULL) !=
            (lines[i][1] != NULL))
            fail_msg("%s: %s", lines[i][0], output.out);
        run_output_free(&output);
    }
}

#define HUGE_TORUS                                                                                 \
    " --set system.sips.topology=torus_2d --set system.sips.w=256 --set system.sips.h=128 --set "  \
    "system.sips.count=32768"
#define HUGE_SWITCH " --set system.sips.topology=switch --set system.sips.count=131072"
#define HUGE_LRAB   "run --algorithm lrab_hierarchical_allreduce --bytes 16KiB" HUGE_TORUS

static void more_than_16384_sips_run_folded_alone(void **state)
{
    static const char *const lines[][2] = {
        {HUGE_LRAB, "32768 SIPs do not fold: each rank has values of its own: give --no-data, or "
                    "--verify-data sample; "
                    "unfolded runs have at most 16384 SIPs"},
        {HUGE_LRAB " --no-data --fold off", "32768 SIPs do not fold: --fold off; unfolded runs"},
        {"run --no-data --algorithm lrab_hierarchical_allreduce --bytes 16KiB --set "
         "system.sips.topology=mesh_2d_no_wrap --set system.sips.count=32768",
         "32768 SIPs do not fold: SIPs of mesh_2d_no_wrap are not alike; unfolded runs"},
        {"run --no-data --algorithm halving_doubling --bytes 16KiB" HUGE_TORUS,
         "halving_doubling does not fold beyond 16384 ranks, and there are 32768 SIPs"},
        {"run --no-data --explain --algorithm torus_rs_ag --bytes-per-rank 8MiB" HUGE_SWITCH,
         "131072 SIPs do not fold: --explain numbers at most 65000 links of a SIP or a switch; "},
        {"check --algorithm halving_doubling" HUGE_TORUS,
         "halving_doubling does not fold beyond 16384 ranks"}};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_refusal(lines[i][0], lines[i][1]);
}

/* torus_rs_ag sends 2 (N - 1) / N of the tensor. */
static void schedules_of_more_than_16384_ranks_fold_by_proof(void **state)
{
    static const char *const expected[] = {"simulated: 1 of 32,768 SIPs (by proof), factor 32,768",
                                           "Moved per rank    : 2.00 x the tensor"};
    (void)state;
    struct run_output output =
        run_line(0, "run --no-data --algorithm torus_rs_ag --bytes-per-rank 8MiB%s", HUGE_TORUS);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (strstr(output.out, expected[i]) == NULL)
            fail_msg("no '%s' in: %s", expected[i], output.out);
    run_output_free(&output);
    expect_refusal("run --no-data --algorithm torus_rs_ag --bytes-per-rank 100KiB" HUGE_TORUS,
                   "32768 SIPs do not fold: 51200 elements per shard have chunks of unequal");
    expect_refusal("run --no-data --algorithm ring_rs_ag --bytes-per-rank 8MiB" HUGE_TORUS,
                   "32768 SIPs do not fold: turns do not keep the order in which ring_rs_ag goes");
}

/* Along a ring of n SIPs each sends n - 1 tensors of 16 KiB to the next one. */
static void more_than_16384_sips_fold_by_proof(void **state)
{
    static const char *const expected[] = {
        "simulated: 1 of 32,768 SIPs (by proof), factor 32,768",
        "sip 0 io_die sip_link E, 32768 alike             4177920", /* 255 x 16,384 */
        "Moved per rank    : 382.00 x the tensor"};                 /* 255 + 127 */
    (void)state;
    struct run_output output = run_line(0, "%s", HUGE_LRAB " --no-data");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (strstr(output.out, expected[i]) == NULL)
            fail_msg("no '%s' in: %s", expected[i], output.out);
    run_output_free(&output);
}

/* Times of all kernels together, which 64 bits do not hold. */
static void shares_of_huge_machines_are_shares(void **state)
{
    double busy = 0, busiest = 0;
    (void)state;
    struct run_output output =
        run_line(0, "%s", HUGE_LRAB " --no-data --explain --set nodes.pe_cpu.overhead_ns=50000000");
    const char *const blocks = strstr(output.out, "blocks of PEs with a kernel");
    const char *const row = blocks != NULL ? strstr(blocks, "\n# pe_cpu ") : NULL;
    assert_non_null(row);
    assert_int_equal(sscanf(row, " # pe_cpu %lf %lf", &busy, &busiest), 2);
    assert_true(busy > 0 && busy <= busiest && busiest <= 100);
    run_output_free(&output);
}

static void the_environment_switches_all_off(void **state)
{
    (void)state;
    assert_int_equal(setenv("CUBEWARP_SHORTCUTS", "off", 1), 0);
    expect_refusal("run --no-data --fold on",
                   "--fold on: CUBEWARP_SHORTCUTS=off in the environment");
    assert_int_equal(setenv("CUBEWARP_SHORTCUTS", "perhaps", 1), 0);
    expect_refusal("run --no-data", "CUBEWARP_SHORTCUTS=perhaps: expected true, yes, on or 1");
    assert_int_equal(unsetenv("CUBEWARP_SHORTCUTS"), 0);
}

static void expect_same_file(const char *a, const char *b)
{
    char *const left = read_file(a), *const right = read_file(b);
    assert_string_equal(left, right);
    free(left);
    free(right);
}

static json_t *row_of(json_t *document, size_t i)
{
    return json_array_get(json_object_get(document, "results"), i);
}

/* What a run writes to --links. */
static char *links_of(const char *line, size_t *lines)
{
    struct run_output run =
        run_line(0, "%s --no-data --quiet --links %s", line, in_folder("huge.csv"));
    run_output_free(&run);
    char *const text = read_file(in_folder("huge.csv"));
    *lines = 0;
    for (const char *at = text; *at != '\0'; at++)
        *lines += *at == '\n';
    return text;
}

/* Of machines that run folded alone a table of links has a row for all links that are alike: no
 * more rows than links and PEs of one SIP of 16 cubes. */
static void huge_machines_have_rows_of_classes(void **state)
{
    size_t lines;
    (void)state;
    char *text = links_of(HUGE_LRAB, &lines);
    assert_true(lines < 400);
    assert_non_null(strstr(text, ",sip_link,\"sip_link E\",\"0-32767\",32768,4177920,"));
    assert_non_null(strstr(text, ",pe,\"\",\"0-32767.10.0\",32768,"));
    free(text);
    /* each of n SIPs sends n - 1 tensors through the switch */
    text = links_of("run --algorithm lrab_hierarchical_allreduce --bytes 1KiB --set "
                    "system.sips.topology=switch --set system.sips.count=20000",
                    &lines);
    assert_true(lines < 400);
    assert_non_null(strstr(text, ",\"sip_link to sip 0-19999\",\"x0\",20000,20478976,"));
    free(text);
    expect_refusal(
        "run --no-data --algorithm lrab_hierarchical_allreduce --svg /tmp/none.svg --set "
        "system.sips.count=131072",
        "a drawing has room for 65536 SIPs of 1024 cubes; the machine has 131072 of 16");
}

/* What a run refuses, check refuses; else it estimates the SIPs that are simulated. */
static void huge_machines_are_checked_as_they_run(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "check --no-data --algorithm torus_rs_ag --bytes-per-rank 8MiB" HUGE_TORUS);
    assert_non_null(strstr(output.out, "# estimate of a run of 1 size, without tensor data"));
    assert_non_null(strstr(output.out, " k events, ")); /* of one SIP; all: some thousand million */
    run_output_free(&output);
    expect_refusal("check --algorithm torus_rs_ag --bytes-per-rank 8MiB" HUGE_TORUS,
                   "32768 SIPs do not fold: each rank has values of its own");
    expect_refusal("check --no-data --algorithm torus_rs_ag --bytes-per-rank 100KiB" HUGE_TORUS,
                   "32768 SIPs do not fold: 51200 elements per shard have chunks of unequal");
    expect_refusal("check --no-data --bench gemm" HUGE_TORUS, "32768 SIPs do not fold: ");
}

/* All members of the rows, but for what says how they came about. */
static void expect_same_rows(json_t *a, json_t *b)
{
    const size_t rows = json_array_size(json_object_get(a, "results"));
    assert_int_equal(rows, json_array_size(json_object_get(b, "results")));
    for (size_t i = 0; i < rows; i++) {
        assert_int_equal(json_object_del(row_of(a, i), "shortcuts"), 0);
        assert_int_equal(json_object_del(row_of(b, i), "shortcuts"), 0);
        assert_true(json_equal(row_of(a, i), row_of(b, i)));
    }
    assert_true(json_equal(json_object_get(a, "sim_time_ns"), json_object_get(b, "sim_time_ns")));
}

/* Leaves out lines that begin so. */
static void drop_lines(char *text, const char *begin)
{
    char *to = text;
    for (char *line = text; *line != '\0';) {
        char *const end = line + strcspn(line, "\n"), *const next = *end == '\n' ? end + 1 : end;
        if (strncmp(line, begin, strlen(begin)) != 0) {
            memmove(to, line, (size_t)(next - line));
            to += next - line;
        }
        line = next;
    }
    *to = '\0';
}

/* Leaves out what the shortcuts did: "comparison,1,,", the columns of CSV from `fold` on. */
static void drop_fold_columns(char *csv)
{
    static const char *const known[] = {",comparison,", ",proof,"};
    for (size_t i = 0; i < 2; i++)
        for (char *at; (at = strstr(csv, known[i])) != NULL;) {
            char *const after = at + strlen(known[i]);
            const size_t digits = strspn(after, "0123456789");
            at[1] = ',';
            memmove(at + 2, after + digits, strlen(after + digits) + 1);
        }
}

/* Two tables of a run, but for the engine's line and what the shortcuts did; its CSV; the CSV of
 * its links. */
static void expect_same_text(const char *line)
{
    static const char *const of_engine[] = {
        "# engine: ",           "# simulated: ",           "# not fewer: ",
        "# partition: ",        "# time of the threads: ", "# rollbacks: ",
        "# the threads mostly "};
    char *text[2][2];
    for (int off = 0; off < 2; off++) {
        const char *const how = off ? "off" : "on";
        struct run_output table =
            run_line(0, "run --quiet --no-data --fold %s --explain --links %s/%s.csv %s", how,
                     folder, how, line);
        struct run_output csv =
            run_line(0, "run --quiet --no-data --fold %s --csv - %s", how, line);
        text[off][0] = strdup(table.out);
        text[off][1] = strdup(csv.out);
        for (size_t i = 0; i < sizeof of_engine / sizeof *of_engine; i++)
            drop_lines(text[off][0], of_engine[i]);
        drop_fold_columns(text[off][1]);
        run_output_free(&table);
        run_output_free(&csv);
    }
    for (int i = 0; i < 2; i++) {
        assert_string_equal(text[0][i], text[1][i]);
        free(text[0][i]);
        free(text[1][i]);
    }
    expect_same_file(in_folder("on.csv"), in_folder("off.csv"));
}

static void a_folded_run_shows_the_whole_machine(void **state)
{
    static const struct {
        const char *line;
        int sips, of;
    } runs[] = {
        {"--preset records --n-elem 4096", 1, 4},
        {"--preset six_3x2 --algorithm torus_rs_ag --bytes 6KiB,60KiB --threads 2", 1, 6},
        {"--set system.sips.topology=switch --set system.sips.count=8 --algorithm direct_rs_ag "
         "--bytes 16KiB",
         1, 8},
        {"--preset rail_128 --set sip.cube_mesh.w=1 --set sip.cube_mesh.h=2 --algorithm "
         "torus_rs_ag --bytes 16KiB",
         1, 128},
        {"--set system.sips.topology=torus_2d --set system.sips.w=2 --set system.sips.h=4 --set "
         "system.sips.count=8 --algorithm lrab_hierarchical_allreduce --n-elem 512 --set "
         "jitter.nodes.pe_math.distribution=fixed --set jitter.nodes.pe_math.mean_ns=5",
         1, 8},
        /* a row is slow; every fourth SIP is */
        {"--preset pod64 --algorithm torus_rs_ag --set algorithms.torus_rs_ag.mapper=leader_only "
         "--bytes 4KiB --set faults.slow.links=sip_link --set faults.slow.slower=100 --set "
         "faults.slow.at=8-15",
         8, 64},
        {"--set system.sips.topology=ring_1d --set system.sips.count=16 --algorithm ring_rs_ag "
         "--bytes 4KiB --set faults.slow.nodes=pe_dma --set faults.slow.slower=300 --set "
         "faults.slow.at=[1,5-13/4]",
         4, 16},
        {"--preset tiny --set system.sips.topology=torus_3d --set system.sips.count=8 --algorithm "
         "torus_rs_ag --set algorithms.torus_rs_ag.orders=2 --bytes 16KiB",
         1, 8},
        {"--preset tiny --set system.sips.topology=fully_connected --set system.sips.count=5 "
         "--algorithm direct_rs_ag --bytes 5KiB",
         1, 5},
        {"--preset pod64 --algorithm torus_rs_ag --bytes 64KiB --set "
         "defaults.recv_blocks_on_credit=false",
         1, 64},
        {"--preset dragonfly_64 --algorithm torus_rs_ag --bytes 64KiB", 1, 64},
        {"--preset a3_8 --algorithm birs_allreduce --bytes 64KiB", 1, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        json_t *const on =
            run_json("run --quiet --no-data --fold on --links %s/on.json --svg %s/on.svg %s",
                     folder, folder, runs[i].line);
        json_t *const off =
            run_json("run --quiet --no-data --fold off --links %s/off.json --svg %s/off.svg %s",
                     folder, folder, runs[i].line);
        const json_t *const taken = json_object_get(row_of(on, 0), "shortcuts");
        assert_int_equal(json_integer_value(json_object_get(taken, "sips_simulated")),
                         runs[i].sips);
        assert_int_equal(json_number_value(json_object_get(taken, "factor")),
                         runs[i].of / runs[i].sips);
        assert_true(json_is_null(
            json_object_get(json_object_get(row_of(off, 0), "shortcuts"), "sips_simulated")));
        expect_same_rows(on, off);
        expect_same_file(in_folder("on.json"), in_folder("off.json"));
        expect_same_file(in_folder("on.svg"), in_folder("off.svg"));
        expect_same_text(runs[i].line);
        json_decref(on);
        json_decref(off);
    }
}

static void the_fold_hash_is_the_same_every_time(void **state)
{
    (void)state;
    json_t *const a = run_json("run --quiet --no-data --fold on --n-elem 512"),
                  *const b = run_json("run --quiet --no-data --fold on --n-elem 512"),
                  *const c = run_json("run --quiet --no-data --fold on --n-elem 513");
    const char *const hash =
        json_string_value(json_object_get(json_object_get(a, "engine"), "fold_hash"));
    assert_int_equal(strlen(hash), 16);
    assert_string_equal(
        hash, json_string_value(json_object_get(json_object_get(b, "engine"), "fold_hash")));
    assert_string_not_equal(
        hash, json_string_value(json_object_get(json_object_get(c, "engine"), "fold_hash")));
    json_decref(a);
    json_decref(b);
    json_decref(c);
}

/* A run that fails is told of the whole machine: of all SIPs, not of one. */
static void a_failure_is_the_whole_machine_s(void **state)
{
    (void)state;
    struct run_output on = run_line(3, "run --no-data --quiet --max-sim-time 6us --n-elem 8192");
    struct run_output off =
        run_line(3, "run --no-data --quiet --max-sim-time 6us --n-elem 8192 --fold off");
    assert_string_equal(on.err, off.err);
    run_output_free(&on);
    run_output_free(&off);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_needs_all_events_refuses_on),
        cmocka_unit_test(a_size_that_does_not_run_keeps_no_other_from_folding),
        cmocka_unit_test(links_of_a_folded_machine_count_once),
        cmocka_unit_test(a_run_of_64_sips_says_why_none_fold),
        cmocka_unit_test(more_than_16384_sips_run_folded_alone),
        cmocka_unit_test(more_than_16384_sips_fold_by_proof),
        cmocka_unit_test(schedules_of_more_than_16384_ranks_fold_by_proof),
        cmocka_unit_test(huge_machines_have_rows_of_classes),
        cmocka_unit_test(huge_machines_are_checked_as_they_run),
        cmocka_unit_test(shares_of_huge_machines_are_shares),
        cmocka_unit_test(the_environment_switches_all_off),
        cmocka_unit_test(a_folded_run_shows_the_whole_machine),
        cmocka_unit_test(the_fold_hash_is_the_same_every_time),
        cmocka_unit_test(a_failure_is_the_whole_machine_s)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
