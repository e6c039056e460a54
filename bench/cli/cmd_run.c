/*
 * cmd_run.c: `cubewarp run` and `cubewarp step`, which is a run of the bench `step`: configuration,
 * bench, report. Output files are opened before the run,
 * so that a path that cannot be written is known at once, and appear after it, whole. Rows of the
 * table appear as they become known.
 */
#include "bench/cli/cmd_run.h"

#include <stdio.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "bench/options/options_run.h"
#include "bench/options/options_table.h"
#include "bench/programs/bench.h"
#include "bench/programs/costs.h"
#include "bench/measured/measured.h"
#include "bench/programs/run_logs.h"
#include "bench/result/again.h"
#include "bench/result/interrupt.h"
#include "bench/result/provenance.h"
#include "bench/result/run_outputs.h"
#include "collectives/config/config_load.h"
#include "collectives/plugin.h"
#include "core/os/clock.h"
#include "partition/partition.h"

/* Judges the result alone: wrong data, a time below its bound. */
static int run_judged(const struct config *config, const struct result *result,
                      struct cw_error *error)
{
    return result_judge(result, config->hw.contention != HW_CONTENTION_NONE,
                        plugin_is_path(config->ccl.module), error);
}

/* Runs, and has each row written as it is known; *result is the caller's to release. */
static int run_and_report(const struct run_options *options, const struct config *config,
                          struct run_outputs *outputs, struct result *result,
                          struct cw_error *error)
{
    struct measured *measured = NULL;
    int code = run_options_check(options, &config->hw, error);
    const struct measured_wish wish = measured_wish(options, bench_collective(options->bench));
    if (code == CW_OK && options->measured != NULL)
        code = measured_read(options->measured, &wish, &measured, error);
    if (measured != NULL)
        measured_say(measured, stderr);
    if (code == CW_OK) {
        run_outputs_follow(outputs, measured, result);
        code = bench_run(options, config, result, error);
    }
    if (code == CW_OK) {
        if (!outputs->json_to_stdout && !outputs->csv_to_stdout)
            costs_find(options, config, result);
        code = run_outputs_end(outputs, result, error);
        if (code == CW_OK)
            code = run_judged(config, result, error);
    } else if (result->failure != NULL || result->interrupted) {
        struct cw_error ignored; /* the run keeps its own */
        (void)run_outputs_end(outputs, result, &ignored);
    }
    measured_free(measured);
    return code;
}

/* Fills the members of a result that are known before its run. `is_document`: it becomes JSON. */
static int begin_result(struct result *result, int argc, char **argv,
                        const struct run_options *options, const struct config *config,
                        bool is_document, struct cw_error *error)
{
    *result = (struct result){.document = is_document};
    if (is_document) /* which takes as long as a short run takes to build its machine */
        result->provenance = provenance_of_run(argc, argv, options, config, NULL);
    snprintf(result->bench, sizeof result->bench, "%s", options->bench);
    memcpy(result->config_digest, config->digest, sizeof result->config_digest);
    result->seed = options->seed;
    result->shows_machine = options->shows_machine;
    result->rest = options->rest;
    result->engine.sync = cw_sync_name[options->engine.sync];
    result->engine.partition =
        options->partition != NULL ? options->partition : partitioner_at(0)->name;
    if (is_document == (result->provenance != NULL) && provenance_columns(options, result))
        return CW_OK;
    return cw_error_memory(error, "the result's provenance");
}

/* Runs a command line with --again already expanded. */
static int run_of_line(enum command command, int argc, char **argv, const struct again *again)
{
    const char *const name = command_row_of(command)->name;
    struct run_options options;
    struct config *config;
    struct run_outputs outputs;
    struct result result = {0};
    struct cw_error error = {.exit_code = CW_OK};
    const double begun_s = clock_s();
    int code = cli_begin(&options, command, argc, argv, &config);
    if (config == NULL)
        return code;
    options.begun_s = begun_s;
    options.engine.stop = interrupt_asked;
    code = run_outputs_open(&outputs, &options, &error);
    interrupt_watch(run_outputs_late, &outputs);
    if (code == CW_OK)
        code = begin_result(&result, argc, argv, &options, config,
                            options.json != NULL || again->asked, &error);
    if (code == CW_OK)
        code = run_and_report(&options, config, &outputs, &result, &error);
    if (code == CW_INTERRUPTED)
        cli_end_interrupted(name);
    interrupt_end();
    if (code == CW_OK && again->asked)
        code = again_end(again, &result, run_logs_listing(&options), &error);
    run_outputs_close(&outputs);
    result_free(&result);
    config_free(config);
    return cli_end_with(name, code, &error);
}

int run_main(int argc, char **argv)
{
    struct again again;
    struct cw_error error;
    int code = again_begin(&again, argc, argv, &error);
    if (code == CW_OK)
        code = run_of_line(COMMAND_RUN, again.asked ? again.argc : argc,
                           again.asked ? again.argv : argv, &again);
    else
        code = cli_fail("run", &error);
    again_free(&again);
    return code;
}

int step_main(int argc, char **argv)
{
    const struct again none = {0};
    return run_of_line(COMMAND_STEP, argc, argv, &none);
}
