/*
 * test_repeat.c: --repeat leaves the figures of a run as they are, to the picosecond: for each
 * algorithm on a machine that can run it, with random settings (buffers, contention, channels,
 * coarse tiles, threads), and in benches that launch kernels of their own. REPEAT_SEEDS: so many
 * settings of each (1).
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cw.h"
#include "test/support/run_cubewarp.h"

enum { LINE_BYTES = 1000, COUNT = 20, WARMUP = 3 };

/* Without what says how the figures came about. */
static json_t *figures_of(json_t *root, json_int_t *simulated)
{
    size_t i;
    json_t *row;
    *simulated = 0;
    (void)json_object_del(root, "engine");
    (void)json_object_del(root, "provenance");
    json_array_foreach(json_object_get(root, "results"), i, row)
    {
        const json_t *const done =
            json_object_get(json_object_get(row, "shortcuts"), "iterations_simulated");
        *simulated = json_is_integer(done) ? json_integer_value(done) : COUNT + WARMUP;
        (void)json_object_del(row, "shortcuts");
    }
    return root;
}

/* Returns how many of the calls were simulated, of the last row. */
static json_int_t check_line(const char *line, uint32_t threads)
{
    json_int_t some, all;
    json_t *const with = figures_of(run_json("%s --repeat on --threads %u", line, threads), &some);
    json_t *const without = figures_of(run_json("%s --repeat off", line), &all);
    if (json_equal(with, without) != 1)
        fail_msg("other figures with --repeat on --threads %u: %s", threads, line);
    assert_int_equal(all, COUNT + WARMUP);
    json_decref(with);
    json_decref(without);
    return some;
}

