/*
 * machine_dims.c: the machine as a grid of SIPs of several dimensions (rs_ag.h, rs_ag_machine()).
 */
#include "collectives/algorithms/scheduled/ring_order.h"
#include "collectives/algorithms/scheduled/rs_ag.h"
#include "hw/topology/topology.h"

static void add_dim(struct rs_ag_dim *dim, uint32_t *count, struct rs_ag_dim one)
{
    if (one.n > 1)
        dim[(*count)++] = one;
}

static enum rs_ag_joint joint_of(enum hw_sip_joint joint)
{
    return joint == HW_SIP_RING ? RS_AG_RING : joint == HW_SIP_LINE ? RS_AG_LINE : RS_AG_DIRECT;
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
    for (uint32_t d = 0; d < dims.count; d++)
        add_dim(dim, &count,
                (struct rs_ag_dim){.joint = joint_of(dims.at[d].joint),
                                   .n = dims.at[d].size,
                                   .stride = dims.at[d].stride,
                                   .link = (uint8_t)dims.at[d].link});
    return count;
}
