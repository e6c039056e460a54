/*
 * topologies.h: the built-in logical topologies (RUNTIME.md, "Logical topologies"):
 * which rank is whose neighbour in which direction. Pure.
 */
#ifndef COLLECTIVES_TOPOLOGIES_H
#define COLLECTIVES_TOPOLOGIES_H

#include "collectives/algorithm.h"
#include "lp/queues/logical_wiring.h"

enum logical_kind { LOGICAL_NONE, LOGICAL_LINE, LOGICAL_GRID, LOGICAL_TREE };

/* `topology: custom`: only the directions that the algorithm's neighbors() hook gives; the hook
 * must be there. */
#define LOGICAL_CUSTOM "custom"

/* A logical topology of this many ranks. */
struct logical {
    const char *name;
    enum logical_kind kind;
    uint32_t ranks;
    uint32_t w, h, d;    /* of a grid, d = 1 in two dimensions; of a line: ranks, 1 and 1 */
    bool wraps, one_way; /* one_way: tiles go east only */
};

/*
 * By name ("none" and "custom" have no directions). CW_USAGE: unknown, with the names there are;
 * or the ranks make no such grid: mesh_2d takes a perfect square; torus_2d and mesh_2d_no_wrap take
 * the w x h of the machine's grid of SIPs where all of it takes part, else a perfect square;
 * torus_3d takes the three dimensions of the machine's SIPs likewise, else a perfect cube.
 */
int logical_find(const char *name, uint32_t ranks, const struct hw_config *hw, struct logical *out,
                 struct cw_error *error);

/* Name of a logical topology; NULL beyond the last. */
const char *logical_name_at(uint32_t number);

/* The directions of a rank, sorted as enum hw_dir is. */
void logical_neighbours(const struct logical *logical, uint32_t rank, struct lp_neighbours *out);
/* The same, as the algorithm's neighbors() hook leaves them, with its parameters. */
void logical_neighbours_of(const struct ccl_algorithm *algorithm, const struct logical *logical,
                           const int64_t *parameter, uint32_t rank, struct lp_neighbours *out);
/* Most directions that a rank has and receives in. */
uint32_t logical_rings_max(const struct logical *logical);

#endif
