/*
 * picture_layout.c: places the boxes, dimension by dimension, or by Graphviz (picture_layout.h).
 */
#include "bench/draw/picture_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/draw/picture_fold.h"

enum {
    SIPS_WITH_PES = PICTURE_INSIDE_MAX,
    SIPS_WITH_CUBES = 150,
    FREE_WITH_CUBES = 36, /* SIPs that are placed by Graphviz */
    FINE_LINES = 60,      /* with more links, lines are fine, */
    THIN_LINES = 600,     /* and with still more they are thin */
    CUBES_SHOWN_MAX = 64, /* of a SIP */
    PLANE_MAX = 40,       /* boxes along one side of a plane */
    LOOP_MAX = 40,        /* blocks of a ring in two rows */
    FRAME_PX = 16         /* between a block and its frame */
};

/* ---- cells of a grid ------------------------------------------------------------------------- */

void picture_cell(const struct picture_grid *grid, uint32_t size, uint32_t at, uint32_t *column,
                  uint32_t *row)
{
    const uint32_t columns = grid->columns;
    *column = at % columns;
    *row = at / columns;
    if (grid->order == ORDER_SNAKE && *row % 2 != 0)
        *column = columns - 1 - *column;
    if (grid->order == ORDER_LOOP && *row == 1) /* back, also where this row is shorter */
        *column = size - 1 - at;
}

