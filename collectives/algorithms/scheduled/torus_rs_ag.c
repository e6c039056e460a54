/*
 * torus_rs_ag.c: reduce-scatter and all-gather dimension by dimension (ALGORITHMS.md): on toruses,
 * meshes, and machines whose SIPs are joined in several levels. The parts begin at different
 * dimensions, so that all links are busy all the time.
 */
#include "collectives/algorithms/scheduled/rs_ag_place.h"
#include "collectives/algorithms/scheduled/scheduled.h"
#include "hw/sip_walk.h"
#include <string.h>

enum { PARTS_MAX = 2 * HW_SIP_DIMS_MAX }; /* each order of the dimensions twice */
static const struct ccl_parameter parameters[] = {[SCHEDULED_ORDERS] = {.name = "orders",
                                                                        .type = CCL_PARAMETER_COUNT,
                                                                        .value = 0,
                                                                        .min = 0,
                                                                        .max = HW_SIP_DIMS_MAX}};

/* Order `turn` of the dimensions: a level's dimensions rotate within it, levels keep their places.
 */
static void turn_levels(const struct rs_ag_dim *dim, uint32_t dims, uint32_t turn,
                        struct rs_ag_part *part)
{
    part->dims = dims;
    for (uint32_t first = 0, next; first < dims; first = next) {
        for (next = first + 1; next < dims && dim[next].link == dim[first].link;)
            next++;
        for (uint32_t i = 0; i < next - first; i++)
            part->dim[first + i] = dim[first + (i + turn) % (next - first)];
    }
}

/* Most dimensions in one level. */
static uint32_t turns_of(const struct rs_ag_dim *dim, uint32_t dims)
{
    uint32_t most = 1, here = 1;
    for (uint32_t d = 1; d < dims; d++) {
        here = dim[d].link == dim[d - 1].link ? here + 1 : 1;
        most = here > most ? here : most;
    }
    return most;
}

/* Fewer parts, where a SIP has no PE for each thread of them. Tensors that a mapper cuts over PEs
 * have all parts on each. */
static void fit_parts(const struct ccl_call *call, const struct rs_ag_dim *dim, uint32_t dims,
                      uint32_t *turns, uint32_t *ways)
{
    struct rs_ag_part part = {.dims = dims};
    memcpy(part.dim, dim, dims * sizeof *dim);
    const uint32_t pes = hw_cubes(call->hw) * hw_pes(call->hw), threads = rs_ag_threads_of(&part);
    if (call->ccl->mapper[0] != '\0' && strcmp(call->ccl->mapper, "leader_only") != 0)
        return;
    while (*turns * *ways > 1 && *turns * *ways * threads > pes)
        (*(*ways > 1 ? ways : turns))--;
}

/* In a ring of an even number of places, one way round is a step longer. So each order is there
 * twice, where there are rings. */
static uint32_t make_parts(const struct ccl_call *call, const char *name,
                           struct rs_ag_part part[PARTS_MAX])
{
    const uint32_t orders = (uint32_t)scheduled_parameter(call, name, parameters, SCHEDULED_ORDERS);
    struct rs_ag_dim dim[RS_AG_DIMS_MAX];
    const uint32_t dims = rs_ag_machine(call, dim);
    uint32_t turns = turns_of(dim, dims), ways = 1;
    turns = orders > 0 && orders < turns ? orders : turns;
    for (uint32_t d = 0; d < dims; d++)
        ways = dim[d].joint == RS_AG_RING ? 2 : ways;
    fit_parts(call, dim, dims, &turns, &ways);
    for (uint32_t i = 0; i < turns * ways; i++) {
        turn_levels(dim, dims, i / ways, &part[i]);
        for (uint32_t d = 0; d < dims; d++)
            part[i].dim[d].way = i % ways == 0 ? RS_AG_MEET : RS_AG_MEET_DOWN;
        part[i].rank_of = rs_ag_by_level(call) ? call->hw->orders->by_level : NULL;
    }
    return turns * ways;
}

static struct schedule *grid_schedule(const struct ccl_call *call, const char *name,
                                      struct cw_error *error)
{
    struct rs_ag_part part[PARTS_MAX] = {0};
    const struct rs_ag plan = {
        .name = name, .call = call, .parts = make_parts(call, name, part), .part = part};
    return rs_ag_schedule(&plan, error);
}

static bool torus_folds(const struct ccl_call *call, const struct hw_fold *fold,
                        char why[CCL_FOLD_WHY_BYTES])
{
    static const char *const name[CCL_COLLECTIVES] = {[CCL_ALL_REDUCE] = "torus_rs_ag",
                                                      [CCL_REDUCE_SCATTER] = "torus_reduce_scatter",
                                                      [CCL_ALL_GATHER] = "torus_all_gather"};
    struct rs_ag_part part[PARTS_MAX] = {0};
    const struct rs_ag plan = {.name = name[call->collective],
                               .call = call,
                               .parts = make_parts(call, name[call->collective], part),
                               .part = part};
    return rs_ag_folds(&plan, fold, why);
}

static int torus_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    struct rs_ag_part part = {0};
    part.dims = rs_ag_machine(call, part.dim);
    return rs_ag_fits(&part) ? CW_OK : rs_ag_refuse(call, refusal);
}

static struct schedule *torus_rs_ag_schedule(const struct ccl_call *call, struct cw_error *error)
{
    return grid_schedule(call, "torus_rs_ag", error);
}

const struct ccl_algorithm ccl_torus_rs_ag = {.name = "torus_rs_ag",
                                              .collective = CCL_ALL_REDUCE,
                                              .kernel = &schedule_kernel,
                                              .machine = SCHEDULED_MACHINE,
                                              .parameters = parameters,
                                              .parameter_count =
                                                  sizeof parameters / sizeof *parameters,
                                              .check = torus_check,
                                              .folds = torus_folds,
                                              .schedule = torus_rs_ag_schedule};

static struct schedule *torus_reduce_scatter_schedule(const struct ccl_call *call,
                                                      struct cw_error *error)
{
    return grid_schedule(call, "torus_reduce_scatter", error);
}

const struct ccl_algorithm ccl_torus_reduce_scatter = {.name = "torus_reduce_scatter",
                                                       .collective = CCL_REDUCE_SCATTER,
                                                       .kernel = &schedule_kernel,
                                                       .machine = SCHEDULED_MACHINE,
                                                       .parameters = parameters,
                                                       .parameter_count =
                                                           sizeof parameters / sizeof *parameters,
                                                       .check = torus_check,
                                                       .folds = torus_folds,
                                                       .schedule = torus_reduce_scatter_schedule};

static struct schedule *torus_all_gather_schedule(const struct ccl_call *call,
                                                  struct cw_error *error)
{
    return grid_schedule(call, "torus_all_gather", error);
}

const struct ccl_algorithm ccl_torus_all_gather = {.name = "torus_all_gather",
                                                   .collective = CCL_ALL_GATHER,
                                                   .kernel = &schedule_kernel,
                                                   .machine = SCHEDULED_MACHINE,
                                                   .parameters = parameters,
                                                   .parameter_count =
                                                       sizeof parameters / sizeof *parameters,
                                                   .check = torus_check,
                                                   .folds = torus_folds,
                                                   .schedule = torus_all_gather_schedule};
