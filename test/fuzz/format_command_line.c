/*
 * format_command_line.c: command lines: one word to a line of the input, the command first. The
 * line is read, and then the values that later code reads: the configuration, filters, parts of
 * studies. Nothing runs. Going over the words (options_walk) must agree with
 * reading them. Mutations take words from the tables of options.
 */
#define _GNU_SOURCE /* memrchr */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/options.h"
#include "bench/options/options_compare.h"
#include "bench/options/options_perf.h"
#include "bench/options/options_phold.h"
#include "bench/options/options_plugin.h"
#include "bench/options/options_replay.h"
#include "bench/options/options_report.h"
#include "bench/options/options_run.h"
#include "bench/options/options_sweep.h"
#include "bench/options/options_table.h"
#include "bench/options/options_workload.h"
#include "bench/result/run_line.h"
#include "bench/study/study_shard.h"
#include "bench/trace/timeline_filter.h"
#include "test/fuzz/fuzz.h"

enum {
    LINE_WORDS_MAX = 80,
    WITH_CONFIG =
        COMMAND_RUN | COMMAND_VERIFY | COMMAND_CHECK | COMMAND_CONFIG | COMMAND_TOPO | COMMAND_BATCH
};

/* The values of any command. */
union line_values {
    struct run_options run;
    struct phold_command phold;
    struct sweep_options sweep;
    struct compare_options compare;
    struct report_options report;
    struct replay_options replay;
    struct plugin_options plugin;
    struct perf_options perf;
    struct workload_new_options workload_new;
    struct workload_check_options workload_check;
};

static void count_words(void *arg, const struct option_row *row, char **words, int count)
{
    int *const all = arg;
    (void)row;
    (void)words;
    FUZZ_DEMAND(count == 1 || count == 2);
    *all += count;
}

static bool is_file(const char *name) { return name != NULL && strchr(name, '/') != NULL; }

/* Files that a line names are left alone: the formats of files have entries of their own. */
static void configure(struct run_options *run)
{
    struct config_errors errors = {0};
    struct config *config = NULL;
    struct cw_error error = {.exit_code = CW_OK};
    struct timeline_filter filter;
    struct config_request *const request = &run->config;
    if (is_file(request->preset) || is_file(request->topology) || is_file(request->components) ||
        is_file(request->ccl) || is_file(request->algorithm))
        return;
    request->no_plugins = true;
    const int code = run_line_configure(run, RUN_LINE_ANY_BENCH, &config, &errors);
    FUZZ_DEMAND((code == CW_OK) == (config != NULL));
    FUZZ_DEMAND((code == CW_OK) == (errors.count == 0));
    if (config != NULL) {
        fuzz_demand_error(run_options_check(run, &config->hw, &error), &error);
        const int read = timeline_filter_read(&filter, run->trace_only, run->trace_from_ps,
                                              run->trace_to_ps, &config->hw, &error);
        fuzz_demand_error(read, &error);
        for (size_t i = 0; read == CW_OK && i < filter.places; i++)
            FUZZ_DEMAND(timeline_filter_has(&filter, (struct hw_place){filter.place[i].first[0],
                                                                       filter.place[i].first[1],
                                                                       filter.place[i].last[2]}));
    }
    config_free(config);
    config_errors_free(&errors);
}

static void set_defaults(enum command command, union line_values *values)
{
    memset(values, 0, sizeof *values);
    if ((command & WITH_CONFIG) != 0)
        run_options_defaults(&values->run);
    else if (command == COMMAND_PHOLD)
        values->phold = phold_command_defaults();
    else if (command == COMMAND_PERF_RUN)
        values->perf = (struct perf_options){.set = "quick", .rounds = 5, .repeats = 2};
}

/* `cubewarp COMMAND --help`. */
static void print_help(enum command command)
{
    char name[64];
    snprintf(name, sizeof name, "%s", command_row_of(command)->name);
    char *const part = strchr(name, ' '); /* of perf and workload */
    if (part != NULL)
        *part = '\0';
    (void)fuzz_run(FUZZ_OK, NULL,
                   part != NULL ? (const char *[]){name, part + 1, "--help", NULL}
                                : (const char *[]){name, "--help", NULL});
}

static void read_words(enum command command, int argc, char **argv)
{
    static union line_values values;
    struct option_parse parse = {.command = command, .values = &values};
    struct cw_error error = {.exit_code = CW_OK}, walked = {.exit_code = CW_OK};
    int words = 1;
    set_defaults(command, &values);
    const int code = options_read(&parse, argc, argv, &error);
    fuzz_demand_error(code, &error);
    if (code == CW_OK) {
        FUZZ_DEMAND(options_walk(command, argc, argv, count_words, &words, &walked) == CW_OK);
        FUZZ_DEMAND(words == argc);
    }
    if (code == CW_OK && parse.help)
        print_help(command);
    if (code != CW_OK || parse.help)
        return;
    if ((command & WITH_CONFIG) != 0)
        configure(&values.run);
    if (command == COMMAND_SWEEP) {
        struct study_shard shard;
        fuzz_demand_error(study_shard_read(values.sweep.shard, &shard, &error), &error);
    }
}

