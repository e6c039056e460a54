/*
 * test_sizes.c: sizes: tensors above TCM go in pieces, and sizes that do not fit leave the others
 * alone.
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
#include "test/support/sanitized.h"

static const json_t *row_of(const json_t *root, size_t i, const char *key)
{
    return json_object_get(json_array_get(json_object_get(root, "results"), i), key);
}

static const char *hash_of(const json_t *root)
{
    return json_string_value(row_of(root, 0, "data_hash"));
}

/* Small memories, so that few tiles are many pieces: 8 KiB of TCM, part of it rings. */
#define SMALL                                                                                      \
    "--set memory.tcm_kib=%s --set defaults.n_slots=2 --set defaults.slot_size=256 --verify-data "

/* Everything above TCM has the bits that it has where all fits. */
static void tensors_above_tcm_go_in_pieces(void **state)
{
    (void)state;
    static const char *const runs[] = {
        "--algorithm ring_allreduce --n-elem 20001",
        "--algorithm ring_allreduce --n-elem 20001 --set defaults.rank_invariant=true --dtype f32",
        "--algorithm tree_allreduce --n-elem 20001 --dtype bf16",
        "--algorithm lrab_hierarchical_allreduce --n-elem 9999",
        "--algorithm lrab_hierarchical_allreduce --n-elem 9999 --set defaults.rank_invariant=true",
        "--algorithm lrab_hierarchical_allreduce --n-elem 9999 "
        "--set system.sips.topology=mesh_2d_no_wrap",
        "--algorithm intercube_allreduce --n-elem 9999 --iters 2",
        "--algorithm pe_hierarchical_allreduce --n-elem 5003",
        "--bench ccl_all_gather --n-elem 40004",
        "--bench ccl_all_gather --n-elem 40004 --set system.sips.topology=mesh_2d_no_wrap",
        "--bench ccl_broadcast --n-elem 40003"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        json_t *pieces = run_json("run " SMALL "%s", "8", runs[i]);
        json_t *whole = run_json("run " SMALL "%s", "1024", runs[i]);
        assert_int_equal(json_integer_value(row_of(pieces, 0, "wrong")), 0);
        assert_string_equal(hash_of(pieces), hash_of(whole));
        json_decref(pieces);
        json_decref(whole);
    }
}

static void pieces_are_the_same_in_every_mode(void **state)
{
    (void)state;
    static const char *const runs[] = {
        "--algorithm lrab_hierarchical_allreduce --n-elem 5001",
        "--algorithm ring_allreduce --n-elem 5001 --set fabric.contention=chunk",
        "--bench ccl_all_gather --n-elem 8000"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct run_output output =
            run_line(0, "verify " SMALL "--sync stress --threads 2 %s", "8", runs[i]);
        assert_non_null(strstr(output.out, "\nidentical\n"));
        run_output_free(&output);
    }
}

/* 2 MiB of a shard in a TCM of 1 MiB: the sizes that an architect asks for. */
static void the_shipped_machine_takes_two_mebibytes(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "run --algorithm ring_allreduce --bytes 1MiB:2MiB:x2 --verify-data");
    assert_non_null(strstr(output.out, "# Wrong values      : 0 OK\n"));
    assert_non_null(strstr(output.out, "# pieces before the last"));
    run_output_free(&output);
}

static void a_size_that_does_not_fit_leaves_the_others_alone(void **state)
{
    (void)state;
    static const char line[] = "run --bench ccl_all_gather --n-elem 2:8:x2 --verify-data";
    struct run_output output = run_line(0, line);
    assert_non_null(strstr(output.out,
                           "\n#              4               2    f16      - not run: "
                           "all_gather: 2 elements are no multiple of 4 ranks; use 4, or "
                           "another multiple\n"));
    assert_non_null(strstr(output.out, "\n               8               4    f16      - "));
    run_output_free(&output);
    json_t *root = run_json(line);
    assert_int_equal(json_array_size(json_object_get(root, "results")), 3);
    assert_string_equal(
        json_string_value(row_of(root, 0, "not_run")),
        "all_gather: 2 elements are no multiple of 4 ranks; use 4, or another multiple");
    assert_true(json_is_null(row_of(root, 0, "wrong")));
    assert_true(json_is_null(row_of(root, 1, "not_run")));
    assert_int_equal(json_integer_value(row_of(root, 2, "wrong")), 0);
    json_decref(root);
    output = run_line(0, "run --bench ipcq_shift --bytes 4k:8k --csv -");
    assert_non_null(strstr(output.out, ",\"ipcq_shift sends single tiles: 8192 bytes do not fit in "
                                       "a slot of 4096 (defaults.slot_size)\",,,,,,\n"));
    run_output_free(&output);
    output = run_line(2, "run --bench ccl_all_gather --n-elem 1:2");
    run_output_free(&output);
    output = run_line(0, "run --bytes 1MiB:2MiB --no-data --set memory.hbm_mib=1");
    assert_non_null(strstr(output.out, "not run: HBM: the tensors need 2097152 bytes"));
    run_output_free(&output);
}

