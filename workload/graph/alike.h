/*
 * alike.h: whether the ranks of a graph do the same after a relabelling: each rank what the rank
 * does that it goes to, operation by operation, with groups and the other ends of messages
 * relabelled. A step may then be simulated on one rank of each kind.
 */
#ifndef WORKLOAD_ALIKE_H
#define WORKLOAD_ALIKE_H

#include "workload/graph/meetings.h"

enum { WORKLOAD_WHY_BYTES = 400 };

/*
 * to[rank]: where the relabelling takes it; a permutation of the ranks. Of each operation the same
 * index of the other program must have the same kind, amounts, dtype, stream, set and dependencies;
 * a message's other end, a root and the first rank of an uneven all-to-all must be relabelled; and
 * the groups of each set that operations use must go to groups of the set. Linear in the operations
 * of all ranks. False: `why` names the first operation that differs.
 */
bool workload_is_alike(const struct workload_graph *graph, const struct workload_meetings *meetings,
                       const uint32_t *to, char why[WORKLOAD_WHY_BYTES]);

/* The group of a set that a group goes to, and the place there of the member at `place`. Of sets
 * that operations use, once the graph is alike. */
static inline uint32_t workload_group_to(const struct workload_set *set, const uint32_t *to,
                                         uint32_t group)
{
    return set->group_of[to[set->ranks[set->first[group]]]];
}
static inline uint32_t workload_place_to(const struct workload_set *set, const uint32_t *to,
                                         uint32_t group, uint32_t place)
{
    return set->rank_in[to[set->ranks[set->first[group] + place]]];
}

#endif
