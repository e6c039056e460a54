/*
 * pin.h: each thread that workers run on, on a core of its own. Owns the threads' hardware threads,
 * for one simulation, and the binding of the calling thread before a drain.
 *
 * Pinning is optional: where it fails the system places the threads, and the results are the same.
 * I-PIN-1: after a drain the calling thread is bound as it was before.
 *
 * Threads: pin_create() and pin_free() are the host's, between drains. pin_thread() is called by
 * each of the threads, for itself, and pin_end() by the host's, which is thread 0. All but the
 * host's stay bound between drains, when they sleep.
 */
#ifndef CORE_PIN_H
#define CORE_PIN_H

#include <stdbool.h>
#include <stdint.h>

struct hwloc_topology;
struct hwloc_bitmap_s;
struct pin; /* NULL: no thread is pinned; every function accepts it */

/*
 * A core for each of `threads` threads, of the cores that the calling thread may run on (taskset,
 * control group): one thread per core first, then the cores' further hardware threads. Thread 0,
 * which is the calling one, stays on the core it is on; the next ones get the cores that follow.
 * Neighbouring threads are on one NUMA node as far as it goes. Linux puts memory on the node of the
 * thread that writes it first.
 * NULL with fewer than two threads, with more than there are hardware threads, if the system does
 * not say, or without 4 MiB of memory to spare.
 */
struct pin *pin_create(uint32_t threads);

/* Leaves out of a machine's map all that pin_choose() does not need; before it is loaded. */
bool pin_filter(struct hwloc_topology *topology);

struct pin_place {
    uint32_t pu;   /* hardware thread, as the system numbers it */
    uint32_t node; /* NUMA node, as hwloc numbers it */
};
/* How pin_create() chooses, on any machine's map (hwloc): a place for each thread, of the hardware
 * threads allowed. `here`: the one that the calling thread is on. False: there are too few. */
bool pin_choose(struct hwloc_topology *topology, const struct hwloc_bitmap_s *allowed,
                unsigned here, uint32_t threads, struct pin_place *places);
void pin_free(struct pin *pin);

/* Binds the calling thread to thread `index`'s hardware thread. Of thread 0 it remembers how that
 * was bound before. */
void pin_thread(struct pin *pin, uint32_t index);
/* Called by thread 0: restores its binding. Makes no system call if pin_thread() did not bind it,
 * as in drains that it runs alone. */
void pin_end(struct pin *pin);

/* How many threads have a hardware thread of their own: all, or none. */
uint32_t pin_count(const struct pin *pin);

#endif
