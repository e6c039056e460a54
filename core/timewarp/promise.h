/*
 * promise.h: what lets a worker go on without waiting for a GVT round: each one's promise not to
 * send anything early, in a word that the others read (the null message of Chandy, Misra and
 * Bryant, 1977-79, without the message).
 *
 * P(B), worker B's promise, is the least of the times of its pending events, of one that has failed
 * for good, and of its safe bound, taken when all that it had sent was published. L(B, A) is the
 * least delay of what B sends to A, to which cw_send() holds every send.
 *
 * I-PROM-1: what B sends after it has promised P(B) comes to A at P(B) + L(B, A) or later. Proof,
 * with I-SAFE-2 and by induction over the steps of all workers: an event that B handles then was
 * pending, or has arrived since, at B's safe bound or later, or was caused by such an event; one
 * that B undoes then, and whose sends it cancels, is not before the straggler or the cancellation
 * that undid it, to which the same applies. So both are at P(B) or later, and what they sent is
 * L(B, A) after them.
 *
 * I-PROM-2: of B's own LPs, what was handled and whose time is before P(B), not at it, is final:
 * nothing that could undo it is pending, or can still arrive.
 *
 * I-SAFE-2: a worker that reads the promises, and then takes all that has arrived, has the safe
 * bound S(A) = min over the others B of P(B) + L(B, A). Each promise is released after what its
 * worker had published, and acquired before the mailboxes are read.
 *
 * Promises rise by at most the lookahead from hand to hand, which is slow where events are far
 * apart, and not at all where there is no lookahead; GVT rounds make up for that (gvt.h). A
 * worker's safe bound is the greater one of the two.
 */
#ifndef CORE_PROMISE_H
#define CORE_PROMISE_H

#include <stdbool.h>
#include <stdint.h>

struct timewarp;

/* Reads the others' promises, takes what has arrived, and raises the safe bound. Returns whether
 * it has risen. */
bool promise_look(struct timewarp *tw);

/* P: no event of this worker's that is not handled yet, and none that may still arrive, is before.
 */
int64_t promise_ps(struct timewarp *tw);

/* Makes known all that was sent, and promises anew. */
void promise_renew(struct timewarp *tw);

#endif
