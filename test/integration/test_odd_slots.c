/*
 * test_odd_slots.c: slots whose size is no multiple of an element: tiles then hold whole elements,
 * wherever the slots are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

static void tiles_hold_whole_elements(void **state)
{
    (void)state;
    static const char *const kinds[] = {"tcm", "hbm", "sram"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        json_t *root = run_json("run --preset six_3x2 --dtype f32 --n-elem 601 --verify-data --set "
                                "defaults.slot_size=1002 --set defaults.buffer_kind=%s",
                                kinds[i]);
        const json_t *row = json_array_get(json_object_get(root, "results"), 0);
        assert_int_equal(json_integer_value(json_object_get(row, "wrong")), 0);
        json_decref(root);
    }
}

/* 250 elements of 4 bytes fit in 1,002 bytes as in 1,000: the two bytes left carry nothing. */
static void bytes_that_hold_no_element_cost_nothing(void **state)
{
    (void)state;
    static const char line[] = "run --preset tiny --dtype f32 --n-elem 601 --no-data --set "
                               "defaults.buffer_kind=hbm --set defaults.slot_size=%d";
    char odd_line[256], even_line[256];
    snprintf(odd_line, sizeof odd_line, line, 1002);
    snprintf(even_line, sizeof even_line, line, 1000);
    json_t *odd = run_json("%s", odd_line), *even = run_json("%s", even_line);
    assert_int_equal(json_ps(odd, "time_ns"), json_ps(even, "time_ns"));
    json_decref(odd);
    json_decref(even);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_hold_whole_elements),
                                       cmocka_unit_test(bytes_that_hold_no_element_cost_nothing)};
    return cmocka_run_group_tests_name("odd slots", tests, NULL, NULL);
}
