/*
 * test_topo.c: the figures that `topo` counts without building the machine are the machine's.
 */
#include "test/support/test_config_support.h"

#include "collectives/config/config_load.h"
#include "collectives/runtime/distributed.h"
#include "lp/queues/queue_ends.h"

/* Asks every PE. */
static uint64_t counted_one_by_one(const struct config *config)
{
    struct lp_plan *const plan = dist_queue_plan(&config->ccl, &config->hw, NULL, NULL, NULL);
    assert_non_null(plan);
    uint64_t pairs = 0;
    for (uint32_t pe = 0; pe < hw_pe_count(&config->hw); pe++)
        if (lp_is_wired(plan, pe))
            pairs += (uint64_t)__builtin_popcount(lp_directions(plan, pe));
    lp_plan_free(plan);
    return pairs;
}

static void queue_pairs_are_those_of_all_pes(void **state)
{
    (void)state;
    static const char *const presets[] = {NULL, "tiny", "six_3x2", "pod64"};
    static const char *const sets[][3] = {
        {"defaults.wiring=all_pes", "system.sips.topology=torus_2d", "cube.pe_layout.corners=[SE]"},
        {"defaults.wiring=pe0", "system.sips.topology=mesh_2d_no_wrap", "sip.cube_mesh.w=1"},
        {"defaults.wiring=all_pes", "system.sips.topology=ring_1d",
         "cube.pe_layout.corners=[NW,SE]"},
        {"defaults.wiring=pe0", "system.sips.topology=switch", "sip.cube_mesh.h=3"},
        {"defaults.wiring=all_pes", "defaults.slot_size=512", "cube.pe_layout.pe_per_corner=3"},
    };
    for (size_t i = 0; i < COUNT_OF(presets); i++)
        for (size_t k = 0; k < COUNT_OF(sets); k++) {
            struct config *const config = load_with(presets[i], sets[k], 3);
            assert_int_equal(hw_queue_pairs(&config->hw, config->ccl.wiring == CCL_WIRING_ALL_PES),
                             counted_one_by_one(config));
            config_free(config);
        }
}

/* 2^30 PEs: worked out by hand. A SIP has 2 x 2 x 31 x 32 ends between cubes, the torus 4 per SIP,
 * a cube's 32 x 2 PEs 2 x (2 x 31 + 32). */
static void the_largest_machine_is_counted_at_once(void **state)
{
    (void)state;
    static const char *const sets[] = {"system.sips.count=16384", "sip.cube_mesh.w=32",
                                       "sip.cube_mesh.h=32", "cube.pe_layout.pe_per_corner=16",
                                       "defaults.slot_size=256"};
    struct config *const config = load_with(NULL, sets, COUNT_OF(sets));
    const uint64_t sips = 16384, cubes = 1024, pes = 64;
    assert_int_equal(hw_queue_pairs(&config->hw, true),
                     sips * 3968 * pes + sips * 4 * cubes * pes + sips * cubes * 188);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_pairs_are_those_of_all_pes),
        cmocka_unit_test(the_largest_machine_is_counted_at_once),
    };
    return cmocka_run_group_tests_name("topo", tests, scratch_enter, scratch_leave);
}
