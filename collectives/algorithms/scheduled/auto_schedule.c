/*
 * auto_schedule.c: the choice among schedules (ALGORITHMS.md, section 12, "The choice"): of those
 * that can be carried out on the machine, the one with the least estimate (schedule_cost.h). It is
 * made once per process group, for the size that is expected. Host side and pure.
 *
 * The estimates of the best two are told, and no estimate goes on for longer than the second best
 * so far. So the order of the table matters for speed: those come first that are often the best, or
 * that have few steps.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/algorithms/scheduled/scheduled.h"
#include "collectives/schedule/schedule_cost.h"

/* An algorithm, and its parameter `rings`, if it has it. */
struct candidate {
    const char *name;
    int64_t rings; /* 0: it has not */
};

static const struct candidate candidates[] = {
    {"recursive_doubling", 0},
    {"torus_rs_ag", 0},
    {"ring_rs_ag", 4},
    {"ring_rs_ag", 1},
    {"direct_rs_ag", 0},
    {"double_binary_tree", 0},
    {"halving_doubling", 0},
    {"torus_reduce_scatter", 0},
    {"rings_reduce_scatter", 4},
    {"rings_reduce_scatter", 1},
    {"direct_reduce_scatter", 0},
    {"halving_reduce_scatter", 0},
    {"torus_all_gather", 0},
    {"rings_all_gather", 4},
    {"rings_all_gather", 1},
    {"direct_all_gather", 0},
    {"doubling_all_gather", 0},
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
    const struct candidate *candidate;
    int64_t ps; /* SCHEDULE_COST_LONG: longer than the second best before it */
};

/* The candidate's schedule. NULL: it cannot be made (CW_USAGE), or *error. */
static struct schedule *make_candidate(const struct ccl_call *call,
                                       const struct candidate *candidate, struct cw_error *error)
{
    const struct ccl_algorithm *const algorithm = ccl_algorithm_find(candidate->name);
    struct ccl_config ccl = *call->ccl; /* as if it named the candidate */
    struct ccl_call own = *call;
    struct ccl_refusal refusal;
    own.ccl = &ccl;
    snprintf(ccl.module, sizeof ccl.module, "%s", algorithm->name);
    for (uint32_t i = 0; i < algorithm->parameter_count; i++)
        ccl.parameter[i] = algorithm->parameters[i].value;
    if (candidate->rings > 0)
        ccl.parameter[SCHEDULED_RINGS] = candidate->rings;
    error->exit_code = CW_USAGE;
    if (algorithm->check != NULL && algorithm->check(&own, &refusal) != CW_OK)
        return NULL;
    struct schedule *const schedule = algorithm->schedule(&own, error);
    if (schedule != NULL && candidate->rings > 1)
        snprintf(schedule->name, sizeof schedule->name, "%s, %d rings", algorithm->name,
                 (int)candidate->rings);
    return schedule;
}

/* Estimates a candidate. A schedule that is complete and the best so far takes the place of *best.
 * CW_USAGE: it cannot be carried out. */
static int estimate_candidate(const struct ccl_call *call, struct estimated *out, int64_t best_ps,
                              int64_t limit_ps, struct schedule **best, struct cw_error *error)
{
    struct ccl_call sketched = *call;
    sketched.sketch = true;
    struct schedule *schedule = make_candidate(&sketched, out->candidate, error);
    if (schedule == NULL)
        return error->exit_code;
    const struct schedule_cost_request request = {schedule, call, scheduled_lanes(call),
                                                  limit_ps == SCHEDULE_COST_LONG ? 0 : limit_ps};
    const int code =
        has_places(schedule, call) ? schedule_cost_ps(&request, &out->ps, error) : CW_USAGE;
    snprintf(out->name, sizeof out->name, "%s", schedule->name);
    if (code == CW_OK && out->ps < best_ps) {
        struct schedule *const worse = *best;
        *best = schedule;
        schedule = worse;
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

/* Adds to the reason. */
__attribute__((format(printf, 2, 3))) static void say_why(char why[512], const char *format, ...)
{
    const size_t used = strlen(why);
    va_list args;
    va_start(args, format);
    vsnprintf(why + used, 512 - used, format, args);
    va_end(args);
}

/* The estimates, the least first: the second is that of the runner-up. */
static void say_estimates(char why[512], const struct ccl_call *call, const struct estimated *all,
                          uint32_t count)
{
    const unsigned long long bytes = call->n_elem * tl_itemsize(call->dtype);
    say_why(why, "%llu bytes per shard; estimates:", bytes);
    for (uint32_t i = 0; i < count && all[i].ps != SCHEDULE_COST_LONG; i++)
        say_why(why, "%s %s %.3f us", i == 0 ? "" : ",", all[i].name, (double)all[i].ps * 1e-6);
    for (uint32_t i = 1; i < count; i++)
        if (all[i].ps == SCHEDULE_COST_LONG)
            say_why(why, "%s %s", all[i - 1].ps != SCHEDULE_COST_LONG ? "; longer:" : ",",
                    all[i].name);
}

/* Estimates all candidates, the least first in *all; returns how many. *best: the schedule of the
 * least; NULL: there is none (CW_USAGE), or *error. */
static uint32_t estimate_all(const struct ccl_call *call, struct estimated all[CANDIDATES],
                             struct schedule **best, struct cw_error *error)
{
    int64_t best_ps = SCHEDULE_COST_LONG, second_ps = SCHEDULE_COST_LONG;
    uint32_t count = 0;
    for (size_t i = 0; i < CANDIDATES; i++) {
        struct estimated one = {.candidate = &candidates[i]};
        if (ccl_algorithm_find(one.candidate->name)->collective != call->collective)
            continue;
        const int code = estimate_candidate(call, &one, best_ps, second_ps, best, error);
        if (code == CW_USAGE)
            continue;
        if (code != CW_OK) {
            schedule_free(*best);
            *best = NULL;
            return 0;
        }
        all[count++] = one;
        second_ps = one.ps < best_ps ? best_ps : one.ps < second_ps ? one.ps : second_ps;
        best_ps = one.ps < best_ps ? one.ps : best_ps;
    }
    qsort(all, count, sizeof *all, by_estimate);
    error->exit_code = CW_USAGE;
    return count;
}

static struct schedule *auto_schedule(const struct ccl_call *call, struct cw_error *error)
{
    struct schedule *best = NULL;
    struct estimated all[CANDIDATES];
    const uint32_t count = estimate_all(call, all, &best, error);
    if (best == NULL && error->exit_code == CW_USAGE)
        (void)cw_error_set(error, CW_USAGE, "no schedule of a %s can be carried out here",
                           ccl_collective_name(call->collective));
    if (best == NULL)
        return NULL;
    if (best->sketch) {
        schedule_free(best);
        best = make_candidate(call, all[0].candidate, error);
        if (best == NULL)
            return NULL;
    }
    say_estimates(best->why, call, all, count);
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
