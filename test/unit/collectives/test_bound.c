/*
 * test_bound.c: lower bounds (COMMANDS.md, "Bound"): latency of the longest
 * shortest path, bytes over the bandwidth of each cut, HBM, and the bytes that every all-reduce
 * sends; and the term that decides.
 */
#include "test/support/test_hw_support.h"

#include "core/cw.h"
#include "collectives/verify/bound.h"
#include "hw/route.h"

/* Of all shards of all cubes together. */
static struct hw_bound all_reduce_of(const struct hw_config *hw, uint64_t bytes)
{
    const struct hw_work work = {.collective = CCL_ALL_REDUCE,
                                 .ranks = hw->sip_count,
                                 .cubes = hw_cubes(hw),
                                 .pes = 1,
                                 .together = true,
                                 .bytes = bytes};
    return hw_bound_of(hw, &work);
}

/* Of ranks with a shard on PE (0, 0). */
static struct hw_bound leaders_of(const struct hw_config *hw, enum ccl_collective collective,
                                  uint32_t ranks, uint64_t bytes)
{
    const struct hw_work work = {
        .collective = collective, .ranks = ranks, .cubes = 1, .pes = 1, .bytes = bytes};
    return hw_bound_of(hw, &work);
}

/* Of ranks with a shard on every PE. */
static struct hw_bound all_pes_of(const struct hw_config *hw, enum ccl_collective collective,
                                  uint32_t ranks, uint64_t bytes)
{
    const struct hw_work work = {.collective = collective,
                                 .ranks = ranks,
                                 .cubes = hw_cubes(hw),
                                 .pes = hw_pes(hw),
                                 .bytes = bytes};
    return hw_bound_of(hw, &work);
}

/* Of a group on these SIPs, with a shard on the PE of that number. */
static struct hw_bound listed_of(const struct hw_config *hw, enum ccl_collective collective,
                                 uint32_t ranks, const uint32_t *sips, uint32_t pe, uint64_t bytes)
{
    const struct hw_work work = {.collective = collective,
                                 .ranks = ranks,
                                 .sips = sips,
                                 .engines = hw_cubes(hw) * hw_pes(hw),
                                 .first_pe = pe,
                                 .root_sip = sips[0],
                                 .cubes = 1,
                                 .pes = 1,
                                 .bytes = bytes};
    return hw_bound_of(hw, &work);
}

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
    assert_int_equal(all_reduce_of(&hw, 1 << 20).ps, 0);
}

static void few_bytes_are_bound_by_the_longest_shortest_path(void **state)
{
    (void)state;
    struct hw_config hw = one_sip(2, 1);
    hw.noc_w = hw.noc_h = 1;
    /* pe_dma 2 x 4 + router 2 x 1 + ucie_port 2 x 4 + pe_noc 2 x .005 + noc_ucie 2 x .005 + .020 */
    assert_int_equal(all_reduce_of(&hw, 2).ps, 18040);
    hw = one_sip(3, 2); /* three cubes further, each 9.030 */
    hw.noc_w = hw.noc_h = 1;
    assert_int_equal(all_reduce_of(&hw, 2).ps, 18040 + 2 * 9030);
}

/* Between SIPs the way begins and ends at the cube farthest from any edge of its SIP: of 3 x 3
 * and 4 x 4 cubes one further cube at each end, of 5 x 5 two, each 9.030. */
static void the_way_between_sips_crosses_cubes_at_both_ends(void **state)
{
    (void)state;
    static const uint32_t further[] = {0, 0, 1, 1, 2, 2, 3};
    int64_t at_the_edge = 0;
    for (uint32_t side = 1; side <= 7; side++) {
        struct hw_config hw = sips_of(&hw_ring_1d, 2, 1);
        hw.cube_w = hw.cube_h = side;
        hw.noc_w = hw.noc_h = 1;
        const struct hw_bound bound = all_reduce_of(&hw, 2);
        assert_string_equal(bound.by, "latency");
        if (side == 2)
            at_the_edge = bound.ps;
        if (side > 2)
            assert_int_equal(bound.ps - at_the_edge, 2 * further[side - 1] * 9030);
    }
}

/* HBM is no limit. */
static struct hw_config with_fast_hbm(struct hw_config hw)
{
    hw.link[HW_LINK_HBM] = link_class(10, 1000000);
    return hw;
}

static void check_all_reduce(struct hw_config hw, int64_t ps, const char *by)
{
    const struct hw_bound bound = all_reduce_of(&hw, 12800000);
    assert_int_equal(bound.ps, ps);
    assert_string_equal(bound.by, by);
}

