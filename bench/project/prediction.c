/*
 * prediction.c: see prediction.h.
 */
#include "bench/project/prediction.h"

#include <math.h>
#include <stdlib.h>

enum { TYPES = UINT16_MAX + 1 };

/* Several threads must gain so much, or else one has all events, and trials of the other way take
 * this share of the time. */
#define PARTING_GAINS 1.04
#define TRIALS_SHARE  0.02
/* Lines that the host's thread waits for in a call of all workers, for each of them. */
#define CALL_LINES 2.0
/* An event of the listener, when the lists of twice as many workers are merged. */
#define LISTEN_LEVEL_S 4e-9

const char *const prediction_share_name[SHARES] = {
    "events",    "parallel mode",          "messages",         "looks and GVT",
    "imbalance", "waiting for each other", "memory bandwidth", "serial parts"};

int prediction_basis_fill(struct prediction_basis *basis, struct cw_error *error)
{
    const struct perf_trace *const trace = basis->trace;
    basis->cost_s = calloc(TYPES, sizeof *basis->cost_s);
    if (basis->cost_s == NULL)
        return cw_error_memory(error, "the costs of events");
    double sampled_s = 0;
    for (size_t type = 0; type < TYPES; type++) {
        if (trace->costs[type].events_all == 0)
            continue;
        basis->cost_s[type] = perf_trace_cost_s(trace, (uint16_t)type);
        sampled_s += basis->cost_s[type] * (double)trace->costs[type].events_all;
    }
    /* A traced event costs more than others; the ratios between types stay. */
    const double scale = sampled_s > 0 ? basis->measured.sequential_s / sampled_s : 0;
    for (size_t type = 0; type < TYPES; type++) {
        basis->cost_s[type] *= scale;
        basis->trace_s += basis->cost_s[type] * (double)trace->costs[type].events;
    }
    return CW_OK;
}

void prediction_basis_free(struct prediction_basis *basis)
{
    free(basis->cost_s);
    basis->cost_s = NULL;
}

/* The cost of an event on one of several workers over that in a sequential run. Two workers in turn
 * on one core take its nearest cache from each other if their events do not fit it together, which
 * two cores do not do. */
static double event_factor(const struct prediction_basis *basis, uint32_t workers)
{
    enum { EVENTS_NEAR = 16384 /* some 2 MiB with their entries and states */ };
    const bool fits = basis->measured.stats.events_alive_max <= EVENTS_NEAR;
    return workers > 1 && fits ? basis->measured.workers_factor : basis->measured.adaptive_factor;
}

/* The model's figures for the events of the trace. */
static int run_model(const struct prediction_basis *basis, struct prediction *prediction,
                     struct cw_error *error)
{
    struct subject_place place;
    int result = subject_place(basis->subject, prediction->workers, &place, error);
    double *const cost_s = malloc(TYPES * sizeof *cost_s);
    if (result == CW_OK && cost_s == NULL)
        result = cw_error_memory(error, "the costs of events");
    prediction->part_factor = subject_part_factor(&basis->measured, prediction->workers);
    if (result == CW_OK) {
        for (size_t type = 0; type < TYPES; type++)
            cost_s[type] = basis->cost_s[type] * prediction->part_factor;
        struct perf_engine_run run = {
            .trace = basis->trace,
            .cost_s = cost_s,
            .lp_count = basis->subject->lp_count,
            .workers = prediction->workers,
            .lp_worker = place.lp_worker,
            .least_ps = place.least_ps,
            .listener = basis->subject->is_phold ? 0 : 1, /* the host's LP: lp/host/system.c */
            .speculates = true,
            .takes_short_turns = subject_takes_short_turns(basis->subject),
            .costs = basis->costs,
            .layout = &prediction->layout,
        };
        run.costs.event_factor = event_factor(basis, prediction->workers);
        run.costs.listen_s = basis->measured.listen_s;
        run.costs.listen_level_s = LISTEN_LEVEL_S;
        run.costs.listen_serial_s = basis->measured.listen_serial_s;
        run.costs.call_lines = CALL_LINES;
        result = perf_engine_model(&run, &prediction->figures, error);
    }
    free(cost_s);
    subject_place_free(&place);
    return result;
}

