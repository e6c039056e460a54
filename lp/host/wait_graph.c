/*
 * wait_graph.c: finds the shortest cycle of a directed graph (wait_graph.h), in three steps:
 *   1. Strongly connected components (Tarjan, 1972, without recursion: a ring may have a hundred
 *      thousand nodes).
 *   2. A component with as many edges as nodes is one cycle.
 *   3. In other components, a breadth-first search from each node finds the shortest cycle through
 *      the node. It goes no deeper than the best cycle so far.
 */
#include "lp/host/wait_graph.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 1 << 28 };
static const uint32_t no_node = UINT32_MAX;

struct search {
    const struct wait_graph *graph;
    uint32_t *order;     /* [count] Tarjan's number of a node; no_node: not visited */
    uint32_t *low;       /* [count] */
    uint32_t *component; /* [count] no_node: not known yet */
    uint32_t *stack;     /* [count] of nodes without a component; then a queue of the search */
    uint32_t *path;      /* [count] of nodes in progress */
    uint32_t *edge;      /* [count] next edge of a node in progress; then: the node before it */
    uint32_t *depth;     /* [count] of the search from one node; no_node: not reached */
    uint32_t *best;      /* [count] */
    uint32_t length;     /* of best */
    uint32_t components;
    uint64_t steps;
};

/* ---- components ----------------------------------------------------------------------------- */

static void begin_node(struct search *s, uint32_t node, uint32_t number, uint32_t *stacked,
                       uint32_t *under_way)
{
    s->order[node] = s->low[node] = number;
    s->edge[node] = s->graph->first[node];
    s->stack[(*stacked)++] = node;
    s->path[(*under_way)++] = node;
}

static void end_node(struct search *s, uint32_t node, uint32_t *stacked)
{
    if (s->low[node] != s->order[node])
        return;
    do
        s->component[s->stack[--*stacked]] = s->components;
    while (s->stack[*stacked] != node);
    s->components++;
}

static void lower_to(uint32_t *value, uint32_t to)
{
    if (to < *value)
        *value = to;
}

static void find_components(struct search *s)
{
    const struct wait_graph *graph = s->graph;
    uint32_t number = 0, stacked = 0, under_way = 0;
    for (uint32_t start = 0; start < graph->count; start++) {
        if (s->order[start] != no_node)
            continue;
        begin_node(s, start, number++, &stacked, &under_way);
        while (under_way > 0) {
            const uint32_t node = s->path[under_way - 1];
            if (s->edge[node] < graph->first[node + 1]) {
                const uint32_t to = graph->to[s->edge[node]++];
                if (s->order[to] == no_node)
                    begin_node(s, to, number++, &stacked, &under_way);
                else if (s->component[to] == no_node)
                    lower_to(&s->low[node], s->order[to]);
                continue;
            }
            end_node(s, node, &stacked);
            if (--under_way > 0)
                lower_to(&s->low[s->path[under_way - 1]], s->low[node]);
        }
    }
}

/* ---- cycles --------------------------------------------------------------------------------- */

/* The path that the search found to `node`, as the best cycle. */
static void keep_path(struct search *s, uint32_t node, uint32_t length)
{
    s->length = length;
    for (uint32_t i = length; i-- > 0; node = s->edge[node])
        s->best[i] = node;
}

/* Looks for a cycle through `start` that is shorter than the best, within its component. */
static void search_cycle_from(struct search *s, uint32_t start)
{
    const struct wait_graph *graph = s->graph;
    uint32_t head = 0, tail = 0;
    s->depth[start] = 0;
    s->stack[tail++] = start;
    while (head < tail && s->steps < STEPS_MAX) {
        const uint32_t node = s->stack[head++];
        if (s->depth[node] + 1 >= s->length)
            break;
        for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
            const uint32_t to = graph->to[i];
            s->steps++;
            if (to == start) {
                keep_path(s, node, s->depth[node] + 1);
                head = tail;
                break;
            }
            /* A cycle through a lower node has been looked for from there. */
            if (to < start || s->component[to] != s->component[start] || s->depth[to] != no_node)
                continue;
            s->depth[to] = s->depth[node] + 1;
            s->edge[to] = node;
            s->stack[tail++] = to;
        }
    }
    for (uint32_t i = 0; i < tail; i++)
        s->depth[s->stack[i]] = no_node;
}

/* The one edge of a node that stays in its component. */
static uint32_t successor(const struct search *s, uint32_t node)
{
    for (uint32_t i = s->graph->first[node]; i < s->graph->first[node + 1]; i++)
        if (s->component[s->graph->to[i]] == s->component[node])
            return s->graph->to[i];
    return no_node;
}

/* A component that is one cycle, from its lowest node. */
static void follow_cycle(struct search *s, uint32_t start, uint32_t nodes)
{
    if (nodes >= s->length)
        return;
    s->length = nodes;
    for (uint32_t i = 0, node = start; i < nodes; i++, node = successor(s, node))
        s->best[i] = node;
}

/* Nodes and inner edges of each component: low[] and order[] have done their work. */
static void count_components(struct search *s)
{
    uint32_t *nodes = s->low, *edges = s->order;
    memset(nodes, 0, s->graph->count * sizeof *nodes);
    memset(edges, 0, s->graph->count * sizeof *edges);
    for (uint32_t node = 0; node < s->graph->count; node++) {
        nodes[s->component[node]]++;
        for (uint32_t i = s->graph->first[node]; i < s->graph->first[node + 1]; i++)
            edges[s->component[node]] += s->component[s->graph->to[i]] == s->component[node];
    }
}

static void find_cycle(struct search *s)
{
    s->length = no_node;
    find_components(s);
    count_components(s);
    uint32_t *nodes = s->low;
    const uint32_t *edges = s->order;
    memset(s->depth, 0xff, s->graph->count * sizeof *s->depth);
    for (uint32_t node = 0; node < s->graph->count; node++) {
        const uint32_t component = s->component[node];
        if (edges[component] == 0 || nodes[component] == 0)
            continue; /* no cycle; or done */
        if (edges[component] > nodes[component]) {
            search_cycle_from(s, node);
            continue;
        }
        follow_cycle(s, node, nodes[component]);
        nodes[component] = 0;
    }
}

bool wait_graph_shortest_cycle(const struct wait_graph *graph, uint32_t **cycle, uint32_t *length)
{
    const size_t n = (size_t)graph->count + 1;
    uint32_t *memory = malloc(8 * n * sizeof *memory);
    *cycle = NULL;
    *length = 0;
    if (memory == NULL)
        return false;
    memset(memory, 0xff, 8 * n * sizeof *memory);
    struct search s = {.graph = graph,
                       .best = memory,
                       .order = memory + n,
                       .low = memory + 2 * n,
                       .component = memory + 3 * n,
                       .stack = memory + 4 * n,
                       .path = memory + 5 * n,
                       .edge = memory + 6 * n,
                       .depth = memory + 7 * n};
    find_cycle(&s);
    if (s.length == no_node) {
        free(memory);
        return true;
    }
    *cycle = memory; /* best comes first */
    *length = s.length;
    return true;
}
