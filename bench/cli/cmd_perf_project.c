/*
 * cmd_perf_project.c: `cubewarp perf project`: traces a run on one thread, measures the costs of
 * the engine's work, and predicts the speed on two threads and on larger machines. Two threads are
 * measured, too. The parts are in bench/project/ and perf/.
 */
#include "bench/cli/cmd_perf_project.h"

#include <stdlib.h>
#include <string.h>

#include "bench/output/atomic_file.h"
#include "bench/project/project_report.h"
#include "collectives/config/input/environment.h"
#include "core/host/clock.h"
#include "perf/session.h"

/* Stated: the memory traffic of one core that copies, in bytes per second. */
#define CORE_BYTES_PER_S 13e9
/* An event's lines of memory, read and written, if they are in no cache. */
#define EVENT_BYTES 450.0
/* Pending events beyond which this is so on any machine. */
#define EVENTS_CACHED 500000u
/* Of two cores, in the machine's two states. */
#define NEAR_LINE_S 50e-9
#define FAR_LINE_S  210e-9
/* Runs of a command are repeated for so long. */
#define TRIALS_S 2.0

enum { ROUNDS_MAX = 99 };

/* ---- the bounds ------------------------------------------------------------------------------ */

static int bounds_of(const struct project_outcome *outcome, uint32_t workers,
                     struct perf_projection *bounds, struct cw_error *error)
{
    struct subject_place place;
    int result = subject_place(outcome->subject, workers, &place, error);
    const struct perf_placement placement = {
        .workers = workers, .lp_worker = place.lp_worker, .lookahead_ps = place.lookahead_ps};
    if (result == CW_OK)
        result =
            perf_project(outcome->trace, outcome->subject->lp_count, &placement, bounds, error);
    subject_place_free(&place);
    return result;
}

/* ---- costs ----------------------------------------------------------------------------------- */

/* The time of the data operations, by a run without them. */
static int measure_data(struct subject *subject, const struct subject_costs *measured,
                        double *data_s, struct cw_error *error)
{
    *data_s = 0;
    if (subject->is_phold || subject->run.no_data)
        return CW_OK;
    const bool verifies = subject->run.verify_data;
    const struct subject_way way = {.sync = CW_SEQUENTIAL, .workers = 1, .threads = 1};
    struct cw_stats stats;
    subject->run.no_data = true;
    subject->run.verify_data = false;
    const int result = subject_run(subject, &way, &stats, error);
    subject->run.no_data = false;
    subject->run.verify_data = verifies;
    if (result == CW_OK && stats.run_s < measured->sequential_s)
        *data_s = measured->sequential_s - stats.run_s;
    return result;
}

static int measure_costs(struct subject *subject, struct prediction_basis *basis,
                         struct cw_error *error)
{
    double data_s = 0;
    int result = engine_costs_measure(&basis->costs, error);
    if (result == CW_OK)
        result = subject_costs_measure(subject, &basis->costs, &basis->measured, error);
    if (result == CW_OK)
        result = subject_parts_measure(subject, &basis->measured, error);
    if (result == CW_OK)
        result = measure_data(subject, &basis->measured, &data_s, error);
    basis->data_bytes = data_s * CORE_BYTES_PER_S;
    basis->event_bytes = basis->measured.stats.events_alive_max > EVENTS_CACHED ? EVENT_BYTES : 0;
    return result == CW_OK ? prediction_basis_fill(basis, error) : result;
}

/* ---- one thread and two, measured ------------------------------------------------------------ */

/* A figure of all rounds of a case. */
static struct perf_spread spread_of(const struct perf_case_run *one,
                                    double (*figure)(const struct perf_sample *sample))
{
    double figures[ROUNDS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < one->sample_count && count < ROUNDS_MAX; i++)
        figures[count++] = figure(&one->samples[i]);
    return perf_spread_of(figures, count);
}

