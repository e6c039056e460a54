/*
 * cli.c: from the program's arguments to a command, and what all commands do alike.
 */
#include "bench/cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "bench/cli/cmd_perf.h"
#include "bench/phold/phold.h"
#include "collectives/config/config_source.h"

struct cli_command {
    const char *name;
    int (*main)(int argc, char **argv); /* NULL: not in this version */
    const char *summary;
};

static const struct cli_command commands[] = {
    {"run", run_main, "run a bench on the simulated machine (all-reduce by default)"},
    {"phold", phold_main, "run the engine's benchmark"},
    {"check", check_main, "validate a configuration"},
    {"config", config_main, "print the resolved configuration and where values come from"},
    {"topo", topo_main, "show what a configuration builds"},
    {"verify", verify_main, "run twice and compare every result: reproducibility"},
    {"replay", replay_main, "execute an op log again: the same memory"},
    {"plugin", plugin_main, "write the beginnings of an algorithm of your own"},
    {"perf", perf_main, "measure throughput, compare with earlier runs, project more threads"},
    {"sweep", NULL, NULL},
    {"report", NULL, NULL},
};
#define COMMANDS (sizeof commands / sizeof *commands)

static void print_usage(FILE *file)
{
    fputs("Usage: cubewarp COMMAND [OPTION]...\n"
          "Simulates collective communication inside large AI accelerators.\n\n",
          file);
    for (size_t i = 0; i < COMMANDS; i++)
        if (commands[i].main != NULL)
            fprintf(file, "  %-8s %s\n", commands[i].name, commands[i].summary);
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

static int unknown_command(const char *name)
{
    const char *names[COMMANDS];
    char quoted[TEXT_QUOTE_BYTES];
    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    const char *const nearest = nearest_name(name, names, COMMANDS);
    fprintf(stderr, "cubewarp: unknown command %s", text_quote(name, strlen(name), quoted));
    if (nearest != NULL)
        fprintf(stderr, "; did you mean '%s'?", nearest);
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
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(name, commands[i].name) != 0)
            continue;
        if (commands[i].main != NULL)
            return commands[i].main(argc - 1, argv + 1);
        fprintf(stderr, "cubewarp %s: not part of this version (%s)\n", name, CW_VERSION);
        return CW_USAGE;
    }
    return unknown_command(name);
}

static const char *command_name(enum command command)
{
    switch (command) {
    case COMMAND_RUN:
        return "run";
    case COMMAND_VERIFY:
        return "verify";
    case COMMAND_CHECK:
        return "check";
    case COMMAND_CONFIG:
        return "config";
    case COMMAND_TOPO:
        return "topo";
    case COMMAND_PROJECT:
        return "perf project";
    }
    return "?";
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

int cli_begin(struct run_options *options, enum command command, int argc, char **argv,
              struct config **config)
{
    const char *const name = command_name(command);
    struct cw_error error = {.exit_code = CW_OK};
    *config = NULL;
    if (run_options_parse(options, command, argc, argv, &error) != CW_OK) {
        cli_fail(name, &error);
        fprintf(stderr, "Try 'cubewarp %s --help'.\n", name);
        return CW_USAGE;
    }
    if (options->help) {
        run_options_help(command);
        return cli_end(name, CW_OK);
    }
    struct config_errors errors = {0};
    const int result = config_load(&options->config, config, &errors);
    config_errors_print(stderr, &errors);
    config_errors_free(&errors);
    if (result == CW_NO_RESOURCE)
        fprintf(stderr, "cubewarp %s: out of memory while loading the configuration\n", name);
    return result;
}
