/*
 * test_hw_faults.c: what slow parts add (hw/faults.h): a share of their own time, rounded up, or
 * the time at a rate of their own; where they are, and from their time on.
 */
#include "test/support/test_hw_support.h"

#include "hw/faults.h"

enum { UCIE = HW_NODE_KINDS + HW_LINK_UCIE, SIP_LINK = HW_NODE_KINDS + HW_LINK_SIP_LINK };

static const struct hw_jitter_place here = {1, 5, 3, 7, 0};

static struct hw_config machine_with(struct hw_faults *faults, const struct hw_slow *slow,
                                     uint32_t count)
{
    struct hw_config hw = default_machine();
    *faults = (struct hw_faults){.slow = slow, .slow_count = count};
    hw.faults = faults;
    return hw;
}

static void a_percentage_is_rounded_up(void **state)
{
    (void)state;
    const struct hw_slow slow = {.kind = {[HW_NODE_PE_MATH] = true}, .percent = 30};
    struct hw_faults faults;
    const struct hw_config hw = machine_with(&faults, &slow, 1);
    assert_int_equal(hw_slow_node_ps(&hw, HW_NODE_PE_MATH, &here, 7000, 0), 2100);
    assert_int_equal(hw_slow_node_ps(&hw, HW_NODE_PE_MATH, &here, 7001, 0), 2101);
    assert_int_equal(hw_slow_node_ps(&hw, HW_NODE_PE_MATH, &here, 0, 0), 0);
    assert_int_equal(hw_slow_node_ps(&hw, HW_NODE_PE_GEMM, &here, 7000, 0), 0);
    faults.halved = 1;
    assert_int_equal(hw_slow_node_ps(&hw, HW_NODE_PE_MATH, &here, 7000, 0), 1050);
}

/* A link of 50 GB/s passes 1,000 bytes in 20,000 ps; at 20 GB/s in 50,000 ps. */
static void a_link_s_own_rate_is_exact(void **state)
{
    (void)state;
    const uint64_t links[] = {hw_outer_link(2, 0), hw_outer_link(2, 9)};
    const struct hw_slow slow = {.links = links, .link_count = 2, .rate = per_ns(20, 1)};
    struct hw_faults faults;
    struct hw_config hw = machine_with(&faults, &slow, 1);
    hw.link[HW_LINK_SIP_LINK] = link_class(0, 50);
    struct hw_jitter_place place = {2, HW_JITTER_ANY, HW_JITTER_ANY, 0, hw_outer_link(2, 9)};
    assert_int_equal(hw_slow_link_ps(&hw, HW_LINK_SIP_LINK, &place, 1000, 0), 30000);
    assert_int_equal(hw_slow_at(&hw, SIP_LINK, &place, 0), 0);
    faults.halved = 1;
    assert_int_equal(hw_slow_link_ps(&hw, HW_LINK_SIP_LINK, &place, 1000, 0), 15000);
    place.outer = hw_outer_link(2, 1);
    assert_int_equal(hw_slow_link_ps(&hw, HW_LINK_SIP_LINK, &place, 1000, 0), 0);
    assert_int_equal(hw_slow_at(&hw, SIP_LINK, &place, 0), UINT32_MAX);
    place.outer = 0; /* a link inside a SIP */
    assert_int_equal(hw_slow_link_ps(&hw, HW_LINK_SIP_LINK, &place, 1000, 0), 0);
}

static void the_slowest_counts_where_it_is_and_when(void **state)
{
    (void)state;
    const struct hw_slow slow[] = {
        {.kind = {[UCIE] = true}, .percent = 10},
        {.kind = {[UCIE] = true}, .percent = 50, .where = {.parts = 2, .at = {1, 5}}},
        {.kind = {[UCIE] = true}, .percent = 90, .from_ps = 1000},
    };
    struct hw_faults faults;
    struct hw_config hw = machine_with(&faults, slow, 3);
    hw.link[HW_LINK_UCIE] = link_class(0, 1000); /* a byte in 1 ps */
    const struct hw_jitter_place elsewhere = {1, 4, HW_JITTER_ANY, 0, 0};
    assert_int_equal(hw_slow_link_ps(&hw, HW_LINK_UCIE, &here, 100, 999), 50);
    assert_int_equal(hw_slow_at(&hw, UCIE, &here, 999), 1);
    assert_int_equal(hw_slow_link_ps(&hw, HW_LINK_UCIE, &elsewhere, 100, 999), 10);
    assert_int_equal(hw_slow_at(&hw, UCIE, &elsewhere, 999), 0);
    assert_int_equal(hw_slow_link_ps(&hw, HW_LINK_UCIE, &here, 100, 1000), 90);
    assert_int_equal(hw_slow_at(&hw, UCIE, &elsewhere, 1000), 2);
    assert_false(hw_slow_has_place(&slow[0]));
    assert_true(hw_slow_has_place(&slow[1]));
}

static void a_machine_without_faults_is_as_fast_as_it_is(void **state)
{
    (void)state;
    const struct hw_config hw = default_machine();
    assert_int_equal(hw_slow_node_ps(&hw, HW_NODE_PE_MATH, &here, 7000, 0), 0);
    assert_int_equal(hw_slow_link_ps(&hw, HW_LINK_UCIE, &here, 7000, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_percentage_is_rounded_up),
        cmocka_unit_test(a_link_s_own_rate_is_exact),
        cmocka_unit_test(the_slowest_counts_where_it_is_and_when),
        cmocka_unit_test(a_machine_without_faults_is_as_fast_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
