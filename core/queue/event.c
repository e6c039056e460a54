/*
 * event.c: the rare end of the total order, where the type decides, and after it the model's tie
 * number or the payload (event.h).
 */
#include "core/queue/event.h"

#include "core/invariant.h"

#include <string.h>

static __thread struct {
    uint64_t (*tie)(const void *data, const struct cw_event *event);
    const void *data;
} ordering; /* as this thread's latest simulation has it */

void event_order_by(const struct cw_model *model)
{
    ordering.tie = model->tie;
    ordering.data = model->data;
}

bool event_has_tie(void) { return ordering.tie != NULL; }

uint64_t event_tie(const struct cw_event *event) { return ordering.tie(ordering.data, event); }

static bool is_before_tied(const struct entry *a, const struct entry *b)
{
    const struct cw_event *x = a->event, *y = b->event;
    if (x->type != y->type)
        return x->type < y->type;
    if (ordering.tie != NULL)
        return event_tie(x) < event_tie(y);
    const size_t common = x->payload_bytes < y->payload_bytes ? x->payload_bytes : y->payload_bytes;
    const int by_payload = memcmp(x->payload, y->payload, common);
    if (by_payload != 0)
        return by_payload < 0;
    return x->payload_bytes < y->payload_bytes;
}

void latest_event_note(struct latest_event *latest, const struct cw_model *model,
                       const struct cw_event *event)
{
    struct latest_event now = {.is = true, .tie = model->tie(model->data, event)};
    memcpy(&now.words, event, sizeof now.words);
    now.words.word[3] &= UINT32_MAX;
    CW_INVARIANT("I-ORDER-2",
                 !latest->is || latest->tie != now.tie ||
                     memcmp(&latest->words, &now.words, sizeof now.words) != 0,
                 "two events of type %u for LP %u at %lld ps have the tie number %llu",
                 (unsigned)event->type, (unsigned)event->lp, (long long)event->time_ps,
                 (unsigned long long)now.tie);
    *latest = now;
}

bool cw_event_before(const struct cw_event *a, const struct cw_event *b)
{
    const struct entry x = entry_of_event((struct cw_event *)(uintptr_t)a);
    const struct entry y = entry_of_event((struct cw_event *)(uintptr_t)b);
    return entry_before(&x, &y);
}

bool entry_before_tied(const struct entry *a, const struct entry *b)
{
    const bool before = is_before_tied(a, b);
    CW_INVARIANT("I-ORDER-1", !before || !is_before_tied(b, a),
                 "two events of type %u for LP %u at %lld ps are each before the other",
                 (unsigned)a->event->type, (unsigned)a->event->lp, (long long)a->time_ps);
    return before;
}
