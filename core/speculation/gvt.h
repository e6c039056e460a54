/*
 * gvt.h: global virtual time (GVT), computed without stopping any worker (after Mattern's two cuts,
 * 1993; with Fujimoto and Hybinette's use of shared memory).
 *
 * A round has two cuts. At the first cut each worker publishes its messages and counts itself. When
 * all have been counted, each worker takes the messages that have arrived, and reports: the least
 * key that it has pending, and the least key that it has sent to any worker since its first cut.
 * It also lowers the in-transit minimum of each worker that it has sent to since, a word that holds
 * the least time of those messages. That is its second cut, at which it counts itself again. When
 * all have been counted, each computes the same GVT from the reports, and its own safe bound. So a
 * worker reads one line for each worker in a round, and writes one for each that it has sent to.
 *
 * The last worker to reach a cut publishes that in one word, `reached`. The others poll nothing
 * else meanwhile. The count acquires and releases. So the last worker, and each worker that
 * acquires `reached`, sees all writes that any worker made before its cut. A call for a round sets
 * the same word. Several workers may call, with the same value, each before it is counted at the
 * first cut; so the word never decreases.
 *
 * I-GVT-1: no event and no cancellation that is sent after the cuts is before the least reported
 * key. Proof, for a message that is in no report:
 *   1. It was not sent before its sender's first cut. Such a message was published at that cut and
 *      taken by its receiver before the receiver's second cut. So it is pending there and reported,
 *      or it was handled there, and this proof applies to its effects.
 *   2. It was not sent between its sender's cuts. Such a message is in the sender's report.
 *   3. So it was sent after its sender's second cut, and its cause was pending there at that cut,
 *      or arrived later. By induction over causes it is not before the least reported key.
 *
 * I-SAFE-1: let U(B) be the least time that is reported by worker B, or by the others in B's word,
 * and D(B, A) the least delay of any non-empty path of workers from B to A. When A has taken all
 * messages that were published before the reports, no message that arrives later is before
 *   S(A) = min over B of U(B) + D(B, A).
 * Proof:
 *   1. Such a message was sent after its sender's second cut: a worker publishes before it reports.
 *   2. Its causes lead back to an event that some worker B had pending, or that was in flight to B,
 *      at the cuts. That event is at U(B) or later (I-GVT-4).
 *   3. Each step from one worker to another adds at least their least delay.
 *   4. A cancellation names an event that was sent from an event not before U(B). So the same is
 *      true of it.
 * A message below the safe bound ends the run, in release builds, too (receive.c).
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
 * and before its own second cut, so by I-GVT-2 it is not written meanwhile.
 *
 * I-GVT-4: when all have made the second cut of round r, transit_ps[r % 2] of worker B is the least
 * time that was sent to B between its sender's cuts of round r; CW_TIME_MAX if nothing was. Proof:
 *   1. B sets the word to CW_TIME_MAX before it is counted at the second cut of round r - 1.
 *   2. At that moment all have made the first cut of r - 1. So all have computed round r - 2, which
 *      was the last to read the word.
 *   3. A sender lowers the word in round r after its first cut of r. So it has acquired that all
 *      have made the second cut of r - 1, B with step 1 among them.
 *   4. It does so before it is counted at its second cut of round r. So each worker that computes
 *      round r has acquired it.
 *   5. The next one to write the word is B, at the second cut of round r + 1 (steps 1 and 2).
 * The host sets both words before the first round.
 *
 * Called by the worker that owns the timewarp; gvt_path_delays() by the host.
 */
#ifndef CORE_GVT_H
#define CORE_GVT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/queue/event.h"

struct gvt;
struct stats_report;
struct timewarp;

/* A worker needs a round at these values, and at GVT_LIVE_BEFORE_ROUND logs (throttle.h): */
enum {
    GVT_LOOKS_BEFORE_ROUND = 64, /* turns in a row that found nothing to do */
    /* Events handled since the last round. The host waits for their records, which only a round
     * delivers. Near the memory limit a worker may handle and undo the same events again and
     * again: only a round lets them commit. */
    GVT_EVENTS_BEFORE_ROUND = 16384,
    GVT_RECORD_BYTES_BEFORE_ROUND = 1 << 20, /* of unpublished records */
};
/* Among more than GVT_WORKERS_FEW workers (throttle.h) a worker rests after a round, for this many
 * turns per worker. */
enum { GVT_REST_TURNS = 8 };

/* A number that changes whenever this worker advances in a round. */
uint64_t gvt_moment(const struct gvt *gvt);

/* Advances the round as far as possible without waiting. Begins one if another worker has, or if
 * this one needs one. True: a round has ended, and `now` and `safe_ps` are new. */
bool gvt_step(struct timewarp *tw);

/* Fills a report with this worker's current figures, for the host (I-STAT-1). */
void gvt_report_figures(const struct timewarp *tw, struct stats_report *report);

/* The key of the worker's least pending event; KEY_NEVER: none. Frees the cancelled events before
 * it. */
struct key gvt_least_pending(struct timewarp *tw);

/* The same, including an event that has failed for good. */
struct key gvt_least_left(struct timewarp *tw);
/* On a worker where an event has failed for good: whether `event` comes before the failed event in
 * the total order. A move may undo `event`, even one with the failed event's key: then it must be
 * handled again. */
bool gvt_is_before_failed(const struct timewarp *tw, const struct cw_event *event);

/* Fills delays_ps[to * workers + from] with D of I-SAFE-1, from the partition's matrix
 * [from * workers + to] of least delays; NULL: all are 0. At most about workers^3 steps, fewer
 * where some never send to others. */
void gvt_path_delays(int64_t *delays_ps, const int64_t *least_delay_ps, uint32_t workers);

#endif