static void many_bytes_are_bound_by_the_narrowest_cut(void **state)
{
    (void)state;
    /* one UCIe link joins the cubes: 128 GB/s */
    check_all_reduce(with_fast_hbm(one_sip(2, 1)), 100000000, "ucie");
    /* two distinct links */
    check_all_reduce(with_fast_hbm(sips_of(&hw_ring_1d, 2, 1)), 64000000, "sip_link");
    /* the end of a chain has one */
    check_all_reduce(with_fast_hbm(sips_of(&hw_mesh_2d_no_wrap, 4, 1)), 128000000, "sip_link");
    struct hw_config hw = with_fast_hbm(sips_of(&hw_torus_2d, 2, 2));
    hw.cube_w = hw.cube_h = 1;
    hw.link[HW_LINK_UCIE] = link_class(20, 16); /* six tensors over 16 links of 16 GB/s */
    check_all_reduce(hw, 300000000, "ucie");
}

/* Each of n parts sends 2 (n - 1) / n tensors, on average. */
static void an_all_reduce_sends_nearly_two_tensors_from_each_rank(void **state)
{
    (void)state;
    /* four cubes, six tensors over eight links */
    check_all_reduce(with_fast_hbm(one_sip(2, 2)), 75000000, "ucie");
    /* 64 cubes, 126 tensors over 256 links */
    struct hw_config hw = with_fast_hbm(sips_of(&hw_torus_2d, 2, 2));
    check_all_reduce(hw, 49218750, "ucie");
    hw.cube_w = hw.cube_h = 1; /* four SIPs, six tensors over 16 links of 100 GB/s */
    check_all_reduce(hw, 48000000, "sip_link");
    /* eight SIPs, 14 tensors, 16 links */
    check_all_reduce(with_fast_hbm(sips_of(&hw_ring_1d, 8, 1)), 112000000, "sip_link");
    /* nine SIPs, 16 tensors, 24 links */
    check_all_reduce(with_fast_hbm(sips_of(&hw_mesh_2d_no_wrap, 3, 3)), 85333334, "sip_link");
    /* six SIPs, ten tensors, six links up */
    check_all_reduce(with_fast_hbm(sips_of(&hw_switch, 6, 1)), 213333334, "sip_link");
    /* 16 SIPs, 30 tensors, 64 links */
    check_all_reduce(with_fast_hbm(sips_of(&hw_torus_2d, 4, 4)), 60000000, "sip_link");
}

/* Cubes without ranks may add values: all that is sure is that each leader's tensor leaves its
 * cube, by four links. */
static void cubes_without_ranks_may_help_an_all_reduce(void **state)
{
    (void)state;
    struct hw_config hw = with_fast_hbm(sips_of(&hw_torus_2d, 2, 2));
    hw.cube_w = hw.cube_h = 2;
    hw.link[HW_LINK_UCIE] = link_class(20, 1);
    const struct hw_bound bound = leaders_of(&hw, CCL_ALL_REDUCE, 4, 12800000);
    assert_int_equal(bound.ps, 3200000000);
    assert_string_equal(bound.by, "ucie");
}

static struct hw_config paired(uint32_t sips, uint64_t sio_gbs, uint64_t hccs_gbs)
{
    struct hw_config hw = with_fast_hbm(sips_of(&hw_pair_switch, sips, 1));
    hw.cube_w = hw.cube_h = 1;
    hw.link[HW_LINK_UCIE] = hw.link[HW_LINK_NOC_UCIE] = link_class(20, 100000);
    hw.link[HW_LINK_PE_NOC] = hw.link[HW_LINK_NOC] = link_class(20, 100000);
    hw.link[HW_LINK_SIO] = link_class(100, sio_gbs);
    hw.link[HW_LINK_HCCS] = link_class(3500, hccs_gbs);
    return hw;
}

/* Out of eight dies go 14 tensors, by sio and hccs; out of four packages go six, by hccs alone. */
static void on_paired_dies_sio_and_hccs_bound_an_all_reduce(void **state)
{
    (void)state;
    check_all_reduce(paired(8, 100, 300), 56000000, "sio and hccs");
    check_all_reduce(paired(8, 1000, 64), 150000000, "hccs");
    check_all_reduce(paired(2, 64, 64), 200000000, "sio"); /* no other die to reach by hccs */
    const struct hw_config hw = paired(8, 100, 300);
    assert_int_equal(leaders_of(&hw, CCL_ALL_REDUCE, 8, 12800000).ps, 56000000);
    assert_string_equal(leaders_of(&hw, CCL_ALL_REDUCE, 8, 12800000).by, "sio and hccs");
    assert_true(leaders_of(&hw, CCL_BROADCAST, 8, 12800000).ps < 56000000);
    /* of six ranks only: ten tensors, the links of six dies */
    assert_int_equal(leaders_of(&hw, CCL_ALL_REDUCE, 6, 12800000).ps, 53333333);
}

