/*
 * wait.h: how a worker waits that has nothing to do: it spins, then gives its core away, then
 * sleeps until the worker that holds it up has made something known. With more threads than cores
 * it does not spin, and sleeps soon: a core is better used by whom one waits for. Workers that take
 * turns on one thread wait together, when none of them has anything to do, and sleep by the clock.
 *
 * I-WAIT-1: of workers that wait for each other in a circle one stays awake: each says that it
 * sleeps before it looks whether the one it waits for does, with a full fence between, so the last
 * of a circle to say so finds the next one asleep. It goes on looking, and calls a GVT round,
 * which wakes all.
 * I-WAIT-2: a worker that sleeps misses nothing that the one it waits for makes known: that one
 * publishes, then looks for sleepers; the sleeper says that it sleeps, then looks once more; each
 * with a full fence between: the sleeper's is one on all threads, where there is such a thing,
 * since the other side comes by after every batch. A time-out bounds what a wrong argument could
 * cost.
 */
#ifndef CORE_WAIT_H
#define CORE_WAIT_H

#include <stdbool.h>

struct timewarp;

/* One turn of waiting. */
void wait_turn(struct timewarp *tw);
/* Likewise, of all workers of a thread, of which this is one: the `turns`-th in a row. */
void wait_all(const struct timewarp *tw, unsigned turns);
/* After something was made known: wakes who waits for this worker, or with `all` everybody. */
void wait_wake(struct timewarp *tw, bool all);

#endif
