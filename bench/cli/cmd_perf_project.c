/*
 * cmd_perf_project.c: `cubewarp perf project`: traces a run, asks for its bounds under the
 * partition that the command would use, and compares them with the measured gain of two threads.
 */
#include "bench/cli/cmd_perf_project.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/output/atomic_file.h"
#include "bench/programs/bench.h"
#include "bench/options/options.h"
#include "bench/options/options_phold.h"
#include "bench/options/options_run.h"
#include "bench/output/report.h"
#include "bench/output/report_json.h"
#include "collectives/config/config_load.h"
#include "collectives/runtime/distributed.h"
#include "lp/layout.h"
#include "lp/host/placement.h"
#include "partition/partition.h"
#include "perf/perf_table.h"
#include "perf/projection.h"
#include "perf/session.h"
#include "collectives/config/input/environment.h"

enum { TYPES_SHOWN = 8 };

/* The command to project: `phold` or `run`. */
struct subject {
    int argc;
    char **argv;
    char line[PERF_COMMAND_BYTES - 64]; /* the same, in one line */
    bool is_phold;
    bool no_data_given; /* --no-data is in the line of run */
    struct phold_options phold;
    struct run_options run;
    struct config *config; /* of run */
    struct lp_model model; /* of run: how LPs are numbered */
    bool has_model;
    uint32_t lp_count;
};

/* A worker count's bounds, and the measurement that they are held against. */
struct outcome {
    struct perf_projection bounds[PERF_WORKERS_MAX];
    struct perf_projection at_two;
    struct perf_spread measured, scaled; /* count 0: not measured */
    enum perf_state state;
};

static int out_of_memory(struct cw_error *error)
{
    return cw_error_memory(error, "the projection");
}

/* ---- the command ------------------------------------------------------------------------------
 */

static char *default_command[] = {"phold", "--end", "50", NULL};

/* The measured command is the line split at blanks, with more options behind it: words with blanks
 * would be split. */
static int check_words(const struct subject *subject, struct cw_error *error)
{
    for (int i = 1; i < subject->argc; i++) {
        if (strpbrk(subject->argv[i], " \t") != NULL)
            return cw_error_set(error, CW_USAGE, "'%.200s': no blanks, please", subject->argv[i]);
        if (strcmp(subject->argv[i], "--") == 0)
            return cw_error_set(error, CW_USAGE, "'--' stands before the command, not in it");
    }
    return CW_OK;
}

static int join_words(struct subject *subject, struct cw_error *error)
{
    size_t used = 0;
    for (int i = 0; i < subject->argc; i++) {
        used += (size_t)snprintf(subject->line + used, sizeof subject->line - used, "%s%s",
                                 i == 0 ? "" : " ", subject->argv[i]);
        if (used >= sizeof subject->line)
            return cw_error_set(error, CW_USAGE, "the command is too long");
    }
    return CW_OK;
}

/* Reads a line of `run` or `phold`; options that have no meaning for a projection are refused. */
static int read_projected(enum command command, void *values, const struct subject *subject,
                          struct cw_error *error)
{
    struct options read = {.command = command, .projected = true, .values = values};
    return options_read(&read, subject->argc, subject->argv, error);
}

static int load_run(struct subject *subject, struct cw_error *error)
{
    run_options_defaults(&subject->run);
    int result = read_projected(COMMAND_RUN, &subject->run, subject, error);
    if (result != CW_OK)
        return result;
    struct config_errors errors = {0};
    result = config_load(&subject->run.config, &subject->config, &errors);
    config_errors_print(stderr, &errors);
    config_errors_free(&errors);
    if (result != CW_OK)
        return cw_error_set(error, CW_USAGE, "the configuration of '%.300s' does not load",
                            subject->line);
    subject->run.quiet = true;
    subject->no_data_given = subject->run.no_data;
    subject->run.no_data = true; /* the projection is about the engine's time */
    result = run_options_check(&subject->run, &subject->config->hw, error);
    if (result != CW_OK)
        return result;
    const struct lp_config queues = dist_queue_config(&subject->config->ccl);
    subject->has_model = lp_layout_init(&subject->model, &subject->config->hw, &queues);
    subject->lp_count = subject->model.lps.count;
    return subject->has_model ? CW_OK : out_of_memory(error);
}

