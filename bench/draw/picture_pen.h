/*
 * picture_pen.h: the drawing in progress, and the elements that its parts share: links with their
 * colour and title, and text escaped for XML.
 */
#ifndef BENCH_DRAW_PICTURE_PEN_H
#define BENCH_DRAW_PICTURE_PEN_H

#include <stdio.h>

#include "bench/draw/picture.h"
#include "bench/draw/picture_fold.h"
#include "bench/draw/picture_layout.h"

enum { PEN_LINK_CLASSES = 7, PEN_WORK_CLASSES = 6, PEN_KIND_COLOURS = 8 };

struct picture_pen {
    FILE *out;
    const struct picture *whole;   /* as given by the caller */
    const struct picture *picture; /* folded: parallel links of one direction are merged */
    struct picture_layout layout;
    const char *prefix; /* of ids */
    double line_px;     /* the width of a link */
};

/* The class of a share: 0 for none, then by limits in percent. */
extern const int pen_link_limit[PEN_LINK_CLASSES], pen_work_limit[PEN_WORK_CLASSES];
uint32_t pen_link_class(double share);
uint32_t pen_work_class(double share);

/* From light to dark, so that they keep their order in grey. ColorBrewer's YlOrBr, which
 * colour-blind readers can distinguish; Okabe and Ito's colours for kinds. */
#define PEN_FAILED_COLOUR "#d7003a"
extern const char *const pen_link_colour[PEN_LINK_CLASSES],
    *const pen_kind_colour[PEN_KIND_COLOURS];

/* Writes text escaped for XML. */
void pen_put_text(FILE *out, const char *text);
/* Not escaped: "SIP 3", "SIPs 0-15", "cube 5 of SIP 3", "switch 2", "switch leaf.2". */
enum { PEN_NODE_BYTES = 56 };
const char *pen_node(const struct picture_pen *pen, uint32_t node, char text[PEN_NODE_BYTES]);

/* A stretch from one point to another; a second one for links that are two stubs. */
struct pen_line {
    double x0, y0, x1, y1;
    bool has_more;
    double more_x0, more_y0, more_x1, more_y1;
    double width_px; /* 0: the drawing's */
};
/* `px` to the right, as seen along the line. */
void pen_shift(struct pen_line *line, double px);
/* A link between its nodes; the name in its id is theirs. */
void pen_link(struct picture_pen *pen, const struct picture_link *link, struct pen_line line);
/* Links of one SIP to many: "0>d1" and `title` instead. */
void pen_links(struct picture_pen *pen, const struct picture_link *link, const char *name,
               const char *title, struct pen_line line);

#endif
