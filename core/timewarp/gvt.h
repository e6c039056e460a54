/*
 * gvt.h: global virtual time (GVT), computed without stopping any worker (after Mattern's two cuts,
 * 1993; with Fujimoto and Hybinette's use of shared memory).
 *
 * A round has two cuts. At the first cut each worker publishes its messages and says so. When all
 * have made it, each worker takes the messages that have arrived, and reports: the least key that
 * it has pending, and, for each other worker, the least key that it has sent there since its first
 * cut. That is its second cut. When all have reported, each computes the same result from the
 * reports.
 *
 * I-GVT-1: no event and no cancellation that is sent after the cuts is before the least reported
 * key. Proof, for a message that is in no report:
 *   1. It was not sent before its sender's first cut. Such a message was published at that cut and
 *      taken by its receiver before the receiver's second cut. So it is pending there and reported,
 *      or it was handled there, and then its consequences are subject to this proof.
 *   2. It was not sent between its sender's cuts. Such a message is in the sender's report.
 *   3. So it was sent after its sender's second cut, and its cause was pending there at that cut,
 *      or arrived later. By induction over causes it is not before the least reported key.
 *
 * I-SAFE-1: let U(B) be the least time that is reported by or for worker B, and D(B, A) the least
 * delay of any non-empty path of workers from B to A. When A has taken all messages that were
 * published before the reports, no message that arrives later is before
 *   S(A) = min over B of U(B) + D(B, A).
 * A cancellation is no exception: it is caused by the rollback of an event that is not before U(B),
 * and it names an event that was sent from there.
 *
 * I-GVT-2: a slot's fields of round r are not written again before all workers have read them. A
 * worker enters the first cut of round r + 1 after it has computed round r, and the second cut of
 * r + 1 after all have entered the first.
 *
 * I-GVT-3: when all workers have made the first cut of round r + 1, the records of all events
 * before the GVT of round r are published. Proof:
 *   1. A worker that has computed round r commits all its events before that GVT (fossil.c), and
 *      then makes its next first cut.
 *   2. At a first cut a worker publishes the records of all events that it has committed.
 * The slot's `published` is written at the first cut. Worker 0 reads it when all have made that cut
 * and before its own second cut, so it is not written meanwhile, for the reason of I-GVT-2.
 *
 * Entered by the worker that owns the timewarp, except gvt_close_delays(), which is the host's.
 */
#ifndef CORE_GVT_H
#define CORE_GVT_H

#include <stdbool.h>
#include <stdint.h>

struct cw_sim;
struct gvt;
struct timewarp;

/* A number that differs between two moments if this worker has gone on with a round between. */
uint64_t gvt_moment(const struct gvt *gvt);

/* Whether this worker can go on with the round, or another one has begun the next. */
bool gvt_can_go_on(const struct gvt *gvt, const struct cw_sim *sim);

/* Goes on with the round as far as possible without waiting. Begins one if another worker has, or
 * if this one needs one. True: a round has ended, and `now` and `safe_ps` are new. */
bool gvt_step(struct timewarp *tw);

/* Replaces the least delays of direct ways between workers by D of I-SAFE-1. */
void gvt_close_delays(int64_t *delays_ps, uint32_t workers);

#endif
