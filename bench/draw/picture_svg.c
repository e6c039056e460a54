/*
 * picture_svg.c: writes a picture as SVG: styles, title, boxes of SIPs, legend.
 */
#include "bench/draw/picture_svg.h"

#include <string.h>

#include "bench/draw/picture_wires.h"

enum {
    BOXES_MAX = 1024,
    LINES_MAX = 12000, /* of a machine that is no product */

    GRAPHVIZ_MS = 20000,
    LEGEND_PX = 20,
    WIDTH_MIN_PX = 800, /* of the widest line of the legend */
    PE_SHOWN = 2        /* of a corner */
};

/* ColorBrewer's Blues, from light to dark. */
static const char *const work_colour[PEN_WORK_CLASSES] = {"#f7fbff", "#deebf7", "#bdd7e7",
                                                          "#6baed6", "#3182bd", "#08519c"};

static double link_width_px(const struct picture_layout *layout)
{
    return layout->detail == DETAIL_PES ? 5 : layout->detail == DETAIL_CUBES ? 3.6 : 3;
}

static void write_style(struct picture_pen *pen)
{
    FILE *const out = pen->out;
    const double px = pen->line_px;
    fprintf(out,
            "<style>.cw-picture text{font:11px sans-serif;fill:#253247}"
            ".cw-picture .title{font-size:14px;font-weight:bold}.cw-picture .small{font-size:8px}"
            ".cw-picture .on{fill:#fff}"
            ".cw-picture path{fill:none;stroke-width:%.3gpx}"
            ".cw-picture .sip rect{stroke:#44546a}.cw-picture .die{fill:#eef1f5}"
            ".cw-picture .pe{fill:#253247;stroke:none}"
            ".cw-picture .sip .root{stroke:#d55e00;stroke-width:2px}"
            ".cw-picture .frame{fill:#fafbfc;stroke:#9aa5b4;stroke-dasharray:4 3}"
            ".cw-picture .sw{fill:#5a6b7f}.cw-picture .all{fill:#fff;stroke:#5a6b7f}",
            px);
    for (unsigned i = 0; i < PEN_LINK_CLASSES; i++)
        fprintf(out, ".cw-picture .u%u{stroke:%s;fill:none%s}", i, pen_link_colour[i],
                i == 0 ? ";stroke-dasharray:3 2" : "");
    for (unsigned i = 0; i < PEN_WORK_CLASSES; i++)
        fprintf(out, ".cw-picture .w%u{fill:%s}", i, work_colour[i]);
    for (unsigned i = 0; i < PEN_KIND_COLOURS; i++)
        fprintf(out, ".cw-picture .k%u{stroke:%s;fill:none}", i, pen_kind_colour[i]);
    fputs(".cw-picture .failed{stroke:" PEN_FAILED_COLOUR ";stroke-dasharray:2 3}", out);
    fputs(".cw-picture .w4+.pe,.cw-picture .w5+.pe{fill:#fff}</style>\n", out);
}

/* ---- SIPs ------------------------------------------------------------------------------------ */

/* PEs in the corners of a cube. */
static void draw_pes(struct picture_pen *pen, struct picture_rect cube)
{
    const uint32_t pes = pen->picture->pes, each = pes >= 8 ? PE_SHOWN : 1;
    const double side = 3.5, step = side + 1.2;
    fputs("<path class=\"pe\" d=\"", pen->out);
    for (uint32_t corner = 0; corner < 4 && corner * each < pes; corner++)
        for (uint32_t i = 0; i < each; i++) {
            const double along = 2.5 + i * step;
            const double x = corner % 2 != 0 ? cube.x + cube.w - along - side : cube.x + along;
            const double y = corner >= 2 ? cube.y + cube.h - 2.5 - side : cube.y + 2.5;
            fprintf(pen->out, "M%.5g %.5gh%.2gv%.2gh-%.2gz", x, y, side, side, side);
        }
    fputs("\"/>", pen->out);
}

static void write_cube_title(struct picture_pen *pen, const char *name,
                             const struct picture_cube *cube)
{
    const double time_ps = (double)pen->picture->time_ps;
    fprintf(pen->out, "<title>%s", name);
    if (cube != NULL)
        fprintf(pen->out,
                "\nits busiest PE was at work for %.3g %% of the time, %.3f ns\n%s %.3f ns",
                100 * (double)cube->work_ps / time_ps, (double)cube->work_ps / 1000,
                cube->end_ps > 0 ? "its last kernel ended at" : "no kernel; ended at",
                (double)cube->end_ps / 1000);
    fputs("</title>", pen->out);
}

