/*
 * test_gemm.c: matrix products alone, and beside an all-reduce on the same PEs: their bits, a time
 * counted by hand, and the gain of two virtual channels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

enum row { REDUCE, MULTIPLY, BESIDE, BOTH, ROWS };
static const char *const row_name[ROWS] = {"all_reduce", "gemm", "all_reduce_beside_gemm", "both"};

static json_t *row_of(const json_t *root, size_t i)
{
    return json_array_get(json_object_get(root, "results"), i);
}

static long long row_ps(const json_t *root, size_t i)
{
    return (long long)(json_number_value(json_object_get(row_of(root, i), "time_ns")) * 1000 + 0.5);
}

static const char *row_hash(const json_t *root, size_t i)
{
    return json_string_value(json_object_get(row_of(root, i), "data_hash"));
}

static void assert_all_right(const json_t *root)
{
    const size_t rows = json_array_size(json_object_get(root, "results"));
    for (size_t i = 0; i < rows; i++) {
        json_t *wrong = json_object_get(row_of(root, i), "wrong");
        assert_true(json_is_integer(wrong));
        assert_int_equal(json_integer_value(wrong), 0);
    }
}

static void products_have_the_specified_bits(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "--gemm 1x1x1", "--gemm 5x7x9 --gemm-tile 4", "--gemm 33x65x17 --gemm-tile 16",
        "--gemm 40x8x96 --gemm-tile 96", "--gemm 16x16x50 --gemm-tile 1"};
    static const char *const dtypes[] = {"f16", "bf16", "f32"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t d = 0; d < 3; d++) {
            json_t *root = run_json("run --preset tiny --bench gemm %s --dtype %s --verify-data "
                                    "--iters 2 --seed 5",
                                    shapes[i], dtypes[d]);
            assert_all_right(root);
            json_decref(root);
        }
}

/*
 * One tile of 16 x 16 of each, 512 bytes (in ns):
 *   load A  issue 3; request .005 + pe_dma 4 + router 1 + .010 + hbm 40: at the memory at 48.015;
 *           512 / 64 = 8; .010 + router 1 + .005 + pe_dma 4 + .001 + pe_tcm 1: there at 62.031
 *   load B  issue 3, at 6; the engine is free at 7; behind A on the HBM link: 8 later than
 * A, 70.031 dot     pe_cpu 2 + pe_scheduler 1 + fetch 1 + 1024 / 512 + gemm 8 + 1 + store 1 + 512 /
 * 512: 17 store   issue 3; 512 / 128 = 4 in the engine; pe_dma 4 + .005 + router 1 + 4 (8 less the
 * 4 paid)
 *           + .010 + hbm 40; back .010 + router 1 + .005 + pe_dma 4
 */
static void one_tile_takes_what_its_steps_take(void **state)
{
    (void)state;
    json_t *root = run_json("run --bench gemm --gemm 16x16x16 --gemm-tile 16 --no-data --set "
                            "system.sips.count=1 --set sip.cube_mesh.w=1 --set sip.cube_mesh.h=1");
    assert_int_equal(row_ps(root, 0), 70031 + 17000 + 3000 + 4000 + 49015 + 5015);
    json_decref(root);
}

/* Large tiles of a product do not lock a link for messages: by default a small all-reduce beside it
 * takes as long as where all operations travel in chunks. */
static void a_product_s_tiles_do_not_lock_a_link(void **state)
{
    (void)state;
    static const char line[] =
        "run --bench gemm_allreduce --n-elem 8 --gemm 128x128x512 --gemm-tile "
        "128 --no-data --set fabric.contention=";
    json_t *const message = run_json("%smessage", line);
    json_t *const chunk = run_json("%schunk", line);
    assert_true(row_ps(message, REDUCE) == row_ps(chunk, REDUCE));
    assert_true(row_ps(message, BESIDE) <= row_ps(chunk, BESIDE) * 11 / 10);
    assert_true(row_ps(message, BESIDE) < 2 * row_ps(message, REDUCE));
    json_decref(message);
    json_decref(chunk);
}

