/*
 * picture_fold.h: a picture with fewer boxes: each box is a run of SIPs, and all links from one box
 * to another are one. The original picture is not changed.
 */
#ifndef BENCH_DRAW_PICTURE_FOLD_H
#define BENCH_DRAW_PICTURE_FOLD_H

#include "bench/draw/picture.h"

/*
 * At most `boxes` boxes, or `full` where every two SIPs have a link; parallel links of one
 * direction always become one. The counts and bytes of links add up; of times the longest counts. A
 * box of several SIPs has one cube, and links inside the box lead from it to itself. NULL, with
 * *error filled: out of memory.
 */
struct picture *picture_fold(const struct picture *picture, uint32_t boxes, uint32_t full,
                             struct cw_error *error);

/* The SIPs of a box: "3", "0-15". Returns text. */
const char *picture_box_name(const struct picture *picture, uint32_t box,
                             char text[PICTURE_NODE_BYTES]);

#endif
