/*
 * pieces.c: cuts tensors above the size of TCM into pieces of whole tiles (pieces.h).
 */
#include "collectives/algorithms/pieces.h"

#include "collectives/config/config_rings.h"

/* Bytes of TCM for one copy. Of several, each begins at a multiple of 64. */
static uint64_t room_of(const struct ccl_call *call, uint32_t copies)
{
    const struct ccl_config *const ccl = call->ccl;
    const uint64_t rings = ccl->queues.slots == HW_MEMORY_TCM
                               ? (uint64_t)config_directions_max(call->hw, ccl) *
                                     ccl->queues.n_slots * ccl->queues.slot_bytes
                               : 0;
    const uint64_t left = rings < call->hw->tcm_bytes ? call->hw->tcm_bytes - rings : 0;
    return copies == 1 ? left : left / copies / 64 * 64;
}

static uint64_t tile_elems_of(const struct ccl_call *call)
{
    return lp_tile_bytes(&call->ccl->queues) / tl_itemsize(call->dtype);
}

uint32_t piece_tiles(const struct ccl_call *call, uint32_t copies)
{
    const uint64_t itemsize = tl_itemsize(call->dtype), each = tile_elems_of(call);
    const uint64_t room = room_of(call, copies), fit = room / (each * itemsize);
    if (call->n_elem * itemsize <= room)
        return (uint32_t)((call->n_elem + each * lp_coarse(&call->ccl->queues) - 1) /
                          (each * lp_coarse(&call->ccl->queues)));
    const uint64_t coarse = fit / lp_coarse(&call->ccl->queues); /* the kernel's tiles */
    return coarse > 0 ? (uint32_t)coarse : 1;
}

uint64_t piece_bytes(const struct ccl_call *call, uint32_t copies)
{
    const uint64_t elems =
        piece_tiles(call, copies) * tile_elems_of(call) * lp_coarse(&call->ccl->queues);
    return (elems < call->n_elem ? elems : call->n_elem) * tl_itemsize(call->dtype);
}
