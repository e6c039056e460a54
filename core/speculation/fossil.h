/*
 * fossil.h: fossil collection: events that are final commit, and their memory is free again.
 *
 * An event is final when GVT has passed it. It is also final when it is before all events that its
 * worker has pending and all that may still arrive there, that is, before the worker's promise
 * (I-PROM-2).
 *
 * Entered by the worker that owns the timewarp.
 */
#ifndef CORE_FOSSIL_H
#define CORE_FOSSIL_H

#include <stddef.h>
#include <stdint.h>

#include "core/queue/event.h"

struct timewarp;

/* Commits all events that are final. */
void fossil_collect(struct timewarp *tw);
/* Commits all events before that key; they are final. */
void fossil_collect_before(struct timewarp *tw, struct key key);
/* Commits all events that the LP has processed: a safe event comes next there. */
void fossil_commit_lp(struct timewarp *tw, uint32_t lp);

/* Hands out the records of an event that is final: `bytes` bytes (commit_records.h). */
void fossil_emit_records(struct timewarp *tw, const struct cw_event *event, const uint8_t *records,
                         size_t bytes);

#endif
