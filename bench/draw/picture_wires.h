/*
 * picture_wires.h: draws the links and switches of a picture (picture_svg.h).
 *
 * In a product of dimensions, neighbours have a line from box to box, or from frame to frame. A
 * link to the far end of its row is a stub at both ends. A switch is a bar beside its SIPs, each
 * with a short line to it. A dimension in which every pair of SIPs is linked has such a bar, too,
 * and a SIP's line to it stands for its links to all others. In other machines a switch is a box,
 * and every link a straight line.
 */
#ifndef BENCH_DRAW_PICTURE_WIRES_H
#define BENCH_DRAW_PICTURE_WIRES_H

#include "bench/draw/picture_pen.h"

/* Frames of blocks, bars, and all links except those inside SIPs. CW_OK, or out of memory. */
int picture_wires(struct picture_pen *pen, struct cw_error *error);
/* The links between the cubes of a SIP, in a picture that has them. */
void picture_inner_wires(struct picture_pen *pen, uint32_t sip);

#endif
