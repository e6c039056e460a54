/*
 * dist_results.h: the tensors of calls in flight: who may touch them meanwhile, and what a rank's
 * result was when the call ended on the rank, although the rank continues before others and may
 * overwrite it (RUNTIME.md, "Calls and the machine's time"). Between drains, one thread.
 */
#ifndef COLLECTIVES_DIST_RESULTS_H
#define COLLECTIVES_DIST_RESULTS_H

#include "collectives/runtime/dist_internal.h"

/* Ends the calling worker if a call of its rank that has not ended there uses the tensor: writes
 * it, or changes it meanwhile, if the worker only reads. */
void dist_check_idle(const struct dist *dist, const char *call, const struct tensor *tensor,
                     bool reads);
/* The part is about to be launched: whether it may share its tensors with the rank's earlier calls
 * that are in flight. An enum cw_exit. */
int dist_check_shared(const struct dist_work *work, uint32_t rank, struct cw_error *error);

/* The call works in its input, or the host does, so that the rank finds it changed meanwhile. */
bool dist_changes_input(const struct dist_work *work, uint32_t rank);

/*
 * The rank's tensor is about to be overwritten. Earlier calls of which it is the result, and which
 * have not ended on all ranks, keep what they left there:
 *   dist_keep_results()       now, of calls that have ended on the rank, which is one of the world.
 *                             `before`: the order of the submission that overwrites it; UINT64_MAX:
 *                             the worker does
 *   dist_keep_at_start()      when the rank's kernels of this work, whose batch is there, begin
 */
int dist_keep_results(struct dist *dist, uint32_t world_rank, const struct tensor *tensor,
                      uint64_t before, struct cw_error *error);
int dist_keep_at_start(const struct dist_work *work, uint32_t rank, struct cw_error *error);
/* Tensors that have been overwritten hold again what the work left there, and the next such call
 * undoes it. An enum cw_exit. */
int dist_exchange_results(struct dist_work *work, struct cw_error *error);
void dist_drop_results(struct dist_work *work);

#endif
