/*
 * event_limit.c: keeps copies of the events that are committed beyond GVT, and counts them
 * (event_limit.h).
 */
#include "core/speculation/event_limit.h"

#include <string.h>

#include "core/speculation/timewarp.h"
#include "core/worker/simulation.h"
#include "core/worker/worker.h"

enum { CAPACITY_MIN = 256 };

bool event_limit_is_on(const struct timewarp *tw) { return tw->worker->sim->config.events_max > 0; }

void event_limit_note(struct timewarp *tw, const struct cw_event *event)
{
    struct event_limit *const limit = &tw->limit;
    const struct entry entry = entry_of_event((struct cw_event *)(uintptr_t)event);
    if (tw->gathered || key_before(key_of(&entry), tw->gvt.now)) /* none is left before it */
        return;
    if (!memory_grow(&tw->worker->sim->memory, &limit->beyond, &limit->capacity, limit->count,
                     limit->count + 1, sizeof *limit->beyond, CAPACITY_MIN))
        worker_fail_for_memory(tw->worker);
    memcpy(&limit->beyond[limit->count++], event,
           offsetof(struct cw_event, payload) + event->payload_bytes);
}

void event_limit_settle(struct timewarp *tw)
{
    struct event_limit *const limit = &tw->limit;
    size_t left = 0;
    for (size_t i = 0; i < limit->count; i++) {
        const struct entry entry = entry_of_event(&limit->beyond[i]);
        if (!key_before(key_of(&entry), tw->gvt.now))
            limit->beyond[left++] = limit->beyond[i];
    }
    limit->count = left;
}

uint64_t event_limit_after(const struct timewarp *tw, const struct cw_event *failed)
{
    uint64_t after = 0;
    for (size_t i = 0; i < tw->limit.count; i++)
        after += cw_event_before(failed, &tw->limit.beyond[i]);
    return after;
}

void event_limit_free(struct timewarp *tw)
{
    memory_give(&tw->worker->sim->memory, tw->limit.beyond,
                tw->limit.capacity * sizeof *tw->limit.beyond);
}
