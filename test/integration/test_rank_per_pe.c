/*
 * test_rank_per_pe.c: worlds with more ranks than SIPs (DECISIONS.md): with the mapper rank_per_pe
 * rank r is PE r of the machine. Bits are those of the declared order, in every mode, and each
 * refusal says the legal values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"
#include "test/support/sanitized.h"

#define RING                                                                                       \
    "--algorithm ring_allreduce --set algorithms.ring_allreduce.n_elem=100 --set "                 \
    "algorithms.ring_allreduce.mapper=rank_per_pe "                                                \
    "--set algorithms.ring_allreduce.world_size="

static void expect_well(const char *line)
{
    struct run_output output = run_line(0, "run --verify-data %s", line);
    assert_non_null(strstr(output.out, "# Wrong values      : 0 OK"));
    assert_non_null(strstr(output.out, "# Verified          : bit for bit, in the order of "));
    run_output_free(&output);
}

static void the_records_tree_of_seven_runs(void **state)
{
    (void)state;
    expect_well("--ccl test/records/ccl-ipcq.yaml --set defaults.algorithm=tree_allreduce_7");
    struct run_output output = run_line(
        0, "check --ccl test/records/ccl-ipcq.yaml --set defaults.algorithm=tree_allreduce_7");
    run_output_free(&output);
}

static void rings_of_any_size_reduce(void **state)
{
    (void)state;
    expect_well(RING "1");
    expect_well(RING "2");
    expect_well(RING "5"); /* one more than SIPs */
    expect_well(RING "130 --set defaults.buffer_kind=hbm");
    if (!sanitized)
        expect_well(RING "130 --set defaults.buffer_kind=sram --threads 2 --sync stress");
    expect_well(RING "130 --set defaults.wiring=pe0 --set defaults.host_copy=simulated");
    if (!sanitized)
        expect_well(RING "512"); /* every PE of the machine */
}

/* The last rank is on the second SIP: the one behind 128 PEs. */
static void rank_r_is_pe_r(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "run " RING "130 --ccl-trace -");
    assert_non_null(strstr(output.out, "rank 0, "));
    assert_non_null(strstr(output.out, "PE 1.0.1"));
    /* line by line: each search takes as long as its text, and the whole is large */
    char *rest = output.out;
    size_t lines = 0;
    for (const char *line; (line = strtok_r(rest, "\n", &rest)) != NULL;) {
        unsigned rank, sip, cube, pe;
        const char *const of = strstr(line, "rank "), *const place = strstr(line, ", PE ");
        if (of == NULL || place == NULL || sscanf(of, "rank %u,", &rank) != 1)
            continue;
        assert_int_equal(sscanf(place, ", PE %u.%u.%u", &sip, &cube, &pe), 3);
        assert_int_equal(rank, (sip * 16 + cube) * 8 + pe);
        lines++;
    }
    assert_true(lines >= 130);
    run_output_free(&output);
}

static const char *hash_of(const json_t *root)
{
    return json_string_value(
        json_object_get(json_array_get(json_object_get(root, "results"), 0), "data_hash"));
}

/* Where the ranks are makes no difference to the values: three on SIPs, three on PEs. */
static void the_place_of_ranks_changes_times_alone(void **state)
{
    (void)state;
    json_t *const pes = run_json("run " RING "3");
    json_t *const sips =
        run_json("run " RING "3 --set algorithms.ring_allreduce.mapper=leader_only");
    assert_string_equal(hash_of(pes), hash_of(sips));
    assert_true(json_ps(pes, "time_ns") < json_ps(sips, "time_ns"));
    json_decref(pes);
    json_decref(sips);
}

static void refuse(const char *line, const char *text)
{
    static const char *const commands[] = {"check", "run"};
    for (int i = 0; i < 2; i++) {
        struct run_output output = run_line(2, "%s %s", commands[i], line);
        if (strstr(output.err, text) == NULL)
            fail_msg("%s said: %s", commands[i], output.err);
        run_output_free(&output);
    }
}