static void shards_beyond_two_to_the_31_are_rows_too(void **state)
{
    (void)state;
    static const char *const lines[] = {"run --no-data --n-elem 1024:4294967296:x4194304",
                                        "run --no-data -b 128K -e 128G -f 1048576",
                                        "run --no-data --bench ipcq_shift --n-elem "
                                        "1024:4294967296:x4194304"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        json_t *const root = run_json("%s", lines[i]);
        assert_int_equal(json_array_size(json_object_get(root, "results")), 2);
        assert_true(json_is_null(row_of(root, 0, "not_run")));
        assert_true(json_number_value(row_of(root, 0, "time_ns")) > 0);
        assert_string_equal(json_string_value(row_of(root, 1, "not_run")),
                            "a shard has from 1 to 2147483648 elements; found 4294967296");
        json_decref(root);
    }
    struct run_output output = run_line(2, "run --n-elem 4294967296");
    assert_non_null(strstr(output.err, "a shard has from 1 to 2147483648 elements"));
    run_output_free(&output);
}

static void a_result_says_how_many_shards_a_rank_has(void **state)
{
    (void)state;
    static const struct {
        const char *algorithm;
        int shards;
    } cases[] = {{"lrab_hierarchical_allreduce", 16},
                 {"ring_allreduce", 1},
                 {"pe_hierarchical_allreduce", 128}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *root = run_json("run --algorithm %s --n-elem 16", cases[i].algorithm);
        assert_int_equal(json_integer_value(row_of(root, 0, "shards_per_rank")), cases[i].shards);
        assert_int_equal(json_integer_value(row_of(root, 0, "bytes_per_rank")),
                         32 * cases[i].shards);
        const double n = 4.0 * cases[i].shards;
        const double factor = json_real_value(row_of(root, 0, "busbw_gbs")) /
                              json_real_value(row_of(root, 0, "algbw_gbs"));
        assert_true(factor > 2 * (n - 1) / n - 1e-9 && factor < 2 * (n - 1) / n + 1e-9);
        json_decref(root);
    }
    struct run_output output = run_line(0, "run --preset records");
    assert_non_null(strstr(output.out, "\n# sizes are bytes per shard; 16 shards per rank: bytes "
                                       "per rank are 16 times the size\n"));
    run_output_free(&output);
}

static void a_size_may_be_a_rank_s(void **state)
{
    (void)state;
    json_t *root = run_json("run --bytes-per-rank 64k");
    assert_int_equal(json_integer_value(row_of(root, 0, "bytes")), 4096);
    assert_int_equal(json_integer_value(row_of(root, 0, "bytes_per_rank")), 65536);
    json_decref(root);
    root = run_json("run --bytes-per-rank 64k --algorithm ring_allreduce");
    assert_int_equal(json_integer_value(row_of(root, 0, "bytes")), 65536);
    json_decref(root);
    root = run_json("run --bytes-per-rank 64k --algorithm ring_rs_ag --set "
                    "algorithms.ring_rs_ag.mapper=all_pes --no-data");
    assert_int_equal(json_integer_value(row_of(root, 0, "bytes")), 512);
    json_decref(root);
    struct run_output output = run_line(2, "run --bytes-per-rank 1000");
    assert_non_null(strstr(output.err, "500 elements are no multiple of the 16 shards"));
    run_output_free(&output);
    output = run_line(2, "run --bench ipcq_shift --bytes-per-rank 1k");
    run_output_free(&output);
    output = run_line(2, "run --bytes-per-rank 1k --bytes 1k");
    run_output_free(&output);
}

