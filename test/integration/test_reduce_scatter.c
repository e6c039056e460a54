/*
 * test_reduce_scatter.c: reduce-scatter on paired dies (ALGORITHMS.md): bits of every
 * algorithm, type and operation, on any number of threads; refusals and their words; and that birs
 * keeps sio and hccs busy at once. test_auto_scatter.c has the choice among them.
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

#include "test/support/file_text.h"
#include "test/support/run_cubewarp.h"
#include "test/support/sanitized.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define SCATTER         "run --bench ccl_reduce_scatter --preset a3_16 "

static const json_t *result_of(const json_t *root, size_t i, const char *key)
{
    const json_t *value = json_object_get(json_array_get(json_object_get(root, "results"), i), key);
    assert_non_null(value);
    return value;
}

static void check_bits(const char *line)
{
    json_t *root = run_json(SCATTER "--verify-data %s", line);
    const json_t *results = json_object_get(root, "results");
    assert_true(json_array_size(results) > 0);
    for (size_t i = 0; i < json_array_size(results); i++) {
        assert_int_equal(json_integer_value(result_of(root, i, "wrong")), 0);
        assert_true(json_is_string(result_of(root, i, "data_hash")));
    }
    json_decref(root);
}

static void every_algorithm_gives_the_specified_bits(void **state)
{
    (void)state;
    static const char *const algorithms[] = {"birs", "rhd", "mesh", "auto"};
    static const unsigned counts[] = {2, 4, 8, 16};
    char line[256];
    for (size_t a = 0; a < COUNT_OF(algorithms); a++)
        for (size_t n = 0; n < COUNT_OF(counts); n++) {
            snprintf(line, sizeof line,
                     "--algorithm %s --set system.sips.count=%u --bytes 1KiB:1MiB:x32",
                     algorithms[a], counts[n]);
            check_bits(line);
        }
}

static void every_type_and_operation_has_its_bits(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"f16", "bf16", "f32"};
    static const char *const ops[] = {"sum", "max", "min", "prod"};
    static const char *const algorithms[] = {"birs", "rhd", "mesh"};
    char line[256];
    for (size_t a = 0; a < COUNT_OF(algorithms); a++)
        for (size_t d = 0; d < COUNT_OF(dtypes); d++)
            for (size_t o = 0; o < COUNT_OF(ops); o++) {
                snprintf(line, sizeof line, "--algorithm %s --dtype %s --op %s --bytes 64KiB",
                         algorithms[a], dtypes[d], ops[o]);
                check_bits(line);
            }
}

static void more_than_16_ranks_merge_as_partials_come(void **state)
{
    (void)state;
    check_bits("--algorithm birs_inter --set system.sips.count=32 --bytes 128KiB --dtype bf16");
    check_bits("--algorithm birs_inter --set system.sips.count=64 --bytes 128KiB --op prod");
    check_bits("--algorithm birs_inter --set system.sips.count=128 --bytes 128KiB");
    if (!sanitized)
        check_bits("--algorithm birs_inter --set system.sips.count=128 --n-elem 640000 "
                   "--set defaults.slot_size=4096");
}

/* Trees of every shape that there is up to 66 ranks, and some beyond: a slice in pieces, so that a
 * partial that is overwritten too early is found. */
static void birs_inter_takes_every_even_number_of_ranks(void **state)
{
    (void)state;
    char line[256];
    for (unsigned n = 18; n <= (sanitized ? 100 : 512); n += n < 66    ? 2
                                                             : n < 96  ? 30
                                                             : n < 100 ? 2
                                                             : n < 256 ? 156
                                                                       : 256) {
        snprintf(line, sizeof line,
                 "--algorithm birs_inter --set system.sips.count=%u --n-elem %u --dtype bf16 "
                 "--set defaults.slot_size=150",
                 n, n * 160);
        check_bits(line);
    }
    if (sanitized)
        return;
    check_bits("--algorithm birs_inter --set system.sips.count=18 --bytes 36MiB "
               "--set fabric.contention=chunk");
    check_bits("--algorithm birs_inter --set system.sips.count=40 --bytes 20MiB");
}

