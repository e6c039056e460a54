/*
 * trend.c: reading, putting in a row, judging (trend.h). trend_print.c writes.
 */
#include "perf/trend/trend.h"

#include <stdlib.h>
#include <string.h>

#include "perf/perf_history.h"
#include "perf/perf_table.h"
#include "perf/sets.h"

void trend_free(struct trend *trend)
{
    for (size_t i = 0; i < trend->run_count; i++)
        perf_run_free(&trend->runs[i]);
    for (size_t i = 0; i < trend->case_count; i++)
        free(trend->cases[i].nights);
    free(trend->runs);
    free(trend->ids);
    free(trend->cases);
    *trend = (struct trend){.run_count = 0};
}

/* ---- one case -------------------------------------------------------------------------------- */

static double loop_ns_of(const struct perf_run *run) { return perf_calibration_of(run).loop_ns; }

static double median_loop_ns(const struct trend *trend)
{
    double *const loops = perf_figures_alloc(trend->run_count);
    for (size_t i = 0; i < trend->run_count; i++)
        loops[i] = loop_ns_of(&trend->runs[i]);
    const double median = perf_median(loops, trend->run_count);
    free(loops);
    return median;
}

static struct trend_night night_of(const struct trend *trend, size_t run,
                                   const struct perf_case_run *measured, double loop_ns)
{
    const struct perf_summary summary = perf_summary_of(measured, PERF_MIXED);
    const double own_ns = loop_ns_of(&trend->runs[run]);
    struct trend_night night = {.run = run,
                                .events_per_s = summary.events_per_s.median,
                                .events = measured->samples[0].events,
                                .disturbed = 2 * summary.disturbed >= summary.rounds};
    night.figure = night.events_per_s * (loop_ns > 0 && own_ns > 0 ? own_ns / loop_ns : 1);
    memcpy(night.results, measured->samples[0].results, sizeof night.results);
    return night;
}

/* Both results are known, and are not the same. */
static bool results_differ(const struct trend_night *a, const struct trend_night *b)
{
    return a->events != b->events ||
           (a->results[0] != '\0' && b->results[0] != '\0' && strcmp(a->results, b->results) != 0);
}

/* False: out of memory. */
static bool judge(struct trend_case *one)
{
    double *const figures = calloc(one->count + 1, sizeof *figures);
    size_t *const runs = calloc(one->count + 1, sizeof *runs);
    if (figures != NULL && runs != NULL) {
        for (size_t i = 0; i < one->count; i++)
            if (!one->nights[i].disturbed) {
                figures[one->counted] = one->nights[i].figure;
                runs[one->counted++] = one->nights[i].run;
            }
        one->change = change_point_of(figures, one->counted);
        one->change_run = one->change.at > 0 ? runs[one->change.at] : 0;
        for (size_t i = 1; i < one->count; i++)
            if (results_differ(&one->nights[i - 1], &one->nights[i]))
                one->results_run = one->nights[i].run;
    }
    const bool done = figures != NULL && runs != NULL;
    free(figures);
    free(runs);
    return done;
}

/* The nights of a case that ran with the command of the newest run. False: out of memory. */
static bool line_up(const struct trend *trend, const struct perf_case_run *newest, double loop_ns,
                    struct trend_case *one)
{
    *one = (struct trend_case){.name = newest->name,
                               .nights = calloc(trend->run_count, sizeof *one->nights)};
    for (size_t i = 0; i < trend->run_count && one->nights != NULL; i++) {
        const struct perf_case_run *const measured = perf_run_find(&trend->runs[i], newest->name);
        if (measured != NULL && measured->sample_count > 0 &&
            strcmp(measured->command, newest->command) == 0)
            one->nights[one->count++] = night_of(trend, i, measured, loop_ns);
    }
    return one->nights != NULL && judge(one);
}