static double wall_s_of(const struct perf_sample *sample) { return sample->wall_s; }
static double run_s_of(const struct perf_sample *sample) { return sample->run_s; }
static double host_s_of(const struct perf_sample *sample) { return sample->host_s; }
static double serial_s_of(const struct perf_sample *sample)
{
    return sample->wall_s - sample->run_s - sample->host_s;
}
static double line_ns_of(const struct perf_sample *sample)
{
    return (sample->before.line_ns + sample->after.line_ns) / 2;
}

/* Other programs only slow a process down: its parts are those of the fastest rounds. */
static void fill_check(struct project_outcome *outcome, const struct perf_case_run *one,
                       const struct perf_case_run *two)
{
    struct project_check *const check = &outcome->check;
    const struct perf_summary summary = perf_summary_of(two, PERF_MIXED);
    const struct perf_spread wall_one = spread_of(one, wall_s_of);
    const struct perf_spread wall_two = spread_of(two, wall_s_of);
    check->gain = perf_ratio_of(two, one, false, PERF_MIXED);
    check->scaled = perf_ratio_of(two, one, true, PERF_MIXED);
    check->state = summary.state;
    check->is_disturbed = 2 * summary.disturbed >= summary.rounds;
    check->line_s = spread_of(two, line_ns_of).median * 1e-9;
    check->one_s = spread_of(one, run_s_of).least;
    check->one_predicted_s = outcome->basis.measured.sequential_s;
    check->fastest_gain = check->one_s / spread_of(two, run_s_of).least;
    size_t fastest = 0;
    for (size_t i = 1; i < one->sample_count; i++)
        if (one->samples[i].wall_s < one->samples[fastest].wall_s)
            fastest = i;
    check->process = one->samples[fastest];
    check->process_gain =
        check->is_disturbed ? wall_one.least / wall_two.least : wall_one.median / wall_two.median;
    outcome->basis.parts = (struct process_parts){.engine_s = check->one_s,
                                                  .host_s = spread_of(one, host_s_of).least,
                                                  .serial_s = spread_of(one, serial_s_of).least};
}

static int measure_threads(const struct perf_options *options, struct project_outcome *outcome,
                           struct cw_error *error)
{
    struct perf_case cases[2] = {{.name = "measured/sequential/1", .threads = 1},
                                 {.name = "measured/adaptive/2", .threads = 2}};
    for (int i = 0; i < 2; i++)
        snprintf(cases[i].command, sizeof cases[i].command, "%s --threads %d",
                 outcome->subject->line, i + 1);
    const struct perf_session session = {.rounds = options->rounds,
                                         .repeats_max = 2,
                                         .memory_bytes = outcome->subject->memory_bytes};
    struct perf_run run;
    perf_run_begin(&run, "project");
    const int result = perf_session_measure(&session, cases, 2, &run, error);
    if (result == CW_OK)
        fill_check(outcome, &run.cases[0], &run.cases[1]);
    perf_run_free(&run);
    return result;
}

/* The machine's speed changes within seconds: the command is run in this process once more after
 * its processes, and the fastest of all such runs is the prediction for one thread. */
static int predict_one(struct subject *subject, struct project_outcome *outcome,
                       struct cw_error *error)
{
    enum { TRIALS_MAX = 3 };
    const struct subject_way way = {.sync = CW_SEQUENTIAL, .workers = 1, .threads = 1};
    const double start_s = clock_s();
    for (int trial = 0; trial < TRIALS_MAX && clock_s() - start_s < TRIALS_S; trial++) {
        struct cw_stats stats;
        const int result = subject_run(subject, &way, &stats, error);
        if (result != CW_OK)
            return result;
        if (stats.run_s < outcome->check.one_predicted_s)
            outcome->check.one_predicted_s = stats.run_s;
    }
    return CW_OK;
}

/* ---- predictions ----------------------------------------------------------------------------- */