/* Shards, S and bandwidths of a call with 64 KiB in each shard, on the default machine of 4 SIPs of
 * 16 cubes of 8 PEs (COMMANDS.md, "Bytes and bandwidths"). */
static void check_figures(const char *bench, const char *entry, const char *mapper, int shards,
                          double factor)
{
    json_t *root = run_json("run --bench %s --algorithm %s --set algorithms.%s.mapper=%s "
                            "--set system.sips.topology=fully_connected --bytes 64KiB --no-data",
                            bench, entry, entry, mapper);
    const double ns = json_real_value(row_of(root, 0, "time_ns"));
    const double algbw = 65536.0 * shards / ns;
    assert_int_equal(json_integer_value(row_of(root, 0, "bytes")), 65536);
    assert_int_equal(json_integer_value(row_of(root, 0, "shards_per_rank")), shards);
    assert_int_equal(json_integer_value(row_of(root, 0, "bytes_per_rank")), 65536 * shards);
    assert_float_equal(json_real_value(row_of(root, 0, "algbw_gbs")), algbw, algbw * 1e-9);
    assert_float_equal(json_real_value(row_of(root, 0, "busbw_gbs")), algbw * factor, algbw * 1e-9);
    /* 3/4 S leave each of the 4 SIPs by its three links of 100 GB/s; twice that, of an all-reduce
     */
    const double least_ns = 65536.0 * shards * factor / 300;
    assert_true(json_real_value(row_of(root, 0, "bound_ns")) >= least_ns - 0.002);
    assert_true(json_real_value(row_of(root, 0, "bound_ns")) <= ns);
    json_decref(root);
}

static void shards_that_go_for_themselves_are_one_tensor(void **state)
{
    (void)state;
    static const struct {
        const char *bench, *entry;
        double factor;
    } cases[] = {{"ccl_reduce_scatter", "rings_reduce_scatter", 0.75},
                 {"ccl_reduce_scatter", "direct_reduce_scatter", 0.75},
                 {"ccl_all_gather", "rings_all_gather", 0.75},
                 {"ccl_all_to_all", "pairwise_all_to_all", 0.75},
                 {"ccl_allreduce", "ring_rs_ag", 1.5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_figures(cases[i].bench, cases[i].entry, "leader_only", 1, cases[i].factor);
        check_figures(cases[i].bench, cases[i].entry, "pe0_all_cubes", 16, cases[i].factor);
        check_figures(cases[i].bench, cases[i].entry, "all_pes", 128, cases[i].factor);
    }
}

/* Each of four ranks sends three quarters of its 64 KiB to others, over three direct links. */
static void a_reduce_scatter_of_one_shard_moves_a_rank_s_bytes(void **state)
{
    (void)state;
    json_t *root = run_json("run --bench ccl_reduce_scatter --algorithm direct_reduce_scatter "
                            "--set system.sips.topology=fully_connected --bytes-per-rank 64KiB "
                            "--no-data");
    assert_int_equal(json_integer_value(row_of(root, 0, "bytes")), 65536);
    assert_int_equal(json_integer_value(row_of(root, 0, "shards_per_rank")), 1);
    const json_t *const kinds = row_of(root, 0, "link_kinds");
    json_int_t crossed = 0;
    for (size_t i = 0; i < json_array_size(kinds); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(kinds, i), "kind")),
                   "sip_link") == 0)
            crossed = json_integer_value(json_object_get(json_array_get(kinds, i), "bytes"));
    assert_int_equal(crossed, 4 * 3 * 65536 / 4);
    json_decref(root);
}

static void every_tile_of_a_shift_counts(void **state)
{
    (void)state;
    json_t *root = run_json("run --bench ipcq_shift --tiles 64 --bytes 4k");
    const double gbs = json_real_value(row_of(root, 0, "algbw_gbs"));
    const double ns = json_real_value(row_of(root, 0, "time_ns"));
    assert_true(gbs * ns > 64 * 4096 - 1 && gbs * ns < 64 * 4096 + 1);
    json_decref(root);
}

