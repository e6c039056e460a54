/*
 * reduce_scatter.c: conditions and memory of the algorithms on paired dies (reduce_scatter.h). Host
 * side, pure.
 */
#include "collectives/algorithms/reduce_scatter.h"

#include <inttypes.h>
#include <stdio.h>

#include "collectives/algorithms/reduce_scatter_kernel.h"
#include "collectives/config/config.h"
#include "collectives/config/config_rings.h"
#include "hw/arithmetic.h"
#include "hw/topology/topology.h"

uint64_t ccl_rs_slice_bytes(const struct ccl_call *call)
{
    return call->n_elem / call->world_size * tl_itemsize(call->dtype);
}

static uint64_t stride(const struct ccl_call *call)
{
    return hw_round_up(ccl_rs_slice_bytes(call), call->ccl->min_slice_align);
}

uint64_t ccl_rs_scratch_bytes(const struct ccl_call *call, const struct ccl_rs_needs *needs)
{
    return needs->slots * (needs->aligned ? stride(call) : ccl_rs_slice_bytes(call));
}

/* The final reduction's piece: as many whole elements as a slot holds. */
static uint64_t full_piece_bytes_of(const struct ccl_call *call)
{
    const uint32_t itemsize = tl_itemsize(call->dtype);
    return lp_tile_bytes(&call->ccl->queues) / itemsize * itemsize;
}

uint64_t ccl_rs_tcm_bytes(const struct ccl_call *call, uint32_t tiles)
{
    const uint64_t slice = ccl_rs_slice_bytes(call), piece = full_piece_bytes_of(call);
    return tiles * (slice < piece ? slice : piece);
}

void ccl_rs_kernel_args(const struct ccl_call *call, struct tl_args *args)
{
    args->scalar[RS_RANKS] = call->world_size;
    args->scalar[RS_SLOT_STRIDE] = (int64_t)stride(call);
    args->more = &call->ccl->ranks; /* const, and outlives the run as the configuration does */
}

bool ccl_rs_takes_part(const struct ccl_call *call, uint32_t cube, uint32_t pe)
{
    (void)call, (void)cube;
    return pe == 0;
}

/* ---- conditions ------------------------------------------------------------------------------ */

static const char *ranks_key(const struct ccl_call *call)
{
    return call->ccl->world_size ? "defaults.world_size" : "system.sips.count";
}

/* The first SIP of a group whose mate is not in the group; UINT32_MAX: there is none. */
static uint32_t die_alone(const struct ccl_ranks *ranks)
{
    for (uint32_t i = 0; ranks->list != NULL && i < ranks->count; i++)
        if (ccl_place_of_sip(ranks, ranks->list[i] ^ 1) == UINT32_MAX)
            return ranks->list[i];
    return UINT32_MAX;
}

/* Algorithms of the same collective that run where this one does not. */
static const char *others(const struct ccl_call *call)
{
    const uint32_t n = call->world_size;
    const bool pairs = call->hw->sip_topology->paired;
    if (call->collective == CCL_ALL_REDUCE)
        return "ring_allreduce or tree_allreduce";
    if (die_alone(&call->ccl->ranks) != UINT32_MAX)
        return "rhd or mesh";
    if (pairs && n > CCL_BIRS_RANKS_MAX && n % 2 == 0)
        return "birs_inter, rhd or mesh";
    return pairs && n <= CCL_BIRS_RANKS_MAX && n % 2 == 0 ? "birs, rhd or mesh" : "rhd or mesh";
}

/* "an even number of ranks from 2 to 16", "... from 18 on". */
static void ranks_wanted(const struct ccl_rs_needs *needs, char *text, size_t bytes)
{
    if (needs->ranks_max > 0)
        snprintf(text, bytes, "from %u to %u", needs->ranks_min, needs->ranks_max);
    else
        snprintf(text, bytes, "from %u on", needs->ranks_min);
}

static int check_rank_count(const struct ccl_call *call, const struct ccl_rs_needs *needs,
                            const char *name, struct ccl_refusal *refusal)
{
    const uint32_t n = call->world_size;
    const char *const at = ranks_key(call);
    char paired[200], wanted[40];
    ranks_wanted(needs, wanted, sizeof wanted);
    if (needs->pairs && !call->hw->sip_topology->paired)
        (void)ccl_refuse(refusal, "system.sips.topology",
                         "%s is for paired dies, topology %s; this is %s", name,
                         hw_topology_list(hw_topology_is_paired, "or", paired, sizeof paired),
                         call->hw->sip_topology->name);
    else if (needs->pairs && n % 2 != 0) {
        (void)ccl_refuse(refusal, at, "%s reduces over pairs of ranks, and %u is odd", name, n);
        (void)ccl_legal(refusal, "legal is an even number %s", wanted);
    } else if (needs->pairs && die_alone(&call->ccl->ranks) != UINT32_MAX) {
        (void)ccl_refuse(refusal, at,
                         "%s reduces over the two dies of each package, and SIP %u is in the group "
                         "without SIP %u",
                         name, die_alone(&call->ccl->ranks), die_alone(&call->ccl->ranks) ^ 1);
        (void)ccl_legal(refusal, "legal are both dies of each package");
    } else if (n < needs->ranks_min || (needs->ranks_max > 0 && n > needs->ranks_max))
        (void)ccl_refuse(refusal, at, "%s takes an even number of ranks %s, and there are %u", name,
                         wanted, n);
    else
        return CW_OK;
    return ccl_advise(refusal, "use %s", others(call));
}

