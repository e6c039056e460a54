/*
 * dist_scratch.h: the memory of algorithms whose PEs write into each other's: scratch beside the
 * tensors, at the same offsets on every rank. Between drains, one thread.
 */
#ifndef COLLECTIVES_DIST_SCRATCH_H
#define COLLECTIVES_DIST_SCRATCH_H

#include "collectives/algorithm.h"
#include "collectives/runtime/tensor.h"

struct dist_work;
struct install_plans;

/* Bytes of scratch of each rank's call, and the PEs that have it. */
uint64_t dist_scratch_bytes(const struct install_plans *plans,
                            const struct ccl_algorithm *algorithm, const struct ccl_call *call);
struct dp_policy dist_scratch_policy(const struct install_plans *plans);
/* Scratch for every rank's call; given back when the call has ended on all ranks. */
int dist_take_scratch(struct dist_work *work, const struct ccl_call *call, struct cw_error *error);
int dist_give_scratch(struct dist_work *work, struct cw_error *error);
/* Where PEs write into each other's memory, a rank's tensors are at the same offsets as all
 * others'.
 */
int dist_check_alike(const struct dist_work *work, uint32_t rank, struct cw_error *error);
/* Region 0: the rank's result; region 1: its scratch. */
void dist_map_regions(const struct dist_work *work, uint32_t rank, struct tl_args *args);

#endif