/* Settings that decide when things happen; of each, one or none. */
static void add_settings(struct cw_rng *rng, char *line)
{
    static const char *const settings[][5] = {
        {"fabric.contention=none", "fabric.contention=chunk"},
        {"defaults.buffer_kind=hbm", "defaults.buffer_kind=sram"},
        {"defaults.recv_fairness=strict", "defaults.recv_fairness=weak"},
        {"defaults.backpressure=poll", "defaults.backpressure=sleep"},
        {"defaults.credit_return_mode=fabric", "defaults.credit_return_mode=fast_path"},
        {"defaults.n_slots=3", "defaults.n_slots=5"},
        {"defaults.vc=single", "defaults.vc=dual"},
        {"defaults.vc_weights=[1,3]", "defaults.vc_weights=[2,1]"},
        {"nodes.pe_dma.queue_depth=1", "nodes.pe_dma.queue_depth=3"},
        {"launch_together=true", "defaults.host_copy=simulated"},
        {"defaults.coarse=8192", "defaults.coarse=16384"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const size_t used = strlen(line);
        if (cw_rng_below(rng, 2) == 0)
            (void)snprintf(line + used, LINE_BYTES - used, " --set %s",
                           settings[i][cw_rng_below(rng, 2)]);
    }
}

static uint64_t seeds(void)
{
    const char *const text = getenv("REPEAT_SEEDS");
    return text != NULL ? strtoull(text, NULL, 10) : 1;
}

static const char *const algorithms[] = {
    "ccl_allreduce --algorithm lrab_hierarchical_allreduce --n-elem 1024",
    "ccl_allreduce --algorithm intercube_allreduce --n-elem 1024",
    "ccl_allreduce --algorithm lrab_pipelined_allreduce --n-elem 4096",
    "ccl_allreduce --algorithm pe_hierarchical_allreduce --n-elem 1024",
    "ccl_allreduce --algorithm ring_allreduce --n-elem 1024",
    "ccl_allreduce --algorithm tree_allreduce --n-elem 1024",
    "ccl_allreduce --algorithm ring_rs_ag --n-elem 4096",
    "ccl_allreduce --algorithm torus_rs_ag --n-elem 4096",
    "ccl_allreduce --algorithm direct_rs_ag --n-elem 1024",
    "ccl_allreduce --algorithm halving_doubling --n-elem 1024",
    "ccl_allreduce --algorithm recursive_doubling --n-elem 1024",
    "ccl_allreduce --algorithm double_binary_tree --n-elem 1024",
    "ccl_allreduce --algorithm hierarchical --n-elem 4096",
    "ccl_reduce_scatter --algorithm rhd --n-elem 1024",
    "ccl_reduce_scatter --algorithm mesh --n-elem 1024",
    "ccl_reduce_scatter --algorithm rings_reduce_scatter --n-elem 1024",
    "ccl_reduce_scatter --algorithm torus_reduce_scatter --n-elem 1024",
    "ccl_all_gather --algorithm ring_all_gather --n-elem 1024",
    "ccl_all_gather --algorithm doubling_all_gather --n-elem 1024",
    "ccl_all_to_all --algorithm pairwise_all_to_all --n-elem 1024",
    "ccl_broadcast --algorithm relay_broadcast --n-elem 1024",
    "ccl_reduce --algorithm relay_reduce --n-elem 1024",
    "ccl_barrier --algorithm relay_barrier"};

static void collectives_have_the_same_figures(void **state)
{
    (void)state;
    static const char *const topologies[] = {"ring_1d", "torus_2d", "switch", "fully_connected"};
    json_int_t most = 0;
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        for (uint64_t seed = 0; seed < seeds(); seed++) {
            struct cw_rng rng = cw_rng_seeded(seed, i);
            const bool puts = strstr(algorithms[i], "--algorithm rhd") != NULL ||
                              strstr(algorithms[i], "--algorithm mesh") != NULL;
            char line[LINE_BYTES];
            (void)snprintf(line, sizeof line,
                           "run --bench %s --no-data --iters %d --warmup_iters %d --set "
                           "system.sips.count=4 --set system.sips.topology=%s --set "
                           "sip.cube_mesh.w=1 --set sip.cube_mesh.h=%d",
                           algorithms[i], COUNT, WARMUP, topologies[cw_rng_below(&rng, 4)],
                           puts ? 1 : 2);
            if (!puts)
                add_settings(&rng, line);
            const json_int_t simulated = check_line(line, 1 + (uint32_t)(i + seed) % 4);
            most = simulated > most ? simulated : most;
        }
    assert_in_range(most, 3, 8);
}

static void other_benches_have_the_same_figures(void **state)
{
    (void)state;
    static const char *const benches[] = {
        "gemm_allreduce --gemm 64x64x64 --n-elem 1024",
        "ipcq_pingpong --from 0.0.0 --to 1.0.0 --n-elem 1024", "ipcq_shift --n-elem 512",
        "raw_store --from 0.0.0 --to 1.0.0 --n-elem 512",
        "concurrent --call all_reduce:world:64K@0us --call all_gather:world:16K@3us"};
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
        char line[LINE_BYTES];
        (void)snprintf(line, sizeof line, "run --bench %s --no-data --iters %d --warmup_iters %d",
                       benches[i], COUNT, WARMUP);
        assert_in_range(check_line(line, 1), 3, 4);
    }
}

/* Three calls of a thousand, of each size. */
static void many_iterations_cost_a_few(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "run --no-data --bytes 1K,64K --iters 1000 --algorithm ring_rs_ag");
    if (strstr(output.out, "# simulated: 3 of 1,000 iterations, factor 333\n") == NULL)
        fail_msg("%s", output.out);
    run_output_free(&output);
}

/* A limit of simulated time ends a run where it would end without repetition. */
static void a_limited_run_is_simulated(void **state)
{
    (void)state;
    struct run_output output =
        run_line(3, "run --no-data --n-elem 1024 --iters 1000 --max-sim-time 1ms");
    run_output_free(&output);
    output = run_line(2, "run --no-data --n-elem 1024 --max-sim-time 1ms --repeat on");
    if (strstr(output.err, "--repeat on: --max-sim-time ends the run") == NULL)
        fail_msg("%s", output.err);
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(collectives_have_the_same_figures),
                                       cmocka_unit_test(other_benches_have_the_same_figures),
                                       cmocka_unit_test(many_iterations_cost_a_few),
                                       cmocka_unit_test(a_limited_run_is_simulated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
