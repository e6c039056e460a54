/*
 * topo_svg.c: the drawing (topo_svg.h). SIPs are uses of one symbol, and cubes of another, so that
 * a machine of many SIPs is a small file. A link of a torus that wraps is a short line at both
 * edges.
 */
#include "bench/output/topo_svg.h"

#include <math.h>

#include "hw/timing.h"
#include "hw/topology/topology.h"

enum {
    CUBE_PX = 18,
    PE_PX = 3,
    GAP_PX = 3,
    SIP_GAP_PX = 34,
    MARGIN_PX = 40,
    COLUMNS_MAX = 16,
    SWITCH_PX = 22,   /* height of a switch */
    SWITCH_AWAY = 40, /* between a switch and the SIPs */
    LEGEND_PX = 16,   /* a line of the legend */
    LEGEND_LINES = 11,
    LANES = 7,
    LANE_PX = 3,
    SWITCH_DOT_PX = 7, /* a switch among SIPs */
    CHORDS_MAX = 64    /* of more SIPs that are all joined, the links of SIP 0 are drawn */
};

/* The places of the SIPs on the drawing. In dimensions: the first, third, ... to the right, the
 * others downwards, the later ones in groups of the earlier ones. */
enum layout { AS_GRID, AS_LOOP, BELOW_SWITCH, IN_PACKAGES, ON_CIRCLE, IN_DIMENSIONS };

struct drawing {
    FILE *out;
    const struct hw_config *hw;
    enum layout layout;
    uint32_t root;          /* cube */
    uint32_t columns, rows; /* of SIPs */
    int sip_w_px, sip_h_px, top_px;
    int pitch_px[HW_SIP_DIMS_MAX]; /* in dimensions: from coordinate to coordinate */
    int w_px, h_px;                /* on a circle and in dimensions: of all SIPs */
};

static const struct hw_sip_dim *dim_at(const struct drawing *d, uint32_t k)
{
    return &d->hw->sip_dims.at[k];
}

/* SIPs side by side, groups of them with a wider gap, and so on. */
static void place_dimensions(struct drawing *d)
{
    const int gap[2] = {SIP_GAP_PX, SIP_GAP_PX};
    int length[2] = {d->sip_w_px, d->sip_h_px};
    for (uint32_t k = 0; k < d->hw->sip_dims.count; k++) {
        int *const along = &length[k % 2];
        d->pitch_px[k] = *along + gap[k % 2] * (int)(1 + k / 2);
        *along += d->pitch_px[k] * (int)(dim_at(d, k)->size - 1);
    }
    d->w_px = length[0];
    d->h_px = length[1];
}

/* Far enough from the middle that SIPs stand beside each other. */
static double radius_of(const struct drawing *d)
{
    return (d->hw->sip_count + 1) * hypot(d->sip_w_px + 12, d->sip_h_px + 12) / 6.3;
}

static void place_circle(struct drawing *d)
{
    d->w_px = (int)(2 * radius_of(d)) + d->sip_w_px;
    d->h_px = (int)(2 * radius_of(d)) + d->sip_h_px;
}

