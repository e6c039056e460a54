/*
 * stress.h: the disturbances of the stress mode. By a seed and a rate it
 *   - undoes events that nothing forced it to undo,
 *   - leaves messages in their mailboxes,
 *   - moves LP states to other places, and
 *   - compares each undone state with its hash.
 * None of that may change the events that are committed. The first event that a worker handles is
 * always undone. So a run in which events were committed and none was undone is a bug
 * (stress_result()).
 *
 * I-STRESS-1: the stress mode undoes only two kinds of events.
 *   1. An event that was handled just now. It was pending at the worker's last promise and at its
 *      last report, or has come since.
 *   2. An event that its LP has handled before, that is before neither the last promise nor the
 *      last report, and that is not safe.
 * So a cancellation is as late as I-PROM-1 and I-GVT-1 ask. And a message to an own LP is not
 * committed, since it comes after an event that is not safe.
 *
 * I-STRESS-2: a look at the mailboxes that leaves a message there raises no bound
 * (refresh_safe_bound()).
 *   1. The message was published after the last look that left none, which would have taken it.
 *   2. So it is for the safe bound or later (I-PROM-1, I-GVT-1), like a message that is not sent
 *      yet, and the promises that the worker makes meanwhile hold.
 *   3. A GVT round takes all messages. So none is left for long, and the messages that I-GVT-1
 *      relies on have been taken.
 *
 * Entered by the worker that owns the timewarp; stress_result() by the host.
 */
#ifndef CORE_STRESS_H
#define CORE_STRESS_H

#include "core/queue/event.h"

struct timewarp;

void stress_init(struct timewarp *tw);

/* How many messages this look may take from one mailbox; UINT64_MAX: all. */
uint64_t stress_delivery(struct timewarp *tw);
/* Whether a safe event is handled as if it were not safe. */
bool stress_keeps_undo(struct timewarp *tw, const struct entry *entry);
/* Before an LP's handler: moves its state, or not. */
void stress_move(struct timewarp *tw, uint32_t lp);
/* Notes the LP's state in the log that was just opened. */
void stress_note_state(struct timewarp *tw, uint32_t lp);
/* Once a log has been undone: the state must be the one that it noted (I-HIST-1). */
void stress_check_state(struct timewarp *tw, uint32_t lp, uint64_t before);
/* The event to be undone with all that its LP has handled since: the one that was just handled, or
 * one before it; NULL: none. */
const struct cw_event *stress_draw_undo(struct timewarp *tw, const struct entry *entry);

/* After a drain. If events were committed and none was undone: CW_NO_RESOURCE where the cause was
 * lack of memory, else CW_BUG. Otherwise CW_OK. */
int stress_result(const struct cw_sim *sim, struct cw_error *error);

#endif