static void as_rows(struct picture_grid *grid, enum picture_order order, uint32_t size,
                    uint32_t columns)
{
    grid->order = order;
    grid->columns = columns < 1 ? 1 : columns;
    grid->rows = (size + grid->columns - 1) / grid->columns;
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static void choose_detail(struct picture_layout *l, const struct picture *p)
{
    const uint32_t cubes = p->cube_w * p->cube_h;
    const uint32_t with_cubes = picture_is_product(p) ? SIPS_WITH_CUBES : FREE_WITH_CUBES;
    const bool folded = p->first_sip != NULL;
    if (!folded && p->sip_count <= SIPS_WITH_PES && cubes <= CUBES_SHOWN_MAX) {
        l->detail = DETAIL_PES;
        l->cube = 24;
        l->cube_gap = 12;
        l->border = 16;
        l->bar_away = 20;
    } else if (!folded && p->sip_count <= with_cubes && cubes <= CUBES_SHOWN_MAX) {
        l->detail = DETAIL_CUBES;
        l->cube = 9;
        l->cube_gap = 1;
        l->border = 4;
        l->bar_away = 12;
    } else {
        l->detail = DETAIL_CELL;
        l->box_w = !folded ? 22 : p->unfolded <= 10000 ? 62 : 76;
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

/* The dies of a package stand one above the other, packages in rows; otherwise columns and rows. */
static void place_plane(struct picture_layout *l, bool paired)
{
    as_rows(&l->grid[0], ORDER_ROWS, l->size[0], paired ? 1 : l->size[0]);
    as_rows(&l->grid[1], ORDER_ROWS, l->size[1], !paired ? 1 : l->size[1] <= 10 ? l->size[1] : 10);
    l->grid[1].is_plane = true;
}

/* Arranges blocks so that the drawing does not become much wider than tall. */
static void place_blocks(struct picture_layout *l, uint32_t k)
{
    struct picture_grid *const grid = &l->grid[k];
    const uint32_t size = l->size[k];
    const bool wide = l->block[k].w > 1.5 * l->block[k].h;
    if (size <= 4)
        as_rows(grid, ORDER_ROWS, size, wide ? 1 : size);
    else if (l->joint[k] == HW_SIP_RING && size <= LOOP_MAX)
        as_rows(grid, ORDER_LOOP, size, (size + 1) / 2);
    else
        as_rows(grid, is_joined(l->joint[k]) ? ORDER_ROWS : ORDER_SNAKE, size,
                (uint32_t)ceil(sqrt((double)size)));
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
}

static void place_product(struct picture_layout *l, const struct picture *p)
{
    uint32_t stride = 1, begin = 0;
    double frames = 0;
    l->dims = p->dim_count;
    for (uint32_t k = 0; k < p->dim_count; k++) {
        l->size[k] = p->dim[k].size;
        l->joint[k] =
            p->dim[k].joint == HW_SIP_FULL && l->size[k] <= 2 ? HW_SIP_LINE : p->dim[k].joint;
        l->stride[k] = stride;
        stride *= l->size[k];
    }
    if (p->paired || (l->dims > 1 && l->size[0] <= PLANE_MAX && l->size[1] <= PLANE_MAX)) {
        place_plane(l, p->paired);
        begin = 2;
    }
    l->grid[0].is_plane = true;
    l->block[0] = (struct picture_rect){0, 0, l->box_w, l->box_h};
    for (uint32_t k = 0; k < l->dims; k++) {
        if (k >= begin) {
            place_blocks(l, k);
            frames += k > 0 ? FRAME_PX : 0;
            l->grid[k].frame = frames;
        }
        measure_dim(l, k);
    }
    const struct picture_rect all = l->block[l->dims];
    l->left = 44 + frames;
    l->top = 62 + frames + (p->paired ? 26 : 0);
    l->width = all.w + 2 * l->left;
    l->bottom = l->top + all.h + frames;
}

/* ---- other machines -------------------------------------------------------------------------- */

/* In rows: the switches, then the boxes. */
static void place_rows(struct picture_layout *l, const struct picture *p)
{
    const uint32_t columns = (uint32_t)ceil(sqrt(1.4 * p->sip_count));
    const uint32_t switch_rows = (p->switch_count + columns - 1) / columns;
    const double pitch_x = l->box_w + plane_gap(l), pitch_y = l->box_h + plane_gap(l);
    const double switches_h = switch_rows * 2 * l->switch_h;
    for (uint32_t i = 0; i < p->switch_count; i++)
        l->places[l->boxes + i] = (struct picture_point){
            i % columns * pitch_x, i / columns * 2 * l->switch_h + l->switch_h / 2};
    for (uint32_t i = 0; i < l->boxes; i++)
        l->places[i] = (struct picture_point){i % columns * pitch_x,
                                              switches_h + i / columns * pitch_y + l->box_h / 2};
}

/* Moves all places so that the drawing begins at its margins. */
static void fit_places(struct picture_layout *l, uint32_t nodes)
{
    double left = INFINITY, top = INFINITY, right = -INFINITY, bottom = -INFINITY;
    for (uint32_t i = 0; i < nodes; i++) {
        const struct picture_point at = l->places[i];
        const double w = (i < l->boxes ? l->box_w : l->switch_w) / 2;
        const double h = (i < l->boxes ? l->box_h : l->switch_h) / 2;
        left = fmin(left, at.x - w);
        right = fmax(right, at.x + w);
        top = fmin(top, at.y - h);
        bottom = fmax(bottom, at.y + h);
    }
    l->left = 44;
    l->top = 62;
    for (uint32_t i = 0; i < nodes; i++) {
        l->places[i].x += l->left - left;
        l->places[i].y += l->top - top;
    }
    l->width = right - left + 2 * l->left;
    l->bottom = l->top + bottom - top;
}

/* Of a box with room for the longest label. */
static double switch_width(const struct picture *p, double least)
{
    char label[PICTURE_LABEL_BYTES];
    for (uint32_t i = 0; i < p->switch_count; i++)
        least = fmax(least, 9 + 4.8 * (double)strlen(picture_switch_label(p, i, label)));
    return least;
}

static int place_others(struct picture_layout *l, const struct picture *p, int limit_ms,
                        struct cw_error *error)
{
    const size_t lines = picture_lines(p);
    l->boxes = p->sip_count;
    l->switch_w = switch_width(p, l->detail == DETAIL_CELL ? 26 : 34);
    l->switch_h = l->detail == DETAIL_CELL ? 14 : 18;
    l->line_px = lines > THIN_LINES ? 0.8 : lines > FINE_LINES ? 2 : 3;
    const struct graphviz_sizes sizes = {l->box_w, l->box_h, l->switch_w, l->switch_h};
    l->places = graphviz_places(p, &sizes, limit_ms, &l->in_layers, l->note);
    if (l->places == NULL) {
        l->places = calloc((size_t)p->sip_count + p->switch_count + 1, sizeof *l->places);
        l->in_layers = false;
        if (l->places == NULL)
            return cw_error_memory(error, "the drawing");
        place_rows(l, p);
    }
    fit_places(l, p->sip_count + p->switch_count);
    return CW_OK;
}

int picture_layout_make(struct picture_layout *l, const struct picture *p, int limit_ms,
                        struct cw_error *error)
{
    *l = (struct picture_layout){.places = NULL};
    choose_detail(l, p);
    if (!picture_is_product(p))
        return place_others(l, p, limit_ms, error);
    place_product(l, p);
    return CW_OK;
}

void picture_layout_free(struct picture_layout *l)
{
    free(l->places);
    l->places = NULL;
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
        picture_cell(grid, l->size[k], at, &column, &row);
        rect.x += column * grid->pitch_x;
        rect.y += row * grid->pitch_y;
    }
    return rect;
}

static struct picture_rect centred(struct picture_point at, double w, double h)
{
    return (struct picture_rect){at.x - w / 2, at.y - h / 2, w, h};
}

struct picture_rect picture_switch_box(const struct picture_layout *l, uint32_t number)
{
    return centred(l->places[l->boxes + number], l->switch_w, l->switch_h);
}

struct picture_rect picture_box(const struct picture_layout *l, uint32_t box)
{
    if (l->places != NULL)
        return centred(l->places[box], l->box_w, l->box_h);
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
