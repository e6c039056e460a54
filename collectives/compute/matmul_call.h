/*
 * matmul_call.h: matrix products as a call of a process group's ranks, alone or beside an
 * all-reduce.
 */
#ifndef COLLECTIVES_MATMUL_CALL_H
#define COLLECTIVES_MATMUL_CALL_H

#include "collectives/compute/compute.h"
#include "collectives/runtime/tensor.h"

struct dist_work;

/*
 * A matrix product on each PE that has a shard of `operands`, with A and B filled (matmul.h); and
 * beside a reduction of `tensor` over all ranks, in place, for which dist_options.contexts is 2 and
 * `kernel` is matmul_beside()'s. Job and kernel must outlive the call. The forms that do not wait
 * return a handle for dist_wait() (dist_call.h).
 */
void dist_matmul(struct tensor *operands, const struct compute_job *job);
void dist_all_reduce_beside(struct tensor *tensor, enum redop op, struct tensor *operands,
                            const struct compute_job *job, const struct tl_kernel *kernel);
struct dist_work *dist_matmul_async(struct tensor *operands, const struct compute_job *job);
struct dist_work *dist_all_reduce_beside_async(struct tensor *tensor, enum redop op,
                                               struct tensor *operands,
                                               const struct compute_job *job,
                                               const struct tl_kernel *kernel);

#endif