static struct drawing drawing_of(FILE *out, const struct hw_config *hw, uint32_t root)
{
    struct drawing d = {.out = out, .hw = hw, .root = root, .top_px = MARGIN_PX};
    const uint32_t n = hw->sip_count;
    d.layout = hw->sip_topology == &hw_switch                                       ? BELOW_SWITCH
               : hw->sip_topology == &hw_pair_switch                                ? IN_PACKAGES
               : hw->sip_dims.count == 1 && hw->sip_dims.at[0].joint == HW_SIP_FULL ? ON_CIRCLE
               : hw->sip_dims.count > 0                                             ? IN_DIMENSIONS
               : hw->sip_topology->is_grid                                          ? AS_GRID
                                                                                    : AS_LOOP;
    d.columns = d.layout == AS_GRID       ? hw->sip_w
                : d.layout == AS_LOOP     ? (n + 1) / 2
                : d.layout == IN_PACKAGES ? (n + 1) / 2
                : n < COLUMNS_MAX         ? n
                                          : COLUMNS_MAX;
    d.rows = (n + d.columns - 1) / d.columns;
    d.sip_w_px = GAP_PX + (int)hw->cube_w * (CUBE_PX + GAP_PX);
    d.sip_h_px = GAP_PX + (int)hw->cube_h * (CUBE_PX + GAP_PX);
    if (d.layout == BELOW_SWITCH || d.layout == IN_PACKAGES)
        d.top_px += SWITCH_PX + SWITCH_AWAY;
    if (d.layout == IN_DIMENSIONS)
        place_dimensions(&d);
    if (d.layout == ON_CIRCLE)
        place_circle(&d);
    return d;
}

static uint32_t column_of(const struct drawing *d, uint32_t sip)
{
    if (d->layout == IN_PACKAGES)
        return sip / 2;
    if (d->layout == AS_LOOP && sip >= d->columns) /* the way back, below */
        return d->hw->sip_count - 1 - sip;
    return sip % d->columns;
}

static uint32_t row_of(const struct drawing *d, uint32_t sip)
{
    return d->layout == IN_PACKAGES ? sip % 2 : sip / d->columns;
}

/* From the left edge, or the upper one, of all SIPs. */
static int along_dimensions(const struct drawing *d, uint32_t sip, uint32_t first)
{
    int px = 0;
    for (uint32_t k = first; k < d->hw->sip_dims.count; k += 2)
        px += (int)hw_sip_coordinate(dim_at(d, k), sip) * d->pitch_px[k];
    return px;
}

static double angle_of(const struct drawing *d, uint32_t sip)
{
    return 6.283185307179586 * sip / d->hw->sip_count;
}

static int sip_x(const struct drawing *d, uint32_t sip)
{
    if (d->layout == IN_DIMENSIONS)
        return MARGIN_PX + along_dimensions(d, sip, 0);
    if (d->layout == ON_CIRCLE)
        return MARGIN_PX + (int)(radius_of(d) * (1 + sin(angle_of(d, sip))));
    return MARGIN_PX + (int)column_of(d, sip) * (d->sip_w_px + SIP_GAP_PX);
}

static int sip_y(const struct drawing *d, uint32_t sip)
{
    if (d->layout == IN_DIMENSIONS)
        return d->top_px + along_dimensions(d, sip, 1);
    if (d->layout == ON_CIRCLE)
        return d->top_px + (int)(radius_of(d) * (1 - cos(angle_of(d, sip))));
    return d->top_px + (int)row_of(d, sip) * (d->sip_h_px + SIP_GAP_PX);
}

static int width_of(const struct drawing *d)
{
    const int columns_px = (int)d->columns * (d->sip_w_px + SIP_GAP_PX) - SIP_GAP_PX;
    const int own = 2 * MARGIN_PX + (d->w_px > 0 ? d->w_px : columns_px);
    return own > 520 ? own : 520; /* the legend's */
}

static int bottom_of(const struct drawing *d)
{
    const int rows_px = (int)d->rows * (d->sip_h_px + SIP_GAP_PX) - SIP_GAP_PX;
    const int own = d->top_px + (d->h_px > 0 ? d->h_px : rows_px);
    return own + (d->layout == IN_PACKAGES ? SWITCH_PX + SWITCH_AWAY : 0);
}

static void line(const struct drawing *d, const char *kind, int x0, int y0, int x1, int y1)
{
    fprintf(d->out, "<line class=\"%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", kind, x0, y0,
            x1, y1);
}

/* ---- symbols: a cube with its PEs, a SIP with its cubes ----------------------------------------
 */

