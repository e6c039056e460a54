/*
 * wait.h: how an idle worker waits. It spins, then yields its core, then sleeps until the worker
 * that it waits for has published something. With more threads than cores it does not spin, and
 * sleeps soon, so that the other worker gets the core. If other programs are busy, a worker that
 * yields gets its core back only after each of them has used up a time slice. Once that has
 * happened, it sleeps at once for some time, because the scheduler favours a thread that wakes up
 * over programs that never sleep. Workers that share a thread wait together when all are idle.
 *
 * I-WAIT-1: of workers that wait for each other in a cycle, one stays awake. Proof:
 *   1. Each announces its sleep before it checks whether the worker that it waits for is asleep,
 *      with a full fence between.
 *   2. So the last worker of a cycle to announce its sleep finds the next one asleep, and stays
 *      awake.
 *   3. It only naps, for a fixed time without a waker, and calls a GVT round, which wakes all: at
 *      once, or among many workers after its rest (gvt.c), which is a number of turns.
 *
 * I-WAIT-2: a sleeping worker misses nothing that the worker it waits for publishes. Proof:
 *   1. The other worker publishes, and then checks for sleepers, with a full fence between.
 *   2. The sleeper announces its sleep, and then checks once more, with a full fence between.
 *   3. So the sleeper sees the publication, or the other worker sees the sleeper.
 * The other worker checks after every batch. So the sleeper's fence covers all threads, where the
 * system offers such a fence, and the other worker's costs nothing. A sleep also times out, which
 * bounds the cost of an error in this proof.
 *
 * Each worker calls these functions for itself.
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
/* One turn of waiting for all workers of a thread: the `turns`-th in a row. The thread only
 * naps, because any of its workers may be the one that can continue. */
void wait_together(struct worker *first, unsigned turns);
/* One poll while waiting for other threads, the `looks`-th in a row. */
void wait_for_threads(struct wait *wait, unsigned looks);
/* With more threads than cores, after speculation: yields, since another worker on this core may be
 * behind. If other programs have just taken the core, it does not yield again for as long. */
void wait_give_way(struct wait *wait);
/* Waits until the recorder has returned enough memory, or has nothing left to deliver. */
void wait_for_recorder(struct timewarp *tw);
/* After worker `index` has published something: wakes the workers that wait for it, or with `all`
 * every sleeping worker. */
void wait_wake(struct cw_sim *sim, uint32_t index, bool all);
/* Ends the run with this worker's failure, unless another worker was first: memory has run out, or
 * a bug was found. Wakes all; they check simulation_aborted(). */
void abort_run(struct cw_sim *sim, const struct worker *worker);

#endif
