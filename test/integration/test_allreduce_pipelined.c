/*
 * test_allreduce_pipelined.c: lrab_pipelined_allreduce: the bits of lrab_hierarchical_allreduce,
 * for tensors of any size, in less time; with and without overlap_exchange.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/allreduce_order.h"
#include "test/support/run_cubewarp.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const json_t *result_of(const json_t *root, const char *key)
{
    const json_t *value = json_object_get(json_array_get(json_object_get(root, "results"), 0), key);
    assert_non_null(value);
    return value;
}

static const char *const options[] = {"--set defaults.overlap_exchange=false",
                                      "--set defaults.overlap_exchange=true"};

static void sums_have_the_bits_of_the_specified_order(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {RING, 1, 1, 1, 1, 0, 0, false},  {RING, 1, 1, 4, 1, 2, 0, false},
        {RING, 1, 1, 1, 5, 0, 2, false},  {RING, 2, 1, 2, 2, 1, 1, false},
        {RING, 5, 1, 1, 1, 0, 0, false},  {TORUS, 1, 3, 1, 2, 0, 1, false},
        {TORUS, 3, 2, 4, 3, 2, 1, false}, {TORUS, 2, 2, 4, 3, 0, 2, false},
        {MESH, 3, 1, 2, 2, 1, 1, false},  {MESH, 3, 3, 3, 2, 1, 1, false},
        {RING, 5, 1, 2, 1, 1, 0, true},   {TORUS, 3, 2, 2, 2, 1, 1, true},
    };
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        for (size_t o = 0; o < COUNT_OF(options); o++)
            order_check("lrab_pipelined_allreduce", &shapes[i], 1 + i, options[o]);
}

static void timing_does_not_change_the_bits(void **state)
{
    (void)state;
    static const struct shape s = {TORUS, 3, 2, 3, 2, 1, 1, false};
    static const char *const more[] = {
        "--set defaults.buffer_kind=hbm",
        "--set defaults.buffer_kind=sram",
        "--set defaults.n_slots=1",
        "--set defaults.n_slots=1 --set defaults.backpressure=poll",
        "--set defaults.recv_blocks_on_credit=false",
        "--set fabric.contention=none",
        "--set fabric.contention=chunk --set defaults.vc_chunk_size=16",
        "--set links.sip_link.bw_gbs=0.1",
        "--set nodes.pe_dma.queue_depth=1",
        "--set defaults.wiring=pe0",
        "--iters 2",
    };
    for (size_t i = 0; i < COUNT_OF(more); i++)
        for (size_t o = 0; o < COUNT_OF(options); o++) {
            char both[200];
            snprintf(both, sizeof both, "%s %s", more[i], options[o]);
            order_check("lrab_pipelined_allreduce", &s, 11, both);
        }
}

/* 1,000 tiles and one slot: broadcast and reduction in one context would wait for each other. */
static void more_tiles_than_slots_flow(void **state)
{
    (void)state;
    static const char *const types[] = {"f16", "bf16", "f32"};
    for (size_t t = 0; t < COUNT_OF(types); t++)
        for (size_t o = 0; o < COUNT_OF(options); o++) {
            json_t *root = run_json(
                "run --algorithm lrab_pipelined_allreduce --verify-data --bytes 64000 --dtype %s "
                "--set defaults.slot_size=64 --set defaults.n_slots=1 %s",
                types[t], options[o]);
            assert_int_equal(json_integer_value(result_of(root, "wrong")), 0);
            assert_true(json_is_integer(result_of(root, "wrong")));
            json_decref(root);
        }
}

/* A TCM of 512 KiB, of which the rings take 352: the plain algorithm takes pieces. */
static void a_tensor_larger_than_tcm_is_reduced(void **state)
{
    (void)state;
    static const char tensor[] = "--bytes 1MiB --verify-data --set memory.tcm_kib=512";
    json_t *pieces = run_json("run %s", tensor);
    assert_int_equal(json_integer_value(result_of(pieces, "wrong")), 0);
    json_decref(pieces);
    for (size_t o = 0; o < COUNT_OF(options); o++) {
        json_t *root =
            run_json("run --algorithm lrab_pipelined_allreduce %s %s", tensor, options[o]);
        assert_int_equal(json_integer_value(result_of(root, "wrong")), 0);
        assert_true(json_ps(root, "bound_ns") <= json_ps(root, "time_ns"));
        json_decref(root);
    }
}

