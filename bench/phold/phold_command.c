/*
 * phold_command.c: the `cubewarp phold` command: its options and its reports (phold.h).
 */
#include "bench/phold/phold.h"

#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/output/atomic_file.h"
#include "bench/cli/cli.h"
#include "bench/output/engine_log.h"
#include "bench/cli/options.h"
#include "bench/output/progress.h"
#include "bench/output/report.h"
#include "bench/output/result.h"

/* ---- options -------------------------------------------------------------------------------- */

struct phold_command {
    struct phold_options options;
    enum cw_sync sync;
    uint32_t threads;
    const char *json;       /* NULL: none; "-": standard output */
    const char *engine_log; /* NULL: none */
    bool sync_given, verify, quiet, help;
    bool projected; /* by `perf project`, which refuses some options */
};

static const char *const traffic_names[] = {"random", "mesh"};

static const char help_text[] =
    "Usage: cubewarp phold [OPTION]...\n"
    "Runs PHOLD, the standard benchmark of parallel discrete-event engines.\n"
    "\n"
    "  --lps N            logical processes (4096)\n"
    "  --population N     events that each starts with (16)\n"
    "  --remote P         probability that an event goes to a random LP: 0.25 or 25% (0.25)\n"
    "  --mean TIME        mean of the exponential part of a delay (1)\n"
    "  --lookahead TIME   least delay (0.1)\n"
    "  --state-bytes N    state of an LP (16)\n"
    "  --grain-ns N       work per event, in ns of this machine (0)\n"
    "  --end TIME         end time, exclusive (100)\n"
    "  --traffic NAME     random (default), or mesh: tokens hopping in lock-step on a torus\n"
    "  --seed N           (1)\n"
    "  --sync MODE        sequential (default on one thread), adaptive (on several),\n"
    "                     conservative, optimistic, stress\n"
    "  --cancellation HOW of what an undone event sent: aggressive (at once, default) or\n"
    "                     lazy (if it is not sent again)\n"
    "  --stress-rate P    share of events that --sync stress undoes: 0.5 or 50% (10%)\n"
    "  --threads N        worker threads (1)\n"
    "  --no-pin           do not bind threads to cores\n"
    "  --max-memory SIZE  limit on the engine's memory, such as 512MiB (80 % of the machine's)\n"
    "  --json FILE        write the result as JSON to FILE, or to standard output for -\n"
    "  --engine-log FILE  write a row per round of GVT as CSV: how the parallel engine went\n"
    "  --verify           run sequentially, too, and compare what was committed\n"
    "  --quiet            show no progress line\n"
    "  -h, --help         this text\n"
    "\n"
    "TIME is a number and ps, ns, us, ms or s; a bare number counts units of 1 us.\n";

enum { OPTIONS_MAX = 32, LONG_VALUE = 256 }; /* getopt values are this plus the row */

static int parse_time(const char *name, const char *text, int64_t *time_ps, struct cw_error *error)
{
    static const struct {
        const char *suffix;
        int64_t ps;
    } units[] = {{"", 1000000},   {"ps", 1},          {"ns", 1000},
                 {"us", 1000000}, {"ms", 1000000000}, {"s", 1000000000000}};
    const char *const suffix = text + strspn(text, "0123456789.");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(suffix, units[i].suffix) != 0)
            continue;
        if (options_decimal(text, units[i].ps, time_ps) == suffix)
            return CW_OK;
    }
    return options_usage(
        error,
        "--%s %s: a time is needed: a number of whole ps below 2^63, with a suffix ps, ns, "
        "us, ms, s, or none for units of 1 us",
        name, text);
}

static int parse_name(const char *name, const char *text, const char *const *names, size_t count,
                      size_t *index, struct cw_error *error)
{
    char legal[128] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            *index = i;
            return CW_OK;
        }
        used += (size_t)snprintf(legal + used, sizeof legal - used, "%s%s", i == 0 ? "" : ", ",
                                 names[i]);
    }
    return options_usage(error, "--%s %s: legal are %s", name, text, legal);
}

