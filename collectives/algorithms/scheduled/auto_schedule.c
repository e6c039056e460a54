/*
 * auto_schedule.c: the choice among schedules (ALGORITHMS.md, section 12, "The choice"): of the
 * schedules that can be carried out on the machine, the one with the least estimate
 * (cost.h). It is made once per process group, for the expected size. Host side and pure.
 *
 * The estimates of the best two are told, and no estimate goes on for longer than the second best
 * so far. So the order of the table matters for speed: first come schedules that are often the
 * best, or that have few steps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/algorithms/scheduled/scheduled.h"
#include "collectives/choice/cost.h"

#define RINGS(value)   value, SCHEDULED_RINGS, "rings"
#define THREADS(value) value, SCHEDULED_THREADS, "threads"

static const struct scheduled_candidate candidates[] = {
    {"ring_rs_ag", RINGS(4)},
    {"ring_rs_ag", RINGS(1)},
    {.name = "recursive_doubling"},
    {.name = "torus_rs_ag"},
    {.name = "direct_rs_ag"},
    {.name = "double_binary_tree"},
    {.name = "halving_doubling"},
    {"rings_reduce_scatter", RINGS(4)},
    {"rings_reduce_scatter", RINGS(1)},
    {.name = "torus_reduce_scatter"},
    {.name = "direct_reduce_scatter"},
    {.name = "halving_reduce_scatter"},
    {"rings_all_gather", RINGS(4)},
    {"rings_all_gather", RINGS(1)},
    {.name = "torus_all_gather"},
    {.name = "direct_all_gather"},
    {.name = "doubling_all_gather"},
    {"pairwise_all_to_all", THREADS(32)},
    {"pairwise_all_to_all", THREADS(8)},
    {"pairwise_all_to_all", THREADS(64)},
};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };

/* Each thread has a PE: of a SIP, or of a lane its only one. */
static bool has_places(const struct schedule *schedule, const struct ccl_call *call)
{
    const uint32_t threads = schedule->rank[0].thread_count;
    return scheduled_lanes(call) > 1 ? threads == schedule->parts
                                     : threads <= hw_cubes(call->hw) * hw_pes(call->hw);
}

/* A candidate that can be carried out, and its estimate. */
struct estimated {
    char name[64];
    const struct scheduled_candidate *candidate;
    uint32_t threads, steps; /* of rank 0 */
    int64_t ps;              /* COST_LONG: longer than the second best before it */
};

/* It is the candidate before with another value, which makes no difference here. */
static bool is_same(const struct estimated *a, const struct estimated *b)
{
    return strcmp(a->candidate->name, b->candidate->name) == 0 && a->threads == b->threads &&
           a->steps == b->steps;
}

/* The best two so far, and the candidates that are left out since memory has no room for them. */
struct leaders {
    int64_t best_ps, second_ps; /* COST_LONG: there is none */
    struct schedule *best;
    struct scheduled_left_out left_out;
};

static bool is_new(const struct estimated *one, const struct estimated *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_same(one, &all[i]))
            return false;
    return true;
}

/* Estimates a candidate behind `count` others. The schedule of the best one stays with the leaders.
 * CW_USAGE: it cannot be carried out, or is one of the others; memory may have no room for it. */
static int estimate_candidate(const struct ccl_call *call, struct estimated *all, uint32_t count,
                              struct leaders *leaders, struct cw_error *error)
{
    struct estimated *const out = &all[count];
    struct ccl_call sketched = *call;
    sketched.sketch = true;
    struct schedule *schedule =
        scheduled_consider(&sketched, out->candidate, &leaders->left_out, error);
    if (schedule == NULL)
        return error->exit_code;
    const struct cost_request request = {
        .schedule = schedule,
        .call = call,
        .lanes = scheduled_lanes(call),
        .limit_ps = leaders->second_ps == COST_LONG ? 0 : leaders->second_ps};
    snprintf(out->name, sizeof out->name, "%s", schedule->name);
    out->threads = schedule->rank[0].thread_count;
    out->steps = schedule->rank[0].step_count;
    const int code = has_places(schedule, call) && is_new(out, all, count)
                         ? cost_estimate(&request, &out->ps, error)
                         : CW_USAGE;
    if (code == CW_OK && out->ps < leaders->best_ps) {
        struct schedule *const worse = leaders->best;
        leaders->second_ps = leaders->best_ps;
        leaders->best_ps = out->ps;
        leaders->best = schedule;
        schedule = worse;
    } else if (code == CW_OK && out->ps < leaders->second_ps) {
        leaders->second_ps = out->ps;
    }
    schedule_free(schedule);
    return code;
}