static void define_cube(const struct drawing *d)
{
    fprintf(d->out, "<g id=\"pes\">");
    for (uint32_t i = 0; i < d->hw->corner_count; i++) {
        const enum hw_corner corner = d->hw->corner[i];
        const bool east = corner == HW_NE || corner == HW_SE;
        const bool south = corner == HW_SW || corner == HW_SE;
        for (uint32_t pe = 0; pe < d->hw->pe_per_corner && pe < 2; pe++) {
            const int along = 1 + (int)pe * (PE_PX + 1);
            fprintf(d->out, "<rect class=\"pe\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
                    east ? CUBE_PX - PE_PX - along : along, south ? CUBE_PX - PE_PX - 1 : 1, PE_PX,
                    PE_PX);
        }
    }
    fprintf(d->out, "</g>\n");
}

static void define_sip(const struct drawing *d)
{
    fprintf(d->out, "<g id=\"sip\"><rect class=\"sip\" width=\"%d\" height=\"%d\" rx=\"4\"/>\n",
            d->sip_w_px, d->sip_h_px);
    for (uint32_t cube = 0; cube < hw_cubes(d->hw); cube++) {
        const int x = GAP_PX + (int)(cube % d->hw->cube_w) * (CUBE_PX + GAP_PX);
        const int y = GAP_PX + (int)(cube / d->hw->cube_w) * (CUBE_PX + GAP_PX);
        fprintf(d->out,
                "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
                "<use href=\"#pes\" x=\"%d\" y=\"%d\"/>\n",
                cube == d->root ? "root" : "cube", x, y, CUBE_PX, CUBE_PX, x, y);
    }
    fprintf(d->out, "</g>\n");
}

static void draw_sip(const struct drawing *d, uint32_t sip)
{
    const int x = sip_x(d, sip), y = sip_y(d, sip);
    const bool beside = d->layout == IN_PACKAGES; /* above it is a link */
    fprintf(d->out,
            "<g><title>SIP %u</title><use href=\"#sip\" x=\"%d\" y=\"%d\"/><text x=\"%d\" "
            "y=\"%d\"%s>%u</text></g>\n",
            sip, x, y, beside ? x - 4 : x, beside ? y + 12 : y - 3,
            beside ? " text-anchor=\"end\"" : "", sip);
}

/* ---- links ----------------------------------------------------------------------------------- */

/* The links that leave eastwards and southwards; a neighbour that is not next door is a wrap. */
static void draw_grid_links(const struct drawing *d, uint32_t sip)
{
    const int x = sip_x(d, sip), y = sip_y(d, sip);
    const int middle_x = x + d->sip_w_px / 2, middle_y = y + d->sip_h_px / 2;
    const int short_px = SIP_GAP_PX / 3;
    uint32_t to;
    if (hw_sip_drawn(d->hw, sip, HW_PORT_E, &to)) {
        const bool next_door = to == sip + 1 && to % d->columns != 0;
        line(d, "link", x + d->sip_w_px, middle_y,
             x + d->sip_w_px + (next_door ? SIP_GAP_PX : short_px), middle_y);
        if (!next_door)
            line(d, "link", sip_x(d, to) - short_px, sip_y(d, to) + d->sip_h_px / 2, sip_x(d, to),
                 sip_y(d, to) + d->sip_h_px / 2);
    }
    if (hw_sip_drawn(d->hw, sip, HW_PORT_S, &to)) {
        const bool next_door = to == sip + d->columns;
        line(d, "link", middle_x, y + d->sip_h_px, middle_x,
             y + d->sip_h_px + (next_door ? SIP_GAP_PX : short_px));
        if (!next_door)
            line(d, "link", middle_x, sip_y(d, to) - short_px, middle_x, sip_y(d, to));
    }
}

