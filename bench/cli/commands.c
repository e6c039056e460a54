/*
 * commands.c: the table of commands (commands.h).
 */
#include "bench/cli/commands.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/cli/cli.h"
#include "bench/cli/cmd_calibrate.h"
#include "bench/cli/cmd_check.h"
#include "bench/cli/cmd_config.h"
#include "bench/cli/cmd_list.h"
#include "bench/cli/cmd_perf.h"
#include "bench/cli/cmd_phold.h"
#include "bench/cli/cmd_plugin.h"
#include "bench/cli/cmd_replay.h"
#include "bench/cli/cmd_run.h"
#include "bench/cli/cmd_topo.h"
#include "bench/cli/cmd_verify.h"
#include "bench/cli/cmd_workload.h"
#include "bench/cli/generate.h"
#include "bench/options/options_table.h"
#include "bench/output/atomic_file.h"
#include "bench/cli/cmd_report.h"
#include "bench/cli/cmd_compare.h"
#include "bench/cli/cmd_sweep.h"
#include "collectives/config/input/text.h"
#include "core/os/plain_locale.h"
#include "core/os/sync.h"

static const struct {
    enum command command;
    int (*main)(int argc, char **argv);
} commands[] = {
    {COMMAND_RUN, run_main},
    {COMMAND_STEP, step_main},
    {COMMAND_PHOLD, phold_main},
    {COMMAND_CHECK, check_main},
    {COMMAND_CONFIG, config_main},
    {COMMAND_TOPO, topo_main},
    {COMMAND_VERIFY, verify_main},
    {COMMAND_BATCH, batch_main},
    {COMMAND_REPLAY, replay_main},
    {COMMAND_PLUGIN, plugin_main},
    {COMMAND_COMPARE, compare_main},
    {COMMAND_SWEEP, sweep_main},
    {COMMAND_REPORT, report_main},
    {COMMAND_LIST, list_main},
    {COMMAND_CALIBRATE, calibrate_main},
    {COMMAND_WORKLOAD, workload_main},
    {COMMAND_PERF, perf_main},
};
#define COMMANDS (sizeof commands / sizeof *commands)

static void print_usage(FILE *file)
{
    fputs("Usage: cubewarp COMMAND [OPTION]...\n"
          "Simulates collective communication inside large AI accelerators.\n\n",
          file);
    for (size_t i = 0; i < COMMANDS; i++) {
        const struct command_row *const row = command_row_of(commands[i].command);
        fprintf(file, "  %-9s %s\n", row->name, row->summary);
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
    static const char *const others[] = {"help", "--help", "--version", "--generate"};
    for (size_t i = 0; i < COMMANDS; i++)
        text_nearest_try(&nearest, name, command_row_of(commands[i].command)->name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        text_nearest_try(&nearest, name, others[i]);
    for (size_t i = 0; nearest.best == NULL && command_row_at(i) != NULL; i++) {
        const char *const part = strchr(command_row_at(i)->name, ' '); /* of perf */
        if (part != NULL && strcmp(part + 1, name) == 0)
            nearest.best = command_row_at(i)->name;
    }
    fprintf(stderr, "cubewarp: unknown command %s", text_quote(name, strlen(name), quoted));
    if (nearest.best != NULL)
        fprintf(stderr, "; did you mean '%s'?", nearest.best);
    fputs("\nTry 'cubewarp --help'.\n", stderr);
    return CW_USAGE;
}

/* Jansson's reader continues without values that it has no memory for, and may crash. So the
 * process ends there: output files are absent or whole at any end. */
static void *json_memory(size_t bytes)
{
    static const char message[] = "cubewarp: out of memory for a value of JSON\n";
    void *const memory = malloc(bytes);
    if (memory != NULL)
        return memory;
    (void)!write(STDERR_FILENO, message, sizeof message - 1);
    atomic_file_abandon_all();
    _exit(CW_NO_RESOURCE);
}

/* The next file that is opened would take the number of a standard stream that the caller has
 * closed, and get what is printed. So such a stream is opened here, in a way in which its every use
 * fails. */
static void hold_standard_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0)
            (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* `help COMMAND` is `COMMAND --help`. */
static void ask_for_help(int argc, char **argv)
{
    static char option[] = "--help";
    memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof *argv);
    argv[argc - 1] = option;
}

int commands_main(int argc, char **argv)
{
    hold_standard_streams();
    plain_locale_use();
    json_set_alloc_funcs(json_memory, free);
    if (argc < 2) {
        print_usage(stderr);
        return CW_USAGE;
    }
    /* Registers the process for membarrier while it has one thread. Once there is a second one, the
     * kernel waits for all cores first: 13 ms in every run on several threads. */
    (void)sync_can_fence_all();
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit on files fails, and is reported as such */
    signal(SIGCHLD, SIG_DFL); /* ignored, as a launcher may leave it, it hides how processes end */
    if (argc > 2 && strcmp(argv[1], "help") == 0)
        ask_for_help(argc, argv);
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