int trend_of_runs(struct perf_run *runs, int64_t *ids, size_t count, struct trend *trend,
                  struct cw_error *error)
{
    *trend = (struct trend){.runs = runs, .ids = ids, .run_count = count};
    const struct perf_run *const newest = &runs[count - 1];
    const double loop_ns = median_loop_ns(trend);
    trend->cases = calloc(newest->case_count + 1, sizeof *trend->cases);
    bool made = trend->cases != NULL;
    for (size_t i = 0; i < newest->case_count && made; i++) {
        if (newest->cases[i].sample_count == 0)
            continue;
        made = line_up(trend, &newest->cases[i], loop_ns, &trend->cases[trend->case_count]);
        trend->case_count++;
    }
    return made ? CW_OK : cw_error_memory(error, "the trend");
}

/* ---- from a history -------------------------------------------------------------------------- */

/* The numbers of the newest `most` runs, newest first. */
static int find_runs(const char *path, const struct perf_machine *machine, const char *set,
                     size_t most, int64_t *ids, size_t *count, struct cw_error *error)
{
    int64_t before = 0;
    *count = 0;
    while (*count < most) {
        int64_t id = 0;
        const int result = perf_history_last(path, machine, set, before, &id, error);
        if (result != CW_OK)
            return result;
        if (id == 0)
            break;
        ids[(*count)++] = before = id;
    }
    return CW_OK;
}

static int read_newest_set(const char *path, const struct perf_machine *machine,
                           char set[PERF_TEXT_BYTES], struct cw_error *error)
{
    struct perf_run run;
    int64_t id = 0;
    int result = perf_history_last(path, machine, NULL, 0, &id, error);
    if (result == CW_OK && id == 0)
        return cw_error_set(error, CW_USAGE, "history %.400s: no run of this machine", path);
    if (result != CW_OK)
        return result;
    result = perf_history_read(path, id, &run, error);
    memcpy(set, run.set, PERF_TEXT_BYTES);
    perf_run_free(&run);
    return result;
}

int trend_read(const char *path, const struct perf_machine *machine, const char *set, size_t most,
               struct trend *trend, struct cw_error *error)
{
    char own_set[PERF_TEXT_BYTES];
    *trend = (struct trend){.run_count = 0};
    int result = CW_OK;
    if (set == NULL) {
        result = read_newest_set(path, machine, own_set, error);
        set = own_set;
    }
    if (result != CW_OK)
        return result;
    int64_t *const found = calloc(most + 1, sizeof *found), *ids = calloc(most + 1, sizeof *ids);
    struct perf_run *const runs = calloc(most + 1, sizeof *runs);
    size_t count = 0, read = 0;
    if (found == NULL || ids == NULL || runs == NULL)
        result = cw_error_memory(error, "the history");
    else
        result = find_runs(path, machine, set, most, found, &count, error);
    for (; result == CW_OK && read < count; read++) {
        ids[read] = found[count - 1 - read];
        result = perf_history_read(path, ids[read], &runs[read], error);
    }
    if (result == CW_OK && count == 0)
        result = cw_error_set(error, CW_USAGE, "history %.400s: no run of this machine and set %s",
                              path, set);
    free(found);
    *trend = (struct trend){.runs = runs, .ids = ids, .run_count = runs == NULL ? 0 : read};
    return result == CW_OK ? trend_of_runs(runs, ids, count, trend, error) : result;
}

/* ---- news ------------------------------------------------------------------------------------ */

static bool is_recent(const struct trend *trend, size_t run)
{
    return run > 0 && run + TREND_RECENT >= trend->run_count;
}

bool trend_is_slower(const struct trend *trend, const struct trend_case *one)
{
    return one->change.at > 0 && one->change.z < 0 && !perf_is_bare(one->name) &&
           is_recent(trend, one->change_run);
}

bool trend_has_new_results(const struct trend *trend, const struct trend_case *one)
{
    return one->results_run > 0 && is_recent(trend, one->results_run);
}