/* A ring as a loop: there above, back below. */
static void draw_loop_links(const struct drawing *d, uint32_t sip)
{
    uint32_t to;
    if (!hw_sip_drawn(d->hw, sip, HW_PORT_E, &to))
        return;
    const int middle_x = d->sip_w_px / 2, middle_y = d->sip_h_px / 2;
    /* Two SIPs, and the ends of the loop, are above each other. */
    const int aside = d->hw->sip_count == 2 && sip == 1 ? 8 : 0;
    line(d, "link", sip_x(d, sip) + middle_x + aside, sip_y(d, sip) + middle_y,
         sip_x(d, to) + middle_x + aside, sip_y(d, to) + middle_y);
}

static void draw_switch(const struct drawing *d, int y, const char *name)
{
    /* over the lanes beside the last column, too */
    const bool lanes = d->layout == BELOW_SWITCH && d->rows > 1;
    const int w = (int)d->columns * (d->sip_w_px + SIP_GAP_PX) - (lanes ? 0 : SIP_GAP_PX);
    fprintf(d->out,
            "<rect class=\"switch\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>"
            "<text x=\"%d\" y=\"%d\">%s</text>\n",
            MARGIN_PX, y, w, SWITCH_PX, MARGIN_PX + 6, y + SWITCH_PX - 7, name);
}

/* From the SIP's right edge up through the gap beside it, a lane for each row. */
static void draw_uplink(const struct drawing *d, uint32_t sip)
{
    const int x = sip_x(d, sip) + d->sip_w_px, y = sip_y(d, sip) + d->sip_h_px / 2;
    const int switch_y = MARGIN_PX + SWITCH_PX;
    if (d->rows == 1) {
        line(d, "link", x - d->sip_w_px / 2, switch_y, x - d->sip_w_px / 2, sip_y(d, sip));
        return;
    }
    const int lane = x + 3 + (int)(row_of(d, sip) % 9) * 3;
    line(d, "link", x, y, lane, y);
    line(d, "link", lane, y, lane, switch_y);
}

/* Even dies above, with their switch; odd ones below; sio between the two of a package. */
static void draw_package_links(const struct drawing *d, uint32_t sip)
{
    const int x = sip_x(d, sip) + d->sip_w_px / 2, y = sip_y(d, sip);
    if (sip % 2 != 0) {
        line(d, "hccs", x, y + d->sip_h_px, x, bottom_of(d) - SWITCH_PX);
        return;
    }
    line(d, "hccs", x, MARGIN_PX + SWITCH_PX, x, y);
    if (sip + 1 < d->hw->sip_count)
        line(d, "sio", x, y + d->sip_h_px, x, sip_y(d, sip + 1));
}

/* ---- dimensions ------------------------------------------------------------------------------ */

static int middle_x(const struct drawing *d, uint32_t sip)
{
    return sip_x(d, sip) + d->sip_w_px / 2;
}
static int middle_y(const struct drawing *d, uint32_t sip)
{
    return sip_y(d, sip) + d->sip_h_px / 2;
}

static void draw_chords(const struct drawing *d, uint32_t sip)
{
    if (d->hw->sip_count > CHORDS_MAX && sip > 0)
        return;
    for (uint32_t to = sip + 1; to < d->hw->sip_count; to++)
        line(d, "link", middle_x(d, sip), middle_y(d, sip), middle_x(d, to), middle_y(d, to));
}

/* The class of a dimension's lines: one for each level. */
static const char *css_of(const struct hw_sip_dim *dim)
{
    static const char *const css[HW_LEVELS_MAX] = {"l1", "l2", "l3", "l4"};
    return dim->link < HW_LINK_LEVEL_1 ? "link" : css[dim->link - HW_LINK_LEVEL_1];
}

/* From the middle of one SIP to that of the next. A link from the last to the first is a short line
 * at both. */