static uint32_t cube_class(const struct picture_pen *pen, const struct picture_cube *cube)
{
    return cube == NULL ? 2 : pen_work_class((double)cube->work_ps / (double)pen->picture->time_ps);
}

static void draw_cube(struct picture_pen *pen, uint32_t sip, uint32_t cube, struct picture_rect box)
{
    const struct picture *const p = pen->picture;
    const struct picture_rect at = picture_cube_rect(&pen->layout, p->cube_w, box, cube);
    const struct picture_cube *const use =
        p->cubes == NULL ? NULL : &p->cubes[(size_t)sip * p->cube_w * p->cube_h + cube];
    const bool pes = pen->layout.detail == DETAIL_PES;
    char name[PEN_NODE_BYTES + 16];
    fprintf(pen->out,
            "<g><rect class=\"w%u%s\" x=\"%.5g\" y=\"%.5g\" width=\"%.3g\" height=\"%.3g\"/>",
            cube_class(pen, use), cube == p->root ? " root" : "", at.x, at.y, at.w, at.h);
    if (pes)
        draw_pes(pen, at);
    snprintf(name, sizeof name, "cube %u of SIP %u%s", cube, sip,
             cube == p->root ? ", the root cube" : "");
    write_cube_title(pen, name, use);
    fputs("</g>", pen->out);
}

/* The longest work and the latest end of any cube of a SIP. */
static struct picture_cube busiest_cube(const struct picture *p, uint32_t sip)
{
    const size_t cubes = (size_t)p->cube_w * p->cube_h;
    struct picture_cube most = {0};
    for (size_t i = sip * cubes; i < (sip + 1) * cubes; i++) {
        most.work_ps = p->cubes[i].work_ps > most.work_ps ? p->cubes[i].work_ps : most.work_ps;
        most.end_ps = p->cubes[i].end_ps > most.end_ps ? p->cubes[i].end_ps : most.end_ps;
    }
    return most;
}

/* Links that lead from a box of several SIPs to itself. */
static void write_inside(struct picture_pen *pen, uint32_t box)
{
    const struct picture *const p = pen->picture;
    for (size_t i = 0; i < p->link_count; i++)
        if (p->links[i].from == box && p->links[i].to == box)
            fprintf(pen->out, "\n%u links %s inside, busy up to %.3g %%", p->links[i].count,
                    p->kind[p->links[i].kind].name, 100 * picture_busy(p, &p->links[i]));
}

static void draw_cell(struct picture_pen *pen, uint32_t box, struct picture_rect at,
                      const char *name)
{
    const struct picture *const p = pen->picture;
    const struct picture_cube most =
        p->cubes != NULL ? busiest_cube(p, box) : (struct picture_cube){0};
    const struct picture_cube *const use = p->cubes != NULL ? &most : NULL;
    const uint32_t css = cube_class(pen, use);
    char text[PEN_NODE_BYTES];
    fprintf(pen->out,
            "<rect class=\"w%u\" x=\"%.5g\" y=\"%.5g\" width=\"%.4g\" height=\"%.4g\" rx=\"3\"/>"
            "<text x=\"%.5g\" y=\"%.5g\" text-anchor=\"middle\"%s%s>%s</text><title>%s",
            css, at.x, at.y, at.w, at.h, at.x + at.w / 2, at.y + at.h / 2 + 3,
            p->first_sip == NULL ? " class=\"small\"" : "", css >= 4 ? " style=\"fill:#fff\"" : "",
            name, pen_node(pen, box, text));
    if (use != NULL)
        fprintf(pen->out,
                "\nthe busiest PE was at work for %.3g %% of the time, %.3f ns\nthe last kernel "
                "ended at %.3f ns",
                100 * (double)use->work_ps / (double)p->time_ps, (double)use->work_ps / 1000,
                (double)use->end_ps / 1000);
    if (p->first_sip != NULL)
        write_inside(pen, box);
    fputs("</title>", pen->out);
}