static int parse_option(struct phold_command *command, const char *name, const char *text,
                        struct cw_error *error)
{
    struct phold_options *const options = &command->options;
    size_t index = 0;
    if (strcmp(name, "lps") == 0)
        return options_u32(error, name, text, 1, UINT32_MAX - 1, &options->lps);
    if (strcmp(name, "population") == 0)
        return options_u32(error, name, text, 0, UINT32_MAX, &options->population);
    if (strcmp(name, "remote") == 0)
        return options_probability(error, name, text, &options->remote_p32);
    if (strcmp(name, "cancellation") == 0)
        return options_cancellation(error, name, text, &options->lazy_cancellation);
    if (strcmp(name, "stress-rate") == 0)
        return options_stress_rate(error, name, text, &options->stress_rate_p32);
    if (strcmp(name, "mean") == 0)
        return parse_time(name, text, &options->mean_ps, error);
    if (strcmp(name, "lookahead") == 0)
        return parse_time(name, text, &options->lookahead_ps, error);
    if (strcmp(name, "state-bytes") == 0)
        return options_u32(error, name, text, 0, UINT32_MAX, &options->state_bytes);
    if (strcmp(name, "grain-ns") == 0)
        return options_u32(error, name, text, 0, 1000000000, &options->grain_ns);
    if (strcmp(name, "end") == 0)
        return parse_time(name, text, &options->end_ps, error);
    if (strcmp(name, "seed") == 0)
        return options_count(error, name, text, 0, INT64_MAX, &options->seed);
    if (strcmp(name, "max-memory") == 0)
        return options_size(error, name, text, &options->memory_bytes_max);
    if (strcmp(name, "threads") == 0)
        return options_u32(error, name, text, 1, 1024, &command->threads);
    int result = CW_OK;
    if (strcmp(name, "traffic") == 0) {
        result = parse_name(name, text, traffic_names, 2, &index, error);
        options->traffic = (enum phold_traffic)index;
    } else if (strcmp(name, "sync") == 0) {
        result = parse_name(name, text, cw_sync_name, CW_SYNCS, &index, error);
        command->sync = (enum cw_sync)index;
        command->sync_given = true;
    } else if (strcmp(name, "json") == 0) {
        result = options_file(error, name, text, &command->json);
    } else if (strcmp(name, "engine-log") == 0) {
        result = options_regular_file(error, name, text, &command->engine_log);
    } else if (strcmp(name, "no-pin") == 0) {
        options->pin_workers = false;
    } else if (strcmp(name, "verify") == 0) {
        command->verify = true;
    } else if (strcmp(name, "quiet") == 0) {
        command->quiet = true;
    } else {
        command->help = true;
    }
    return result;
}

/* What getopt_long did not like about the argument that it saw last. */
static int phold_command_reject_argument(const struct option *known, const char *argument,
                                         int found, struct cw_error *error)
{
    const char *names[OPTIONS_MAX];
    size_t count = 0;
    for (; known[count].name != NULL; count++) {
        if (known[count].val == optopt)
            return options_usage(error, found == ':' ? "--%s needs a value" : "--%s takes no value",
                                 known[count].name);
        names[count] = known[count].name;
    }
    return options_unknown(error, argument, optopt, names, count);
}

static int phold_command_parse(struct phold_command *command, int argc, char **argv,
                               struct cw_error *error)
{
    struct option known[OPTIONS_MAX] = {
        {.name = "lps", .has_arg = required_argument},
        {.name = "population", .has_arg = required_argument},
        {.name = "remote", .has_arg = required_argument},
        {.name = "mean", .has_arg = required_argument},
        {.name = "lookahead", .has_arg = required_argument},
        {.name = "state-bytes", .has_arg = required_argument},
        {.name = "grain-ns", .has_arg = required_argument},
        {.name = "end", .has_arg = required_argument},
        {.name = "traffic", .has_arg = required_argument},
        {.name = "seed", .has_arg = required_argument},
        {.name = "sync", .has_arg = required_argument},
        {.name = "cancellation", .has_arg = required_argument},
        {.name = "stress-rate", .has_arg = required_argument},
        {.name = "threads", .has_arg = required_argument},
        {.name = "max-memory", .has_arg = required_argument},
        {.name = "json", .has_arg = required_argument},
        {.name = "engine-log", .has_arg = required_argument},
        {.name = "no-pin"},
        {.name = "verify"},
        {.name = "quiet"},
        {.name = "help"},
    };
    for (int i = 0; known[i].name != NULL; i++)
        known[i].val = LONG_VALUE + i;
    optind = 0;
    opterr = 0;
    for (;;) {
        const int found = getopt_long(argc, argv, ":h", known, NULL);
        if (found == -1)
            break;
        if (found == '?' || found == ':')
            return phold_command_reject_argument(known, argv[optind > 0 ? optind - 1 : 0], found,
                                                 error);
        const char *const name = found == 'h' ? "help" : known[found - LONG_VALUE].name;
        if (command->projected && options_projected(error, name) != CW_OK)
            return CW_USAGE;
        if (parse_option(command, name, optarg, error) != CW_OK)
            return CW_USAGE;
    }
    if (optind < argc)
        return options_usage(error, "%s: phold takes options only", argv[optind]);
    if (!command->sync_given && command->threads > 1)
        command->sync = CW_ADAPTIVE;
    if (command->sync == CW_SEQUENTIAL && command->threads > 1)
        return options_usage(error, "--sync sequential runs on 1 thread, not on %" PRIu32,
                             command->threads);
    if (command->options.stress_rate_p32 != 0 && command->sync != CW_STRESS)
        return options_usage(error, "--stress-rate is for --sync stress");
    if (command->json != NULL && command->engine_log != NULL && strcmp(command->json, "-") != 0 &&
        atomic_file_same(command->json, command->engine_log))
        return options_usage(error, "--json and --engine-log name one file; give each a file of "
                                    "its own");
    return options_cancellation_fits(error, command->sync, command->options.lazy_cancellation);
}