/* The product and the all-reduce have the same bits beside each other as alone. */
static void beside_each_other_both_have_the_bits_they_have_alone(void **state)
{
    (void)state;
    static const char *const how[] = {
        "--n-elem 3000",
        "--n-elem 100 --dtype f32 --op max --set defaults.vc=single",
        "--n-elem 2100 --set defaults.buffer_kind=hbm --set fabric.contention=chunk",
        "--n-elem 700 --algorithm pe_hierarchical_allreduce --set cube.noc.w=2",
        "--n-elem 700 --set defaults.rank_invariant=true",
        "--n-elem 700 --algorithm ring_allreduce"};
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        json_t *root = run_json("run --preset six_3x2 --set sip.cube_mesh.w=2 --set "
                                "sip.cube_mesh.h=2 --bench gemm_allreduce --gemm 40x24x56 "
                                "--gemm-tile 16 --verify-data %s",
                                how[i]);
        assert_int_equal(json_array_size(json_object_get(root, "results")), ROWS);
        for (size_t row = 0; row < ROWS; row++)
            assert_string_equal(json_string_value(json_object_get(row_of(root, row), "collective")),
                                row_name[row]);
        assert_all_right(root);
        assert_string_equal(row_hash(root, BESIDE), row_hash(root, REDUCE));
        assert_string_equal(row_hash(root, BOTH), row_hash(root, MULTIPLY));
        assert_true(row_ps(root, BESIDE) >= row_ps(root, REDUCE));
        assert_true(row_ps(root, BOTH) >= row_ps(root, MULTIPLY));
        assert_true(row_ps(root, BOTH) < row_ps(root, REDUCE) + row_ps(root, MULTIPLY));
        json_decref(root);
    }
}

/* A product goes on when the all-reduce beside it has ended, over the same links. */
static void no_link_is_busy_for_longer_than_its_row_takes(void **state)
{
    (void)state;
    json_t *const root = run_json("run --bench gemm_allreduce --bytes 1KiB --no-data");
    for (size_t i = 0; i < ROWS; i++) {
        const json_t *const kinds = json_object_get(row_of(root, i), "link_kinds"), *kind;
        size_t at;
        assert_true(json_is_array(kinds) && (json_array_size(kinds) > 0) == (i != BESIDE));
        json_array_foreach(kinds, at, kind)
            assert_in_range(json_number_value(json_object_get(kind, "busy")) * 1e6, 0, 1000000);
    }
    json_decref(root);
}

/* By how much an all-reduce takes longer beside a product, of its time alone. */
static double growth(const char *args, int n_elem, const char *channels)
{
    json_t *root = run_json("run --bench gemm_allreduce --no-data %s --n-elem %d --set "
                            "defaults.vc=%s",
                            args, n_elem, channels);
    const double alone = (double)row_ps(root, REDUCE), beside = (double)row_ps(root, BESIDE);
    assert_true(row_ps(root, BOTH) < row_ps(root, REDUCE) + row_ps(root, MULTIPLY));
    json_decref(root);
    return beside / alone - 1;
}

/* The product as the bench has it, whatever the size of the all-reduce. */
static void with_two_channels_an_all_reduce_takes_less_than_a_quarter_longer(void **state)
{
    (void)state;
    static const int sizes[] = {8, 512, 2048, 8192, 32768};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const double more = growth("", sizes[i], "dual");
        if (more < 0 || more >= 0.25)
            fail_msg("%d elements: %.1f %% longer", sizes[i], 100 * more);
    }
}

/* Large tiles, 18 KiB each: a send behind a load of one waits 144 ns for PE_DMA. */
static void one_channel_blocks_what_two_keep_apart(void **state)
{
    (void)state;
    static const int sizes[] = {8, 512, 2048, 8192, 32768};
    static const char large[] = "--gemm 192x192x1152 --gemm-tile 96 --set fabric.contention=chunk";
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const double dual = growth(large, sizes[i], "dual");
        const double single = growth(large, sizes[i], "single");
        if (dual < 0 || dual >= 0.25 || single < 0.25 || single < 2 * dual)
            fail_msg("%d elements: %.1f %% and %.1f %% longer", sizes[i], 100 * dual, 100 * single);
    }
}