static void draw_next_door(const struct drawing *d, uint32_t sip, uint32_t k)
{
    const struct hw_sip_dim *const dim = dim_at(d, k);
    const uint32_t at = hw_sip_coordinate(dim, sip);
    const uint32_t to = hw_sip_moved(dim, sip, (at + 1) % dim->size);
    const int dx = k == 0 ? d->sip_w_px / 2 + SIP_GAP_PX / 3 : 0;
    const int dy = k == 0 ? 0 : d->sip_h_px / 2 + SIP_GAP_PX / 3;
    const int x0 = middle_x(d, sip), y0 = middle_y(d, sip);
    const int x1 = middle_x(d, to), y1 = middle_y(d, to);
    if (at + 1 < dim->size) {
        line(d, css_of(dim), x0, y0, x1, y1);
        return;
    }
    line(d, css_of(dim), x0, y0, x0 + dx, y0 + dy);
    line(d, css_of(dim), x1, y1, x1 - dx, y1 - dy);
}

/* Lanes of links that go past other SIPs: below a row, or right of a column. SIPs that differ in an
 * earlier dimension of the same axis have lanes of their own. */
static int lane_px(const struct drawing *d, uint32_t sip, uint32_t k)
{
    uint32_t lane = k / 2, lanes = 1;
    for (uint32_t lower = k % 2; lower < k; lower += 2) {
        lane += hw_sip_coordinate(dim_at(d, lower), sip) * lanes;
        lanes *= dim_at(d, lower)->size;
    }
    return 4 + (int)(lane % LANES) * LANE_PX;
}

/* A line in the axes of dimension k: from a to b along it, at `across` from the edge that all SIPs
 * of the line have; from one place to another where `across` differs. */
static void axis_line(const struct drawing *d, uint32_t k, int a, int across_a, int b, int across_b)
{
    const char *const css = css_of(dim_at(d, k));
    if (k % 2 == 0)
        line(d, css, a, across_a, b, across_b);
    else
        line(d, css, across_a, a, across_b, b);
}

static int start_of(const struct drawing *d, uint32_t sip, uint32_t k)
{
    return k % 2 == 0 ? sip_x(d, sip) : sip_y(d, sip);
}
static int length_of(const struct drawing *d, uint32_t k)
{
    return k % 2 == 0 ? d->sip_w_px : d->sip_h_px;
}
/* The lower or the right edge. */
static int edge_of(const struct drawing *d, uint32_t sip, uint32_t k)
{
    return k % 2 == 0 ? sip_y(d, sip) + d->sip_h_px : sip_x(d, sip) + d->sip_w_px;
}

/* A ring or a line past other SIPs: out to the lane, along, and in again. */
static void draw_past(const struct drawing *d, uint32_t sip, uint32_t k)
{
    const struct hw_sip_dim *const dim = dim_at(d, k);
    const uint32_t at = hw_sip_coordinate(dim, sip);
    const uint32_t to = hw_sip_moved(dim, sip, (at + 1) % dim->size);
    const int edge = edge_of(d, sip, k), lane = edge + lane_px(d, sip, k);
    const int out = start_of(d, sip, k) + length_of(d, k) * 3 / 4;
    const int in = start_of(d, to, k) + length_of(d, k) / 4;
    const bool next = at + 1 < dim->size;
    axis_line(d, k, out, edge, out, lane);
    axis_line(d, k, out, lane, next ? in : out + SIP_GAP_PX / 2, lane);
    if (!next)
        axis_line(d, k, in, lane, in - SIP_GAP_PX / 2, lane);
    axis_line(d, k, in, lane, in, edge);
}

/* A lane that joins all SIPs of a dimension: a link between every two of them; or, with a box at
 * its end, a switch. Drawn for the SIP whose coordinate is 0. */
