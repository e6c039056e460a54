/*
 * threads.h: the threads that a simulation's workers run on; the first is the calling one, the
 * others are started once, for the first drain or the first work of the host for each worker, and
 * sleep when there is none: a drain may last a millisecond, and to start a thread takes a good part
 * of one.
 *
 * Threads are started here and nowhere else. A test that decides itself which thread runs links its
 * own functions instead of these.
 *
 * I-THREADS-1: main() sees all that the caller has written before threads_run(), and the caller
 * sees all that main() has written when threads_run() has returned.
 */
#ifndef CORE_THREADS_H
#define CORE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/os/memory.h"

struct threads;

/* The main function of thread `index`; 0 is the calling thread. */
typedef void (*threads_main)(void *shared, uint32_t index);

/*
 * Starts `count` - 1 threads beside the calling one. `spin`: each has a core, and looks for work
 * for a while before it sleeps. NULL if the system grants fewer threads, or if the memory account
 * has no room. *started is then the number of threads that there could be, the calling one
 * included; 0: the account has no room.
 */
struct threads *threads_start(struct memory *memory, uint32_t count, bool spin, uint32_t *started);

/* The two halves of threads_run(), for a caller that is index 0 already: the others enter main(),
 * and all have returned. */
void threads_begin(struct threads *threads, threads_main main, void *shared);
void threads_finish(struct threads *threads);

/* Runs main(shared, index) for each index < count, and returns when all have returned. */
void threads_run(struct threads *threads, threads_main main, void *shared);

/* False in the child of a fork, in which they do not run. */
bool threads_are_here(const struct threads *threads);

/* Ends them; in the child of a fork it gives back their memory. Accepts NULL. */
void threads_end(struct threads *threads);

#endif
