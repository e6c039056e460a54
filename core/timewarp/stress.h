/*
 * stress.h: what the stress mode does to a run on purpose, by a seed and a rate: it undoes events
 * that nothing forced it to undo, leaves messages in their mailboxes, moves LP states to other
 * places, and holds each undone state against its hash. None of that may change what is committed.
 *
 * The first event that a worker handles is always undone, and so a run in which events were
 * committed and none was undone is a bug (stress_result).
 *
 * I-STRESS-1: what is undone by injection is one of two things. An event that was handled just now:
 * it was pending since the worker's last promise and its last report, or came since. Or one that
 * its LP has handled before, that is neither before the last promise nor before the last report,
 * and that is not safe. So what is cancelled is as late as I-PROM-1 and I-GVT-1 want; and what was
 * sent to own LPs is not committed, since it comes after an event that is not safe.
 *
 * I-STRESS-2: a look at the mailboxes that leaves something there raises no bound (promise_look).
 * What was left was published after the last look that left nothing, or else that one would have
 * taken it; so it comes at the safe bound or later (I-PROM-1, I-GVT-1), as what has not been sent
 * yet does, and what the worker promises meanwhile holds. A GVT round takes everything, so nothing
 * is left for long, and what I-GVT-1 says has been taken has been.
 *
 * Entered by the worker that owns the timewarp; stress_result() by the host.
 */
#ifndef CORE_STRESS_H
#define CORE_STRESS_H

#include "core/timewarp/gvt.h"

struct cw_sim;
struct timewarp;

struct stress {
    bool on;          /* the stress mode's */
    bool keep_all;    /* keep undo for every event; else for some of the safe ones */
    struct key final; /* of the latest event that was handled for good */
    uint64_t rate_p32;
    struct cw_rng rng;
    bool denied; /* memory allowed no undo log for an event that would have had one */
    uint64_t injected, moved, held_back; /* rollbacks, states, looks */
};

void stress_init(struct timewarp *tw);

/* The messages that this look may take from one mailbox; UINT64_MAX: all. */
uint64_t stress_delivery(struct timewarp *tw);
/* Whether a safe event is handled as if it were not. */
bool stress_keeps_undo(struct timewarp *tw, const struct entry *entry);
/* Before an LP's handler: moves its state, or not. */
void stress_move(struct timewarp *tw, uint32_t lp);
/* Notes the LP's state in the log that was just opened. */
void stress_note_state(struct timewarp *tw, uint32_t lp);
/* Once a log has been undone: the state must be what it noted (I-HIST-1). */
void stress_check_state(struct timewarp *tw, uint32_t lp, uint64_t state_hash);
/* Undoes the event that was just handled, perhaps with some before it, or not. */
void stress_undo(struct timewarp *tw, const struct entry *entry);

/* After a drain: CW_OK, or, if there were events and none was undone, CW_NO_RESOURCE where memory
 * was what forbade it, else CW_BUG. */
int stress_result(const struct cw_sim *sim, struct cw_error *error);

#endif
