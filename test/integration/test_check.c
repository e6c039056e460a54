/*
 * test_check.c: `cubewarp check` finds the faults that `cubewarp run` refuses, in the same words:
 * topologies, neighbors() hooks, mappers, validators and memories, from files and shared objects
 * too. And its estimates of a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/built_plugin.h"
#include "test/support/run_cubewarp.h"

BUILT_PLUGIN("neighbour_hooks")

/* Both refuse the line, and the words of `check` are part of those of `run`. */
static void refuse_alike(int exit_code, const char *line, const char *text)
{
    struct run_output check = run_line(exit_code, "check %s", line);
    struct run_output run = run_line(exit_code, "run %s", line);
    char *said = check.err;
    while (strncmp(said, "cubewarp: note: ", 16) == 0)
        said = strchr(said, '\n') + 1;
    said[strcspn(said, "\n")] = '\0';
    if (strstr(said, text) == NULL || strstr(run.err, said) == NULL)
        fail_msg("check said: %s\nrun said: %s", said, run.err);
    run_output_free(&check);
    run_output_free(&run);
}

static void refuse_symbol_with(int exit_code, const char *symbol, const char *topology,
                               const char *text)
{
    char line[200];
    snprintf(line, sizeof line,
             "--set system.sips.count=5 --set system.sips.topology=ring_1d --ccl %s",
             built_plugin_name_symbol(&plugin, symbol, topology));
    refuse_alike(exit_code, line, text);
}

static void refuse_symbol(const char *symbol, const char *topology, const char *text)
{
    refuse_symbol_with(2, symbol, topology, text);
}

static void hooks_are_asked(void **state)
{
    (void)state;
    refuse_symbol("half_cut_ring", "ring_1d",
                  "ccl.yaml:5:13: I3: direction E of rank 4 leads to rank 0, which has no "
                  "direction W to lead back");
    refuse_symbol("without_a_hook", "custom", "ccl.yaml:6:15: topology custom: ");
    refuse_symbol("nowhere", "ring_1d", "has no symbol nowhere");
    refuse_symbol("no_schedule", "none",
                  "ccl.yaml:5:13: built makes no schedule, and does not say why (its schedule())");
    refuse_symbol_with(4, "no_choice", "none", "out of memory for the estimate of an algorithm");
}

/* A ring_allreduce with one more key. */
static const char *ring_with(const char *key, const char *value)
{
    static char line[200];
    char path[120];
    snprintf(path, sizeof path, "%s/ring.yaml", plugin.folder);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "defaults:\n  algorithm: ring_allreduce\nalgorithms:\n  ring_allreduce:\n"
            "    %s: %s\n",
            key, value);
    assert_int_equal(fclose(file), 0);
    snprintf(line, sizeof line, "--ccl %s", path);
    return line;
}

static void mappers_and_validators_are_asked(void **state)
{
    (void)state;
    refuse_alike(2, ring_with("module", "ring_allreduc"),
                 "ring.yaml:5:13: algorithm module ring_allreduc is not part of this version; did "
                 "you mean 'ring_allreduce'? there are: ");
    refuse_alike(2, ring_with("module", "./nowhere.so:f"), "ring.yaml:5:13: ./nowhere.so: ");
    refuse_alike(2, ring_with("mapper", "./nowhere.so:f"), "ring.yaml:5:13: ");
    refuse_alike(2, ring_with("validator", "./nowhere.so:f"), "ring.yaml:5:16: ");
    refuse_alike(2, ring_with("validator", "cube_rows"),
                 "ring.yaml:5:16: validator cube_rows: rank 0's tensor has 1 shards; ");
}

