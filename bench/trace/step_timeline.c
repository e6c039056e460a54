/*
 * step_timeline.c: writes the operations of a step as slices (step_timeline.h). An operation that
 * waits for other ranks has its wait as a slice of its own, inside.
 */
#include "bench/trace/step_timeline.h"

#include <inttypes.h>

#include "bench/trace/timeline_events.h"

struct step_timeline {
    struct timeline_events events;
    const struct workload_graph *graph;
    const struct step_result *result;
};

static void put_name(struct step_timeline *timeline, const char *kind, uint32_t rank, uint32_t tid,
                     const char *name, uint32_t number)
{
    fprintf(timeline->events.out,
            ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"args\":{\"name\":\"",
            kind, rank, tid);
    trace_text(&timeline->events, name);
    if (number != WORKLOAD_NONE)
        fprintf(timeline->events.out, " %" PRIu32, number);
    fputs("\"}}", timeline->events.out);
}

static const char *const categories[WORKLOAD_OP_KINDS] = {
    [WORKLOAD_NOTHING] = "nothing",       [WORKLOAD_ROOFLINE] = "compute",
    [WORKLOAD_PRODUCT] = "compute",       [WORKLOAD_TIME] = "compute",
    [WORKLOAD_COLLECTIVE] = "collective", [WORKLOAD_SEND] = "send",
    [WORKLOAD_RECV] = "receive"};

static void put_slice(struct step_timeline *timeline, uint32_t rank, const struct workload_op *op,
                      const struct step_span *span)
{
    FILE *const out = timeline->events.out;
    const bool meets =
        op->kind == WORKLOAD_COLLECTIVE || op->kind == WORKLOAD_SEND || op->kind == WORKLOAD_RECV;
    char name[160];
    trace_begin_leaf(&timeline->events, span->start_ps, span->end_ps);
    fprintf(out, ",\"cat\":\"%s\",\"name\":\"", categories[op->kind]);
    trace_text(&timeline->events, workload_op_name(timeline->graph, op, name, sizeof name));
    fprintf(out, "\",\"args\":{\"id\":%" PRIu64, op->id);
    if (meets) {
        fputs(",\"set\":\"", out);
        trace_text(&timeline->events, timeline->graph->sets[op->set].name);
        fprintf(out, "\",\"bytes\":%" PRIu64, op->bytes);
    }
    if (meets && op->kind == WORKLOAD_COLLECTIVE)
        fprintf(out, ",\"collective\":\"%s\"",
                ccl_collective_name((enum ccl_collective)op->collective));
    fputc('}', out);
    trace_end(&timeline->events, rank, op->stream, span->start_ps);
    if (!meets || span->met_ps <= span->start_ps)
        return;
    trace_begin_leaf(&timeline->events, span->start_ps, span->met_ps);
    fputs(",\"cat\":\"wait\",\"name\":\"waits for other ranks\"", out);
    trace_end(&timeline->events, rank, op->stream, span->start_ps);
}

static void put_rank(struct step_timeline *timeline, uint32_t rank)
{
    const struct workload_graph *const graph = timeline->graph;
    const struct workload_program *const p = &graph->programs[graph->program_of[rank]];
    const struct step_span *const spans = step_spans_of(timeline->result, rank);
    char name[96];
    snprintf(name, sizeof name, "%.60s, rank", p->name);
    put_name(timeline, "process_name", rank, 0, name, rank);
    for (uint32_t s = 0; s < graph->stream_count; s++) {
        uint32_t i = 0;
        while (i < p->op_count && p->ops[i].stream != s)
            i++;
        if (i < p->op_count)
            put_name(timeline, "thread_name", rank, s, graph->streams[s].name, WORKLOAD_NONE);
    }
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->ops[i].kind != WORKLOAD_NOTHING)
            put_slice(timeline, rank, &p->ops[i], &spans[i]);
}

void step_timeline_write(FILE *out, const struct workload_graph *graph,
                         const struct step_result *result)
{
    struct step_timeline timeline = {.events = {.out = out}, .graph = graph, .result = result};
    fprintf(out,
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"version\":\"%s\"},"
            "\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRIu32
            ",\"args\":{\"name\":\"step\"}}",
            CW_VERSION, graph->rank_count);
    for (uint32_t rank = 0; rank < graph->rank_count; rank++)
        put_rank(&timeline, rank);
    fputs("\n]}\n", out);
}
