/*
 * picture_layout.h: where the boxes and switches of a picture are, in px.
 *
 * A ring, a line or a product of several dimensions stands on grids, dimension by dimension. If the
 * first two are small, they are the columns and rows of a plane, whose blocks are single boxes.
 * Each other dimension places the blocks so far on a grid of its own, so that neighbours of a ring
 * or a line stand next to each other: as a snake, or as a closed loop.
 *
 * Any other machine is placed by Graphviz (graphviz.h), or without it in rows: its switches, then
 * its boxes.
 */
#ifndef BENCH_DRAW_PICTURE_LAYOUT_H
#define BENCH_DRAW_PICTURE_LAYOUT_H

#include "bench/draw/graphviz.h"
#include "bench/draw/picture.h"

/* The parts of a SIP that are shown. */
enum picture_detail { DETAIL_PES, DETAIL_CUBES, DETAIL_CELL };

struct picture_rect {
    double x, y, w, h;
};

/* How the coordinates of a dimension are placed on its grid. */
enum picture_order { ORDER_ROWS, ORDER_SNAKE, ORDER_LOOP };
struct picture_grid {
    enum picture_order order;
    uint32_t columns, rows;
    double pitch_x, pitch_y;
    double frame;  /* around each block */
    bool is_plane; /* its blocks are single boxes */
};

struct picture_layout {
    enum picture_detail detail;
    double cube, cube_gap, border; /* of SIPs with cubes */
    double box_w, box_h;
    double bar_away; /* from a box or a frame to a switch's bar */
    uint32_t dims;
    uint32_t size[HW_SIP_DIMS_MAX], stride[HW_SIP_DIMS_MAX];
    enum hw_sip_joint joint[HW_SIP_DIMS_MAX]; /* a full dimension of two is a line */
    struct picture_grid grid[HW_SIP_DIMS_MAX];
    struct picture_rect block[HW_SIP_DIMS_MAX + 1]; /* of all dimensions before: w, h */
    double left, top;                               /* of the first box */
    double width, bottom;                           /* of the drawing; of all boxes */
    /* Of a machine that is no such product: the centres of its boxes, then of its switches; else
     * NULL, and what concerns dimensions counts. */
    struct picture_point *places;
    uint32_t boxes;
    double switch_w, switch_h;
    double line_px;                 /* the width of a link */
    bool in_layers;                 /* each link leads up or down */
    char note[GRAPHVIZ_NOTE_BYTES]; /* why they are not Graphviz' places; "": they are */
};

/* CW_OK, or out of memory; *layout is to be freed either way. Graphviz has as much time as
 * limit_ms. */
int picture_layout_make(struct picture_layout *layout, const struct picture *picture, int limit_ms,
                        struct cw_error *error);
void picture_layout_free(struct picture_layout *layout);

static inline uint32_t picture_coordinate(const struct picture_layout *layout, uint32_t dim,
                                          uint32_t box)
{
    return box / layout->stride[dim] % layout->size[dim];
}
/* The place of a coordinate on the grid of its dimension. */
void picture_cell(const struct picture_grid *grid, uint32_t size, uint32_t at, uint32_t *column,
                  uint32_t *row);
struct picture_rect picture_box(const struct picture_layout *layout, uint32_t box);
/* The box of a switch of a machine that is no product. */
struct picture_rect picture_switch_box(const struct picture_layout *layout, uint32_t number);
/* The block that a dimension places, with `box` in it: on a plane the box itself. */
struct picture_rect picture_block(const struct picture_layout *layout, uint32_t dim, uint32_t box);
/* Of DETAIL_PES and DETAIL_CUBES. */
struct picture_rect picture_cube_rect(const struct picture_layout *layout, uint32_t cube_w,
                                      struct picture_rect box, uint32_t cube);

#endif
