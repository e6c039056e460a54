/*
 * auto_schedule.c: the choice among schedules (ALGORITHMS.md, section 12, "The choice"): of those
 * that can be carried out on the machine, the one with the least estimate (schedule_cost.h). It is
 * made once per process group, for the size that is expected. Host side and pure.
 */
#include <string.h>

#include "collectives/algorithms/scheduled/scheduled.h"
#include "collectives/schedule/schedule_cost.h"

static const struct scheduled_candidate candidates[] = {
    {"ring_rs_ag", 1},
    {"ring_rs_ag", 4},
    {"torus_rs_ag", 0},
    {"direct_rs_ag", 0},
    {"halving_doubling", 0},
    {"recursive_doubling", 0},
    {"double_binary_tree", 0},
    {"rings_reduce_scatter", 1},
    {"rings_reduce_scatter", 4},
    {"torus_reduce_scatter", 0},
    {"direct_reduce_scatter", 0},
    {"halving_reduce_scatter", 0},
    {"rings_all_gather", 1},
    {"rings_all_gather", 4},
    {"torus_all_gather", 0},
    {"direct_all_gather", 0},
    {"doubling_all_gather", 0},
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
                                       const struct scheduled_candidate *candidate, int64_t *ps,
                                       struct cw_error *error)
{
    struct schedule *const schedule = scheduled_make(call, candidate, error);
    if (schedule == NULL)
        return NULL;
    const struct schedule_cost_request request = {
        .schedule = schedule, .call = call, .lanes = scheduled_lanes(call)};
    error->exit_code = CW_USAGE;
    if (has_places(schedule, call) && schedule_cost_ps(&request, ps, error) == CW_OK)
        return schedule;
    schedule_free(schedule);
    return NULL;
}

static struct schedule *auto_schedule(const struct ccl_call *call, struct cw_error *error)
{
    struct schedule *best = NULL;
    char why[512] = "";
    int64_t best_ps = INT64_MAX;
    const unsigned long long bytes = call->n_elem * tl_itemsize(call->dtype);
    scheduled_say_why(why, "%llu bytes per shard; estimates:", bytes);
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        int64_t ps = 0;
        if (ccl_algorithm_find(candidates[i].name)->collective != call->collective)
            continue;
        struct schedule *const schedule = make_estimated(call, &candidates[i], &ps, error);
        if (schedule == NULL && error->exit_code == CW_USAGE)
            continue;
        if (schedule == NULL) {
            schedule_free(best);
            return NULL;
        }
        scheduled_say_why(why, "%s %s %.3f us", best == NULL ? "" : ",", schedule->name,
                          (double)ps * 1e-6);
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
