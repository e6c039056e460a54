/*
 * project_report.c: see project_report.h.
 */
#include "bench/project/project_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

#include "bench/output/report_json.h"

enum { TYPES_SHOWN = 8 };

/* ---- figures --------------------------------------------------------------------------------- */

static double bound_gain(const struct perf_projection *bounds, double bound_s)
{
    return bound_s > 0 ? bounds->total_s / bound_s : 0;
}

/* The prediction for two threads is held against this. */
static double measured_gain(const struct project_check *check)
{
    return check->is_disturbed ? check->fastest_gain : check->scaled.median;
}

static double error_at_two(const struct project_check *check)
{
    const double measured = measured_gain(check);
    return measured > 0 ? check->two.engine_gain / measured - 1 : 0;
}

double project_error(const struct project_outcome *outcome, uint32_t workers)
{
    const double one = fmax(fabs(error_at_two(&outcome->check)), PROJECT_LEAST_ERROR);
    return one * fmax(1, log2(workers));
}

static double serial_share(const struct prediction_basis *basis)
{
    const struct process_parts *const parts = &basis->parts;
    return parts->serial_s / (parts->engine_s + parts->host_s + parts->serial_s);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void print_costs(const struct perf_trace *trace, const struct subject *subject)
{
    bool shown[UINT16_MAX + 1] = {false};
    printf("# event types by their whole cost, with the mean of the samples:");
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
        const char *const name = subject_event_name(subject, (uint16_t)most);
        printf("%s ", line == 0 ? "" : ",");
        if (name != NULL)
            printf("%s", name);
        else
            printf("type %zu", most);
        printf(" %.0f ns x %" PRIu64, perf_trace_cost_s(trace, (uint16_t)most) * 1e9,
               trace->costs[most].events);
    }
    putchar('\n');
}

static void print_bounds(const struct perf_options *options, const struct project_outcome *outcome)
{
    const struct perf_projection *const first = &outcome->bounds[0];
    printf("# PROJECTED upper bounds on the speed-up, from the causes of events alone: critical "
           "path %.1f; ordered (windowed):",
           bound_gain(first, first->critical_s));
    for (size_t i = 0; i < options->worker_count; i++) {
        const struct perf_projection *const bounds = &outcome->bounds[i];
        printf("%s %" PRIu32 ": %.2f", i == 0 ? "" : ",", options->workers[i],
               bound_gain(bounds, bounds->ordered_s));
        if (bounds->windowed_s > 0)
            printf(" (%.2f)", bound_gain(bounds, bounds->windowed_s));
    }
    putchar('\n');
}

static void print_basis(const struct prediction_basis *basis)
{
    const struct perf_engine_costs *const costs = &basis->costs;
    const struct subject_costs *const measured = &basis->measured;
    const struct process_parts *const parts = &basis->parts;
    const double share = serial_share(basis);
    printf(
        "# costs on this machine: event %.1f ns, x %.2f in adaptive mode, x %.2f on two workers; "
        "message %.0f ns; turn %.0f ns, and %.1f ns for each other worker; undo %.0f %%\n",
        measured->sequential_s / (double)measured->stats.events_committed * 1e9,
        measured->adaptive_factor, measured->workers_factor, costs->message_s * 1e9,
        costs->turn_s * 1e9, costs->look_s * 1e9, costs->undo_share * 100);
    printf("# process on one thread: %.3f s in the engine, %.3f s of the host's work that the "
           "workers share, %.4f s serial: %.2f %%, so at most %.1f x\n",
           parts->engine_s, parts->host_s, parts->serial_s, 100 * share,
           share > 0 ? 1 / share : INFINITY);
}

/* Where a process on one thread spends its time. Time that is neither the engine's nor the workers'
 * is serial. */
static void print_phases(const struct perf_sample *process)
{
    double told_s = 0;
    printf("# its phases, the fastest process, ms (serial):");
    for (size_t i = 0; i < process->phase_count; i++) {
        const struct perf_phase *const phase = &process->phases[i];
        const double serial_s = fmax(0, phase->wall_s - phase->engine_s - phase->workers_s);
        printf("%s %s %.1f (%.1f)", i == 0 ? "" : ",", phase->name, phase->wall_s * 1e3,
               serial_s * 1e3);
        told_s += phase->wall_s;
    }
    printf(", start and exit %.1f; of all, %.1f in the system\n",
           fmax(0, process->wall_s - told_s) * 1e3, process->system_s * 1e3);
}