static void numbers_of_ranks_that_are_no_power_of_two(void **state)
{
    (void)state;
    static const unsigned counts[] = {6, 10, 12, 14};
    char line[256];
    for (size_t n = 0; n < COUNT_OF(counts); n++) {
        static const char *const algorithms[] = {"birs", "rhd", "mesh"};
        for (size_t a = 0; a < COUNT_OF(algorithms); a++) {
            snprintf(line, sizeof line,
                     "--algorithm %s --set system.sips.count=%u --n-elem %u --dtype bf16",
                     algorithms[a], counts[n], counts[n] * 1001);
            check_bits(line);
        }
    }
    check_bits("--algorithm rhd --set system.sips.count=2 --n-elem 2000");
    check_bits("--algorithm birs --set defaults.world_size=6 --n-elem 6000");
    check_bits("--algorithm rhd --set defaults.world_size=7 --n-elem 7000");
    check_bits("--algorithm rhd --set system.sips.topology=ring_1d --set system.sips.count=5 "
               "--n-elem 5000");
    check_bits("--algorithm mesh --set system.sips.topology=switch --set system.sips.count=7 "
               "--n-elem 7000");
    check_bits("--algorithm rhd --set system.sips.topology=ring_1d --set system.sips.count=1 "
               "--n-elem 100");
}

static void all_modes_and_threads_agree(void **state)
{
    (void)state;
    static const char *const modes[] = {"conservative", "optimistic", "adaptive", "stress"};
    static const char *const algorithms[] = {"birs", "rhd", "mesh"};
    for (size_t a = 0; a < COUNT_OF(algorithms); a++) {
        json_t *one = run_json(SCATTER "--bytes 64KiB --algorithm %s", algorithms[a]);
        const char *const trace =
            json_string_value(json_object_get(json_object_get(one, "engine"), "trace_hash"));
        for (size_t m = 0; m < COUNT_OF(modes); m++)
            for (unsigned threads = 1; threads <= 4; threads++) {
                json_t *other =
                    run_json(SCATTER "--bytes 64KiB --algorithm %s --sync %s --threads %u",
                             algorithms[a], modes[m], threads);
                assert_string_equal(json_string_value(json_object_get(
                                        json_object_get(other, "engine"), "trace_hash")),
                                    trace);
                assert_string_equal(json_string_value(result_of(other, 0, "data_hash")),
                                    json_string_value(result_of(one, 0, "data_hash")));
                assert_int_equal(json_ps(other, "time_ns"), json_ps(one, "time_ns"));
                json_decref(other);
            }
        json_decref(one);
    }
}

/* RFC 6.1: the order of additions is that of the ranks: tiles, chunks, contention and late links
 * change times, and no bit. */
static void neither_chunks_nor_lateness_change_a_bit(void **state)
{
    (void)state;
    static const char *const algorithms[] = {"birs", "rhd", "mesh"};
    static const char *const others[] = {
        "--set defaults.slot_size=1024",
        "--set defaults.vc_chunk_size=64",
        "--set fabric.contention=message",
        "--set fabric.contention=none",
        "--set faults.slow.links=hccs --set faults.slow.slower=300 --set jitter.seed=7",
        "--set faults.slow.links=sio --set faults.slow.slower=9000 --set faults.slow.at=2"};
    for (size_t a = 0; a < COUNT_OF(algorithms); a++) {
        json_t *const one = run_json(SCATTER "--bytes 64KiB --dtype bf16 --algorithm %s "
                                             "--verify-data",
                                     algorithms[a]);
        uint32_t later = 0;
        for (size_t i = 0; i < COUNT_OF(others); i++) {
            json_t *const other = run_json(SCATTER "--bytes 64KiB --dtype bf16 --algorithm %s "
                                                   "--verify-data %s",
                                           algorithms[a], others[i]);
            assert_int_equal(json_integer_value(result_of(other, 0, "wrong")), 0);
            assert_string_equal(json_string_value(result_of(other, 0, "data_hash")),
                                json_string_value(result_of(one, 0, "data_hash")));
            later += json_ps(other, "time_ns") != json_ps(one, "time_ns");
            json_decref(other);
        }
        assert_in_range(later, 3, COUNT_OF(others)); /* they do change the run */
        json_decref(one);
    }
}

