/*
 * grid.c: steps and distances on a grid (grid.h).
 */
#include "hw/grid.h"

const char hw_port_letter[HW_PORTS] = {
    [HW_PORT_N] = 'N', [HW_PORT_S] = 'S', [HW_PORT_E] = 'E', [HW_PORT_W] = 'W'};

static uint32_t line_distance(uint32_t n, bool wrap, uint32_t a, uint32_t b)
{
    const uint32_t inside = a < b ? b - a : a - b;
    return wrap && n - inside < inside ? n - inside : inside;
}

uint32_t hw_grid_distance(struct hw_grid grid, uint32_t a, uint32_t b)
{
    return line_distance(grid.w, grid.wrap, a % grid.w, b % grid.w) +
           line_distance(grid.h, grid.wrap, a / grid.w, b / grid.w);
}

uint32_t hw_grid_diameter(struct hw_grid grid)
{
    return grid.wrap ? grid.w / 2 + grid.h / 2 : grid.w - 1 + grid.h - 1;
}
