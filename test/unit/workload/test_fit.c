/*
 * test_fit.c: what ranks hold beside the HBM of a SIP (workload/model/fit.h), and what people quote
 * of a step (workload/run/quotes.h). The figures of the default machine: 16 cubes of 8 PEs, each
 * with 2,048 MiB of HBM and a PE_GEMM of 16 x 16 x 16 in a cycle of 1 ns.
 */
#include "test/support/test_config_support.h"

#include "workload/model/fit.h"
#include "workload/run/quotes.h"

#define GIB (UINT64_C(1) << 30)

/* A rank of each of the programs; rank 1 of the second one. */
static struct workload_graph two_programs(struct workload_memory memory[2])
{
    struct workload_graph graph = {.rank_count = 2, .memory = memory};
    graph.program_of = calloc(2, sizeof *graph.program_of);
    assert_non_null(graph.program_of);
    graph.program_of[1] = 1;
    assert_int_equal(workload_add_program(&graph, "stage 0"), 0);
    assert_int_equal(workload_add_program(&graph, "stage 1"), 1);
    return graph;
}

static void leave(struct workload_graph *graph)
{
    graph->memory = NULL; /* the test's */
    workload_graph_free(graph);
}

static void test_the_fullest_rank_decides(void **state)
{
    struct workload_memory memory[2] = {{.weights = 100 * GIB, .known = true},
                                        {.weights = 60 * GIB,
                                         .gradients = 60 * GIB,
                                         .optimizer = 100 * GIB,
                                         .activations = 30 * GIB,
                                         .cache = 5 * GIB,
                                         .other = GIB,
                                         .known = true}};
    struct workload_graph graph = two_programs(memory);
    struct config *config = load_with("default", (const char *[]){"memory.hbm_mib=2048"}, 1);
    (void)state;

    /* 16 x 8 x 2 GiB = 256 GiB; 60 + 60 + 100 + 30 + 5 + 1 GiB. */
    struct workload_fit fit = workload_fit_of(&graph, &config->hw);
    assert_true(fit.known && fit.fits);
    assert_int_equal(fit.program, 1);
    assert_int_equal(fit.bytes, 256 * GIB);
    assert_int_equal(fit.hbm, 256 * GIB);
    memory[1].other++;
    assert_false(workload_fit_of(&graph, &config->hw).fits);
    memory[1].optimizer = UINT64_MAX;
    fit = workload_fit_of(&graph, &config->hw);
    assert_true(fit.known && !fit.fits);
    assert_int_equal(fit.bytes, UINT64_MAX);

    memory[1].known = false;
    fit = workload_fit_of(&graph, &config->hw);
    assert_true(fit.known && fit.fits);
    assert_int_equal(fit.program, 0);
    memory[0].known = false;
    assert_false(workload_fit_of(&graph, &config->hw).known);
    graph.memory = NULL;
    assert_false(workload_fit_of(&graph, &config->hw).known);
    config_free(config);
    leave(&graph);
}

static void test_the_peak_is_that_of_all_pe_gemms(void **state)
{
    struct config *config =
        load_with("default", (const char *[]){"nodes.pe_gemm.clock_ghz=1.0"}, 1);
    (void)state;
    /* 2 x 4,096 in 1 ns, on 128 PEs. */
    assert_true(workload_peak_flops(&config->hw) == 2.0 * 4096 * 128 * 1e9);
    config_free(config);
    config = load_with("default", (const char *[]){"nodes.pe_gemm={clock_ghz: 1.5, m: 8}"}, 1);
    assert_true(workload_peak_flops(&config->hw) == 2.0 * 2048 * 128 * 1.5e9);
    config_free(config);
}

/* The prefill takes 3 ms on the slower rank, 8 tokens after it 4 ms. */
static void test_quotes(void **state)
{
    struct workload_memory memory[2] = {{0}};
    struct workload_graph graph = two_programs(memory);
    struct config *config =
        load_with("default", (const char *[]){"nodes.pe_gemm.clock_ghz=1.0"}, 1);
    const uint32_t stream = workload_add_stream(&graph, "compute");
    const uint32_t label = workload_add_label(&graph, "x");
    uint64_t first_span[] = {0, 2, 4};
    struct step_span spans[4] = {{.end_ps = 2000000000},
                                 {.end_ps = 7000000000},
                                 {.end_ps = 3000000000},
                                 {.end_ps = 6000000000}};
    const struct step_result result = {
        .step_ps = 7000000000, .first_span = first_span, .spans = spans};
    (void)state;
    for (uint32_t program = 0; program < 2; program++)
        for (int decode = 0; decode < 2; decode++)
            (void)workload_add_op(
                &graph, program,
                &(struct workload_op){.kind = WORKLOAD_TIME,
                                      .purpose = decode ? WORKLOAD_DECODE : WORKLOAD_PREFILL,
                                      .stream = (uint16_t)stream,
                                      .label = label});
    graph.quotes = (struct workload_quotes){
        .model_flops = 7e12, .tokens = 36, .first_tokens = 4, .next_tokens = 8};

    struct step_quotes quotes = step_quotes_of(&graph, &result, &config->hw);
    assert_true(quotes.first_token_ps == 3e9);
    assert_true(quotes.token_ps == 0.5e9);
    assert_true(quotes.tokens_per_s > 5142.857 && quotes.tokens_per_s < 5142.858); /* 36 in 7 ms */
    assert_true(quotes.flops_per_s > 499.99e12 && quotes.flops_per_s < 500.01e12);
    /* 500 of 1,048.576 */
    assert_true(quotes.utilisation > 0.476837 && quotes.utilisation < 0.476838);

    graph.quotes = (struct workload_quotes){0};
    quotes = step_quotes_of(&graph, &result, &config->hw);
    assert_true(quotes.first_token_ps == 0 && quotes.token_ps == 0 && quotes.tokens_per_s == 0 &&
                quotes.utilisation == 0);
    config_free(config);
    leave(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_fullest_rank_decides),
        cmocka_unit_test(test_the_peak_is_that_of_all_pe_gemms),
        cmocka_unit_test(test_quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
