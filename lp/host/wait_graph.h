/*
 * wait_graph.h: the shortest cycle of a directed graph, for the wait-for graph of PEs (deadlock.h).
 * Nodes are numbers from 0; several edges may leave a node. One thread; no state of its own.
 */
#ifndef LP_WAIT_GRAPH_H
#define LP_WAIT_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

struct wait_graph {
    uint32_t count;        /* of nodes */
    const uint32_t *first; /* [count + 1] node i's edges are to[first[i]] .. to[first[i + 1] - 1] */
    const uint32_t *to;
};

/*
 * Finds the shortest cycle, as a list of *length nodes that begins with its lowest node; *cycle is
 * to be freed. Among cycles of one length it is the cycle with the lowest first node. *length 0 and
 * *cycle NULL: there is none. False: out of memory.
 *
 * Takes linear time where cycles do not share nodes. Where they do, it searches from each node and
 * stops after 2^28 steps; the result is then the shortest cycle found so far.
 */
bool wait_graph_shortest_cycle(const struct wait_graph *graph, uint32_t **cycle, uint32_t *length);

#endif
