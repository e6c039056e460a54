/*
 * structure.c: coordinates and neighbours (structure.h).
 */
#include "hw/structure.h"

#include <string.h>

#include "hw/topology/topology.h"

const char *const hw_corner_name[HW_CORNERS] = {
    [HW_NW] = "NW", [HW_NE] = "NE", [HW_SW] = "SW", [HW_SE] = "SE"};

static const char *const dir_name[HW_DIRS_MAX] = {
    "N",        "S",        "E",          "W",          "global_N", "global_S",
    "global_E", "global_W", "intra_N",    "intra_S",    "intra_E",  "intra_W",
    "peer",     "parent",   "child_left", "child_right"};

const char *hw_dir_name(enum hw_dir dir)
{
    return (unsigned)dir < HW_DIRS_MAX ? dir_name[dir] : "?";
}

int hw_dir_by_name(const char *name)
{
    for (int dir = 0; dir < HW_DIR_BUILT_IN; dir++)
        if (strcmp(name, dir_name[dir]) == 0)
            return dir;
    return -1;
}

struct hw_place hw_place_of(const struct hw_config *hw, uint32_t pe_index)
{
    const uint32_t pes = hw_pes(hw), cubes = hw_cubes(hw);
    const uint32_t cube_index = pe_index / pes;
    return (struct hw_place){cube_index / cubes, cube_index % cubes, pe_index % pes};
}

uint32_t hw_pe_router(const struct hw_config *hw, uint32_t pe)
{
    const enum hw_corner corner = hw->corner[pe / hw->pe_per_corner];
    const uint32_t x = corner == HW_NE || corner == HW_SE ? hw->noc_w - 1 : 0;
    const uint32_t y = corner == HW_SW || corner == HW_SE ? hw->noc_h - 1 : 0;
    return y * hw->noc_w + x;
}

uint32_t hw_port_router(const struct hw_config *hw, enum hw_port port)
{
    const uint32_t w = hw->noc_w, h = hw->noc_h;
    switch (port) {
    case HW_PORT_N:
        return w / 2;
    case HW_PORT_E:
        return (h / 2) * w + w - 1;
    case HW_PORT_S:
        return (h - 1) * w + (w - 1) / 2;
    default:
        return ((h - 1) / 2) * w;
    }
}

uint32_t hw_centre_router(const struct hw_config *hw)
{
    return ((hw->noc_h - 1) / 2) * hw->noc_w + (hw->noc_w - 1) / 2;
}

bool hw_cube_neighbour(const struct hw_config *hw, uint32_t cube, enum hw_port port, uint32_t *to)
{
    return hw_grid_step((struct hw_grid){hw->cube_w, hw->cube_h, false}, cube, port, to);
}

bool hw_sip_neighbour(const struct hw_config *hw, uint32_t sip, enum hw_port port, uint32_t *to)
{
    return hw->sip_topology->neighbour(hw, sip, port, to);
}

/* Which corner, or -1, holds the places of this quarter of the PE grid. */
static int corner_slot(const struct hw_config *hw, enum hw_corner corner)
{
    for (uint32_t i = 0; i < hw->corner_count; i++)
        if (hw->corner[i] == corner)
            return (int)i;
    return -1;
}

bool hw_pe_neighbour(const struct hw_config *hw, uint32_t pe, enum hw_port port, uint32_t *to)
{
    const uint32_t n = hw->pe_per_corner;
    const enum hw_corner corner = hw->corner[pe / n];
    const uint32_t x = (corner == HW_NE || corner == HW_SE ? n : 0) + pe % n;
    const uint32_t y = corner == HW_SW || corner == HW_SE;
    uint32_t at;
    if (!hw_grid_step((struct hw_grid){2 * n, 2, false}, y * 2 * n + x, port, &at))
        return false;
    const bool east = at % (2 * n) >= n, south = at >= 2 * n;
    const int slot = corner_slot(hw, south ? (east ? HW_SE : HW_SW) : (east ? HW_NE : HW_NW));
    if (slot < 0)
        return false;
    *to = (uint32_t)slot * n + at % n;
    return true;
}

bool hw_dir_neighbour(const struct hw_config *hw, struct hw_place from, enum hw_dir dir,
                      struct hw_place *to)
{
    *to = from;
    const enum hw_port port = (enum hw_port)(dir & 3);
    switch (dir >> 2) {
    case 0:
        return hw_cube_neighbour(hw, from.cube, port, &to->cube);
    case 1:
        return hw_sip_neighbour(hw, from.sip, port, &to->sip);
    case 2:
        return hw_pe_neighbour(hw, from.pe, port, &to->pe);
    default:
        return false;
    }
}

uint32_t hw_edge_cube(const struct hw_config *hw, uint32_t cube, enum hw_port port)
{
    const uint32_t w = hw->cube_w, h = hw->cube_h, x = cube % w, y = cube / w;
    switch (port) {
    case HW_PORT_N:
        return x;
    case HW_PORT_S:
        return (h - 1) * w + x;
    case HW_PORT_E:
        return y * w + w - 1;
    default:
        return y * w;
    }
}

/* The ends of connections among `count` places that `neighbour` knows. */
static uint64_t count_ends(const struct hw_config *hw, uint32_t count,
                           bool (*neighbour)(const struct hw_config *hw, uint32_t at,
                                             enum hw_port port, uint32_t *to))
{
    uint64_t ends = 0;
    uint32_t to;
    for (uint32_t at = 0; at < count; at++)
        for (enum hw_port port = 0; port < HW_PORTS; port++)
            ends += neighbour(hw, at, port, &to);
    return ends;
}

/* All cubes of a SIP and all PEs of a cube have the same places in all SIPs and cubes. */
uint64_t hw_queue_pairs(const struct hw_config *hw, bool wire_all_pes)
{
    const uint64_t sips = hw->sip_count, cubes = hw_cubes(hw),
                   wired = wire_all_pes ? hw_pes(hw) : 1;
    const uint64_t between_pes = wire_all_pes ? count_ends(hw, hw_pes(hw), hw_pe_neighbour) : 0;
    const uint64_t between_cubes = count_ends(hw, hw_cubes(hw), hw_cube_neighbour);
    const uint64_t between_sips = count_ends(hw, hw->sip_count, hw_sip_neighbour);
    return between_pes * cubes * sips + between_cubes * wired * sips + between_sips * cubes * wired;
}
