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
    expect_well(RING "130 --set defaults.buffer_kind=sram --threads 2 --sync stress");
    expect_well(RING "130 --set defaults.wiring=pe0 --set defaults.host_copy=simulated");
    expect_well(RING "512"); /* every PE of the machine */
}

/* The last rank is on the second SIP: the one behind 128 PEs. */
static void rank_r_is_pe_r(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "run " RING "130 --ccl-trace -");
    assert_non_null(strstr(output.out, "rank 0, "));
    for (const char *line = output.out; (line = strstr(line, "rank ")) != NULL; line++) {
        unsigned rank, sip, cube, pe;
        const char *const place = strstr(line, ", PE ");
        if (sscanf(line, "rank %u,", &rank) != 1 || place == NULL)
            continue;
        assert_int_equal(sscanf(place, ", PE %u.%u.%u", &sip, &cube, &pe), 3);
        assert_int_equal(rank, (sip * 16 + cube) * 8 + pe);
    }
    assert_non_null(strstr(output.out, "PE 1.0.1"));
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
    struct run_output output =
        run_line(2, "run --bench ccl_broadcast --algorithm relay_broadcast --set "
                    "algorithms.relay_broadcast.topology=ring_1d --set "
                    "algorithms.relay_broadcast.mapper=rank_per_pe");
    assert_non_null(strstr(output.err, "relay_broadcast goes by SIPs, and with the mapper "
                                       "rank_per_pe ranks are PEs; use the mapper leader_only and "
                                       "at most 4 ranks"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_records_tree_of_seven_runs),
        cmocka_unit_test(rings_of_any_size_reduce),
        cmocka_unit_test(rank_r_is_pe_r),
        cmocka_unit_test(the_place_of_ranks_changes_times_alone),
        cmocka_unit_test(an_algorithm_that_goes_by_sips_is_refused),
    };
    return cmocka_run_group_tests_name("ranks that are PEs", tests, NULL, NULL);
}
