/*
 * cmd_perf.c: `cubewarp perf`: its parts, their options and their help. What the parts do is in
 * cmd_perf_run.c, cmd_perf_compare.c and cmd_perf_project.c, and below them in perf/.
 */
#include "bench/cli/cmd_perf.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "perf/sets.h"

enum { LONG_VALUE = 256, OPTIONS_MAX = 16 };

static const struct {
    enum perf_part part;
    const char *name;
    int (*main)(const struct perf_options *options, struct cw_error *error);
    const char *help;
} parts[] = {
    {PERF_PART_RUN, "run", perf_run_main,
     "Usage: cubewarp perf run [OPTION]...\n"
     "Measures a set of cases in alternation, with a calibration of the machine before and after\n"
     "each measurement; what was disturbed is repeated.\n"},
    {PERF_PART_COMPARE, "compare", perf_compare_main,
     "Usage: cubewarp perf compare [OPTION]... [BASE] [NEW]\n"
     "Names the cases that became slower beyond the noise of both runs; exit code 1 if there are\n"
     "any. BASE and NEW are JSON files of 'perf run', or numbers of runs in the history; by\n"
     "default the last two of this machine that measured the same set.\n"},
    {PERF_PART_PROJECT, "project", perf_project_main,
     "Usage: cubewarp perf project [OPTION]... [-- phold|run OPTION...]\n"
     "Runs the given command on one thread, keeps each event with its cause, and works out what\n"
     "more threads could gain at most: a projection, not a measurement.\n"},
};
#define PARTS (sizeof parts / sizeof *parts)

#define RUN     PERF_PART_RUN
#define COMPARE PERF_PART_COMPARE
#define PROJECT PERF_PART_PROJECT

static const struct row {
    unsigned parts;
    const char *name, *argument, *help;
} rows[] = {
    {RUN, "set", "NAME", ""}, /* listed from the table of sets */
    {RUN | PROJECT, "rounds", "N", "measurements of each case (5)"},
    {RUN, "repeats", "N", "how often one is repeated while it is disturbed (2)"},
    {RUN | PROJECT, "json", "FILE", "write the result as JSON; - for standard output"},
    {RUN | COMPARE, "history", "FILE",
     "the SQLite file that keeps all runs ($XDG_DATA_HOME/cubewarp/perf.sqlite, or the same in "
     "~/.local/share)"},
    {RUN, "no-history", NULL, "do not keep this run"},
    {RUN | COMPARE, "list", NULL, "list the cases of the set, or the runs in the history, instead"},
    {COMPARE, "force", NULL, "compare runs of different machines"},
    {PROJECT, "workers", "LIST", "for how many threads (2,4,8,16,32,64)"},
    {PROJECT, "events", "N", "how many events to keep at most, at 26 bytes each (4000000)"},
    {PROJECT, "no-measure", NULL, "do not measure what two threads gain in fact"},
    {RUN | PROJECT, "quiet", NULL, "say nothing while it runs"},
    {RUN | COMPARE | PROJECT, "help", NULL, "this text"},
};
#define ROWS (sizeof rows / sizeof *rows)

static void print_part_help(size_t part)
{
    printf("%s\n", parts[part].help);
    for (size_t i = 0; i < ROWS; i++) {
        if ((rows[i].parts & parts[part].part) == 0)
            continue;
        char left[40];
        snprintf(left, sizeof left, "--%s %s", rows[i].name,
                 rows[i].argument != NULL ? rows[i].argument : "");
        printf("  %-18s %s", left, rows[i].help);
        for (size_t k = 0; strcmp(rows[i].name, "set") == 0 && perf_set_name(k) != NULL; k++)
            printf("%s%s%s: %s", k == 0 ? "" : "\n                     ", perf_set_name(k),
                   k == 0 ? " (default)" : "", perf_set_help(k));
        putchar('\n');
    }
}

/* ---- options ----------------------------------------------------------------------------------
 */