static void each_bound_counts_hbm(void **state)
{
    (void)state;
    struct hw_config hw = paired(8, 10000, 10000);
    hw.link[HW_LINK_HBM] = link_class(10, 64);
    check_all_reduce(hw, 200000000, "hbm");
    assert_string_equal(leaders_of(&hw, CCL_BROADCAST, 8, 12800000).by, "hbm");
    const struct hw_bound scatter = leaders_of(&hw, CCL_REDUCE_SCATTER, 8, 8 * 12800000);
    assert_int_equal(scatter.ps, 7 * 200000000ll); /* slices for seven others */
    assert_string_equal(scatter.by, "hbm");
}

static void a_reduce_scatter_sends_every_other_rank_a_slice(void **state)
{
    (void)state;
    const uint64_t slice = 12800000;
    struct hw_config hw = with_fast_hbm(sips_of(&hw_pair_switch, 8, 1));
    hw.link[HW_LINK_UCIE] = link_class(20, 1600);
    hw.link[HW_LINK_SIO] = link_class(100, 256);
    hw.link[HW_LINK_HCCS] = link_class(3500, 64);
    /* a package's dies send three slices each to other packages: 38.4 MB at 64 GB/s */
    assert_int_equal(leaders_of(&hw, CCL_REDUCE_SCATTER, 8, 8 * slice).ps, 600000000);
    hw.link[HW_LINK_HCCS] = link_class(3500, 1024);
    hw.link[HW_LINK_SIO] = link_class(100, 8); /* each die sends its mate a slice at least */
    assert_int_equal(leaders_of(&hw, CCL_REDUCE_SCATTER, 8, 8 * slice).ps, 1600000000);
    hw.link[HW_LINK_SIO] = link_class(100, 64);
    hw.link[HW_LINK_HCCS] = link_class(3500, 192); /* a die sends seven slices at 256 GB/s */
    assert_int_equal(leaders_of(&hw, CCL_REDUCE_SCATTER, 8, 8 * slice).ps, 350000000);
    assert_int_equal(leaders_of(&hw, CCL_REDUCE_SCATTER, 2, 2 * slice).ps, 200000000);
    assert_int_equal(leaders_of(&hw, CCL_REDUCE_SCATTER, 1, slice).ps, 0);
    hw = with_fast_hbm(
        sips_of(&hw_ring_1d, 8, 1)); /* four slices must cross the two links in the middle */
    assert_int_equal(leaders_of(&hw, CCL_REDUCE_SCATTER, 8, 8 * slice).ps, 448000000);
    hw = with_fast_hbm(sips_of(&hw_switch, 8, 1)); /* seven leave by one link */
    assert_int_equal(leaders_of(&hw, CCL_REDUCE_SCATTER, 8, 8 * slice).ps, 896000000);
}

static void an_empty_reduce_scatter_is_bound_by_the_way_to_another_packages_other_die(void **state)
{
    (void)state;
    struct hw_config hw = sips_of(&hw_pair_switch, 4, 1);
    hw.cube_w = hw.cube_h = 1;
    const struct hw_place from = {0, 0, 0}, to = {3, 0, 0};
    const int64_t path_ps = hw_path_ps(&hw, from, to, HW_MEMORY_NONE, HW_PORT_NONE, HW_DIRS_MAX, 0);
    const int64_t bound_ps = leaders_of(&hw, CCL_REDUCE_SCATTER, 4, 0).ps;
    assert_true(bound_ps <= path_ps);
    assert_true(bound_ps > path_ps * 9 / 10);
}

static struct hw_config random_machine(struct cw_rng *rng)
{
    static const struct hw_topology_ops *const any[] = {
        &hw_ring_1d,  &hw_torus_2d,        &hw_mesh_2d_no_wrap, &hw_switch,
        &hw_torus_3d, &hw_fully_connected, &hw_levels};
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
                                                   HW_MEMORY_NONE, HW_PORT_NONE, HW_DIRS_MAX, 0);
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
        const int64_t bound_ps = all_reduce_of(&hw, 0).ps;
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
            const int64_t ps = all_reduce_of(&hw, bytes).ps;
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
    const int64_t before_ps = all_reduce_of(&hw, 16).ps;
    hw.overhead_ps[HW_NODE_IO_HUB] = 1000000;
    assert_int_equal(all_reduce_of(&hw, 16).ps, before_ps);
}

