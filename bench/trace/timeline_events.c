/*
 * timeline_events.c: writes single events in the trace format (timeline_events.h).
 */
#include "bench/trace/timeline_events.h"

#include <inttypes.h>
#include <string.h>

#include "collectives/config/input/text.h"

void trace_time(struct timeline_events *events, uint32_t tid, int64_t ps)
{
    fprintf(events->out, ",\"tid\":%" PRIu32 ",\"ts\":%" PRId64 ".%06" PRId64 "1", tid,
            ps / 1000000, ps % 1000000);
    events->last_ps = ps > events->last_ps ? ps : events->last_ps;
}
void trace_end(struct timeline_events *events, uint32_t pid, uint32_t tid, int64_t ps)
{
    trace_time(events, tid, ps);
    fprintf(events->out, ",\"pid\":%" PRIu32 "}", pid);
}

int64_t trace_clip(const struct timeline_events *events, int64_t ps)
{
    const struct timeline_filter *const filter = &events->filter;
    return ps < filter->from_ps ? filter->from_ps : ps > filter->to_ps ? filter->to_ps : ps;
}

bool trace_in_time(const struct timeline_events *events, int64_t begin_ps, int64_t end_ps)
{
    const struct timeline_filter *const filter = &events->filter;
    return begin_ps < filter->to_ps &&
           (end_ps > filter->from_ps || (begin_ps == end_ps && begin_ps >= filter->from_ps));
}

uint32_t trace_tid(const struct lp_model *model, uint32_t pe, uint32_t track)
{
    const struct hw_place place = hw_place_of(&model->hw, pe);
    const uint32_t side = track / TRACKS_SIDE * model->cubes * model->pes;
    return (side + place.cube * model->pes + place.pe) * TRACKS_SIDE + track % TRACKS_SIDE;
}

void trace_name_track(struct timeline_events *events, uint32_t pe, uint32_t track)
{
    const struct hw_place place = hw_place_of(&events->model->hw, pe);
    const uint32_t tid = trace_tid(events->model, pe, track), queues = events->model->needs.queues;
    char has[32] = "operations";
    if (track < queues)
        (void)snprintf(has, sizeof has, queues > 1 ? "kernels of queue %u" : "kernels", track);
    if (!events->sip_named[place.sip])
        fprintf(events->out,
                ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRIu32
                ",\"args\":{\"name\":\"SIP %" PRIu32 "\"}}",
                place.sip, place.sip);
    events->sip_named[place.sip] = true;
    fprintf(events->out,
            ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"args\":{\"name\":\"cube %" PRIu32 " PE %" PRIu32 " %s\"}}"
            ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"args\":{\"sort_index\":%" PRIu32 "}}",
            place.sip, tid, place.cube, place.pe, has, place.sip, tid, tid);
}

void trace_text(const struct timeline_events *events, const char *text)
{
    const bool is_utf8 = text_utf8_prefix(text, strlen(text)) == strlen(text);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++)
        if (*at < 0x20)
            fprintf(events->out, "\\u%04x", *at);
        else if (*at == '"' || *at == '\\')
            fprintf(events->out, "\\%c", *at);
        else
            fputc(*at < 0x80 || is_utf8 ? *at : '?', events->out);
}

void trace_begin(struct timeline_events *events, const char *type)
{
    fprintf(events->out, ",\n{\"ph\":\"%s\"", type);
}
void trace_end_on_track(struct timeline_events *events, uint32_t pe, uint32_t track, int64_t ps)
{
    trace_end(events, hw_place_of(&events->model->hw, pe).sip, trace_tid(events->model, pe, track),
              ps);
}

void trace_begin_leaf(struct timeline_events *events, int64_t begin_ps, int64_t end_ps)
{
    const int64_t ps = end_ps - begin_ps;
    trace_begin(events, "X");
    fprintf(events->out, ",\"dur\":%" PRId64 ".%06" PRId64, ps / 1000000, ps % 1000000);
    events->last_ps = end_ps > events->last_ps ? end_ps : events->last_ps;
}

void trace_end_slice(struct timeline_events *events, uint32_t pe, uint32_t track, int64_t ps)
{
    trace_begin(events, "E");
    trace_end_on_track(events, pe, track, ps);
}
