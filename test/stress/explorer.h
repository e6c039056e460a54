/*
 * explorer.h: the schedule explorer: the engine's workers as coroutines in one thread, under a
 * scheduler that decides at every shared step (core/os/sync.h, built with SYNC_EXPLORE) which
 * worker goes on. A schedule follows from its seed, so whatever it shows can be seen again.
 *
 * It explores interleavings, not weak orderings: a step is atomic and everybody sees it at once.
 *
 * It defines sync_step(), and threads_run() and the like instead of core/os/threads.c. One
 * exploration at a time in a process, and one thread.
 */
#ifndef TEST_STRESS_EXPLORER_H
#define TEST_STRESS_EXPLORER_H

#include <stdbool.h>
#include <stdint.h>

enum { EXPLORER_WORKERS_MAX = 9 }; /* the recorder is one of them */

/* How the next one is chosen. */
enum explorer_policy {
    EXPLORE_UNIFORM,    /* anybody, at every step */
    EXPLORE_RUNS,       /* one runs for long, then another */
    EXPLORE_PRIORITIES, /* the highest priority; some steps lower the running one's (Burckhardt
                           et al., A Randomized Scheduler with Probabilistic Guarantees, 2010) */
    EXPLORE_STALLS,     /* anybody but one worker, which stands still for long; then another does */
    EXPLORE_POLICIES
};
extern const char *const explorer_policy_name[EXPLORE_POLICIES];

/* Everything that runs between these two calls is scheduled from this seed. */
void explorer_begin(enum explorer_policy policy, uint64_t seed);
/* How many steps there were, over all calls of threads_run(). */
uint64_t explorer_end(void);

/* The text that is written to the standard error stream when the process dies within an
 * exploration, or when one has taken so many steps that it will not end: how to see it again. */
void explorer_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
