/*
 * auto_schedule.c: the choice among schedules (ALGORITHMS.md, section 12, "The choice"): of those
 * that can be carried out on the machine, the one with the least estimate (schedule_cost.h). It is
 * made once per process group, for the size that is expected. Host side and pure.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "collectives/algorithms/scheduled/scheduled.h"
#include "collectives/schedule/schedule_cost.h"

#define ALGORITHM(name) extern const struct ccl_algorithm ccl_##name;
#include "collectives/algorithms/registry.h"
#undef ALGORITHM

/* An algorithm, and its parameter `rings`, if it has it. */
struct candidate {
    const struct ccl_algorithm *algorithm;
    int64_t rings; /* 0: it has not */
};

static const struct candidate candidates[] = {
    {&ccl_ring_rs_ag, 1},
    {&ccl_ring_rs_ag, 4},
    {&ccl_torus_rs_ag, 0},
    {&ccl_direct_rs_ag, 0},
    {&ccl_halving_doubling, 0},
    {&ccl_recursive_doubling, 0},
    {&ccl_double_binary_tree, 0},
    {&ccl_rings_reduce_scatter, 1},
    {&ccl_rings_reduce_scatter, 4},
    {&ccl_torus_reduce_scatter, 0},
    {&ccl_direct_reduce_scatter, 0},
    {&ccl_halving_reduce_scatter, 0},
    {&ccl_rings_all_gather, 1},
    {&ccl_rings_all_gather, 4},
    {&ccl_torus_all_gather, 0},
    {&ccl_direct_all_gather, 0},
    {&ccl_doubling_all_gather, 0},
};

/* Each thread has a PE: of a SIP, or of a lane its only one. */
static bool has_places(const struct schedule *schedule, const struct ccl_call *call)
{
    const uint32_t threads = schedule->rank[0].thread_count;
    return scheduled_lanes(call) > 1 ? threads == schedule->parts
                                     : threads <= hw_cubes(call->hw) * hw_pes(call->hw);
}

/* The schedule and its estimate. NULL: it cannot be carried out (CW_USAGE), or *error. */
static struct schedule *make_estimated(const struct ccl_call *call,
                                       const struct ccl_algorithm *algorithm, int64_t *ps,
                                       struct cw_error *error)
{
    struct ccl_refusal refusal;
    error->exit_code = CW_USAGE;
    if (algorithm->check != NULL && algorithm->check(call, &refusal) != CW_OK)
        return NULL;
    struct schedule *const schedule = algorithm->schedule(call, error);
    if (schedule == NULL)
        return NULL;
    const struct schedule_cost_request request = {schedule, call, scheduled_lanes(call)};
    error->exit_code = CW_USAGE;
    if (has_places(schedule, call) && schedule_cost_ps(&request, ps, error) == CW_OK)
        return schedule;
    schedule_free(schedule);
    return NULL;
}

/* ... of a candidate, as if the configuration named it. */
static struct schedule *estimated(const struct ccl_call *call, const struct candidate *candidate,
                                  int64_t *ps, struct cw_error *error)
{
    const struct ccl_algorithm *const algorithm = candidate->algorithm;
    struct ccl_config ccl = *call->ccl;
    struct ccl_call own = *call;
    own.ccl = &ccl;
    snprintf(ccl.module, sizeof ccl.module, "%s", algorithm->name);
    for (uint32_t i = 0; i < algorithm->parameter_count; i++)
        ccl.parameter[i] = algorithm->parameters[i].value;
    if (candidate->rings > 0)
        ccl.parameter[SCHEDULED_RINGS] = candidate->rings;
    struct schedule *const schedule = make_estimated(&own, algorithm, ps, error);
    if (schedule != NULL && candidate->rings > 1)
        snprintf(schedule->name, sizeof schedule->name, "%s, %d rings", algorithm->name,
                 (int)candidate->rings);
    return schedule;
}

/* Adds to the reason. */
__attribute__((format(printf, 2, 3))) static void say_why(char why[512], const char *format, ...)
{
    const size_t used = strlen(why);
    va_list args;
    va_start(args, format);
    vsnprintf(why + used, 512 - used, format, args);
    va_end(args);
}

static struct schedule *auto_schedule(const struct ccl_call *call, struct cw_error *error)
{
    struct schedule *best = NULL;
    char why[512] = "";
    int64_t best_ps = INT64_MAX;
    const unsigned long long bytes = call->n_elem * tl_itemsize(call->dtype);
    say_why(why, "%llu bytes per shard; estimates:", bytes);
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        int64_t ps = 0;
        if (candidates[i].algorithm->collective != call->collective)
            continue;
        struct schedule *const schedule = estimated(call, &candidates[i], &ps, error);
        if (schedule == NULL && error->exit_code == CW_USAGE)
            continue;
        if (schedule == NULL) {
            schedule_free(best);
            return NULL;
        }
        say_why(why, "%s %s %.3f us", best == NULL ? "" : ",", schedule->name, (double)ps * 1e-6);
        struct schedule *const worse = ps < best_ps ? best : schedule;
        best = ps < best_ps ? schedule : best;
        best_ps = ps < best_ps ? ps : best_ps;
        schedule_free(worse);
    }
    if (best == NULL)
        (void)cw_error_set(error, CW_USAGE, "no schedule of a %s can be carried out here",
                           ccl_collective_name(call->collective));
    else
        memcpy(best->why, why, sizeof best->why);
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
