/*
 * options.c: the table of options, getopt_long over a command's part of it, and --help from it.
 */
#include "bench/cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "bench/programs/bench.h"
#include "bench/cli/options_table.h"
#include "collectives/config/config_source.h"
#include "partition/partition.h"

#define CONFIG_COMMANDS                                                                            \
    (COMMAND_RUN | COMMAND_VERIFY | COMMAND_CHECK | COMMAND_CONFIG | COMMAND_TOPO)
#define RUN_COMMANDS    (COMMAND_RUN | COMMAND_VERIFY)
#define OF_SOME_BENCHES 64  /* beside the commands: bench_takes() */
#define LONG_VALUE      256 /* getopt values of options are this plus the row */

static const struct option_row rows[] = {
    {"topology", 0, CONFIG_COMMANDS, OPTION_TOPOLOGY, "FILE",
     "YAML over the shipped topology.yaml"},
    {"components", 0, CONFIG_COMMANDS, OPTION_COMPONENTS, "FILE", "the same, components.yaml"},
    {"ccl", 0, CONFIG_COMMANDS, OPTION_CCL, "FILE", "the same, ccl.yaml"},
    {"preset", 0, CONFIG_COMMANDS, OPTION_PRESET, "NAME", "configs/presets/NAME.yaml, or a path"},
    {"set", 0, CONFIG_COMMANDS, OPTION_SET, "KEY=VALUE",
     "one value, as in system.sips.count=64; may be repeated"},
    {"algorithm", 0, CONFIG_COMMANDS, OPTION_ALGORITHM, "NAME", "an entry of ccl.yaml"},
    {"no-plugins", 0, CONFIG_COMMANDS, OPTION_NO_PLUGINS, NULL,
     "refuse algorithms that are loaded from a file"},
    {"bench", 0, RUN_COMMANDS, OPTION_BENCH, "NAME", ""}, /* listed from the registry */
    {"bytes", 0, RUN_COMMANDS, OPTION_BYTES, "SIZE",
     "bytes per shard: 4096, 4KiB, 16MB, or a range 1KiB:1GiB:x2"},
    {"n-elem", 0, RUN_COMMANDS, OPTION_N_ELEM, "N", "elements per shard; a range too"},
    {"minbytes", 'b', RUN_COMMANDS, OPTION_LEAST, "SIZE", "as in nccl-tests: first size,"},
    {"maxbytes", 'e', RUN_COMMANDS, OPTION_MOST, "SIZE", "last size,"},
    {"stepfactor", 'f', RUN_COMMANDS, OPTION_FACTOR, "F", "each size F times the one before,"},
    {"stepbytes", 'i', RUN_COMMANDS, OPTION_STEP, "SIZE", "or so much larger"},
    {"dtype", 'd', RUN_COMMANDS, OPTION_DTYPE, "T", "f16 (default), bf16, f32"},
    {"op", 'o', RUN_COMMANDS, OPTION_OP, "OP", "sum (default), max, min, prod"},
    {"iters", 'n', RUN_COMMANDS, OPTION_ITERS, "N", "timed iterations (1)"},
    {"warmup_iters", 'w', RUN_COMMANDS, OPTION_WARMUP, "N", "untimed iterations before them (0)"},
    {"seed", 0, RUN_COMMANDS, OPTION_SEED, "N", "of the input data (1)"},
    {"verify-data", 0, RUN_COMMANDS, OPTION_VERIFY_DATA, NULL,
     "compare the results' bits with the specified order's"},
    {"check", 'c', RUN_COMMANDS, OPTION_CHECK, "N", "as in nccl-tests: --verify-data unless 0"},
    {"no-data", 0, RUN_COMMANDS, OPTION_NO_DATA, NULL, "timing alone, without tensor data"},
    {"from", 0, RUN_COMMANDS | OF_SOME_BENCHES, OPTION_FROM, "S.C.P",
     "SIP.cube.PE of ipcq_pingpong, raw_store (0.0.0)"},
    {"to", 0, RUN_COMMANDS | OF_SOME_BENCHES, OPTION_TO, "S.C.P", "its partner (0.1.0)"},
    {"dir", 0, RUN_COMMANDS | OF_SOME_BENCHES, OPTION_DIR, "D",
     "direction of ipcq_shift: N, S, E (default), W, global_*, intra_*"},
    {"tiles", 0, RUN_COMMANDS | OF_SOME_BENCHES, OPTION_TILES, "N",
     "tiles that each PE sends in ipcq_shift (1)"},
    {"gemm", 0, RUN_COMMANDS | OF_SOME_BENCHES, OPTION_GEMM, "MxNxK",
     "product of gemm and gemm_allreduce on PE 0 of each cube (128x128x512)"},
    {"gemm-tile", 0, RUN_COMMANDS | OF_SOME_BENCHES, OPTION_GEMM_TILE, "N",
     "side of its tiles (32)"},
    {"sync", 0, RUN_COMMANDS, OPTION_SYNC, "MODE",
     "sequential (default on one thread), adaptive (on several), conservative, optimistic, stress"},
    {"threads", 0, RUN_COMMANDS, OPTION_THREADS, "N", "worker threads (1)"},
    {"partition", 0, RUN_COMMANDS, OPTION_PARTITION, "NAME", ""}, /* listed from the registry */
    {"no-pin", 0, RUN_COMMANDS, OPTION_NO_PIN, NULL, "do not bind threads to cores"},
    {"window", 0, RUN_COMMANDS, OPTION_WINDOW, "NS",
     "adaptive, optimistic, stress: speculate at most so many simulated ns beyond GVT"},
    {"cancellation", 0, RUN_COMMANDS, OPTION_CANCELLATION, "HOW",
     "of what an undone event sent: aggressive (at once, default) or lazy (if not sent again)"},
    {"stress-rate", 0, RUN_COMMANDS, OPTION_STRESS_RATE, "P",
     "share of events that --sync stress undoes: 0.5 or 50% (10%)"},
    {"max-memory", 0, RUN_COMMANDS, OPTION_MAX_MEMORY, "SIZE",
     "limit on the engine's memory (80 % of the machine's)"},
    {"json", 0, COMMAND_RUN, OPTION_JSON, "FILE",
     "write the result as JSON; - for standard output"},
    {"csv", 0, COMMAND_RUN, OPTION_CSV, "FILE",
     "write one row per size as CSV; - for standard output"},
    {"ccl-trace", 0, COMMAND_RUN, OPTION_CCL_TRACE, "FILE",
     "write each committed send and receive; - for standard output (standard error beside JSON or "
     "CSV there), as does CUBEWARP_CCL_TRACE=1"},
    {"op-log", 0, COMMAND_RUN, OPTION_OP_LOG, "FILE",
     "write every committed data operation, for cubewarp replay (Zstandard)"},
    {"trace", 0, COMMAND_RUN, OPTION_TRACE, "FILE",
     "write a timeline of kernels and operations as Chrome trace JSON (ui.perfetto.dev)"},
    {"engine-log", 0, COMMAND_RUN, OPTION_ENGINE_LOG, "FILE",
     "write a row per round of GVT as CSV: how the parallel engine went"},
    {"dump-pointers", 0, COMMAND_RUN, OPTION_DUMP_POINTERS, NULL,
     "print the queues at the end (on standard error beside JSON or CSV on standard output)"},
    {"path", 0, COMMAND_TOPO, OPTION_PATH, "A B", "the path from PE A to PE B, each S.C.P"},
    {"svg", 0, COMMAND_TOPO, OPTION_SVG, "FILE", "draw the machine; - for standard output"},
    {"keys", 0, COMMAND_CONFIG, OPTION_KEYS, NULL, "list every key, and what is legal, instead"},
    {"quiet", 0, CONFIG_COMMANDS, OPTION_QUIET, NULL, "show no progress line"},
    {"help", 'h', CONFIG_COMMANDS, OPTION_HELP, NULL, "this text"},
};
#define ROWS (sizeof rows / sizeof *rows)

