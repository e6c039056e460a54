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

#include "test/support/run_cubewarp.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_above_tcm_go_in_pieces),
        cmocka_unit_test(pieces_are_the_same_in_every_mode),
        cmocka_unit_test(the_shipped_machine_takes_two_mebibytes),
    };
    return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
