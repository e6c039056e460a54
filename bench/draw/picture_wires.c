/*
 * picture_wires.c: draws the links, switches and frames of a picture.
 */
#include "bench/draw/picture_wires.h"

#include <math.h>
#include <stdlib.h>

enum { STUB_PX = 9, BAR_PX = 7, TRUNK_PX = 22, NO_DIM = UINT32_MAX };

/* The links of a box along a dimension in which every pair of boxes is linked. */
struct bundle {
    struct picture_link out, in;
};

struct wiring {
    struct picture_pen *pen;
    const struct picture *p;
    const struct picture_layout *l;
    uint32_t *switch_dim;   /* [switch_count]; NO_DIM: it joins fewer than two boxes */
    uint32_t *switch_box;   /* [switch_count], one of its boxes */
    struct bundle *bundles; /* [box * dims + dim] */
};

/* ---- dimensions ------------------------------------------------------------------------------ */

/* The first dimension in which two boxes differ. */
static uint32_t dim_between(const struct picture_layout *l, uint32_t a, uint32_t b)
{
    uint32_t k = 0;
    while (k < l->dims && picture_coordinate(l, k, a) == picture_coordinate(l, k, b))
        k++;
    return k < l->dims ? k : NO_DIM;
}

static bool has_bar(const struct picture_layout *l, uint32_t k)
{
    return l->joint[k] == HW_SIP_SWITCH || l->joint[k] == HW_SIP_FULL;
}

static bool is_upright(const struct picture_layout *l, uint32_t k)
{
    return l->grid[k].columns == 1 && l->size[k] > 1;
}

/* Even dies have their switch above. */
static bool is_above(const struct wiring *w, uint32_t k, uint32_t box)
{
    return w->p->paired && k == 1 && picture_coordinate(w->l, 0, box) == 0;
}

static void find_switches(struct wiring *w)
{
    for (uint32_t i = 0; i < w->p->switch_count; i++)
        w->switch_dim[i] = w->switch_box[i] = NO_DIM;
    for (size_t i = 0; i < w->p->link_count; i++) {
        const struct picture_link *const link = &w->p->links[i];
        const uint32_t number = picture_number(link->from);
        if ((link->from & PICTURE_SWITCH_BIT) == 0 || number >= w->p->switch_count ||
            !picture_is_sip(link->to))
            continue;
        if (w->switch_box[number] == NO_DIM)
            w->switch_box[number] = link->to;
        else if (w->switch_dim[number] == NO_DIM)
            w->switch_dim[number] = dim_between(w->l, w->switch_box[number], link->to);
    }
}

/* ---- bars ------------------------------------------------------------------------------------ */

/* The bar at the block of `box`, where its lines end. Upright bars stand to the right of the
 * block. */
static struct picture_rect bar_at(const struct wiring *w, uint32_t k, uint32_t box)
{
    const struct picture_rect block = picture_block(w->l, k, box);
    if (is_upright(w->l, k))
        return (struct picture_rect){block.x + block.w + w->l->bar_away, block.y, BAR_PX, block.h};
    return (struct picture_rect){block.x,
                                 is_above(w, k, box) ? block.y - w->l->bar_away - BAR_PX
                                                     : block.y + block.h + w->l->bar_away,
                                 block.w, BAR_PX};
}

static void draw_rect(FILE *out, const char *css, struct picture_rect rect)
{
    fprintf(out,
            "<rect class=\"%s\" x=\"%.5g\" y=\"%.5g\" width=\"%.5g\" height=\"%.5g\" rx=\"2\"/>",
            css, rect.x, rect.y, rect.w, rect.h);
}

/* The box of a line of dimension k whose coordinate there is `at`. */
static uint32_t on_line(const struct picture_layout *l, uint32_t k, uint32_t box, uint32_t at)
{
    return box + (at - picture_coordinate(l, k, box)) * l->stride[k];
}