/* ---- getopt --------------------------------------------------------------------------------- */

/* getopt_long's tables for one command. */
struct getopt_tables {
    struct option known[ROWS + 1];
    const char *names[ROWS];
    size_t count;
    char letters[2 * ROWS + 3];
};

static void fill_tables(struct getopt_tables *tables, enum command command)
{
    *tables = (struct getopt_tables){.letters = "+:"};
    size_t letters = 2;
    for (size_t i = 0; i < ROWS; i++) {
        if ((rows[i].commands & command) == 0)
            continue;
        tables->known[tables->count] =
            (struct option){.name = rows[i].name,
                            .has_arg = rows[i].argument != NULL ? required_argument : no_argument,
                            .val = LONG_VALUE + (int)i};
        tables->names[tables->count++] = rows[i].name;
        if (rows[i].letter == 0)
            continue;
        tables->letters[letters++] = rows[i].letter;
        if (rows[i].argument != NULL)
            tables->letters[letters++] = ':';
    }
}

static const struct option_row *options_row_of(int found)
{
    if (found >= LONG_VALUE && found < LONG_VALUE + (int)ROWS)
        return &rows[found - LONG_VALUE];
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].letter != 0 && rows[i].letter == found)
            return &rows[i];
    return NULL;
}

int options_unknown(struct cw_error *error, const char *argument, int letter,
                    const char *const *names, size_t count)
{
    char quoted[TEXT_QUOTE_BYTES];
    if (strncmp(argument, "--", 2) != 0)
        return options_usage(error, "unknown option -%c",
                             letter > 32 && letter < 127 ? letter : '?');
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
    size_t begins = 0;
    for (size_t i = 0; i < count; i++)
        begins += strncmp(names[i], name, strlen(name)) == 0;
    text_quote(argument, strcspn(argument, "="), quoted);
    if (begins > 1)
        return options_usage(error, "option %s may mean more than one: write more of it", quoted);
    const char *const nearest = nearest_name(name, names, count);
    return nearest == NULL
               ? options_usage(error, "unknown option %s", quoted)
               : options_usage(error, "unknown option %s; did you mean '--%s'?", quoted, nearest);
}