static void draw_box(struct picture_pen *pen, uint32_t box)
{
    const struct picture *const p = pen->picture;
    const struct picture_rect at = picture_box(&pen->layout, box);
    char name[PICTURE_NODE_BYTES];
    (void)picture_box_name(p, box, name);
    fprintf(pen->out, "<g id=\"%ssip-%s\" class=\"sip\" data-sip=\"%s\">", pen->prefix, name, name);
    if (pen->layout.detail == DETAIL_CELL) {
        draw_cell(pen, box, at, name);
        fputs("</g>\n", pen->out);
        return;
    }
    const bool beside = p->paired;
    fprintf(pen->out,
            "<rect class=\"die\" x=\"%.5g\" y=\"%.5g\" width=\"%.4g\" height=\"%.4g\" rx=\"4\">"
            "<title>SIP %s</title></rect><text x=\"%.5g\" y=\"%.5g\"%s>%s</text>",
            at.x, at.y, at.w, at.h, name, beside ? at.x - 8 : at.x, beside ? at.y + 10 : at.y - 5,
            beside ? " text-anchor=\"end\"" : "", name);
    if (pen->layout.detail == DETAIL_PES)
        picture_inner_wires(pen, box);
    for (uint32_t cube = 0; cube < p->cube_w * p->cube_h; cube++)
        draw_cube(pen, box, cube, at);
    fputs("</g>\n", pen->out);
}

/* ---- legend ---------------------------------------------------------------------------------- */

static void legend_text(struct picture_pen *pen, double x, double y, const char *text)
{
    fprintf(pen->out, "<text x=\"%.5g\" y=\"%.5g\">", x, y);
    pen_put_text(pen->out, text);
    fputs("</text>\n", pen->out);
}

/* A sample of each class, with the limits between classes. */
static void legend_scale(struct picture_pen *pen, double y, bool links)
{
    const unsigned count = links ? PEN_LINK_CLASSES : PEN_WORK_CLASSES;
    const int *const limit = links ? pen_link_limit : pen_work_limit;
    const double left = 44, first = left + 285;
    legend_text(pen, left, y,
                links ? "Links, by the share of the time they were busy:"
                      : "Cubes, by the share of the time a PE was at work:");
    for (unsigned i = 0; i < count; i++) {
        const double x = first + i * 66;
        char text[16];
        if (links)
            fprintf(pen->out, "<path class=\"u%u\" d=\"M%.5g %.5gh18\"/>", i, x, y - 4);
        else
            fprintf(pen->out,
                    "<rect class=\"w%u\" x=\"%.5g\" y=\"%.5g\" width=\"14\" height=\"12\" "
                    "stroke=\"#44546a\"/>",
                    i, x, y - 10);
        snprintf(text, sizeof text, i == 0 ? "none" : "to %d %%", limit[i]);
        legend_text(pen, x + 22, y, text);
    }
}

enum { PICTURE_TITLE_BYTES = sizeof((struct picture *)0)->caption + 120 };

/* "64 SIPs, torus_3d 4 x 4 x 4: all_reduce by ..." Returns text. */
static const char *title_of(const struct picture *p, char text[PICTURE_TITLE_BYTES])
{
    int n = snprintf(text, PICTURE_TITLE_BYTES, "%u SIP%s, %s", p->sip_count,
                     p->sip_count == 1 ? "" : "s", p->topology);
    for (uint32_t k = 0; p->dim_count > 1 && k < p->dim_count && n < 90; k++)
        n += snprintf(text + n, PICTURE_TITLE_BYTES - (size_t)n, "%s%u", k == 0 ? " " : " x ",
                      p->dim[k].size);
    if (p->caption[0] != '\0')
        snprintf(text + n, PICTURE_TITLE_BYTES - (size_t)n, ": %s", p->caption);
    return text;
}

static double drawing_width(const struct picture_pen *pen)
{
    char title[PICTURE_TITLE_BYTES];
    const double titled = 60 + 8.4 * (double)strlen(title_of(pen->whole, title));
    const double least = titled > WIDTH_MIN_PX ? titled : WIDTH_MIN_PX;
    return pen->layout.width > least ? pen->layout.width : least;
}

/* Draws the kinds, or with `counts` only counts their lines. Returns how many more lines than one
 * they take. */
static int legend_kinds(struct picture_pen *pen, double y, bool counts)
{
    const struct picture *const p = pen->whole;
    const bool used = p->time_ps > 0;
    double x = 44;
    int more = 0;
    for (uint32_t k = 0; k < p->kind_count; k++) {
        char text[64];
        snprintf(text, sizeof text, "%s: %.6g GB/s each way", p->kind[k].name, p->kind[k].gbs);
        const double wide = 40 + 6.2 * (double)strlen(text);
        if (k > 0 && x + wide > drawing_width(pen)) {
            x = 44;
            more++;
        }
        if (!counts) {
            if (!used)
                fprintf(pen->out, "<path class=\"k%u\" d=\"M%.5g %.5gh18\"/>", k % PEN_KIND_COLOURS,
                        x, y + more * LEGEND_PX - 4);
            legend_text(pen, x + (used ? 0 : 24), y + more * LEGEND_PX, text);
        }
        x += wide;
    }
    return more;
}

