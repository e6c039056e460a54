/*
 * promise.h: raises the safe bound between the rounds of GVT. Each worker promises not to send
 * anything early, in a word that the others read. (It is the null message of Chandy, Misra and
 * Bryant, 1977-79, without the message.)
 *
 * P(B), worker B's promise, is the lesser of two times: its least pending event's, and its safe
 * bound. It is computed when everything that B has sent is published. L(B, A) is the least delay of
 * a send from B to A; cw_send() refuses a smaller one.
 *
 * An event that has failed for good does not count as pending:
 *   1. When it failed it was safe or at GVT, and B's least. So no earlier event can become pending
 *      at B.
 *   2. B handles no event after a failed one. So B sends nothing more but cancellations.
 *   3. If a message then makes B undo events, they are at B's safe bound or later, as step 2 below
 *      requires.
 *
 * I-PROM-1: any message that B sends to A after it has promised P(B) is for P(B) + L(B, A) or
 * later. Proof, with I-SAFE-2, by induction over the steps of all workers:
 *   1. An event that B handles after the promise was pending then, or has arrived since, at B's
 *      safe bound or later, or was caused by such an event. So it is at P(B) or later.
 *   2. An event that B undoes after the promise is not before the straggler or the cancellation
 *      that undid it, to which step 1 applies. So it is at P(B) or later, too.
 *   3. The messages, sent by events of step 1 or as cancellations of step 2, are for at least
 *      L(B, A) later.
 *
 * I-PROM-2: an event of B's own LPs that was handled and whose time is before P(B) is final:
 * nothing that could undo it is pending or can still arrive. An event at P(B) may not be.
 *
 * I-SAFE-2: a worker A that reads the promises, and then takes all messages that have arrived, has
 * the safe bound S(A) = min over the others B of P(B) + L(B, A), where B counts only if it may send
 * to A at all. Each promise is released after its worker's messages were published, and acquired
 * before the mailboxes are read.
 *
 * From one worker to the next, promises rise by the lookahead at most. That is slow where events
 * are far apart, and without lookahead they do not rise at all. GVT rounds make up for that
 * (gvt.h): a worker's safe bound is the greater of the two.
 *
 * Called by the worker that owns the timewarp.
 */
#ifndef CORE_PROMISE_H
#define CORE_PROMISE_H

#include <stdbool.h>
#include <stdint.h>

struct timewarp;

/* This worker's bounds no longer hold: events were injected, or have moved to other workers. It
 * promises bound_ps. Only while no other worker reads the promise. */
void promise_forget(struct timewarp *tw, int64_t bound_ps);
/* Resets its send quota, too: no message that it has sent counts as ahead of GVT
 * (core/exchange/send_quota.h). */
void promise_count_anew(struct timewarp *tw);

/* Reads the others' promises, takes the messages that have arrived, and raises the safe bound.
 * Returns whether it has risen. */
bool refresh_safe_bound(struct timewarp *tw);

/* P: no event of this worker that is pending, or may still arrive, is before it. */
int64_t promise_ps(struct timewarp *tw);

/* Publishes all messages, and then the current promise. */
void promise_renew(struct timewarp *tw);

/* Whether another worker's promise can release several events at once. Without lookahead, bounds
 * rise event by event, and each check would cost a cache line. */
bool promise_may_rise(const struct timewarp *tw);

/*
 * Whether to end speculation early: the promise that limits the safe bound has risen, and would
 * make at least a quarter of the model time that this worker is ahead safe. Others wait for this
 * worker's next promise. A smaller gain is not worth ending the turn. This check needs no ordering:
 * the next turn reads the promise properly.
 */
bool promise_has_risen(const struct timewarp *tw);

#endif