static void ranks_may_be_elsewhere_on_the_dies(void **state)
{
    (void)state;
    static const char map[] = "--set algorithms.birs.mate=[4,5,6,7,0,1,2,3] "
                              "--set system.sips.count=8 --bytes 1MiB --dtype bf16 ";
    json_t *there = run_json(SCATTER "--algorithm birs --verify-data %s", map);
    json_t *plain = run_json(SCATTER "--algorithm birs --verify-data --set system.sips.count=8 "
                                     "--bytes 1MiB --dtype bf16");
    assert_int_equal(json_integer_value(result_of(there, 0, "wrong")), 0);
    /* as fast, since mates share a package; other pairs are added first, so other bits */
    assert_int_equal(json_ps(there, "time_ns"), json_ps(plain, "time_ns"));
    assert_string_not_equal(json_string_value(result_of(there, 0, "data_hash")),
                            json_string_value(result_of(plain, 0, "data_hash")));
    json_decref(there);
    json_decref(plain);
    char line[256];
    snprintf(line, sizeof line, "--algorithm rhd %s", map);
    check_bits(line);
    snprintf(line, sizeof line, "--algorithm mesh %s", map);
    check_bits(line);
}

static void refuse_elsewhere(const char *line, const char *where, const char *legal)
{
    struct run_output output = run_line(2, "run --n-elem 64 %s", line);
    if (strstr(output.err, where) == NULL || strstr(output.err, legal) == NULL)
        fail_msg("%s said %s", line, output.err);
    run_output_free(&output);
}

/* On the machine's own queues rank r must be SIP r. */
static void what_goes_by_sip_refuses_other_enumerations(void **state)
{
    (void)state;
    static const char all_reduce[] =
        "leave mate and package out, or use an algorithm that goes by "
        "rank: auto_all_reduce, birs_allreduce, direct_rs_ag, double_binary_tree, "
        "halving_doubling, hierarchical, recursive_doubling, ring_allreduce, "
        "ring_rs_ag, torus_rs_ag, tree_allreduce\n";
    static const char gathers[] = "or use an algorithm that goes by rank: auto_all_gather, "
                                  "direct_all_gather, "
                                  "doubling_all_gather, rings_all_gather, torus_all_gather\n";
    static const char *const by_sip[] = {"lrab_hierarchical_allreduce", "intercube_allreduce",
                                         "lrab_pipelined_allreduce", "pe_hierarchical_allreduce"};
    char line[256];
    for (size_t i = 0; i < COUNT_OF(by_sip); i++) {
        snprintf(line, sizeof line, "--algorithm %s --set algorithms.%s.mate=[2,3,0,1]", by_sip[i],
                 by_sip[i]);
        refuse_elsewhere(line, ".mate=[2,3,0,1]: mate: ", all_reduce);
    }
    refuse_elsewhere("--set algorithms.lrab_hierarchical_allreduce.package=[1,1,0,0]",
                     ".package=[1,1,0,0]: package: lrab_hierarchical_allreduce goes by the "
                     "machine's own queues, where rank r is SIP r, and here rank 0 is SIP 2; ",
                     all_reduce);
    refuse_elsewhere("--preset a3_4 --bench ccl_allreduce --set system.sips.topology=ring_1d "
                     "--set algorithms.auto.mate=[2,3,0,1]",
                     ".mate=[2,3,0,1]: mate: lrab_hierarchical_allreduce goes", all_reduce);
    refuse_elsewhere("--set algorithms.lrab_hierarchical_allreduce.mate=[2,3,0,1] "
                     "--bench ccl_all_gather",
                     ".mate=[2,3,0,1]: mate: ring_all_gather goes", gathers);
    refuse_elsewhere(
        "--preset a3_4 --set system.sips.topology=ring_1d "
        "--set algorithms.auto.world_size=2 --bench ccl_all_gather",
        "auto.world_size=2: world_size 2: ring_all_gather takes all 4 SIPs; leave it out", gathers);
}