/* What a bench refuses before there is a machine, `check` refuses with it. */
static void what_a_bench_refuses_is_refused(void **state)
{
    (void)state;
    refuse_alike(2, "--bench gemm --bytes 16", "gemm has no --bytes or --n-elem");
    refuse_alike(2,
                 "--bench gemm --algorithm ring_rs_ag --set algorithms.ring_rs_ag.topology=ring_1d",
                 "ring_rs_ag lays its own queues between any SIPs; legal is none");
    refuse_alike(2, "--bench ipcq_shift --bytes 64KiB", "65536 bytes do not fit in a slot of 4096");
    refuse_alike(2, "--bench ipcq_shift --algorithm ring_allreduce",
                 "this bench uses the machine's own queues, which `none` is; ring_allreduce has");
    refuse_alike(2, "--bench ipcq_pingpong --preset a3_4", "--to 0.1.0: no such PE");
    refuse_alike(2, "--bench gemm_allreduce --algorithm ring_rs_ag",
                 "gemm_allreduce: here the product shares each PE with the kernel of the "
                 "all-reduce, and that of ring_rs_ag leaves no room for it; these leave "
                 "some: lrab_hierarchical_allreduce, pe_hierarchical_allreduce, ring_allreduce, "
                 "tree_allreduce (--algorithm)");
    refuse_alike(2,
                 "--preset a3_4 --bench ccl_reduce_scatter --algorithm auto --set "
                 "algorithms.auto.validator=multi_pe_sip_local",
                 "validator multi_pe_sip_local: rank 0's tensor has 1 shards; legal: one on each "
                 "PE of the SIP");
    struct run_output output = run_line(0, "check --bench ccl_barrier --bytes 16MiB");
    run_output_free(&output);
    output = run_line(0, "check --bench gemm --algorithm auto_all_reduce --set "
                         "algorithms.auto_all_reduce.validator=cube_rows");
    run_output_free(&output);
}

/* Also of an entry that does not run. */
static void a_module_that_is_misspelt_is_refused(void **state)
{
    (void)state;
    char line[300];
    snprintf(line, sizeof line, "%s --algorithm tree_allreduce", ring_with("module", "ring_allr"));
    refuse_alike(2, line, "ring.yaml:5:13: algorithm module ring_allr is not part of this version");
    refuse_alike(2, "--set algorithms.birs.module=mesch",
                 "--set algorithms.birs.module=mesch: algorithm module mesch is not part of this "
                 "version; did you mean 'mesh'? there are: ");
}

static void blocks_of_the_ranks_are_whole(void **state)
{
    (void)state;
    static const char some[] =
        "--bench ccl_reduce_scatter --algorithm rings_reduce_scatter --n-elem 2:8:x2";
    struct run_output check = run_line(0, "check %s", some), run = run_line(0, "run %s", some);
    static const char why[] = "reduce_scatter: 2 elements are no multiple of 4 ranks; use 4, ";
    assert_non_null(strstr(check.err, why));
    assert_non_null(strstr(run.out, why));
    run_output_free(&check);
    run_output_free(&run);
}

/* Two rings of 8 slots of 65,536 bytes are all of the TCM. The machine's own queues have one. */
static void a_schedule_has_room_beside_its_own_rings(void **state)
{
    (void)state;
    refuse_alike(2,
                 "--algorithm recursive_doubling --set system.sips.topology=pair_switch --set "
                 "sip.cube_mesh.w=1 --set sip.cube_mesh.h=1 --set defaults.wiring=pe0 --set "
                 "defaults.slot_size=65536",
                 "topology.yaml:17:12: recursive_doubling needs 393216 bytes of TCM for any "
                 "tensor, and 0 of 1048576 are free beside the receive rings");
}

static void topologies_and_memories_are_asked(void **state)
{
    (void)state;
    refuse_symbol(
        "without_a_hook", "mesh_2d",
        "ccl.yaml:6:15: topology: mesh_2d needs a perfect square of ranks, and there are 5");
    static const char line[] = "--algorithm lrab_pipelined_allreduce --set memory.hbm_mib=1 --set "
                               "algorithms.lrab_pipelined_allreduce.n_elem=1000000";
    struct run_output check = run_line(4, "check %s", line), run = run_line(4, "run %s", line);
    assert_non_null(strstr(check.err, "HBM: a tensor needs 2031616 bytes"));
    assert_non_null(strstr(run.err, "HBM: the tensors need 2000000 bytes"));
    run_output_free(&check);
    run_output_free(&run);
}

