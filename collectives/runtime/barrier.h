/*
 * barrier.h: where the ranks meet that enter or leave a process group (RUNTIME.md, "Calls and the
 * machine's time"). Each meeting is an epoch: every rank joins it and waits; the last to arrive
 * drains the engine for all, then all continue.
 *
 * I-BARRIER-1: one epoch is open at a time; a rank joins it at most once.
 * Entered by the workers of one launcher (spawn.h), one at a time. Between launches all epochs are
 * complete, or the barrier has been reset.
 */
#ifndef COLLECTIVES_BARRIER_H
#define COLLECTIVES_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cw.h"

/* Returns CW_OK, or an exit code with *error filled. */
typedef int (*barrier_fn)(void *arg, struct cw_error *error);

struct barrier;

/* drain runs for the worker that arrives last, on the launcher's stack (mp_run_outside()), and may
 * not join the barrier. NULL: out of memory. */
struct barrier *barrier_create(uint32_t world_size, barrier_fn drain, void *arg);
void barrier_free(struct barrier *barrier); /* accepts NULL */

/*
 * Joins the open epoch as `rank`, calls submit (NULL: nothing to submit), and returns when the
 * epoch has been drained. CW_PROGRAM_FAILED: the rank is in this epoch already, or does not
 * exist, or would wait outside of a worker; or the code that submit or drain returned. After an
 * error the barrier is reset, and the caller should end its worker (mp_fail), which ends the
 * others.
 */
int barrier_submit_and_drain(struct barrier *barrier, uint32_t rank, barrier_fn submit,
                             void *submit_arg, struct cw_error *error);

/* Whether the failure of the last barrier_submit_and_drain() was the drain's. Then it is the whole
 * group's, and no rank's: the rank that arrived last has only met it. */
bool barrier_failed_in_drain(const struct barrier *barrier);

/* Forgets which ranks have joined the open epoch. A launcher that ends waiting workers does it,
 * too. */
void barrier_reset(struct barrier *barrier);

uint64_t barrier_epochs(const struct barrier *barrier); /* completed */

#endif
