/*
 * direct_rs_ag.c: every rank sends each other rank's chunk to it, and then its sum to all
 * (ALGORITHMS.md): two messages one after the other, N - 1 beside each other.
 */
#include "collectives/algorithms/scheduled/rs_ag.h"
#include "collectives/algorithms/scheduled/scheduled.h"

static struct schedule *direct_schedule(const struct ccl_call *call, const char *name,
                                        struct cw_error *error)
{
    struct rs_ag_part part = {0};
    const struct rs_ag plan = {.name = name, .call = call, .parts = 1, .part = &part};
    if (call->world_size > 1) {
        part.dims = 1;
        part.dim[0] = (struct rs_ag_dim){.joint = RS_AG_DIRECT, .n = call->world_size, .stride = 1};
    }
    return rs_ag_schedule(&plan, error);
}

struct schedule *direct_rs_ag_schedule(const struct ccl_call *call, struct cw_error *error)
{
    return direct_schedule(call, "direct_rs_ag", error);
}

struct schedule *direct_reduce_scatter_schedule(const struct ccl_call *call, struct cw_error *error)
{
    return direct_schedule(call, "direct_reduce_scatter", error);
}

struct schedule *direct_ag_schedule(const struct ccl_call *call, struct cw_error *error)
{
    return direct_schedule(call, "direct_ag", error);
}
