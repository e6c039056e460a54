/*
 * spawn.h: runs a host program as one worker per rank (RUNTIME.md, "Launcher"). Workers
 * are coroutines of the calling thread, with small guarded stacks, resumed round robin in rank
 * order; a worker runs until it waits, yields or ends. Nothing depends on that order except as this
 * header says, so the same program does the same every time.
 *
 * The current rank hangs off one pointer per thread (spawn.c), because the functions that
 * bench authors know from PyTorch take no handle. Workers never move between threads.
 */
#ifndef COLLECTIVES_SPAWN_H
#define COLLECTIVES_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cw.h"

/* ---- as in PyTorch --------------------------------------------------------------------------- */

typedef void (*mp_worker_fn)(int rank, void *arg);

/*
 * Runs fn(rank, arg) for every rank below nprocs and returns when all have ended. When a worker
 * fails, workers that have not had their turn in this round get it. So do workers whose wait ended
 * meanwhile (a barrier's last rank continues before the others), so that an error all ranks make is
 * everybody's; then the others are ended where they are: memory that they alone hold is lost, so
 * tensors and the like belong to the runtime, not to a worker's stack. Returns CW_OK, or the
 * gravest (greatest) of the workers' exit codes, with *error listing every rank's
 * (cw_error_text()); an error that belongs to no rank comes first, without a rank. Stacks:
 * CUBEWARP_STACK_KIB, 32 to 65536, default 64, of which the calls of this library take some 11; the
 * machine runs on the caller's stack, not on these. Below each are 64 KiB that nobody may touch:
 * running over a stack is a fault (SIGSEGV), not a corruption, for functions with frames below 64
 * KiB. May be called in a worker.
 */
int mp_spawn(mp_worker_fn fn, uint32_t nprocs, void *arg, struct cw_error *error);

/*
 * The machine that workers wait for.
 *   each     shares work on the stacks among threads: calls part(part_arg, index, parts) for each
 *            index below parts, which it chooses, maybe at the same time, and returns when all have
 *   advance  called when no worker can continue, on the stack of the caller of mp_spawn(): makes
 *            the machine run until some worker may. False: none ever will; or error->exit_code is
 *            not CW_OK: it has failed, which is an error of no rank's
 *   rank     of the i-th worker, ascending; NULL: i
 */
typedef void (*mp_part_fn)(void *part_arg, uint32_t index, uint32_t parts);
struct mp_machine {
    void (*each)(void *arg, mp_part_fn part, void *part_arg);
    bool (*advance)(void *arg, struct cw_error *error);
    uint32_t (*rank)(const void *arg, uint32_t i);
    void *arg;
};
/* mp_spawn() of this many workers beside a machine; NULL: none. */
int mp_spawn_beside(mp_worker_fn fn, uint32_t nprocs, void *arg, const struct mp_machine *machine,
                    struct cw_error *error);

/* Lets the other workers run. Only a worker that loops without collectives needs it. */
void dist_cooperative_yield(void);

/* The SIP that the calling worker's tensors are put on; -1: none chosen. Outside of workers there
 * is one choice per thread. */
void ahbm_set_device(int sip);
int ahbm_current_device(void);
/* The same under PyTorch 2's device-neutral names. */
void accelerator_set_device_index(int sip);
int accelerator_current_device_index(void);

/* ---- for functions that work on the current rank --------------------------------------------- */

bool mp_in_worker(void);
/* The calling worker's rank, in a process group or not; 0 outside of workers. */
int mp_rank(void);

/*
 * Ends the calling worker with an error. Its stack is abandoned, not unwound. Outside of workers
 * nobody is there to report to: prints the error and exits with its code.
 */
_Noreturn void mp_fail(int exit_code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same with an error that belongs to no rank: a failure of the machine, say. The caller of
 * mp_spawn() gets it as it is. */
_Noreturn void mp_fail_for_all(const struct cw_error *error);

/*
 * The world that dist_* functions work on: the runtime of this thread, seen by all its workers.
 * Returns the one before. Set around mp_spawn() by the bench's host.
 */
void *mp_set_runtime(void *runtime);
void *mp_runtime(void);

/*
 * Calls fn(arg) on the stack of the caller of mp_spawn(), which is not as small as a worker's,
 * and continues when it has returned; no other worker runs meanwhile. fn runs outside of workers:
 * it may not wait, and has no rank. Outside of workers it is just called.
 */
void mp_run_outside(void (*fn)(void *arg), void *arg);

/* A condition that a worker waits for. The functions are called between workers' turns. */
struct mp_wait {
    bool (*ready)(const void *arg);
    /* Names the missing ranks, when nothing can run because of this wait. */
    void (*describe)(const void *arg, char *text, size_t size);
    void (*abandon)(void *arg); /* the worker is ended while it waits; may be NULL */
    void *arg;
};

/* Appends " 1, 4-7" to the first `used` bytes of text: the ranks below `ranks` that lacks() names,
 * or as many as leave room for 100 more bytes, and ", ...". Returns the bytes used. */
size_t mp_list_ranks(bool (*lacks)(const void *arg, uint32_t rank), const void *arg, uint32_t ranks,
                     char *text, size_t size, size_t used);

/* Returns when the condition holds. Only in a worker. */
void mp_wait_until(const struct mp_wait *wait);

#endif
