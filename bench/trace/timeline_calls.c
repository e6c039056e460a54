/*
 * timeline_calls.c: writes the calls of a timeline (timeline_calls.h).
 */
#include "bench/trace/timeline_calls.h"

#include <inttypes.h>
#include <string.h>

#include "collectives/data/dtype.h"

static void write_counters(const struct timeline_calls *calls, struct timeline_events *events)
{
    static const char *const name[COUNTERS] = {"tiles on their way", "busy links between SIPs",
                                               "busy links between cubes",
                                               "busy links inside cubes"};
    const struct timeline_counters *const c = &calls->counters;
    for (int k = 0; k < COUNTERS; k++)
        for (int64_t i = 0, last = 0; i < COUNTER_BINS; i++) {
            const int64_t ps = c->begin_ps + i * c->bin_ps, mean = c->bin[k][i] * 1000 / c->bin_ps;
            if (ps > calls->call.end_ps + c->bin_ps)
                break;
            if ((mean == last && i > 0) || !trace_in_time(events, ps, ps))
                continue;
            trace_begin(events, "C");
            fprintf(events->out, ",\"name\":\"%s\",\"args\":{\"count\":%" PRId64 ".%03" PRId64 "}",
                    name[k], mean / 1000, mean % 1000);
            trace_end(events, events->model->hw.sip_count, 0, ps);
            last = mean;
        }
}

void timeline_calls_write(struct timeline_calls *calls, struct timeline_events *events)
{
    const struct call_slice *const call = &calls->call;
    if (call->batch == 0)
        return;
    timeline_counters_tile(&calls->counters, call->end_ps, 0);
    write_counters(calls, events);
    if (!trace_in_time(events, call->begin_ps, call->end_ps))
        return;
    const uint32_t warmup = calls->warmup;
    const bool known = dtype_is_known(call->dtype);
    const uint64_t bytes = known ? call->n_elem * dtype_bytes((enum dtype)call->dtype) : 0;
    trace_begin_leaf(events, trace_clip(events, call->begin_ps), trace_clip(events, call->end_ps));
    fputs(",\"name\":\"", events->out);
    trace_text(events, call->kernel);
    fprintf(events->out, " %" PRIu64 " bytes, %s %" PRIu32 "\"", bytes,
            call->number < warmup ? "warm-up" : "iteration",
            1 + (call->number < warmup ? call->number : call->number - warmup));
    fprintf(events->out,
            ",\"args\":{\"bench\":\"%s\",\"bytes\":%" PRIu64 ",\"elements\":%" PRIu64
            ",\"dtype\":\"%s\",\"call\":%" PRIu32 ",\"timed\":%s}",
            calls->collective, bytes, call->n_elem,
            known ? dtype_name((enum dtype)call->dtype) : "", call->number + 1,
            call->number < warmup ? "false" : "true");
    trace_end(events, events->model->hw.sip_count, 0, trace_clip(events, call->begin_ps));
}

void timeline_calls_note(struct timeline_calls *calls, struct timeline_events *events,
                         const struct lp_kernel_record *record)
{
    const struct lp_launch *const launch = lp_launch_of(events->model, record->launch);
    struct call_slice *const call = &calls->call;
    if (launch->batch == call->batch) {
        call->end_ps = record->t_ps > call->end_ps ? record->t_ps : call->end_ps;
        return;
    }
    timeline_calls_write(calls, events);
    const bool alike = call->batch > 0 && strcmp(call->kernel, launch->kernel->name) == 0 &&
                       call->n_elem == launch->args.n_elem;
    *call = (struct call_slice){.batch = launch->batch,
                                .begin_ps = record->t_ps,
                                .end_ps = record->t_ps,
                                .n_elem = launch->args.n_elem,
                                .dtype = launch->args.dtype,
                                .number = alike ? call->number + 1 : 0};
    snprintf(call->kernel, sizeof call->kernel, "%s", launch->kernel->name);
    timeline_counters_begin(&calls->counters, record->t_ps);
}
