/*
 * wait_graph.h: the shortest cycle of a directed graph: who waits for whom (deadlock.h). Nodes are
 * numbers from 0; several edges may leave a node. One thread; no state of its own.
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
 * The shortest cycle, of those the one that begins with the lowest node, as a list of nodes that
 * begins with its lowest: its length, *cycle to be freed. 0, *cycle NULL: there is none. False:
 * out of memory.
 *
 * Linear in the graph where cycles do not share nodes. Where they do, it looks for the shortest by
 * a search from each node, and stops after 2^28 steps: then the shortest found so far.
 */
bool wait_graph_shortest_cycle(const struct wait_graph *graph, uint32_t **cycle, uint32_t *length);

#endif