/* A bar for each row of the grid, and a trunk that joins them. */
static void draw_bar(struct wiring *w, uint32_t k, uint32_t box)
{
    const struct picture_layout *const l = w->l;
    FILE *const out = w->pen->out;
    struct picture_rect trunk = {0};
    for (uint32_t at = 0, end; at < l->size[k]; at = end) {
        end = is_upright(l, k) ? l->size[k] : at + l->grid[k].columns;
        end = end < l->size[k] ? end : l->size[k];
        const struct picture_rect first = bar_at(w, k, on_line(l, k, box, at));
        const struct picture_rect last = bar_at(w, k, on_line(l, k, box, end - 1));
        struct picture_rect bar = {first.x, first.y, last.x + last.w - first.x,
                                   last.y + last.h - first.y};
        if (at == 0)
            trunk = (struct picture_rect){bar.x - TRUNK_PX - (is_above(w, k, box) ? 9 : 0), bar.y,
                                          BAR_PX, 0};
        trunk.h = bar.y + bar.h - trunk.y;
        if (l->size[k] > end || at > 0) {
            bar.w += bar.x - trunk.x;
            bar.x = trunk.x;
        }
        draw_rect(out, l->joint[k] == HW_SIP_SWITCH ? "sw" : "all", bar);
    }
    if (trunk.h > BAR_PX && !is_upright(l, k))
        draw_rect(out, l->joint[k] == HW_SIP_SWITCH ? "sw" : "all", trunk);
}

static bool is_first_below(const struct picture_layout *l, uint32_t k, uint32_t box)
{
    return l->grid[k].is_plane || box % l->stride[k] == 0;
}

