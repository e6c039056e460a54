/*
 * cli.c: the beginning and the end that all commands share (cli.h).
 */
#include "bench/cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/cli/default_run.h"
#include "bench/options/options.h"
#include "bench/options/options_run.h"
#include "bench/options/options_table.h"
#include "bench/options/options_unused.h"
#include "bench/options/options_value.h"
#include "bench/output/atomic_file.h"
#include "bench/result/interrupt.h"
#include "bench/result/run_line.h"
#include "collectives/config/config_load.h"
#include "collectives/config/config_place.h"
#include "collectives/config/input/environment.h"
#include "collectives/config/input/text.h"
#include "perf/perf_compare.h"

/* The commands whose options are noted without a configuration. */
#define WITHOUT_CONFIGURATION (COMMAND_PHOLD | COMMAND_SWEEP | COMMAND_LIST)

int cli_fail(const char *command, const struct cw_error *error)
{
    fprintf(stderr, "cubewarp %s: %s\n", command, cw_error_text(error));
    if (error->exit_code == CW_BUG)
        fprintf(stderr,
                "This is a bug in cubewarp %s. Please report it with the command line and the "
                "output of 'cubewarp config' with the same options.\n",
                CW_VERSION);
    return error->exit_code;
}

/* Not a failure: the answer of a command that judges. */
static bool is_verdict(int result)
{
    return result == CW_OK || result == CW_DATA_WRONG || result == PERF_TOO_FEW ||
           result == PERF_HAS_OTHER_RESULTS;
}

int cli_end(const char *command, int result)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return result;
    fprintf(stderr, "cubewarp %s: cannot write to standard output: %s\n", command,
            strerror(errno != 0 ? errno : EIO));
    return is_verdict(result) ? CW_NO_RESOURCE : result;
}

int cli_end_with(const char *command, int result, const struct cw_error *error)
{
    const int ended = cli_end(command, result);
    if (error->exit_code == CW_OK)
        return ended;
    (void)cli_fail(command, error);
    return is_verdict(error->exit_code) ? ended : error->exit_code;
}

static void say_late(void *command, bool second)
{
    (void)second;
    fprintf(stderr, "cubewarp %s: interrupted by %s\n", (const char *)command, interrupt_name());
}

void cli_watch(const char *command) { interrupt_watch(say_late, (void *)(uintptr_t)command); }

void cli_end_interrupted(const char *command)
{
    const char *const name = interrupt_name();
    (void)fflush(stdout);
    fprintf(stderr, "cubewarp %s: interrupted by %s\n", command, name != NULL ? name : "its host");
    atomic_file_abandon_all();
    _exit(interrupt_exit_code()); /* large machines take a while to be freed */
}

void cli_hint(const char *command) { fprintf(stderr, "Try 'cubewarp %s --help'.\n", command); }

/* A misspelt variable would have no effect without a word. One that is near none of cubewarp's own
 * may be somebody else's, and stays. Processes that the command starts do not say it again. */
static void report_misspelt_variables(const char *command)
{
    const char *unknown;
    for (unsigned i = 0; (unknown = environment_unknown(i)) != NULL;) {
        const char *const meant = environment_meant(unknown);
        char quoted[TEXT_QUOTE_BYTES];
        char *const name = meant != NULL ? strndup(unknown, strcspn(unknown, "=")) : NULL;
        if (name != NULL)
            fprintf(stderr, "cubewarp %s: the variable %s has no meaning; did you mean '%s'?\n",
                    command, text_quote(name, strlen(name), quoted), meant);
        if (name == NULL || unsetenv(name) != 0)
            i++;
        free(name);
    }
}

/* Somebody who sets it for HCCL may expect it to be read here, too. */
static void report_foreign_variable(const char *command)
{
    const char *own;
    const char *const name = environment_foreign(&own);
    if (name != NULL)
        fprintf(stderr, "cubewarp %s: the variable %s is not read; %s does here what it does\n",
                command, name, own);
}

bool cli_read(struct option_parse *parse, int argc, char **argv, int *code)
{
    const char *const name = command_row_of(parse->command)->name;
    struct cw_error error = {.exit_code = CW_OK};
    *code = options_read(parse, argc, argv, &error);
    if (*code != CW_OK) {
        cli_fail(name, &error);
        cli_hint(name);
        return false;
    }
    if (!parse->help) {
        if (parse->command != COMMAND_CONFIG) /* which lists them */
            report_misspelt_variables(name);
        if ((parse->command & WITHOUT_CONFIGURATION) != 0)
            options_unused_print(stderr, parse, NULL, false);
        return true;
    }
    options_print_help(parse->command);
    *code = cli_end(name, CW_OK);
    return false;
}

int cli_begin(struct run_options *run, enum command command, int argc, char **argv,
              struct config **config)
{
    struct option_parse parse = {.command = command, .values = run};
    int code;
    *config = NULL;
    run_options_defaults(run);
    if (!cli_read(&parse, argc, argv, &code))
        return code;
    if (command != COMMAND_CONFIG)
        report_foreign_variable(command_row_of(command)->name);
    struct config_errors errors = {0};
    const bool takes_bench =
        (command & (COMMAND_RUN | COMMAND_STEP | COMMAND_VERIFY | COMMAND_CHECK)) != 0;
    run->config.keep_shipped =
        (command & (COMMAND_RUN | COMMAND_STEP)) != 0 && run->json != NULL; /* for its provenance */
    const bool is_batch = command == COMMAND_BATCH;
    if (is_batch)
        run->bench = "ccl_reduce_scatter"; /* the call that it makes */
    const enum run_line_bench bench = run->is_bench_named || is_batch ? RUN_LINE_BENCH
                                      : takes_bench                   ? RUN_LINE_ANY_BENCH
                                                                      : RUN_LINE_NO_BENCH;
    code = run_line_configure(run, bench, config, &errors);
    config_errors_print(stderr, &errors);
    config_errors_free(&errors);
    if (*config != NULL && (command == COMMAND_RUN || command == COMMAND_CHECK))
        default_run_apply(run, config);
    if (*config != NULL)
        config_print_unread(stderr, *config);
    if (*config != NULL && (takes_bench || command == COMMAND_BATCH))
        options_unused_print(stderr, &parse, *config, run->verbose);
    if (code == CW_NO_RESOURCE)
        fprintf(stderr, "cubewarp %s: out of memory while loading the configuration\n",
                command_row_of(command)->name);
    return code;
}