static void a_legal_configuration_is_ok(void **state)
{
    (void)state;
    static const char *const names[] = {"lrab_hierarchical_allreduce",
                                        "ring_allreduce",
                                        "tree_allreduce",
                                        "pe_hierarchical_allreduce",
                                        "ring_all_gather",
                                        "relay_broadcast",
                                        "relay_barrier"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct run_output output = run_line(0, "check --algorithm %s", names[i]);
        assert_non_null(strstr(output.out, "ok, configuration "));
        run_output_free(&output);
    }
    struct run_output output = run_line(0, "check --preset a3_16");
    run_output_free(&output);
}

/* The estimate of one line, its first number: events, as they are printed. */
static void an_estimate_follows_a_good_configuration(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "check --preset pod64 --bytes 4KiB:16KiB --no-data");
    assert_non_null(strstr(output.out,
                           "# estimate of a run of 3 sizes, without tensor data, on one "
                           "core: "));
    assert_non_null(strstr(output.out, " k events, "));
    assert_null(strstr(output.out, "that is more memory"));
    run_output_free(&output);
    /* The same estimate as that of a sweep's plan; of a choice, that of what it takes, where it
     * takes it; of several sizes, each on its own machine, all of them. */
    static const char *const lines[] = {"--n-elem 8192",
                                        "--algorithm auto --bytes-per-rank 4MiB --no-data",
                                        "--bench ccl_all_to_all --algorithm auto --bytes 1K,64K"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        double events = 0;
        output = run_line(0, "check %s", lines[i]);
        const char *const at = strstr(output.out, "on one core: ");
        assert_non_null(at);
        assert_int_equal(sscanf(at, "on one core: %lf k events", &events), 1);
        json_t *const root = run_json("run %s", lines[i]);
        const json_t *const engine = json_object_get(root, "engine");
        const double ran = json_number_value(json_object_get(engine, "events_committed")) / 1e3;
        if (events < ran / 2 || events > ran * 2)
            fail_msg("%s: %.1f k events, not %.1f k", lines[i], events, ran);
        json_decref(root);
        run_output_free(&output);
    }
    output = run_line(0, "check --preset pod64 --algorithm lrab_pipelined_allreduce --bytes 1GiB");
    assert_non_null(strstr(output.out, "# that is more memory than the "));
    run_output_free(&output);
}

static void sizes_are_asked_one_by_one(void **state)
{
    (void)state;
    static const char line[] = "check --preset a3_16 --bench ccl_reduce_scatter --algorithm mesh";
    struct run_output output = run_line(0, "%s --n-elem 64:66:+1", line);
    assert_non_null(strstr(output.err, "130 bytes would not run: mesh cuts each rank's input"));
    assert_non_null(strstr(output.err, "132 bytes would not run: "));
    assert_null(strstr(output.err, "128 bytes"));
    run_output_free(&output);
    output = run_line(2, "%s --n-elem 65", line);
    assert_null(strstr(output.out, "ok, "));
    run_output_free(&output);
}

/* Each choice that a run tells on standard error is told by check, with the same reason. */
static void choices_are_told_as_by_a_run(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--algorithm auto --bytes 1KiB:256KiB:x256 --no-data",
        "--algorithm hierarchical --bytes 1KiB:256KiB:x256 --no-data",
        "--bench ccl_all_to_all --algorithm auto --n-elem 4096 --dtype f32 --no-data",
        "--bench ccl_reduce_scatter --preset a3_16 --algorithm auto --bytes 1KiB:1MiB:x1024 "
        "--no-data",
        /* more than 200,000 steps: check keeps a sketch, and run makes the schedule */
        "--bench ccl_reduce_scatter --preset tiny --set system.sips.count=300 --set "
        "system.sips.topology=ring_1d --algorithm auto --n-elem 300000 --no-data"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct run_output run = run_line(0, "run %s", lines[i]);
        struct run_output check = run_line(0, "check %s", lines[i]);
        unsigned told = 0;
        for (char *line = strtok(run.err, "\n"); line != NULL; line = strtok(NULL, "\n")) {
            static const char program[] = "cubewarp: ";
            if (strncmp(line, program, strlen(program)) != 0 || strstr(line, " takes ") == NULL)
                continue;
            told++;
            if (strstr(check.out, line + strlen(program)) == NULL)
                fail_msg("%s: run said: %s\ncheck said: %s", lines[i], line, check.out);
        }
        assert_true(told > 0);
        run_output_free(&check);
        run_output_free(&run);
    }
    struct run_output named = run_line(0, "check --algorithm ring_rs_ag --bytes 64KiB");
    assert_null(strstr(named.out, " takes "));
    run_output_free(&named);
}

