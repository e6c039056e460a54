/*
 * machine_dims.c: the machine as a grid of SIPs of several dimensions (rs_ag.h, rs_ag_machine()).
 */
#include "collectives/algorithms/scheduled/ring_order.h"
#include "collectives/algorithms/scheduled/rs_ag_place.h"
#include "hw/sip_walk.h"
#include <string.h>

enum { DIRECT_MAX = 61 };
_Static_assert((int)HW_SIP_DIMS_MAX <= (int)RS_AG_DIMS_MAX, "each dimension of a machine has room");

static void add_dim(struct rs_ag_dim *dim, uint32_t *count, struct rs_ag_dim one)
{
    if (one.n > 1)
        dim[(*count)++] = one;
}

/* Where every two places are joined, but are too many for a rank's threads, they form a ring. */
static enum rs_ag_joint joint_of(const struct hw_sip_dim *dim)
{
    if (dim->joint == HW_SIP_LINE)
        return RS_AG_LINE;
    return dim->joint == HW_SIP_RING || dim->size > DIRECT_MAX ? RS_AG_RING : RS_AG_DIRECT;
}

/* Turns the largest direct dimensions into rings, until a SIP has a PE for each thread of a part.
 */
static void fit_pes(const struct hw_config *hw, struct rs_ag_dim *dim, uint32_t count)
{
    struct rs_ag_part part = {.dims = count};
    memcpy(part.dim, dim, count * sizeof *dim);
    while (rs_ag_threads_of(&part) > hw_cubes(hw) * hw_pes(hw)) {
        struct rs_ag_dim *most = NULL;
        for (uint32_t d = 0; d < count; d++)
            if (part.dim[d].joint == RS_AG_DIRECT && (most == NULL || part.dim[d].n > most->n))
                most = &part.dim[d];
        if (most == NULL)
            break;
        most->joint = RS_AG_RING;
    }
    memcpy(dim, part.dim, count * sizeof *dim);
}

/* Places of a level are joined with each other as far as threads reach. */
static uint32_t add_levels(const struct hw_sip_orders *orders, struct rs_ag_dim *dim)
{
    uint32_t count = 0, stride = 1;
    for (uint32_t k = 0; k < orders->levels.count; k++) {
        const uint32_t n = orders->levels.size[k];
        add_dim(dim, &count,
                (struct rs_ag_dim){.joint = n > DIRECT_MAX ? RS_AG_RING : RS_AG_DIRECT,
                                   .n = n,
                                   .stride = stride,
                                   .link = (uint8_t)(HW_LINK_CLASS_1 + k)});
        stride *= n;
    }
    return count;
}

bool rs_ag_by_level(const struct ccl_call *call)
{
    return call->hw->orders != NULL && ring_order_by_sip(call) &&
           hw_sip_dims_of(call->hw).at[0].joint == HW_SIP_OTHER;
}

uint32_t rs_ag_machine(const struct ccl_call *call, struct rs_ag_dim dim[RS_AG_DIMS_MAX])
{
    const struct hw_sip_dims dims = hw_sip_dims_of(call->hw);
    const uint32_t ranks = call->world_size;
    uint32_t count = 0;
    if (!ring_order_by_sip(call)) {
        add_dim(dim, &count, (struct rs_ag_dim){.joint = RS_AG_RING, .n = ranks, .stride = 1});
        return count;
    }
    if (rs_ag_by_level(call)) {
        count = add_levels(call->hw->orders, dim);
        fit_pes(call->hw, dim, count);
        return count;
    }
    for (uint32_t d = 0; d < dims.count; d++)
        add_dim(dim, &count,
                (struct rs_ag_dim){.joint = joint_of(&dims.at[d]),
                                   .n = dims.at[d].size,
                                   .stride = dims.at[d].stride,
                                   .link = (uint8_t)dims.at[d].link});
    fit_pes(call->hw, dim, count);
    return count;
}
