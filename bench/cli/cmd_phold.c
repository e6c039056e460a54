/*
 * cmd_phold.c: the command `cubewarp phold`: its options, its run and its reports.
 */
#include "bench/cli/cmd_phold.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/output/atomic_file.h"
#include "bench/cli/cli.h"
#include "bench/output/engine_log.h"
#include "bench/output/engine_trace.h"
#include "bench/options/options_phold.h"
#include "bench/output/progress.h"
#include "bench/output/report.h"
#include "bench/output/result.h"
#include "bench/output/report_json.h"
#include "bench/result/interrupt.h"
#include "bench/result/provenance.h"
#include "core/os/host_limits.h"

/* ---- reports -------------------------------------------------------------------------------- */

struct outcome {
    int code;                     /* of the run: enum cw_exit */
    const struct cw_error *error; /* of a run that has failed */
    json_t *provenance;
    struct cw_stats stats;
    struct cw_stats *workers; /* [threads]; NULL: unknown */
    double setup_s;
    uint64_t peak_rss_bytes;
    struct process_phases phases;
};

static double phold_ratio(double a, double b) { return b > 0 ? a / b : 0; }

static void print_table(const struct phold_command *command, const struct outcome *outcome)
{
    const struct phold_options *const options = &command->options;
    const struct cw_stats *const stats = &outcome->stats;
    printf("# phold, %s traffic: %" PRIu32 " LPs x %" PRIu32 " events",
           phold_traffic_name(options->traffic), options->lps, options->population);
    if (options->traffic == PHOLD_RANDOM)
        printf(", remote %g %%, mean %g us, lookahead %g us",
               100 * (double)options->remote_p32 / 4294967296.0, (double)options->mean_ps * 1e-6,
               (double)options->lookahead_ps * 1e-6);
    printf(", state %" PRIu32 " B, grain %" PRIu32 " ns, end %g us, seed %" PRIu64 "\n",
           options->state_bytes, options->grain_ns, (double)options->engine.end_ps * 1e-6,
           options->seed);
    printf("# %-12s %7s %14s %12s %10s %10s %10s %9s  %s\n", "sync", "threads", "committed",
           "committed/s", "efficiency", "run(s)", "setup(s)", "RSS(MiB)", "trace hash");
    printf("  %-12s %7" PRIu32 " %14" PRIu64 " %12.4g %10.3f %10.4f %10.4f %9.1f  %016" PRIx64 "\n",
           cw_sync_name[command->options.engine.sync], command->options.engine.worker_count,
           stats->events_committed, phold_ratio((double)stats->events_committed, stats->run_s),
           report_efficiency(stats), stats->run_s, outcome->setup_s,
           (double)outcome->peak_rss_bytes / 1048576.0, stats->trace_hash);
    report_stress(stdout, stats);
}

static struct result_engine engine_of(const struct phold_command *command,
                                      const struct outcome *outcome)
{
    const struct cw_stats *const stats = &outcome->stats;
    return (struct result_engine){
        .sync = cw_sync_name[command->options.engine.sync],
        .partition = "block",
        .cancellation = result_cancellation(command->options.engine.sync,
                                            command->options.engine.tuning.lazy_cancellation),
        .threads = command->options.engine.worker_count,
        .stats = *stats,
        .workers = outcome->workers,
        .worker_count = outcome->workers == NULL ? 0 : command->options.engine.worker_count,
        .peak_rss_bytes = outcome->peak_rss_bytes,
        .setup_s = outcome->setup_s,
        .phases = &outcome->phases,
        .run_s = stats->run_s,
        .events_per_s = phold_ratio((double)stats->events_committed, stats->run_s),
    };
}

static json_t *options_json(const struct phold_options *options)
{
    return json_pack(
        "{s:s, s:I, s:I, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I}", "traffic",
        phold_traffic_name(options->traffic), "lps", (json_int_t)options->lps, "population",
        (json_int_t)options->population, "remote", (double)options->remote_p32 / 4294967296.0,
        "hot", (double)options->hot_p32 / 4294967296.0, "hot_share",
        (double)options->hot_share_p32 / 4294967296.0, "mean_ps", (json_int_t)options->mean_ps,
        "lookahead_ps", (json_int_t)options->lookahead_ps, "state_bytes",
        (json_int_t)options->state_bytes, "grain_ns", (json_int_t)options->grain_ns, "end_ps",
        (json_int_t)options->engine.end_ps, "seed", (json_int_t)options->seed);
}

static int write_phold_json(FILE *file, const struct phold_command *command,
                            const struct outcome *outcome, struct cw_error *error)
{
    const struct result_engine engine = engine_of(command, outcome);
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:O}", "schema", "cubewarp.phold/1", "version",
                  CW_VERSION, "command", "phold", "phold", options_json(&command->options),
                  "engine", report_engine_json(&engine), "provenance", outcome->provenance);
    if (outcome->code == CW_INTERRUPTED)
        report_put(&object, "interrupted", json_true());
    else if (outcome->code != CW_OK)
        report_put(&object, "error",
                   json_pack("{s:i, s:s}", "exit_code", outcome->code, "message",
                             cw_error_text(outcome->error)));
    return report_json_object(file, object, 15, error);
}

/* Standard output has only the table, or only the JSON if it goes there. */
static int report_phold(const struct phold_command *command, const struct outcome *outcome,
                        struct atomic_file *json, struct cw_error *error)
{
    if (command->json != NULL && json->stream == NULL)
        return write_phold_json(stdout, command, outcome, error);
    const struct result_engine engine = engine_of(command, outcome);
    if (outcome->code == CW_OK || outcome->code == CW_INTERRUPTED) {
        print_table(command, outcome);
        report_threads(stdout, &engine);
    }
    if (outcome->code == CW_INTERRUPTED)
        printf("# interrupted by %s\n", interrupt_name());
    if (command->json == NULL)
        return CW_OK;
    const int result = write_phold_json(json->stream, command, outcome, error);
    return result == CW_OK ? atomic_file_commit(json, error) : result;
}