/* The command's row; NULL: there is none. */
static const struct command_row *find_command(const char *name)
{
    const struct command_row *row;
    for (size_t i = 0; (row = command_row_at(i)) != NULL; i++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

static void read_command_line(const uint8_t *data, size_t size)
{
    char *argv[LINE_WORDS_MAX + 1] = {NULL}, *const text = malloc(size + 1), *next = text;
    int argc = 0;
    FUZZ_DEMAND(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *word; argc < LINE_WORDS_MAX && (word = strsep(&next, "\n")) != NULL;)
        argv[argc++] = word;
    if (next == NULL && argc > 1 && argv[argc - 1][0] == '\0')
        argc--; /* behind the last line */
    argv[argc] = NULL;
    const struct command_row *const row = find_command(argv[0]);
    if (row == NULL) {
        (void)fuzz_run(FUZZ_USAGE | FUZZ_OK, NULL, (const char *[]){argv[0], "--help", NULL});
    } else if (row->command != COMMAND_PERF) {
        read_words(row->command, argc, argv);
    }
    free(text);
}

/* ---- mutation -------------------------------------------------------------------------------- */

static const char *draw_value(struct fuzz_mutation *mutation, const struct option_row *row)
{
    static const char *const values[] = {"0",
                                         "1",
                                         "-1",
                                         "64",
                                         "18446744073709551615",
                                         "1KiB",
                                         "1KiB:1MiB:x2",
                                         "8192",
                                         "0.25",
                                         "25%",
                                         "10us",
                                         "1e9s",
                                         "90s",
                                         "-",
                                         "f32",
                                         "0.0.0",
                                         "0-3.1",
                                         "1/4",
                                         "array/9",
                                         "1x4",
                                         "2,4,8",
                                         "tiny",
                                         "a=b",
                                         "system.sips.count=4",
                                         "defaults.algorithm=ring_allreduce",
                                         "64x64x64:32",
                                         "links.sip_link.bw_gbs=1e400",
                                         "",
                                         "\x1b[1m"};
    if (row->choice != NULL && fuzz_draw(mutation, 3) > 0) {
        size_t count = 0;
        while (row->choice(count) != NULL)
            count++;
        if (count > 0)
            return row->choice(fuzz_draw(mutation, count));
    }
    return values[fuzz_draw(mutation, sizeof values / sizeof *values)];
}

/* An option of the command, with a value if it takes one, as one or two lines. */
static void draw_option(struct fuzz_mutation *mutation, enum command command, char *text,
                        size_t bytes)
{
    const struct option_row *row = &option_rows[fuzz_draw(mutation, option_row_count)];
    for (size_t tries = 0; tries < 64 && (row->commands & command) == 0; tries++)
        row = &option_rows[fuzz_draw(mutation, option_row_count)];
    const char *const value = row->argument != NULL ? draw_value(mutation, row) : NULL;
    if (value == NULL)
        snprintf(text, bytes, "--%s\n", row->name);
    else if (row->letter != 0 && fuzz_draw(mutation, 2) == 0)
        snprintf(text, bytes, "-%c%s\n", row->letter, value);
    else
        snprintf(text, bytes, "--%s%c%s\n", row->name, fuzz_draw(mutation, 3) == 0 ? '\n' : '=',
                 value);
}

static size_t mutate_command_line(struct fuzz_mutation *mutation, uint8_t *data, size_t size,
                                  size_t room)
{
    char text[512], name[32] = "";
    const uint8_t *const first = memchr(data, '\n', size);
    const uint8_t *const last = size > 0 ? memrchr(data, '\n', size - 1) : NULL;
    const size_t name_bytes = first != NULL ? (size_t)(first - data) : size;
    memcpy(name, data, name_bytes < sizeof name ? name_bytes : sizeof name - 1);
    const struct command_row *const row = find_command(name);
    if (row == NULL || fuzz_draw(mutation, 6) == 0)
        return mutation->bytes(data, size, room);
    if (last != NULL && fuzz_draw(mutation, 4) == 0)
        return (size_t)(last - data) + 1;
    draw_option(mutation, row->command, text, sizeof text);
    const size_t bytes = strlen(text);
    if (size + bytes + 1 > room)
        return size;
    if (data[size - 1] != '\n')
        data[size++] = '\n';
    memcpy(data + size, text, bytes);
    return size + bytes;
}

const struct fuzz_format fuzz_command_line = {
    .name = "command_line", .once = read_command_line, .mutate = mutate_command_line};
