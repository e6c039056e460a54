/*
 * cmd_perf_compare.c: `cubewarp perf compare`: finds the two runs, in files or in the history, and
 * compares them.
 */
#include "bench/cli/cmd_perf_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/perf_compare.h"
#include "perf/perf_history.h"
#include "perf/perf_json.h"

/* Where the history is: as asked for, or the default. */
static int history_path(const struct perf_options *options, char *path, size_t bytes,
                        struct cw_error *error)
{
    if (options->history == NULL)
        return perf_history_path(path, bytes, error);
    if ((size_t)snprintf(path, bytes, "%s", options->history) < bytes)
        return CW_OK;
    return cw_error_set(error, CW_USAGE, "--history: the name is too long");
}

/* A whole number is a run in the history, anything else a file. */
static int read_compared_run(const struct perf_options *options, const char *text,
                             struct perf_run *run, struct cw_error *error)
{
    char path[4096];
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
        return perf_json_read(text, run, error);
    const int result = history_path(options, path, sizeof path, error);
    return result == CW_OK ? perf_history_read(path, atoll(text), run, error) : result;
}

/* The newest run of this machine before `before`, and of its set, unless that is NULL. */
static int read_last(const struct perf_options *options, const char *set, int64_t *id,
                     struct perf_run *run, struct cw_error *error)
{
    char path[4096];
    struct perf_run here;
    perf_run_begin(&here, "");
    int result = history_path(options, path, sizeof path, error);
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

static int read_both(const struct perf_options *options, struct perf_run *before,
                     struct perf_run *after, struct cw_error *error)
{
    int64_t id = 0;
    int result = options->operand_count == 2
                     ? read_compared_run(options, options->operands[1], after, error)
                     : read_last(options, NULL, &id, after, error);
    if (result != CW_OK)
        return result;
    return options->operand_count > 0
               ? read_compared_run(options, options->operands[0], before, error)
               : read_last(options, after->set, &id, before, error);
}

int perf_compare_main(const struct perf_options *options, struct cw_error *error)
{
    struct perf_run before = {.case_count = 0}, after = {.case_count = 0};
    char path[4096];
    int result = CW_OK;
    if (options->list) {
        result = history_path(options, path, sizeof path, error);
        return result == CW_OK ? perf_history_list(path, stdout, error) : result;
    }
    result = read_both(options, &before, &after, error);
    const char *const differs =
        result == CW_OK && !options->force ? perf_machines_differ(&before, &after) : NULL;
    if (differs != NULL)
        result = cw_error_set(error, CW_USAGE, "runs of different machines: %s differs (--force)",
                              differs);
    if (result == CW_OK && perf_compare_print(stdout, &before, &after) > 0)
        result = 1;
    perf_run_free(&before);
    perf_run_free(&after);
    return result;
}
