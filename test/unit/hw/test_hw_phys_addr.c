/*
 * test_hw_phys_addr.c: physical addresses, at the limits of their fields.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hw/phys_addr.h"

static void each_field_has_its_bits(void **state)
{
    (void)state;
    uint64_t packed;
    const struct hw_phys_addr sram = {HW_MEMORY_SRAM, {0x1234, 0x155, 0}, 0x89abcdef};
    assert_true(hw_pa_encode(&sram, &packed));
    /* kind 2, sip 0x1234, cube 0x155, pe 0, offset */
    assert_int_equal(packed, UINT64_C(2) << 62 | UINT64_C(0x1234) << 48 | UINT64_C(0x155) << 38 |
                                 0x89abcdef);
}

static void the_largest_address_comes_back(void **state)
{
    (void)state;
    const struct hw_phys_addr largest = {HW_MEMORY_SRAM, {16383, 1023, 63}, UINT32_MAX};
    struct hw_phys_addr back;
    uint64_t packed;
    assert_true(hw_pa_encode(&largest, &packed));
    assert_int_equal(packed, UINT64_C(0xbfffffffffffffff));
    assert_true(hw_pa_decode(packed, &back));
    assert_int_equal(back.kind, HW_MEMORY_SRAM);
    assert_int_equal(back.place.sip, 16383);
    assert_int_equal(back.place.cube, 1023);
    assert_int_equal(back.place.pe, 63);
    assert_int_equal(back.offset, UINT32_MAX);
}

static void one_past_each_limit_is_refused(void **state)
{
    (void)state;
    uint64_t packed = 7;
    const struct hw_phys_addr beyond[] = {{HW_MEMORY_NONE, {0, 0, 0}, 0},
                                          {HW_MEMORY_TCM, {16384, 0, 0}, 0},
                                          {HW_MEMORY_TCM, {0, 1024, 0}, 0},
                                          {HW_MEMORY_TCM, {0, 0, 64}, 0},
                                          {HW_MEMORY_TCM, {0, 0, 0}, UINT64_C(1) << 32}};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        assert_false(hw_pa_encode(&beyond[i], &packed));
    assert_int_equal(packed, 7);
}

static void an_unknown_kind_is_refused(void **state)
{
    (void)state;
    struct hw_phys_addr address;
    assert_false(hw_pa_decode(UINT64_C(3) << 62, &address));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_field_has_its_bits),
                                       cmocka_unit_test(the_largest_address_comes_back),
                                       cmocka_unit_test(one_past_each_limit_is_refused),
                                       cmocka_unit_test(an_unknown_kind_is_refused)};
    return cmocka_run_group_tests_name("phys_addr", tests, NULL, NULL);
}
