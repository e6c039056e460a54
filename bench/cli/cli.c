/*
 * cli.c: from the program's arguments to a command, and the beginning and the end that all commands
 * share.
 */
#include "bench/cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "bench/cli/cmd_check.h"
#include "bench/cli/cmd_config.h"
#include "bench/cli/cmd_perf.h"
#include "bench/cli/cmd_phold.h"
#include "bench/cli/cmd_plugin.h"
#include "bench/cli/cmd_replay.h"
#include "bench/cli/cmd_run.h"
#include "bench/cli/cmd_topo.h"
#include "bench/cli/cmd_verify.h"
#include "bench/cli/generate.h"
#include "bench/cli/options_run.h"
#include "bench/cli/options_table.h"
#include "collectives/config/config_load.h"
#include "collectives/config/input/text.h"

static const struct {
    enum command command;
    int (*main)(int argc, char **argv);
} commands[] = {
    {COMMAND_RUN, run_main},       {COMMAND_PHOLD, phold_main},   {COMMAND_CHECK, check_main},
    {COMMAND_CONFIG, config_main}, {COMMAND_TOPO, topo_main},     {COMMAND_VERIFY, verify_main},
    {COMMAND_REPLAY, replay_main}, {COMMAND_PLUGIN, plugin_main}, {COMMAND_PERF, perf_main},
};
#define COMMANDS (sizeof commands / sizeof *commands)

/* Names that are kept for later versions. */
static const char *const planned[] = {"sweep", "report"};
#define PLANNED (sizeof planned / sizeof *planned)

static void print_usage(FILE *file)
{
    fputs("Usage: cubewarp COMMAND [OPTION]...\n"
          "Simulates collective communication inside large AI accelerators.\n\n",
          file);
    for (size_t i = 0; i < COMMANDS; i++) {
        const struct command_row *const row = command_row_of(commands[i].command);
        fprintf(file, "  %-8s %s\n", row->name, row->summary);
    }
    fputs("\n'cubewarp COMMAND --help' lists a command's options; 'cubewarp --version' names the "
          "version.\n",
          file);
}

/* Of the build (bench/build_commit.c); absent where the tests link this file. */
extern const char cw_build_commit[] __attribute__((weak));
extern const char cw_build_compiler[] __attribute__((weak));
extern const char cw_build_flags[] __attribute__((weak));

static void print_version(void)
{
    const struct {
        const char *name, *volatile text; /* may be absent, whatever its type says */
    } lines[] = {
        {"commit", cw_build_commit}, {"compiler", cw_build_compiler}, {"flags", cw_build_flags}};
    printf("cubewarp %s\n", CW_VERSION);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i].text != NULL)
            printf("%s: %s\n", lines[i].name, lines[i].text);
}

static int refuse_command(const char *name)
{
    struct text_nearest nearest = {0};
    char quoted[TEXT_QUOTE_BYTES];
    for (size_t i = 0; i < PLANNED; i++) {
        if (strcmp(name, planned[i]) == 0) {
            fprintf(stderr, "cubewarp %s: not part of this version (%s)\n", name, CW_VERSION);
            return CW_USAGE;
        }
        text_nearest_try(&nearest, name, planned[i]);
    }
    for (size_t i = 0; i < COMMANDS; i++)
        text_nearest_try(&nearest, name, command_row_of(commands[i].command)->name);
    fprintf(stderr, "cubewarp: unknown command %s", text_quote(name, strlen(name), quoted));
    if (nearest.best != NULL)
        fprintf(stderr, "; did you mean '%s'?", nearest.best);
    fputs("\nTry 'cubewarp --help'.\n", stderr);
    return CW_USAGE;
}

int cli_main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return CW_USAGE;
    }
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit on files fails, and is told as such */
    const char *const name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_usage(stdout);
        return cli_end("help", CW_OK);
    }
    if (strcmp(name, "--version") == 0) {
        print_version();
        return cli_end("version", CW_OK);
    }
    if (strcmp(name, "--generate") == 0)
        return generate_main(argc - 1, argv + 1);
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, command_row_of(commands[i].command)->name) == 0)
            return commands[i].main(argc - 1, argv + 1);
    return refuse_command(name);
}

int cli_fail(const char *command, const struct cw_error *error)
{
    fprintf(stderr, "cubewarp %s: %s\n", command, error->text);
    if (error->exit_code == CW_BUG)
        fprintf(stderr,
                "This is a bug in cubewarp %s. Please report it with the command line and the "
                "output of 'cubewarp config' with the same options.\n",
                CW_VERSION);
    return error->exit_code;
}

int cli_end(const char *command, int result)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return result;
    fprintf(stderr, "cubewarp %s: cannot write to standard output: %s\n", command,
            strerror(errno != 0 ? errno : EIO));
    return result == CW_OK ? CW_NO_RESOURCE : result;
}

void cli_hint(const char *command) { fprintf(stderr, "Try 'cubewarp %s --help'.\n", command); }

bool cli_read(struct options *options, int argc, char **argv, int *code)
{
    const char *const name = command_row_of(options->command)->name;
    struct cw_error error = {.exit_code = CW_OK};
    *code = options_read(options, argc, argv, &error);
    if (*code != CW_OK) {
        cli_fail(name, &error);
        cli_hint(name);
        return false;
    }
    if (!options->help)
        return true;
    options_print_help(options->command);
    *code = cli_end(name, CW_OK);
    return false;
}

int cli_begin(struct run_options *run, enum command command, int argc, char **argv,
              struct config **config)
{
    struct options options = {.command = command, .values = run};
    int code;
    *config = NULL;
    run_options_defaults(run);
    if (!cli_read(&options, argc, argv, &code))
        return code;
    struct config_errors errors = {0};
    code = config_load(&run->config, config, &errors);
    config_errors_print(stderr, &errors);
    config_errors_free(&errors);
    if (code == CW_NO_RESOURCE)
        fprintf(stderr, "cubewarp %s: out of memory while loading the configuration\n",
                command_row_of(command)->name);
    return code;
}