static void check_pes(struct hw_config hw, uint32_t ranks, uint64_t bytes, bool all_reduce,
                      int64_t ps, const char *by)
{
    const struct hw_work work = {.collective = all_reduce ? CCL_ALL_REDUCE : CCL_BROADCAST,
                                 .ranks = ranks,
                                 .per_sip = hw_cubes(&hw) * hw_pes(&hw),
                                 .cubes = 1,
                                 .pes = 1,
                                 .bytes = bytes};
    const struct hw_bound bound = hw_bound_of(&hw, &work);
    assert_int_equal(bound.ps, ps);
    assert_string_equal(bound.by, by);
}

/* Two SIPs of two cubes of 8 PEs. */
static void ranks_that_are_pes_have_a_bound(void **state)
{
    (void)state;
    struct hw_config hw = one_sip(2, 1);
    hw.noc_w = hw.noc_h = 1;
    check_pes(hw, 1, 12800000, true, 0, "latency");
    /* pe_dma 2 x 4 + pe_noc 2 x .005 + router 1; to the next cube 9.030 more */
    check_pes(hw, 8, 2, true, 9010, "latency");
    check_pes(hw, 9, 2, true, 18040, "latency");
    check_pes(hw, 8, 12800000, true, 200000000, "hbm"); /* 64 GB/s */
    /* the engines of 8 PEs, 128 GB/s each: 7 tensors, or 2 x 7 */
    check_pes(with_fast_hbm(hw), 8, 12800000, false, 87500000, "pe_noc");
    check_pes(with_fast_hbm(hw), 8, 12800000, true, 175000000, "pe_noc");
    /* the 17th is on the second SIP: a tensor leaves each, by two links of 100 GB/s */
    hw = with_fast_hbm(sips_of(&hw_ring_1d, 2, 1));
    hw.cube_w = 2;
    hw.cube_h = 1;
    hw.link[HW_LINK_PE_NOC] = link_class(5, 1000000);
    /* a tensor enters cube 0 from cube 1 by UCIe, and by the link at port W: 128 and 100 GB/s */
    check_pes(hw, 16, 12800000, true, 56140350, "ucie and links between sips");
    check_pes(hw, 17, 12800000, true, 64000000, "sip_link");
}

/* A machine of levels, from the inner one on. */
static struct hw_config levels_of(uint32_t count, const struct hw_sip_dim *dims)
{
    struct hw_sip_size given = {0}, size;
    struct hw_misfit misfit;
    struct hw_config hw = with_fast_hbm(sips_of(&hw_levels, 1, 1));
    hw.sip_count = 1;
    for (uint32_t k = 0; k < count; k++) {
        hw_sip_dims_add(&given.dims, dims[k].joint, dims[k].size, dims[k].link);
        hw.sip_count *= dims[k].size;
    }
    assert_true(hw_levels.fit(hw.sip_count, given, &size, &misfit));
    hw_join_sips(&hw, &hw_levels, &size);
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        hw.link[kind] = link_class(20, 100000);
    return hw;
}

static void check_bound(struct hw_bound bound, int64_t ps, const char *by)
{
    assert_int_equal(bound.ps, ps);
    assert_string_equal(bound.by, by);
}

/* Eight SIPs with links to each other at 100 GB/s, twice, and 1 GB/s between the two groups: 16
 * links one way, of which a SIP has two. */
static void a_group_of_a_level_is_a_cut(void **state)
{
    (void)state;
    static const struct hw_sip_dim dims[] = {
        {HW_SIP_FULL, HW_LINK_CLASS_1, 8, 0},
        {HW_SIP_RING, (enum hw_link_kind)(HW_LINK_CLASS_1 + 2 - 1), 2, 0}};
    struct hw_config hw = levels_of(2, dims);
    hw.link[HW_LINK_CLASS_1] = link_class(20, 100);
    hw.link[(enum hw_link_kind)(HW_LINK_CLASS_1 + 2 - 1)] = link_class(20, 1);
    const uint64_t bytes = 1600000;
    check_bound(leaders_of(&hw, CCL_ALL_REDUCE, 16, bytes), 100000000, "level_2");
    /* 8 of 16 blocks of 100,000 bytes; 8 x 8 blocks */
    check_bound(leaders_of(&hw, CCL_ALL_GATHER, 16, bytes), 50000000, "level_2");
    check_bound(leaders_of(&hw, CCL_REDUCE_SCATTER, 16, bytes), 50000000, "level_2");
    check_bound(leaders_of(&hw, CCL_ALL_TO_ALL, 16, bytes), 400000000, "level_2");
    /* one group alone has no such links to use: 7 of 8 blocks over 7 links of 100 GB/s */
    check_bound(leaders_of(&hw, CCL_ALL_GATHER, 8, 8 * 7000000), 70000000, "level_1");
}

