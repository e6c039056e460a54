/*
 * concurrent_bound.c: bounds of calls of groups: of a call that several groups make, the largest.
 */
#include "bench/programs/concurrent_bound.h"

#include <stdlib.h>

#include "hw/structure.h"

/* Of many groups these give the bound: groups of a set mostly differ in their place alone. */
enum { GROUPS_BOUND = 64 };

/* The ranks are all SIPs, in order. */
static bool is_world(const struct hw_config *hw, const uint32_t *sips, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && sips[i] == i)
        i++;
    return i == hw->sip_count;
}

struct hw_bound concurrent_bound(const struct hw_config *hw, const struct concurrent_source *source,
                                 const struct concurrent_call *call, enum dtype dtype)
{
    const struct ccl_ranks *const ranks = &source->config.ccl.ranks;
    const struct dp_policy *const policy = &source->policy;
    const bool leaders =
        call->asked->collective == CCL_BARRIER; /* between first PEs of the ranks */
    const uint32_t pes = hw_cubes(hw) * hw_pes(hw);
    const uint32_t by_cubes = policy->num_cubes != 0 ? policy->num_cubes : hw_cubes(hw);
    const uint32_t by_pes = policy->num_pes != 0 ? policy->num_pes : hw_pes(hw);
    struct hw_bound bound = {.by = NULL};
    uint32_t *const sips = malloc(call->size * sizeof *sips);
    for (uint32_t g = 0; g < source->groups && g < GROUPS_BOUND && sips != NULL && call->size > 1;
         g++) {
        for (uint32_t i = 0; i < call->size; i++)
            sips[i] = ccl_sip_of(ranks, source->ranks[(size_t)g * call->size + i]);
        const bool world = is_world(hw, sips, call->size) && ranks->pes == 0;
        const struct hw_work work = {.collective = call->asked->collective,
                                     .ranks = call->size,
                                     .sips = world ? NULL : sips,
                                     .engines = ranks->pes > 0 ? ranks->pes : pes,
                                     .first_pe = policy->first_pe,
                                     .cubes = leaders || policy->cube != DP_ROW_WISE ? 1 : by_cubes,
                                     .pes = leaders || policy->pe != DP_COLUMN_WISE ? 1 : by_pes,
                                     .root_sip = sips[0],
                                     .together = call->together,
                                     .bytes = call->n_elem * dtype_bytes(dtype)};
        const struct hw_bound of_group = hw_bound_of(hw, &work);
        hw_bound_join(&bound, &of_group);
    }
    free(sips);
    return bound;
}