static void print_check(const struct project_check *check)
{
    printf("# one thread: predicted %.3f s in the engine, MEASURED %.3f s: error %+.1f %%\n",
           check->one_predicted_s, check->one_s, 100 * (check->one_predicted_s / check->one_s - 1));
    if (check->scaled.count == 0)
        return;
    printf("# two threads, cache line %s (%.0f ns): predicted %.2f, MEASURED at 2 threads %.2f "
           "%s (scaled %.2f, as it was %.2f, %.2f to %.2f, fastest rounds %.2f): error %+.1f %%\n",
           perf_state_name[check->state], check->line_s * 1e9, check->two.engine_gain,
           measured_gain(check), check->is_disturbed ? "in the fastest rounds" : "scaled",
           check->scaled.median, check->gain.median, check->gain.least, check->gain.most,
           check->fastest_gain, 100 * error_at_two(check));
    printf("# two threads, whole process: predicted %.2f, MEASURED %.2f: error %+.1f %%\n",
           check->two.process_gain, check->process_gain,
           100 * (check->two.process_gain / check->process_gain - 1));
}

static void print_prediction(const struct project_outcome *outcome,
                             const struct prediction *prediction)
{
    const enum prediction_share limit = prediction_limit(prediction);
    printf("%-10s %7" PRIu32 " %8.2f %8.2f  +-%3.0f %%   events %.0f %%", prediction->layout.name,
           prediction->workers, prediction->engine_gain, prediction->process_gain,
           100 * project_error(outcome, prediction->workers),
           100 * prediction->share[SHARE_EVENTS]);
    if (prediction->is_gathered)
        printf(", one worker has all events");
    printf(", %s %.1f %%", prediction_share_name[limit], 100 * prediction->share[limit]);
    for (int i = SHARE_OVERHEAD; i < SHARES; i++)
        if (i != (int)limit && prediction->share[i] >= 0.005)
            printf(", %s %.1f %%", prediction_share_name[i], 100 * prediction->share[i]);
    putchar('\n');
}

/* The host's own work for a prediction, in this process and not scaled to the measured one. */
static void print_host(const struct prediction *prediction)
{
    const struct host_phases *const host = &prediction->host;
    printf("#   the host on %" PRIu32 " workers in turn, ms of the longest worker (serial):",
           prediction->workers);
    for (size_t i = 0; i < host->count; i++)
        printf("%s %s %.2f (%.2f)", i == 0 ? "" : ",", host->name[i],
               host->phase[i].longest_s * 1e3, host->phase[i].serial_s * 1e3);
    putchar('\n');
}

static void print_predictions(const struct perf_options *options,
                              const struct project_outcome *outcome)
{
    printf(
        "# PREDICTED by a model of the engine, not measured; the error is that of two threads, at "
        "least %.0f %%, for each doubling\n",
        100 * PROJECT_LEAST_ERROR);
    printf("%-10s %7s %8s %8s  %6s   %s\n", "# machine", "workers", "engine", "process", "error",
           "the workers' time, the next limit first");
    print_prediction(outcome, &outcome->near);
    print_prediction(outcome, &outcome->far);
    for (size_t i = 0; i < options->layout_count; i++) {
        print_prediction(outcome, &outcome->predictions[i]);
        print_host(&outcome->predictions[i]);
    }
}

