/*
 * survey_nights.c: judges the newest run of a history as `perf run` and `perf trend` do, and keeps
 * what they say of each case.
 */
#include "bench/survey/survey_nights.h"

#include <stdlib.h>
#include <string.h>

#include "perf/perf_history.h"
#include "perf/perf_table.h"
#include "perf/trend/trend.h"

enum { NIGHTS_MOST = 60 };

static enum survey_verdict_kind kind_of(const struct trend *trend, const struct trend_case *one,
                                        const struct perf_summary *summary, bool meets_goals)
{
    if (trend_is_slower(trend, one))
        return VERDICT_SLOWER;
    if (!meets_goals)
        return VERDICT_MISSED;
    if (trend_has_new_results(trend, one))
        return VERDICT_CHANGED;
    if (2 * summary->disturbed >= summary->rounds)
        return VERDICT_DISTURBED;
    if (one->change.at > 0 && one->change.z > 0)
        return VERDICT_FASTER;
    return one->counted < CHANGE_POINT_NIGHTS_MIN ? VERDICT_NEW : VERDICT_STEADY;
}

static void judge_case(struct survey *survey, const struct trend *trend,
                       const struct trend_case *one)
{
    const struct perf_run *const newest = &trend->runs[trend->run_count - 1];
    const struct perf_case_run *const measured = perf_run_find(newest, one->name);
    if (measured == NULL)
        return;
    char why[TREND_VERDICT_BYTES], goals[PERF_REMARKS_BYTES];
    const struct perf_summary summary = perf_summary_of(measured, PERF_MIXED);
    const bool meets_goals = perf_table_remarks(newest, measured, goals);
    struct survey_verdict *const verdict = survey_more(
        survey, &survey->verdicts, &survey->verdict_count, &survey->verdict_room, sizeof *verdict);
    if (verdict == NULL)
        return;
    trend_verdict(trend, one, why);
    *verdict = (struct survey_verdict){.kind = kind_of(trend, one, &summary, meets_goals),
                                       .name = survey_text(survey, one->name),
                                       .why = survey_text(survey, why),
                                       .goals = survey_text(survey, goals),
                                       .median = summary.events_per_s.median,
                                       .least = summary.events_per_s.least,
                                       .most = summary.events_per_s.most,
                                       .rounds = summary.rounds,
                                       .disturbed = summary.disturbed,
                                       .runs = one->count};
}

static int compare_verdicts(const void *a, const void *b)
{
    const struct survey_verdict *const x = a, *const y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void judge(struct survey *survey, struct survey_night *night, const struct trend *trend)
{
    const struct perf_run *const newest = &trend->runs[trend->run_count - 1];
    night->set = survey_text(survey, newest->set);
    night->host = survey_text(survey, newest->machine.host);
    night->started = survey_text(survey, newest->started);
    night->commit = survey_text(survey, newest->commit);
    night->runs = trend->run_count;
    night->first = survey->verdict_count;
    for (size_t i = 0; i < trend->case_count && !survey->no_memory; i++)
        judge_case(survey, trend, &trend->cases[i]);
    night->count = survey->verdict_count - night->first;
    if (night->count > 1 && !survey->no_memory)
        qsort(&survey->verdicts[night->first], night->count, sizeof *survey->verdicts,
              compare_verdicts);
}

void survey_nights_read(struct survey *survey, const char *path)
{
    struct cw_error error = {.exit_code = CW_OK};
    struct perf_run newest = {.case_count = 0};
    struct trend trend = {.run_count = 0};
    int64_t id = 0;
    struct survey_night *const night = survey_more(survey, &survey->nights, &survey->night_count,
                                                   &survey->night_room, sizeof *night);
    if (night == NULL)
        return;
    night->source = survey_text(survey, path);
    int code = perf_history_last(path, NULL, NULL, 0, &id, &error);
    if (code == CW_OK && id == 0)
        code = cw_error_set(&error, CW_USAGE, "%.300s: there is no run", path);
    if (code == CW_OK)
        code = perf_history_read(path, id, &newest, &error);
    if (code == CW_OK)
        code = trend_read(path, &newest.machine, newest.set, NIGHTS_MOST, &trend, &error);
    if (code == CW_OK)
        judge(survey, night, &trend);
    else
        night->fault = survey_text(survey, cw_error_text(&error));
    survey->no_memory |= code == CW_NO_RESOURCE;
    trend_free(&trend);
    perf_run_free(&newest);
}