static void a_grid_is_the_squarest(void **state)
{
    (void)state;
    static const struct {
        int sips;
        const char *grid;
    } cases[] = {{8, "4 x 2"}, {12, "4 x 3"}, {7, "7 x 1"}, {32, "8 x 4"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[80];
        struct run_output output =
            run_line(0, "run --bytes 64 --set system.sips.count=%d", cases[i].sips);
        snprintf(wanted, sizeof wanted, "\n# SIPs: torus_2d of %s, the squarest grid of %d\n",
                 cases[i].grid, cases[i].sips);
        assert_non_null(strstr(output.out, wanted));
        run_output_free(&output);
    }
    struct run_output output = run_line(0, "run --bytes 64 --set system.sips.count=8 --set "
                                           "system.sips.w=2 --set system.sips.h=4");
    assert_null(strstr(output.out, "# SIPs:"));
    run_output_free(&output);
}

BUILT_PLUGIN("sums")

/* A loaded algorithm that says nothing of TCM holds its whole shard there. */
static void a_loaded_algorithm_that_has_no_pieces_is_advised(void **state)
{
    (void)state;
    const char *const ccl = built_plugin_name_symbol(&plugin, "in_silence", "ring_1d");
    struct run_output output = run_line(2, "run --ccl %s --n-elem 5000000", ccl);
    assert_non_null(strstr(output.err,
                           "receive rings; --algorithm lrab_pipelined_allreduce cuts it into "
                           "tiles; or use fewer elements or smaller rings"));
    run_output_free(&output);
    output =
        run_line(2, "run --ccl %s --n-elem 5000000 --set system.sips.topology=pair_switch", ccl);
    assert_non_null(
        strstr(output.err,
               "receive rings; use fewer elements, smaller rings (defaults.n_slots), or a larger "
               "memory.tcm_kib\n"));
    run_output_free(&output);
}

/* Of many sizes the first and the last have details, and JSON has those of all. */
static void the_table_of_many_sizes_is_short(void **state)
{
    (void)state;
    static const struct {
        const char *sizes, *between;
        size_t details;
    } cases[] = {{"1KiB:8KiB", NULL, 4}, {"1KiB:32KiB", "# ---- 4 sizes between: --json has", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_output output =
            run_line(0, "run --preset tiny --no-data --bytes %s", cases[i].sizes);
        size_t details = 0;
        for (const char *at = output.out; (at = strstr(at, "\n# phase ")) != NULL; at++)
            details++;
        assert_int_equal(details, cases[i].details);
        if (cases[i].between != NULL)
            assert_non_null(strstr(output.out, cases[i].between));
        run_output_free(&output);
    }
}

/* Of three placements the fastest is taken: by the times of runs with each mapper, at most a tenth
 * above the least. Then sizes are a rank's. */
static void an_automatic_choice_takes_the_placement_of_a_rank_s_size(void **state)
{
    (void)state;
    static const char *const mappers[] = {"leader_only", "pe0_all_cubes", "all_pes"};
    static const char *const lines[] = {
        "--bench ccl_allreduce", "--bench ccl_reduce_scatter --set system.sips.topology=switch",
        "--bench ccl_all_gather --set system.sips.count=16",
        "--bench ccl_all_to_all --set system.sips.topology=fully_connected"};
    static const unsigned sizes[] = {1024, 65536, 4194304};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        json_t *const root =
            run_json("run --algorithm auto %s --no-data -b 1K -e 4M -f 64", lines[i]);
        json_t *fixed[3];
        for (size_t m = 0; m < 3; m++)
            fixed[m] = run_json("run --algorithm auto %s --no-data --bytes-per-rank 1K:4M:x64 "
                                "--set algorithms.auto.mapper=%s",
                                lines[i], mappers[m]);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const double taken = json_number_value(row_of(root, k, "time_ns"));
            double best = taken;
            assert_int_equal(json_integer_value(row_of(root, k, "bytes_per_rank")), sizes[k]);
            assert_non_null(json_string_value(row_of(root, k, "placement")));
            for (size_t m = 0; m < 3; m++) {
                const json_t *const time = row_of(fixed[m], k, "time_ns");
                if (json_is_null(row_of(fixed[m], k, "not_run")) && json_number_value(time) < best)
                    best = json_number_value(time);
                assert_null(row_of(fixed[m], k, "placement"));
            }
            if (taken > 1.1 * best)
                fail_msg("%s, %u bytes: %.0f ns, and %.0f with another placement", lines[i],
                         sizes[k], taken, best);
        }
        for (size_t m = 0; m < 3; m++)
            json_decref(fixed[m]);
        json_decref(root);
    }
}

