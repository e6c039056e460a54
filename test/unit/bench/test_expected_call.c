/*
 * test_expected_call.c: the call that a run's schedule is made for, which `check` asks about, too:
 * of each size, or of the first one where all sizes share a machine.
 */
#include "test/support/test_config_support.h"

#include "bench/programs/bench_algorithm.h"

enum { BEFORE = 77 };

/* What a schedule expects of a call of 64 elements. */
static struct ccl_config expected_of(const struct run_options *options, const char *module,
                                     enum ccl_collective collective)
{
    struct config *const config = load_with("tiny", NULL, 0);
    struct ccl_config ccl = config->ccl;
    snprintf(ccl.module, sizeof ccl.module, "%s", module);
    ccl.n_elem = BEFORE;
    const struct ccl_call call = {.hw = &config->hw,
                                  .ccl = &config->ccl,
                                  .collective = collective,
                                  .world_size = config->hw.sip_count,
                                  .n_elem = 64,
                                  .dtype = (enum lp_dtype)options->dtype};
    bench_expect_call(options, &call, &ccl);
    config_free(config);
    return ccl;
}

static void no_call_is_larger_where_a_size_has_its_own_machine(void **state)
{
    (void)state;
    struct run_options options = {.bench = "ccl_allreduce", .dtype = DTYPE_F32, .size_count = 2};
    struct ccl_config ccl = expected_of(&options, "ring_rs_ag", CCL_ALL_REDUCE);
    assert_true(ccl.n_elem_is_most);
    assert_int_equal(ccl.n_elem, 64 * 2);
    options.op_log = "log"; /* one file, so one machine for both sizes */
    assert_false(expected_of(&options, "ring_rs_ag", CCL_ALL_REDUCE).n_elem_is_most);
    options.size_count = 1;
    assert_true(expected_of(&options, "ring_rs_ag", CCL_ALL_REDUCE).n_elem_is_most);
}

/* The configured size, or that of a program's file. */
static void without_an_option_the_call_s_size_is_the_only_one(void **state)
{
    (void)state;
    const struct run_options options = {.bench = "ccl_gradient", .dtype = DTYPE_F32};
    const struct ccl_config ccl = expected_of(&options, "ring_rs_ag", CCL_ALL_REDUCE);
    assert_int_equal(ccl.n_elem, 64 * 2);
    assert_true(ccl.n_elem_is_most);
}

static void without_a_schedule_nothing_is_expected(void **state)
{
    (void)state;
    const struct run_options options = {
        .bench = "ccl_allreduce", .dtype = DTYPE_F32, .size_count = 1};
    assert_int_equal(expected_of(&options, "ring_allreduce", CCL_ALL_REDUCE).n_elem, BEFORE);
    assert_false(expected_of(&options, "ring_allreduce", CCL_ALL_REDUCE).n_elem_is_most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_call_is_larger_where_a_size_has_its_own_machine),
        cmocka_unit_test(without_an_option_the_call_s_size_is_the_only_one),
        cmocka_unit_test(without_a_schedule_nothing_is_expected),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