/* Three levels, of which the middle one is the narrowest: 4 groups of 4 x 4 SIPs. Out of the first
 * group of 4 SIPs go 4 links of 2 GB/s up to switches. */
static void a_group_of_the_middle_level_is_a_cut(void **state)
{
    (void)state;
    static const struct hw_sip_dim dims[] = {
        {HW_SIP_FULL, HW_LINK_CLASS_1, 4, 0},
        {HW_SIP_SWITCH, (enum hw_link_kind)(HW_LINK_CLASS_1 + 2 - 1), 4, 0},
        {HW_SIP_FULL, (enum hw_link_kind)(HW_LINK_CLASS_1 + 3 - 1), 4, 0}};
    struct hw_config hw = levels_of(3, dims);
    hw.link[(enum hw_link_kind)(HW_LINK_CLASS_1 + 2 - 1)] = link_class(20, 2);
    /* a SIP's column in the middle level: of all 64 SIPs, those with coordinate 0 there, 16 links
     * of 2 GB/s for S; all parts send 2 (4 - 1) S over 64 links */
    check_bound(leaders_of(&hw, CCL_ALL_REDUCE, 64, 6400000), 300000000, "level_2");
    /* each SIP has 48 blocks of 100,000 bytes for the others' coordinates, and one link up */
    check_bound(leaders_of(&hw, CCL_ALL_TO_ALL, 64, 6400000), 2400000000, "level_2");
}

/* A line of six: two of its six ranks are cut off by one link in each of two rows. */
static void every_part_of_a_line_is_a_cut(void **state)
{
    (void)state;
    struct hw_config hw = with_fast_hbm(sips_of(&hw_mesh_2d_no_wrap, 3, 2));
    hw.link[HW_LINK_UCIE] = hw.link[HW_LINK_NOC_UCIE] = link_class(20, 100000);
    /* the first column: 2 x 4 blocks of 1,200,000 bytes over two links of 100 GB/s, 48 us; the
     * first row: 3 x 3 over three, 36 us; the corner SIP: 1 x 5 over two, 30 us */
    check_bound(leaders_of(&hw, CCL_ALL_TO_ALL, 6, 7200000), 48000000, "sip_link");
}

/* A SIP of 2 x 2 cubes with a shard on each of 8 PEs: what enters comes by port E of the IO die,
 * which the switch is at, over the two UCIe links of the last column. */
static void a_sip_s_ports_are_a_cut(void **state)
{
    (void)state;
    struct hw_config hw = with_fast_hbm(sips_of(&hw_switch, 4, 1));
    hw.cube_w = hw.cube_h = 2;
    hw.link[HW_LINK_SIP_LINK] = link_class(20, 1000);
    hw.link[HW_LINK_NOC_UCIE] = link_class(20, 1000);
    /* 32 shards; 3 of 4 blocks of 800,000 bytes each: 76.8 MB over 256 GB/s */
    check_bound(all_pes_of(&hw, CCL_ALL_GATHER, 4, 3200000), 300000000, "ucie");
    hw.link[HW_LINK_NOC_UCIE] = link_class(20, 64);
    check_bound(all_pes_of(&hw, CCL_ALL_GATHER, 4, 3200000), 600000000, "noc_ucie");
    hw.link[HW_LINK_SIP_LINK] = link_class(20, 64);
    check_bound(all_pes_of(&hw, CCL_ALL_GATHER, 4, 3200000), 1200000000, "sip_link");
    /* each of 32 all-reduces brings 3.2 MB into each SIP, and sends 6 / 4 of that: by the link of
     * 64 GB/s */
    check_bound(all_pes_of(&hw, CCL_ALL_REDUCE, 4, 3200000), 2400000000, "sip_link");
}

/* Two SIPs that a slow link each way joins at ports E and W, of 2 x 2 cubes with a shard on each of
 * 8 PEs. */
