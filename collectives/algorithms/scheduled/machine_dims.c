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

uint32_t rs_ag_machine(const struct ccl_call *call, struct rs_ag_dim dim[RS_AG_DIMS_MAX])
{
    const struct hw_config *const hw = call->hw;
    const struct hw_topology_ops *const topology = hw->sip_topology;
    const struct hw_grid grid = hw_sip_grid(hw);
    const uint8_t link = HW_LINK_SIP_LINK;
    const uint32_t ranks = call->world_size;
    const enum rs_ag_joint line = grid.wrap ? RS_AG_RING : RS_AG_LINE;
    uint32_t count = 0;
    if (!ring_order_by_sip(call)) {
        add_dim(dim, &count, (struct rs_ag_dim){.joint = RS_AG_RING, .n = ranks, .stride = 1});
    } else if (topology->paired && ranks > 1) { /* the dies of a package, then packages */
        add_dim(dim, &count, (struct rs_ag_dim){RS_AG_DIRECT, RS_AG_UP, 2, 1, HW_LINK_SIO});
        add_dim(dim, &count,
                (struct rs_ag_dim){RS_AG_DIRECT, RS_AG_UP, ranks / 2, 2, HW_LINK_HCCS});
    } else if (topology->switches > 0) {
        add_dim(dim, &count, (struct rs_ag_dim){RS_AG_DIRECT, RS_AG_UP, ranks, 1, link});
    } else {
        add_dim(dim, &count, (struct rs_ag_dim){line, RS_AG_UP, grid.w, 1, link});
        add_dim(dim, &count, (struct rs_ag_dim){line, RS_AG_UP, grid.h, grid.w, link});
    }
    return count;
}
