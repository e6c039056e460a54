/*
 * cmd_perf_trend.c: `cubewarp perf trend`: all runs of this machine in a row, as a table, as CSV,
 * as a picture.
 */
#include "bench/cli/cmd_perf_trend.h"

#include <stdio.h>
#include <string.h>

#include "bench/output/atomic_file.h"
#include "perf/perf_history.h"
#include "perf/trend/trend.h"

int perf_trend_history(const struct perf_options *options, char *path, size_t bytes,
                       struct cw_error *error)
{
    if (options->history == NULL)
        return perf_history_path(path, bytes, error);
    if ((size_t)snprintf(path, bytes, "%s", options->history) < bytes)
        return CW_OK;
    return cw_error_set(error, CW_USAGE, "--history: the name is too long");
}

/* Writes one file, or standard output for "-". */
static int write_trend(const char *name, void (*print)(FILE *file, const struct trend *trend),
                       const struct trend *trend, struct cw_error *error)
{
    struct atomic_file file = {.stream = NULL};
    if (strcmp(name, "-") == 0) {
        print(stdout, trend);
        return CW_OK;
    }
    int result = atomic_file_open(&file, name, error);
    if (result == CW_OK) {
        print(file.stream, trend);
        result = atomic_file_commit(&file, error);
    }
    atomic_file_discard(&file);
    return result;
}

static bool is_standard_output(const char *name) { return name != NULL && strcmp(name, "-") == 0; }

static int trend_outcome(const struct trend *trend)
{
    bool changed = false;
    for (size_t i = 0; i < trend->case_count; i++) {
        if (trend_is_slower(trend, &trend->cases[i]))
            return PERF_HAS_SLOWER;
        changed |= trend_has_new_results(trend, &trend->cases[i]);
    }
    return changed ? PERF_HAS_OTHER_RESULTS : PERF_WELL;
}

int perf_trend_main(const struct perf_options *options, struct cw_error *error)
{
    char path[4096];
    struct perf_run here;
    struct trend trend = {.run_count = 0};
    perf_run_begin(&here, "");
    if (is_standard_output(options->csv) && is_standard_output(options->svg))
        return cw_error_set(error, CW_USAGE, "--csv - and --svg - cannot share standard output");
    int result = perf_trend_history(options, path, sizeof path, error);
    if (result == CW_OK)
        result = trend_read(path, &here.machine, options->trend_set, options->last, &trend, error);
    if (result == CW_OK && options->csv != NULL)
        result = write_trend(options->csv, trend_print_csv, &trend, error);
    if (result == CW_OK && options->svg != NULL)
        result = write_trend(options->svg, trend_print_svg, &trend, error);
    if (result == CW_OK && !is_standard_output(options->csv) && !is_standard_output(options->svg))
        trend_print(stdout, &trend);
    if (result == CW_OK)
        result = trend_outcome(&trend);
    trend_free(&trend);
    return result;
}
