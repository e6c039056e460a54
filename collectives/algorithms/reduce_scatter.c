/*
 * reduce_scatter.c: conditions and memory of the algorithms on paired dies (reduce_scatter.h). Host
 * side, pure.
 */
#include "collectives/algorithms/reduce_scatter.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "collectives/config/config.h"
#include "collectives/config/config_rings.h"
#include "hw/topology/topology.h"

__attribute__((format(printf, 4, 5))) static int reduce_scatter_refuse(const char **key,
                                                                       const char *at,
                                                                       struct cw_error *error,
                                                                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    *key = at;
    return error->exit_code = CW_USAGE;
}

static uint64_t slice_bytes(const struct ccl_call *call)
{
    return call->n_elem / call->world_size * tl_itemsize(call->dtype);
}

static uint64_t reduce_scatter_round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

static uint64_t stride(const struct ccl_call *call)
{
    return reduce_scatter_round_up(slice_bytes(call), call->ccl->min_slice_align);
}

uint64_t ccl_rs_scratch_bytes(const struct ccl_call *call, const struct ccl_rs_needs *needs)
{
    return needs->slots * (needs->aligned ? stride(call) : slice_bytes(call));
}

/* Whole elements of a slot: what the final reduction works on at a time. */
static uint64_t reduce_scatter_piece_bytes(const struct ccl_call *call)
{
    const uint32_t itemsize = tl_itemsize(call->dtype);
    return call->ccl->slot_bytes / itemsize * itemsize;
}

uint64_t ccl_rs_tcm_bytes(const struct ccl_call *call, uint32_t tiles)
{
    const uint64_t slice = slice_bytes(call), piece = reduce_scatter_piece_bytes(call);
    return tiles * (slice < piece ? slice : piece);
}

