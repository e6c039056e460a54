/*
 * test_bound.c: the lower bound of an all-reduce (COMMANDS.md, "Bound"): latency of the longest
 * shortest path, and bytes over the bandwidth of each cut.
 */
#include "test/support/test_hw_support.h"

#include "core/cw.h"
#include "collectives/verify/bound.h"
#include "hw/route.h"

static struct hw_config one_sip(uint32_t cube_w, uint32_t cube_h)
{
    struct hw_config hw = sips_of(&hw_ring_1d, 1, 1);
    hw.cube_w = cube_w;
    hw.cube_h = cube_h;
    return hw;
}

static void one_cube_has_nothing_to_cross(void **state)
{
    (void)state;
    const struct hw_config hw = one_sip(1, 1);
    assert_int_equal(hw_bound_all_reduce_ps(&hw, 1 << 20), 0);
}

static void few_bytes_are_bound_by_the_longest_shortest_path(void **state)
{
    (void)state;
    struct hw_config hw = one_sip(2, 1);
    hw.noc_w = hw.noc_h = 1;
    /* pe_dma 2 x 4 + router 2 x 1 + ucie_port 2 x 4 + pe_noc 2 x .005 + noc_ucie 2 x .005 + .020 */
    assert_int_equal(hw_bound_all_reduce_ps(&hw, 2), 18040);
    hw = one_sip(3, 2); /* three cubes further, each 9.030 */
    hw.noc_w = hw.noc_h = 1;
    assert_int_equal(hw_bound_all_reduce_ps(&hw, 2), 18040 + 2 * 9030);
}

static void many_bytes_are_bound_by_the_narrowest_cut(void **state)
{
    (void)state;
    const uint64_t bytes = 12800000;
    struct hw_config hw = one_sip(2, 1); /* one UCIe link joins the cubes: 128 GB/s */
    assert_int_equal(hw_bound_all_reduce_ps(&hw, bytes), 100000000);
    hw = one_sip(2, 2); /* each cube has two */
    assert_int_equal(hw_bound_all_reduce_ps(&hw, bytes), 50000000);
    hw = sips_of(&hw_torus_2d, 2, 2); /* a SIP has four ports, a cube too: 400 and 512 GB/s */
    assert_int_equal(hw_bound_all_reduce_ps(&hw, bytes), 32000000);
    hw = sips_of(&hw_ring_1d, 8, 1); /* two ports, 200 GB/s */
    assert_int_equal(hw_bound_all_reduce_ps(&hw, bytes), 64000000);
    hw = sips_of(&hw_ring_1d, 2, 1); /* two distinct links */
    assert_int_equal(hw_bound_all_reduce_ps(&hw, bytes), 64000000);
    hw = sips_of(&hw_mesh_2d_no_wrap, 4, 1); /* the end of a chain has one */
    assert_int_equal(hw_bound_all_reduce_ps(&hw, bytes), 128000000);
    hw = sips_of(&hw_mesh_2d_no_wrap, 3, 3); /* a corner has two, the middle is cut by three */
    assert_int_equal(hw_bound_all_reduce_ps(&hw, bytes), 64000000);
    hw = sips_of(&hw_switch, 6, 1); /* one link up, one down */
    assert_int_equal(hw_bound_all_reduce_ps(&hw, bytes), 128000000);
    hw = sips_of(&hw_torus_2d, 4, 4); /* bisections of 8 links: the ports are narrower */
    assert_int_equal(hw_bound_all_reduce_ps(&hw, bytes), 32000000);
    hw.link[HW_LINK_UCIE] = link_class(20, 64); /* now a cube's four ports are: 256 GB/s */
    assert_int_equal(hw_bound_all_reduce_ps(&hw, bytes), 50000000);
}

static void a_reduce_scatter_sends_every_other_rank_a_slice(void **state)
{
    (void)state;
    const uint64_t slice = 12800000;
    struct hw_config hw = sips_of(&hw_pair_switch, 8, 1);
    hw.link[HW_LINK_UCIE] = link_class(20, 1600);
    hw.link[HW_LINK_SIO] = link_class(100, 256);
    hw.link[HW_LINK_HCCS] = link_class(3500, 64);
    /* a package's dies send three slices each to other packages: 38.4 MB at 64 GB/s */
    assert_int_equal(hw_bound_reduce_scatter_ps(&hw, 8, 8 * slice), 600000000);
    hw.link[HW_LINK_HCCS] = link_class(3500, 1024);
    hw.link[HW_LINK_SIO] = link_class(100, 8); /* each die sends its mate a slice at least */
    assert_int_equal(hw_bound_reduce_scatter_ps(&hw, 8, 8 * slice), 1600000000);
    hw.link[HW_LINK_SIO] = link_class(100, 64);
    hw.link[HW_LINK_HCCS] = link_class(3500, 192); /* a die sends seven slices at 256 GB/s */
    assert_int_equal(hw_bound_reduce_scatter_ps(&hw, 8, 8 * slice), 350000000);
    assert_int_equal(hw_bound_reduce_scatter_ps(&hw, 2, 2 * slice), 200000000);
    assert_int_equal(hw_bound_reduce_scatter_ps(&hw, 1, slice), 0);
    hw = sips_of(&hw_ring_1d, 8, 1); /* four slices must cross the two links in the middle */
    assert_int_equal(hw_bound_reduce_scatter_ps(&hw, 8, 8 * slice), 448000000);
    hw = sips_of(&hw_switch, 8, 1); /* seven leave by one link */
    assert_int_equal(hw_bound_reduce_scatter_ps(&hw, 8, 8 * slice), 896000000);
}

