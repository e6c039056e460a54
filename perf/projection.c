/*
 * projection.c: keeping a trace, and the three bounds, each in one pass over it (projection.h).
 *
 * A prefix of a run is a run: causes come before their effects. So a trace that is full simply
 * ends there.
 */
#include "perf/projection.h"

#include <stdlib.h>

enum { TYPES = UINT16_MAX + 1 };
#define INJECTED UINT32_MAX

/* ---- the trace ------------------------------------------------------------------------------- */

bool perf_trace_create(struct perf_trace *trace, size_t events_max)
{
    *trace = (struct perf_trace){
        .time_ps = calloc(events_max, sizeof *trace->time_ps),
        .lp = calloc(events_max, sizeof *trace->lp),
        .cause = calloc(events_max, sizeof *trace->cause),
        .type = calloc(events_max, sizeof *trace->type),
        .costs = calloc(TYPES, sizeof *trace->costs),
        .room = events_max,
    };
    const bool created = trace->time_ps != NULL && trace->lp != NULL && trace->cause != NULL &&
                         trace->type != NULL && trace->costs != NULL;
    if (!created)
        perf_trace_free(trace);
    return created;
}

void perf_trace_free(struct perf_trace *trace)
{
    free(trace->time_ps);
    free(trace->lp);
    free(trace->cause);
    free(trace->type);
    free(trace->costs);
    free(trace->drain_begin);
    *trace = (struct perf_trace){.count = 0};
}

/* The drain that an event belongs to has begun, at the latest with it. */
static bool begin_drains(struct perf_trace *trace, uint64_t drain)
{
    while (trace->drain_count <= drain) {
        if (trace->drain_count == trace->drain_room) {
            const size_t room = 2 * trace->drain_room + 16;
            size_t *const begin = realloc(trace->drain_begin, room * sizeof *begin);
            if (begin == NULL)
                return false;
            trace->drain_begin = begin;
            trace->drain_room = room;
        }
        trace->drain_begin[trace->drain_count++] = trace->count;
    }
    return true;
}

void perf_trace_note(void *arg, const struct cw_event *event, const struct cw_trace *told)
{
    struct perf_trace *const trace = arg;
    struct perf_type_cost *const cost = &trace->costs[event->type];
    cost->events_all++;
    if (told->cost_s >= PERF_LONG_S) {
        cost->samples_long++;
        cost->sum_long_s += told->cost_s;
    } else if (told->cost_s >= 0) {
        cost->samples++;
        cost->sum_s += told->cost_s;
    }
    if (trace->out_of_memory || trace->count == trace->room || !begin_drains(trace, told->drain)) {
        trace->out_of_memory |= trace->count < trace->room;
        trace->left_out++;
        return;
    }
    cost->events++;
    const size_t at = trace->count++;
    trace->time_ps[at] = event->time_ps;
    trace->lp[at] = event->lp;
    trace->cause[at] = told->cause == CW_NO_CAUSE ? INJECTED : (uint32_t)told->cause;
    trace->type[at] = event->type;
}

/* Adds a type's samples to a sum of them. */
static void add_samples(const struct perf_type_cost *of, struct perf_type_cost *to)
{
    to->samples += of->samples;
    to->sum_s += of->sum_s;
    if (of->samples_long * 100 < of->samples + of->samples_long)
        return;
    to->samples += of->samples_long;
    to->sum_s += of->sum_long_s;
}

double perf_trace_cost_s(const struct perf_trace *trace, uint16_t type)
{
    struct perf_type_cost sampled = {.samples = 0};
    add_samples(&trace->costs[type], &sampled);
    const bool has_own = sampled.samples > 0;
    for (size_t i = 0; !has_own && i < TYPES; i++)
        add_samples(&trace->costs[i], &sampled);
    return sampled.samples > 0 ? sampled.sum_s / (double)sampled.samples : 0;
}

/* ---- the bounds ------------------------------------------------------------------------------ */

/* The arrays of a pass. */
struct pass {
    const struct perf_trace *trace;
    double *cost_s;   /* [type] */
    double *finish_s; /* [event] */
    double *free_s;   /* [LP or worker]: the end of its last event */
};

static size_t drain_end(const struct perf_trace *trace, size_t drain)
{
    return drain + 1 < trace->drain_count ? trace->drain_begin[drain + 1] : trace->count;
}

