/*
 * migrate.h: parts of the model move from worker to worker. A part is a set of LPs that move
 * together. A move is rare, and all workers stop for it.
 *
 * Worker 0 makes a plan: a worker for each part. It does so between two rounds of GVT, and the move
 * is due at the end of the next round. Each worker takes these steps. Before each step but the
 * first it waits until all workers have made the one before.
 *   1. Undo. It commits the events that are final, undoes all others that it has handled, and
 *      publishes the cancellations.
 *   2. Give. It takes all messages. It lays out the pending events of the LPs that leave.
 *   3. Take. It copies the events of the LPs that come into memory of its own. It forgets its
 *      promise, and reports the least key that it has pending. Worker 0 also writes the new owner
 *      of each LP, and the new least delays.
 *   4. Go on. It frees the events that it gave, and computes GVT and its safe bound from the
 *      reports. Its send quota begins anew. An LP's state stays where it is in memory. No worker
 * waits inside a step, so several workers may share a thread. If an event has failed for good, no
 * event and no LP moves.
 *
 * I-MOVE-1: all workers take the same plan at the end of the same round.
 *   1. Worker 0 writes the plan, and then the number of the next round, before its first cut of
 *      that round.
 *   2. Any worker that ends that round has seen all its first cuts. So it sees the number.
 *   3. Worker 0 makes no other plan before all workers have taken this one to step 4.
 *
 * I-MOVE-2: let K be the lesser of the worker's least pending key and its safe bound. In step 1
 * each handled event before K is final, and no other one is relied on.
 *   1. No message that is still to come is before the safe bound, and no pending event is before K.
 *      So nothing can undo a handled event before K.
 *   2. Let e be handled and at the safe bound or later. Its cancellations come at the safe bound
 *      plus a least delay, or later. That is not before any worker's safe bound: by I-SAFE-1 the
 *      bounds differ by at most the least delays, and a promise is not beyond its worker's bound.
 *   3. Let e be handled, and let a pending event p come before it, both before the safe bound. By
 *      I-PROM-1 and I-GVT-1 the other workers' bounds allow for all that p may cause, so they allow
 *      for the cancellations of e, which come later.
 *   4. In step 3 no event f that e has sent to an own LP is committed. Otherwise f was the least
 *      pending event when it was handled for good. All that became pending since is f or later, or
 *      at the safe bound or later. But p is before e, and e is before f.
 *
 * I-MOVE-3: after step 2 no message is in flight, and no event is handled and not committed.
 *   1. Before step 2 each worker has published all its messages.
 *   2. Taking a message sends none: an event that was cancelled is only pending, so nothing is
 *      undone for it.
 *   3. So a sequence number from before the move is never named again.
 *
 * I-MOVE-4: an event is pending at the worker that owns its LP, whenever events are handled. The
 * owners change while worker 0 is in step 3. Then no event is handled, and none is sent.
 *
 * I-MOVE-5: an event that moves is copied once, and freed once, after it was copied. Its old worker
 * frees it in step 4, when all workers have made step 3.
 *
 * I-MOVE-6: the bounds of step 4 hold: no message is in flight (I-MOVE-3), so the reports of step 3
 * are all that I-GVT-1 and I-SAFE-1 ask of a round, and the least delays are the new owners'. A
 * promise from before the move is not read after it, because step 3 replaces it.
 *
 * Each function is entered by the worker that owns the timewarp, unless it says otherwise.
 */
#ifndef CORE_MIGRATE_H
#define CORE_MIGRATE_H

#include <stdbool.h>
#include <stdint.h>

struct cw_error;
struct cw_sim;
struct timewarp;

/* The host's. Sets sim->migration, if parts may move in this simulation: it has several workers,
 * and the least delays of other owners are known (cw_tuning.least_delays). Returns an enum cw_exit.
 */
int migrate_create(struct cw_sim *sim, struct cw_error *error);
void migrate_free(struct cw_sim *sim);

uint32_t migrate_part_count(const struct cw_sim *sim);
uint32_t migrate_part_of(const struct cw_sim *sim, uint32_t lp);

/*
 * Worker 0, right after a round has ended, drafts a move: the worker of each part, as it is now,
 * for the caller to change. NULL: no move can be planned now, because parts do not move in this
 * simulation, another move is due, memory is tight or an event has failed.
 */
uint32_t *migrate_draft(struct timewarp *tw);
/* The least delay between any two workers, now and with the draft; CW_TIME_MAX: no event goes
 * between workers; 0: none is known. */
void migrate_lookaheads(struct timewarp *tw, int64_t *now_ps, int64_t *next_ps);
/* Has the draft take place at the end of the next round. False: it does not, since no part would
 * change its worker, or the conservative mode would be left without lookahead. */
bool migrate_plan(struct timewarp *tw);

/* Whether a move is due, or has begun. Until it has ended no thread takes the events of all workers
 * (core/run/gather.h), and while one has them no move is drafted. */
bool migrate_is_on(const struct timewarp *tw);

/* Commits the events of this worker that are final, and undoes all others that it has handled (step
 * 1). The caller publishes the cancellations. All workers are between two turns, and no round is
 * on. */
void migrate_undo_rest(struct timewarp *tw);

/* Right after a round has ended: begins the move that is due, if one is. */
void migrate_begin(struct timewarp *tw);

/* Goes on with a move that has begun, as far as possible without waiting. Until tw->move.stage is
 * MOVE_NONE the worker does nothing else. Returns false if it could do nothing. */
bool migrate_step(struct timewarp *tw);

#endif
