/*
 * wait.h: how an idle worker waits. It spins, then gives its core away, then
 * sleeps until the worker that holds it up has made something known. With more threads than cores
 * it does not spin, and sleeps soon, so that the other worker gets the core. Beside other busy
 * programs a worker that gives its core away gets it back only after a time slice of each of them.
 * So it sleeps at once for some time after that has happened: one that wakes has its turn before
 * programs that never sleep. Workers that take turns on one thread wait together, when none of them
 * has anything to do.
 *
 * I-WAIT-1: of workers that wait for each other in a circle, one stays awake. Proof:
 *   1. Each says that it sleeps before it looks whether the worker that it waits for sleeps, with a
 *      full fence between.
 *   2. So the last one of a circle to say so finds the next one asleep, and stays awake.
 *   3. It only naps, for a fixed time that needs no waker, and calls a GVT round, which wakes all:
 *      at once, or among many workers after its rest (gvt.c), which is a number of turns.
 *
 * I-WAIT-2: a worker that sleeps misses nothing that the worker it waits for makes known. Proof:
 *   1. The other worker publishes, and then looks for sleepers, with a full fence between.
 *   2. The sleeper says that it sleeps, and then looks once more, with a full fence between.
 *   3. So the sleeper sees the publication, or the other worker sees the sleeper.
 * The other worker comes by after every batch, so the sleeper's fence is one on all threads, where
 * the system has such a thing, and the other worker's costs nothing. A sleep also ends by time,
 * which bounds the cost of an error in this proof.
 *
 * Entered by each worker for itself.
 */
#ifndef CORE_WAIT_H
#define CORE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct cw_sim;
struct timewarp;
struct wait;
struct worker;

/* One turn of waiting. */
void wait_turn(struct timewarp *tw);
/* One turn of waiting for all workers of a thread: the `turns`-th in a row. The thread naps at
 * most: each of its workers may be the one that can continue. */
void wait_together(struct worker *first, unsigned turns);
/* One look of waiting for other threads, the `looks`-th in a row. */
void wait_for_threads(struct wait *wait, unsigned looks);
/* With more threads than cores, after speculation: another worker on this core may lag. Gives
 * the core away, unless other programs have just had it: then for as long again it does not. */
void wait_give_way(struct wait *wait);
/* Waits until the recorder has given enough memory back, or has nothing left to deliver. */
void wait_for_recorder(struct timewarp *tw);
/* After worker `index` has made something known: wakes the workers that sleep for it, or with `all`
 * every worker that sleeps. */
void wait_wake(struct cw_sim *sim, uint32_t index, bool all);
/* Ends the run with this worker's failure, unless another worker was first: memory has run out, or
 * a bug was found. Wakes all; they see it by simulation_aborted(). */
void abort_run(struct cw_sim *sim, const struct worker *worker);

#endif
