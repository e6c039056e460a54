/*
 * dist_placement.c: makes the call of each placement, leaves out those that cannot be, and asks the
 * choice (dist_placement.h).
 */
#include "collectives/runtime/dist_placement.h"

#include <stdio.h>
#include <string.h>

#include "collectives/algorithms/auto.h"
#include "collectives/runtime/dist_check.h"

bool dist_chooses_placement(const struct config *config, enum ccl_collective collective)
{
    struct cw_error ignored;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load(config->ccl.module, &ignored);
    return algorithm != NULL && algorithm->collective == collective &&
           auto_has_placements(algorithm) && config->ccl.mapper[0] == '\0';
}

/* The tensors of a PE: its input and, of a collective with blocks, its result. */
static uint64_t tensor_elems(const struct ccl_call *call)
{
    switch (call->collective) {
    case CCL_REDUCE_SCATTER:
        return call->n_elem + call->n_elem / call->world_size;
    case CCL_ALL_GATHER:
        return call->n_elem * (1 + (uint64_t)call->world_size);
    case CCL_ALL_TO_ALL:
        return 2 * call->n_elem;
    default:
        return call->n_elem;
    }
}

/* The call of a placement; false: it cannot be. */
static bool make_call(const struct config *config, const struct ccl_call *whole, const char *mapper,
                      struct ccl_config *ccl, struct ccl_call *call)
{
    struct config placed = *config;
    struct cw_error ignored;
    *ccl = config->ccl;
    snprintf(ccl->mapper, sizeof ccl->mapper, "%s", mapper);
    const uint32_t lanes = cost_lanes(whole->hw, cost_mapper(ccl));
    *call = *whole;
    call->ccl = ccl;
    call->n_elem = whole->n_elem / lanes;
    const uint64_t free = config->hw.hbm_bytes - dist_ring_bytes(config, HW_MEMORY_HBM);
    if (call->n_elem == 0 || whole->n_elem % lanes != 0 ||
        (call->collective != CCL_ALL_GATHER && /* whose input is one block */
         dist_check_blocks(call->collective, call->n_elem, call->world_size, &ignored) != CW_OK) ||
        tensor_elems(call) * tl_itemsize(call->dtype) > free)
        return false;
    ccl->n_elem = call->n_elem * tl_itemsize(call->dtype) / tl_itemsize(LP_F16);
    ccl->n_elem_is_most = true;
    placed.ccl = *ccl;
    return dist_check_call(&placed, call, &ignored) == CW_OK;
}

/* The estimates, the one that is taken first. */
static void say_why(struct dist_placement *placement, const char *const *names, uint32_t count,
                    const struct choice_placed *placed)
{
    size_t used = (size_t)snprintf(placement->why, sizeof placement->why, "%s %.3f us",
                                   names[placed->best], (double)placed->ps[placed->best] * 1e-6);
    for (uint32_t i = 0; i < count && used < sizeof placement->why; i++)
        if (i != placed->best)
            used +=
                (size_t)(placed->ps[i] == COST_LONG
                             ? snprintf(placement->why + used, sizeof placement->why - used,
                                        ", %s longer", names[i])
                             : snprintf(placement->why + used, sizeof placement->why - used,
                                        ", %s %.3f us", names[i], (double)placed->ps[i] * 1e-6));
}

int dist_choose_placement(const struct config *config, const struct ccl_call *call,
                          struct dist_placement *placement, struct cw_error *error)
{
    static const char *const all[CHOICE_PLACEMENTS_MAX] = {"all_pes", "pe0_all_cubes",
                                                           "leader_only"};
    const char *names[CHOICE_PLACEMENTS_MAX];
    struct ccl_config ccl[CHOICE_PLACEMENTS_MAX];
    struct ccl_call calls[CHOICE_PLACEMENTS_MAX];
    struct choice_placed placed = {.best = 0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < CHOICE_PLACEMENTS_MAX; i++)
        if (make_call(config, call, all[i], &ccl[count], &calls[count]) &&
            (count == 0 || calls[count].n_elem != calls[count - 1].n_elem))
            names[count++] = all[i];
    if (count == 0)
        return cw_error_set(error, CW_USAGE, "%s: no placement can share %llu elements of a rank",
                            config->ccl.algorithm, (unsigned long long)call->n_elem);
    const int code = auto_place(calls, count, &placed, error);
    if (code != CW_OK)
        return code;
    *placement =
        (struct dist_placement){.mapper = names[placed.best],
                                .shards = (uint32_t)(call->n_elem / calls[placed.best].n_elem)};
    say_why(placement, names, count, &placed);
    return CW_OK;
}

void dist_take_placement(struct config *config, const struct dist_placement *placement)
{
    snprintf(config->ccl.mapper, sizeof config->ccl.mapper, "%s", placement->mapper);
}
