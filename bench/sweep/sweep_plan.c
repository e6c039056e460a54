/*
 * sweep_plan.c: orders and groups the points, and divides cores and memory among them.
 */
#include "bench/sweep/sweep_plan.h"

#include <stdlib.h>
#include <string.h>

#include "bench/study/study_estimate.h"
#include "bench/study/study_shard.h"
#include "core/os/host_limits.h"

/* Shorter points stay with those of their machine: the cores are busy to the end anyway. */
#define LONG_POINT_S 0.5
enum { MACHINE_BYTES_MAX = 256 << 20 }; /* twenty machines of 8,192 PEs */

static uint64_t memory_of_machine(void)
{
    return (uint64_t)((double)host_limits_memory_bytes() * 0.8);
}

static void choose(struct sweep_plan *plan, struct study_shard shard,
                   const enum study_state *states, bool retry)
{
    for (uint32_t i = 0; i < plan->study->point_count; i++) {
        const bool is_open = states[i] == STUDY_OPEN || (retry && states[i] != STUDY_DONE);
        if (study_shard_has(shard, i) && is_open)
            plan->points[plan->count++] = i;
    }
}

struct ordered {
    uint32_t point;
    uint32_t like;           /* the first one of its group, as an index into the points to run */
    double seconds, group_s; /* group_s: of the longest point of its group */
};

static double long_s(const struct ordered *point)
{
    return point->seconds > LONG_POINT_S ? point->seconds : 0;
}

static int compare_points(const void *left, const void *right)
{
    const struct ordered *const a = left;
    const struct ordered *const b = right;
    const double x = long_s(a), y = long_s(b);
    if (x != y)
        return (x < y) - (x > y);
    if (x == 0 && a->group_s != b->group_s)
        return a->group_s > b->group_s ? -1 : 1;
    if (x == 0 && a->like != b->like)
        return a->like < b->like ? -1 : 1;
    if (a->seconds != b->seconds)
        return a->seconds > b->seconds ? -1 : 1;
    return (a->point > b->point) - (a->point < b->point);
}

/* Whether a setting may change the machine or its queues. */
static bool is_of_machine(const struct study_setting *setting)
{
    static const char *const work[] = {
        "bytes", "bytes-per-rank", "n-elem", "minbytes",    "maxbytes", "stepfactor", "stepbytes",
        "iters", "warmup_iters",   "seed",   "verify-data", "no-data",  "input",      "op",
        "dtype", "explain",        "tag",    NULL};
    for (size_t i = 0; work[i] != NULL; i++)
        if (strcmp(setting->name, work[i]) == 0)
            return false;
    return true;
}

/* Long points alone, short ones in groups. */
static void make_groups(struct sweep_plan *plan, const struct ordered *ordered)
{
    plan->group_count = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        const bool continues = i > 0 && long_s(&ordered[i]) == 0 && long_s(&ordered[i - 1]) == 0 &&
                               ordered[i].like == ordered[i - 1].like;
        if (!continues)
            plan->groups[plan->group_count++].begin = i;
        plan->groups[plan->group_count - 1].end = i + 1;
    }
}

/* Fills plan->estimates, which are indexed by point, and orders the points. */
static bool estimate_and_order(struct sweep_plan *plan)
{
    struct study_estimate *const some = calloc((size_t)plan->count + 1, sizeof *some);
    struct ordered *const ordered = calloc((size_t)plan->count + 1, sizeof *ordered);
    uint32_t *const like = calloc((size_t)plan->count + 1, sizeof *like);
    plan->groups = calloc((size_t)plan->count + 1, sizeof *plan->groups);
    bool is_done = some != NULL && ordered != NULL && like != NULL && plan->groups != NULL &&
                   study_find_alike(plan->study, plan->points, plan->count, is_of_machine, like) &&
                   study_estimate_all(plan->study, plan->points, plan->count, some);
    for (uint32_t i = 0; i < plan->count && is_done; i++) {
        plan->estimates[plan->points[i]] = some[i];
        ordered[i] = (struct ordered){plan->points[i], like[i], some[i].seconds, 0};
        double *const most = &ordered[like[i]].group_s;
        *most = long_s(&ordered[i]) == 0 && some[i].seconds > *most ? some[i].seconds : *most;
    }
    for (uint32_t i = 0; i < plan->count && is_done; i++)
        ordered[i].group_s = ordered[like[i]].group_s;
    if (is_done && plan->count > 0)
        qsort(ordered, plan->count, sizeof *ordered, compare_points);
    for (uint32_t i = 0; i < plan->count && is_done; i++)
        plan->points[i] = ordered[i].point;
    if (is_done)
        make_groups(plan, ordered);
    free(some);
    free(ordered);
    free(like);
    return is_done;
}

