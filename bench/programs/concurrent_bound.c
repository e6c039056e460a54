/*
 * concurrent_bound.c: bounds of calls of groups. A group's SIPs may lie anywhere, so the bound
 * counts only what holds wherever they are: the links of one SIP, which all its bytes must pass.
 */
#include "bench/programs/concurrent_bound.h"

#include "hw/topology/topology.h"

/* Bytes of a rank's tensor that must leave, or enter, its SIP. */
static uint64_t crossing(enum ccl_collective collective, uint64_t bytes, uint32_t ranks)
{
    switch (collective) {
    case CCL_ALL_GATHER:
    case CCL_REDUCE_SCATTER:
    case CCL_ALL_TO_ALL:
        return bytes - bytes / ranks;
    case CCL_BARRIER:
        return 0;
    default:
        return bytes;
    }
}

/* The least time for bytes over all links of a SIP to others, side by side. */
static struct hw_bound links_of_sip(const struct hw_config *hw, uint32_t sip, uint64_t bytes)
{
    struct hw_bound bound = {.by = NULL};
    double bytes_per_ps = 0;
    for (uint32_t outlet = 0; outlet < hw_outlets(hw); outlet++) {
        struct hw_cable cable;
        if (!hw->sip_topology->cable(hw, sip, outlet, &cable))
            continue;
        const struct hw_rate rate = hw->link[cable.link].rate;
        bytes_per_ps += (double)rate.den / (double)rate.num;
        bound.by = hw_link_name[cable.link];
    }
    if (bytes_per_ps > 0)
        bound.ps = (int64_t)((double)bytes / bytes_per_ps);
    return bound;
}

struct hw_bound concurrent_bound(const struct hw_config *hw, const struct concurrent_source *source,
                                 const struct concurrent_call *call, enum dtype dtype)
{
    const enum ccl_collective does = call->asked->collective;
    const uint64_t bytes = call->n_elem * dtype_bytes(dtype) * (call->together ? 1 : call->shards);
    struct hw_bound bound = {.by = NULL};
    if (call->size < 2)
        return bound;
    for (size_t i = 0; i < (size_t)source->groups * call->size; i++) {
        const uint32_t sip = ccl_sip_of(&source->config.ccl.ranks, source->ranks[i]);
        const struct hw_bound own = links_of_sip(hw, sip, crossing(does, bytes, call->size));
        if (own.ps > bound.ps)
            bound = own;
    }
    return bound;
}
