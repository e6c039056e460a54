/*
 * cause_trace.c: a table from pending events to the events that sent them (cause_trace.h). An
 * event's cost leaves out the time of the table of causes, and of reading the clock.
 */
#include "core/worker/cause_trace.h"

#include "core/os/clock.h"

enum { SAMPLE_BITS = 4, CLOCK_TRIALS = 64 };

static double clock_cost_s(void)
{
    double best_s = 1;
    for (int i = 0; i < CLOCK_TRIALS; i++) {
        const double start_s = clock_s(), took_s = clock_s() - start_s;
        best_s = took_s < best_s ? took_s : best_s;
    }
    return best_s;
}

void cause_trace_init(struct cause_trace *trace, struct memory *memory, cw_trace_fn fn, void *arg)
{
    *trace = (struct cause_trace){.fn = fn, .arg = arg};
    table_init(&trace->causes, memory, sizeof(uint64_t));
    if (fn != NULL)
        trace->clock_s = clock_cost_s();
}

void cause_trace_free(struct cause_trace *trace) { table_free(&trace->causes); }

static void stop_clock(struct cause_trace *trace)
{
    if (trace->sampled)
        trace->pause_since_s = clock_s();
}

static void start_clock(struct cause_trace *trace)
{
    if (!trace->sampled)
        return;
    trace->paused_s += clock_s() - trace->pause_since_s;
    trace->pauses++;
}

void cause_trace_begin(struct cause_trace *trace, uint64_t index)
{
    /* One event in 2^SAMPLE_BITS, in no rhythm that a model could have. */
    trace->sampled = index * UINT64_C(0x9E3779B97F4A7C15) >> (64 - SAMPLE_BITS) == 0;
    if (!trace->sampled)
        return;
    trace->pauses = 0;
    trace->paused_s = 0;
    trace->since_s = clock_s();
}

uint64_t cause_trace_take_cause(struct cause_trace *trace, const struct cw_event *event)
{
    stop_clock(trace);
    uint64_t *const noted = table_find(&trace->causes, table_key(event));
    const uint64_t cause = noted == NULL ? CW_NO_CAUSE : *noted;
    if (noted != NULL)
        table_remove(&trace->causes, noted);
    start_clock(trace);
    return cause;
}

bool cause_trace_sent(struct cause_trace *trace, const struct cw_event *event, uint64_t cause)
{
    stop_clock(trace);
    const bool kept = table_reserve(&trace->causes);
    if (kept)
        *(uint64_t *)table_add(&trace->causes, table_key(event)) = cause;
    start_clock(trace);
    return kept;
}

void cause_trace_end(struct cause_trace *trace, const struct cw_event *event, uint64_t index,
                     uint64_t cause)
{
    struct cw_trace told = {.index = index, .cause = cause, .drain = trace->drain, .cost_s = -1};
    if (trace->sampled) {
        /* Each pause has read the clock twice; one of the two lies outside of it. */
        const double cost_s =
            clock_s() - trace->since_s - trace->paused_s - (1 + trace->pauses) * trace->clock_s;
        told.cost_s = cost_s > 0 ? cost_s : 0;
    }
    trace->fn(trace->arg, event, &told);
}