/* A run in progress. */
struct session {
    const struct phold_options *options;
    struct progress_line line;
    struct atomic_file json, engine_log, engine_trace;
    struct cw_error trace_error; /* of writing the engine's trace */
};

static void show_phold_progress(void *argument, const struct cw_progress *progress)
{
    struct session *const session = argument;
    progress_show(
        &session->line, progress,
        100 * phold_ratio((double)progress->gvt_ps, (double)session->options->engine.end_ps),
        "the time");
}

static void log_phold_round(void *argument, const struct cw_progress *progress)
{
    struct session *const session = argument;
    engine_log_row(&session->engine_log, progress);
}

static void write_phold_trace(void *argument, const struct cw_sim *sim)
{
    struct session *const session = argument;
    (void)engine_trace_write(&session->engine_trace, sim, &session->trace_error);
}

static int run_session(const struct phold_command *command, struct session *session,
                       struct outcome *outcome, struct cw_error *error)
{
    struct phold_options options = command->options;
    options.engine.tuning.progress =
        isatty(STDERR_FILENO) && !command->quiet ? show_phold_progress : NULL;
    options.engine.tuning.each_round = command->engine_log != NULL ? log_phold_round : NULL;
    options.engine.tuning.progress_arg = session;
    options.workers = outcome->workers;
    options.phases = &outcome->phases;
    if (command->engine_trace != NULL) {
        options.engine.tuning.interval_bytes = engine_trace_bytes(options.engine.worker_count);
        options.at_end = write_phold_trace;
        options.at_end_arg = session;
    }
    int result =
        phold_run(&options, command->options.engine.sync, command->options.engine.worker_count,
                  &outcome->stats, &outcome->setup_s, error);
    if (options.engine.tuning.progress != NULL)
        progress_clear();
    if (result == CW_OK && session->trace_error.exit_code != CW_OK) {
        *error = session->trace_error;
        result = error->exit_code;
    }
    outcome->peak_rss_bytes = host_limits_peak_resident_bytes();
    return result;
}

/* Runs the same model sequentially: it must commit the same events. */
static int verify_phold(const struct phold_command *command, const struct outcome *outcome,
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
    return cw_error_set(error, CW_BUG,
                        "verify: %s on %" PRIu32 " threads commits %" PRIu64
                        " events, trace hash %016" PRIx64 "; sequential %" PRIu64 ", %016" PRIx64,
                        cw_sync_name[command->options.engine.sync],
                        command->options.engine.worker_count, got->events_committed,
                        got->trace_hash, expected.events_committed, expected.trace_hash);
}

/* Runs, and writes the files: of a run that has failed or was interrupted, too. */
static int run_and_write(const struct phold_command *command, struct session *session,
                         struct outcome *outcome, struct cw_error *error)
{
    struct cw_error second;
    outcome->code = run_session(command, session, outcome, error);
    outcome->error = error;
    int code =
        outcome->code == CW_USAGE ? CW_OK : report_phold(command, outcome, &session->json, &second);
    if (code == CW_OK && outcome->code != CW_USAGE && session->engine_log.stream != NULL)
        code = atomic_file_commit(&session->engine_log, &second);
    if (outcome->code != CW_OK) /* the run's own error takes precedence */
        return outcome->code;
    if (code != CW_OK)
        *error = second;
    return code;
}

/* Files are opened before the run, so that a path that cannot be written is known at once. */
static int run_phold(const struct phold_command *command, json_t *provenance,
                     struct cw_error *error)
{
    struct session session = {.options = &command->options};
    struct outcome outcome = {
        .provenance = provenance,
        .workers = calloc(command->options.engine.worker_count, sizeof *outcome.workers)};
    int result = provenance != NULL && outcome.workers != NULL
                     ? CW_OK
                     : cw_error_memory(error, "the result's provenance and workers");
    process_phases_begin(&outcome.phases, 0);
    if (result == CW_OK && command->json != NULL && strcmp(command->json, "-") != 0)
        result = atomic_file_open(&session.json, command->json, error);
    if (result == CW_OK && command->engine_log != NULL)
        result = engine_log_open(&session.engine_log, command->engine_log, error);
    if (result == CW_OK && command->engine_trace != NULL)
        result = atomic_file_open(&session.engine_trace, command->engine_trace, error);
    if (result == CW_OK)
        result = run_and_write(command, &session, &outcome, error);
    if (result == CW_OK && command->verify)
        result = verify_phold(command, &outcome, error);
    atomic_file_discard(&session.json);
    atomic_file_discard(&session.engine_log);
    atomic_file_discard(&session.engine_trace);
    free(outcome.workers);
    json_decref(provenance);
    return result;
}

int phold_main(int argc, char **argv)
{
    struct phold_command command = phold_command_defaults();
    struct option_parse parse = {.command = COMMAND_PHOLD, .values = &command};
    struct cw_error error = {.exit_code = CW_OK};
    int result;
    if (!cli_read(&parse, argc, argv, &result))
        return result;
    command.options.engine.stop = interrupt_asked;
    cli_watch("phold");
    result = run_phold(&command, provenance_of_line(argc, argv), &error);
    if (result == CW_INTERRUPTED)
        cli_end_interrupted("phold");
    interrupt_end();
    if (result != CW_OK)
        cli_fail("phold", &error);
    if (result == CW_USAGE)
        cli_hint("phold");
    return cli_end("phold", result);
}
