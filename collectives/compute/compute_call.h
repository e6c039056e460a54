/*
 * compute_call.h: what a rank computes by itself, and matrix products alone or beside an
 * all-reduce, as calls of a process group's ranks.
 */
#ifndef COLLECTIVES_COMPUTE_CALL_H
#define COLLECTIVES_COMPUTE_CALL_H

#include "collectives/compute/compute.h"
#include "collectives/runtime/tensor.h"

struct dist_work;

/*
 * Computes on the calling rank's PEs; no other rank takes part. dist_compute() returns when the
 * rank's host knows that it has ended; the other form returns a handle for dist_wait()
 * (dist_call.h). Kernels on one hardware queue of a PE take turns, those of collectives too.
 * operands: of a product, a tensor of dist_compute_operands() for an equal request; else NULL.
 */
void dist_compute(const struct compute_request *request, struct tensor *operands);
struct dist_work *dist_compute_async(const struct compute_request *request,
                                     struct tensor *operands);

/* What carries the request out; valid as long as the world. */
const struct compute_job *dist_compute_job(const struct compute_request *request);
/* Zeros for the operands and the result of a product, on the current device: each PE of the SIP has
 * room for a block. */
struct tensor *dist_compute_operands(const struct compute_request *request);
/* A and B become the seed's stream, each rank's after those of the ranks before it: rank r's
 * elements begin at element r * (m * k + k * n) (compute_fill()). */
void dist_fill_operands(struct tensor *operands, const struct compute_request *request,
                        uint64_t seed);

/*
 * A matrix product on each PE that has a shard of `operands`, with A and B filled (matmul.h); and
 * beside a reduction of `tensor` over all ranks, in place, for which dist_options.contexts is 2 and
 * `kernel` is matmul_beside()'s. Job and kernel must outlive the call.
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
