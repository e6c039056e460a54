/*
 * in_order.c: the partitioners `sip` and `block` (in_order.h). They only count.
 */
#include "partition/in_order.h"

#include "hw/structure.h"

static uint32_t lesser(uint32_t a, uint32_t b) { return a < b ? a : b; }

/*
 * SIPs whose work is that of the host's LP, which is on worker 0 (lp/host/placement.h). Each PE
 * answers each control message by an event of that LP, and its worker looks at all others, since
 * any of them may send it an answer.
 */
static uint32_t host_weight(const struct hw_config *hw)
{
    enum { SIPS_PER_WEIGHT = 128 };
    return hw->sip_count / SIPS_PER_WEIGHT;
}

/* With few SIPs for each worker, one more is too much for another worker. */
static bool weighs_host(const struct hw_config *hw, uint32_t busy)
{
    enum { SIPS_PER_WORKER_MIN = 8 };
    return busy > 1 && host_weight(hw) > 0 && hw->sip_count / busy >= SIPS_PER_WORKER_MIN;
}

/* The SIPs of worker 0, if the most loaded worker is to have least to do. Of several numbers the
 * least: then the host's worker keeps no other one waiting. */
static uint32_t sips_beside_host(const struct hw_config *hw, uint32_t busy)
{
    const uint32_t weight = host_weight(hw), others = busy - 1;
    uint32_t best = 0, best_load = UINT32_MAX;
    for (uint32_t own = 0; own <= hw->sip_count / busy; own++) {
        const uint32_t other = (hw->sip_count - own + others - 1) / others;
        const uint32_t load = other > own + weight ? other : own + weight;
        if (load < best_load) {
            best = own;
            best_load = load;
        }
    }
    return best;
}

/* Worker 0 has the first `own` SIPs, the other workers the rest. */
static uint32_t worker_beside_host(const struct hw_config *hw, uint32_t busy, uint32_t own,
                                   uint32_t sip)
{
    if (sip < own)
        return 0;
    return 1 + (uint32_t)((uint64_t)(sip - own) * (busy - 1) / (hw->sip_count - own));
}

int partition_sips(const struct hw_config *hw, uint32_t workers, uint32_t *cube_worker,
                   struct cw_error *error)
{
    const uint32_t cubes = hw_cubes(hw), busy = lesser(workers, hw->sip_count);
    const bool weighs = weighs_host(hw, busy);
    const uint32_t own = weighs ? sips_beside_host(hw, busy) : 0;
    (void)error;
    for (uint32_t sip = 0; sip < hw->sip_count; sip++) {
        const uint32_t worker = weighs ? worker_beside_host(hw, busy, own, sip)
                                       : (uint32_t)((uint64_t)sip * busy / hw->sip_count);
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
