/*
 * cmd_run.c: `cubewarp run`: configuration, bench, report. Output files are opened before the run,
 * so that a path that cannot be written is known at once, and appear after it, whole.
 */
#include "bench/cli/cmd_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/output/atomic_file.h"
#include "bench/programs/bench.h"
#include "bench/programs/measured.h"
#include "bench/cli/cli.h"
#include "bench/options/options_run.h"
#include "bench/output/report.h"
#include "bench/output/report_json.h"
#include "bench/output/report_csv.h"
#include "bench/result/provenance.h"
#include "collectives/config/config_load.h"
#include "collectives/plugin.h"
#include "core/host/clock.h"

struct outputs {
    struct atomic_file json, csv;
    bool json_to_stdout, csv_to_stdout;
};

static bool names_stdout(const char *path) { return path != NULL && strcmp(path, "-") == 0; }

static int open_outputs(const struct run_options *options, struct outputs *outputs,
                        struct cw_error *error)
{
    *outputs = (struct outputs){.json_to_stdout = names_stdout(options->json),
                                .csv_to_stdout = names_stdout(options->csv)};
    int result = CW_OK;
    if (options->json != NULL && !outputs->json_to_stdout)
        result = atomic_file_open(&outputs->json, options->json, error);
    if (result == CW_OK && options->csv != NULL && !outputs->csv_to_stdout)
        result = atomic_file_open(&outputs->csv, options->csv, error);
    return result;
}

/* Standard output has the table, or the JSON or CSV that was asked for there, alone. */
static int write_outputs(struct outputs *outputs, const struct result *result,
                         struct cw_error *error)
{
    int code = CW_OK;
    if (outputs->json_to_stdout)
        code = report_json(stdout, result, error);
    else if (outputs->csv_to_stdout)
        report_csv(stdout, result);
    else
        report_table(stdout, result);
    if (code == CW_OK && outputs->json.stream != NULL) {
        code = report_json(outputs->json.stream, result, error);
        if (code == CW_OK)
            code = atomic_file_commit(&outputs->json, error);
    }
    if (code == CW_OK && outputs->csv.stream != NULL) {
        report_csv(outputs->csv.stream, result);
        code = atomic_file_commit(&outputs->csv, error);
    }
    return code;
}

/* A run that has failed: JSON tells of it. It keeps its own error, whatever happens here. */
static void write_failure(struct outputs *outputs, const struct result *result)
{
    struct cw_error ignored;
    if (outputs->json_to_stdout)
        (void)report_json(stdout, result, &ignored);
    else if (outputs->json.stream != NULL &&
             report_json(outputs->json.stream, result, &ignored) == CW_OK)
        (void)atomic_file_commit(&outputs->json, &ignored);
}

static int run_and_report(const struct run_options *options, const struct config *config,
                          json_t *provenance, struct outputs *outputs, struct cw_error *error)
{
    struct result result = {.provenance = provenance};
    struct measured *measured = NULL;
    int code = provenance != NULL && provenance_columns(options, &result)
                   ? run_options_check(options, &config->hw, error)
                   : cw_error_memory(error, "the result's provenance");
    if (code == CW_OK && options->measured != NULL)
        code = measured_read(options->measured, (enum measured_place)options->measured_place,
                             &measured, error);
    if (code == CW_OK)
        code = bench_run(options, config, &result, error);
    if (measured != NULL)
        measured_attach(measured, &result);
    measured_free(measured);
    if (code == CW_OK) {
        code = write_outputs(outputs, &result, error);
        if (code == CW_OK)
            code = result_judge(&result, config->hw.contention != HW_CONTENTION_NONE,
                                plugin_is_path(config->ccl.module), error);
    } else if (result.failure != NULL)
        write_failure(outputs, &result);
    result_free(&result);
    return code;
}

int run_main(int argc, char **argv)
{
    struct run_options options;
    struct config *config;
    struct outputs outputs;
    struct cw_error error = {.exit_code = CW_OK};
    const double begun_s = clock_s();
    int code = cli_begin(&options, COMMAND_RUN, argc, argv, &config);
    if (config == NULL)
        return code;
    options.begun_s = begun_s;
    code = open_outputs(&options, &outputs, &error);
    if (code == CW_OK)
        code =
            run_and_report(&options, config, provenance_of_run(argc, argv, &options, config, NULL),
                           &outputs, &error);
    atomic_file_discard(&outputs.json);
    atomic_file_discard(&outputs.csv);
    config_free(config);
    code = cli_end("run", code);
    if (error.exit_code != CW_OK)
        code = cli_fail("run", &error);
    return code;
}
