/*
 * event_limit.h: which events count against cw_config.events_max. A worker commits safe events that
 * lie beyond GVT. If an event before them fails, a sequential run never handles them. So they count
 * only once GVT has passed them, or, when the run ends, if they come before the event that failed.
 * Until then the worker keeps a copy of each.
 *
 * Only runs with a limit pay for this: they handle events one by one (handle_events.c).
 *
 * Entered by the worker that owns the timewarp; event_limit_after() when no worker runs.
 */
#ifndef CORE_EVENT_LIMIT_H
#define CORE_EVENT_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct cw_event;
struct timewarp;

/* Whether the run has a limit. */
bool event_limit_is_on(const struct timewarp *tw);
/* An event is about to commit. */
void event_limit_note(struct timewarp *tw, const struct cw_event *event);
/* GVT has risen: what it has passed counts from now on. */
void event_limit_settle(struct timewarp *tw);
/* The events that this worker has committed, and that come after the one that failed. */
uint64_t event_limit_after(const struct timewarp *tw, const struct cw_event *failed);
void event_limit_free(struct timewarp *tw);

#endif
