/*
 * sweep_point.c: runs a point with the options that its settings give, and a few that the sweep
 * adds without changing any result.
 */
#include "bench/sweep/sweep_point.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/options_run.h"
#include "bench/result/result_document.h"
#include "bench/result/run_document.h"
#include "bench/study/study_rows.h"
#include "bench/study/study_setting.h"
#include "core/os/host_limits.h"

enum { THREADS_BYTES = 16, ADDED_MAX = 3 };

struct point_runner {
    const struct study *study;
    struct run_kept *kept;
    struct run_options options;
    char threads[THREADS_BYTES]; /* "" : not given */
};

struct point_runner *point_runner_create(const struct study *study, uint32_t threads,
                                         uint64_t machine_bytes)
{
    struct point_runner *const runner = calloc(1, sizeof *runner);
    if (runner == NULL)
        return NULL;
    runner->study = study;
    runner->kept = run_kept_create(machine_bytes);
    if (threads > 0)
        snprintf(runner->threads, sizeof runner->threads, "%u", threads);
    return runner;
}

static bool gives(const struct study_settings *settings, const char *name)
{
    for (uint32_t i = 0; i < settings->count; i++)
        if (strcmp(settings->list[i].name, name) == 0 && !settings->list[i].is_off)
            return true;
    return false;
}

static void add(struct study_settings *settings, const char *name, char *option, char *argument)
{
    settings->list[settings->count++] = (struct study_setting){
        .name = name, .row = study_option(name), .option = option, .argument = argument};
}

/* The point's settings and those that the sweep adds. The caller frees the list; NULL: no memory.
 */
static struct study_settings settings_of(struct point_runner *runner, uint32_t point)
{
    static char threads[] = "--threads", no_pin[] = "--no-pin", quiet[] = "--quiet";
    struct study_settings settings = study_settings_of(runner->study, point);
    struct study_setting *const room =
        settings.list == NULL ? NULL
                              : realloc(settings.list, (settings.count + ADDED_MAX) * sizeof *room);
    if (room == NULL) {
        free(settings.list);
        return (struct study_settings){0};
    }
    settings.list = room;
    if (runner->threads[0] != '\0' && !gives(&settings, "threads") && !gives(&settings, "sync"))
        add(&settings, "threads", threads, runner->threads);
    if (!gives(&settings, "no-pin"))
        add(&settings, "no-pin", no_pin, NULL);
    add(&settings, "quiet", quiet, NULL);
    return settings;
}

/* Runs the settings. `words`: the same as a command line, for the result's provenance. */
static void run_settings(struct point_runner *runner, const struct study_settings *settings,
                         size_t count, char *const *words, struct run_outcome *outcome)
{
    struct option_parse parse = {.command = COMMAND_RUN, .values = &runner->options};
    struct cw_error error = {.exit_code = CW_OK};
    run_options_defaults(&runner->options);
    if (study_settings_give(settings, &parse, &error) == CW_OK)
        (void)run_document(&runner->options, (int)count, words, runner->kept, outcome);
    else
        *outcome =
            (struct run_outcome){.exit_code = CW_USAGE, .message = strdup(cw_error_text(&error))};
}

/* Takes the result as text, with as many digits as `run --json` writes, and its rows. False: no
 * memory. */
static bool take_document(const struct run_outcome *outcome, struct point_result *result)
{
    const bool is_done = outcome->exit_code == CW_OK || outcome->exit_code == CW_DATA_WRONG;
    struct result_document document;
    struct cw_error ignored;
    if (outcome->document == NULL)
        return true;
    result->document =
        json_dumps(outcome->document, JSON_COMPACT | JSON_REAL_PRECISION((size_t)outcome->digits));
    if (result->document == NULL || !is_done)
        return result->document != NULL;
    if (result_document_of(outcome->document, "", &document, &ignored) != CW_OK)
        return false;
    const bool is_packed =
        study_rows_pack(&document, outcome->digits, &result->rows, &result->rows_bytes);
    result_document_free(&document);
    return is_packed;
}

static void fail(struct point_result *result, const char *message)
{
    point_result_free(result);
    result->exit_code = CW_NO_RESOURCE;
    result->message = strdup(message);
}

void point_runner_run(struct point_runner *runner, uint32_t point, struct point_result *result)
{
    size_t count;
    struct run_outcome outcome = {0};
    *result = (struct point_result){0};
    host_limits_forget_peak();
    struct study_settings settings = settings_of(runner, point);
    char **const words = settings.list == NULL ? NULL : study_settings_words(&settings, &count);
    if (words == NULL) {
        fail(result, "out of memory");
    } else {
        run_settings(runner, &settings, count, words, &outcome);
        result->exit_code = outcome.exit_code;
        result->message = outcome.message;
        outcome.message = NULL;
        if (!take_document(&outcome, result))
            fail(result, "out of memory for the result");
    }
    run_outcome_free(&outcome);
    free(words);
    free(settings.list);
}

void point_result_free(struct point_result *result)
{
    free(result->message);
    free(result->document);
    free(result->rows);
    *result = (struct point_result){0};
}