static void an_all_reduce_sends_by_the_ports_of_each_sip(void **state)
{
    (void)state;
    struct hw_config hw = with_fast_hbm(sips_of(&hw_ring_1d, 4, 1));
    hw.cube_w = hw.cube_h = 2;
    hw.link[HW_LINK_UCIE] = link_class(20, 10);
    /* each port has two lanes of 10 GB/s; 32 times 6 tensors over the four SIPs' 16 lanes */
    check_bound(all_pes_of(&hw, CCL_ALL_REDUCE, 4, 800000), 960000000, "ucie");
    /* of a line the first and the last SIP have one port: 12 lanes */
    hw.sip_topology = &hw_mesh_2d_no_wrap;
    hw.sip_w = 4;
    hw.sip_h = 1;
    check_bound(all_pes_of(&hw, CCL_ALL_REDUCE, 4, 800000), 1280000000, "ucie");
}

/* A SIP's column of cubes that has no port: of 3 x 1 cubes the middle one, where ports are at N and
 * S alone, has four lanes, the first three. Of 1 x 3 cubes with ports at E and W it has four, too.
 */
static void every_rectangle_of_cubes_is_a_cut(void **state)
{
    (void)state;
    struct hw_config hw = with_fast_hbm(sips_of(&hw_switch, 2, 1));
    hw.cube_w = 3;
    hw.cube_h = 1;
    hw.link[HW_LINK_SIP_LINK] = link_class(20, 100000);
    hw.link[HW_LINK_UCIE] = link_class(20, 10);
    /* by port E: the first two cubes are behind one lane, as all three are: 3 x 8 / 2 tensors */
    check_bound(all_pes_of(&hw, CCL_ALL_GATHER, 2, 800000), 960000000, "ucie");
    hw.sip_topology = &hw_ring_1d;
    /* by E and W: one lane each for 12 tensors; the middle cube has 4 over two lanes */
    check_bound(all_pes_of(&hw, CCL_ALL_GATHER, 2, 800000), 480000000, "ucie");
}

/* Of a cube with 2 x 2 routers and two PEs at each: what leaves the north-west one goes by two
 * links of the NoC or, where the cube is its SIP's first of many, by none of its ports but N and W.
 */
static void a_router_is_a_cut(void **state)
{
    (void)state;
    struct hw_config hw = with_fast_hbm(sips_of(&hw_switch, 2, 1));
    hw.cube_w = hw.cube_h = 1;
    hw.link[HW_LINK_NOC] = link_class(20, 4);
    /* one tensor of 800,000 bytes over two links of 4 GB/s */
    check_bound(leaders_of(&hw, CCL_ALL_REDUCE, 2, 800000), 100000000, "noc");
    /* port E is at the south-east router, and what is not there, 6 tensors, gets there by two */
    check_bound(all_pes_of(&hw, CCL_BROADCAST, 2, 800000), 600000000, "noc");
    hw.sip_topology = &hw_ring_1d; /* port W is at the north-west router, its link has 100 GB/s */
    assert_int_equal(hw_port_router(&hw, HW_PORT_W), 0);
    hw.link[HW_LINK_NOC_UCIE] = link_class(20, 2);
    check_bound(leaders_of(&hw, CCL_ALL_REDUCE, 2, 800000), 200000000, "noc_ucie");
    hw.link[HW_LINK_NOC_UCIE] = link_class(20, 32);
    check_bound(leaders_of(&hw, CCL_ALL_REDUCE, 2, 800000), 20000000, "noc and noc_ucie");
}

/* Seven tensors reach eight SIPs of 8 PEs each: 64 engines. */
static void all_engines_together_are_a_bound(void **state)
{
    (void)state;
    struct hw_config hw = with_fast_hbm(sips_of(&hw_switch, 8, 1));
    hw.cube_w = hw.cube_h = 1;
    hw.link[HW_LINK_PE_NOC] = link_class(20, 1);
    check_bound(leaders_of(&hw, CCL_BROADCAST, 8, 6400000), 700000000, "pe_noc");
    check_bound(leaders_of(&hw, CCL_ALL_REDUCE, 8, 6400000), 1400000000, "pe_noc");
    check_bound(all_pes_of(&hw, CCL_ALL_GATHER, 8, 6400000), 5600000000, "pe_noc");
}

/* In a ring of six, 6 x (1 + 1 + 2 + 2 + 3) steps: each block of 100,000 bytes that takes one goes
 * by a hub link, of which 12 have 1 GB/s each, or into the one cube by two lanes of as much. */
