/*
 * test_algorithm_names.c: the algorithm that an option names does the bench's collective, one that
 * a file gives may make room for another, and results, logs and messages name the algorithm that
 * ran or could (ALGORITHMS.md, COMMANDS.md).
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

#define TEST_SCRATCH "names"
#include "test/support/run_cubewarp.h"
#include "test/support/scratch_folder.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* A ccl.yaml of one line; its path is valid until the next one. */
static const char *write_ccl(const char *text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/ccl.yaml", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

struct refusal {
    const char *args;
    const char *words[2];
};

/* Nothing on standard output, and a message with all these words. */
static void refuse_all(const struct refusal *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct run_output output = run_line(2, "%s", cases[i].args);
        assert_string_equal(output.out, "");
        for (size_t w = 0; w < 2 && cases[i].words[w] != NULL; w++)
            if (strstr(output.err, cases[i].words[w]) == NULL)
                fail_msg("cubewarp %s says\n%sand not '%s'", cases[i].args, output.err,
                         cases[i].words[w]);
        run_output_free(&output);
    }
}

static void a_named_algorithm_does_the_collective_of_the_bench(void **state)
{
    (void)state;
    static const char reductions[] =
        "a bench of all_reduce, for which there are: auto_all_reduce, birs_allreduce, "
        "direct_rs_ag, "
        "double_binary_tree, halving_doubling, hierarchical, lrab_hierarchical_allreduce, "
        "lrab_pipelined_allreduce, pe_hierarchical_allreduce, recursive_doubling, ring_allreduce, "
        "ring_rs_ag, switch_all_reduce, torus_rs_ag, tree_allreduce\n";
    static const char scatters[] =
        "ccl_reduce_scatter is a bench of reduce_scatter, for which "
        "there are: auto_reduce_scatter, auto, birs, birs_inter, direct_reduce_scatter, "
        "halving_reduce_scatter, mesh, rhd, rings_reduce_scatter, "
        "switch_reduce_scatter, torus_reduce_scatter\n";
    const struct refusal cases[] = {
        {"run --algorithm rhd --n-elem 64 --verify-data",
         {"--algorithm rhd: rhd does reduce_scatter, and ccl_allreduce is ", reductions}},
        {"run --set defaults.algorithm=auto",
         {"defaults.algorithm=auto: auto does reduce_scatter", reductions}},
        {"run --algorithm auto --bench ccl_barrier",
         {"--algorithm auto: auto does reduce_scatter, and ccl_barrier is a bench of barrier"}},
        {"run --algorithm ring_all_gather", {"ring_all_gather does all_gather", reductions}},
        {"run --algorithm relay_broadcast", {"relay_broadcast does broadcast", reductions}},
        {"run --set defaults.algorithm=mesh",
         {"--set defaults.algorithm=mesh: mesh does reduce_scatter", reductions}},
        {"run --preset a3_8 --algorithm birs --bytes 64KiB",
         {"--algorithm birs: birs does reduce_scatter", reductions}},
        {"run --bench gemm_allreduce --algorithm rhd",
         {"--algorithm rhd: rhd does reduce_scatter, and gemm_allreduce is ", reductions}},
        {"run --preset a3_8 --bench ccl_reduce_scatter --algorithm lrab_hierarchical_allreduce",
         {"lrab_hierarchical_allreduce does all_reduce, and ", scatters}},
        {"run --preset a3_8 --bench ccl_reduce_scatter --algorithm birs_allreduce",
         {"--algorithm birs_allreduce: birs_allreduce does all_reduce, and ", scatters}},
        {"verify --bench ccl_barrier --algorithm ring_allreduce",
         {"ring_allreduce does all_reduce, and ccl_barrier is a bench of barrier, for which there "
          "are: relay_barrier\n"}},
    };
    refuse_all(cases, COUNT_OF(cases));
}

/* Runs `args` with a default that a file gives; both names are those of the algorithm that ran. */
static void check_names(const char *ccl, const char *args, const char *head, const char *row)
{
    json_t *root = run_json("run --ccl %s --verify-data %s", ccl, args);
    const json_t *first = json_array_get(json_object_get(root, "results"), 0);
    assert_string_equal(json_string_value(json_object_get(root, "algorithm")), head);
    assert_string_equal(json_string_value(json_object_get(first, "algorithm")), row);
    const json_t *wrong = json_object_get(first, "wrong");
    if (!json_is_null(wrong))
        assert_int_equal(json_integer_value(wrong), 0);
    json_decref(root);
}

/* The head's name, and the beginning of the line that says the choice. */
static void auto_is_the_automatic_choice_of_the_bench(void **state)
{
    (void)state;
    static const struct {
        const char *args, *name, *said;
    } cases[] = {
        {"", "auto_all_reduce", "cubewarp: auto_all_reduce takes "},
        {"--bench ccl_reduce_scatter", "auto_reduce_scatter",
         "cubewarp: auto_reduce_scatter takes "},
        {"--bench ccl_all_gather", "auto_all_gather", "cubewarp: auto_all_gather takes "},
        {"--bench ccl_all_to_all", "auto_all_to_all", "cubewarp: auto_all_to_all takes "},
        {"--preset a3_4 --bench ccl_reduce_scatter", "auto", "cubewarp: auto takes mesh ("},
        {"--preset a3_4 --bench ccl_allreduce", "auto_all_reduce",
         "cubewarp: auto_all_reduce takes "},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct run_output output = run_line(
            0, "run --algorithm auto --bytes 4KiB --verify-data --json - %s", cases[i].args);
        json_t *root = json_loads(output.out, 0, NULL);
        assert_non_null(root);
        assert_string_equal(json_string_value(json_object_get(root, "algorithm")), cases[i].name);
        if (strstr(output.err, cases[i].said) == NULL)
            fail_msg("%s: said %s", cases[i].args, output.err);
        json_decref(root);
        run_output_free(&output);
    }
}