static int load(struct subject *subject, const struct perf_options *options, struct cw_error *error)
{
    const bool given = options->command_count > 0;
    *subject = (struct subject){.argc = given ? options->command_count : 3,
                                .argv = given ? options->command : default_command};
    int result = check_words(subject, error);
    if (result == CW_OK)
        result = join_words(subject, error);
    if (result != CW_OK)
        return result;
    subject->is_phold = strcmp(subject->argv[0], "phold") == 0;
    if (!subject->is_phold && strcmp(subject->argv[0], "run") != 0)
        return cw_error_set(error, CW_USAGE, "'%.200s': phold or run can be projected",
                            subject->argv[0]);
    if (!subject->is_phold)
        return load_run(subject, error);
    struct phold_command phold = phold_command_defaults();
    result = read_projected(COMMAND_PHOLD, &phold, subject, error);
    subject->phold = phold.options;
    subject->lp_count = subject->phold.lps;
    return result;
}

static void unload(struct subject *subject)
{
    if (subject->has_model)
        lp_layout_free(&subject->model);
    config_free(subject->config);
}

static int trace_run(struct subject *subject, struct perf_trace *trace, struct cw_error *error)
{
    if (subject->is_phold) {
        struct cw_stats stats;
        double setup_s;
        subject->phold.engine.trace = perf_trace_note;
        subject->phold.engine.trace_arg = trace;
        return phold_run(&subject->phold, CW_SEQUENTIAL, 1, &stats, &setup_s, error);
    }
    struct result result = {0};
    subject->run.engine.trace = perf_trace_note;
    subject->run.engine.trace_arg = trace;
    const int code = bench_run(&subject->run, subject->config, &result, error);
    result_free(&result);
    return code;
}

/* ---- the partition ----------------------------------------------------------------------------
 */

static void place_phold(const struct subject *subject, uint32_t workers, uint32_t *lp_worker,
                        int64_t *lookahead_ps)
{
    for (uint32_t lp = 0; lp < subject->lp_count; lp++)
        lp_worker[lp] = phold_worker_of(&subject->phold, lp, workers);
    *lookahead_ps = phold_least_delay_ps(&subject->phold);
}

static const struct partitioner *partitioner_of(const struct subject *subject)
{
    return subject->run.partition != NULL ? partitioner_find(subject->run.partition)
                                          : partitioner_at(0);
}

static int place_run(const struct subject *subject, uint32_t workers, uint32_t *lp_worker,
                     int64_t *lookahead_ps, struct cw_error *error)
{
    const struct hw_config *const hw = &subject->config->hw;
    uint32_t *const cube_worker =
        calloc((size_t)hw->sip_count * subject->model.cubes, sizeof *cube_worker);
    int64_t *const least_ps = calloc((size_t)workers * workers, sizeof *least_ps);
    struct lp_cut cut;
    int result = cube_worker != NULL && least_ps != NULL ? CW_OK : out_of_memory(error);
    if (result == CW_OK)
        result = partitioner_of(subject)->place(hw, workers, cube_worker, error);
    if (result == CW_OK &&
        !lp_place(&subject->model, workers, cube_worker, lp_worker, least_ps, &cut))
        result = out_of_memory(error);
    *lookahead_ps = result == CW_OK ? cut.lookahead_ps : 0;
    free(cube_worker);
    free(least_ps);
    return result;
}

static int project_on(const struct subject *subject, const struct perf_trace *trace,
                      uint32_t workers, struct perf_projection *projection, struct cw_error *error)
{
    uint32_t *const lp_worker = malloc(subject->lp_count * sizeof *lp_worker);
    struct perf_placement placement = {.workers = workers, .lp_worker = lp_worker};
    int result = lp_worker != NULL ? CW_OK : out_of_memory(error);
    if (result == CW_OK && subject->is_phold)
        place_phold(subject, workers, lp_worker, &placement.lookahead_ps);
    else if (result == CW_OK)
        result = place_run(subject, workers, lp_worker, &placement.lookahead_ps, error);
    if (result == CW_OK)
        result = perf_project(trace, subject->lp_count, &placement, projection, error);
    free(lp_worker);
    return result;
}

/* ---- the measured gain of two threads ------------------------------------------------------- */