/* The rings of 11 directions, a slot each, leave 5 KiB of 49. */
static void a_tcm_without_room_for_a_tile_is_refused(void **state)
{
    (void)state;
    struct run_output refused =
        run_line(2, "run --algorithm lrab_pipelined_allreduce --n-elem 8 --set memory.tcm_kib=49 "
                    "--set defaults.n_slots=1 --set defaults.overlap_exchange=true");
    if (strstr(refused.err,
               "--set memory.tcm_kib=49: lrab_pipelined_allreduce needs 8192 bytes of "
               "TCM for any tensor, and 5120 of 50176 are free beside the receive "
               "rings; use fewer or smaller slots (defaults.n_slots, defaults.slot_size), or a "
               "larger memory.tcm_kib\n") == NULL)
        fail_msg("%s", refused.err);
    run_output_free(&refused);
}

static long long time_of(const char *args)
{
    json_t *root = run_json("run --no-data %s", args);
    const long long ps = json_ps(root, "time_ns");
    json_decref(root);
    return ps;
}

/* The plain one gets a TCM that holds the tensor; the other does not need it. */
static void long_tensors_take_less_time_than_whole_ones(void **state)
{
    (void)state;
    const long long plain = time_of("--preset default --bytes 1MiB --set memory.tcm_kib=2048"),
                    pipelined = time_of("--preset default --bytes 1MiB --algorithm "
                                        "lrab_pipelined_allreduce"),
                    overlapped = time_of("--preset default --bytes 1MiB --algorithm "
                                         "lrab_pipelined_allreduce "
                                         "--set defaults.overlap_exchange=true");
    assert_true(pipelined < plain);
    assert_true(2 * plain > 3 * overlapped);
}

/* Where there is nobody else, tiles are loaded and stored one after the other. */
static void a_lone_cube_takes_a_tile_at_a_time(void **state)
{
    (void)state;
    static const char lone[] = "--set system.sips.count=1 --set sip.cube_mesh.w=1 "
                               "--set sip.cube_mesh.h=1 --algorithm lrab_pipelined_allreduce";
    char one[200], five[200];
    snprintf(one, sizeof one, "%s --bytes 4096", lone);
    snprintf(five, sizeof five, "%s --bytes 20480", lone);
    assert_true(time_of(one) > 0);
    assert_int_equal(time_of(five), 5 * time_of(one));
}

static void every_mode_gives_the_results_of_one_thread(void **state)
{
    (void)state;
    static const char *const modes[] = {"conservative", "optimistic", "adaptive", "stress"};
    for (size_t i = 0; i < COUNT_OF(modes); i++)
        for (size_t o = 0; o < COUNT_OF(options); o++) {
            struct run_output output = run_line(
                0,
                "verify --preset six_3x2 --set sip.cube_mesh.w=2 --set sip.cube_mesh.h=2 "
                "--algorithm lrab_pipelined_allreduce --n-elem 9000 --set defaults.n_slots=2 "
                "--verify-data --sync %s --threads 3 %s",
                modes[i], options[o]);
            assert_non_null(strstr(output.out, "\nidentical\n"));
            run_output_free(&output);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_have_the_bits_of_the_specified_order),
        cmocka_unit_test(timing_does_not_change_the_bits),
        cmocka_unit_test(more_tiles_than_slots_flow),
        cmocka_unit_test(a_tensor_larger_than_tcm_is_reduced),
        cmocka_unit_test(a_tcm_without_room_for_a_tile_is_refused),
        cmocka_unit_test(long_tensors_take_less_time_than_whole_ones),
        cmocka_unit_test(a_lone_cube_takes_a_tile_at_a_time),
        cmocka_unit_test(every_mode_gives_the_results_of_one_thread),
    };
    return cmocka_run_group_tests_name("pipelined allreduce", tests, NULL, NULL);
}
