/*
 * test_cost_times.c: times of single operations in estimates, from hw/HARDWARE.md, "Blocks of a
 * PE", and the figures of test_hw_support.h.
 */
#include "test/support/test_hw_support.h"

#include "collectives/choice/cost_times.h"

/* 2,048 elements of f16: pe_cpu 2 ns and pe_scheduler 1 ns; both operands from TCM, 1 ns + 8,192
 * bytes at 512 GB/s; the result, 1 ns + 4,096 bytes; PE_MATH 4 ns + 32 cycles of 64 lanes. */
static void an_addition_fetches_two_operands_and_stores_one_result(void **state)
{
    (void)state;
    struct hw_config hw = default_machine();
    const struct cost_times times = {.hw = &hw, .itemsize = 2};
    assert_int_equal(cost_add_time_ps(&times, 4096),
                     2000 + 1000 + (1000 + 16000) + (1000 + 8000) + (4000 + 32000));
    hw.math_free_operands = true;
    assert_int_equal(cost_add_time_ps(&times, 4096), 2000 + 1000 + 4000 + 32000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_addition_fetches_two_operands_and_stores_one_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
