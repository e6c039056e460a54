/*
 * cmd_perf_run.c: `cubewarp perf run`: measures a set, prints the table or the JSON, keeps the run
 * in the history.
 */
#include "bench/cli/cmd_perf_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/cli/cmd_perf_trend.h"
#include "bench/output/atomic_file.h"
#include "bench/result/interrupt.h"
#include "perf/measure.h"
#include "perf/perf_history.h"
#include "perf/perf_json.h"
#include "perf/perf_table.h"
#include "perf/session.h"

static void show_measurement(void *arg, uint32_t round, const char *name, size_t done, size_t count)
{
    const struct perf_options *const options = arg;
    fprintf(stderr, "\r\033[Kround %u of %u, %zu of %zu: %s", (unsigned)round + 1,
            (unsigned)options->rounds, done + 1, count, name);
}

static void on_disturbed(void *arg, const char *name, const char *why, bool again)
{
    (void)arg;
    fprintf(stderr, "%scubewarp perf run: %s: disturbed, %s: %s\n",
            isatty(STDERR_FILENO) ? "\r\033[K" : "", name, why,
            again ? "measured again" : "stays, and is marked");
}

static void on_over(void *arg, size_t measured, size_t count)
{
    (void)arg;
    fprintf(stderr,
            "%scubewarp perf run: the budget was over after %zu of %zu cases of the first round; "
            "the others are left out\n",
            isatty(STDERR_FILENO) ? "\r\033[K" : "", measured, count);
}

static int list_cases(const struct perf_options *options, struct cw_error *error)
{
    struct perf_case *cases;
    size_t count;
    const int result = perf_set_cases(options->set, perf_cores(), &cases, &count, error);
    for (size_t i = 0; i < count && result == CW_OK; i++)
        printf("%-28s %s %s\n", cases[i].name,
               cases[i].program == PERF_BARE ? "perf/bare/baseline" : "cubewarp", cases[i].command);
    free(cases);
    return result;
}

/* Standard output has only the table, or only the JSON if it goes there. A run without a whole
 * round has no figures: nothing is written. */
static int report_measurements(const struct perf_options *options, const struct perf_run *run,
                               struct atomic_file *json, struct cw_error *error)
{
    if (perf_session_rounds(run) == 0)
        return CW_OK;
    if (options->json != NULL && json->stream == NULL)
        return perf_json_write(stdout, run, error);
    perf_table_print(stdout, run);
    if (options->json == NULL)
        return CW_OK;
    const int result = perf_json_write(json->stream, run, error);
    return result == CW_OK ? atomic_file_commit(json, error) : result;
}

/* Finds the history, makes its folder, and checks that it can be written. */
static int open_history(const struct perf_options *options, char *path, size_t bytes,
                        struct cw_error *error)
{
    if (options->no_history)
        return CW_OK;
    int result = perf_trend_history(options, path, bytes, error);
    if (result == CW_OK && options->history == NULL)
        result = perf_history_make_folder(path, error);
    return result == CW_OK ? perf_history_try(path, error) : result;
}

/* Keeps the run, unless it was not wanted, or has no whole round. */
static int keep_in_history(const struct perf_options *options, const char *path,
                           const struct perf_run *run, struct cw_error *error)
{
    int64_t id = 0;
    if (options->no_history || perf_session_rounds(run) == 0)
        return CW_OK;
    const int result = perf_history_add(path, run, &id, error);
    if (result == CW_OK && !options->quiet)
        fprintf(stderr, "run %lld of %s\n", (long long)id, path);
    return result;
}

int perf_run_main(const struct perf_options *options, struct cw_error *error)
{
    char path[4096];
    if (options->list)
        return list_cases(options, error);
    struct atomic_file json = {.stream = NULL};
    struct perf_run run = {.case_count = 0};
    const bool shows = isatty(STDERR_FILENO) && !options->quiet;
    const struct perf_session session = {
        .set = options->set,
        .rounds = options->rounds,
        .repeats_max = options->repeats,
        .progress = shows ? show_measurement : NULL,
        .disturbed = options->quiet ? NULL : on_disturbed,
        .over = options->quiet ? NULL : on_over,
        .arg = (void *)(uintptr_t)options,
        .budget_s = options->budget_s,
        .stop = interrupt_asked,
    };
    interrupt_watch(NULL, NULL); /* before there is any file that an early end would leave */
    int result = open_history(options, path, sizeof path, error);
    if (result == CW_OK && options->json != NULL && strcmp(options->json, "-") != 0)
        result = atomic_file_open(&json, options->json, error);
    if (!perf_has_program(PERF_BARE) && !options->quiet)
        fputs("cubewarp perf run: the bare loops are not built (make perf): left out\n", stderr);
    if (result == CW_OK)
        result = perf_session_run(&session, &run, error);
    if (shows)
        fputs("\r\033[K", stderr);
    if (result == CW_OK)
        result = report_measurements(options, &run, &json, error);
    if (result == CW_OK)
        result = keep_in_history(options, path, &run, error);
    if (result == CW_OK && interrupt_asked(NULL)) {
        fprintf(stderr, "cubewarp perf run: interrupted by %s after %u whole rounds\n",
                interrupt_name(), (unsigned)perf_session_rounds(&run));
        result = interrupt_exit_code();
    }
    interrupt_end();
    atomic_file_discard(&json);
    perf_run_free(&run);
    return result;
}