void project_print(const struct perf_options *options, const struct project_outcome *outcome)
{
    const struct perf_trace *const trace = outcome->trace;
    printf("# %s: %zu events on %" PRIu32 " LPs in %zu drains, partition %s\n",
           outcome->subject->line, trace->count, outcome->subject->lp_count, trace->drain_count,
           subject_partition(outcome->subject));
    if (trace->left_out > 0)
        printf("# the trace ends there: %" PRIu64 " more events were left out (--events)\n",
               trace->left_out);
    print_costs(trace, outcome->subject);
    print_bounds(options, outcome);
    if (!outcome->is_predicted)
        return;
    print_basis(&outcome->basis);
    print_phases(&outcome->check.process);
    print_check(&outcome->check);
    print_predictions(options, outcome);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *bounds_json(uint32_t workers, const struct perf_projection *bounds)
{
    return json_pack("{s:I, s:f, s:o}", "workers", (json_int_t)workers, "ordered_speed_up",
                     bound_gain(bounds, bounds->ordered_s), "windowed_speed_up",
                     bounds->windowed_s > 0 ? json_real(bound_gain(bounds, bounds->windowed_s))
                                            : json_null());
}

static json_t *prediction_json(const struct project_outcome *outcome,
                               const struct prediction *prediction)
{
    json_t *shares = json_object();
    for (int i = 0; i < SHARES; i++)
        report_put(&shares, prediction_share_name[i], json_real(prediction->share[i]));
    return json_pack("{s:s, s:I, s:f, s:f, s:f, s:s, s:o}", "machine", prediction->layout.name,
                     "workers", (json_int_t)prediction->workers, "engine_speed_up",
                     prediction->engine_gain, "process_speed_up", prediction->process_gain, "error",
                     project_error(outcome, prediction->workers), "limit",
                     prediction_share_name[prediction_limit(prediction)], "shares", shares);
}

static json_t *costs_json(const struct prediction_basis *basis)
{
    const struct perf_engine_costs *const costs = &basis->costs;
    const struct process_parts *const parts = &basis->parts;
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "adaptive_factor",
                     basis->measured.adaptive_factor, "workers_factor",
                     basis->measured.workers_factor, "message_s", costs->message_s, "turn_s",
                     costs->turn_s, "look_s", costs->look_s, "undo_share", costs->undo_share,
                     "engine_s", parts->engine_s, "host_s", parts->host_s, "serial_s",
                     parts->serial_s, "serial_share", serial_share(basis));
}

static json_t *measured_json(const struct project_outcome *outcome)
{
    const struct project_check *const check = &outcome->check;
    if (!outcome->is_predicted)
        return json_null();
    return json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:b, s:f, s:s, s:f, s:o, s:f}", "threads", 2,
                     "speed_up", check->gain.median, "least", check->gain.least, "most",
                     check->gain.most, "scaled_speed_up", check->scaled.median, "fastest_speed_up",
                     check->fastest_gain, "disturbed", check->is_disturbed, "process_speed_up",
                     check->process_gain, "state", perf_state_name[check->state], "line_ns",
                     check->line_s * 1e9, "predicted", prediction_json(outcome, &check->two),
                     "predicted_error", error_at_two(check));
}

static json_t *predictions_json(const struct perf_options *options,
                                const struct project_outcome *outcome)
{
    json_t *list = json_array();
    if (!outcome->is_predicted)
        return list;
    report_append(&list, prediction_json(outcome, &outcome->near));
    report_append(&list, prediction_json(outcome, &outcome->far));
    for (size_t i = 0; i < options->layout_count; i++)
        report_append(&list, prediction_json(outcome, &outcome->predictions[i]));
    return list;
}

int project_write_json(FILE *file, const struct perf_options *options,
                       const struct project_outcome *outcome, struct cw_error *error)
{
    const struct perf_trace *const trace = outcome->trace;
    json_t *list = json_array();
    for (size_t i = 0; i < options->worker_count; i++)
        report_append(&list, bounds_json(options->workers[i], &outcome->bounds[i]));
    json_t *const object = json_pack(
        "{s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:o, s:o}", "schema",
        "cubewarp.projection/2", "version", CW_VERSION, "projected",
        report_text(outcome->subject->line), "events", (json_int_t)trace->count, "events_left_out",
        (json_int_t)trace->left_out, "lps", (json_int_t)outcome->subject->lp_count, "drains",
        (json_int_t)trace->drain_count, "critical_path_speed_up",
        bound_gain(&outcome->bounds[0], outcome->bounds[0].critical_s), "bounds", list, "costs",
        outcome->is_predicted ? costs_json(&outcome->basis) : json_null(), "measured",
        measured_json(outcome), "predictions", predictions_json(options, outcome));
    return report_json_object(file, object, 10, error);
}
