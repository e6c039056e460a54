/*
 * picture_layout.c: places the boxes, dimension by dimension (picture_layout.h).
 */
#include "bench/draw/picture_layout.h"

#include <math.h>

enum {
    SIPS_WITH_PES = PICTURE_INSIDE_MAX,
    SIPS_WITH_CUBES = 150,
    CUBES_SHOWN_MAX = 64, /* of a SIP */
    PLANE_MAX = 40,       /* boxes along one side of a plane */
    LOOP_OF_TWO_ROWS_MAX = 40,
    FRAME_PX = 16 /* between a block and its frame */
};

/* ---- cells of a grid ------------------------------------------------------------------------- */

void picture_cell(const struct picture_grid *grid, uint32_t size, uint32_t at, uint32_t *column,
                  uint32_t *row)
{
    const uint32_t columns = grid->columns, rest = grid->rows - 1;
    *column = at % columns;
    *row = at / columns;
    if (grid->order == ORDER_SNAKE && *row % 2 != 0)
        *column = columns - 1 - *column;
    if (grid->order != ORDER_LOOP || at < columns)
        return;
    if (grid->rows == 2) { /* also where the lower row is shorter */
        *column = size - 1 - at;
        return;
    }
    /* The upper row to the right, then back column by column: down, up, down, ... */
    const uint32_t leg = (at - columns) / rest, on_leg = (at - columns) % rest;
    *column = columns - 1 - leg;
    *row = leg % 2 == 0 ? 1 + on_leg : rest - on_leg;
}

static void as_rows(struct picture_grid *grid, enum picture_order order, uint32_t size,
                    uint32_t columns)
{
    grid->order = order;
    grid->columns = columns < 1 ? 1 : columns;
    grid->rows = (size + grid->columns - 1) / grid->columns;
}