int phold_options_parse(struct phold_options *options, int argc, char **argv,
                        struct cw_error *error)
{
    struct phold_command command = {
        .options = phold_defaults(), .sync = CW_SEQUENTIAL, .threads = 1, .projected = true};
    const int result = phold_command_parse(&command, argc, argv, error);
    *options = command.options;
    return result;
}

/* ---- reports -------------------------------------------------------------------------------- */

struct outcome {
    struct cw_stats stats;
    struct cw_stats *workers; /* [threads]; NULL: unknown */
    double setup_s;
    uint64_t peak_rss_bytes;
};

static double phold_command_ratio(double a, double b) { return b > 0 ? a / b : 0; }

static void phold_command_print_table(const struct phold_command *command,
                                      const struct outcome *outcome)
{
    const struct phold_options *const options = &command->options;
    const struct cw_stats *const stats = &outcome->stats;
    printf("# phold, %s traffic: %" PRIu32 " LPs x %" PRIu32 " events",
           traffic_names[options->traffic], options->lps, options->population);
    if (options->traffic == PHOLD_RANDOM)
        printf(", remote %g %%, mean %g us, lookahead %g us",
               100 * (double)options->remote_p32 / 4294967296.0, (double)options->mean_ps * 1e-6,
               (double)options->lookahead_ps * 1e-6);
    printf(", state %" PRIu32 " B, grain %" PRIu32 " ns, end %g us, seed %" PRIu64 "\n",
           options->state_bytes, options->grain_ns, (double)options->end_ps * 1e-6, options->seed);
    printf("# %-12s %7s %14s %12s %10s %10s %10s %9s  %s\n", "sync", "threads", "committed",
           "committed/s", "efficiency", "run(s)", "setup(s)", "RSS(MiB)", "trace hash");
    printf("  %-12s %7" PRIu32 " %14" PRIu64 " %12.4g %10.3f %10.4f %10.4f %9.1f  %016" PRIx64 "\n",
           cw_sync_name[command->sync], command->threads, stats->events_committed,
           phold_command_ratio((double)stats->events_committed, stats->run_s),
           phold_command_ratio((double)stats->events_committed, (double)stats->events_processed),
           stats->run_s, outcome->setup_s, (double)outcome->peak_rss_bytes / 1048576.0,
           stats->trace_hash);
    report_stress(stdout, stats);
}

static struct result_engine engine_of(const struct phold_command *command,
                                      const struct outcome *outcome)
{
    const struct cw_stats *const stats = &outcome->stats;
    return (struct result_engine){
        .sync = cw_sync_name[command->sync],
        .partition = "block",
        .cancellation = result_cancellation(command->sync, command->options.lazy_cancellation),
        .threads = command->threads,
        .stats = *stats,
        .workers = outcome->workers,
        .worker_count = outcome->workers == NULL ? 0 : command->threads,
        .peak_rss_bytes = outcome->peak_rss_bytes,
        .setup_s = outcome->setup_s,
        .run_s = stats->run_s,
        .events_per_s = phold_command_ratio((double)stats->events_committed, stats->run_s),
    };
}

static json_t *options_json(const struct phold_options *options)
{
    return json_pack(
        "{s:s, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I}", "traffic",
        traffic_names[options->traffic], "lps", (json_int_t)options->lps, "population",
        (json_int_t)options->population, "remote", (double)options->remote_p32 / 4294967296.0,
        "mean_ps", (json_int_t)options->mean_ps, "lookahead_ps", (json_int_t)options->lookahead_ps,
        "state_bytes", (json_int_t)options->state_bytes, "grain_ns", (json_int_t)options->grain_ns,
        "end_ps", (json_int_t)options->end_ps, "seed", (json_int_t)options->seed);
}

static int phold_command_write_json(FILE *file, const struct phold_command *command,
                                    const struct outcome *outcome, struct cw_error *error)
{
    const struct result_engine engine = engine_of(command, outcome);
    json_t *const object = json_pack(
        "{s:s, s:s, s:s, s:o, s:o}", "schema", "cubewarp.phold/1", "version", CW_VERSION, "command",
        "phold", "phold", options_json(&command->options), "engine", report_engine_json(&engine));
    return report_json_object(file, object, 15, error);
}

