/*
 * test_concurrent.c: the bench of calls of several groups at once: times that follow from counting,
 * the same results in every mode, all collectives verified, refusals.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TEST_SCRATCH "concurrent"
#include "test/support/run_cubewarp.h"
#include "test/support/scratch_folder.h"

/* Eight SIPs of two cubes with 8 PEs; rows of four SIPs, and each SIP with the one in the other
 * row, on PEs of their own. */
#define RUN                                                                                        \
    "run --bench concurrent --quiet --set system.sips.count=8 --set sip.cube_mesh.w=2 "            \
    "--set sip.cube_mesh.h=1 --set system.sips.topology=fully_connected "
#define GROUPS                                                                                     \
    "--set groups.tp.each=4 --set groups.tp.lanes=0-7 --set groups.dp.stride=4 "                   \
    "--set groups.dp.lanes=8-15 "

static const json_t *row_at(const json_t *root, size_t row)
{
    return json_array_get(json_object_get(root, "results"), row);
}

static long long ps_at(const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return llround(json_number_value(value) * 1000);
}

static long long time_at(const json_t *root, size_t row)
{
    return ps_at(row_at(root, row), "time_ns");
}

static long long group_ps(const json_t *root, size_t row, const char *key)
{
    return ps_at(json_object_get(row_at(root, row), "groups"), key);
}

/* On fully connected SIPs the routes of the two groups share no part. */
static void groups_on_sips_of_their_own_take_the_time_of_one(void **state)
{
    (void)state;
    json_t *const one = run_json(RUN GROUPS "--call all_reduce:tp.0:64KiB");
    json_t *const both = run_json(RUN GROUPS "--call all_reduce:tp:64KiB");
    assert_true(time_at(one, 0) > 0);
    assert_int_equal(time_at(both, 0), time_at(one, 0));
    assert_int_equal(group_ps(both, 0, "fastest_ns"), time_at(one, 0));
    assert_int_equal(group_ps(both, 0, "median_ns"), time_at(one, 0));
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(row_at(both, 0), "groups"), "count")),
        2);
    json_decref(one);
    json_decref(both);
}

static void a_call_begins_at_its_start(void **state)
{
    (void)state;
    json_t *const root =
        run_json(RUN GROUPS "--call all_reduce:tp.1:64KiB@7us,all_reduce:tp.0:64KiB");
    assert_int_equal(group_ps(root, 0, "begin_ns"), 7000000);
    assert_int_equal(group_ps(root, 1, "begin_ns"), 0);
    assert_int_equal(group_ps(root, 0, "end_ns"), 7000000 + time_at(root, 0));
    assert_int_equal(time_at(root, 0), time_at(root, 1));
    assert_int_equal(group_ps(root, 0, "alone_ns"), time_at(root, 0));
    assert_int_equal(time_at(root, 2), 7000000 + time_at(root, 0)); /* all calls */
    json_decref(root);
}

static void a_send_takes_no_longer_beside_one_on_other_sips(void **state)
{
    (void)state;
    json_t *const root = run_json(RUN "--call send:0-1:64KiB,send:5-2:64KiB,send:3-7:64KiB");
    for (size_t i = 0; i < 3; i++) {
        assert_true(time_at(root, i) > 0);
        assert_int_equal(time_at(root, i), group_ps(root, i, "alone_ns"));
    }
    json_decref(root);
}

#define EVERYTHING                                                                                 \
    RUN GROUPS "--verify-data --call all_reduce:tp:16KiB,reduce_scatter:tp:16KiB@1us "             \
               "--call all_gather:dp:16KiB,all_to_all:tp:16KiB@500ns,broadcast:dp:8KiB "           \
               "--call send:6-1:4KiB,barrier:tp,all_reduce:world:1KiB@3us "

