/*
 * pin.h: each worker's thread on a core of its own. Owns the machine's map of cores, for one
 * simulation, and what the calling thread was bound to before a drain.
 *
 * A help, never a condition: where it cannot be done the system places the threads, and the run is
 * the same. I-PIN-1: after a drain the calling thread is bound as it was before.
 *
 * Threads: pin_create(), pin_begin(), pin_end() and pin_free() are the host's, between drains;
 * pin_worker() is called by each worker's own thread, for itself.
 */
#ifndef CORE_PIN_H
#define CORE_PIN_H

#include <stdbool.h>
#include <stdint.h>

struct pin; /* NULL: nobody is pinned; every function accepts it */

/*
 * A core for each of `workers` workers, among those that the calling thread may run on (taskset,
 * control group): one thread per core first, then the cores' further hardware threads. Worker 0,
 * which is the calling thread, stays on the core it is on; the next ones get those that follow it.
 * NULL with fewer than two workers, with more workers than hardware threads, or if the system does
 * not tell.
 */
struct pin *pin_create(uint32_t workers);
void pin_free(struct pin *pin);

/* Before the threads of a drain start: remembers what the calling thread is bound to. */
void pin_begin(struct pin *pin);
/* Binds the calling thread to worker `index`'s hardware thread. */
void pin_worker(const struct pin *pin, uint32_t index);
/* When they have ended: binds the calling thread as it was. */
void pin_end(struct pin *pin);

/* How many workers have a hardware thread of their own: all, or none. */
uint32_t pin_count(const struct pin *pin);

#endif
