/*
 * picture_pen.c: draws links, and writes names and titles.
 */
#include "bench/draw/picture_pen.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const pen_link_colour[PEN_LINK_CLASSES] = {"#c4cad3", "#fee391", "#fec44f", "#fe9929",
                                                       "#ec7014", "#cc4c02", "#7f2704"};
const char *const pen_kind_colour[PEN_KIND_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                       "#e69f00", "#56b4e9", "#000000", "#999999"};
const int pen_link_limit[PEN_LINK_CLASSES] = {0, 2, 10, 25, 50, 75, 100};
const int pen_work_limit[PEN_WORK_CLASSES] = {0, 10, 25, 50, 75, 100};

static uint32_t class_of(double share, const int *limit, uint32_t count)
{
    uint32_t at = 0;
    while (at + 1 < count && 100 * share > limit[at])
        at++;
    return at;
}

uint32_t pen_link_class(double share) { return class_of(share, pen_link_limit, PEN_LINK_CLASSES); }
uint32_t pen_work_class(double share) { return class_of(share, pen_work_limit, PEN_WORK_CLASSES); }

void pen_put_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
        }
}

/* In a folded picture a box is named after its SIPs. */
static const char *box_text(const struct picture_pen *pen, uint32_t box,
                            char text[PICTURE_NODE_BYTES])
{
    return picture_box_name(pen->picture, box, text);
}

const char *pen_node(const struct picture_pen *pen, uint32_t node, char text[PEN_NODE_BYTES])
{
    const uint32_t cubes = pen->picture->cube_w * pen->picture->cube_h;
    char box[PICTURE_NODE_BYTES];
    if ((node & PICTURE_CUBE_BIT) != 0)
        snprintf(text, PEN_NODE_BYTES, "cube %u of SIP %u",
                 (node & ~(uint32_t)PICTURE_CUBE_BIT) % cubes,
                 (node & ~(uint32_t)PICTURE_CUBE_BIT) / cubes);
    else if (!picture_is_sip(node)) {
        char label[PICTURE_LABEL_BYTES];
        (void)picture_switch_name(pen->picture, picture_number(node), box);
        (void)picture_switch_label(pen->picture, picture_number(node), label);
        snprintf(text, PEN_NODE_BYTES, "%s %s", strchr(box, '-') != NULL ? "switches" : "switch",
                 strcmp(label, box) == 0 ? label + 1 : label);
    } else {
        (void)box_text(pen, node, box);
        snprintf(text, PEN_NODE_BYTES, "%s %s", strchr(box, '-') != NULL ? "SIPs" : "SIP", box);
    }
    return text;
}

void pen_shift(struct pen_line *line, double px)
{
    const double dx = line->x1 - line->x0, dy = line->y1 - line->y0, length = hypot(dx, dy);
    if (length <= 0)
        return;
    const double sx = -dy / length * px, sy = dx / length * px;
    line->x0 += sx;
    line->x1 += sx;
    line->y0 += sy;
    line->y1 += sy;
    line->more_x0 += sx;
    line->more_x1 += sx;
    line->more_y0 += sy;
    line->more_y1 += sy;
}

/* "sip_link, 100 GB/s; 4096 bytes, busy 5.5 % (40.960 ns)" */
static void write_use(struct picture_pen *pen, const struct picture_link *link)
{
    const struct picture *const p = pen->picture;
    const struct picture_kind *const kind = &p->kind[link->kind];
    FILE *const out = pen->out;
    fputs("\n", out);
    if (link->count > 1)
        fprintf(out, "%" PRIu32 " links ", link->count);
    pen_put_text(out, kind->name);
    fprintf(out, ", %.6g GB/s%s%s", kind->gbs, link->count > 1 ? " each" : "",
            link->failed ? ": failed" : "");
    if (p->time_ps <= 0)
        return;
    fprintf(out, "\n%" PRIu64 " bytes%s\n%sbusy %.3g %% of the time, %.3f ns", link->bytes,
            link->count > 1 ? " in all" : "", link->count > 1 ? "the busiest was " : "",
            100 * picture_busy(p, link), (double)link->busy_ps / 1000);
    if (link->queue_ps > 0)
        fprintf(out, "\nlongest wait for it %.3f ns", (double)link->queue_ps / 1000);
}

static void begin_path(struct picture_pen *pen, const struct picture_link *link, struct pen_line at)
{
    const bool used = pen->picture->time_ps > 0;
    const unsigned class = used ? pen_link_class(picture_busy(pen->picture, link))
                                : (unsigned)link->kind % PEN_KIND_COLOURS;
    if (link->failed)
        fputs("<path class=\"failed\"", pen->out);
    else
        fprintf(pen->out, "<path class=\"%s%u\"", used ? "u" : "k", class);
    fprintf(pen->out, " d=\"M%.5g %.5gL%.5g %.5g", at.x0, at.y0, at.x1, at.y1);
    if (at.has_more)
        fprintf(pen->out, "M%.5g %.5gL%.5g %.5g", at.more_x0, at.more_y0, at.more_x1, at.more_y1);
    fputc('"', pen->out);
    if (at.width_px > 0 && at.width_px < pen->line_px)
        fprintf(pen->out, " style=\"stroke-width:%.2gpx\"", at.width_px);
    if (used)
        fprintf(pen->out, " data-busy=\"%.4g\"", 100 * picture_busy(pen->picture, link));
}

/* The name of a link's end in ids and data; in a folded picture its SIPs. */
static const char *end_name(const struct picture_pen *pen, uint32_t node,
                            char text[PICTURE_NODE_BYTES])
{
    if ((node & PICTURE_CUBE_BIT) != 0)
        return picture_node_name(pen->picture, node, text);
    return picture_is_sip(node) ? box_text(pen, node, text)
                                : picture_switch_name(pen->picture, picture_number(node), text);
}

void pen_link(struct picture_pen *pen, const struct picture_link *link, struct pen_line line)
{
    char from[PEN_NODE_BYTES], to[PEN_NODE_BYTES], a[PICTURE_NODE_BYTES], b[PICTURE_NODE_BYTES];
    char side[2] = {link->side < HW_PORTS ? hw_port_letter[link->side] : '\0', '\0'};
    const struct picture_link *const before =
        link > pen->picture->links && link < pen->picture->links + pen->picture->link_count
            ? link - 1
            : link;
    (void)end_name(pen, link->from, a);
    (void)end_name(pen, link->to, b);
    begin_path(pen, link, line);
    fprintf(pen->out, " id=\"%slink-%s-%s%s", pen->prefix, a, b, side);
    if (before != link && before->from == link->from && before->to == link->to &&
        before->side == link->side)
        fprintf(pen->out, "-%u%s", link->kind, link->failed ? "-failed" : "");
    fprintf(pen->out, "\" data-link=\"%s&gt;%s%s\"><title>", a, b, side);
    pen_put_text(pen->out, pen_node(pen, link->from, from));
    fputs(" → ", pen->out);
    pen_put_text(pen->out, pen_node(pen, link->to, to));
    write_use(pen, link);
    fputs("</title></path>\n", pen->out);
}

void pen_links(struct picture_pen *pen, const struct picture_link *link, const char *name,
               const char *title, struct pen_line line)
{
    begin_path(pen, link, line);
    fprintf(pen->out, " id=\"%slink-%s\" data-link=\"%s\"><title>%s", pen->prefix, name, name,
            title);
    write_use(pen, link);
    fputs("</title></path>\n", pen->out);
}