static int read_workers(struct perf_options *options, const char *text, struct cw_error *error)
{
    char copy[256], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    options->worker_count = 0;
    for (char *word = strtok_r(copy, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
        if (options->worker_count == PERF_WORKERS_MAX)
            return options_usage(error, "--workers %.200s: at most %d numbers", text,
                                 PERF_WORKERS_MAX);
        uint32_t *const worker = &options->workers[options->worker_count++];
        if (options_u32(error, "workers", word, 1, 1024, worker) != CW_OK)
            return CW_USAGE;
    }
    return options->worker_count > 0
               ? CW_OK
               : options_reject(error, "workers", text, "expected numbers such as 2,4,8");
}

static int read_option(struct perf_options *options, const char *name, const char *text,
                       struct cw_error *error)
{
    if (strcmp(name, "set") == 0)
        options->set = text;
    else if (strcmp(name, "rounds") == 0)
        return options_u32(error, name, text, 1, 99, &options->rounds);
    else if (strcmp(name, "repeats") == 0)
        return options_u32(error, name, text, 0, 99, &options->repeats);
    else if (strcmp(name, "json") == 0)
        return options_file(error, name, text, &options->json);
    else if (strcmp(name, "history") == 0)
        return options_file(error, name, text, &options->history);
    else if (strcmp(name, "workers") == 0)
        return read_workers(options, text, error);
    else if (strcmp(name, "events") == 0)
        return options_count(error, name, text, 1, UINT32_MAX - 1, &options->events);
    else if (strcmp(name, "no-history") == 0)
        options->no_history = true;
    else if (strcmp(name, "no-measure") == 0)
        options->no_measure = true;
    else if (strcmp(name, "list") == 0)
        options->list = true;
    else if (strcmp(name, "force") == 0)
        options->force = true;
    else if (strcmp(name, "quiet") == 0)
        options->quiet = true;
    else
        options->help = true;
    return CW_OK;
}

/* Arguments that are no options, and where the part's own end. */
static int read_operands(struct perf_options *options, enum perf_part part, int argc, char **argv,
                         struct cw_error *error)
{
    if (part == PERF_PART_PROJECT) {
        options->command = argv + optind;
        options->command_count = argc - optind;
        return CW_OK;
    }
    for (; optind < argc; optind++) {
        if (part != PERF_PART_COMPARE || options->operand_count == PERF_OPERANDS_MAX)
            return options_usage(error, "unexpected argument '%.200s'", argv[optind]);
        options->operands[options->operand_count++] = argv[optind];
    }
    return CW_OK;
}

int perf_options_parse(struct perf_options *options, enum perf_part part, int argc, char **argv,
                       struct cw_error *error)
{
    struct option known[OPTIONS_MAX] = {{0}};
    const char *names[OPTIONS_MAX];
    size_t count = 0;
    *options = (struct perf_options){.set = perf_set_name(0),
                                     .rounds = 5,
                                     .repeats = 2,
                                     .workers = {2, 4, 8, 16, 32, 64},
                                     .worker_count = 6,
                                     .events = 4000000};
    for (size_t i = 0; i < ROWS; i++) {
        if ((rows[i].parts & part) == 0)
            continue;
        known[count].name = names[count] = rows[i].name;
        known[count].has_arg = rows[i].argument != NULL ? required_argument : no_argument;
        known[count].val = LONG_VALUE + (int)i;
        count++;
    }
    optind = 0;
    opterr = 0;
    int found;
    while ((found = getopt_long(argc, argv, "+:h", known, NULL)) != -1) {
        if (found == '?' && optopt >= LONG_VALUE)
            return options_usage(error, "--%s takes no value", rows[optopt - LONG_VALUE].name);
        if (found == '?')
            return options_unknown(error, argv[optind - 1], optopt, names, count);
        if (found == ':')
            return options_usage(error, "--%s needs a value: %s", rows[optopt - LONG_VALUE].name,
                                 rows[optopt - LONG_VALUE].argument);
        const char *const name = found == 'h' ? "help" : rows[found - LONG_VALUE].name;
        if (read_option(options, name, optarg, error) != CW_OK)
            return CW_USAGE;
    }
    return options->help ? CW_OK : read_operands(options, part, argc, argv, error);
}

/* ---- the command ------------------------------------------------------------------------------
 */

static int cmd_perf_print_help(void)
{
    puts("Usage: cubewarp perf PART [OPTION]...\nThroughput: measured, kept, compared, "
         "projected.\n\n"
         "  run      measure a set of cases\n"
         "  compare  name what became slower than in an earlier run\n"
         "  project  what more threads than this machine has could gain at most\n\n"
         "'cubewarp perf PART --help' lists a part's options.");
    return cli_end("perf", CW_OK);
}

int perf_main(int argc, char **argv)
{
    struct cw_error error = {.exit_code = CW_OK};
    struct perf_options options;
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return cmd_perf_print_help();
    size_t part = 0;
    while (part < PARTS && (argc < 2 || strcmp(argv[1], parts[part].name) != 0))
        part++;
    if (part == PARTS) {
        options_usage(&error, argc < 2 ? "a part is missing: run, compare or project"
                                       : "no such part; there are run, compare and project");
        cli_fail("perf", &error);
        fputs("Try 'cubewarp perf --help'.\n", stderr);
        return CW_USAGE;
    }
    char command[32];
    snprintf(command, sizeof command, "perf %s", parts[part].name);
    int result = perf_options_parse(&options, parts[part].part, argc - 1, argv + 1, &error);
    if (result == CW_OK && options.help) {
        print_part_help(part);
        return cli_end(command, CW_OK);
    }
    if (result == CW_OK)
        result = parts[part].main(&options, &error);
    if (error.exit_code != CW_OK)
        cli_fail(command, &error);
    if (result == CW_USAGE)
        fprintf(stderr, "Try 'cubewarp %s --help'.\n", command);
    return cli_end(command, result);
}
