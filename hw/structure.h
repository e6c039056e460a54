/*
 * structure.h: the parts of the machine and their neighbours, computed from coordinates
 * (HARDWARE.md, "Structure" and "SIP topologies"). No tables, no state: every function is pure
 * over a struct hw_config.
 *
 * Coordinates: x (column) grows east, y (row) grows south; cube = y * cube_w + x, and the same for
 * SIPs on a 2-D grid. A PE's global index is (sip * cubes + cube) * pes + pe.
 */
#ifndef HW_STRUCTURE_H
#define HW_STRUCTURE_H

#include "hw/hw_config.h"

/*
 * Directions of a PE's queues. Four intra-SIP (between cubes), four between SIPs, four between PEs
 * of a cube; the rest is for logical topologies. Each built-in group is in the order of enum
 * hw_port, so a direction's opposite is its index ^ 1.
 */
enum hw_dir {
    HW_DIR_N,
    HW_DIR_S,
    HW_DIR_E,
    HW_DIR_W,
    HW_DIR_GLOBAL_N,
    HW_DIR_GLOBAL_S,
    HW_DIR_GLOBAL_E,
    HW_DIR_GLOBAL_W,
    HW_DIR_INTRA_N,
    HW_DIR_INTRA_S,
    HW_DIR_INTRA_E,
    HW_DIR_INTRA_W,
    HW_DIR_BUILT_IN,
    HW_DIR_PEER = HW_DIR_BUILT_IN, /* the one partner of a point-to-point bench */
    HW_DIR_PARENT,                 /* of a logical tree */
    HW_DIR_CHILD_LEFT,
    HW_DIR_CHILD_RIGHT,
    HW_DIRS_MAX
};

struct hw_place {
    uint32_t sip, cube, pe;
};

static inline uint32_t hw_cubes(const struct hw_config *hw) { return hw->cube_w * hw->cube_h; }
static inline uint32_t hw_pes(const struct hw_config *hw)
{
    return hw->pe_per_corner * hw->corner_count;
}
static inline uint32_t hw_pe_count(const struct hw_config *hw)
{
    return hw->sip_count * hw_cubes(hw) * hw_pes(hw);
}
static inline uint32_t hw_pe_index(const struct hw_config *hw, struct hw_place place)
{
    return (place.sip * hw_cubes(hw) + place.cube) * hw_pes(hw) + place.pe;
}
struct hw_place hw_place_of(const struct hw_config *hw, uint32_t pe_index);

/* NoC router, by index y * noc_w + x. */
uint32_t hw_pe_router(const struct hw_config *hw, uint32_t pe);
uint32_t hw_port_router(const struct hw_config *hw, enum hw_port port);
uint32_t hw_centre_router(const struct hw_config *hw); /* of sram and m_cpu */

/* Neighbours; false where there is none. A SIP in a ring of one has no neighbour. */
bool hw_cube_neighbour(const struct hw_config *hw, uint32_t cube, enum hw_port port, uint32_t *to);
bool hw_sip_neighbour(const struct hw_config *hw, uint32_t sip, enum hw_port port, uint32_t *to);
bool hw_pe_neighbour(const struct hw_config *hw, uint32_t pe, enum hw_port port, uint32_t *to);

/* The PE at the other end of a built-in direction; false if the direction does not exist there. */
bool hw_dir_neighbour(const struct hw_config *hw, struct hw_place from, enum hw_dir dir,
                      struct hw_place *to);

/* Name of a direction ("global_E", "peer", "parent"), "?" beyond; and back (-1: not built in). A
 * logical topology may give an index another name: see lp_dir_name() in lp/queues/queue_ends.h. */
const char *hw_dir_name(enum hw_dir dir);
int hw_dir_by_name(const char *name);

/* Queue pairs of the machine's PEs, over all PEs and built-in directions, if all PEs have queues or
 * only PE 0 of each cube; found without building the machine. */
uint64_t hw_queue_pairs(const struct hw_config *hw, bool wire_all_pes);

/* The edge cube through which `cube` leaves or enters its SIP by `port`. */
uint32_t hw_edge_cube(const struct hw_config *hw, uint32_t cube, enum hw_port port);

#endif
