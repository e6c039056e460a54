/*
 * phold_command.c: the `cubewarp phold` command: its options and its reports (phold.h).
 */
#include "bench/phold.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/atomic_file.h"
#include "bench/options.h"

/* ---- options -------------------------------------------------------------------------------- */

struct phold_command {
    struct phold_options options;
    enum cw_sync sync;
    uint32_t threads;
    const char *json; /* NULL: none; "-": standard output */
    bool quiet, help;
};

static const char *const sync_names[] = {"sequential", "conservative", "optimistic", "adaptive",
                                         "stress"};
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
    "  --sync MODE        sequential (default)\n"
    "  --threads N        worker threads (1)\n"
    "  --max-memory SIZE  limit on the engine's memory, such as 512MiB (80 % of the machine's)\n"
    "  --json FILE        write the result as JSON to FILE, or to standard output for -\n"
    "  --quiet            no table\n"
    "  --help             this text\n"
    "\n"
    "TIME is a number and ps, ns, us, ms or s; a bare number counts units of 1 us.\n";

static int usage(struct cw_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int usage(struct cw_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    error->exit_code = CW_USAGE;
    return CW_USAGE;
}

/* Reads "--name text" as a whole number from `least` to `greatest`. */
static int parse_count(const char *name, const char *text, uint64_t least, uint64_t greatest,
                       uint64_t *value, struct cw_error *error)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long parsed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || parsed < least ||
        parsed > greatest)
        return usage(error, "--%s %s: a whole number from %" PRIu64 " to %" PRIu64 " is needed",
                     name, text, least, greatest);
    *value = parsed;
    return CW_OK;
}

static int parse_u32(const char *name, const char *text, uint32_t least, uint32_t greatest,
                     uint32_t *value, struct cw_error *error)
{
    uint64_t parsed = 0;
    const int result = parse_count(name, text, least, greatest, &parsed, error);
    if (result == CW_OK)
        *value = (uint32_t)parsed;
    return result;
}

/* A decimal fraction times `unit`, which is a power of ten; exact. NULL: not one, or too large. */
static const char *parse_decimal(const char *text, int64_t unit, int64_t *value)
{
    if (*text < '0' || *text > '9')
        return NULL;
    int64_t sum = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, *text - '0', &sum))
            return NULL;
    if (__builtin_mul_overflow(sum, unit, &sum))
        return NULL;
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++) {
            if (unit < 10 && *text != '0')
                return NULL;
            unit /= 10;
            if (__builtin_add_overflow(sum, (*text - '0') * unit, &sum))
                return NULL;
        }
    *value = sum;
    return text;
}

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
        if (parse_decimal(text, units[i].ps, time_ps) == suffix)
            return CW_OK;
    }
    return usage(
        error,
        "--%s %s: a time is needed: a number of whole ps below 2^63, with a suffix ps, ns, "
        "us, ms, s, or none for units of 1 us",
        name, text);
}

static int parse_probability(const char *name, const char *text, uint64_t *p32,
                             struct cw_error *error)
{
    const size_t length = strlen(text);
    const int64_t billion = 1000000000;
    const bool percent = length > 0 && text[length - 1] == '%';
    int64_t billionths = 0; /* of a per cent, or of 1 */
    const char *const end = parse_decimal(text, billion, &billionths);
    const int64_t whole = percent ? 100 * billion : billion;
    if (end != text + length - percent || billionths > whole)
        return usage(error, "--%s %s: a probability is needed: 0 to 1, or 0%% to 100%%", name,
                     text);
    *p32 = (uint64_t)(((unsigned __int128)billionths << 32) / (unsigned __int128)whole);
    return CW_OK;
}

static int parse_size(const char *name, const char *text, uint64_t *bytes, struct cw_error *error)
{
    if (size_parse(text, strlen(text), bytes) && *bytes > 0)
        return CW_OK;
    return usage(error, "--%s %s: a size is needed, such as 4096, 512MiB or 2GB", name, text);
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
    return usage(error, "--%s %s: legal are %s", name, text, legal);
}

