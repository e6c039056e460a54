/*
 * auto.c: the algorithms that choose among others (choice.h). They differ in their candidates
 * alone, and in when they choose: `auto` has kernels, which share their queues, and chooses for
 * each call; auto_all_reduce and its kind have schedules, and choose once per process group, since
 * the queues are laid for the schedule that is taken.
 */
#include "collectives/algorithms/auto.h"

#include <inttypes.h>
#include <stdio.h>

#include "collectives/algorithms/birs_inter.h"
#include "collectives/algorithms/reduce_scatter.h"
#include "collectives/algorithms/scheduled/scheduled.h"

#define RINGS(n)        .value = (n), .parameter = SCHEDULED_RINGS, .unit = "rings"
#define THREADS(n)      .value = (n), .parameter = SCHEDULED_THREADS, .unit = "threads"
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- kernels --------------------------------------------------------------------------------- */

static bool mesh_is_allowed(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    const uint64_t most = call->ccl->mesh_max_bytes;
    if (call->n_elem * tl_itemsize(call->dtype) < most)
        return true;
    (void)ccl_refuse(refusal, "defaults.mesh_max_bytes",
                     "the input has mesh_max_bytes, %" PRIu64 ", or more", most);
    return false;
}

static bool birs_is_enabled(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    if (call->ccl->birs_enable)
        return true;
    (void)ccl_refuse(refusal, "defaults.birs_enable",
                     "it is not enabled (birs_enable: true, or CUBEWARP_BIRS_ENABLE=TRUE)");
    return false;
}

/* birs and birs_inter: of the two, only the one for this many ranks counts. */
static bool birs_is_allowed(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    return call->world_size <= CCL_BIRS_RANKS_MAX && birs_is_enabled(call, refusal);
}

static bool birs_inter_is_allowed(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    return call->world_size > CCL_BIRS_RANKS_MAX && birs_is_enabled(call, refusal);
}

static const struct choice_candidate kernels[] = {
    {.name = "mesh", .allowed = mesh_is_allowed},
    {.name = "rhd"},
    {.name = "birs", .allowed = birs_is_allowed},
    {.name = "birs_inter", .allowed = birs_inter_is_allowed},
};

static void auto_choose(const struct ccl_call *call, struct ccl_choice *choice)
{
    const struct choice_request request = {.call = call,
                                           .mapper = cost_mapper(call->ccl),
                                           .candidates = kernels,
                                           .count = COUNT_OF(kernels)};
    struct chosen chosen;
    struct cw_error error;
    const int code = choose(&request, &chosen, &error);
    choice->algorithm = code == CW_USAGE ? ccl_algorithm_find("rhd") /* its refusal says why */
                                         : chosen.algorithm;
    snprintf(choice->why, sizeof choice->why, "%s", chosen.why);
    snprintf(choice->advice, sizeof choice->advice, "%s", chosen.advice);
}

static uint32_t auto_peers(const struct ccl_call *call) { return call->world_size - 1; }

const struct ccl_algorithm ccl_auto = {
    .name = "auto",
    .collective = CCL_REDUCE_SCATTER,
    .kernel = &birs_inter_kernel,
    .machine = {.mappers = CCL_RS_MAPPERS,
                .reads = CCL_READS_BIRS_ENABLE | CCL_READS_MESH_MAX | CCL_READS_SLICE_ALIGN,
                .peers = auto_peers},
    .choose = auto_choose};

/* ---- schedules ------------------------------------------------------------------------------- */

static const struct choice_candidate all_reduces[] = {
    {.name = "recursive_doubling"},   {.name = "torus_rs_ag"},
    {.name = "ring_rs_ag", RINGS(4)}, {.name = "ring_rs_ag", RINGS(1)},
    {.name = "direct_rs_ag"},         {.name = "double_binary_tree"},
    {.name = "halving_doubling"},     {.name = "switch_all_reduce"},
};
static const struct choice_candidate reduce_scatters[] = {
    {.name = "rings_reduce_scatter", RINGS(4)}, {.name = "rings_reduce_scatter", RINGS(1)},
    {.name = "torus_reduce_scatter"},           {.name = "direct_reduce_scatter"},
    {.name = "halving_reduce_scatter"},         {.name = "switch_reduce_scatter"},
};
static const struct choice_candidate all_gathers[] = {
    {.name = "rings_all_gather", RINGS(4)}, {.name = "rings_all_gather", RINGS(1)},
    {.name = "torus_all_gather"},           {.name = "direct_all_gather"},
    {.name = "doubling_all_gather"},        {.name = "switch_all_gather"},
};
static const struct choice_candidate all_to_alls[] = {
    {.name = "pairwise_all_to_all", THREADS(32)},
    {.name = "pairwise_all_to_all", THREADS(8)},
    {.name = "pairwise_all_to_all", THREADS(64)},
};

/* Of each collective. */
static const struct {
    const struct choice_candidate *list;
    uint32_t count;
} schedules[CCL_COLLECTIVES] = {
    [CCL_ALL_REDUCE] = {all_reduces, COUNT_OF(all_reduces)},
    [CCL_REDUCE_SCATTER] = {reduce_scatters, COUNT_OF(reduce_scatters)},
    [CCL_ALL_GATHER] = {all_gathers, COUNT_OF(all_gathers)},
    [CCL_ALL_TO_ALL] = {all_to_alls, COUNT_OF(all_to_alls)},
};

static struct choice_request request_of(const struct ccl_call *call)
{
    return (struct choice_request){.call = call,
                                   .mapper = cost_mapper(call->ccl),
                                   .candidates = schedules[call->collective].list,
                                   .count = schedules[call->collective].count};
}

static struct schedule *auto_schedule(const struct ccl_call *call, struct cw_error *error)
{
    const struct choice_request request = request_of(call);
    struct chosen chosen;
    if (choose(&request, &chosen, error) != CW_OK)
        return NULL;
    snprintf(chosen.schedule->why, sizeof chosen.schedule->why, "%s", chosen.why);
    return chosen.schedule;
}

bool auto_has_placements(const struct ccl_algorithm *algorithm)
{
    return algorithm->schedule == auto_schedule;
}

int auto_place(const struct ccl_call *calls, uint32_t count, struct choice_placed *placed,
               struct cw_error *error)
{
    struct choice_request requests[CHOICE_PLACEMENTS_MAX];
    for (uint32_t i = 0; i < count; i++)
        requests[i] = request_of(&calls[i]);
    return choose_placement(requests, count, placed, error);
}

/* An algorithm that chooses among schedules of its collective. */
#define AUTO(entry, does, runs)                                                                    \
    const struct ccl_algorithm ccl_##entry = {.name = #entry,                                      \
                                              .collective = (does),                                \
                                              .kernel = &(runs),                                   \
                                              .machine = SCHEDULED_MACHINE,                        \
                                              .schedule = auto_schedule}

AUTO(auto_all_reduce, CCL_ALL_REDUCE, schedule_kernel);
AUTO(auto_reduce_scatter, CCL_REDUCE_SCATTER, schedule_kernel);
AUTO(auto_all_gather, CCL_ALL_GATHER, schedule_kernel);
AUTO(auto_all_to_all, CCL_ALL_TO_ALL, schedule_pairs_kernel);