static void hubs_and_cubes_share_what_a_ring_passes_on(void **state)
{
    (void)state;
    struct hw_config hw = with_fast_hbm(sips_of(&hw_ring_1d, 6, 1));
    hw.cube_w = hw.cube_h = 1;
    hw.link[HW_LINK_SIP_LINK] = link_class(20, 100000);
    hw.link[HW_LINK_HUB] = hw.link[HW_LINK_UCIE] = link_class(20, 1);
    check_bound(leaders_of(&hw, CCL_ALL_TO_ALL, 6, 600000), 250000000, "ucie");
    hw.link[HW_LINK_UCIE] = link_class(20, 2);
    hw.link[HW_LINK_HUB] = (struct hw_link_class){.prop_ps = 20, .rate = {100000, 1}}; /* 0.01 */
    /* 54 blocks over 24 + 0.12 GB/s, of which 5 go into each SIP by 4 */
    check_bound(leaders_of(&hw, CCL_ALL_TO_ALL, 6, 600000), 223880597, "hub and ucie");
    assert_int_equal(leaders_of(&hw, CCL_ALL_GATHER, 6, 600000).class_ps[HW_LINK_HUB], 0);
}

/* Of a 4 x 4 torus: a row has the bound of a ring of four, whose links of the other dimension lead
 * to no rank; four SIPs in different rows and columns have those of both dimensions. */
static void a_group_s_links_are_those_of_its_dimensions(void **state)
{
    (void)state;
    static const uint32_t row[] = {6, 4, 7, 5}, diagonal[] = {0, 5, 10, 15}, pair[] = {1, 9};
    struct hw_config hw = with_fast_hbm(sips_of(&hw_torus_2d, 4, 4));
    hw.cube_w = hw.cube_h = 1;
    hw.link[HW_LINK_UCIE] = hw.link[HW_LINK_NOC_UCIE] = link_class(20, 100000);
    hw.link[HW_LINK_PE_NOC] = hw.link[HW_LINK_NOC] = link_class(20, 100000);
    /* six tensors over eight links of 100 GB/s */
    check_bound(listed_of(&hw, CCL_ALL_REDUCE, 4, row, 0, 12800000), 96000000, "sip_link");
    /* six over the sixteen links of four SIPs */
    check_bound(listed_of(&hw, CCL_ALL_REDUCE, 4, diagonal, 0, 12800000), 48000000, "sip_link");
    /* in one column: by two links */
    check_bound(listed_of(&hw, CCL_SEND_RECV, 2, pair, 0, 12800000), 64000000, "sip_link");
    /* three of four blocks of 3,200,000 bytes leave a SIP of a row by two links */
    check_bound(listed_of(&hw, CCL_ALL_GATHER, 4, row, 0, 12800000), 48000000, "sip_link");
}

/* A group's shard is on the first PE of its lanes: one at the router of port E may leave by the
 * port, too, and then all lanes of the SIP decide. Its engines are those of its lanes. */
static void a_group_s_shard_and_engines_are_those_of_its_lanes(void **state)
{
    (void)state;
    static const uint32_t sips[] = {3, 1};
    struct hw_config hw = with_fast_hbm(sips_of(&hw_switch, 4, 1));
    hw.cube_w = hw.cube_h = 1;
    hw.link[HW_LINK_NOC] = link_class(20, 4);
    hw.link[HW_LINK_NOC_UCIE] = link_class(20, 32);
    assert_int_not_equal(hw_port_router(&hw, HW_PORT_E), hw_pe_router(&hw, 0));
    assert_int_equal(hw_port_router(&hw, HW_PORT_E), hw_pe_router(&hw, 7));
    check_bound(listed_of(&hw, CCL_BROADCAST, 2, sips, 0, 800000), 100000000, "noc");
    check_bound(listed_of(&hw, CCL_BROADCAST, 2, sips, 7, 800000), 25000000, "noc_ucie");
    hw.link[HW_LINK_PE_NOC] = link_class(20, 1);
    struct hw_work work = {.collective = CCL_ALL_REDUCE,
                           .ranks = 2,
                           .sips = sips,
                           .engines = 4,
                           .root_sip = 3,
                           .cubes = 1,
                           .pes = 1,
                           .bytes = 800000};
    /* two tensors by the engines of 2 x 4 PEs of 1 GB/s each */
    check_bound(hw_bound_of(&hw, &work), 200000000, "pe_noc");
    work.engines = 1;
    check_bound(hw_bound_of(&hw, &work), 800000000, "pe_noc");
}

