/*
 * ring_rs_ag.c: reduce-scatter and all-gather along rings through all ranks (ALGORITHMS.md): an
 * all-reduce that sends 2 (N - 1) / N of the tensor, and its two halves alone.
 */
#include <stdio.h>
#include <stdlib.h>

#include "collectives/algorithms/scheduled/ring_order.h"
#include "collectives/algorithms/scheduled/rs_ag.h"
#include "collectives/algorithms/scheduled/scheduled.h"

enum { RINGS_MAX = 8 };
enum way { WAY_ONE, WAY_BOTH, WAY_MEET };
static const char *const way_name[] = {"one", "both", "meet", NULL};
static const struct ccl_parameter parameters[] = {
    [SCHEDULED_WAY] = {.name = "way",
                       .type = CCL_PARAMETER_CHOICE,
                       .value = WAY_MEET,
                       .choice = way_name},
    [SCHEDULED_RINGS] = {
        .name = "rings", .type = CCL_PARAMETER_COUNT, .value = 1, .min = 1, .max = RINGS_MAX}};

static enum rs_ag_way ring_way(enum way way, uint32_t part)
{
    if (way == WAY_MEET)
        return part % 2 == 0 ? RS_AG_MEET : RS_AG_MEET_DOWN;
    return way == WAY_BOTH && part % 2 != 0 ? RS_AG_DOWN : RS_AG_UP;
}

/* Makes the plan in `part` and `order` [RING_ORDERS_MAX * world_size]. Rings take the walks that
 * there are in turn. */
static struct rs_ag ring_plan(const struct ccl_call *call, const char *name,
                              struct rs_ag_part part[2 * RINGS_MAX], uint32_t *order)
{
    const enum way way = (enum way)scheduled_parameter(call, name, parameters, SCHEDULED_WAY);
    const uint32_t rings = (uint32_t)scheduled_parameter(call, name, parameters, SCHEDULED_RINGS);
    const uint32_t ways = way == WAY_BOTH ? 2 : 1;
    const struct rs_ag plan = {.name = name, .call = call, .parts = ways * rings, .part = part};
    const uint32_t walks = ring_order(call, order);
    for (uint32_t i = 0; i < plan.parts && call->world_size > 1; i++) {
        part[i].dims = 1;
        part[i].rank_of = order + (size_t)(i / ways % walks) * call->world_size;
        part[i].dim[0] = (struct rs_ag_dim){
            .joint = RS_AG_RING, .way = ring_way(way, i), .n = call->world_size, .stride = 1};
    }
    return plan;
}

static struct schedule *ring_schedule(const struct ccl_call *call, const char *name,
                                      struct cw_error *error)
{
    struct rs_ag_part part[2 * RINGS_MAX] = {0};
    uint32_t *const order = malloc(ring_orders(call) * sizeof *order);
    if (order == NULL) {
        (void)cw_error_memory(error, "a schedule");
        return NULL;
    }
    const struct rs_ag plan = ring_plan(call, name, part, order);
    struct schedule *const schedule = rs_ag_schedule(&plan, error);
    free(order);
    return schedule;
}

static bool ring_folds(const struct ccl_call *call, const struct hw_fold *fold,
                       char why[CCL_FOLD_WHY_BYTES])
{
    static const char *const name[CCL_COLLECTIVES] = {[CCL_ALL_REDUCE] = "ring_rs_ag",
                                                      [CCL_REDUCE_SCATTER] = "rings_reduce_scatter",
                                                      [CCL_ALL_GATHER] = "rings_all_gather"};
    struct rs_ag_part part[2 * RINGS_MAX] = {0};
    uint32_t *const order = malloc(ring_orders(call) * sizeof *order);
    if (order == NULL) {
        snprintf(why, CCL_FOLD_WHY_BYTES, "no memory for the order of a ring");
        return false;
    }
    const struct rs_ag plan = ring_plan(call, name[call->collective], part, order);
    const bool folds = rs_ag_folds(&plan, fold, why);
    free(order);
    return folds;
}

static struct schedule *ring_rs_ag_schedule(const struct ccl_call *call, struct cw_error *error)
{
    return ring_schedule(call, "ring_rs_ag", error);
}

const struct ccl_algorithm ccl_ring_rs_ag = {.name = "ring_rs_ag",
                                             .collective = CCL_ALL_REDUCE,
                                             .kernel = &schedule_kernel,
                                             .machine = SCHEDULED_MACHINE,
                                             .parameters = parameters,
                                             .parameter_count =
                                                 sizeof parameters / sizeof *parameters,
                                             .folds = ring_folds,
                                             .schedule = ring_rs_ag_schedule};

static struct schedule *ring_scatter_schedule(const struct ccl_call *call, struct cw_error *error)
{
    return ring_schedule(call, "rings_reduce_scatter", error);
}

const struct ccl_algorithm ccl_ring_rs_ag_scatter = {.name = "rings_reduce_scatter",
                                                     .collective = CCL_REDUCE_SCATTER,
                                                     .kernel = &schedule_kernel,
                                                     .machine = SCHEDULED_MACHINE,
                                                     .parameters = parameters,
                                                     .parameter_count =
                                                         sizeof parameters / sizeof *parameters,
                                                     .folds = ring_folds,
                                                     .schedule = ring_scatter_schedule};

static struct schedule *ring_gather_schedule(const struct ccl_call *call, struct cw_error *error)
{
    return ring_schedule(call, "rings_all_gather", error);
}

const struct ccl_algorithm ccl_ring_rs_ag_gather = {.name = "rings_all_gather",
                                                    .collective = CCL_ALL_GATHER,
                                                    .kernel = &schedule_kernel,
                                                    .machine = SCHEDULED_MACHINE,
                                                    .parameters = parameters,
                                                    .parameter_count =
                                                        sizeof parameters / sizeof *parameters,
                                                    .folds = ring_folds,
                                                    .schedule = ring_gather_schedule};