static void every_collective_is_verified_beside_all_others(void **state)
{
    (void)state;
    static const char *const names[] = {"all_reduce:tp", "reduce_scatter:tp", "all_gather:dp",
                                        "all_to_all:tp", "broadcast:dp",      "send:6-1",
                                        "barrier:tp",    "all_reduce:world",  "all calls"};
    json_t *const root = run_json("%s", EVERYTHING);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *const row = row_at(root, i), *const wrong = json_object_get(row, "wrong");
        assert_string_equal(json_string_value(json_object_get(row, "collective")), names[i]);
        if (strcmp(names[i], "barrier:tp") == 0 || strcmp(names[i], "all calls") == 0)
            assert_true(json_is_null(wrong));
        else
            assert_true(json_is_integer(wrong) && json_integer_value(wrong) == 0);
    }
    json_decref(root);
}

static void modes_and_threads_change_no_time_and_no_bit(void **state)
{
    (void)state;
    static const char *const ways[] = {"--threads 2 --sync conservative",
                                       "--threads 3 --sync optimistic",
                                       "--threads 2 --sync adaptive"};
    json_t *const expected = run_json("%s", EVERYTHING);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        json_t *const got = run_json(EVERYTHING "%s", ways[i]);
        assert_true(
            json_equal(json_object_get(got, "results"), json_object_get(expected, "results")));
        json_decref(got);
    }
    json_decref(expected);
}

/* An algorithm of the machine's own queues runs in each group, too; in its own order of additions.
 */
static void an_algorithm_that_is_named_reduces_in_each_group(void **state)
{
    (void)state;
    static const char *const names[] = {"lrab_hierarchical_allreduce", "ring_allreduce",
                                        "tree_allreduce", "halving_doubling"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *const root =
            run_json(RUN "--set groups.tp.each=4 --verify-data --algorithm %s --call "
                         "all_reduce:tp:4KiB",
                     names[i]);
        const json_t *const row = row_at(root, 0);
        assert_string_equal(json_string_value(json_object_get(row, "algorithm")), names[i]);
        assert_string_equal(json_string_value(json_object_get(row, "proof")), "order");
        assert_int_equal(json_integer_value(json_object_get(row, "wrong")), 0);
        json_decref(root);
    }
}

/* Calls of a configuration do what those of the line do, which replace them. */
/* Time in the first row, in ns. */
static double first_ns(json_t *root)
{
    const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
    const double ns = json_number_value(json_object_get(row, "time_ns"));
    json_decref(root);
    return ns;
}

/* Ranks compute beside the collectives of their groups: products are verified, a time is as much
 * longer as was asked for, and FLOP/s are counted. */
static void ranks_compute_beside_collectives(void **state)
{
    (void)state;
    json_t *const root =
        run_json(RUN GROUPS "--verify-data --call all_reduce:tp:64KiB,product:world:40x30x200@1us,"
                            "roofline:tp.1:1.5G/1MiB,time:tp:5us");
    const json_t *const rows = json_object_get(root, "results");
    assert_int_equal(json_array_size(rows), 5);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 0), "wrong")), 0);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 1), "wrong")), 0);
    assert_true(json_number_value(json_object_get(json_array_get(rows, 1), "flops")) ==
                2.0 * 40 * 30 * 200);
    assert_true(json_number_value(json_object_get(json_array_get(rows, 2), "flops")) == 1.5e9);
    assert_null(json_object_get(json_array_get(rows, 3), "flops"));
    json_decref(root);
    const double five = first_ns(run_json(RUN GROUPS "--call time:tp:5us")),
                 seven = first_ns(run_json(RUN GROUPS "--call time:tp:7us"));
    assert_true(seven - five > 1999.9995 && seven - five < 2000.0005);
}