void ccl_rs_kernel_args(const struct ccl_call *call, int64_t scalar[TL_SCALARS_MAX])
{
    scalar[0] = call->world_size;
    scalar[1] = (int64_t)stride(call);
    scalar[2] = (int64_t)(intptr_t)&call->ccl->ranks; /* const as long as the configuration is */
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

/* Algorithms of the same collective that run where this one does not. */
static const char *others(const struct ccl_call *call)
{
    const uint32_t n = call->world_size;
    const bool pairs = call->hw->sip_topology->paired;
    if (call->collective == CCL_ALL_REDUCE)
        return "ring_allreduce or tree_allreduce";
    if (pairs && n > 16 && n <= CCL_RANKS_MAX && (n & (n - 1)) == 0)
        return "birs_inter, rhd or mesh";
    return pairs && n <= 16 && n >= 4 && n % 2 == 0 ? "birs, rhd or mesh" : "rhd or mesh";
}

static int reduce_scatter_check_ranks(const struct ccl_call *call, const struct ccl_rs_needs *needs,
                                      const char *name, const char **key, struct cw_error *error)
{
    const uint32_t n = call->world_size;
    const char *const at = ranks_key(call);
    char paired[200];
    if (needs->pairs && !call->hw->sip_topology->paired)
        return reduce_scatter_refuse(
            key, "system.sips.topology", error,
            "%s is for paired dies, topology %s; this is %s; use %s", name,
            hw_topology_list(hw_topology_is_paired, "or", paired, sizeof paired),
            call->hw->sip_topology->name, others(call));
    if (needs->pairs && n % 2 != 0)
        return reduce_scatter_refuse(
            key, at, error,
            "%s reduces over pairs of ranks, and %u is odd; legal is an even number from "
            "%u to %u; use %s",
            name, n, needs->ranks_min, needs->ranks_max, others(call));
    if (n < needs->ranks_min || (needs->ranks_max > 0 && n > needs->ranks_max) ||
        (needs->power_of_two && (n & (n - 1)) != 0))
        return reduce_scatter_refuse(
            key, at, error, "%s takes %s from %u to %u ranks, and there are %u; use %s", name,
            needs->power_of_two ? "a power of two" : "an even number", needs->ranks_min,
            needs->ranks_max, n, others(call));
    return CW_OK;
}

/* Input, output and scratch beside the receive rings, each in whole pages. */
static int check_hbm(const struct ccl_call *call, const struct ccl_rs_needs *needs,
                     const char *name, const char **key, struct cw_error *error)
{
    const struct ccl_config *ccl = call->ccl;
    const uint64_t page = call->hw->mmu_page_bytes, capacity = call->hw->hbm_bytes;
    const uint64_t scratch = reduce_scatter_round_up(ccl_rs_scratch_bytes(call, needs), page);
    const uint64_t input = reduce_scatter_round_up(call->n_elem * tl_itemsize(call->dtype), page);
    const uint64_t output = needs->in_place ? 0 : reduce_scatter_round_up(slice_bytes(call), page);
    const uint64_t rings =
        ccl->buffer_kind == CCL_BUFFER_HBM
            ? reduce_scatter_round_up((uint64_t)config_directions_max(call->hw, ccl) *
                                          ccl->n_slots * ccl->slot_bytes,
                                      page)
            : 0;
    const uint64_t used = input + output + rings;
    if (used <= capacity && scratch <= capacity - used)
        return CW_OK;
    return reduce_scatter_refuse(
        key, "memory.hbm_mib", error,
        "HBM of PE 0: %s needs %" PRIu64 " bytes of scratch, %u slots for slices of %" PRIu64
        ", and %" PRIu64 " of %" PRIu64 " are free beside the input%s; use fewer elements%s "
        "or more HBM",
        name, scratch, needs->slots, slice_bytes(call), used < capacity ? capacity - used : 0,
        capacity, needs->in_place ? "" : " and the output",
        needs->aligned && stride(call) > slice_bytes(call) ? ", a smaller min_slice_align" : "");
}

static int reduce_scatter_check_memory(const struct ccl_call *call,
                                       const struct ccl_rs_needs *needs, const char *name,
                                       const char **key, struct cw_error *error)
{
    const struct ccl_config *ccl = call->ccl;
    const uint64_t slice = slice_bytes(call);
    if (needs->aligned && !ccl->slice_rounding && slice % ccl->min_slice_align != 0)
        return reduce_scatter_refuse(
            key, "defaults.slice_rounding", error,
            "slices of %" PRIu64 " bytes are no multiple of min_slice_align, %u, and "
            "slice_rounding is false; use whole multiples, or slice_rounding: true",
            slice, ccl->min_slice_align);
    const uint64_t rings =
        ccl->buffer_kind == CCL_BUFFER_TCM
            ? (uint64_t)config_directions_max(call->hw, ccl) * ccl->n_slots * ccl->slot_bytes
            : 0;
    const uint64_t tcm = ccl_rs_tcm_bytes(call, needs->tcm_tiles);
    if (tcm > call->hw->tcm_bytes - rings)
        return reduce_scatter_refuse(
            key, "memory.tcm_kib", error,
            "TCM of PE 0: the final reduction of %s needs %" PRIu64
            " bytes, %u pieces of slot_size, and %" PRIu64 " of %" PRIu64
            " are free beside the receive rings; use a smaller slot_size or more TCM",
            name, tcm, needs->tcm_tiles, call->hw->tcm_bytes - rings, call->hw->tcm_bytes);
    return check_hbm(call, needs, name, key, error);
}

int ccl_rs_check(const struct ccl_call *call, const struct ccl_rs_needs *needs, const char *name,
                 const char **key, struct cw_error *error)
{
    const uint32_t cubes = call->hw->cube_w * call->hw->cube_h;
    const uint32_t n = call->world_size;
    if (reduce_scatter_check_ranks(call, needs, name, key, error) != CW_OK)
        return CW_USAGE;
    if (cubes != 1)
        return reduce_scatter_refuse(
            key, "sip.cube_mesh.w", error,
            "%s takes one cube per SIP, and there are %u x %u; set w and h to 1", name,
            call->hw->cube_w, call->hw->cube_h);
    if (call->n_elem % n != 0)
        return reduce_scatter_refuse(
            key, call->n_elem == call->ccl->n_elem ? "defaults.n_elem" : NULL, error,
            "%s cuts each rank's input into %u slices, and %" PRIu64
            " elements are no multiple of that; use %" PRIu64 ", or another multiple",
            name, n, call->n_elem, (call->n_elem / n + 1) * n);
    if (call->n_elem * tl_itemsize(call->dtype) > UINT32_MAX)
        return reduce_scatter_refuse(key, "memory.hbm_mib", error,
                                     "an input of %" PRIu64
                                     " elements has more bytes than an address of HBM "
                                     "reaches, 4 GiB; use fewer elements",
                                     call->n_elem);
    return reduce_scatter_check_memory(call, needs, name, key, error);
}
