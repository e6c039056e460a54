/*
 * timeline_calls.c: writes the calls of a timeline (timeline_calls.h).
 */
#include "bench/trace/timeline_calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/data/dtype.h"
#include "lp/host/batches.h"

static void write_counters(const struct timeline_calls *calls, struct timeline_events *events)
{
    static const char *const name[COUNTERS] = {"tiles on their way", "busy links between SIPs",
                                               "busy links between cubes",
                                               "busy links inside cubes"};
    const struct timeline_counters *const c = &calls->counters;
    for (int k = 0; k < COUNTERS; k++)
        for (int64_t i = 0, last = 0; i < COUNTER_BINS; i++) {
            const int64_t ps = c->begin_ps + i * c->bin_ps, mean = c->bin[k][i] * 1000 / c->bin_ps;
            if (ps > calls->end_ps + c->bin_ps)
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

static void write_call(const struct timeline_calls *calls, struct timeline_events *events,
                       const struct call_slice *call)
{
    if (!trace_in_time(events, call->begin_ps, call->end_ps))
        return;
    const uint32_t warmup = calls->warmup;
    const char *const whose = calls->track[call->track].whose;
    const bool known = dtype_is_known(call->dtype);
    const uint64_t bytes = known ? call->n_elem * dtype_bytes((enum dtype)call->dtype) : 0;
    trace_begin_leaf(events, trace_clip(events, call->begin_ps), trace_clip(events, call->end_ps));
    fputs(",\"name\":\"", events->out);
    trace_text(events, call->call[0] != '\0' ? call->call : call->kernel);
    if (call->call[0] == '\0')
        fprintf(events->out, " %" PRIu64 " bytes, %s %" PRIu32, bytes,
                call->number < warmup ? "warm-up" : "iteration",
                1 + (call->number < warmup ? call->number : call->number - warmup));
    else if (call->n_elem > 1) /* barriers and messages have one element of no meaning */
        fprintf(events->out, ", %" PRIu64 " bytes", bytes);
    fputc('"', events->out);
    fprintf(events->out,
            ",\"args\":{\"bench\":\"%s\",\"bytes\":%" PRIu64 ",\"elements\":%" PRIu64
            ",\"dtype\":\"%s\",\"call\":%" PRIu32 ",\"timed\":%s",
            calls->collective, bytes, call->n_elem,
            known ? dtype_name((enum dtype)call->dtype) : "", call->number + 1,
            call->number < warmup ? "false" : "true");
    if (whose[0] != '\0') {
        fputs(",\"of\":\"", events->out);
        trace_text(events, whose);
        fputc('"', events->out);
    }
    fputc('}', events->out);
    trace_end(events, events->model->hw.sip_count, call->track, trace_clip(events, call->begin_ps));
}

/* Writes calls, and drops them: all, or those whose launches have left the table, so that nothing
 * of them will come. */
static void write_calls(struct timeline_calls *calls, struct timeline_events *events, bool all)
{
    size_t kept = 0;
    if (calls->open_count > 0 && (all || calls->first_batch != events->model->first_batch)) {
        timeline_counters_tile(&calls->counters, calls->end_ps, 0);
        write_counters(calls, events);
    }
    for (size_t i = 0; i < calls->open_count; i++) {
        const struct call_slice *const call = &calls->open[i];
        if (!all && lp_has_launch(events->model, call->launch)) {
            calls->open[kept++] = *call;
            continue;
        }
        write_call(calls, events, call);
        calls->track[call->track].is_taken = false;
    }
    calls->open_count = kept;
}

void timeline_calls_write(struct timeline_calls *calls, struct timeline_events *events)
{
    write_calls(calls, events, true);
}

void timeline_calls_free(struct timeline_calls *calls)
{
    free(calls->open);
    free(calls->track);
}

/* Room for one more of `each` bytes after `count`. False: out of memory. */
static bool make_room(void **list, size_t count, size_t *capacity, size_t each)
{
    if (count < *capacity)
        return true;
    void *const more = realloc(*list, (2 * count + 4) * each);
    if (more == NULL)
        return false;
    *list = more;
    *capacity = 2 * count + 4;
    return true;
}

static void name_call_track(const struct timeline_events *events, uint32_t track, const char *whose)
{
    fprintf(events->out,
            ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"args\":{\"name\":\"",
            events->model->hw.sip_count, track);
    trace_text(events, whose[0] != '\0' ? whose : "world");
    fputs("\"}}", events->out);
}

/* A free track of this process group, which is taken then; *latest: its latest call so far. NULL:
 * out of memory. The only track has no name. */
static struct call_track *take_call_track(struct timeline_calls *calls,
                                          const struct timeline_events *events, const char *whose,
                                          struct call_slice *latest)
{
    struct call_track *free_one = NULL;
    *latest = (struct call_slice){.batch = 0};
    for (size_t i = 0; i < calls->track_count; i++) {
        struct call_track *const track = &calls->track[i];
        if (strcmp(track->whose, whose) != 0)
            continue;
        if (track->latest.batch > latest->batch)
            *latest = track->latest;
        if (free_one == NULL && !track->is_taken)
            free_one = track;
    }
    if (free_one == NULL) {
        void *list = calls->track;
        if (!make_room(&list, calls->track_count, &calls->track_capacity, sizeof *calls->track))
            return NULL;
        calls->track = list;
        free_one = &calls->track[calls->track_count++];
        *free_one = (struct call_track){.is_taken = false};
        snprintf(free_one->whose, sizeof free_one->whose, "%s", whose);
        if (calls->track_count == 2)
            name_call_track(events, 0, calls->track[0].whose);
        if (calls->track_count > 1)
            name_call_track(events, (uint32_t)calls->track_count - 1, whose);
    }
    free_one->is_taken = true;
    return free_one;
}

static bool begin_call(struct timeline_calls *calls, struct timeline_events *events,
                       const struct lp_launch *launch, const struct lp_kernel_record *record)
{
    char whose[sizeof calls->track->whose];
    const char *const named = lp_launch_whose(launch);
    struct call_slice latest;
    write_calls(calls, events, false);
    if (calls->first_batch != events->model->first_batch) {
        timeline_counters_begin(&calls->counters, record->t_ps);
        calls->first_batch = events->model->first_batch;
        calls->end_ps = record->t_ps;
    }
    snprintf(whose, sizeof whose, "%s", named != NULL ? named : "");
    void *list = calls->open;
    if (!make_room(&list, calls->open_count, &calls->open_capacity, sizeof *calls->open))
        return false;
    calls->open = list;
    struct call_track *const track = take_call_track(calls, events, whose, &latest);
    if (track == NULL)
        return false;
    const bool alike = latest.batch > 0 && strcmp(latest.kernel, launch->kernel->name) == 0 &&
                       latest.n_elem == launch->args.n_elem;
    struct call_slice *const call = &calls->open[calls->open_count++];
    *call = (struct call_slice){.batch = launch->batch,
                                .launch = record->launch,
                                .begin_ps = record->t_ps,
                                .end_ps = record->t_ps,
                                .n_elem = launch->args.n_elem,
                                .dtype = launch->args.dtype,
                                .number = alike ? latest.number + 1 : 0,
                                .track = (uint32_t)(track - calls->track)};
    snprintf(call->kernel, sizeof call->kernel, "%s", launch->kernel->name);
    if (named != NULL && lp_launch_call(launch) != NULL)
        snprintf(call->call, sizeof call->call, "%s", lp_launch_call(launch));
    track->latest = *call;
    return true;
}

bool timeline_calls_note(struct timeline_calls *calls, struct timeline_events *events,
                         const struct lp_kernel_record *record)
{
    const struct lp_launch *const launch = lp_launch_of(events->model, record->launch);
    struct call_slice *call = NULL;
    for (size_t i = calls->open_count; i-- > 0 && call == NULL;)
        call = calls->open[i].batch == launch->batch ? &calls->open[i] : NULL;
    if (call == NULL)
        return begin_call(calls, events, launch, record);
    call->end_ps = record->t_ps > call->end_ps ? record->t_ps : call->end_ps;
    calls->end_ps = call->end_ps > calls->end_ps ? call->end_ps : calls->end_ps;
    return true;
}