/* Standard output has the table, or the JSON that was asked for there, alone. */
static int phold_command_report(const struct phold_command *command, const struct outcome *outcome,
                                struct atomic_file *json, struct cw_error *error)
{
    if (command->json != NULL && json->stream == NULL)
        return phold_command_write_json(stdout, command, outcome, error);
    const struct result_engine engine = engine_of(command, outcome);
    phold_command_print_table(command, outcome);
    report_threads(stdout, &engine);
    if (command->json == NULL)
        return CW_OK;
    const int result = phold_command_write_json(json->stream, command, outcome, error);
    return result == CW_OK ? atomic_file_commit(json, error) : result;
}

/* A run in progress. */
struct session {
    const struct phold_options *options;
    struct progress_line line;
    struct atomic_file json, engine_log;
};

static void phold_command_show_progress(void *argument, const struct cw_progress *progress)
{
    struct session *const session = argument;
    progress_show(
        &session->line, progress,
        100 * phold_command_ratio((double)progress->gvt_ps, (double)session->options->end_ps),
        "the time");
}

static void phold_command_log_round(void *argument, const struct cw_progress *progress)
{
    struct session *const session = argument;
    engine_log_row(&session->engine_log, progress);
}

static int run_session(const struct phold_command *command, struct session *session,
                       struct outcome *outcome, struct cw_error *error)
{
    struct phold_options options = command->options;
    options.progress =
        isatty(STDERR_FILENO) && !command->quiet ? phold_command_show_progress : NULL;
    options.each_round = command->engine_log != NULL ? phold_command_log_round : NULL;
    options.progress_arg = session;
    options.workers = outcome->workers;
    const int result = phold_run(&options, command->sync, command->threads, &outcome->stats,
                                 &outcome->setup_s, error);
    if (options.progress != NULL)
        progress_clear();
    outcome->peak_rss_bytes = peak_rss_bytes();
    return result;
}

/* Runs the same model sequentially: what it commits must be the same. */
static int phold_command_verify(const struct phold_command *command, const struct outcome *outcome,
                                struct cw_error *error)
{
    struct cw_stats expected = {0};
    const struct cw_stats *const got = &outcome->stats;
    double setup_s;
    const int result = phold_run(&command->options, CW_SEQUENTIAL, 1, &expected, &setup_s, error);
    if (result != CW_OK)
        return result;
    if (got->trace_hash == expected.trace_hash &&
        got->events_committed == expected.events_committed) {
        fprintf(command->json != NULL && strcmp(command->json, "-") == 0 ? stderr : stdout,
                "# verify: the sequential mode commits the same %" PRIu64 " events, identical\n",
                expected.events_committed);
        return CW_OK;
    }
    snprintf(error->text, sizeof error->text,
             "verify: %s on %" PRIu32 " threads commits %" PRIu64 " events, trace hash %016" PRIx64
             "; sequential %" PRIu64 ", %016" PRIx64,
             cw_sync_name[command->sync], command->threads, got->events_committed, got->trace_hash,
             expected.events_committed, expected.trace_hash);
    error->exit_code = CW_BUG;
    return CW_BUG;
}

/* Files are opened before the run, so that a path that cannot be written is known at once. */
static int run(const struct phold_command *command, struct cw_error *error)
{
    struct session session = {.options = &command->options};
    struct outcome outcome = {.workers = calloc(command->threads, sizeof *outcome.workers)};
    int result = CW_OK;
    if (command->json != NULL && strcmp(command->json, "-") != 0)
        result = atomic_file_open(&session.json, command->json, error);
    if (result == CW_OK && command->engine_log != NULL)
        result = engine_log_open(&session.engine_log, command->engine_log, error);
    if (result == CW_OK)
        result = run_session(command, &session, &outcome, error);
    if (result == CW_OK)
        result = phold_command_report(command, &outcome, &session.json, error);
    if (result == CW_OK && session.engine_log.stream != NULL)
        result = atomic_file_commit(&session.engine_log, error);
    if (result == CW_OK && command->verify)
        result = phold_command_verify(command, &outcome, error);
    atomic_file_discard(&session.json);
    atomic_file_discard(&session.engine_log);
    free(outcome.workers);
    return result;
}

int phold_main(int argc, char **argv)
{
    struct phold_command command = {
        .options = phold_defaults(), .sync = CW_SEQUENTIAL, .threads = 1};
    struct cw_error error = {.exit_code = CW_OK};
    int result = phold_command_parse(&command, argc, argv, &error);
    if (result == CW_OK && command.help) {
        fputs(help_text, stdout);
        return cli_end("phold", CW_OK);
    }
    if (result == CW_OK)
        result = run(&command, &error);
    if (result != CW_OK)
        cli_fail("phold", &error);
    if (result == CW_USAGE)
        fputs("Try 'cubewarp phold --help'.\n", stderr);
    return cli_end("phold", result);
}
