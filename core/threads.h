/*
 * threads.h: the threads of a drain: starts one for each worker but the first, which is the calling
 * one, and joins them. Owns nothing between two calls.
 *
 * The one place that starts threads: a test that is to decide who runs when links its own
 * threads_run() instead of this one.
 */
#ifndef CORE_THREADS_H
#define CORE_THREADS_H

#include <stdint.h>

#include "core/memory.h"

/* What thread `index` does; 0 is the calling thread's. */
typedef void (*threads_main)(void *shared, uint32_t index);

/*
 * Runs main(shared, index) for each index < count, each on a thread of its own, and returns when
 * all have returned. Returns how many threads there were: if it is less than `count`, the system
 * (0: the memory account) granted no more, and main() has not been called at all.
 */
uint32_t threads_run(struct memory *memory, uint32_t count, threads_main main, void *shared);

#endif
