/*
 * batch_times.h: when the messages and kernels of one batch started and ended: of an installation,
 * or of a collective, with the times at which each rank left each phase. In ps of simulated time.
 *
 * Threads: during a drain each worker notes the records that it commits, in words of its own. Only
 * ranks have shared words, for kernels on several workers: these words only fall or only rise.
 * All else happens between drains.
 */
#ifndef LP_BATCH_TIMES_H
#define LP_BATCH_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/os/sync.h"
#include "lp/record.h"

/* Times of the messages submitted at one moment: of an installation or a collective. In ps. */
struct lp_times {
    int64_t submitted_ps;
    int64_t first_start_ps, last_start_ps, last_end_ps; /* of kernels */
    int64_t host_ps; /* the last acknowledgement or completion at the host */
    uint32_t submitted, started, ended, returned;
    uint32_t last_end_pe; /* whose kernel ended last, the first of several; known after a drain */
};

/* The last time at which a PE of each rank left each phase; -1: none was in it. Ranks of a folded
 * machine: those that are simulated, in their order. */
struct lp_phases {
    const char *const *name;
    uint32_t count, ranks;
    int64_t *start_ps; /* [rank]: its first kernel's start; -1: none */
    int64_t *exit_ps;  /* [rank * count + phase] */
};

struct lp_worker_times;
struct tl_kernel;

struct lp_batch_times {
    struct lp_times sum;
    uint32_t worker_count;
    struct lp_worker_times *of_worker; /* [worker_count] */
    struct lp_phases phases;
    size_t rank_count; /* of the phases */
    /* 0: none yet. So memory of ranks that no kernel has, as in a folded machine, stays untouched
     */
    struct sync_u64 *rank_before_ps; /* [rank]: its first kernel starts INT64_MAX less this */
    struct sync_u64 *rank_after_ps;  /* [rank * phases.count + phase]: 1 ps after its last exit */
    uint8_t *phase_of; /* [pe * queues + queue] the phase that the kernel on this hardware queue is
                          in, 255: none yet; of the PE's worker. The machine's, shared by all
                          batches */
};

/* False: out of memory; freeing is allowed then, too. */
bool lp_batch_times_init(struct lp_batch_times *times, uint32_t worker_count, uint8_t *phase_of);
void lp_batch_times_free(struct lp_batch_times *times);

/* Another batch begins now, with no message yet. */
void lp_batch_times_reset(struct lp_batch_times *times, int64_t now_ps);
/* Its kernels mark phases of `kernel`, in this many ranks. False: out of memory. */
bool lp_batch_times_name_phases(struct lp_batch_times *times, const struct tl_kernel *kernel,
                                size_t rank_count);

/* A mark of a kernel of this rank, which the worker has committed. `on`: its place in phase_of. */
void lp_batch_times_mark(struct lp_batch_times *times, uint32_t worker, uint32_t rank, size_t on,
                         const struct lp_kernel_record *record);
/* Over the workers, up to now. The host's answers are not in it: its LP counts them (model.h). */
const struct lp_times *lp_batch_times_sum(struct lp_batch_times *times);
const struct lp_phases *lp_batch_times_phases(struct lp_batch_times *times); /* between drains */

#endif
