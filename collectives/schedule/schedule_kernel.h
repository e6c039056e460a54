/*
 * schedule_kernel.h: the kernel that carries out a schedule's threads, one on each PE that takes
 * part (schedule_program.h). Its launch has the program in args->more, and in args->own the
 * messages of a call whose blocks have sizes of their own; NULL: equal blocks.
 *
 * Buffers: input is the shard; output is region 0 of the launch, or the shard where there is none;
 * scratch is region 1. All are in the HBM slice of the home, which is the PE itself in a lane. A
 * launch with messages has its tensors in them (schedule_messages.h).
 *
 * For each tile of a step, the kernel loads the step's own value into TCM, receives a tile, adds,
 * sends, and stores, as the operation says. Loads for the next tile, and for the next step where
 * that is safe, are in flight meanwhile; stores are waited for before another thread is notified,
 * and before the thread reads chunks that it may have written.
 *
 * A schedule that reaches has loads and stores alone, from and to the homes of any ranks, with
 * their acknowledgements: a thread is notified when they are there.
 */
#ifndef COLLECTIVES_SCHEDULE_KERNEL_H
#define COLLECTIVES_SCHEDULE_KERNEL_H

#include "collectives/schedule/schedule_program.h"

extern const struct tl_kernel schedule_kernel;
/* The same, of a schedule that is direct: it also carries out sends and receives. */
extern const struct tl_kernel schedule_pairs_kernel;

/* For struct ccl_machine: TCM that the kernel uses beside the rings. */
uint64_t schedule_tcm_bytes(const struct ccl_call *call);
/* The same of schedules that reach. */
uint64_t schedule_reach_tcm_bytes(const struct ccl_call *call);

#endif