static void threads_make_no_difference(void **state)
{
    (void)state;
    static const char *const how[] = {"conservative --threads 2", "optimistic --threads 3",
                                      "stress --threads 2"};
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        struct run_output output =
            run_line(0,
                     "verify --preset six_3x2 --set sip.cube_mesh.w=2 --set sip.cube_mesh.h=1 "
                     "--bench gemm_allreduce --gemm 32x32x64 --gemm-tile 16 --n-elem 2500 "
                     "--verify-data --sync %s",
                     how[i]);
        assert_non_null(strstr(output.out, "\nidentical\n"));
        run_output_free(&output);
    }
}

/* A rank's product over all PEs of its SIP: verified, its FLOP/s those of its time, and alike on
 * any threads. */
static void a_product_is_cut_over_all_pes(void **state)
{
    (void)state;
    static const struct {
        const char *args;
        double flops;
    } products[] = {
        {"--gemm 1x1x1", 2},
        {"--gemm 100x70x130 --iters 2", 2 * 100 * 70 * 130},
        {"--gemm 33x500x65 --dtype bf16 --seed 9", 2 * 33 * 500 * 65},
        {"--gemm 24x40x1000 --dtype fp8_e4m3", 2 * 24 * 40 * 1000},
        {"--gemm 64x64x300 --dtype f32 --set fabric.contention=chunk", 2 * 64 * 64 * 300}};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        json_t *const root = run_json("run --preset tiny --set system.sips.count=2 --bench gemm "
                                      "--gemm-operands cut --verify-data %s",
                                      products[i].args);
        assert_all_right(root);
        const double flops = json_number_value(json_object_get(row_of(root, 0), "flops"));
        const double rate = json_number_value(json_object_get(row_of(root, 0), "tflops_per_s"));
        assert_true(flops == products[i].flops);
        assert_true(rate * (double)row_ps(root, 0) > flops * 0.999999 &&
                    rate * (double)row_ps(root, 0) < flops * 1.000001);
        json_decref(root);
    }
    struct run_output output =
        run_line(0, "verify --preset tiny --set system.sips.count=2 --bench gemm --gemm-operands "
                    "cut --gemm 100x70x130 --verify-data --sync optimistic --threads 2");
    assert_non_null(strstr(output.out, "\nidentical\n"));
    run_output_free(&output);
}

/* Tiles are as large as the TCM that receive rings leave: then these keys are used. */
static void less_tcm_makes_a_cut_product_slower(void **state)
{
    (void)state;
    static const char line[] =
        "run --preset tiny --bench gemm --gemm-operands cut --gemm 1000x700x2000 --no-data";
    json_t *const small = run_json("%s --set memory.tcm_kib=300", line);
    json_t *const large = run_json("%s --set memory.tcm_kib=2048", line);
    assert_true(row_ps(small, 0) > row_ps(large, 0));
    json_decref(small);
    json_decref(large);
    static const char *const keys[] = {"memory.tcm_kib=2048", "defaults.buffer_kind=hbm",
                                       "defaults.n_slots=9"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct run_output output = run_line(0, "%s --set %s", line, keys[i]);
        assert_null(strstr(output.err, "note"));
        run_output_free(&output);
    }
}

static void refused(const char *args, const char *expected)
{
    struct run_output output = run_line(2, "run %s", args);
    if (strstr(output.err, expected) == NULL)
        fail_msg("%s: expected \"%s\", got \"%s\"", args, expected, output.err);
    run_output_free(&output);
}