static void calls_may_stand_in_the_configuration(void **state)
{
    (void)state;
#define LISTED RUN GROUPS "--set concurrent=['all_reduce:tp:4KiB','send:0-5:1KiB@1us'] "
    json_t *const line = run_json(RUN GROUPS "--call all_reduce:tp:4KiB,send:0-5:1KiB@1us");
    json_t *const listed = run_json(LISTED);
    json_t *const replaced = run_json(LISTED "--call barrier:tp");
    assert_true(json_equal(json_object_get(listed, "results"), json_object_get(line, "results")));
    assert_int_equal(json_array_size(json_object_get(replaced, "results")), 2);
    json_decref(line);
    json_decref(listed);
    json_decref(replaced);
    struct run_output output = run_line(2, RUN "--set concurrent=['all_reduce:tp']");
    assert_non_null(strstr(output.err, "--set concurrent=['all_reduce:tp']: concurrent: "
                                       "'all_reduce:tp': after the groups stands the size"));
    run_output_free(&output);
    output = run_line(2, RUN "--set concurrent=all_reduce:tp:4");
    assert_non_null(strstr(output.err, "concurrent: expected a list of calls, such as "));
    run_output_free(&output);
}

/* Also where ranks do not wait for each other, so that the machine runs in steps. */
static void limits_of_a_run_end_it(void **state)
{
    (void)state;
    static const struct {
        const char *limit, *text;
    } lines[] = {
        {"--max-sim-time 2us", "not over at 2000.000 ns, the limit of simulated time, while "},
        {"--max-sim-time 2us --threads 2", "not over at 2000.000 ns, the limit of simulated "},
        {"--max-events 3000", "more than 3000 events"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct run_output output =
            run_line(3, RUN GROUPS "--call all_reduce:tp:64KiB %s", lines[i].limit);
        if (strstr(output.err, lines[i].text) == NULL)
            fail_msg("%s: %s", lines[i].limit, output.err);
        run_output_free(&output);
    }
    struct run_output output = run_line(0, RUN GROUPS "--call barrier:tp --max-sim-time 1ms");
    run_output_free(&output);
}

static void what_cannot_be_called_is_refused_with_what_could(void **state)
{
    (void)state;
    static const struct {
        const char *call, *text;
    } lines[] = {
        {"all_reduce:tq:4", "--call all_reduce:tq:4: no groups 'tq'; there are: world, tp, dp "},
        {"all_reduce:tp.2:4", "no group 'tp.2'; tp has groups from .0 on"},
        {"all_reduce:tp:3", "3 bytes of a rank are no multiple of 2"},
        {"all_gather:tp:6", "3 elements are no multiple of 4 ranks"},
        {"send:0-8:4", "rank 8 of 8; legal: 0 to 7"},
        {"send:3-3:4", "a send goes from one rank to another, as in send:0-8:64KiB"},
        {"send:tp:4", "a send goes from one rank to another, as in send:0-8:64KiB"},
        {"reduce:tp:4", "expected all_reduce, reduce_scatter, "},
        {"product:tp:4x4", "a product is MxNxK"},
        {"roofline:tp:5", "a roofline has flops and bytes"},
        {"time:tp", "time:tp:5us"},
        {"all_reduce:tp", "after the groups stands the size of a rank's tensor"},
        {"all_reduce:tp:4@5", "after @ stands a time such as 5us"},
        {"barrier:tp:4", "a barrier has no size: barrier:tp"},
        {"all_reduce", "the groups are missing"},
        {"all_reduce:tp:4,", "expected all_reduce, reduce_scatter, "},
        {"all_reduce:tp:4 --set groups.tp.algorithm=pairwise_all_to_all",
         "and those of this group are its algorithm's"},
        {"all_reduce:tp:4 --bytes 4", "concurrent has no --bytes or --n-elem"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct run_output output = run_line(2, RUN GROUPS "--call %s", lines[i].call);
        if (strstr(output.err, lines[i].text) == NULL)
            fail_msg("%s: %s", lines[i].call, output.err);
        run_output_free(&output);
    }
    struct run_output output = run_line(
        0, "check --bench concurrent --set system.sips.count=8 " GROUPS "--call all_reduce:tp:4");
    run_output_free(&output);
    output = run_line(2, "check --bench concurrent --set system.sips.count=8 " GROUPS
                         "--call all_reduce:tq:4");
    assert_non_null(strstr(output.err, "no groups 'tq'"));
    run_output_free(&output);
    output = run_line(2, RUN GROUPS);
    assert_non_null(strstr(output.err, "concurrent has no calls: --call all_reduce:tp:1MiB"));
    run_output_free(&output);
}

static long long bytes_of_kind(const json_t *root, size_t row, const char *kind)
{
    const json_t *const kinds = json_object_get(row_at(root, row), "link_kinds");
    for (size_t i = 0; i < json_array_size(kinds); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(kinds, i), "kind")), kind) == 0)
            return json_integer_value(json_object_get(json_array_get(kinds, i), "bytes"));
    return 0;
}