/* Machines are kept where several points can use one. */
static uint64_t machine_bytes_of(const struct sweep_plan *plan)
{
    const uint64_t share = plan->memory_bytes / 16 / (plan->workers + (plan->workers == 0));
    if (plan->group_count == plan->count)
        return 0;
    return share < MACHINE_BYTES_MAX ? share : MACHINE_BYTES_MAX;
}

/* One point per core gives the most work per second, because cores that share a point wait for
 * each other. Cores that are left over, for want of memory or points, become threads of points. */
static void choose_workers(struct sweep_plan *plan, const struct sweep_options *options)
{
    const uint32_t cores = host_limits_cores();
    uint64_t most = 1;
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->estimates[plan->points[i]].bytes > most)
            most = plan->estimates[plan->points[i]].bytes;
    const uint64_t fit = plan->memory_bytes / most;
    uint32_t workers = options->jobs > 0 ? options->jobs : cores;
    plan->workers = workers = workers < plan->count ? workers : plan->count;
    plan->threads = options->threads;
    if (fit < workers)
        workers = fit > 0 ? (uint32_t)fit : 1;
    if (plan->threads == 0 && options->jobs == 0 && workers > 0 && cores / workers > 1 &&
        sweep_plan_seconds(plan) > LONG_POINT_S)
        plan->threads = cores / workers;
}

int sweep_plan_make(const struct study *study, struct study_shard shard,
                    const enum study_state *states, const struct sweep_options *options,
                    struct sweep_plan *plan, struct cw_error *error)
{
    *plan = (struct sweep_plan){.study = study,
                                .points = calloc(study->point_count, sizeof *plan->points),
                                .estimates = calloc(study->point_count, sizeof *plan->estimates),
                                .timeout_s = options->timeout_s,
                                .is_quiet = options->quiet};
    plan->memory_bytes = options->memory_bytes > 0 ? options->memory_bytes : memory_of_machine();
    if (plan->points == NULL || plan->estimates == NULL)
        return cw_error_memory(error, "the points of the study");
    choose(plan, shard, states, options->retry);
    if (!estimate_and_order(plan))
        return cw_error_memory(error, "the estimates of the study");
    choose_workers(plan, options);
    plan->machine_bytes = machine_bytes_of(plan);
    return CW_OK;
}

void sweep_plan_free(struct sweep_plan *plan)
{
    free(plan->points);
    free(plan->groups);
    free(plan->estimates);
}

double sweep_plan_seconds(const struct sweep_plan *plan)
{
    double seconds = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        seconds += plan->estimates[plan->points[i]].seconds;
    return seconds;
}

/* ---- as a table ------------------------------------------------------------------------------ */

static void print_line(FILE *file, const struct sweep_plan *plan, uint32_t point)
{
    const struct study_estimate *const estimate = &plan->estimates[point];
    char events[ESTIMATE_TEXT_BYTES], bytes[ESTIMATE_TEXT_BYTES], seconds[ESTIMATE_TEXT_BYTES];
    char *const label = study_label(plan->study, point);
    if (estimate->is_known)
        fprintf(file, "%7u %10s %10s %10s  %s\n", point,
                estimate_number_text(estimate->events, events),
                estimate_bytes_text((double)estimate->bytes, bytes),
                estimate_seconds_text(estimate->seconds, seconds), label != NULL ? label : "");
    else
        fprintf(file, "%7u %10s %10s %10s  %s\n", point, "-", "-", "refused",
                label != NULL ? label : "");
    free(label);
}

void sweep_plan_print(FILE *file, const struct sweep_plan *plan, bool each)
{
    double events = 0, most_bytes = 0;
    char texts[4][ESTIMATE_TEXT_BYTES];
    if (plan->count == 0) {
        fprintf(file,
                "# %s: no point is left to run; --retry runs those again that have no result\n",
                plan->study->name);
        return;
    }
    if (each)
        fprintf(file, "#%6s %10s %10s %10s  %s\n", "point", "events", "memory", "time", "label");
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct study_estimate *const estimate = &plan->estimates[plan->points[i]];
        events += estimate->events;
        if ((double)estimate->bytes > most_bytes)
            most_bytes = (double)estimate->bytes;
        if (each)
            print_line(file, plan, plan->points[i]);
    }
    const double seconds = sweep_plan_seconds(plan);
    fprintf(file,
            "# %s: %u of %u points to run; about %s events, %s of processor time, %s with %u at "
            "once; the largest takes %s\n",
            plan->study->name, plan->count, plan->study->point_count,
            estimate_number_text(events, texts[0]), estimate_seconds_text(seconds, texts[1]),
            estimate_seconds_text(seconds / (plan->workers + (plan->workers == 0)), texts[2]),
            plan->workers, estimate_bytes_text(most_bytes, texts[3]));
}