int options_projected(struct cw_error *error, const char *name)
{
    static const char threads[] = "the projection runs the command on one thread and on two itself";
    static const char data[] = "the projection runs the command without tensor data, so that there "
                               "is nothing to verify; drop it";
    static const char output[] = "the projection has no use for what the command reports; drop it";
    static const struct {
        const char *name, *why;
    } refused[] = {
        {"threads", threads},      {"sync", threads},
        {"window", threads},       {"cancellation", threads},
        {"stress-rate", threads},  {"verify-data", data},
        {"check", data},           {"verify", "the projection compares no results; drop it"},
        {"json", output},          {"csv", output},
        {"ccl-trace", output},     {"op-log", output},
        {"trace", output},         {"engine-log", output},
        {"dump-pointers", output}, {"help", "the projection needs a command that runs; drop it"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(name, refused[i].name) == 0)
            return options_usage(error, "--%s: %s", name, refused[i].why);
    return CW_OK;
}

/* What getopt_long did not like about the argument that it saw last. */
static int options_reject_argument(struct options_parse *parse, const struct getopt_tables *tables,
                                   const char *argument, int found)
{
    const struct option_row *const row = options_row_of(optopt);
    if (found == ':' && row != NULL)
        return options_usage(parse->error, "--%s needs a value: --%s %s", row->name, row->name,
                             row->argument);
    if (row != NULL)
        return options_usage(parse->error, "--%s takes no value", row->name);
    return options_unknown(parse->error, argument, optopt, tables->names, tables->count);
}

/* Arguments that are no options: the second PE of --path, else none. */
static int options_read_operand(struct options_parse *parse, const char *text)
{
    char quoted[TEXT_QUOTE_BYTES];
    if (parse->options->path_from == NULL || parse->options->path_to != NULL)
        return options_usage(parse->error, "unexpected argument %s",
                             text_quote(text, strlen(text), quoted));
    parse->options->path_to = text;
    return CW_OK;
}

/* An option that the bench does nothing with would be taken for one that has an effect. */
static int check_taken(struct options_parse *parse, const bool *given)
{
    const char *const bench = parse->options->bench;
    for (size_t i = 0; i < ROWS; i++) {
        if (!(rows[i].commands & OF_SOME_BENCHES) || !given[i] || bench_takes(bench, rows[i].name))
            continue;
        char takers[200] = "";
        for (size_t k = 0; bench_name(k) != NULL; k++)
            if (bench_takes(bench_name(k), rows[i].name))
                snprintf(takers + strlen(takers), sizeof takers - strlen(takers), "%s%s",
                         *takers ? ", " : "", bench_name(k));
        return options_usage(parse->error,
                             "--%s does nothing in the bench %s (--bench); it is for %s",
                             rows[i].name, bench, takers);
    }
    return CW_OK;
}

int run_options_parse(struct run_options *options, enum command command, int argc, char **argv,
                      struct cw_error *error)
{
    *options = (struct run_options){.bench = bench_name(0),
                                    .dtype = DTYPE_F16,
                                    .op = REDOP_SUM,
                                    .iterations = 1,
                                    .seed = 1,
                                    .sync = CW_SEQUENTIAL,
                                    .threads = 1,
                                    .to = {.cube = 1},
                                    .dir = HW_DIR_E,
                                    .tiles = 1,
                                    .gemm = {.m = 128, .n = 128, .k = 512, .tile = 32}};
    options->config.sets = options->sets;
    struct options_parse parse = {.options = options, .error = error};
    struct getopt_tables tables;
    bool given[ROWS] = {false};
    fill_tables(&tables, command == COMMAND_PROJECT ? COMMAND_RUN : command);
    optind = 0; /* getopt: start anew */
    opterr = 0;
    for (;;) {
        const int found = getopt_long(argc, argv, tables.letters, tables.known, NULL);
        if (found == -1 && optind < argc) {
            if (options_read_operand(&parse, argv[optind++]) != CW_OK)
                return CW_USAGE;
            continue;
        }
        if (found == -1)
            break;
        if (found == '?' || found == ':')
            return options_reject_argument(&parse, &tables, argv[optind - 1], found);
        const struct option_row *const row = options_row_of(found);
        if (command == COMMAND_PROJECT && options_projected(error, row->name) != CW_OK)
            return CW_USAGE;
        if (options_read(&parse, row, optarg) != CW_OK)
            return CW_USAGE;
        given[row - rows] = true;
    }
    if (options->path_from != NULL && options->path_to == NULL)
        return options_usage(error, "--path needs two PEs: --path 0.0.0 1.0.0");
    if (options->help)
        return CW_OK;
    const int result = check_taken(&parse, given);
    return result == CW_OK ? options_finish(&parse) : result;
}

static void list_partitioners(void)
{
    const struct partitioner *partitioner;
    printf("cubes to threads:");
    for (uint32_t i = 0; (partitioner = partitioner_at(i)) != NULL; i++)
        printf("\n%28s %s%s: %s", "", partitioner->name, i == 0 ? " (default)" : "",
               partitioner->help);
}

void run_options_help(enum command command)
{
    static const struct {
        enum command command;
        const char *text;
    } intro[] = {
        {COMMAND_RUN, "Usage: cubewarp run [OPTION]...\nRuns a bench on the simulated machine.\n"},
        {COMMAND_VERIFY,
         "Usage: cubewarp verify [OPTION]...\nRuns the same configuration sequentially and in the "
         "given mode, and compares\ntrace hash, data hash and every result.\n"},
        {COMMAND_CHECK, "Usage: cubewarp check [OPTION]...\nValidates a configuration.\n"},
        {COMMAND_CONFIG,
         "Usage: cubewarp config [OPTION]...\nPrints the resolved configuration as YAML that loads "
         "again (as --preset FILE),\nwith the place that each value comes from.\n"},
        {COMMAND_TOPO, "Usage: cubewarp topo [OPTION]...\nShows what a configuration builds.\n"},
    };
    for (size_t i = 0; i < sizeof intro / sizeof *intro; i++)
        if (intro[i].command == command)
            printf("%s\n", intro[i].text);
    for (size_t i = 0; i < ROWS; i++) {
        if ((rows[i].commands & command) == 0)
            continue;
        char left[48];
        char letter[8] = "    ";
        if (rows[i].letter != 0)
            snprintf(letter, sizeof letter, "-%c, ", rows[i].letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, rows[i].name,
                 rows[i].argument != NULL ? " " : "",
                 rows[i].argument != NULL ? rows[i].argument : "");
        printf("  %-26s %s", left, rows[i].help);
        for (size_t k = 0; rows[i].id == OPTION_BENCH && bench_name(k) != NULL; k++)
            printf("%s%s%s", k == 0 ? "" : ", ", bench_name(k), k == 0 ? " (default)" : "");
        if (rows[i].id == OPTION_PARTITION)
            list_partitioners();
        putchar('\n');
    }
}