/* An all-gather's input is one block: 2,731 elements on each of 128 PEs, which six ranks do not
 * divide. */
static void a_placement_needs_no_input_of_blocks(void **state)
{
    (void)state;
    static const char line[] = "run --bench ccl_all_gather --algorithm auto --no-data "
                               "--bytes-per-rank 4194816 --set system.sips.count=6";
    json_t *const taken = run_json("%s", line);
    json_t *const named = run_json("%s --set algorithms.auto.mapper=all_pes", line);
    assert_true(json_number_value(row_of(taken, 0, "time_ns")) <=
                1.1 * json_number_value(row_of(named, 0, "time_ns")));
    json_decref(taken);
    json_decref(named);
}

/* Each message costs the receiver a wire and a look at its slot, so few messages are fast: at 16
 * KiB the choice is no slower than recursive doubling, and larger sizes take longer. */
static void an_automatic_choice_counts_what_a_message_costs(void **state)
{
    (void)state;
    static const char line[] = "run --preset mi300x_8 --no-data --bytes-per-rank 16K,256K";
    json_t *const taken = run_json("%s --algorithm auto", line);
    json_t *const named = run_json("%s --algorithm recursive_doubling --set "
                                   "algorithms.recursive_doubling.mapper=all_pes",
                                   line);
    const double small = json_number_value(row_of(taken, 0, "time_ns"));
    assert_true(small < 1.02 * json_number_value(row_of(named, 0, "time_ns")));
    assert_true(small < json_number_value(row_of(taken, 1, "time_ns")));
    json_decref(taken);
    json_decref(named);
}

/* With --bytes, which are a shard's, and with a mapper, placement is none of the choice's. */
static void other_sizes_leave_the_placement_to_the_mapper(void **state)
{
    (void)state;
    json_t *root = run_json("run --algorithm auto --bytes 4MiB --no-data");
    assert_null(row_of(root, 0, "placement"));
    assert_int_equal(json_integer_value(row_of(root, 0, "shards_per_rank")), 1);
    json_decref(root);
    root = run_json("run --algorithm torus_rs_ag -b 1M --no-data");
    assert_null(row_of(root, 0, "placement"));
    assert_int_equal(json_integer_value(row_of(root, 0, "bytes")), 1048576);
    json_decref(root);
    /* a rank has 16 shards */
    root = run_json("run -b 1M --no-data");
    assert_int_equal(json_integer_value(row_of(root, 0, "bytes")), 65536);
    json_decref(root);
}

static void the_note_on_choices_is_one_line(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "run --algorithm auto --no-data -b 1K -e 16M -f 16");
    char *const end = strchr(output.err, '\n');
    assert_non_null(end);
    assert_string_equal(end, "\n");
    assert_non_null(strstr(output.err, "cubewarp: auto_all_reduce takes "));
    assert_non_null(strstr(output.err, " on all_pes ("));
    assert_non_null(strstr(output.out, "# sizes are bytes per rank, on as many PEs as the "
                                       "estimates say\n"));
    run_output_free(&output);
}

/* Without work a line shows the machine: six sizes of a rank, verified, near the bound. */
static void a_line_without_work_shows_the_machine(void **state)
{
    (void)state;
    static const unsigned sizes[] = {1 << 10, 1 << 14, 1 << 18, 1 << 20, 8 << 20, 64 << 20};
    if (sanitized)
        skip(); /* the same code as with other sizes */
    json_t *const root = run_json("run");
    assert_int_equal(json_array_size(json_object_get(root, "results")), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(json_integer_value(row_of(root, i, "bytes_per_rank")), sizes[i]);
        assert_true(json_is_integer(row_of(root, i, "wrong")));
        assert_int_equal(json_integer_value(row_of(root, i, "wrong")), 0);
        assert_non_null(json_string_value(row_of(root, i, "placement")));
    }
    const double time = json_number_value(row_of(root, 5, "time_ns"));
    assert_true(json_number_value(row_of(root, 5, "bound_ns")) > 0.95 * time);
    json_decref(root);
    struct run_output output = run_line(0, "run --no-data --set links.sip_link.bw_gbs=50");
    const char *const end = strstr(output.out, "\n# 67108864 bytes per rank take 1.0");
    assert_non_null(end);
    assert_non_null(strstr(end, "they are limited by sip 0 io_die sip_link N, busy for 100"));
    assert_string_equal(strchr(end + 1, '\n'), "\n"); /* the last line */
    assert_null(strstr(output.out, "; the rest: "));
    run_output_free(&output);
}

