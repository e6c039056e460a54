/*
 * cause_trace.c: the table of causes, with linear probing and without tombstones, and the clock
 * (cause_trace.h). What the table itself takes is left out of an event's cost, and so is reading
 * the clock.
 */
#include "core/cause_trace.h"

#include "core/host/clock.h"

enum { SLOTS_MIN = 1024, SAMPLE_BITS = 4, CLOCK_TRIALS = 64 };

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
    *trace = (struct cause_trace){.memory = memory, .fn = fn, .arg = arg};
    if (fn != NULL)
        trace->clock_s = clock_cost_s();
}

void cause_trace_free(struct cause_trace *trace)
{
    memory_give(trace->memory, trace->slots, trace->slot_count * sizeof *trace->slots);
    trace->slots = NULL;
    trace->slot_count = 0;
}

/* ---- the table --------------------------------------------------------------------------------
 */

static size_t cause_trace_home_of(const struct cause_trace *trace, const struct cw_event *event)
{
    const uint64_t mixed = (uint64_t)(uintptr_t)event * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(mixed >> 20) & (trace->slot_count - 1);
}

static void cause_trace_put(struct cause_trace *trace, struct cause_trace_slot slot)
{
    size_t at = cause_trace_home_of(trace, slot.event);
    while (trace->slots[at].event != NULL)
        at = (at + 1) & (trace->slot_count - 1);
    trace->slots[at] = slot;
    trace->used++;
}

static bool cause_trace_grow(struct cause_trace *trace)
{
    struct cause_trace_slot *const old = trace->slots;
    const size_t old_count = trace->slot_count;
    const size_t count = old_count == 0 ? SLOTS_MIN : 2 * old_count;
    struct cause_trace_slot *const slots = memory_take(trace->memory, count * sizeof *slots);
    if (slots == NULL)
        return false;
    trace->slots = slots;
    trace->slot_count = count;
    trace->used = 0;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].event != NULL)
            cause_trace_put(trace, old[i]);
    memory_give(trace->memory, old, old_count * sizeof *old);
    return true;
}

/* Moves up what would no longer be found behind the hole. */
static void close_hole(struct cause_trace *trace, size_t hole)
{
    const size_t mask = trace->slot_count - 1;
    for (size_t at = (hole + 1) & mask; trace->slots[at].event != NULL; at = (at + 1) & mask) {
        const size_t home = cause_trace_home_of(trace, trace->slots[at].event);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue; /* its home lies behind the hole */
        trace->slots[hole] = trace->slots[at];
        hole = at;
    }
    trace->slots[hole].event = NULL;
    trace->used--;
}

static uint64_t cause_trace_take(struct cause_trace *trace, const struct cw_event *event)
{
    if (trace->slot_count == 0)
        return CW_NO_CAUSE;
    for (size_t at = cause_trace_home_of(trace, event); trace->slots[at].event != NULL;
         at = (at + 1) & (trace->slot_count - 1)) {
        if (trace->slots[at].event != event)
            continue;
        const uint64_t cause = trace->slots[at].cause;
        close_hole(trace, at);
        return cause;
    }
    return CW_NO_CAUSE;
}

/* ---- the clock --------------------------------------------------------------------------------
 */

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
    const uint64_t cause = cause_trace_take(trace, event);
    start_clock(trace);
    return cause;
}

bool cause_trace_sent(struct cause_trace *trace, const struct cw_event *event, uint64_t cause)
{
    stop_clock(trace);
    const bool kept = 2 * trace->used < trace->slot_count || cause_trace_grow(trace);
    if (kept)
        cause_trace_put(trace, (struct cause_trace_slot){event, cause});
    start_clock(trace);
    return kept;
}

void cause_trace_end(struct cause_trace *trace, const struct cw_event *event, uint64_t index,
                     uint64_t cause)
{
    struct cw_trace told = {.index = index, .cause = cause, .drain = trace->drain, .cost_s = -1};
    if (trace->sampled) {
        /* Each pause read the clock twice, of which one lies outside of it. */
        const double cost_s =
            clock_s() - trace->since_s - trace->paused_s - (1 + trace->pauses) * trace->clock_s;
        told.cost_s = cost_s > 0 ? cost_s : 0;
    }
    trace->fn(trace->arg, event, &told);
}
