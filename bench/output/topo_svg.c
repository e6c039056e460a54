/*
 * topo_svg.c: the drawing (topo_svg.h). A link that wraps round a ring or a torus is drawn as a
 * short line at both edges.
 */
#include "bench/output/topo_svg.h"

#include "hw/topology/topology.h"

enum { CUBE_PX = 14, GAP_PX = 3, SIP_GAP_PX = 34, MARGIN_PX = 40, COLUMNS_MAX = 16 };

struct drawing {
    FILE *out;
    const struct hw_config *hw;
    uint32_t columns, rows;
    int sip_w_px, sip_h_px;
};

static int sip_x(const struct drawing *d, uint32_t sip)
{
    return MARGIN_PX + (int)(sip % d->columns) * (d->sip_w_px + SIP_GAP_PX);
}

static int sip_y(const struct drawing *d, uint32_t sip)
{
    return MARGIN_PX + (int)(sip / d->columns) * (d->sip_h_px + SIP_GAP_PX);
}

static void line(const struct drawing *d, int x0, int y0, int x1, int y1)
{
    fprintf(d->out, "<line class=\"link\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", x0, y0, x1,
            y1);
}

static void draw_sip(const struct drawing *d, uint32_t sip)
{
    const int x = sip_x(d, sip), y = sip_y(d, sip);
    fprintf(d->out,
            "<g><title>SIP %u</title><rect class=\"sip\" x=\"%d\" y=\"%d\" width=\"%d\" "
            "height=\"%d\" rx=\"4\"/>\n",
            sip, x, y, d->sip_w_px, d->sip_h_px);
    for (uint32_t cube = 0; cube < hw_cubes(d->hw); cube++)
        fprintf(d->out, "<rect class=\"cube\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
                x + GAP_PX + (int)(cube % d->hw->cube_w) * (CUBE_PX + GAP_PX),
                y + GAP_PX + (int)(cube / d->hw->cube_w) * (CUBE_PX + GAP_PX), CUBE_PX, CUBE_PX);
    fprintf(d->out, "<text x=\"%d\" y=\"%d\">%u</text></g>\n", x, y - 3, sip);
}

/* The links that leave eastwards and southwards; a neighbour that is not next door is a wrap. */
static void draw_links(const struct drawing *d, uint32_t sip)
{
    const int x = sip_x(d, sip), y = sip_y(d, sip);
    const int middle_x = x + d->sip_w_px / 2, middle_y = y + d->sip_h_px / 2;
    const int short_px = SIP_GAP_PX / 3;
    uint32_t to;
    if (hw_sip_drawn(d->hw, sip, HW_PORT_E, &to)) {
        const bool next_door = to == sip + 1 && to % d->columns != 0;
        line(d, x + d->sip_w_px, middle_y, x + d->sip_w_px + (next_door ? SIP_GAP_PX : short_px),
             middle_y);
        if (!next_door)
            line(d, sip_x(d, to) - short_px, sip_y(d, to) + d->sip_h_px / 2, sip_x(d, to),
                 sip_y(d, to) + d->sip_h_px / 2);
    }
    if (hw_sip_drawn(d->hw, sip, HW_PORT_S, &to)) {
        const bool next_door = to == sip + d->columns;
        line(d, middle_x, y + d->sip_h_px, middle_x,
             y + d->sip_h_px + (next_door ? SIP_GAP_PX : short_px));
        if (!next_door)
            line(d, middle_x, sip_y(d, to) - short_px, middle_x, sip_y(d, to));
    }
}

void topo_svg(FILE *out, const struct hw_config *hw)
{
    struct drawing d = {.out = out, .hw = hw};
    d.columns = hw->sip_topology->is_grid     ? hw->sip_w
                : hw->sip_count < COLUMNS_MAX ? hw->sip_count
                                              : COLUMNS_MAX;
    d.rows = (hw->sip_count + d.columns - 1) / d.columns;
    d.sip_w_px = GAP_PX + (int)hw->cube_w * (CUBE_PX + GAP_PX);
    d.sip_h_px = GAP_PX + (int)hw->cube_h * (CUBE_PX + GAP_PX);
    const int w = 2 * MARGIN_PX + (int)d.columns * (d.sip_w_px + SIP_GAP_PX) - SIP_GAP_PX;
    const int h = 2 * MARGIN_PX + (int)d.rows * (d.sip_h_px + SIP_GAP_PX) - SIP_GAP_PX;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n<style>"
            ".sip{fill:#eef2f7;stroke:#44546a}.cube{fill:#8fb8de}.link{stroke:#c0504d;"
            "stroke-width:2}text{font:10px sans-serif;fill:#44546a}</style>\n"
            "<text x=\"%d\" y=\"16\">%u SIPs, %s</text>\n",
            w, h, MARGIN_PX, hw->sip_count, hw->sip_topology->name);
    for (uint32_t sip = 0; sip < hw->sip_count; sip++)
        draw_links(&d, sip);
    for (uint32_t sip = 0; sip < hw->sip_count; sip++)
        draw_sip(&d, sip);
    fprintf(out, "</svg>\n");
}
