/*
 * topo_svg.c: the drawing (topo_svg.h). SIPs are uses of one symbol, and cubes of another, so that
 * a machine of many SIPs is a small file. A link of a torus that wraps is a short line at both
 * edges.
 */
#include "bench/output/topo_svg.h"

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
    LEGEND_LINES = 7
};

/* The places of the SIPs on the drawing. */
enum layout { AS_GRID, AS_LOOP, BELOW_SWITCH, IN_PACKAGES };

struct drawing {
    FILE *out;
    const struct hw_config *hw;
    enum layout layout;
    uint32_t root;          /* cube */
    uint32_t columns, rows; /* of SIPs */
    int sip_w_px, sip_h_px, top_px;
};

static struct drawing drawing_of(FILE *out, const struct hw_config *hw, uint32_t root)
{
    struct drawing d = {.out = out, .hw = hw, .root = root, .top_px = MARGIN_PX};
    const uint32_t n = hw->sip_count;
    d.layout = hw->sip_topology == &hw_switch        ? BELOW_SWITCH
               : hw->sip_topology == &hw_pair_switch ? IN_PACKAGES
               : hw->sip_topology->is_grid           ? AS_GRID
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

static int sip_x(const struct drawing *d, uint32_t sip)
{
    return MARGIN_PX + (int)column_of(d, sip) * (d->sip_w_px + SIP_GAP_PX);
}

static int sip_y(const struct drawing *d, uint32_t sip)
{
    return d->top_px + (int)row_of(d, sip) * (d->sip_h_px + SIP_GAP_PX);
}

static int width_of(const struct drawing *d)
{
    const int own = 2 * MARGIN_PX + (int)d->columns * (d->sip_w_px + SIP_GAP_PX) - SIP_GAP_PX;
    return own > 520 ? own : 520; /* the legend's */
}

static int bottom_of(const struct drawing *d)
{
    const int own = d->top_px + (int)d->rows * (d->sip_h_px + SIP_GAP_PX) - SIP_GAP_PX;
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
    case IN_PACKAGES:
        return "no global directions: sio joins the dies of a package, hccs those of one parity";
    }
    return "";
}

static void draw_legend(const struct drawing *d)
{
    int y = bottom_of(d) + MARGIN_PX;
    char text[80];
    if (d->layout == IN_PACKAGES) {
        legend_link(d, y, "sio", HW_LINK_SIO);
        legend_link(d, y += LEGEND_PX, "hccs", HW_LINK_HCCS);
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
            ".sio{stroke:#7b4fa3;stroke-width:4}text{font:10px sans-serif;fill:#44546a}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n<defs>\n",
            width_of(&d), bottom_of(&d) + MARGIN_PX + LEGEND_LINES * LEGEND_PX);
    define_cube(&d);
    define_sip(&d);
    fprintf(out, "</defs>\n<text x=\"%d\" y=\"16\">%u SIPs, %s", MARGIN_PX, hw->sip_count,
            hw->sip_topology->name);
    if (hw->sip_topology->is_grid)
        fprintf(out, ", %u x %u", hw->sip_w, hw->sip_h);
    fprintf(out, "</text>\n");
    draw_links(&d);
    for (uint32_t sip = 0; sip < hw->sip_count; sip++)
        draw_sip(&d, sip);
    draw_legend(&d);
    fprintf(out, "</svg>\n");
}