static int measure_speed_up(const struct perf_options *options, const struct subject *subject,
                            struct outcome *outcome, struct cw_error *error)
{
    struct perf_case cases[2] = {{.name = "measured/sequential/1", .threads = 1},
                                 {.name = "measured/adaptive/2", .threads = 2}};
    for (int i = 0; i < 2; i++)
        snprintf(cases[i].command, sizeof cases[i].command, "%s%s --threads %d", subject->line,
                 subject->is_phold || subject->no_data_given ? "" : " --no-data", i + 1);
    const struct perf_session session = {.rounds = options->rounds, .repeats_max = 2};
    struct perf_run run;
    perf_run_begin(&run, "project");
    const int result = perf_session_measure(&session, cases, 2, &run, error);
    if (result == CW_OK) {
        outcome->measured = perf_ratio_of(&run.cases[1], &run.cases[0], false, PERF_MIXED);
        outcome->scaled = perf_ratio_of(&run.cases[1], &run.cases[0], true, PERF_MIXED);
        outcome->state = perf_summary_of(&run.cases[1], PERF_MIXED).state;
    }
    perf_run_free(&run);
    return result;
}

/* ---- the result -------------------------------------------------------------------------------
 */

static double speed_up(const struct perf_projection *bounds, double bound_s)
{
    return bound_s > 0 ? bounds->total_s / bound_s : 0;
}

static void print_costs(const struct perf_trace *trace)
{
    bool shown[UINT16_MAX + 1] = {false};
    printf("# event types by what they take together, mean cost of the sampled ones:");
    for (int line = 0; line < TYPES_SHOWN; line++) {
        size_t most = 0;
        double most_s = 0;
        for (size_t type = 0; type <= UINT16_MAX; type++) {
            const uint64_t events = trace->costs[type].events;
            const double sum_s =
                events > 0 ? (double)events * perf_trace_cost_s(trace, (uint16_t)type) : 0;
            if (sum_s > most_s && !shown[type]) {
                most = type;
                most_s = sum_s;
            }
        }
        if (most_s <= 0)
            break;
        shown[most] = true;
        printf("%s %zu: %.0f ns x %" PRIu64, line == 0 ? "" : ",", most,
               perf_trace_cost_s(trace, (uint16_t)most) * 1e9, trace->costs[most].events);
    }
    putchar('\n');
}

static void print_error(const char *name, double bound, double measured)
{
    printf("# %s bound at 2: %.2f, %+.0f %% of what was measured\n", name, bound,
           100 * (bound / measured - 1));
}

static void print_measured(const struct outcome *outcome)
{
    const struct perf_projection *const two = &outcome->at_two;
    if (outcome->measured.count == 0)
        return;
    printf("# MEASURED at 2 threads, adaptive: %.2f (%.2f to %.2f), scaled %.2f, cache line %s\n",
           outcome->measured.median, outcome->measured.least, outcome->measured.most,
           outcome->scaled.median, perf_state_name[outcome->state]);
    print_error("ordered", speed_up(two, two->ordered_s), outcome->scaled.median);
    if (two->windowed_s > 0)
        print_error("windowed", speed_up(two, two->windowed_s), outcome->scaled.median);
}

static void print_projection(const struct perf_options *options, const struct subject *subject,
                             const struct perf_trace *trace, const struct outcome *outcome)
{
    printf("# PROJECTED upper bounds on the speed-up over one thread, not measurements\n");
    printf("# %s: %zu events on %" PRIu32 " LPs in %zu drains, partition %s\n", subject->line,
           trace->count, subject->lp_count, trace->drain_count,
           subject->is_phold ? "block" : partitioner_of(subject)->name);
    if (trace->left_out > 0)
        printf("# the trace ends there: %" PRIu64 " more events were left out (--events)\n",
               trace->left_out);
    print_costs(trace);
    const struct perf_projection *const first = &outcome->bounds[0];
    printf("# critical path: %.1f\n", speed_up(first, first->critical_s));
    printf("%9s %9s %9s\n", "# workers", "ordered", "windowed");
    for (size_t i = 0; i < options->worker_count; i++) {
        const struct perf_projection *const bounds = &outcome->bounds[i];
        printf("%9" PRIu32 " %9.2f", options->workers[i], speed_up(bounds, bounds->ordered_s));
        if (bounds->windowed_s > 0)
            printf(" %9.2f\n", speed_up(bounds, bounds->windowed_s));
        else
            printf(" %9s\n", "-");
    }
    print_measured(outcome);
}