/* The least time in which the sockets in use bear the memory traffic. */
static double memory_s(const struct prediction_basis *basis, const struct prediction *prediction)
{
    const struct perf_socket_layout *const layout = &prediction->layout;
    if (layout->socket_bytes_per_s <= 0)
        return 0;
    const double sockets = ceil((double)prediction->workers / layout->cores);
    const double bytes =
        basis->data_bytes + basis->event_bytes * (double)basis->measured.stats.events_committed;
    return bytes / (sockets * layout->socket_bytes_per_s);
}

/*
 * The process's host work, from the times that this process measured: the longest worker's part of
 * it on so many workers, and how much more is serial then than on one. To start a call the caller
 * writes a line for each other worker, and reads one at its end. The process itself has other
 * memory than this one, so its figures on one thread are the measure.
 */
static struct host_parts host_parts_of(const struct prediction_basis *basis,
                                       const struct prediction *prediction)
{
    const struct host_work *const one = &basis->host.sum, *const many = &prediction->host.sum;
    const uint32_t n = prediction->workers;
    const double line_s = n > 1 ? perf_socket_line_s(&prediction->layout, 0, n - 1) : 0;
    const double scale = one->work_s > 0 ? basis->parts.host_s / one->work_s : 0;
    return (struct host_parts){
        .workers_s = many->longest_s * scale + many->calls * CALL_LINES * line_s * (n - 1),
        .serial_s = basis->parts.serial_s + fmax(0, many->serial_s - one->serial_s)};
}

/* Uses of the workers' time, `scale` times those of the model, beside the memory and the serial
 * part.
 */
static void fill_shares(const struct prediction_basis *basis, struct prediction *prediction,
                        double scale, double memory_wait_s, double process_s)
{
    const struct perf_engine_figures *const f = &prediction->figures;
    const struct process_parts *const parts = &basis->parts;
    const struct host_parts *const host = &prediction->host_parts;
    const double n = prediction->workers, imbalance_s = fmin(f->imbalance_s, f->waiting_s);
    double of[SHARES] = {
        [SHARE_EVENTS] = f->handling_s * scale,
        [SHARE_OVERHEAD] = (f->overhead_s + f->undone_s) * scale,
        [SHARE_MESSAGES] = (f->messages_s + f->lines_s) * scale,
        [SHARE_LOOKS] = (f->turns_s + f->rounds_s) * scale,
        [SHARE_IMBALANCE] = imbalance_s * scale,
        [SHARE_WAITING] = (f->waiting_s - imbalance_s) * scale,
        [SHARE_MEMORY] = memory_wait_s * n,
    };
    if (prediction->is_gathered) {
        for (int i = 0; i < SHARES; i++)
            of[i] = 0;
        of[SHARE_EVENTS] = parts->engine_s;
        of[SHARE_WAITING] = n * (process_s - host->workers_s - host->serial_s) - parts->engine_s;
    }
    of[SHARE_EVENTS] += parts->host_s;
    of[SHARE_IMBALANCE] += fmax(0, host->workers_s * n - parts->host_s);
    of[SHARE_SERIAL] = host->serial_s * n;
    for (int i = 0; i < SHARES; i++)
        prediction->share[i] = of[i] / (n * process_s);
}

int predict(const struct prediction_basis *basis, struct prediction *prediction,
            struct cw_error *error)
{
    const int result = run_model(basis, prediction, error);
    if (result != CW_OK)
        return result;
    const struct process_parts *const parts = &basis->parts;
    const double scale = parts->engine_s / basis->trace_s; /* the trace stands for the whole run */
    const double model_s = prediction->figures.took_s * scale;
    double engine_s = fmax(model_s, memory_s(basis, prediction));
    prediction->is_gathered = prediction->workers > 1 && parts->engine_s < engine_s * PARTING_GAINS;
    const double memory_wait_s = engine_s - model_s;
    if (prediction->is_gathered)
        engine_s = parts->engine_s * (1 + TRIALS_SHARE);
    prediction->host_parts = host_parts_of(basis, prediction);
    const double process_s =
        engine_s + prediction->host_parts.workers_s + prediction->host_parts.serial_s;
    prediction->engine_gain = parts->engine_s / engine_s;
    prediction->process_gain = (parts->engine_s + parts->host_s + parts->serial_s) / process_s;
    fill_shares(basis, prediction, scale, memory_wait_s, process_s);
    return CW_OK;
}

enum prediction_share prediction_limit(const struct prediction *prediction)
{
    int most = SHARE_OVERHEAD;
    for (int i = SHARE_OVERHEAD; i < SHARES; i++)
        if (prediction->share[i] > prediction->share[most])
            most = i;
    return (enum prediction_share)most;
}