/* Where kernels of paired dies can run they do, as ever; everywhere else the schedules. */
static void a_reduce_scatter_without_an_algorithm_runs_on_every_machine(void **state)
{
    (void)state;
    static const char *const machines[][2] = {
        {"", "auto_reduce_scatter"},
        {"--preset tiny", "auto_reduce_scatter"},
        {"--preset six_3x2", "auto_reduce_scatter"},
        {"--preset dragonfly_64 --no-data", "auto_reduce_scatter"},
        {"--preset mi300x_8", "auto"},
        {"--preset a3_4", "auto"},
        {"--set system.sips.topology=pair_switch", "auto_reduce_scatter"},
        {"--set system.sips.topology=pair_switch --algorithm auto", "auto_reduce_scatter"},
    };
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        json_t *const root =
            run_json("run --bench ccl_reduce_scatter --n-elem 1536 %s", machines[i][0]);
        if (strcmp(json_string_value(json_object_get(root, "algorithm")), machines[i][1]) != 0)
            fail_msg("%s: %s", machines[i][0],
                     json_string_value(json_object_get(root, "algorithm")));
        json_decref(root);
    }
    struct run_output batch = run_line(0, "batch --preset tiny --rows 4");
    assert_non_null(strstr(batch.out, " rings_reduce_scatter "));
    run_output_free(&batch);
}

/* What is set for `auto` holds for the entry that it stands for, unless that has it itself. */
static void what_is_set_for_auto_holds_where_another_entry_runs(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--algorithm auto --set algorithms.auto.mapper=all_pes",
        "--algorithm auto_all_reduce --set algorithms.auto_all_reduce.mapper=all_pes",
        "--algorithm auto --set algorithms.auto.mapper=leader_only "
        "--set algorithms.auto_all_reduce.mapper=all_pes"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        json_t *const root = run_json("run --bytes 4KiB --no-data %s", lines[i]);
        const json_t *const first = json_array_get(json_object_get(root, "results"), 0);
        /* 16 cubes of 8 PEs */
        assert_int_equal(json_integer_value(json_object_get(first, "shards_per_rank")), 128);
        json_decref(root);
    }
    const char *const ccl = write_ccl("algorithms: { auto: { mapper: pe0_all_cubes } }\n");
    json_t *const root = run_json("run --algorithm auto --bytes 4KiB --no-data --ccl %s", ccl);
    const json_t *const first = json_array_get(json_object_get(root, "results"), 0);
    assert_int_equal(json_integer_value(json_object_get(first, "shards_per_rank")), 16);
    json_decref(root);
}

static void a_default_of_another_collective_gives_way_and_is_not_named(void **state)
{
    (void)state;
    static const char lrab[] = "lrab_hierarchical_allreduce";
    const char *ccl = write_ccl("defaults: { algorithm: rhd }\n");
    check_names(ccl, "--n-elem 64", lrab, lrab);
    check_names(ccl, "--n-elem 64 --bench gemm_allreduce --gemm 16x16x16", lrab, lrab);
    check_names(ccl, "--n-elem 64 --bench ccl_all_gather", "ring_all_gather", "ring_all_gather");
    check_names(ccl, "--bench ccl_barrier", "relay_barrier", "relay_barrier");
    check_names(ccl,
                "--n-elem 64 --preset a3_4 --set defaults.algorithm=rhd "
                "--bench ccl_reduce_scatter",
                "rhd", "rhd");
    ccl = write_ccl("defaults: { algorithm: intercube_allreduce }\n");
    check_names(ccl, "--n-elem 64", "intercube_allreduce", "intercube_allreduce");
    check_names(ccl,
                "--n-elem 64 --bench ccl_reduce_scatter --set sip.cube_mesh.w=1 "
                "--set sip.cube_mesh.h=1",
                "auto", "mesh");
    char log[128];
    snprintf(log, sizeof log, "%s/op.log", folder);
    struct run_output run =
        run_line(0, "run --bench ccl_broadcast --n-elem 64 --quiet --op-log %s", log);
    assert_non_null(strstr(run.out, ": ccl_broadcast relay_broadcast, 4 SIPs"));
    run_output_free(&run);
    struct run_output replay = run_line(0, "replay %s", log);
    assert_non_null(strstr(replay.out, ": ccl_broadcast relay_broadcast, f16 "));
    run_output_free(&replay);
}

static void a_default_that_cannot_give_way_is_not_blamed(void **state)
{
    (void)state;
    const char *ccl = write_ccl("defaults: { algorithm: rhd }\n"
                                "algorithms: { rhd: { topology: mesh_2d } }\n");
    struct run_output output = run_line(2, "run --ccl %s", ccl);
    assert_non_null(strstr(output.err, "ccl.yaml:2:32: topology: lrab_hierarchical_allreduce goes "
                                       "by the queues that the machine is built with; none is "
                                       "legal\n"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_named_algorithm_does_the_collective_of_the_bench),
        cmocka_unit_test(auto_is_the_automatic_choice_of_the_bench),
        cmocka_unit_test(a_reduce_scatter_without_an_algorithm_runs_on_every_machine),
        cmocka_unit_test(what_is_set_for_auto_holds_where_another_entry_runs),
        cmocka_unit_test(a_default_of_another_collective_gives_way_and_is_not_named),
        cmocka_unit_test(a_default_that_cannot_give_way_is_not_blamed),
    };
    return cmocka_run_group_tests_name("algorithm names", tests, make_folder, remove_folder);
}