static void what_cannot_be_multiplied_is_refused(void **state)
{
    (void)state;
    refused("--bench gemm --gemm 0x1x1", "--gemm '0x1x1': expected MxNxK, each from 1 to 65536, as "
                                         "in 128x128x512");
    refused("--bench gemm --gemm 4x4", "expected MxNxK");
    refused("--bench gemm --gemm 65537x1x1", "expected MxNxK");
    refused("--bench gemm --gemm 4x4x4x", "expected MxNxK");
    refused("--bench gemm --gemm-tile 0", "--gemm-tile '0'");
    refused("--bench gemm --bytes 4KiB", "gemm has no --bytes or --n-elem");
    refused("--bench gemm --gemm 512x512x512 --gemm-tile 512",
            "--gemm-tile: five tiles of 512 x 512 need 2621440 bytes of TCM, and ");
    refused("--bench gemm --gemm 65536x65536x65536 --gemm-tile 1", "more than 4294967295 pairs");
    refused("--bench gemm --gemm 512x512x512 --gemm-operands loaded",
            "--gemm-operands loaded: the operands in TCM and the tiles need 1050624 bytes, and ");
    refused("--bench gemm --gemm-operands fast", "streamed, pinned, loaded or cut");
    refused("--bench gemm --gemm-operands cut --dtype int32",
            "a product of 128 x 128 x 512 of int32: legal are f16, bf16, f32, fp8_e4m3 and "
            "fp8_e5m2");
    refused("--bench gemm_allreduce --gemm-operands pinned",
            "--gemm-operands does nothing in the bench gemm_allreduce");
    refused("--bench gemm_allreduce --algorithm lrab_pipelined_allreduce",
            "and that of lrab_pipelined_allreduce leaves no room for it");
}

/* Wherever operands are, the bits are one; one tile is loaded once in each way; and of many tiles
 * those in TCM are not loaded again. */
static void operands_in_tcm_are_loaded_once(void **state)
{
    (void)state;
    static const char *const operands[] = {"streamed", "pinned", "loaded"};
    static const char *const shapes[] = {"--gemm 100x70x130", "--gemm 33x65x17 --gemm-tile 16",
                                         "--gemm 5x7x9 --gemm-tile 4 --dtype f32"};
    int64_t one_tile_ps[3], bytes[3];
    for (size_t o = 0; o < 3; o++) {
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            json_t *const root = run_json("run --preset tiny --bench gemm %s --gemm-operands %s "
                                          "--verify-data",
                                          shapes[i], operands[o]);
            const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
            assert_int_equal(json_integer_value(json_object_get(row, "wrong")), 0);
            json_decref(root);
        }
        json_t *root = run_json("run --preset tiny --bench gemm --gemm 16x16x16 --gemm-tile 16 "
                                "--no-data --gemm-operands %s",
                                operands[o]);
        one_tile_ps[o] = row_ps(root, 0);
        json_decref(root);
        root = run_json("run --preset tiny --bench gemm --gemm 128x128x128 --no-data "
                        "--gemm-operands %s",
                        operands[o]);
        const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
        const json_t *const kinds = json_object_get(row, "link_kinds");
        bytes[o] = 0;
        for (size_t i = 0; i < json_array_size(kinds); i++) {
            const json_t *const kind = json_array_get(kinds, i);
            if (strcmp(json_string_value(json_object_get(kind, "kind")), "hbm") == 0)
                bytes[o] = json_integer_value(json_object_get(kind, "bytes"));
        }
        assert_int_equal(json_array_size(json_object_get(row, "phases")), o == 0 ? 0 : 2);
        json_decref(root);
    }
    assert_int_equal(one_tile_ps[0], one_tile_ps[2]);
    /* 128 x 128 x 128 in tiles of 32, f16, on four cubes: 64 steps of two tiles of 2 KiB each, or
     * operands of 32 KiB once; the result of 32 KiB in any case. */
    const int64_t tile = (int64_t)4 * 2048, whole = (int64_t)4 * 32768;
    assert_int_equal(bytes[0], 128 * tile + whole);
    assert_int_equal(bytes[1], 64 * tile + 2 * whole);
    assert_int_equal(bytes[2], 3 * whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_have_the_specified_bits),
        cmocka_unit_test(one_tile_takes_what_its_steps_take),
        cmocka_unit_test(a_product_s_tiles_do_not_lock_a_link),
        cmocka_unit_test(beside_each_other_both_have_the_bits_they_have_alone),
        cmocka_unit_test(no_link_is_busy_for_longer_than_its_row_takes),
        cmocka_unit_test(with_two_channels_an_all_reduce_takes_less_than_a_quarter_longer),
        cmocka_unit_test(one_channel_blocks_what_two_keep_apart),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(operands_in_tcm_are_loaded_once),
        cmocka_unit_test(a_product_is_cut_over_all_pes),
        cmocka_unit_test(less_tcm_makes_a_cut_product_slower),
        cmocka_unit_test(what_cannot_be_multiplied_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
