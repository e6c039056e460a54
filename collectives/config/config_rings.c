/*
 * config_rings.c: whether the receive rings of a PE's queues fit in the memory that holds them.
 */
#include "collectives/config/config_rings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collectives/config/config_place.h"
#include "collectives/topologies.h"
#include "hw/topology/topology.h"

/* Neighbours that the best placed node has in an open line of `length`. */
static uint32_t line_neighbours(uint32_t length) { return length < 3 ? length - 1 : 2; }

/* The PE grid has an upper row (NW, NE) and a lower one (SW, SE), pe_per_corner wide per corner. */
static uint32_t intra_directions(const struct hw_config *hw)
{
    bool there[HW_CORNERS] = {false};
    for (uint32_t i = 0; i < hw->corner_count; i++)
        there[hw->corner[i]] = true;
    const bool full_row = (there[HW_NW] && there[HW_NE]) || (there[HW_SW] && there[HW_SE]);
    const bool column = (there[HW_NW] && there[HW_SW]) || (there[HW_NE] && there[HW_SE]);
    const uint32_t row = line_neighbours((full_row ? 2 : 1) * hw->pe_per_corner);
    return row + (column ? 1 : 0);
}

uint32_t config_directions_max(const struct hw_config *hw, const struct ccl_config *ccl)
{
    struct logical logical;
    struct cw_error error; /* a topology that cannot be is refused when it is installed */
    const uint32_t world = ccl->world_size > 0 ? ccl->world_size : hw->sip_count;
    if (logical_find(ccl->topology, world, hw, &logical, &error) == CW_OK &&
        logical.kind != LOGICAL_NONE)
        return logical_rings_max(&logical);
    if (strcmp(ccl->topology, LOGICAL_CUSTOM) == 0)
        return 0; /* the hook says: dist_check_rings() */
    const uint32_t cube = line_neighbours(hw->cube_w) + line_neighbours(hw->cube_h);
    const uint32_t intra = ccl->wiring == CCL_WIRING_ALL_PES ? intra_directions(hw) : 0;
    return intra + cube + hw_sip_directions_max(hw);
}

bool config_rings_fit(const struct config *config, uint32_t directions, uint32_t pes,
                      struct config_errors *errors)
{
    static const char *const memory_name[] = {"a PE's TCM", "a PE's HBM slice", "a cube's SRAM"};
    static const char *const memory_key[] = {"memory.tcm_kib", "memory.hbm_mib", "memory.sram_kib"};
    const struct hw_config *const hw = &config->hw;
    const struct ccl_config *const ccl = &config->ccl;
    const uint64_t memory_bytes[] = {hw->tcm_bytes, hw->hbm_bytes, hw->sram_bytes};
    const uint32_t sharing = ccl->queues.slots == HW_MEMORY_SRAM ? pes : 1;
    const uint64_t ring_bytes = (uint64_t)ccl->queues.n_slots * ccl->queues.slot_bytes; /* < 2^47 */
    const uint64_t rings = (uint64_t)directions * sharing;                              /* < 2^12 */
    const uint64_t free_bytes = memory_bytes[ccl->queues.slots];
    if (rings == 0 || ring_bytes <= free_bytes / rings)
        return true;
    config_error_at(
        errors, config, "defaults.slot_size",
        "%" PRIu32 " slots x %" PRIu32 " bytes in %" PRIu64 " rings (%" PRIu32 " PE%s, %" PRIu32
        " directions each) request %" PRIu64 " bytes of %s, where %" PRIu64
        " are free (%s); at most %" PRIu64 " bytes per slot fit",
        ccl->queues.n_slots, ccl->queues.slot_bytes, rings, sharing, sharing == 1 ? "" : "s",
        directions, rings * ring_bytes, memory_name[ccl->queues.slots], free_bytes,
        memory_key[ccl->queues.slots], free_bytes / rings / ccl->queues.n_slots);
    return false;
}

uint32_t config_pes_with_rings(const struct config *config)
{
    const bool logical = strcmp(config->ccl.topology, "none") != 0;
    return (config->ccl.wiring == CCL_WIRING_ALL_PES && !logical) || config->ccl.ranks.per_sip > 0
               ? config->hw.pe_per_corner * config->hw.corner_count
               : 1;
}

void config_check_rings(struct config *config, struct config_errors *errors)
{
    config_rings_fit(config, config_directions_max(&config->hw, &config->ccl),
                     config_pes_with_rings(config), errors);
}