static int by_estimate(const void *a, const void *b)
{
    const struct estimated *const x = a, *const y = b;
    return x->ps != y->ps ? (x->ps < y->ps ? -1 : 1)
                          : (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

/* The estimates, the least first: the second is that of the runner-up. */
static void say_estimates(char why[512], const struct ccl_call *call, const struct estimated *all,
                          uint32_t count)
{
    const unsigned long long bytes = call->n_elem * tl_itemsize(call->dtype);
    scheduled_say_why(why, "%llu bytes per shard; estimates:", bytes);
    for (uint32_t i = 0; i < count && all[i].ps != COST_LONG; i++)
        scheduled_say_why(why, "%s %s %.3f us", i == 0 ? "" : ",", all[i].name,
                          (double)all[i].ps * 1e-6);
    for (uint32_t i = 1; i < count; i++)
        if (all[i].ps == COST_LONG)
            scheduled_say_why(why, "%s %s", all[i - 1].ps != COST_LONG ? "; longer:" : ",",
                              all[i].name);
}

/* Estimates all candidates, the least first in *all; returns how many. *best: the schedule of the
 * least; NULL: there is none (CW_USAGE), or *error. */
static uint32_t estimate_all(const struct ccl_call *call, struct estimated all[CANDIDATES],
                             struct schedule **best, struct scheduled_left_out *left_out,
                             struct cw_error *error)
{
    struct leaders leaders = {.best_ps = COST_LONG, .second_ps = COST_LONG};
    uint32_t count = 0;
    int code = CW_OK;
    for (size_t i = 0; i < CANDIDATES && (code == CW_OK || code == CW_USAGE); i++) {
        if (ccl_algorithm_find(candidates[i].name)->collective != call->collective)
            continue;
        all[count] = (struct estimated){.candidate = &candidates[i]};
        code = estimate_candidate(call, all, count, &leaders, error);
        count += code == CW_OK;
    }
    *best = leaders.best;
    *left_out = leaders.left_out;
    if (code != CW_OK && code != CW_USAGE) {
        schedule_free(*best);
        *best = NULL;
        return 0;
    }
    qsort(all, count, sizeof *all, by_estimate);
    error->exit_code = CW_USAGE;
    return count;
}

static struct schedule *auto_schedule(const struct ccl_call *call, struct cw_error *error)
{
    struct schedule *best = NULL;
    struct estimated all[CANDIDATES];
    struct scheduled_left_out left_out;
    const uint32_t count = estimate_all(call, all, &best, &left_out, error);
    if (best == NULL && error->exit_code == CW_USAGE &&
        scheduled_none_left(&left_out, error) == CW_OK)
        (void)cw_error_set(error, CW_USAGE, "no schedule of a %s can be carried out here",
                           ccl_collective_name(call->collective));
    if (best == NULL)
        return NULL;
    if (best->sketch && !call->sketch) {
        schedule_free(best);
        best = scheduled_make(call, all[0].candidate, error);
        if (best == NULL)
            return NULL;
    }
    say_estimates(best->why, call, all, count);
    scheduled_say_left_out(best->why, &left_out);
    return best;
}

const struct ccl_algorithm ccl_auto_all_reduce = {.name = "auto_all_reduce",
                                                  .collective = CCL_ALL_REDUCE,
                                                  .kernel = &schedule_kernel,
                                                  .machine = SCHEDULED_MACHINE,
                                                  .schedule = auto_schedule};

const struct ccl_algorithm ccl_auto_reduce_scatter = {.name = "auto_reduce_scatter",
                                                      .collective = CCL_REDUCE_SCATTER,
                                                      .kernel = &schedule_kernel,
                                                      .machine = SCHEDULED_MACHINE,
                                                      .schedule = auto_schedule};

const struct ccl_algorithm ccl_auto_all_gather = {.name = "auto_all_gather",
                                                  .collective = CCL_ALL_GATHER,
                                                  .kernel = &schedule_kernel,
                                                  .machine = SCHEDULED_MACHINE,
                                                  .schedule = auto_schedule};

const struct ccl_algorithm ccl_auto_all_to_all = {.name = "auto_all_to_all",
                                                  .collective = CCL_ALL_TO_ALL,
                                                  .kernel = &schedule_kernel,
                                                  .machine = SCHEDULED_MACHINE,
                                                  .schedule = auto_schedule};