static void draw_joined(const struct drawing *d, uint32_t sip, uint32_t k)
{
    const struct hw_sip_dim *const dim = dim_at(d, k);
    const int edge = edge_of(d, sip, k), depth = lane_px(d, sip, k), lane = edge + depth;
    int from = 0, to = 0;
    for (uint32_t at = 0; at < dim->size; at++) {
        const int drop = start_of(d, hw_sip_moved(dim, sip, at), k) + depth;
        axis_line(d, k, drop, edge, drop, lane);
        from = at == 0 ? drop : from;
        to = drop;
    }
    if (dim->joint != HW_SIP_SWITCH) {
        axis_line(d, k, from, lane, to, lane);
        return;
    }
    to += length_of(d, k) + depth;
    axis_line(d, k, from, lane, to, lane);
    const int x = k % 2 == 0 ? to : lane, y = k % 2 == 0 ? lane : to;
    fprintf(d->out, "<rect class=\"switch\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
            x - SWITCH_DOT_PX / 2, y - SWITCH_DOT_PX / 2, SWITCH_DOT_PX, SWITCH_DOT_PX);
}

static void draw_dimension_links(const struct drawing *d, uint32_t sip)
{
    for (uint32_t k = 0; k < d->hw->sip_dims.count; k++) {
        const struct hw_sip_dim *const dim = dim_at(d, k);
        const uint32_t at = hw_sip_coordinate(dim, sip);
        const bool wide = dim->joint == HW_SIP_FULL || dim->joint == HW_SIP_SWITCH;
        if (dim->size < 2 || (dim->joint == HW_SIP_LINE && at + 1 == dim->size))
            continue;
        if (wide && at == 0)
            draw_joined(d, sip, k);
        else if (!wide && k < 2)
            draw_next_door(d, sip, k);
        else if (!wide)
            draw_past(d, sip, k);
    }
}

static void draw_links(const struct drawing *d)
{
    if (d->layout == BELOW_SWITCH && d->hw->sip_count > 1)
        draw_switch(d, MARGIN_PX, "switch");
    if (d->layout == IN_PACKAGES && d->hw->sip_count > 1) {
        draw_switch(d, MARGIN_PX, "switch of the even SIPs");
        draw_switch(d, bottom_of(d) - SWITCH_PX, "switch of the odd SIPs");
    }
    for (uint32_t sip = 0; sip < d->hw->sip_count && d->hw->sip_count > 1; sip++)
        switch (d->layout) {
        case AS_GRID:
            draw_grid_links(d, sip);
            break;
        case AS_LOOP:
            draw_loop_links(d, sip);
            break;
        case BELOW_SWITCH:
            draw_uplink(d, sip);
            break;
        case IN_PACKAGES:
            draw_package_links(d, sip);
            break;
        case ON_CIRCLE:
            draw_chords(d, sip);
            break;
        case IN_DIMENSIONS:
            draw_dimension_links(d, sip);
            break;
        }
}

/* ---- legend ---------------------------------------------------------------------------------- */

static void legend_link(const struct drawing *d, int y, const char *css, enum hw_link_kind kind)
{
    const int64_t ps = hw_ser_ps(&d->hw->link[kind], 1000000);
    line(d, css, MARGIN_PX, y - 4, MARGIN_PX + 18, y - 4);
    fprintf(d->out, "<text x=\"%d\" y=\"%d\">%s, %.6g GB/s each way</text>\n", MARGIN_PX + 26, y,
            hw_link_name[kind], 1e9 / (double)(ps > 0 ? ps : 1));
}

static void legend_box(const struct drawing *d, int y, const char *css, const char *text)
{
    fprintf(d->out,
            "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"10\" height=\"10\"/><text x=\"%d\" "
            "y=\"%d\">%s</text>\n",
            css, MARGIN_PX + 4, y - 9, MARGIN_PX + 26, y, text);
}

/* Which way the directions between SIPs go on this drawing. */
static const char *directions(const struct drawing *d)
{
    switch (d->layout) {
    case AS_GRID:
        return "global_E leads right, global_W left, global_S down, global_N up";
    case AS_LOOP:
        return "global_E leads to the next number, global_W to the one before";
    case BELOW_SWITCH:
        return "global_E leads to the next number, global_W to the one before, through the switch";
    case ON_CIRCLE:
        return d->hw->sip_count > CHORDS_MAX
                   ? "global_E leads to the next number, global_W to the one before; of all links, "
                     "those of SIP 0 are drawn"
                   : "global_E leads to the next number, global_W to the one before";
    case IN_DIMENSIONS:
        return "global_E and global_W go along the first dimension, global_S and global_N along "
               "all "
               "others, one after the other";
    case IN_PACKAGES:
        return "no global directions: sio joins the dies of a package, hccs those of one parity";
    }
    return "";
}