/* GB/s of the links one way, from the SIPs in `set` to the others, as the topology says: of a
 * switch, those of the fewer. */
static double rate_out(const struct hw_config *hw, uint32_t set)
{
    double gbs = 0;
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++) {
        double in = 0, out = 0;
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            if (hop.link == HW_LINK_KINDS || hw_is_switch(hw, hop.to))
                continue;
            const struct hw_rate rate = hw->link[hop.link].rate;
            *((set >> hop.to & 1) != 0 ? &in : &out) +=
                1000.0 * (double)rate.den / (double)rate.num;
        }
        if (hw_is_switch(hw, stop))
            gbs += in < out ? in : out;
        else
            gbs += (set >> stop & 1) != 0 ? out : 0;
    }
    return gbs;
}

/* On random machines: no bound is above what the best of all cuts between SIPs proves, and of
 * rings, lines, full meshes and switches, which are symmetric, it is just that. */
static void boxes_are_among_all_cuts_and_mostly_the_best(void **state)
{
    (void)state;
    struct cw_rng rng = cw_rng_seeded(5, 0);
    uint32_t best = 0, machines = 0;
    for (int i = 0; i < 200; i++) {
        struct hw_config hw = random_machine(&rng);
        if (hw.sip_count < 2 || hw.sip_count > 12)
            continue;
        const uint64_t n = hw.sip_count, block = 1000000000;
        double most_ns = 0;
        for (uint32_t set = 1; set + 1 < 1u << n; set++) {
            const uint64_t a = (uint64_t)__builtin_popcount(set);
            const double ns = (double)(a * (n - a) * block) / rate_out(&hw, set);
            most_ns = ns > most_ns ? ns : most_ns;
        }
        for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
            if (!hw_link_is_outer(kind))
                hw.link[kind] = link_class(0, 100000000);
        const struct hw_bound bound = leaders_of(&hw, CCL_ALL_TO_ALL, (uint32_t)n, n * block);
        const double ns = (double)bound.ps / 1000;
        if (ns > most_ns * 1.0001 + 10000)
            fail_msg("machine %d: bound %.0f ns by %s, the best cut %.0f", i, ns, bound.by,
                     most_ns);
        machines++;
        best += ns > most_ns * 0.999;
    }
    assert_in_range(machines, 60, 200);
    assert_true(best * 10 >= machines * 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_all_reduce_sends_nearly_two_tensors_from_each_rank),
        cmocka_unit_test(cubes_without_ranks_may_help_an_all_reduce),
        cmocka_unit_test(on_paired_dies_sio_and_hccs_bound_an_all_reduce),
        cmocka_unit_test(each_bound_counts_hbm),
        cmocka_unit_test(a_reduce_scatter_sends_every_other_rank_a_slice),
        cmocka_unit_test(an_empty_reduce_scatter_is_bound_by_the_way_to_another_packages_other_die),
        cmocka_unit_test(a_slow_hub_can_be_gone_round),
        cmocka_unit_test(one_cube_has_nothing_to_cross),
        cmocka_unit_test(few_bytes_are_bound_by_the_longest_shortest_path),
        cmocka_unit_test(the_way_between_sips_crosses_cubes_at_both_ends),
        cmocka_unit_test(many_bytes_are_bound_by_the_narrowest_cut),
        cmocka_unit_test(the_bound_of_empty_tensors_is_at_most_the_longest_path),
        cmocka_unit_test(ranks_that_are_pes_have_a_bound),
        cmocka_unit_test(more_bytes_never_lower_the_bound),
        cmocka_unit_test(a_group_of_a_level_is_a_cut),
        cmocka_unit_test(a_group_of_the_middle_level_is_a_cut),
        cmocka_unit_test(every_part_of_a_line_is_a_cut),
        cmocka_unit_test(a_sip_s_ports_are_a_cut),
        cmocka_unit_test(an_all_reduce_sends_by_the_ports_of_each_sip),
        cmocka_unit_test(every_rectangle_of_cubes_is_a_cut),
        cmocka_unit_test(a_router_is_a_cut),
        cmocka_unit_test(all_engines_together_are_a_bound),
        cmocka_unit_test(hubs_and_cubes_share_what_a_ring_passes_on),
        cmocka_unit_test(boxes_are_among_all_cuts_and_mostly_the_best),
        cmocka_unit_test(a_group_s_links_are_those_of_its_dimensions),
        cmocka_unit_test(a_group_s_shard_and_engines_are_those_of_its_lanes),
    };
    return cmocka_run_group_tests_name("hw_bound", tests, NULL, NULL);
}
