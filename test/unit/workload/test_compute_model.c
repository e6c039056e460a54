/*
 * test_compute_model.c: the time of a roofline by a machine's compute model, by hand (STEPS.md,
 * "Compute model").
 */
#include "test/support/test_config_support.h"

#include "workload/run/compute_model.h"

/* 200 TFLOP/s are 200 flops per ps; 1,000 GB/s are 1 byte per ps. */
#define MODEL                                                                                      \
    "compute_model={matrix_tflops: 200, vector_tflops: 50, memory_gbs: 1000, kernel_ns: 10}"

static int64_t time_of(const struct config *config, struct workload_op op)
{
    op.kind = WORKLOAD_ROOFLINE;
    return workload_compute_ps(&config->hw, &op);
}

static void the_slower_of_launches_and_work_counts(void **state)
{
    (void)state;
    struct config *const config = load_with("tiny", (const char *[]){MODEL}, 1);
    assert_true(workload_has_compute_model(&config->hw));
    /* 600,000 flops of products: 3,000 ps; of others: 12,000 ps. A kernel: 10,000 ps. */
    assert_int_equal(
        time_of(config, (struct workload_op){.matrix = 1, .flops = 600000, .bytes = 7001}), 10001);
    assert_int_equal(
        time_of(config, (struct workload_op){.matrix = 1, .flops = 600000, .bytes = 6000}), 10000);
    assert_int_equal(time_of(config, (struct workload_op){.flops = 600001, .bytes = 7000}), 19001);
    assert_int_equal(time_of(config, (struct workload_op){.bytes = 1000, .kernels = 4}), 40000);
    assert_int_equal(time_of(config, (struct workload_op){.kernels = 4}), 40000);
    assert_int_equal(time_of(config, (struct workload_op){.bytes = UINT64_MAX}), (int64_t)1 << 62);
    config_free(config);
}

static void other_machines_have_none(void **state)
{
    (void)state;
    struct config *const config = load_with("tiny", NULL, 0);
    assert_false(workload_has_compute_model(&config->hw));
    config_free(config);
    int code;
    char *const text =
        load_errors(&(struct config_request){.preset = "tiny",
                                             .sets = (const char *[]){"compute_model.kernel_ns=5"},
                                             .set_count = 1},
                    &code);
    assert_int_equal(code, CW_USAGE);
    assert_non_null(strstr(text, "compute_model.kernel_ns: without compute_model.memory_gbs there "
                                 "is no compute model; give both, or neither"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_slower_of_launches_and_work_counts),
                                       cmocka_unit_test(other_machines_have_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