static uint32_t legend_levels(const struct drawing *d, int y)
{
    uint32_t lines = 0;
    for (uint32_t k = 0; k < d->hw->sip_dims.count; k++)
        if (k == 0 || dim_at(d, k)->link != dim_at(d, k - 1)->link)
            legend_link(d, y + (int)lines++ * LEGEND_PX, css_of(dim_at(d, k)), dim_at(d, k)->link);
    return lines;
}

static void draw_legend(const struct drawing *d)
{
    int y = bottom_of(d) + MARGIN_PX;
    char text[80];
    if (d->layout == IN_PACKAGES) {
        legend_link(d, y, "sio", HW_LINK_SIO);
        legend_link(d, y += LEGEND_PX, "hccs", HW_LINK_HCCS);
    } else if (d->layout == IN_DIMENSIONS) {
        y += (int)(legend_levels(d, y) - 1) * LEGEND_PX;
    } else {
        legend_link(d, y, "link", HW_LINK_SIP_LINK);
    }
    legend_box(d, y += LEGEND_PX, "cube", "cube; N is up, E right: row by row from the left above");
    legend_box(d, y += LEGEND_PX, "root", "root cube, where reductions over cubes meet");
    snprintf(text, sizeof text, "PE, %u in each of %u corners of a cube%s", d->hw->pe_per_corner,
             d->hw->corner_count, d->hw->pe_per_corner > 2 ? " (two are drawn)" : "");
    legend_box(d, y += LEGEND_PX, "pe", text);
    fprintf(d->out, "<text x=\"%d\" y=\"%d\">%s</text>\n", MARGIN_PX, y + LEGEND_PX, directions(d));
}

void topo_svg(FILE *out, const struct hw_config *hw, uint32_t root)
{
    const struct drawing d = drawing_of(out, hw, root);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n<style>"
            ".sip{fill:#eef2f7;stroke:#44546a}.cube{fill:#8fb8de}.root{fill:#e6a23c}"
            ".pe{fill:#2f4a6b}.switch{fill:#dfe7d3;stroke:#5b7a3a}"
            ".link{stroke:#c0504d;stroke-width:2}.hccs{stroke:#5b7a3a;stroke-width:2}"
            ".sio{stroke:#7b4fa3;stroke-width:4}.l1{stroke:#c0504d}.l2{stroke:#5b7a3a}"
            ".l3{stroke:#7b4fa3}.l4{stroke:#3a7ca5}text{font:10px sans-serif;fill:#44546a}"
            "</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n<defs>\n",
            width_of(&d), bottom_of(&d) + MARGIN_PX + LEGEND_LINES * LEGEND_PX);
    define_cube(&d);
    define_sip(&d);
    fprintf(out, "</defs>\n<text x=\"%d\" y=\"16\">%u SIPs, %s", MARGIN_PX, hw->sip_count,
            hw->sip_topology->name);
    for (uint32_t k = 0; k < hw->sip_dims.count && d.layout == IN_DIMENSIONS; k++)
        fprintf(out, "%s%u", k == 0 ? ", " : " x ", hw->sip_dims.at[k].size);
    if (d.layout == AS_GRID)
        fprintf(out, ", %u x %u", hw->sip_w, hw->sip_h);
    fprintf(out, "</text>\n");
    draw_links(&d);
    for (uint32_t sip = 0; sip < hw->sip_count; sip++)
        draw_sip(&d, sip);
    draw_legend(&d);
    fprintf(out, "</svg>\n");
}