/* Of the path of a row's slowest group: how long a kernel waited for its PE. */
static long long wait_for_pe_ps(const json_t *root, size_t row)
{
    const json_t *const parts = json_object_get(
        json_object_get(json_object_get(row_at(root, row), "explain"), "path"), "parts");
    assert_true(json_array_size(parts) > 0);
    for (size_t i = 0; i < json_array_size(parts); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(parts, i), "part")),
                   "wait for another group's kernel") == 0)
            return ps_at(json_array_get(parts, i), "time_ns");
    return 0;
}

/* A rank of a ring of n sends 2 (n - 1) / n of its tensor. Calls of dp wait for those of tp on the
 * PEs that both use, but not on PEs of their own. */
static void explanations_and_bytes_are_of_a_call_s_groups(void **state)
{
    (void)state;
    static const char *const lanes[] = {"--set groups.dp.lanes=0-7 ", ""};
    for (size_t apart = 0; apart < 2; apart++) {
        json_t *const root = run_json(RUN GROUPS "%s --explain --no-data --call "
                                                 "all_reduce:tp:64KiB,all_reduce:dp:16KiB",
                                      lanes[apart]);
        const long long tp = bytes_of_kind(root, 0, "sip_link"),
                        dp = bytes_of_kind(root, 1, "sip_link");
        assert_int_equal(tp, 2 * 4 * (2 * 3 * 65536 / 4));
        assert_int_equal(dp, 4 * 2 * (2 * 1 * 16384 / 2));
        assert_int_equal(bytes_of_kind(root, 2, "sip_link"), tp + dp);
        assert_int_equal(bytes_of_kind(root, 2, "ucie"),
                         bytes_of_kind(root, 0, "ucie") + bytes_of_kind(root, 1, "ucie"));
        assert_int_equal(wait_for_pe_ps(root, 0), 0);
        assert_int_equal(wait_for_pe_ps(root, 1) > 0, apart == 0);
        assert_true(wait_for_pe_ps(root, 1) < time_at(root, 2));
        json_decref(root);
    }
}

/* Two sends leave SIP 0 by its one link to the switch. */
static void the_busiest_links_say_whose_bytes_they_carried(void **state)
{
    (void)state;
#define TWO_SENDS                                                                                  \
    RUN "--set system.sips.topology=switch --no-data --call send:0-1:64KiB,send:0-2:192KiB"
    json_t *const root = run_json(TWO_SENDS);
    const json_t *const link = json_array_get(json_object_get(row_at(root, 2), "shared_links"), 0);
    const json_t *const calls = json_object_get(link, "calls");
    assert_int_equal(json_integer_value(json_object_get(link, "bytes")), 4 * 65536);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(json_integer_value(json_object_get(json_array_get(calls, i), "bytes")),
                         (1 + 2 * i) * 65536);
    json_decref(root);
    struct run_output output = run_line(0, TWO_SENDS);
    assert_non_null(strstr(output.out, "\n#   send:0-1 25.0 %, send:0-2 75.0 %\n"));
    run_output_free(&output);
}

