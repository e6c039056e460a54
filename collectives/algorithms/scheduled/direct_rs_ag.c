/*
 * direct_rs_ag.c: every rank sends each other rank's chunk to it, and then its sum to all
 * (ALGORITHMS.md): two messages one after the other, N - 1 beside each other.
 */
#include "collectives/algorithms/scheduled/rs_ag.h"
#include "collectives/algorithms/scheduled/scheduled.h"

static struct rs_ag_part direct_part(const struct ccl_call *call)
{
    struct rs_ag_part part = {0};
    if (call->world_size > 1) {
        part.dims = 1;
        part.dim[0] = (struct rs_ag_dim){.joint = RS_AG_DIRECT, .n = call->world_size, .stride = 1};
    }
    return part;
}

static struct schedule *direct_schedule(const struct ccl_call *call, const char *name,
                                        struct cw_error *error)
{
    const struct rs_ag_part part = direct_part(call);
    const struct rs_ag plan = {.name = name, .call = call, .parts = 1, .part = &part};
    return rs_ag_schedule(&plan, error);
}

static int direct_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    const struct rs_ag_part part = direct_part(call);
    return rs_ag_fits(&part) ? CW_OK : rs_ag_refuse(call, refusal);
}

static struct schedule *direct_rs_ag_schedule(const struct ccl_call *call, struct cw_error *error)
{
    return direct_schedule(call, "direct_rs_ag", error);
}

const struct ccl_algorithm ccl_direct_rs_ag = {.name = "direct_rs_ag",
                                               .collective = CCL_ALL_REDUCE,
                                               .kernel = &schedule_kernel,
                                               .machine = SCHEDULED_MACHINE,
                                               .check = direct_check,
                                               .schedule = direct_rs_ag_schedule};

static struct schedule *direct_reduce_scatter_schedule(const struct ccl_call *call,
                                                       struct cw_error *error)
{
    return direct_schedule(call, "direct_reduce_scatter", error);
}

const struct ccl_algorithm ccl_direct_reduce_scatter = {.name = "direct_reduce_scatter",
                                                        .collective = CCL_REDUCE_SCATTER,
                                                        .kernel = &schedule_kernel,
                                                        .machine = SCHEDULED_MACHINE,
                                                        .check = direct_check,
                                                        .schedule = direct_reduce_scatter_schedule};

static struct schedule *direct_all_gather_schedule(const struct ccl_call *call,
                                                   struct cw_error *error)
{
    return direct_schedule(call, "direct_all_gather", error);
}

const struct ccl_algorithm ccl_direct_all_gather = {.name = "direct_all_gather",
                                                    .collective = CCL_ALL_GATHER,
                                                    .kernel = &schedule_kernel,
                                                    .machine = SCHEDULED_MACHINE,
                                                    .check = direct_check,
                                                    .schedule = direct_all_gather_schedule};