/*
 * Returns the time in seconds at which the last event ends. An event begins when its cause has
 * ended and its server is free. A server takes its events in their order. No event of a drain
 * begins before the drain before it has ended. The servers are the workers if `lp_worker` is given,
 * else the LPs.
 */
static double schedule(struct pass *pass, const uint32_t *lp_worker, uint32_t count)
{
    const struct perf_trace *const trace = pass->trace;
    double drained_s = 0, last_s = 0;
    for (uint32_t i = 0; i < count; i++)
        pass->free_s[i] = 0;
    for (size_t drain = 0; drain < trace->drain_count; drain++) {
        for (size_t i = trace->drain_begin[drain]; i < drain_end(trace, drain); i++) {
            const uint32_t lp = trace->lp[i], cause = trace->cause[i];
            double *const free_s = &pass->free_s[lp_worker != NULL ? lp_worker[lp] : lp];
            double begin_s = *free_s > drained_s ? *free_s : drained_s;
            if (cause != INJECTED && pass->finish_s[cause] > begin_s)
                begin_s = pass->finish_s[cause];
            *free_s = pass->finish_s[i] = begin_s + pass->cost_s[trace->type[i]];
            last_s = *free_s > last_s ? *free_s : last_s;
        }
        drained_s = last_s;
    }
    return last_s;
}

/* The busiest worker of a window, which leaves all of them idle again. */
static double close_window(double *busy_s, uint32_t workers)
{
    double most_s = 0;
    for (uint32_t worker = 0; worker < workers; worker++) {
        most_s = busy_s[worker] > most_s ? busy_s[worker] : most_s;
        busy_s[worker] = 0;
    }
    return most_s;
}

static double windows(struct pass *pass, const struct perf_placement *placement)
{
    const struct perf_trace *const trace = pass->trace;
    double sum_s = 0;
    for (uint32_t worker = 0; worker < placement->workers; worker++)
        pass->free_s[worker] = 0;
    for (size_t drain = 0; drain < trace->drain_count; drain++) {
        int64_t end_ps = INT64_MIN;
        for (size_t i = trace->drain_begin[drain]; i < drain_end(trace, drain); i++) {
            if (trace->time_ps[i] >= end_ps) {
                sum_s += close_window(pass->free_s, placement->workers);
                if (__builtin_add_overflow(trace->time_ps[i], placement->lookahead_ps, &end_ps))
                    end_ps = INT64_MAX;
            }
            pass->free_s[placement->lp_worker[trace->lp[i]]] += pass->cost_s[trace->type[i]];
        }
        sum_s += close_window(pass->free_s, placement->workers);
    }
    return sum_s;
}

int perf_project(const struct perf_trace *trace, uint32_t lp_count,
                 const struct perf_placement *placement, struct perf_projection *projection,
                 struct cw_error *error)
{
    const uint32_t slots = lp_count > placement->workers ? lp_count : placement->workers;
    struct pass pass = {
        .trace = trace,
        .cost_s = malloc(TYPES * sizeof *pass.cost_s),
        .finish_s = malloc((trace->count + 1) * sizeof *pass.finish_s),
        .free_s = malloc(slots * sizeof *pass.free_s),
    };
    *projection = (struct perf_projection){.total_s = 0};
    const bool has_memory = pass.cost_s != NULL && pass.finish_s != NULL && pass.free_s != NULL;
    if (has_memory) {
        for (size_t type = 0; type < TYPES; type++) {
            const uint64_t events = trace->costs[type].events;
            pass.cost_s[type] = events > 0 ? perf_trace_cost_s(trace, (uint16_t)type) : 0;
            projection->total_s += (double)events * pass.cost_s[type];
        }
        projection->critical_s = schedule(&pass, NULL, lp_count);
        projection->ordered_s = schedule(&pass, placement->lp_worker, placement->workers);
        if (placement->lookahead_ps > 0)
            projection->windowed_s = windows(&pass, placement);
    }
    free(pass.cost_s);
    free(pass.finish_s);
    free(pass.free_s);
    if (has_memory)
        return CW_OK;
    return cw_error_set(error, CW_NO_RESOURCE, "out of memory for a projection of %zu events",
                        trace->count);
}