static json_t *bounds_json(uint32_t workers, const struct perf_projection *bounds)
{
    return json_pack("{s:I, s:f, s:o}", "workers", (json_int_t)workers, "ordered_speed_up",
                     speed_up(bounds, bounds->ordered_s), "windowed_speed_up",
                     bounds->windowed_s > 0 ? json_real(speed_up(bounds, bounds->windowed_s))
                                            : json_null());
}

static json_t *measured_json(const struct outcome *outcome)
{
    const struct perf_projection *const two = &outcome->at_two;
    const double scaled = outcome->scaled.median;
    if (outcome->measured.count == 0)
        return json_null();
    return json_pack(
        "{s:i, s:f, s:f, s:f, s:f, s:s, s:f, s:o}", "threads", 2, "speed_up",
        outcome->measured.median, "least", outcome->measured.least, "most", outcome->measured.most,
        "scaled_speed_up", scaled, "state", perf_state_name[outcome->state], "ordered_error",
        speed_up(two, two->ordered_s) / scaled - 1, "windowed_error",
        two->windowed_s > 0 ? json_real(speed_up(two, two->windowed_s) / scaled - 1) : json_null());
}

static int write_projection_json(FILE *file, const struct perf_options *options,
                                 const struct subject *subject, const struct perf_trace *trace,
                                 const struct outcome *outcome, struct cw_error *error)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < options->worker_count; i++)
        json_array_append_new(list, bounds_json(options->workers[i], &outcome->bounds[i]));
    json_t *const object = json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:o, s:o}", "schema",
        "cubewarp.projection/1", "version", CW_VERSION, "kind", "upper bounds, not measurements",
        "projected", subject->line, "events", (json_int_t)trace->count, "events_left_out",
        (json_int_t)trace->left_out, "lps", (json_int_t)subject->lp_count, "drains",
        (json_int_t)trace->drain_count, "critical_path_speed_up",
        speed_up(&outcome->bounds[0], outcome->bounds[0].critical_s), "bounds", list, "measured",
        measured_json(outcome));
    return report_json_object(file, object, 10, error);
}

/* Standard output has the table, or the JSON that was asked for there, alone. */
static int report_projection(const struct perf_options *options, const struct subject *subject,
                             const struct perf_trace *trace, const struct outcome *outcome,
                             struct atomic_file *json, struct cw_error *error)
{
    if (options->json != NULL && json->stream == NULL)
        return write_projection_json(stdout, options, subject, trace, outcome, error);
    print_projection(options, subject, trace, outcome);
    if (options->json == NULL)
        return CW_OK;
    const int result = write_projection_json(json->stream, options, subject, trace, outcome, error);
    return result == CW_OK ? atomic_file_commit(json, error) : result;
}

static int project(const struct perf_options *options, struct subject *subject,
                   struct perf_trace *trace, struct atomic_file *json, struct cw_error *error)
{
    struct outcome outcome = {.state = PERF_MIXED};
    int result = trace_run(subject, trace, error);
    if (result == CW_OK && trace->out_of_memory)
        result = out_of_memory(error);
    if (result == CW_OK && trace->count == 0)
        result = cw_error_set(error, CW_USAGE, "'%.300s' has no events", subject->line);
    for (size_t i = 0; i < options->worker_count && result == CW_OK; i++)
        result = project_on(subject, trace, options->workers[i], &outcome.bounds[i], error);
    if (result == CW_OK && !options->no_measure)
        result = measure_speed_up(options, subject, &outcome, error);
    if (result == CW_OK && !options->no_measure)
        result = project_on(subject, trace, 2, &outcome.at_two, error);
    return result == CW_OK ? report_projection(options, subject, trace, &outcome, json, error)
                           : result;
}

int perf_project_main(const struct perf_options *options, struct cw_error *error)
{
    struct subject subject = {.argc = 0};
    struct perf_trace trace = {.count = 0};
    struct atomic_file json = {.stream = NULL};
    unsetenv(environment_variables[ENVIRONMENT_CCL_TRACE]
                 .name); /* a trace would stand in the result, and slow the measured runs */
    int result = load(&subject, options, error);
    if (result == CW_OK && options->json != NULL && strcmp(options->json, "-") != 0)
        result = atomic_file_open(&json, options->json, error);
    if (result == CW_OK && !perf_trace_create(&trace, options->events))
        result = out_of_memory(error);
    if (result == CW_OK)
        result = project(options, &subject, &trace, &json, error);
    atomic_file_discard(&json);
    perf_trace_free(&trace);
    unload(&subject);
    return result;
}