static bool has_failed(const struct picture *p)
{
    for (size_t i = 0; i < p->link_count; i++)
        if (p->links[i].failed)
            return true;
    return false;
}

/* Lines of draw_legend(): four are always there. */
static int legend_lines(struct picture_pen *pen)
{
    const struct picture *const p = pen->whole;
    return 4 + legend_kinds(pen, 0, true) + (p->time_ps > 0) +
           (p->time_ps > 0 && p->cubes != NULL) + has_failed(p) + (pen->layout.note[0] != '\0');
}

static void draw_legend(struct picture_pen *pen)
{
    const struct picture *const p = pen->whole;
    double y = pen->layout.bottom + 60 - LEGEND_PX;
    char text[200];
    if (p->time_ps > 0) {
        legend_scale(pen, y += LEGEND_PX, true);
        if (p->cubes != NULL)
            legend_scale(pen, y += LEGEND_PX, false);
    }
    y += LEGEND_PX;
    y += legend_kinds(pen, y, false) * LEGEND_PX;
    snprintf(text, sizeof text,
             "Of two lines side by side, each is the one to the right as its sender looks along "
             "it.%s",
             pen->layout.places == NULL
                 ? " A short end leads to the other end of its row or column."
                 : "");
    legend_text(pen, 44, y += LEGEND_PX, text);
    snprintf(text, sizeof text, "%u x %u cubes in a SIP, %u PEs in a cube. %s%s", p->cube_w,
             p->cube_h, p->pes,
             p->switch_count == 0         ? ""
             : pen->layout.places == NULL ? "A dark bar is a switch. "
                                          : "A dark box is a switch. ",
             pen->layout.detail == DETAIL_CELL
                 ? "SIPs are drawn without their cubes."
                 : "Edged in red: the root cube, where reductions over cubes meet.");
    legend_text(pen, 44, y += LEGEND_PX, text);
    legend_text(pen, 44, y += LEGEND_PX, p->directions);
    if (has_failed(p)) {
        y += LEGEND_PX;
        fprintf(pen->out, "<path class=\"failed\" d=\"M44 %.5gh18\"/>", y - 4);
        legend_text(pen, 68, y, "Links that have failed.");
    }
    if (pen->layout.note[0] != '\0') {
        snprintf(text, sizeof text, "In rows: %s.", pen->layout.note);
        legend_text(pen, 44, y + LEGEND_PX, text);
    }
}

/* ---- the drawing ----------------------------------------------------------------------------- */

static int draw_picture(struct picture_pen *pen, struct cw_error *error)
{
    const double width = drawing_width(pen);
    const double height = pen->layout.bottom + 60 + (legend_lines(pen) + 0.5) * LEGEND_PX;
    FILE *const out = pen->out;
    pen->line_px = pen->layout.places != NULL && pen->layout.detail == DETAIL_CELL
                       ? pen->layout.line_px
                       : link_width_px(&pen->layout);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"%spicture\" class=\"cw-picture\" "
            "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n",
            pen->prefix, width, height, width, height);
    write_style(pen);
    fputs("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", out);
    char title[PICTURE_TITLE_BYTES];
    fputs("<text class=\"title\" x=\"44\" y=\"26\">", out);
    pen_put_text(out, title_of(pen->whole, title));
    fputs("</text>\n", out);
    const int code = picture_wires(pen, error);
    for (uint32_t box = 0; code == CW_OK && box < pen->picture->sip_count; box++)
        draw_box(pen, box);
    draw_legend(pen);
    fputs("</svg>\n", out);
    return code;
}

int picture_svg(FILE *out, const struct picture *picture, const char *prefix,
                char note[GRAPHVIZ_NOTE_BYTES], struct cw_error *error)
{
    struct picture *const folded = picture_fold(picture, BOXES_MAX, LINES_MAX, error);
    if (folded == NULL)
        return error->exit_code;
    struct picture_pen pen = {.out = out, .whole = picture, .picture = folded, .prefix = prefix};
    int code = picture_layout_make(&pen.layout, folded, GRAPHVIZ_MS, error);
    if (code == CW_OK)
        code = draw_picture(&pen, error);
    snprintf(note, GRAPHVIZ_NOTE_BYTES, "%s", pen.layout.note);
    picture_layout_free(&pen.layout);
    picture_free(folded);
    return code;
}
