/*
 * picture_fold.h: a picture with fewer boxes: each box is a run of SIPs or, in a machine that is no
 * product of dimensions, a run of switches, and all links from one box to another are one. The
 * original picture is not changed.
 */
#ifndef BENCH_DRAW_PICTURE_FOLD_H
#define BENCH_DRAW_PICTURE_FOLD_H

#include "bench/draw/picture.h"

/*
 * At most `boxes` boxes of SIPs; in a machine that is no product, as many of switches, and, down to
 * FOLD_BOXES_MIN of each, at most `lines` links. Parallel links of one direction always become one.
 * The counts and bytes of links add up; of times the longest counts. A box of several SIPs has one
 * cube, and links inside the box lead from it to itself. NULL, with *error filled: out of memory.
 */
enum { FOLD_BOXES_MIN = 16 };
struct picture *picture_fold(const struct picture *picture, uint32_t boxes, size_t lines,
                             struct cw_error *error);

/* The SIPs of a box: "3", "0-15". Returns text. */
const char *picture_box_name(const struct picture *picture, uint32_t box,
                             char text[PICTURE_NODE_BYTES]);

/* The switches of a box: "x3", "x0-7". Returns text. */
const char *picture_switch_name(const struct picture *picture, uint32_t box,
                                char text[PICTURE_NODE_BYTES]);
/* The same, or the name that a graph gives its switch: "leaf.3", "spine". Returns text. */
enum { PICTURE_LABEL_BYTES = 40 };
const char *picture_switch_label(const struct picture *picture, uint32_t box,
                                 char text[PICTURE_LABEL_BYTES]);

/* Links outside SIPs, without those inside a box. */
size_t picture_lines(const struct picture *picture);

#endif
