/*
 * group_call.h: whether a call of a process group, whose inputs were filled from a seed's stream by
 * the group's own ranks (dist_fill_input_as()), has left what it must. Of any collective that
 * reduces or moves, and of messages. On the host, from dist_options.completed.
 */
#ifndef COLLECTIVES_GROUP_CALL_H
#define COLLECTIVES_GROUP_CALL_H

#include "collectives/runtime/distributed.h"
#include "collectives/verify/verifier.h"

struct group_call {
    enum dtype dtype;
    enum redop op;
    double scalar;   /* of REDOP_PREMULSUM */
    uint32_t shards; /* of a rank's tensor */
    uint64_t n_elem; /* of a shard: of an all-gather's result, of other inputs */
    uint64_t seed;
    bool integers; /* inputs are integers, whose sums are exact */
};

/* CW_OK: *verdict says what was found; of a barrier and a reduce to one rank, nothing. Else an exit
 * code, and *error. */
int group_call_verify(const struct group_call *call, const struct dist_completion *completion,
                      struct verdict *verdict, struct cw_error *error);

#endif