/* A closed path around a grid, which needs an even number of columns. */
static void as_loop(struct picture_grid *grid, uint32_t size)
{
    if (size <= LOOP_OF_TWO_ROWS_MAX) {
        as_rows(grid, size < 3 ? ORDER_ROWS : ORDER_LOOP, size, size < 3 ? size : (size + 1) / 2);
        return;
    }
    uint32_t columns = (uint32_t)sqrt((double)size);
    while (columns < size / 2 && (size % columns != 0 || columns % 2 != 0))
        columns++;
    if (columns * columns <= 6 * size)
        as_rows(grid, ORDER_LOOP, size, columns);
    else
        as_rows(grid, ORDER_SNAKE, size, (uint32_t)ceil(sqrt((double)size)));
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static void choose_detail(struct picture_layout *l, const struct picture *p)
{
    const uint32_t cubes = p->cube_w * p->cube_h;
    const bool folded = p->first_sip != NULL;
    if (!folded && p->sip_count <= SIPS_WITH_PES && cubes <= CUBES_SHOWN_MAX) {
        l->detail = DETAIL_PES;
        l->cube = 24;
        l->cube_gap = 12;
        l->border = 16;
        l->bar_away = 20;
    } else if (!folded && p->sip_count <= SIPS_WITH_CUBES && cubes <= CUBES_SHOWN_MAX) {
        l->detail = DETAIL_CUBES;
        l->cube = 9;
        l->cube_gap = 1;
        l->border = 4;
        l->bar_away = 12;
    } else {
        l->detail = DETAIL_CELL;
        l->box_w = folded ? 62 : 22;
        l->box_h = folded ? 24 : 22;
        l->bar_away = 10;
        return;
    }
    l->box_w = 2 * l->border + p->cube_w * (l->cube + l->cube_gap) - l->cube_gap;
    l->box_h = 2 * l->border + p->cube_h * (l->cube + l->cube_gap) - l->cube_gap;
}

static bool is_joined(enum hw_sip_joint joint)
{
    return joint == HW_SIP_FULL || joint == HW_SIP_SWITCH;
}

static double plane_gap(const struct picture_layout *l)
{
    const double gap = l->detail == DETAIL_PES ? 48 : l->detail == DETAIL_CUBES ? 28 : 14;
    bool bars = false;
    for (uint32_t k = 0; k < l->dims && l->grid[k].is_plane; k++)
        bars = bars || is_joined(l->joint[k]);
    return !bars ? gap : l->detail == DETAIL_CELL ? 28 : l->bar_away + 36;
}

/* ---- dimensions ------------------------------------------------------------------------------ */

static void place_alone(struct picture_layout *l)
{
    struct picture_grid *const grid = &l->grid[0];
    const uint32_t size = l->size[0];
    grid->is_plane = true;
    switch (l->joint[0]) {
    case HW_SIP_RING:
        as_loop(grid, size);
        break;
    case HW_SIP_LINE:
        as_rows(grid, ORDER_SNAKE, size,
                size <= 12 ? size : (uint32_t)ceil(sqrt((double)size) * 1.4));
        break;
    case HW_SIP_FULL:
        as_rows(grid, ORDER_CIRCLE, size, size);
        break;
    case HW_SIP_SWITCH:
    case HW_SIP_OTHER:
        as_rows(grid, ORDER_ROWS, size, size <= 8 ? size : size <= 64 ? 8 : 32);
        break;
    }
}

/* The dies of a package stand one above the other, packages in rows; otherwise columns and rows. */
static void place_plane(struct picture_layout *l, bool paired)
{
    as_rows(&l->grid[0], ORDER_ROWS, l->size[0], paired ? 1 : l->size[0]);
    as_rows(&l->grid[1], ORDER_ROWS, l->size[1], !paired ? 1 : l->size[1] <= 10 ? l->size[1] : 10);
    l->grid[0].is_plane = l->grid[1].is_plane = true;
}

/* Arranges blocks so that the drawing does not become much wider than tall. */
static void place_blocks(struct picture_layout *l, uint32_t k)
{
    struct picture_grid *const grid = &l->grid[k];
    const uint32_t size = l->size[k];
    const bool wide = l->block[k].w > 1.5 * l->block[k].h;
    if (size <= 4)
        as_rows(grid, ORDER_ROWS, size, wide ? 1 : size);
    else if (l->joint[k] == HW_SIP_RING)
        as_loop(grid, size);
    else
        as_rows(grid, is_joined(l->joint[k]) ? ORDER_ROWS : ORDER_SNAKE, size,
                (uint32_t)ceil(sqrt((double)size)));
}

static double circle_radius(const struct picture_layout *l)
{
    return (l->size[0] + 1) * hypot(l->box_w + 14, l->box_h + 14) / 6.3;
}

/* The pitch of a dimension with blocks of the size l->block[k], and the block of all dimensions
 * so far. */
static void measure_dim(struct picture_layout *l, uint32_t k)
{
    struct picture_grid *const grid = &l->grid[k];
    struct picture_rect *const next = &l->block[k + 1];
    const double gap = grid->is_plane ? plane_gap(l) : 46;
    const struct picture_rect lower = l->block[k];
    grid->pitch_x = lower.w + 2 * grid->frame + gap;
    grid->pitch_y = lower.h + 2 * grid->frame + gap;
    *next = (struct picture_rect){0, 0, (grid->columns - 1) * grid->pitch_x + lower.w,
                                  (grid->rows - 1) * grid->pitch_y + lower.h};
    if (grid->order == ORDER_CIRCLE) {
        next->w = 2 * circle_radius(l) + l->box_w;
        next->h = 2 * circle_radius(l) + l->box_h;
    }
}

struct picture_layout picture_layout_of(const struct picture *p)
{
    struct picture_layout l = {.dims = p->dim_count};
    uint32_t stride = 1, begin = 0;
    double frames = 0;
    choose_detail(&l, p);
    for (uint32_t k = 0; k < p->dim_count; k++) {
        l.size[k] = p->dim[k].size;
        l.joint[k] =
            p->dim[k].joint == HW_SIP_FULL && l.size[k] <= 2 ? HW_SIP_LINE : p->dim[k].joint;
        l.stride[k] = stride;
        stride *= l.size[k];
    }
    if (l.dims >= 2 && (p->paired || (l.size[0] <= PLANE_MAX && l.size[1] <= PLANE_MAX))) {
        place_plane(&l, p->paired);
        begin = 2;
    } else if (l.dims > 0) {
        place_alone(&l);
        begin = 1;
    }
    l.block[0] = (struct picture_rect){0, 0, l.box_w, l.box_h};
    for (uint32_t k = 0; k < l.dims; k++) {
        if (k >= begin) {
            place_blocks(&l, k);
            l.grid[k].frame = frames += FRAME_PX;
        }
        measure_dim(&l, k);
    }
    const struct picture_rect all = l.block[l.dims];
    l.left = 44 + frames;
    l.top = 62 + frames + (p->paired ? 26 : 0);
    l.width = all.w + 2 * l.left;
    l.bottom = l.top + all.h + frames;
    return l;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Adds the offsets of the dimensions from `first` on. */
static struct picture_rect placed(const struct picture_layout *l, uint32_t first, uint32_t box,
                                  struct picture_rect rect)
{
    for (uint32_t k = first; k < l->dims; k++) {
        const struct picture_grid *const grid = &l->grid[k];
        const uint32_t at = picture_coordinate(l, k, box);
        uint32_t column, row;
        if (grid->order == ORDER_CIRCLE) {
            const double angle = 6.283185307179586 * at / l->size[k], radius = circle_radius(l);
            rect.x += radius * (1 + sin(angle));
            rect.y += radius * (1 - cos(angle));
            continue;
        }
        picture_cell(grid, l->size[k], at, &column, &row);
        rect.x += column * grid->pitch_x;
        rect.y += row * grid->pitch_y;
    }
    return rect;
}

struct picture_rect picture_box(const struct picture_layout *l, uint32_t box)
{
    return placed(l, 0, box, (struct picture_rect){l->left, l->top, l->box_w, l->box_h});
}

struct picture_rect picture_block(const struct picture_layout *l, uint32_t dim, uint32_t box)
{
    if (l->grid[dim].is_plane)
        return picture_box(l, box);
    struct picture_rect rect = l->block[dim];
    rect.x = l->left - l->grid[dim].frame;
    rect.y = l->top - l->grid[dim].frame;
    rect.w += 2 * l->grid[dim].frame;
    rect.h += 2 * l->grid[dim].frame;
    return placed(l, dim, box, rect);
}

struct picture_rect picture_cube_rect(const struct picture_layout *l, uint32_t cube_w,
                                      struct picture_rect box, uint32_t cube)
{
    const double pitch = l->cube + l->cube_gap;
    const uint32_t column = cube % cube_w, row = cube / cube_w;
    return (struct picture_rect){box.x + l->border + column * pitch,
                                 box.y + l->border + row * pitch, l->cube, l->cube};
}