static void what_goes_by_rank_takes_other_enumerations(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--set algorithms.lrab_hierarchical_allreduce.mate=[1,0,3,2]", /* rank r on SIP r */
        "--algorithm ring_allreduce --set algorithms.ring_allreduce.mate=[2,3,0,1]",
        "--algorithm tree_allreduce --set algorithms.tree_allreduce.mate=[2,3,0,1]",
        "--bench ccl_all_gather --algorithm ring_all_gather "
        "--set algorithms.ring_all_gather.topology=ring_1d "
        "--set algorithms.ring_all_gather.mate=[2,3,0,1]",
        "--bench ccl_broadcast --set algorithms.lrab_hierarchical_allreduce.mate=[2,3,0,1]"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        json_t *root = run_json("run --n-elem 64 --verify-data %s", lines[i]);
        assert_int_equal(json_integer_value(result_of(root, 0, "wrong")), 0);
        json_decref(root);
    }
}

static void birs_allreduce_gives_every_rank_birs_bits(void **state)
{
    (void)state;
    static const unsigned counts[] = {4, 6, 16};
    for (size_t n = 0; n < COUNT_OF(counts); n++) {
        json_t *root =
            run_json("run --bench ccl_allreduce --algorithm birs_allreduce --verify-data "
                     "--preset a3_16 --set system.sips.count=%u --dtype bf16 "
                     "--n-elem %u",
                     counts[n], counts[n] * 3000);
        assert_int_equal(json_integer_value(result_of(root, 0, "wrong")), 0);
        json_decref(root);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void refuse(const char *line, const char *expected)
{
    struct run_output output = run_line(2, SCATTER "--no-data %s", line);
    if (strstr(output.err, expected) == NULL)
        fail_msg("%s\nexpected: %s\nsaid: %s", line, expected, output.err);
    run_output_free(&output);
}

static void a_named_algorithm_says_which_condition_fails(void **state)
{
    (void)state;
    refuse("--algorithm birs --bytes 64KiB --set system.sips.count=32",
           "--set system.sips.count=32: birs takes an even number of ranks from 2 to 16, and there "
           "are 32; use birs_inter, rhd or mesh\n");
    refuse("--algorithm birs_inter --bytes 64KiB",
           "configs/presets/a3_16.yaml:5:26: birs_inter takes an even number of ranks from 18 "
           "on, and there are 16; use birs, rhd or mesh\n");
    refuse("--algorithm birs --bytes 40KiB --set system.sips.topology=ring_1d "
           "--set system.sips.count=5",
           "--set system.sips.topology=ring_1d: birs is for paired dies, topology pair_switch; "
           "this is ring_1d; use rhd or mesh\n");
    refuse("--algorithm birs --bytes 64KiB --set system.sips.count=5",
           "--set system.sips.count=5: system.sips.count: pair_switch joins SIPs in pairs, so it "
           "needs an even number; found 5\n");
    refuse("--algorithm birs --bytes 64KiB --set system.sips.count=6 --set defaults.world_size=5",
           "--set defaults.world_size=5: birs reduces over pairs of ranks, and 5 is odd; legal is "
           "an even number from 2 to 16; use rhd or mesh\n");
    refuse("--algorithm rhd --bytes 64KiB --set sip.cube_mesh.w=2",
           "--set sip.cube_mesh.w=2: rhd takes one cube per SIP, and there are 2 x 1; set w and h "
           "to 1, or use auto_reduce_scatter\n");
    refuse("--algorithm mesh --n-elem 1000",
           "mesh cuts each rank's input into 16 slices, and 1000 elements are no multiple of that; "
           "use 1008, or another multiple\n");
    refuse("--algorithm mesh --set algorithms.mesh.n_elem=8",
           "--set algorithms.mesh.n_elem=8: mesh cuts each rank's input into 16 slices, and 8 "
           "elements are no multiple of that; use 16, or another multiple\n");
    refuse("--algorithm birs --bytes 64KiB --set defaults.slice_rounding=false",
           "--set defaults.slice_rounding=false: slices of 4096 bytes are no multiple of "
           "min_slice_align, 16384, and slice_rounding is false; use whole multiples, or "
           "slice_rounding: true\n");
}

static void refuse_reduction(const char *more, const char *expected)
{
    struct run_output output =
        run_line(2, "run --preset a3_16 --algorithm birs_allreduce --n-elem 64000 %s", more);
    if (strstr(output.err, expected) == NULL)
        fail_msg("%s\nexpected: %s\nsaid: %s", more, expected, output.err);
    run_output_free(&output);
}

/* ... and the algorithms that it advises run. */
static void what_is_advised_does_the_same_collective(void **state)
{
    (void)state;
    static const char *const machines[][2] = {
        {"--set system.sips.count=32", "and there are 32; use ring_allreduce or tree_allreduce\n"},
        {"--set system.sips.topology=ring_1d --set system.sips.count=5",
         "this is ring_1d; use ring_allreduce or tree_allreduce\n"},
        {"--set system.sips.count=6 --set defaults.world_size=5",
         "legal is an even number from 2 to 16; use ring_allreduce or tree_allreduce\n"},
    };
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        refuse_reduction(machines[i][0], machines[i][1]);
        json_decref(
            run_json("run --preset a3_16 --no-data --algorithm ring_allreduce %s", machines[i][0]));
        json_decref(
            run_json("run --preset a3_16 --no-data --algorithm tree_allreduce %s", machines[i][0]));
    }
    refuse("--algorithm birs --set system.sips.count=18 --n-elem 18000",
           "and there are 18; use birs_inter, rhd or mesh\n");
}

static void what_does_not_fit_names_the_memory(void **state)
{
    (void)state;
    refuse("--algorithm birs --bytes 256MiB --set memory.hbm_mib=512",
           "--set memory.hbm_mib=512: HBM of PE 0: birs needs 268435456 bytes of scratch, 16 slots "
           "for slices of 16777216, and 251658240 of 536870912 are free beside the input and the "
           "output; use fewer elements or more HBM\n");
    refuse("--algorithm birs --bytes 64KiB --set defaults.min_slice_align=16777216 "
           "--set memory.hbm_mib=256",
           "birs needs 268435456 bytes of scratch, 16 slots for slices of 4096, and 268304384 of "
           "268435456 are free beside the input and the output; use fewer elements, a smaller "
           "min_slice_align or more HBM\n");
    refuse("--algorithm mesh --bytes 16MiB --set memory.tcm_kib=2048",
           "--set memory.tcm_kib=2048: TCM of PE 0: the final reduction of mesh needs 4194304 "
           "bytes, 16 pieces of slot_size, and 2097152 of 2097152 are free beside the receive "
           "rings; use a smaller slot_size or more TCM\n");
}

/* ---- links ----------------------------------------------------------------------------------- */

/* Mean share of the time that links of a kind were busy. */
static double busy(const json_t *root, const char *kind)
{
    const json_t *kinds = result_of(root, 0, "link_kinds");
    for (size_t i = 0; i < json_array_size(kinds); i++) {
        const json_t *const one = json_array_get(kinds, i);
        if (strcmp(json_string_value(json_object_get(one, "kind")), kind) == 0)
            return json_real_value(json_object_get(one, "busy"));
    }
    fail_msg("no %s links", kind);
    return 0;
}

static double phase_share(const json_t *root, const char *name)
{
    const json_t *phases = result_of(root, 0, "phases");
    for (size_t i = 0; i < json_array_size(phases); i++) {
        const json_t *const one = json_array_get(phases, i);
        if (strcmp(json_string_value(json_object_get(one, "name")), name) == 0)
            return json_real_value(json_object_get(one, "mean_ns")) * 1000 /
                   (double)json_ps(root, "time_ns");
    }
    fail_msg("no phase %s", name);
    return 0;
}

/*
 * Rounds 1 to Y - 1 are 7 of the 8 in which sio works, and all in which hccs does. Together the two
 * are busy for longer than these rounds take, so they are busy at the same time; rhd's two, which
 * take turns, are not even busy for the whole time.
 */
static void birs_keeps_both_kinds_of_links_busy_at_once(void **state)
{
    (void)state;
    json_t *birs = run_json(SCATTER "--no-data --bytes 64MiB --algorithm birs");
    const double rounds = phase_share(birs, "rounds 1 to Y-1");
    assert_true(busy(birs, "hccs") + busy(birs, "sio") * 7 / 8 > 1.1 * rounds);
    json_t *rhd = run_json(SCATTER "--no-data --bytes 64MiB --algorithm rhd");
    /* one slice of 15 goes over sio; the steps before it use hccs alone */
    assert_true(busy(rhd, "hccs") > 10 * busy(rhd, "sio"));
    assert_true(busy(rhd, "hccs") + busy(rhd, "sio") < 1);
    assert_true(json_ps(birs, "time_ns") < json_ps(rhd, "time_ns"));
    json_decref(birs);
    json_decref(rhd);
}

/* birs loads all Y partials after the rounds; birs_inter loads the siblings of the own package, one
 * per level of the tree, and at most as many parts again of the partial that came last. */
static void the_final_reduction_of_many_ranks_is_short(void **state)
{
    (void)state;
    json_t *birs = run_json(SCATTER "--no-data --bytes 64MiB --algorithm birs");
    json_t *inter = run_json(SCATTER "--no-data --bytes 256MiB --algorithm birs_inter "
                                     "--set system.sips.count=64"); /* slices as long */
    const double us =
        1e-6 * (double)json_ps(birs, "time_ns") * phase_share(birs, "final reduction");
    const double of_32 =
        1e-6 * (double)json_ps(inter, "time_ns") * phase_share(inter, "final reduction");
    assert_true(of_32 < us); /* 32 packages against 8 */
    json_decref(birs);
    json_decref(inter);
}

/* Inputs of 512 MiB in all: bytes that are only read take no storage, and neither do tiles under
 * way for long. */
static void memory_stays_far_below_the_inputs(void **state)
{
    (void)state;
    if (sanitized)
        skip(); /* memory that is freed stays in quarantine */
    json_t *root = run_json(SCATTER "--verify-data --algorithm birs_inter --bytes 4MiB "
                                    "--set system.sips.count=128");
    assert_int_equal(json_integer_value(result_of(root, 0, "wrong")), 0);
    const json_t *engine = json_object_get(root, "engine");
    const json_int_t rss = json_integer_value(json_object_get(engine, "peak_rss_bytes"));
    assert_true(rss > 0 && rss < 300 << 20);
    json_decref(root);
}

/* The table behind the plot in bench/guide/reduce_scatter.md (make scatter-sweep), at the sizes
 * that its text names. */
static void the_published_sweep_is_what_runs_give(void **state)
{
    (void)state;
    FILE *const table = fopen("perf/results/reduce_scatter.tsv", "r");
    assert_non_null(table);
    char line[256], algorithm[16];
    unsigned long long bytes;
    double us, busbw, sio, hccs;
    unsigned checked = 0;
    while (fgets(line, sizeof line, table) != NULL) {
        if (sscanf(line, "%llu %15s %lf %lf %lf %lf", &bytes, algorithm, &us, &busbw, &sio,
                   &hccs) != 6 ||
            (bytes != 1 << 20 && (sanitized || (bytes != 16 << 20 && bytes != 64 << 20))))
            continue;
        json_t *root = run_json(SCATTER "--no-data --algorithm %s --bytes %llu", algorithm, bytes);
        if (json_ps(root, "time_ns") != (long long)(us * 1e6 + 0.5))
            fail_msg("%s has %.6f us; another time now: make scatter-sweep, and the guide's text",
                     line, us);
        json_decref(root);
        checked++;
    }
    fclose(table);
    assert_int_equal(checked, sanitized ? 3 : 9);
}

/* The file as text. The caller frees it. */
static double us_of(const char *algorithm, unsigned ranks, const char *size)
{
    json_t *root = run_json(SCATTER "--no-data --algorithm %s --set system.sips.count=%u %s",
                            algorithm, ranks, size);
    const double us = 1e-6 * (double)json_ps(root, "time_ns");
    json_decref(root);
    return us;
}

/* Cell `cell` of the row that begins with `row`. */
static void check_cell(const char *path, const char *row, unsigned cell, const char *expected)
{
    char *const table = read_file(path);
    const char *at = strstr(table, row);
    if (at == NULL)
        fail_msg("%s has no row %s", path, row);
    for (unsigned i = 0; i <= cell; i++)
        at = strchr(at, '|') + 1;
    const size_t bytes = strlen(expected);
    if (strncmp(at + 1, expected, bytes) != 0 || at[1 + bytes] != ' ')
        fail_msg("%s, row %s, cell %u is not %s: make scatter-sweep, and the guide's text", path,
                 row, cell, expected);
    free(table);
}

static void birs_gains_what_the_guide_says(void **state)
{
    (void)state;
    char cell[64];
    const double share = 1 - us_of("birs", 16, "--bytes 16MiB") / us_of("rhd", 16, "--bytes 16MiB");
    assert_true(share > 0.18 && share < 0.20);
    snprintf(cell, sizeof cell, "%.1f %%", 100 * share);
    check_cell("perf/results/reduce_scatter_gain.md", "| 16 | chunk", 4, cell);
    char *const guide = read_file("bench/guide/reduce_scatter.md");
    strcat(cell, " shorter than rhd at 16 MiB");
    if (strstr(guide, cell) == NULL)
        fail_msg("the guide does not say: %s", cell);
    free(guide);
    snprintf(cell, sizeof cell, "%.1f / %.1f", us_of("birs_inter", 40, "--n-elem 524320"),
             us_of("rhd", 40, "--n-elem 524320"));
    check_cell("perf/results/reduce_scatter_inter.md", "| 40 |", 1, cell);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_gives_the_specified_bits),
        cmocka_unit_test(every_type_and_operation_has_its_bits),
        cmocka_unit_test(more_than_16_ranks_merge_as_partials_come),
        cmocka_unit_test(birs_inter_takes_every_even_number_of_ranks),
        cmocka_unit_test(numbers_of_ranks_that_are_no_power_of_two),
        cmocka_unit_test(all_modes_and_threads_agree),
        cmocka_unit_test(neither_chunks_nor_lateness_change_a_bit),
        cmocka_unit_test(ranks_may_be_elsewhere_on_the_dies),
        cmocka_unit_test(what_goes_by_sip_refuses_other_enumerations),
        cmocka_unit_test(what_goes_by_rank_takes_other_enumerations),
        cmocka_unit_test(birs_allreduce_gives_every_rank_birs_bits),
        cmocka_unit_test(a_named_algorithm_says_which_condition_fails),
        cmocka_unit_test(what_is_advised_does_the_same_collective),
        cmocka_unit_test(what_does_not_fit_names_the_memory),
        cmocka_unit_test(birs_keeps_both_kinds_of_links_busy_at_once),
        cmocka_unit_test(the_final_reduction_of_many_ranks_is_short),
        cmocka_unit_test(memory_stays_far_below_the_inputs),
        cmocka_unit_test(birs_gains_what_the_guide_says),
        cmocka_unit_test(the_published_sweep_is_what_runs_give),
    };
    return cmocka_run_group_tests_name("reduce-scatter", tests, NULL, NULL);
}