/* Of the bits alone. */
static void a_send_has_a_hash_of_what_arrived(void **state)
{
    (void)state;
    static const char *const seeds[] = {"1", "1 --set links.sip_link.bw_gbs=3", "2"};
    const char *hash[3];
    json_t *roots[3];
    for (size_t i = 0; i < 3; i++) {
        roots[i] = run_json(RUN "--call send:2-5:4KiB,barrier:world --seed %s", seeds[i]);
        hash[i] = json_string_value(json_object_get(row_at(roots[i], 0), "data_hash"));
        assert_non_null(hash[i]);
    }
    assert_string_equal(hash[0], hash[1]);
    assert_string_not_equal(hash[0], hash[2]);
    for (size_t i = 0; i < 3; i++)
        json_decref(roots[i]);
    struct run_output output = run_line(0, RUN "--call send:2-5:4KiB,barrier:world");
    assert_null(strstr(output.out, "result hash none"));
    run_output_free(&output);
}

/* Logs name groups, and calls by what they do. */
static void logs_name_the_groups(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, RUN GROUPS "--no-data --ccl-trace - --call all_reduce:tp:4KiB,send:0-5:4KiB");
    assert_non_null(strstr(output.out, "rank 3 of group tp.1, t "));
    assert_non_null(strstr(output.out, "rank 0 of group 0-5, t "));
    run_output_free(&output);
    output = run_line(0, RUN GROUPS "--no-data --trace %s --call all_reduce:tp:4KiB,send:0-5:4KiB",
                      in_folder("t"));
    run_output_free(&output);
    char *const trace = read_file(in_folder("t"));
    assert_non_null(strstr(trace, "\"name\":\"call 0 (all_reduce), 4096 bytes\""));
    assert_non_null(strstr(trace, "\"name\":\"send_recv\""));
    free(trace);
}

static void the_csv_has_the_times_of_groups(void **state)
{
    (void)state;
    struct run_output output = run_line(
        0, RUN GROUPS "--csv - --call all_reduce:tp.1:4KiB@2us,all_reduce:tp.0:4KiB,barrier:dp");
    assert_non_null(strstr(output.out, ",operations_simulated,group_set,group_count,group_ranks,"
                                       "group_fastest_ns,group_median_ns,group_begin_ns,"
                                       "group_end_ns,group_alone_ns,"));
    assert_non_null(strstr(output.out, ",tp.1,1,4,"));
    assert_non_null(strstr(output.out, ",dp,4,2,"));
    assert_non_null(strstr(output.out, ",2000.000,")); /* group_begin_ns */
    run_output_free(&output);
    output = run_line(2, RUN "--call barrier:world --tag group_set=1");
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_on_sips_of_their_own_take_the_time_of_one),
        cmocka_unit_test(a_call_begins_at_its_start),
        cmocka_unit_test(a_send_takes_no_longer_beside_one_on_other_sips),
        cmocka_unit_test(every_collective_is_verified_beside_all_others),
        cmocka_unit_test(modes_and_threads_change_no_time_and_no_bit),
        cmocka_unit_test(an_algorithm_that_is_named_reduces_in_each_group),
        cmocka_unit_test(ranks_compute_beside_collectives),
        cmocka_unit_test(calls_may_stand_in_the_configuration),
        cmocka_unit_test(limits_of_a_run_end_it),
        cmocka_unit_test(what_cannot_be_called_is_refused_with_what_could),
        cmocka_unit_test(explanations_and_bytes_are_of_a_call_s_groups),
        cmocka_unit_test(the_busiest_links_say_whose_bytes_they_carried),
        cmocka_unit_test(a_send_has_a_hash_of_what_arrived),
        cmocka_unit_test(the_csv_has_the_times_of_groups),
        cmocka_unit_test(logs_name_the_groups),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