/* What an option, a file or a preset names is run as ever. */
static void a_line_with_work_runs_it(void **state)
{
    (void)state;
    static const char *const lines[] = {"--algorithm lrab_hierarchical_allreduce",
                                        "--bench ccl_allreduce",
                                        "--n-elem 8",
                                        "--preset records",
                                        "--set defaults.algorithm=lrab_hierarchical_allreduce",
                                        "--set defaults.root=center"};
    json_t *const first = run_json("run %s", lines[0]);
    assert_int_equal(json_integer_value(row_of(first, 0, "bytes")), 16);
    for (size_t i = 1; i < sizeof lines / sizeof *lines; i++) {
        json_t *const root = run_json("run %s", lines[i]);
        assert_int_equal(json_array_size(json_object_get(root, "results")), 1);
        assert_true(json_equal(row_of(root, 0, "time_ns"), row_of(first, 0, "time_ns")));
        assert_true(json_equal(row_of(root, 0, "data_hash"), row_of(first, 0, "data_hash")));
        assert_true(json_equal(json_object_get(root, "config_digest"),
                               json_object_get(first, "config_digest")));
        json_decref(root);
    }
    json_decref(first);
}

static void presets_go_over_each_other(void **state)
{
    (void)state;
    json_t *root = run_json("run --preset tiny --preset six_3x2 --preset records");
    const json_t *topology = json_object_get(root, "topology");
    assert_int_equal(json_integer_value(json_object_get(topology, "sips")), 6);
    assert_int_equal(json_integer_value(json_object_get(topology, "cubes")), 6 * 4);
    assert_int_equal(json_integer_value(row_of(root, 0, "bytes")), 16);
    json_decref(root);
    root = run_json("run --preset records --preset six_3x2 --preset tiny");
    topology = json_object_get(root, "topology");
    assert_int_equal(json_integer_value(json_object_get(topology, "sips")), 1);
    json_decref(root);
    struct run_output output = run_line(2, "run --preset tinny --preset records");
    assert_non_null(strstr(output.err, "unknown preset"));
    run_output_free(&output);
}

static void has_sizes(const char *line, const int *bytes, size_t count)
{
    json_t *const root = run_json("%s", line);
    assert_int_equal(json_array_size(json_object_get(root, "results")), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(json_integer_value(row_of(root, i, "bytes")), bytes[i]);
        assert_true(json_is_null(row_of(root, i, "not_run")));
        assert_int_equal(json_integer_value(row_of(root, i, "wrong")), 0);
    }
    json_decref(root);
}

/* As nccl-tests prints it; of a step, the sizes that follow are multiples of it, of a factor they
 * begin with one element. A collective of nothing takes no time. */
static void a_row_of_no_bytes_is_printed(void **state)
{
    (void)state;
    static const int steps[] = {0, 8, 16}, factors[] = {0, 2, 8, 32}, gathered[] = {0, 12, 24};
    has_sizes("run --algorithm ring_rs_ag -b 0 -e 16 -i 8 -c 1", steps, 3);
    has_sizes("run --algorithm ring_rs_ag -b 0 -e 64 -f 4 -c 1", factors, 4);
    has_sizes("run --bench ccl_reduce_scatter --algorithm rings_reduce_scatter --set "
              "system.sips.count=6 -b 0 -e 30 -i 15 -c 1",
              gathered, 3);
    static const char *const benches[] = {"ccl_allreduce", "ccl_all_gather", "ccl_all_to_all",
                                          "ccl_broadcast"};
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
        json_t *const root = run_json("run --bench %s -b 0", benches[i]);
        assert_int_equal(json_integer_value(row_of(root, 0, "count")), 0);
        assert_true(json_number_value(row_of(root, 0, "time_ns")) == 0);
        assert_true(json_number_value(row_of(root, 0, "busbw_gbs")) == 0);
        json_decref(root);
    }
    struct run_output output = run_line(0, "run -b 0 -c 1");
    assert_non_null(strstr(output.out, "\n               0               0    f16    sum        "
                                       "0.000000        0.000        0.000        0.000000    0.00 "
                                       "       0\n"));
    run_output_free(&output);
    output = run_line(2, "run --bench ipcq_pingpong -b 0"); /* a tile has elements */
    run_output_free(&output);
    output = run_line(0, "check -b 0 -e 64 --algorithm auto");
    run_output_free(&output);
}

