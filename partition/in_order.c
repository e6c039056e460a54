/*
 * in_order.c: the partitioners `sip` and `block` (in_order.h). They only count.
 */
#include "partition/in_order.h"

#include "hw/structure.h"

static uint32_t lesser(uint32_t a, uint32_t b) { return a < b ? a : b; }

int partition_sips(const struct hw_config *hw, uint32_t workers, uint32_t *cube_worker,
                   struct cw_error *error)
{
    const uint32_t cubes = hw_cubes(hw), busy = lesser(workers, hw->sip_count);
    (void)error;
    for (uint32_t sip = 0; sip < hw->sip_count; sip++) {
        const uint32_t worker = (uint32_t)((uint64_t)sip * busy / hw->sip_count);
        for (uint32_t cube = 0; cube < cubes; cube++)
            cube_worker[sip * cubes + cube] = worker;
    }
    return CW_OK;
}

int partition_blocks(const struct hw_config *hw, uint32_t workers, uint32_t *cube_worker,
                     struct cw_error *error)
{
    const uint32_t count = hw->sip_count * hw_cubes(hw), busy = lesser(workers, count);
    (void)error;
    for (uint32_t i = 0; i < count; i++)
        cube_worker[i] = (uint32_t)((uint64_t)i * busy / count);
    return CW_OK;
}
