/*
 * event.c: the rare end of the total order, where type, payload and LP decide (event.h).
 */
#include "core/queue/event.h"

#include "core/invariant.h"

#include <string.h>

static bool is_before_tied(const struct entry *a, const struct entry *b)
{
    const struct cw_event *x = a->event, *y = b->event;
    if (x->type != y->type)
        return x->type < y->type;
    const size_t common = x->payload_bytes < y->payload_bytes ? x->payload_bytes : y->payload_bytes;
    const int by_payload = memcmp(x->payload, y->payload, common);
    if (by_payload != 0)
        return by_payload < 0;
    if (x->payload_bytes != y->payload_bytes)
        return x->payload_bytes < y->payload_bytes;
    return x->lp < y->lp;
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