static void an_algorithm_that_goes_by_sips_is_refused(void **state)
{
    (void)state;
    refuse("--algorithm ring_allreduce --set algorithms.ring_allreduce.world_size=7",
           "world_size: 7 ranks, but a rank is a SIP and there are 4; legal: 1 to 4, or to 512 in "
           "a logical topology with mapper: rank_per_pe\n");
    refuse(RING "513", "world_size: 513 ranks, but a rank is a PE and there are 512; legal: 1 to "
                       "512\n");
    refuse("--set algorithms.lrab_hierarchical_allreduce.mapper=rank_per_pe",
           "lrab_hierarchical_allreduce cannot run on the PEs that rank_per_pe chooses");
    refuse("--algorithm ring_rs_ag --set algorithms.ring_rs_ag.mapper=rank_per_pe --bytes 1KiB",
           "ring_rs_ag goes by SIPs, and with the mapper rank_per_pe ranks are PEs");
    refuse("--algorithm halving_doubling --set algorithms.halving_doubling.mapper=rank_per_pe",
           "halving_doubling goes by SIPs, and with the mapper rank_per_pe ranks are PEs");
    static const char *const lines[][2] = {
        {"rhd goes", "--algorithm rhd --set algorithms.rhd.topology=ring_1d "
                     "--set algorithms.rhd.mapper=rank_per_pe --bench ccl_reduce_scatter"},
        {"a matrix product goes", "--gemm 64x64x64 --bench gemm " RING "7"},
        {"a matrix product goes", "--gemm 64x64x64 --bench gemm_allreduce --n-elem 8 " RING "7"}};
    for (int i = 0; i < 3; i++) {
        struct run_output output = run_line(2, "run %s", lines[i][1]);
        assert_non_null(strstr(output.err, lines[i][0]));
        assert_non_null(strstr(output.err, " by SIPs, and with the mapper rank_per_pe ranks are "
                                           "PEs; use the mapper leader_only and at most 4 ranks"));
        run_output_free(&output);
    }
}

/* Everything that goes by the queues between the ranks, not the configured all-reduce alone; and
 * no time is below the bound, which run would refuse. */
static void collectives_that_move_data_run_too(void **state)
{
    (void)state;
    static const char *const collectives[][2] = {{"all_gather", "ring_all_gather"},
                                                 {"broadcast", "relay_broadcast"}};
    static const char *const topologies[] = {"ring_1d", "tree_binary"};
    static const int ranks[] = {1, 2, 7, 130};
    for (int c = 0; c < 2; c++)
        for (int t = 0; t <= c; t++)
            for (int r = 0; r < 4; r++) {
                const char *const name = collectives[c][1];
                struct run_output output = run_line(
                    0,
                    "run --bench ccl_%s --verify-data --n-elem 910 --algorithm %s --set "
                    "algorithms.%s.mapper=rank_per_pe --set algorithms.%s.topology=%s --set "
                    "algorithms.%s.world_size=%d",
                    collectives[c][0], name, name, name, topologies[t], name, ranks[r]);
                assert_non_null(strstr(output.out, "# Wrong values      : 0 OK"));
                run_output_free(&output);
            }
}

/* No kernel ends before every kernel has begun: a barrier of 130 PEs takes longer than the skew of
 * their launches. */
static void a_barrier_holds_pes(void **state)
{
    (void)state;
    json_t *const root = run_json(
        "run --bench ccl_barrier --algorithm relay_barrier --set algorithms.relay_barrier.mapper="
        "rank_per_pe --set algorithms.relay_barrier.topology=tree_binary --set "
        "algorithms.relay_barrier.world_size=130");
    assert_true(json_ps(root, "time_ns") > json_ps(root, "start_skew_ns"));
    assert_true(json_ps(root, "bound_ns") > 0);
    json_decref(root);
}

static void results_have_a_bound(void **state)
{
    (void)state;
    /* 200 bytes over an HBM link of 64 GB/s are less than the way between two cubes */
    json_t *const cube = run_json("run " RING "2"), *const cubes = run_json("run " RING "9"),
                  *const sips = run_json("run " RING "130");
    assert_true(json_ps(cube, "bound_ns") > 0);
    assert_true(json_ps(cube, "bound_ns") < json_ps(cubes, "bound_ns"));
    assert_true(json_ps(cubes, "bound_ns") < json_ps(sips, "bound_ns"));
    assert_true(json_ps(sips, "bound_ns") < json_ps(sips, "time_ns"));
    json_decref(cube);
    json_decref(cubes);
    json_decref(sips);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_records_tree_of_seven_runs),
        cmocka_unit_test(rings_of_any_size_reduce),
        cmocka_unit_test(rank_r_is_pe_r),
        cmocka_unit_test(the_place_of_ranks_changes_times_alone),
        cmocka_unit_test(an_algorithm_that_goes_by_sips_is_refused),
        cmocka_unit_test(collectives_that_move_data_run_too),
        cmocka_unit_test(a_barrier_holds_pes),
        cmocka_unit_test(results_have_a_bound),
    };
    return cmocka_run_group_tests_name("ranks that are PEs", tests, NULL, NULL);
}