/* Input, output and scratch beside the receive rings, each in whole pages. */
static int check_hbm(const struct ccl_call *call, const struct ccl_rs_needs *needs,
                     const char *name, struct ccl_refusal *refusal)
{
    const struct ccl_config *ccl = call->ccl;
    const uint64_t page = call->hw->mmu_page_bytes, capacity = call->hw->hbm_bytes;
    const uint64_t scratch = hw_round_up(ccl_rs_scratch_bytes(call, needs), page);
    const uint64_t input = hw_round_up(call->n_elem * tl_itemsize(call->dtype), page);
    const uint64_t output = needs->in_place ? 0 : hw_round_up(ccl_rs_slice_bytes(call), page);
    const uint64_t rings = ccl->queues.slots == HW_MEMORY_HBM
                               ? hw_round_up((uint64_t)config_directions_max(call->hw, ccl) *
                                                 ccl->queues.n_slots * ccl->queues.slot_bytes,
                                             page)
                               : 0;
    const uint64_t used = input + output + rings;
    if (used <= capacity && scratch <= capacity - used)
        return CW_OK;
    (void)ccl_refuse(
        refusal, "memory.hbm_mib",
        "HBM of PE 0: %s needs %" PRIu64 " bytes of scratch, %u slots for slices of %" PRIu64
        ", and %" PRIu64 " of %" PRIu64 " are free beside the input%s",
        name, scratch, needs->slots, ccl_rs_slice_bytes(call),
        used < capacity ? capacity - used : 0, capacity, needs->in_place ? "" : " and the output");
    return ccl_advise(refusal, "use fewer elements%s or more HBM",
                      needs->aligned && stride(call) > ccl_rs_slice_bytes(call)
                          ? ", a smaller min_slice_align"
                          : "");
}

static int check_pe0_memory(const struct ccl_call *call, const struct ccl_rs_needs *needs,
                            const char *name, struct ccl_refusal *refusal)
{
    const struct ccl_config *ccl = call->ccl;
    const uint64_t slice = ccl_rs_slice_bytes(call);
    if (needs->aligned && !ccl->slice_rounding && slice % ccl->min_slice_align != 0) {
        (void)ccl_refuse(refusal, "defaults.slice_rounding",
                         "slices of %" PRIu64 " bytes are no multiple of min_slice_align, %u, and "
                         "slice_rounding is false",
                         slice, ccl->min_slice_align);
        return ccl_advise(refusal, "use whole multiples, or slice_rounding: true");
    }
    const uint64_t rings = ccl->queues.slots == HW_MEMORY_TCM
                               ? (uint64_t)config_directions_max(call->hw, ccl) *
                                     ccl->queues.n_slots * ccl->queues.slot_bytes
                               : 0;
    const uint64_t tcm = ccl_rs_tcm_bytes(call, needs->tcm_tiles);
    if (tcm > call->hw->tcm_bytes - rings) {
        (void)ccl_refuse(refusal, "memory.tcm_kib",
                         "TCM of PE 0: the final reduction of %s needs %" PRIu64
                         " bytes, %u pieces of slot_size, and %" PRIu64 " of %" PRIu64
                         " are free beside the receive rings",
                         name, tcm, needs->tcm_tiles, call->hw->tcm_bytes - rings,
                         call->hw->tcm_bytes);
        return ccl_advise(refusal, "use a smaller slot_size or more TCM");
    }
    return check_hbm(call, needs, name, refusal);
}

int ccl_rs_check(const struct ccl_call *call, const struct ccl_rs_needs *needs, const char *name,
                 struct ccl_refusal *refusal)
{
    const uint32_t cubes = call->hw->cube_w * call->hw->cube_h;
    const uint32_t n = call->world_size;
    if (check_rank_count(call, needs, name, refusal) != CW_OK)
        return CW_USAGE;
    if (cubes != 1) {
        (void)ccl_refuse(refusal, "sip.cube_mesh.w",
                         "%s takes one cube per SIP, and there are %u x %u", name, call->hw->cube_w,
                         call->hw->cube_h);
        return ccl_legal(refusal, "set w and h to 1, or use auto_reduce_scatter");
    }
    if (call->n_elem % n != 0) {
        (void)ccl_refuse(refusal, call->n_elem == call->ccl->n_elem ? "defaults.n_elem" : NULL,
                         "%s cuts each rank's input into %u slices, and %" PRIu64
                         " elements are no multiple of that",
                         name, n, call->n_elem);
        return ccl_advise(refusal, "use %" PRIu64 ", or another multiple",
                          (call->n_elem / n + 1) * n);
    }
    if (call->n_elem * tl_itemsize(call->dtype) > UINT32_MAX) {
        (void)ccl_refuse(refusal, "memory.hbm_mib",
                         "an input of %" PRIu64 " elements has more bytes than an address of HBM "
                         "reaches, 4 GiB",
                         call->n_elem);
        return ccl_advise(refusal, "use fewer elements");
    }
    return check_pe0_memory(call, needs, name, refusal);
}