static int predict_all(const struct perf_options *options, struct project_outcome *outcome,
                       struct cw_error *error)
{
    struct prediction *const two[] = {&outcome->check.two, &outcome->near, &outcome->far};
    const double lines_s[] = {outcome->check.line_s, NEAR_LINE_S, FAR_LINE_S};
    static const char *const names[] = {"this", "near", "far"};
    struct subject *const subject = outcome->basis.subject;
    struct host_phases host;
    int result = subject_host_measure(subject, 1, &outcome->basis.host, error);
    if (result == CW_OK)
        result = subject_host_measure(subject, 2, &host, error);
    for (size_t i = 0; i < sizeof two / sizeof *two && result == CW_OK; i++) {
        two[i]->host = host;
        two[i]->layout = perf_socket_layout_flat(names[i], 2, lines_s[i]);
        two[i]->workers = 2;
        result = predict(&outcome->basis, two[i], error);
    }
    for (size_t i = 0; i < options->layout_count && result == CW_OK; i++) {
        struct prediction *const one = &outcome->predictions[i];
        one->layout = options->layouts[i];
        one->workers = one->layout.sockets * one->layout.cores;
        result = subject_host_measure(subject, one->workers, &one->host, error);
        if (result == CW_OK)
            result = predict(&outcome->basis, one, error);
    }
    return result;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Standard output has the table, or the JSON that was asked for there, alone. */
static int report_projection(const struct perf_options *options,
                             const struct project_outcome *outcome, struct atomic_file *json,
                             struct cw_error *error)
{
    if (options->json != NULL && json->stream == NULL)
        return project_write_json(stdout, options, outcome, error);
    project_print(options, outcome);
    if (options->json == NULL)
        return CW_OK;
    const int result = project_write_json(json->stream, options, outcome, error);
    return result == CW_OK ? atomic_file_commit(json, error) : result;
}

static int project(const struct perf_options *options, struct subject *subject,
                   struct perf_trace *trace, struct project_outcome *outcome,
                   struct cw_error *error)
{
    struct cw_stats stats;
    const struct subject_way way = {
        .sync = CW_SEQUENTIAL, .workers = 1, .threads = 1, .trace = trace};
    outcome->basis = (struct prediction_basis){.subject = subject, .trace = trace};
    outcome->is_predicted = !options->no_measure;
    int result = subject_run(subject, &way, &stats, error);
    if (result == CW_OK && trace->out_of_memory)
        result = cw_error_memory(error, "the projection");
    if (result == CW_OK && trace->count == 0)
        result = cw_error_set(error, CW_USAGE, "'%.300s' has no events", subject->line);
    for (size_t i = 0; i < options->worker_count && result == CW_OK; i++)
        result = bounds_of(outcome, options->workers[i], &outcome->bounds[i], error);
    if (result != CW_OK || options->no_measure)
        return result;
    result = measure_costs(subject, &outcome->basis, error);
    if (result == CW_OK)
        result = measure_threads(options, outcome, error);
    if (result == CW_OK)
        result = predict_one(subject, outcome, error);
    return result == CW_OK ? predict_all(options, outcome, error) : result;
}

int perf_project_main(const struct perf_options *options, struct cw_error *error)
{
    struct subject subject = {.argc = 0};
    struct perf_trace trace = {.count = 0};
    struct atomic_file json = {.stream = NULL};
    struct project_outcome outcome = {.subject = &subject, .trace = &trace};
    unsetenv(environment_variables[ENVIRONMENT_CCL_TRACE]
                 .name); /* a trace would stand in the result, and slow the measured runs */
    int result = subject_load(&subject, options->command_count, options->command, error);
    if (result == CW_OK && options->json != NULL && strcmp(options->json, "-") != 0)
        result = atomic_file_open(&json, options->json, error);
    if (result == CW_OK && !perf_trace_create(&trace, options->events))
        result = cw_error_memory(error, "the projection");
    if (result == CW_OK)
        result = project(options, &subject, &trace, &outcome, error);
    if (result == CW_OK)
        result = report_projection(options, &outcome, &json, error);
    prediction_basis_free(&outcome.basis);
    atomic_file_discard(&json);
    perf_trace_free(&trace);
    subject_unload(&subject);
    return result;
}
