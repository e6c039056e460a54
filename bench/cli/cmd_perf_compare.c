/*
 * cmd_perf_compare.c: `cubewarp perf compare`: finds the two runs, in files or in the history, and
 * compares them.
 */
#include "bench/cli/cmd_perf_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/cmd_perf_trend.h"
#include "bench/result/compare_runs.h"
#include "collectives/config/input/text.h"
#include "perf/perf_compare.h"
#include "perf/perf_history.h"
#include "perf/perf_json.h"

/* The number of a run that a text in digits names. */
static int read_number(const char *text, const char *history, int64_t *id, struct cw_error *error)
{
    uint64_t number;
    if (text_whole(text, strlen(text), INT64_MAX, &number) == 0)
        return cw_error_set(error, CW_USAGE, "history %.400s: there is no run %.80s", history,
                            text);
    *id = (int64_t)number;
    return CW_OK;
}

/* *id: its number in the history; unchanged for a file. */
static int read_compared_run(const struct perf_options *options, const char *text, int64_t *id,
                             struct perf_run *run, struct cw_error *error)
{
    char path[4096];
    if (!perf_names_run(text))
        return perf_json_read(text, run, error);
    int result = perf_trend_history(options, path, sizeof path, error);
    if (result == CW_OK)
        result = read_number(text, path, id, error);
    return result == CW_OK ? perf_history_read(path, *id, run, error) : result;
}

/* The newest run of this machine before `before`, and of its set, unless that is NULL. */
static int read_last(const struct perf_options *options, const char *set, int64_t *id,
                     struct perf_run *run, struct cw_error *error)
{
    char path[4096];
    struct perf_run here;
    perf_run_begin(&here, "");
    int result = perf_trend_history(options, path, sizeof path, error);
    const int64_t before = *id;
    if (result == CW_OK)
        result = perf_history_last(path, &here.machine, set, before, id, error);
    if (result != CW_OK)
        return result;
    if (*id != 0)
        return perf_history_read(path, *id, run, error);
    return cw_error_set(error, CW_USAGE, "history %.400s: %s", path,
                        before == 0 ? "no run of this machine"
                                    : "no earlier run of this machine with the same set");
}

/* The runs before `after`, of its machine and set, as one. */
static int read_base(const struct perf_options *options, int64_t after, struct perf_run *base,
                     struct cw_error *error)
{
    struct perf_run *const runs = calloc(options->against, sizeof *runs);
    struct perf_run newest = {.case_count = 0};
    char path[4096];
    size_t count = 0;
    int64_t id = after;
    int result = runs == NULL ? cw_error_memory(error, "the runs")
                              : perf_trend_history(options, path, sizeof path, error);
    if (result == CW_OK)
        result = perf_history_read(path, after, &newest, error);
    while (result == CW_OK && count < options->against && id > 0) {
        result = perf_history_last(path, &newest.machine, newest.set, id, &id, error);
        if (result == CW_OK && id > 0) {
            /* in reverse: the oldest ends up first */
            memmove(&runs[1], &runs[0], count * sizeof *runs);
            result = perf_history_read(path, id, &runs[0], error);
            count++;
        }
    }
    if (result == CW_OK && count == 0)
        result = cw_error_set(error, CW_USAGE,
                              "history %.400s: no run before run %lld of that machine and set",
                              path, (long long)after);
    if (result == CW_OK && !perf_base_of(runs, count, base))
        result = cw_error_memory(error, "the runs");
    for (size_t i = 0; i < count; i++)
        perf_run_free(&runs[i]);
    perf_run_free(&newest);
    free(runs);
    return result;
}

/* The newest run, or the one that is named, against those before it. */
static int read_with_base(const struct perf_options *options, struct perf_run *before,
                          struct perf_run *after, struct cw_error *error)
{
    int64_t id = 0;
    const char *const text = options->operand_count > 0 ? options->operands[0] : NULL;
    if (options->operand_count == 2 || (text != NULL && !perf_names_run(text)))
        return cw_error_set(error, CW_USAGE,
                            "--against takes its runs from the history: name the number of one run "
                            "there, or none");
    const int result = text != NULL ? read_compared_run(options, text, &id, after, error)
                                    : read_last(options, NULL, &id, after, error);
    return result == CW_OK ? read_base(options, id, before, error) : result;
}

static int read_both(const struct perf_options *options, struct perf_run *before,
                     struct perf_run *after, struct cw_error *error)
{
    int64_t id = 0;
    if (options->against > 0)
        return read_with_base(options, before, after, error);
    int result = options->operand_count == 2
                     ? read_compared_run(options, options->operands[1], &id, after, error)
                     : read_last(options, NULL, &id, after, error);
    if (result != CW_OK)
        return result;
    return options->operand_count > 0
               ? read_compared_run(options, options->operands[0], &id, before, error)
               : read_last(options, after->set, &id, before, error);
}

int perf_compare_main(const struct perf_options *options, struct cw_error *error)
{
    struct perf_run before = {.case_count = 0}, after = {.case_count = 0};
    char path[4096];
    int result = CW_OK;
    if (options->list) {
        result = perf_trend_history(options, path, sizeof path, error);
        return result == CW_OK ? perf_history_list(path, stdout, error) : result;
    }
    result = read_both(options, &before, &after, error);
    const char *const differs =
        result == CW_OK && !options->force ? perf_machines_differ(&before, &after) : NULL;
    if (differs != NULL)
        result = cw_error_set(error, CW_USAGE, "runs of different machines: %s differs (--force)",
                              differs);
    struct perf_comparison comparison = {.cases = NULL};
    if (result == CW_OK && !perf_compare(&before, &after, &comparison))
        result = cw_error_memory(error, "the comparison");
    if (result == CW_OK)
        result = compare_runs_print(stdout, (enum comparison_format)options->format, &before,
                                    &after, &comparison, error);
    if (result == CW_OK)
        result = (int)perf_outcome_of(&comparison.counts);
    perf_comparison_free(&comparison);
    perf_run_free(&before);
    perf_run_free(&after);
    return result;
}
