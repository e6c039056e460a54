/*
 * dist_messages.h: messages of sizes of their own, as a worker sends them (distributed.h): an
 * all-to-all with a size for each pair of ranks, gather and scatter, sends and receives. They go
 * over the queues of pairwise_all_to_all, which must be the group's algorithm (RUNTIME.md,
 * "Collectives"). `group`: NULL, the world; ranks are the group's own.
 */
#ifndef COLLECTIVES_DIST_MESSAGES_H
#define COLLECTIVES_DIST_MESSAGES_H

#include "collectives/runtime/dist_call.h"

/*
 * Of each shard of its input, a rank sends the first input_splits[0] elements to rank 0, the next
 * input_splits[1] to rank 1, and so on; what rank s sends here becomes the s-th part of the output,
 * of output_splits[s] elements. Any size may be 0. The sizes add up to the tensor's elements; a
 * tensor without elements is NULL. Rank i's input_splits[j] is rank j's output_splits[i]: else the
 * program fails, and names both.
 */
struct dist_work *dist_all_to_all_v_async(struct dist_group *group, struct tensor *output,
                                          const uint64_t *output_splits, struct tensor *input,
                                          const uint64_t *input_splits);
void dist_all_to_all_v(struct tensor *output, const uint64_t *output_splits, struct tensor *input,
                       const uint64_t *input_splits);

/*
 * Rank `root`'s output has the ranks' inputs in rank order, shard by shard; or its input becomes
 * the ranks' outputs, block by block. The root's tensor has as many shards as each rank's, and as
 * many times the elements as there are ranks; all other ranks give NULL for it.
 */
struct dist_work *dist_gather_async(struct dist_group *group, struct tensor *output,
                                    struct tensor *input, uint32_t root);
struct dist_work *dist_scatter_async(struct dist_group *group, struct tensor *output,
                                     struct tensor *input, uint32_t root);
void dist_gather(struct tensor *output, struct tensor *input, uint32_t root);
void dist_scatter(struct tensor *output, struct tensor *input, uint32_t root);

/* A send or a receive of a whole tensor, each shard to or from the one at the same place of
 * another rank. */
enum dist_p2p { DIST_SEND, DIST_RECV };
struct dist_p2p_op {
    enum dist_p2p op;
    struct tensor *tensor;
    uint32_t peer; /* rank of the group */
};

/*
 * Begins all of them at once; returns one handle for all, which dist_wait() waits for. What a rank
 * begins at one moment, without another call in between, is one batch with one end. The k-th
 * send of a rank to another is taken by the k-th receive there: of as many elements, of one type,
 * and after as many other calls of the group, else the program fails, and names both ranks. A
 * tensor that is received is in one operation of the batch only. No other rank takes part: the
 * batch ends when this rank's operations have.
 */
struct dist_work *dist_batch_isend_irecv(struct dist_group *group, const struct dist_p2p_op *ops,
                                         uint32_t count);
/* Batches of one. dist_send() and dist_recv() wait for it. */
struct dist_work *dist_isend(struct dist_group *group, struct tensor *tensor, uint32_t to);
struct dist_work *dist_irecv(struct dist_group *group, struct tensor *tensor, uint32_t from);
void dist_send(struct tensor *tensor, uint32_t to);
void dist_recv(struct tensor *tensor, uint32_t from);

#endif
