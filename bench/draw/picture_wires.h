/*
 * picture_wires.h: the links of a picture and its switches, drawn (picture_svg.h).
 *
 * Neighbours have a line from box to box, or from frame to frame; a link to the far end of its row
 * is a stub at both. A switch is a bar beside its SIPs, and each SIP has a short line to it. Where
 * every two SIPs of a dimension have a link there is such a bar, too, and the line of a SIP stands
 * for its links to all others; unless it is the only dimension: then lines cross a circle.
 */
#ifndef BENCH_DRAW_PICTURE_WIRES_H
#define BENCH_DRAW_PICTURE_WIRES_H

#include "bench/draw/picture_pen.h"

/* Frames of blocks, bars, and all links but those inside SIPs. CW_OK, or out of memory. */
int picture_wires(struct picture_pen *pen, struct cw_error *error);
/* The links between the cubes of a SIP, in a picture that has them. */
void picture_inner_wires(struct picture_pen *pen, uint32_t sip);

#endif
