/*
 * test_machines.h: machines of every topology in the registry on every number of SIPs that it
 * joins, and of lists of levels.
 */
#ifndef TEST_MACHINES_H
#define TEST_MACHINES_H

#include "test/support/test_hw_support.h"

enum { SIPS_MAX = 24, LEVELED = 60 };

/* The machine with so many SIPs; false: the topology does not join so many. */
static inline bool machine_of(const struct hw_topology_ops *topology, uint32_t sips,
                              struct hw_config *hw)
{
    struct hw_sip_size size;
    struct hw_misfit misfit;
    *hw = default_machine();
    hw->sip_count = sips;
    if (!topology->fit(sips, (struct hw_sip_size){0}, &size, &misfit)) {
        assert_true(strlen(misfit.text) > 0);
        return false;
    }
    hw_join_sips(hw, topology, &size);
    return true;
}

static inline uint32_t below(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*state >> 33) % n;
}

/* A product of one to four dimensions with at most SIPS_MAX SIPs, of any joints. */
static inline struct hw_config leveled_machine(uint32_t seed)
{
    uint64_t rng = seed;
    struct hw_config hw = default_machine();
    struct hw_sip_size size, given = {0};
    struct hw_misfit misfit;
    hw.sip_count = 1;
    for (uint32_t k = 1 + below(&rng, 4); k > 0; k--) {
        const uint32_t most = SIPS_MAX / hw.sip_count < 9 ? SIPS_MAX / hw.sip_count : 9;
        const uint32_t n = 1 + below(&rng, most);
        hw_sip_dims_add(&given.dims, (enum hw_sip_joint)below(&rng, HW_SIP_SWITCH + 1), n,
                        (enum hw_link_kind)(HW_LINK_CLASS_1 + given.dims.count));
        hw.sip_count *= n;
    }
    assert_true(hw_levels.fit(hw.sip_count, given, &size, &misfit));
    hw_join_sips(&hw, &hw_levels, &size);
    return hw;
}

static inline void on_each_machine(void (*check)(const struct hw_config *hw))
{
    struct hw_config hw;
    for (uint32_t i = 0; hw_topology_at(i) != NULL; i++)
        for (uint32_t sips = 1; sips <= SIPS_MAX; sips++)
            if (machine_of(hw_topology_at(i), sips, &hw))
                check(&hw);
    for (uint32_t seed = 0; seed < LEVELED; seed++) {
        hw = leveled_machine(seed);
        check(&hw);
    }
}

#endif