/* The sizes that a bare run has; and the one of a line that names its algorithm. */
static void a_bare_check_is_of_the_bare_run(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "check");
    assert_non_null(strstr(output.out, "auto_all_reduce takes "));
    assert_non_null(strstr(output.out, "(1K per rank)"));
    assert_non_null(strstr(output.out, "# estimate of a run of 6 sizes, with tensor data"));
    run_output_free(&output);
    output = run_line(0, "check --set system.sips.count=32");
    assert_non_null(strstr(output.out, " of 6 sizes; all take some "));
    run_output_free(&output);
    output = run_line(0, "check --preset records");
    assert_non_null(strstr(output.out, "# estimate of a run of 1 size, with tensor data"));
    run_output_free(&output);
}

static void a_bench_is_asked_for_its_own_collective(void **state)
{
    (void)state;
    refuse_alike(2, "--bench ccl_reduce_scatter --preset a3_16 --algorithm ring_allreduce",
                 "ring_allreduce does all_reduce, and ccl_reduce_scatter is a bench of "
                 "reduce_scatter");
    refuse_alike(2, "--bench ccl_reduce_scatter --set defaults.algorithm=auto",
                 "rhd takes one cube per SIP");
    static const char *const legal[] = {
        "check --algorithm auto --bytes 64KiB", /* the choice of all-reduces, as in run */
        "check --bench ccl_all_gather --algorithm auto --bytes 64KiB",
        "check --bench ccl_all_gather --bytes 64KiB",
        "check --bench ccl_broadcast --algorithm relay_broadcast",
        "check --bench ccl_barrier",
        "check --bench ccl_reduce_scatter --bytes 64KiB",
        "check --bench ipcq_pingpong"};
    for (size_t i = 0; i < sizeof legal / sizeof *legal; i++) {
        struct run_output output = run_line(0, "%s", legal[i]);
        assert_non_null(strstr(output.out, "ok, configuration "));
        run_output_free(&output);
    }
}

static void a_name_with_control_characters_is_shown_without_them(void **state)
{
    static const char *const line[] = {"check", "--topology", "\033[31m\n\177.yaml", NULL};
    (void)state;
    struct run_output output = run_cubewarp(line);
    assert_int_equal(output.exit_code, 2);
    assert_non_null(strstr(output.err, "?[31m??.yaml:1:1: cannot open: No such file"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hooks_are_asked),
        cmocka_unit_test(mappers_and_validators_are_asked),
        cmocka_unit_test(what_a_bench_refuses_is_refused),
        cmocka_unit_test(a_module_that_is_misspelt_is_refused),
        cmocka_unit_test(blocks_of_the_ranks_are_whole),
        cmocka_unit_test(a_schedule_has_room_beside_its_own_rings),
        cmocka_unit_test(topologies_and_memories_are_asked),
        cmocka_unit_test(a_legal_configuration_is_ok),
        cmocka_unit_test(an_estimate_follows_a_good_configuration),
        cmocka_unit_test(sizes_are_asked_one_by_one),
        cmocka_unit_test(choices_are_told_as_by_a_run),
        cmocka_unit_test(a_bare_check_is_of_the_bare_run),
        cmocka_unit_test(a_bench_is_asked_for_its_own_collective),
        cmocka_unit_test(a_name_with_control_characters_is_shown_without_them),
    };
    return cmocka_run_group_tests_name("check", tests, build, clean);
}
