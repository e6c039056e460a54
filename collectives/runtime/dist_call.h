/*
 * dist_call.h: the collectives, as a worker calls them (distributed.h). Each returns when all ranks
 * have called it and the machine has carried it out.
 */
#ifndef COLLECTIVES_DIST_CALL_H
#define COLLECTIVES_DIST_CALL_H

#include "collectives/runtime/tensor.h"

/*
 * Calls that do not wait: each launches its own rank's kernels at this moment, and returns a
 * handle, PyTorch's Work. dist_wait() returns when these kernels have ended and their host knows:
 * the rank's result is there, though other ranks may still be busy. Until then the rank leaves the
 * call's tensors alone. Each handle is waited for once. A rank's calls run one after the other
 * where they share PEs, in the order of the calls. `group`: a process group that the rank is in;
 * NULL: the world. Roots and parts of tensors are by the group's own ranks.
 */
struct dist_work;
struct dist_group;
/*
 * The calling rank's next call is of this operation of its SIP's program
 * (dist_options.machine.program): the SIP's io_cpu launches its kernels, when the program says so,
 * on this hardware queue of their PEs.
 * When every rank has made such calls, and no others are in flight, all call dist_run_operations(),
 * once for a world: the programs begin, and it returns when they are over. Calls of a program may
 * be of one tensor only where its dependencies keep them apart, and each handle is waited for
 * afterwards.
 */
void dist_next_operation(uint32_t operation, uint32_t queue);
void dist_run_operations(void);

struct dist_work *dist_all_reduce_async(struct dist_group *group, struct tensor *tensor,
                                        enum redop op);
struct dist_work *dist_all_gather_async(struct dist_group *group, struct tensor *output,
                                        struct tensor *input);
struct dist_work *dist_all_to_all_async(struct dist_group *group, struct tensor *output,
                                        struct tensor *input);
struct dist_work *dist_reduce_scatter_async(struct dist_group *group, struct tensor *output,
                                            struct tensor *input, enum redop op);
struct dist_work *dist_broadcast_async(struct dist_group *group, struct tensor *tensor,
                                       uint32_t root);
struct dist_work *dist_all_reduce_scaled_async(struct dist_group *group, struct tensor *tensor,
                                               double scalar);
struct dist_work *dist_reduce_scatter_scaled_async(struct dist_group *group, struct tensor *output,
                                                   struct tensor *input, double scalar);
struct dist_work *dist_reduce_async(struct dist_group *group, struct tensor *tensor, uint32_t root,
                                    enum redop op);
struct dist_work *dist_custom_async(struct dist_group *group, struct tensor *tensor, enum redop op);
struct dist_work *dist_barrier_async(struct dist_group *group);
void dist_wait(struct dist_work *work);

/* Reduces over all ranks, in place. */
void dist_all_reduce(struct tensor *tensor, enum redop op);
/* The same with REDOP_PREMULSUM: this rank's tensor times its own scalar, rounded to the type, is
 * added. */
void dist_all_reduce_scaled(struct tensor *tensor, double scalar);
/* Rank r's input becomes the r-th of as many parts of every rank's output, shard by shard. */
void dist_all_gather(struct tensor *output, struct tensor *input);
/* Each shard has a block for each rank: rank r's block s becomes block r of rank s's output. */
void dist_all_to_all(struct tensor *output, struct tensor *input);
/* Every rank's tensor becomes rank `root`'s. */
void dist_broadcast(struct tensor *tensor, uint32_t root);
/* Reduces over all ranks into rank `root`'s tensor; the others' become what the steps of the MSCCL
 * XML file leave there, which is the only algorithm. */
void dist_reduce(struct tensor *tensor, uint32_t root, enum redop op);
/* What the steps of a custom MSCCL XML file give: its input and output are the tensor. */
void dist_custom(struct tensor *tensor, enum redop op);
/* No rank's kernel ends before every rank's has begun. */
void dist_barrier(void);
/* Reduces over all ranks; rank r's output becomes the r-th of as many parts as there are ranks.
 * Both tensors have one shard, at PE 0 of the SIP's only cube, and are at the same place on every
 * rank: ranks allocate alike. */
void dist_reduce_scatter(struct tensor *output, struct tensor *input, enum redop op);
void dist_reduce_scatter_scaled(struct tensor *output, struct tensor *input, double scalar);

#endif
