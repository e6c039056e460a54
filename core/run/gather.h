/*
 * gather.h: where several threads do not pay, one thread runs all workers, and the others sleep.
 * That is so where too few events lie within a lookahead, or other programs take cores.
 * pace.h decides, by measurements.
 *
 * Apart, each thread runs its own workers. Together, thread 0 runs all of them in turn, and no
 * other thread touches any. Once nothing is speculative and no message is in flight, all events are
 * gathered at worker 0, which handles them in the total order, as a sequential run does: without
 * undo, and without a look at any bound. Before the threads part, each event goes back to the
 * worker that owns its LP.
 *
 * I-GATHER-1: while thread t's word `parked` is not 0, thread t does not touch its workers. While
 * it is 0, no other thread touches them. Proof:
 *   1. Thread t releases its word with a value after the last turn of its workers.
 *   2. Thread 0 acquires the words of all threads before the first turn of another thread's worker.
 *   3. Thread 0 releases a word with 0 after the last such turn.
 *   4. Thread t acquires that before its next turn.
 *
 * I-GATHER-2: while events are gathered, no event is handled and not committed, and no message is
 * in flight. So worker 0 has all events that there are, and its least one is final when it is
 * handled. Proof:
 *   1. Each worker commits its final events, undoes all others (I-MOVE-2), and publishes its
 * cancellations.
 *   2. Each then takes all messages. That undoes nothing, since nothing is handled, so it sends
 * none.
 *   3. While events are gathered, every send goes to worker 0's pending set, but for those to a
 *      listener: its events are handled when the drain is over.
 *
 * I-GATHER-3: when the threads part, the bounds of all workers hold. Proof:
 *   1. No round of GVT is on. So no report says that a worker has no event, while it gets one.
 *   2. Promises and safe bounds are as at the beginning of a drain, here as when events gather.
 *   3. GVT stays: no event is before it.
 *
 * I-GATHER-4: no thread sleeps forever. Proof:
 *   1. A thread sets its word, and then looks whether the drain is over, with a full fence between.
 *   2. Thread 0 says that the drain is over, and then clears the words, with a full fence between.
 *   3. So the thread sees that the drain is over, or its word is cleared after it was set.
 */
#ifndef CORE_GATHER_H
#define CORE_GATHER_H

#include <stdbool.h>
#include <stdint.h>

struct cw_error;
struct cw_sim;
struct timewarp;
struct worker;

/* The host's, between drains. gather_create() sets sim->gather if threads may gather here. Returns
 * an enum cw_exit. */
int gather_create(struct cw_sim *sim, struct cw_error *error);
void gather_free(struct cw_sim *sim);

/* The host's, before a drain. Returns whether thread 0 begins alone: the others are then started by
 * `start` once they pay; it returns false if they cannot be. */
typedef bool (*gather_start_fn)(struct cw_sim *sim);
bool gather_begin(struct cw_sim *sim, gather_start_fn start);
/* After it: whether `start` has started them. */
bool gather_has_started(const struct cw_sim *sim);

/* The turns of the workers [first, first + count), until the run ends or sim->paused asks the
 * thread to leave. `together`: they are all workers, on thread 0. */
typedef void (*gather_run_fn)(struct worker *first, uint32_t count, bool together);
/* The main function of thread `index`, which owns the workers [first, first + count). `run`:
 * worker_run(). */
void gather_run(struct cw_sim *sim, uint32_t index, struct worker *first, uint32_t count,
                gather_run_fn run);

/* The end of a turn of a worker while threads are apart. */
void gather_look(struct timewarp *tw);
/* Thread 0, after a turn of each worker while it is alone. */
void gather_look_together(struct cw_sim *sim);

#endif