/* Six ranks: 1,000 bytes are 500 elements, 498 of which divide; said once, for all sizes. */
static void sizes_are_rounded_down_to_what_divides(void **state)
{
    (void)state;
    static const int bytes[] = {996, 1992, 3000};
    static const char *const benches[] = {
        "ccl_all_to_all", "ccl_all_gather --set algorithms.ring_all_gather.mapper=leader_only",
        "ccl_reduce_scatter --algorithm rings_reduce_scatter"};
    char line[300];
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
        snprintf(line, sizeof line,
                 "run --set system.sips.count=6 --bytes 1000:3000:+1000 --verify-data --bench %s",
                 benches[i]);
        has_sizes(line, bytes, 3);
        struct run_output output = run_line(0, "%s", line);
        const char *const note = "cubewarp: 2 of 3 sizes are rounded down to what 6 ranks divide";
        const char *const at = strstr(output.err, note);
        assert_non_null(at);
        assert_null(strstr(at + 1, note));
        run_output_free(&output);
    }
    /* nccl-tests' letters: of a rank, 16 shards, odd bytes */
    static const int shard[] = {62, 124};
    has_sizes("run -b 1001 -e 2002 -f 2 -c 1", shard, 2);
}

/* The way out is the key, not more memory. */
static void a_tensor_that_is_one_tile_is_cut_by_its_key(void **state)
{
    (void)state;
    struct run_output output = run_line(2, "run --preset kernbench --algorithm ring_rs_ag");
    assert_non_null(strstr(output.err, "with whole_tensor a tile may be a whole tensor: set "
                                       "defaults.whole_tensor=false, which cuts tensors into tiles "
                                       "of slot_size\n"));
    run_output_free(&output);
    output = run_line(0, "run --preset kernbench --algorithm ring_rs_ag --set "
                         "defaults.whole_tensor=false");
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tensor_that_is_one_tile_is_cut_by_its_key),
        cmocka_unit_test(tensors_above_tcm_go_in_pieces),
        cmocka_unit_test(pieces_are_the_same_in_every_mode),
        cmocka_unit_test(the_shipped_machine_takes_two_mebibytes),
        cmocka_unit_test(a_size_that_does_not_fit_leaves_the_others_alone),
        cmocka_unit_test(shards_beyond_two_to_the_31_are_rows_too),
        cmocka_unit_test(a_result_says_how_many_shards_a_rank_has),
        cmocka_unit_test(a_size_may_be_a_rank_s),
        cmocka_unit_test(every_tile_of_a_shift_counts),
        cmocka_unit_test(shards_that_go_for_themselves_are_one_tensor),
        cmocka_unit_test(a_reduce_scatter_of_one_shard_moves_a_rank_s_bytes),
        cmocka_unit_test(a_grid_is_the_squarest),
        cmocka_unit_test(a_loaded_algorithm_that_has_no_pieces_is_advised),
        cmocka_unit_test(the_table_of_many_sizes_is_short),
        cmocka_unit_test(an_automatic_choice_takes_the_placement_of_a_rank_s_size),
        cmocka_unit_test(a_placement_needs_no_input_of_blocks),
        cmocka_unit_test(an_automatic_choice_counts_what_a_message_costs),
        cmocka_unit_test(other_sizes_leave_the_placement_to_the_mapper),
        cmocka_unit_test(the_note_on_choices_is_one_line),
        cmocka_unit_test(a_line_without_work_shows_the_machine),
        cmocka_unit_test(a_line_with_work_runs_it),
        cmocka_unit_test(presets_go_over_each_other),
        cmocka_unit_test(a_row_of_no_bytes_is_printed),
        cmocka_unit_test(sizes_are_rounded_down_to_what_divides),
    };
    return cmocka_run_group_tests_name("sizes", tests, build, clean);
}
