/*
 * grid.h: a grid of places, w columns by h rows, whose rows and columns are open lines or rings:
 * cubes of a SIP, PEs and routers of a cube, SIPs of most topologies. A place is numbered y * w +
 * x; x grows east, y grows south. Pure functions.
 */
#ifndef HW_GRID_H
#define HW_GRID_H

#include <stdbool.h>
#include <stdint.h>

/* Ports of a cube and of an IO die, and the steps on a grid. */
enum hw_port { HW_PORT_N, HW_PORT_S, HW_PORT_E, HW_PORT_W, HW_PORTS, HW_PORT_NONE = HW_PORTS };

static inline enum hw_port hw_port_opposite(enum hw_port port) { return (enum hw_port)(port ^ 1); }
extern const char hw_port_letter[HW_PORTS]; /* 'N', 'S', 'E', 'W' */

struct hw_grid {
    uint32_t w, h;
    bool wrap; /* the last place of a line is joined with the first */
};

/* A place by its column and row. */
struct hw_spot {
    uint32_t x, y;
};
static inline struct hw_spot hw_grid_spot(struct hw_grid grid, uint32_t at)
{
    return (struct hw_spot){at % grid.w, at / grid.w};
}

/* The place one step from `at`; false where there is none. A line of one place has no steps. */
static inline bool hw_grid_step_from(struct hw_grid grid, struct hw_spot at, enum hw_port port,
                                     uint32_t *to)
{
    const uint32_t w = grid.w, h = grid.h, x = at.x, y = at.y;
    switch (port) {
    case HW_PORT_N:
        if (h == 1 || (y == 0 && !grid.wrap))
            return false;
        *to = (y == 0 ? h - 1 : y - 1) * w + x;
        return true;
    case HW_PORT_S:
        if (h == 1 || (y == h - 1 && !grid.wrap))
            return false;
        *to = (y == h - 1 ? 0 : y + 1) * w + x;
        return true;
    case HW_PORT_E:
        if (w == 1 || (x == w - 1 && !grid.wrap))
            return false;
        *to = y * w + (x == w - 1 ? 0 : x + 1);
        return true;
    case HW_PORT_W:
        if (w == 1 || (x == 0 && !grid.wrap))
            return false;
        *to = y * w + (x == 0 ? w - 1 : x - 1);
        return true;
    default:
        return false;
    }
}

static inline bool hw_grid_step(struct hw_grid grid, uint32_t at, enum hw_port port, uint32_t *to)
{
    return hw_grid_step_from(grid, hw_grid_spot(grid, at), port, to);
}

/* Along a line of n places, from a to b: forward (E, S) or not. On a ring the shorter way is taken,
 * and forward if both are equally long. */
static inline bool hw_line_forward(uint32_t n, bool wrap, uint32_t a, uint32_t b)
{
    if (!wrap)
        return b > a;
    const uint32_t ahead = (b + n - a) % n;
    return ahead <= n - ahead;
}

/* The first step from `at` to another place, by X, then Y. */
static inline enum hw_port hw_grid_route_between(struct hw_grid grid, struct hw_spot at,
                                                 struct hw_spot to)
{
    if (at.x != to.x)
        return hw_line_forward(grid.w, grid.wrap, at.x, to.x) ? HW_PORT_E : HW_PORT_W;
    return hw_line_forward(grid.h, grid.wrap, at.y, to.y) ? HW_PORT_S : HW_PORT_N;
}
static inline enum hw_port hw_grid_route(struct hw_grid grid, uint32_t at, uint32_t to)
{
    return hw_grid_route_between(grid, hw_grid_spot(grid, at), hw_grid_spot(grid, to));
}

#endif
