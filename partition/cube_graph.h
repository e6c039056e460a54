/*
 * cube_graph.h: the machine as a graph: cubes that handle events, and links that carry them. It has
 * the events expected at each before anything has run, and judges partitions by them. Pure
 * functions of the structure; host side, between drains.
 */
#ifndef PARTITION_CUBE_GRAPH_H
#define PARTITION_CUBE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/hw_config.h"

/*
 * A link between two cubes, or between IO dies or an IO die and a cube: an IO die is part of its
 * SIP's first cube. Through a switch: between SIPs that follow each other.
 */
struct cube_link {
    uint32_t a, b;    /* sip * cubes + cube; a != b */
    uint32_t traffic; /* expected events, both ways */
    int64_t delay_ps; /* least delay of an event over it, either way */
};
typedef void (*cube_link_fn)(void *arg, const struct cube_link *link);

/* Visits every link, in a fixed order. Two cubes may be joined by several. */
void cube_links_visit(const struct hw_config *hw, cube_link_fn visit, void *arg);

/* Fills work [sip_count * cubes] with the events expected at each cube. */
void cube_work(const struct hw_config *hw, uint64_t *work);

/* The figures by which a partition is judged. */
struct cube_cut {
    uint64_t work_max, work_sum; /* the busiest worker's, and all workers' */
    uint64_t work_of_cube_max;
    uint64_t traffic;     /* over cut links */
    int64_t lookahead_ps; /* least delay over a cut link; CW_TIME_MAX: none is cut */
    uint32_t busy;        /* workers that have a cube */
};

/* `load` [workers] is overwritten. */
struct cube_cut cube_cut_of(const struct hw_config *hw, const uint64_t *work, uint32_t workers,
                            const uint32_t *cube_worker, uint64_t *load);

/*
 * Balanced: no worker has more than a third above the mean; or none has more than the mean and the
 * busiest cube, which cannot be split. The tolerance is a third, because three whole SIPs on two
 * workers run faster, by their lookahead, than SIPs cut in halves (partition/README.md).
 */
bool cube_cut_is_balanced(const struct cube_cut *cut, uint32_t workers);

/*
 * The expected time of the busiest worker, times the number of workers: its own events, and its
 * share of the events that cross between workers. Such an event costs about an event's handling at
 * either end.
 */
uint64_t cube_cut_cost(const struct cube_cut *cut, uint32_t workers);

/*
 * A graph as partitioning libraries want it: vertex v's neighbours are neighbour[first[v]] ...
 * neighbour[first[v + 1] - 1], each edge is listed at both its ends, and only once. All sums of
 * weights are below 2^31.
 */
struct cube_graph {
    int32_t count; /* vertices */
    int32_t *first, *neighbour, *weight, *work;
};

/*
 * `group` cubes to a vertex: 1, or a SIP's. An edge weighs its traffic, and the more the smaller
 * its delay is, since the least delay that is cut is the lookahead. False: out of memory. The
 * caller frees with cube_graph_free() either way.
 */
bool cube_graph_build(struct cube_graph *graph, const struct hw_config *hw, const uint64_t *work,
                      uint32_t group);
void cube_graph_free(struct cube_graph *graph);

#endif