static int parse_option(struct phold_command *command, const char *name, const char *text,
                        struct cw_error *error)
{
    struct phold_options *const options = &command->options;
    size_t index = 0;
    if (strcmp(name, "lps") == 0)
        return parse_u32(name, text, 1, UINT32_MAX - 1, &options->lps, error);
    if (strcmp(name, "population") == 0)
        return parse_u32(name, text, 0, UINT32_MAX, &options->population, error);
    if (strcmp(name, "remote") == 0)
        return parse_probability(name, text, &options->remote_p32, error);
    if (strcmp(name, "mean") == 0)
        return parse_time(name, text, &options->mean_ps, error);
    if (strcmp(name, "lookahead") == 0)
        return parse_time(name, text, &options->lookahead_ps, error);
    if (strcmp(name, "state-bytes") == 0)
        return parse_u32(name, text, 0, UINT32_MAX, &options->state_bytes, error);
    if (strcmp(name, "grain-ns") == 0)
        return parse_u32(name, text, 0, 1000000000, &options->grain_ns, error);
    if (strcmp(name, "end") == 0)
        return parse_time(name, text, &options->end_ps, error);
    if (strcmp(name, "seed") == 0)
        return parse_count(name, text, 0, INT64_MAX, &options->seed, error);
    if (strcmp(name, "max-memory") == 0)
        return parse_size(name, text, &options->memory_bytes_max, error);
    if (strcmp(name, "threads") == 0)
        return parse_u32(name, text, 1, 4096, &command->threads, error);
    int result = CW_OK;
    if (strcmp(name, "traffic") == 0) {
        result = parse_name(name, text, traffic_names, 2, &index, error);
        options->traffic = (enum phold_traffic)index;
    } else if (strcmp(name, "sync") == 0) {
        result = parse_name(name, text, sync_names, 5, &index, error);
        command->sync = (enum cw_sync)index;
    } else if (strcmp(name, "json") == 0) {
        command->json = text;
    } else if (strcmp(name, "quiet") == 0) {
        command->quiet = true;
    } else {
        command->help = true;
    }
    return result;
}

static int parse(struct phold_command *command, int argc, char **argv, struct cw_error *error)
{
    static const struct option known[] = {
        {"lps", required_argument, NULL, 0},
        {"population", required_argument, NULL, 0},
        {"remote", required_argument, NULL, 0},
        {"mean", required_argument, NULL, 0},
        {"lookahead", required_argument, NULL, 0},
        {"state-bytes", required_argument, NULL, 0},
        {"grain-ns", required_argument, NULL, 0},
        {"end", required_argument, NULL, 0},
        {"traffic", required_argument, NULL, 0},
        {"seed", required_argument, NULL, 0},
        {"sync", required_argument, NULL, 0},
        {"threads", required_argument, NULL, 0},
        {"max-memory", required_argument, NULL, 0},
        {"json", required_argument, NULL, 0},
        {"quiet", no_argument, NULL, 0},
        {"help", no_argument, NULL, 0},
        {NULL, 0, NULL, 0},
    };
    optind = 0;
    opterr = 0;
    for (;;) {
        int index = 0;
        const int found = getopt_long(argc, argv, "", known, &index);
        if (found == -1)
            break;
        if (found != 0)
            return usage(error, "%s is not an option, or lacks or has too much of an argument",
                         argv[optind > 0 ? optind - 1 : 0]);
        if (parse_option(command, known[index].name, optarg, error) != CW_OK)
            return CW_USAGE;
    }
    if (optind < argc)
        return usage(error, "%s: phold takes options only", argv[optind]);
    if (command->sync == CW_SEQUENTIAL && command->threads > 1)
        return usage(error, "--sync sequential runs on 1 thread, not on %" PRIu32,
                     command->threads);
    return CW_OK;
}

/* ---- reports -------------------------------------------------------------------------------- */

struct outcome {
    struct cw_stats stats;
    double setup_s;
    uint64_t peak_rss_bytes;
};

static double ratio(double a, double b) { return b > 0 ? a / b : 0; }