static void an_empty_reduce_scatter_is_bound_by_the_way_to_another_packages_other_die(void **state)
{
    (void)state;
    struct hw_config hw = sips_of(&hw_pair_switch, 4, 1);
    hw.cube_w = hw.cube_h = 1;
    const struct hw_place from = {0, 0, 0}, to = {3, 0, 0};
    const int64_t path_ps = hw_path_ps(&hw, from, to, HW_MEMORY_NONE, HW_PORT_NONE, 0);
    const int64_t bound_ps = hw_bound_reduce_scatter_ps(&hw, 4, 0);
    assert_true(bound_ps <= path_ps);
    assert_true(bound_ps > path_ps * 9 / 10);
}

static struct hw_config random_machine(struct cw_rng *rng)
{
    static const struct hw_topology_ops *const any[] = {&hw_ring_1d, &hw_torus_2d,
                                                        &hw_mesh_2d_no_wrap, &hw_switch};
    struct hw_config hw = sips_of(any[cw_rng_below(rng, COUNT_OF(any))], 1 + cw_rng_below(rng, 5),
                                  1 + cw_rng_below(rng, 3));
    hw.cube_w = 1 + cw_rng_below(rng, 5);
    hw.cube_h = 1 + cw_rng_below(rng, 5);
    hw.noc_w = 1 + cw_rng_below(rng, 4);
    hw.noc_h = 1 + cw_rng_below(rng, 4);
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        hw.link[kind] = link_class(cw_rng_below(rng, 3000), 1 + cw_rng_below(rng, 500));
    for (enum hw_node_kind kind = 0; kind < HW_NODE_KINDS; kind++)
        hw.overhead_ps[kind] = cw_rng_below(rng, 20000);
    return hw;
}

/* Empty messages, PE 0 of every cube to PE 0 of every other. */
static int64_t longest_path_ps(const struct hw_config *hw)
{
    int64_t longest_ps = 0;
    for (uint32_t a = 0; a < hw_pe_count(hw); a += hw_pes(hw))
        for (uint32_t b = 0; b < hw_pe_count(hw); b += hw_pes(hw)) {
            const int64_t ps = a == b ? 0
                                      : hw_path_ps(hw, hw_place_of(hw, a), hw_place_of(hw, b),
                                                   HW_MEMORY_NONE, HW_PORT_NONE, 0);
            longest_ps = ps > longest_ps ? ps : longest_ps;
        }
    return longest_ps;
}

static void the_bound_of_empty_tensors_is_at_most_the_longest_path(void **state)
{
    (void)state;
    struct cw_rng rng = cw_rng_seeded(3, 0);
    for (int i = 0; i < 100; i++) {
        const struct hw_config hw = random_machine(&rng);
        const int64_t bound_ps = hw_bound_all_reduce_ps(&hw, 0);
        if (bound_ps > longest_path_ps(&hw))
            fail_msg("machine %d: bound %lld ps, longest path %lld", i, (long long)bound_ps,
                     (long long)longest_path_ps(&hw));
        assert_true(bound_ps > 0 || hw.sip_count * hw_cubes(&hw) == 1);
    }
}

static void more_bytes_never_lower_the_bound(void **state)
{
    (void)state;
    struct cw_rng rng = cw_rng_seeded(4, 0);
    for (int i = 0; i < 100; i++) {
        const struct hw_config hw = random_machine(&rng);
        int64_t last_ps = 0;
        for (uint64_t bytes = 2; bytes < 1ull << 32; bytes *= 4) {
            const int64_t ps = hw_bound_all_reduce_ps(&hw, bytes);
            assert_true(ps >= last_ps);
            last_ps = ps;
        }
    }
}

/* Between SIPs that are not next to each other data may also pass through a cube: a slow hub is no
 * reason for a higher bound. */
static void a_slow_hub_can_be_gone_round(void **state)
{
    (void)state;
    struct hw_config hw = default_machine();
    const int64_t before_ps = hw_bound_all_reduce_ps(&hw, 16);
    hw.overhead_ps[HW_NODE_IO_HUB] = 1000000;
    assert_int_equal(hw_bound_all_reduce_ps(&hw, 16), before_ps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reduce_scatter_sends_every_other_rank_a_slice),
        cmocka_unit_test(an_empty_reduce_scatter_is_bound_by_the_way_to_another_packages_other_die),
        cmocka_unit_test(a_slow_hub_can_be_gone_round),
        cmocka_unit_test(one_cube_has_nothing_to_cross),
        cmocka_unit_test(few_bytes_are_bound_by_the_longest_shortest_path),
        cmocka_unit_test(many_bytes_are_bound_by_the_narrowest_cut),
        cmocka_unit_test(the_bound_of_empty_tensors_is_at_most_the_longest_path),
        cmocka_unit_test(more_bytes_never_lower_the_bound),
    };
    return cmocka_run_group_tests_name("hw_bound", tests, NULL, NULL);
}
