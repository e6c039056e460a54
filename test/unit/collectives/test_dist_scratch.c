/*
 * test_dist_scratch.c: dist_reduce_scatter() in host programs: its results, several times in one
 * program, and its refusals; ranks whose memories must be alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/test_dist_support.h"

#include "collectives/config/config_load.h"
#include "collectives/runtime/distributed.h"

enum { RANKS = 4, EACH = 6 };
static const struct dp_policy policy = {.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_pes = 1};

struct world {
    struct config *config;
    struct dist *dist;
    uint32_t calls;
    float result[2][RANKS][EACH]; /* by call */
};

static int completed(void *arg, const struct dist_completion *completion, struct cw_error *error)
{
    struct world *world = arg;
    assert_int_equal(completion->collective, CCL_REDUCE_SCATTER);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const int code = dist_read(completion->dist, completion->tensors[rank], 0, 0, EACH,
                                   world->result[world->calls][rank], error);
        if (code != CW_OK)
            return code;
    }
    world->calls++;
    return CW_OK;
}

/* Runs a worker on four ranks; its error, if it fails. */
static struct cw_error run(struct world *world, mp_worker_fn worker)
{
    const char *const sets[] = {"system.sips.count=4", "memory.hbm_mib=16", "memory.tcm_kib=64",
                                "defaults.slot_size=4096"};
    const struct config_request request = {
        .preset = "a3_16", .algorithm = "birs", .sets = sets, .set_count = 4};
    struct cw_error error = {.exit_code = CW_OK};
    *world = (struct world){0};
    world->config = must_load(&request);
    const struct dist_options options = {
        .config = world->config,
        .machine.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1},
        .completed = completed,
        .arg = world};
    world->dist = must_create(&options);
    (void)dist_spawn(world->dist, worker, world, &error);
    dist_free(world->dist);
    config_free(world->config);
    return error;
}

static void expect_error(mp_worker_fn worker, const char *expected)
{
    struct world world;
    const struct cw_error error = run(&world, worker);
    assert_int_equal(error.exit_code, CW_PROGRAM_FAILED);
    if (strstr(error.text, expected) == NULL)
        fail_msg("expected: %s\nsaid: %s", expected, error.text);
}

static void begin(int rank)
{
    dist_init_process_group("ahbm");
    ahbm_set_device(dist_device_of(rank));
}

/* ---- results --------------------------------------------------------------------------------- */

/* Element e of rank r: 100 r + e. */
static void two_calls(int rank, void *arg)
{
    struct world *world = arg;
    float values[RANKS * EACH];
    struct cw_error error;
    begin(rank);
    struct tensor *input = dist_tensor_zeros(RANKS * EACH, DTYPE_F32, &policy);
    struct tensor *output = dist_tensor_zeros(EACH, DTYPE_F32, &policy);
    for (uint32_t e = 0; e < RANKS * EACH; e++)
        values[e] = 100.0f * (float)rank + (float)e;
    assert_int_equal(data_pass_write(dist_data(world->dist), input->shard[0].pe_index,
                                     input->shard[0].hbm_offset, values, sizeof values, &error),
                     CW_OK);
    dist_reduce_scatter(output, input, REDOP_SUM);
    dist_reduce_scatter(output, input, REDOP_MAX);
}

static void each_rank_gets_its_slice_of_the_reduction(void **state)
{
    (void)state;
    struct world world;
    const struct cw_error error = run(&world, two_calls);
    if (error.exit_code != CW_OK)
        fail_msg("%s", error.text);
    assert_int_equal(world.calls, 2);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        for (uint32_t i = 0; i < EACH; i++) {
            const float e = (float)(rank * EACH + i);
            assert_true(world.result[0][rank][i] == 600.0f + 4 * e);
            assert_true(world.result[1][rank][i] == 300.0f + e);
        }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void output_too_long(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    struct tensor *input = dist_tensor_zeros(RANKS * EACH, DTYPE_F32, &policy);
    struct tensor *output = dist_tensor_zeros(EACH + 1, DTYPE_F32, &policy);
    dist_reduce_scatter(output, input, REDOP_SUM);
}

static void output_of_another_type(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    struct tensor *input = dist_tensor_zeros(RANKS * EACH, DTYPE_F32, &policy);
    struct tensor *output = dist_tensor_zeros(EACH, DTYPE_F16, &policy);
    dist_reduce_scatter(output, input, REDOP_SUM);
}

static void tensors_must_fit_each_other(void **state)
{
    (void)state;
    expect_error(output_too_long,
                 "dist_reduce_scatter: an output of 7 elements of f32 for an input of 24 of f32 "
                 "and 4 ranks; the input must have as many times the output's elements");
    expect_error(output_of_another_type,
                 "dist_reduce_scatter: an output of 6 elements of f16 for an input of 24 of f32");
}

static void one_rank_allocates_more(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    if (rank == 2)
        (void)dist_tensor_zeros(100, DTYPE_F32, &policy);
    struct tensor *input = dist_tensor_zeros(RANKS * EACH, DTYPE_F32, &policy);
    struct tensor *output = dist_tensor_zeros(EACH, DTYPE_F32, &policy);
    dist_reduce_scatter(output, input, REDOP_SUM);
}

static void ranks_must_allocate_alike(void **state)
{
    (void)state;
    expect_error(one_rank_allocates_more,
                 "rank 2 has its input at byte 65536 of HBM, rank 0 at 0; ranks that reach into "
                 "each other's memory must allocate alike");
}

/* 256 pages of 64 KiB: the program's tensors take all, so 4 slots of 16 KiB have no room. */
static void a_full_memory(int rank, void *arg)
{
    (void)arg;
    begin(rank);
    (void)dist_tensor_zeros(254 * 65536 / 4, DTYPE_F32, &policy);
    struct tensor *input = dist_tensor_zeros(RANKS * EACH, DTYPE_F32, &policy);
    struct tensor *output = dist_tensor_zeros(EACH, DTYPE_F32, &policy);
    dist_reduce_scatter(output, input, REDOP_SUM);
}

static void scratch_must_fit_beside_all_tensors(void **state)
{
    (void)state;
    struct world world;
    const struct cw_error error = run(&world, a_full_memory);
    assert_int_equal(error.exit_code, CW_NO_RESOURCE);
    assert_non_null(strstr(error.text, "scratch of birs: HBM: a tensor needs 65536 bytes in each "
                                       "PE's slice of SIP 0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rank_gets_its_slice_of_the_reduction),
        cmocka_unit_test(tensors_must_fit_each_other),
        cmocka_unit_test(ranks_must_allocate_alike),
        cmocka_unit_test(scratch_must_fit_beside_all_tensors),
    };
    return cmocka_run_group_tests_name("reduce-scatter in host programs", tests, NULL, NULL);
}