static uint64_t peak_rss_bytes(void)
{
    struct rusage usage_of_self;
    getrusage(RUSAGE_SELF, &usage_of_self);
    return (uint64_t)usage_of_self.ru_maxrss * 1024;
}

static void print_table(const struct phold_command *command, const struct outcome *outcome)
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
           sync_names[command->sync], command->threads, stats->events_committed,
           ratio((double)stats->events_committed, stats->run_s),
           ratio((double)stats->events_committed, (double)stats->events_processed), stats->run_s,
           outcome->setup_s, (double)outcome->peak_rss_bytes / 1048576.0, stats->trace_hash);
}

static json_t *engine_json(const struct phold_command *command, const struct outcome *outcome)
{
    const struct cw_stats *const stats = &outcome->stats;
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, stats->trace_hash);
    return json_pack(
        "{s:s, s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, "
        "s:s}",
        "sync", sync_names[command->sync], "threads", (json_int_t)command->threads, "partition",
        "block", "events_committed", (json_int_t)stats->events_committed, "events_processed",
        (json_int_t)stats->events_processed, "rollbacks", (json_int_t)stats->rollbacks,
        "rolled_back_events", (json_int_t)stats->events_rolled_back, "anti_messages",
        (json_int_t)stats->anti_messages, "efficiency",
        ratio((double)stats->events_committed, (double)stats->events_processed), "gvt_rounds",
        (json_int_t)stats->gvt_rounds, "undo_bytes", (json_int_t)stats->undo_bytes, "safe_events",
        (json_int_t)stats->safe_events, "peak_events", (json_int_t)stats->events_alive_max,
        "peak_rss_bytes", (json_int_t)outcome->peak_rss_bytes, "setup_s", outcome->setup_s, "run_s",
        stats->run_s, "committed_events_per_s",
        ratio((double)stats->events_committed, stats->run_s), "trace_hash", hash);
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

static int write_file(const char *path, const char *text, struct cw_error *error)
{
    struct atomic_file file = {.stream = NULL};
    if (atomic_file_open(&file, path, error) != CW_OK)
        return error->exit_code;
    fprintf(file.stream, "%s\n", text);
    return atomic_file_commit(&file, error);
}

static int write_json(const struct phold_command *command, const struct outcome *outcome,
                      struct cw_error *error)
{
    json_t *const root_json =
        json_pack("{s:s, s:s, s:s, s:o?, s:o?}", "schema", "cubewarp.phold/1", "version",
                  CW_VERSION, "command", "phold", "phold", options_json(&command->options),
                  "engine", engine_json(command, outcome));
    char *const text =
        root_json == NULL ? NULL : json_dumps(root_json, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root_json);
    if (text == NULL) {
        snprintf(error->text, sizeof error->text, "out of memory for the JSON result");
        error->exit_code = CW_NO_RESOURCE;
        return error->exit_code;
    }
    int result = CW_OK;
    if (strcmp(command->json, "-") == 0)
        puts(text);
    else
        result = write_file(command->json, text, error);
    free(text);
    return result;
}

int phold_main(int argc, char **argv)
{
    struct phold_command command = {
        .options = phold_defaults(), .sync = CW_SEQUENTIAL, .threads = 1};
    struct cw_error error = {.exit_code = CW_OK};
    struct outcome outcome = {.setup_s = 0};
    int result = parse(&command, argc, argv, &error);
    if (result == CW_OK && command.help) {
        fputs(help_text, stdout);
        return CW_OK;
    }
    if (result == CW_OK)
        result = phold_run(&command.options, command.sync, command.threads, &outcome.stats,
                           &outcome.setup_s, &error);
    outcome.peak_rss_bytes = peak_rss_bytes();
    if (result == CW_OK && command.json != NULL)
        result = write_json(&command, &outcome, &error);
    if (result == CW_OK && !command.quiet &&
        (command.json == NULL || strcmp(command.json, "-") != 0))
        print_table(&command, &outcome);
    if (result != CW_OK)
        fprintf(stderr, "cubewarp phold: %s%s\n", error.text,
                result == CW_USAGE ? "\nTry 'cubewarp phold --help'." : "");
    return result;
}
