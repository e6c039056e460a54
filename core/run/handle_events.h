/*
 * handle_events.h: a worker handles its pending events, least first: safe ones without undo, later
 * ones speculatively. Entered by the thread that runs the worker.
 */
#ifndef CORE_HANDLE_EVENTS_H
#define CORE_HANDLE_EVENTS_H

#include <stdbool.h>

struct timewarp;

/* Handles up to a batch of events. Returns whether there were any. */
bool handle_batch(struct timewarp *tw);
/* Handles up to a batch of safe events, none of which needs a precaution: their LPs have no
 * history. Returns how many. */
unsigned handle_safe_batch(struct timewarp *tw);
/* After the jump out of a handler that has failed: takes back the effects of the call. */
void handle_failure(struct timewarp *tw);

#endif