static void draw_switches(struct wiring *w)
{
    char title[PEN_NODE_BYTES];
    FILE *const out = w->pen->out;
    for (uint32_t i = 0; i < w->p->switch_count; i++) {
        const uint32_t k = w->switch_dim[i];
        if (k == NO_DIM || !is_first_below(w->l, k, w->switch_box[i]))
            continue;
        fprintf(out, "<g id=\"%sswitch-x%u\" class=\"switch\" data-switch=\"x%u\"><title>",
                w->pen->prefix, i, i);
        if (w->l->grid[k].is_plane || w->l->stride[k] == 1)
            pen_put_text(out, pen_node(w->pen, picture_switch(i), title));
        else
            fprintf(out, "%u switches, one for each place in a block", w->l->stride[k]);
        fputs("</title>", out);
        draw_bar(w, k, w->switch_box[i]);
        fputs("</g>\n", out);
    }
    for (uint32_t k = 0; k < w->l->dims; k++)
        for (uint32_t box = 0;
             has_bar(w->l, k) && w->l->joint[k] == HW_SIP_FULL && box < w->p->sip_count; box++)
            if (picture_coordinate(w->l, k, box) == 0 && is_first_below(w->l, k, box)) {
                fputs("<g><title>a link between every two</title>", out);
                draw_bar(w, k, box);
                fputs("</g>\n", out);
            }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static double line_width(const struct wiring *w, double room_px)
{
    const double width = 0.4 * room_px;
    return width < w->pen->line_px ? width : w->pen->line_px;
}

/* A side of a block, `length` long, is divided into one strip per box, counted by rows or by
 * columns. Returns the middle of this box's strip; *strip is a strip's width. */
static double strip_at(const struct wiring *w, uint32_t k, uint32_t box, double length, bool by_row,
                       double *strip)
{
    const struct picture_layout *const l = w->l;
    const uint32_t count = l->stride[k], own = box % count;
    uint32_t rank = own;
    if (!by_row && l->dims > 1 && k >= 2 && l->grid[1].is_plane) {
        const uint32_t plane = l->size[0] * l->size[1], rest = own / plane;
        rank = rest * plane + own % l->size[0] * l->size[1] + own % plane / l->size[0];
    }
    *strip = length / count;
    return (rank + 0.5) * *strip;
}

/* A box's line to its bar, or from it. Seen along its direction, each is shifted to the right. */
static struct pen_line line_to_bar(const struct wiring *w, uint32_t k, uint32_t box, bool to_bar)
{
    const struct picture_rect block = picture_block(w->l, k, box), bar = bar_at(w, k, box);
    const bool upright = is_upright(w->l, k), above = is_above(w, k, box);
    double strip = upright ? block.h : block.w;
    const double at =
        w->l->grid[k].is_plane ? 0.3 * strip : strip_at(w, k, box, strip, upright, &strip);
    struct pen_line line = {0};
    if (upright)
        line = (struct pen_line){
            .x0 = block.x + block.w, .x1 = bar.x, .y0 = block.y + at, .y1 = block.y + at};
    else
        line = (struct pen_line){.x0 = block.x + at,
                                 .x1 = block.x + at,
                                 .y0 = above ? block.y : block.y + block.h,
                                 .y1 = above ? bar.y + bar.h : bar.y};
    if (!to_bar) {
        const struct pen_line back = line;
        line = (struct pen_line){.x0 = back.x1, .y0 = back.y1, .x1 = back.x0, .y1 = back.y0};
    }
    line.width_px = line_width(w, strip);
    pen_shift(&line, 0.6 * line.width_px);
    return line;
}

static double middle_x(struct picture_rect r) { return r.x + r.w / 2; }
static double middle_y(struct picture_rect r) { return r.y + r.h / 2; }

/* Stubs at the outer sides of two blocks that are not next to each other. */
static struct pen_line stubs(struct picture_rect a, struct picture_rect b, double ax, double ay,
                             double bx, double by)
{
    const bool along_x = fabs(a.y - b.y) < 1 || fabs(a.x - b.x) >= 1;
    if (along_x) {
        const double to = a.x > b.x ? STUB_PX : -STUB_PX;
        const double out = a.x > b.x ? a.x + a.w : a.x, in = a.x > b.x ? b.x : b.x + b.w;
        return (struct pen_line){out, ay, out + to, ay, true, in - to, by, in, by, 0};
    }
    const double to = a.y > b.y ? STUB_PX : -STUB_PX;
    const double out = a.y > b.y ? a.y + a.h : a.y, in = a.y > b.y ? b.y : b.y + b.h;
    return (struct pen_line){ax, out, ax, out + to, true, bx, in - to, bx, in, 0};
}

/* From one block to the next one, of a ring or a line. */
static struct pen_line line_between(const struct wiring *w, uint32_t k, uint32_t from, uint32_t to)
{
    const struct picture_grid *const grid = &w->l->grid[k];
    const struct picture_rect a = picture_block(w->l, k, from), b = picture_block(w->l, k, to);
    uint32_t ca, ra, cb, rb;
    picture_cell(grid, w->l->size[k], picture_coordinate(w->l, k, from), &ca, &ra);
    picture_cell(grid, w->l->size[k], picture_coordinate(w->l, k, to), &cb, &rb);
    const bool next = ca - cb + 1 <= 2 && ra - rb + 1 <= 2; /* unsigned: at most one apart */
    double strip = w->pen->line_px / 0.4;
    struct pen_line line;
    if (grid->is_plane) {
        line = next ? (struct pen_line){.x0 = middle_x(a),
                                        .y0 = middle_y(a),
                                        .x1 = middle_x(b),
                                        .y1 = middle_y(b)}
                    : stubs(a, b, middle_x(a), middle_y(a), middle_x(b), middle_y(b));
    } else {
        const double y = strip_at(w, k, from, a.h, true, &strip);
        double across;
        const double x = strip_at(w, k, from, a.w, false, &across);
        const bool level = ra == rb;
        strip = level ? strip : across;
        if (!next)
            line = stubs(a, b, a.x + x, a.y + y, b.x + x, b.y + y);
        else if (level)
            line = (struct pen_line){.x0 = ca < cb ? a.x + a.w : a.x,
                                     .y0 = a.y + y,
                                     .x1 = ca < cb ? b.x : b.x + b.w,
                                     .y1 = b.y + y};
        else
            line = (struct pen_line){.x0 = a.x + x,
                                     .y0 = ra < rb ? a.y + a.h : a.y,
                                     .x1 = b.x + x,
                                     .y1 = ra < rb ? b.y : b.y + b.h};
    }
    line.width_px = line_width(w, strip);
    pen_shift(&line, 0.6 * line.width_px);
    return line;
}

/* ---- links ----------------------------------------------------------------------------------- */

static void add_to_bundle(struct picture_link *sum, const struct picture_link *link)
{
    sum->kind = link->kind;
    sum->count += link->count;
    sum->bytes += link->bytes;
    sum->busy_ps = link->busy_ps > sum->busy_ps ? link->busy_ps : sum->busy_ps;
    sum->queue_ps = link->queue_ps > sum->queue_ps ? link->queue_ps : sum->queue_ps;
}

static void draw_link(struct wiring *w, const struct picture_link *link)
{
    const bool from_switch = (link->from & PICTURE_SWITCH_BIT) != 0;
    if (from_switch || (link->to & PICTURE_SWITCH_BIT) != 0) {
        const uint32_t number = picture_number(from_switch ? link->from : link->to);
        const uint32_t k = number < w->p->switch_count ? w->switch_dim[number] : NO_DIM;
        const uint32_t box = from_switch ? link->to : link->from;
        if (k != NO_DIM && picture_is_sip(box))
            pen_link(w->pen, link, line_to_bar(w, k, box, !from_switch));
        return;
    }
    const uint32_t k = dim_between(w->l, link->from, link->to);
    if (k == NO_DIM)
        return; /* inside a box of several SIPs */
    if (!has_bar(w->l, k) || link->failed) {
        pen_link(w->pen, link, line_between(w, k, link->from, link->to));
        return;
    }
    add_to_bundle(&w->bundles[link->from * w->l->dims + k].out, link);
    add_to_bundle(&w->bundles[link->to * w->l->dims + k].in, link);
}

static void draw_bundles(struct wiring *w)
{
    char name[2 * PICTURE_NODE_BYTES], title[128], box_text[PEN_NODE_BYTES];
    for (uint32_t box = 0; box < w->p->sip_count; box++)
        for (uint32_t k = 0; k < w->l->dims; k++) {
            const struct bundle *const bundle = &w->bundles[box * w->l->dims + k];
            (void)pen_node(w->pen, box, box_text);
            if (bundle->out.count > 0) {
                snprintf(name, sizeof name, "%u-d%u", box, k + 1);
                snprintf(title, sizeof title, "%s → its %u peers", box_text, w->l->size[k] - 1);
                pen_links(w->pen, &bundle->out, name, title, line_to_bar(w, k, box, true));
            }
            if (bundle->in.count > 0) {
                snprintf(name, sizeof name, "d%u-%u", k + 1, box);
                snprintf(title, sizeof title, "its %u peers → %s", w->l->size[k] - 1, box_text);
                pen_links(w->pen, &bundle->in, name, title, line_to_bar(w, k, box, false));
            }
        }
}

/* Around the blocks of each dimension outside the plane, and around the dies of a package. */
static void draw_frames(struct wiring *w)
{
    for (uint32_t k = w->l->dims; k-- > 0;)
        for (uint32_t box = 0; !w->l->grid[k].is_plane && box < w->p->sip_count;
             box += w->l->stride[k])
            draw_rect(w->pen->out, "frame", picture_block(w->l, k, box));
    for (uint32_t sip = 0; w->p->paired && sip + 1 < w->p->sip_count; sip += 2) {
        const struct picture_rect a = picture_box(w->l, sip), b = picture_box(w->l, sip + 1);
        draw_rect(w->pen->out, "frame",
                  (struct picture_rect){a.x - 4, a.y - 4, a.w + 8, b.y + b.h - a.y + 8});
    }
}

static int wire_product(struct picture_pen *pen, struct cw_error *error)
{
    struct wiring w = {.pen = pen, .p = pen->picture, .l = &pen->layout};
    const uint32_t switches = w.p->switch_count;
    w.switch_dim = calloc((size_t)switches + 1, sizeof *w.switch_dim);
    w.switch_box = calloc((size_t)switches + 1, sizeof *w.switch_box);
    w.bundles = calloc((size_t)w.p->sip_count * (w.l->dims + 1), sizeof *w.bundles);
    const bool fine = w.switch_dim != NULL && w.switch_box != NULL && w.bundles != NULL;
    if (fine) {
        find_switches(&w);
        draw_frames(&w);
        fputs("<g class=\"links\">\n", pen->out);
        for (size_t i = 0; i < w.p->link_count; i++)
            if (w.p->links[i].side == HW_PORT_NONE)
                draw_link(&w, &w.p->links[i]);
        draw_bundles(&w);
        fputs("</g>\n", pen->out);
        draw_switches(&w);
    }
    free(w.switch_dim);
    free(w.switch_box);
    free(w.bundles);
    return fine ? CW_OK : cw_error_memory(error, "the drawing");
}

/* ---- machines that are no product ------------------------------------------------------------ */

static struct picture_rect node_box(const struct picture_pen *pen, uint32_t node)
{
    return picture_is_sip(node) ? picture_box(&pen->layout, node)
                                : picture_switch_box(&pen->layout, picture_number(node));
}

/* From middle to middle, where boxes cover the ends; in layers from side to side. Links of other
 * kinds between the same two lie beside each other. */
static void wire_straight(struct picture_pen *pen, const struct picture_link *link)
{
    const struct picture_rect from = node_box(pen, link->from), to = node_box(pen, link->to);
    struct pen_line line = {
        .x0 = middle_x(from), .y0 = middle_y(from), .x1 = middle_x(to), .y1 = middle_y(to)};
    if (pen->layout.in_layers) {
        const bool down = line.y0 < line.y1;
        line.y0 += down ? from.h / 2 : -from.h / 2;
        line.y1 += down ? -to.h / 2 : to.h / 2;
    }
    double beside = 0.6;
    for (const struct picture_link *other = link; other > pen->picture->links; other--) {
        if (other[-1].from != link->from || other[-1].to != link->to)
            break;
        beside += 1.2;
    }
    line.width_px = pen->layout.line_px;
    pen_shift(&line, beside * line.width_px);
    pen_link(pen, link, line);
}

static void draw_switch_boxes(struct picture_pen *pen)
{
    char name[PICTURE_NODE_BYTES], title[PEN_NODE_BYTES], label[PICTURE_LABEL_BYTES];
    for (uint32_t i = 0; i < pen->picture->switch_count; i++) {
        const struct picture_rect at = picture_switch_box(&pen->layout, i);
        (void)picture_switch_name(pen->picture, i, name);
        fprintf(pen->out, "<g id=\"%sswitch-%s\" class=\"switch\" data-switch=\"%s\">", pen->prefix,
                name, name);
        draw_rect(pen->out, "sw", at);
        fprintf(pen->out, "<text class=\"small on\" x=\"%.5g\" y=\"%.5g\" text-anchor=\"middle\">",
                middle_x(at), middle_y(at) + 3);
        pen_put_text(pen->out, picture_switch_label(pen->picture, i, label));
        fputs("</text><title>", pen->out);
        pen_put_text(pen->out, pen_node(pen, picture_switch(i), title));
        fputs("</title></g>\n", pen->out);
    }
}

int picture_wires(struct picture_pen *pen, struct cw_error *error)
{
    const struct picture *const p = pen->picture;
    if (pen->layout.places == NULL)
        return wire_product(pen, error);
    fputs("<g class=\"links\">\n", pen->out);
    for (uint32_t busy = 0; busy < PEN_LINK_CLASSES; busy++) /* the busiest above all others */
        for (size_t i = 0; i < p->link_count; i++)
            if (p->links[i].side == HW_PORT_NONE && p->links[i].from != p->links[i].to &&
                pen_link_class(picture_busy(p, &p->links[i])) == busy)
                wire_straight(pen, &p->links[i]);
    fputs("</g>\n", pen->out);
    draw_switch_boxes(pen);
    return CW_OK;
}

/* ---- inside a SIP ---------------------------------------------------------------------------- */

/* From the cube outwards, over the gap or to the border, by this side. */
static struct pen_line line_out(struct picture_rect cube, enum hw_port side, double length)
{
    const double x = middle_x(cube), y = middle_y(cube);
    switch (side) {
    case HW_PORT_N:
        return (struct pen_line){.x0 = x, .y0 = cube.y, .x1 = x, .y1 = cube.y - length};
    case HW_PORT_S:
        return (struct pen_line){
            .x0 = x, .y0 = cube.y + cube.h, .x1 = x, .y1 = cube.y + cube.h + length};
    case HW_PORT_E:
        return (struct pen_line){
            .x0 = cube.x + cube.w, .y0 = y, .x1 = cube.x + cube.w + length, .y1 = y};
    default:
        return (struct pen_line){.x0 = cube.x, .y0 = y, .x1 = cube.x - length, .y1 = y};
    }
}

void picture_inner_wires(struct picture_pen *pen, uint32_t sip)
{
    const struct picture *const p = pen->picture;
    const uint32_t cubes = p->cube_w * p->cube_h;
    const struct picture_rect box = picture_box(&pen->layout, sip);
    for (size_t i = 0; i < p->link_count; i++) {
        const struct picture_link *const link = &p->links[i];
        if (link->side >= HW_PORTS)
            continue;
        const bool out = (link->from & PICTURE_CUBE_BIT) != 0;
        const bool edge = !out || (link->to & PICTURE_CUBE_BIT) == 0;
        const uint32_t cube = (out ? link->from : link->to) & ~(uint32_t)PICTURE_CUBE_BIT;
        if (cube / cubes != sip)
            continue;
        struct pen_line line = line_out(
            picture_cube_rect(&pen->layout, p->cube_w, box, cube % cubes), (enum hw_port)link->side,
            edge ? pen->layout.border - 3 : pen->layout.cube_gap);
        if (!out) {
            const struct pen_line back = line;
            line = (struct pen_line){.x0 = back.x1, .y0 = back.y1, .x1 = back.x0, .y1 = back.y0};
        }
        pen_shift(&line, 4);
        pen_link(pen, link, line);
    }
}
