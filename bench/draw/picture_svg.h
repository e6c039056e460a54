/*
 * picture_svg.h: a picture as SVG, as a file of its own or inside an HTML page.
 *
 * SIPs stand as their topology joins them: dimension by dimension, to the right and downwards;
 * rings of one dimension as a loop; SIPs that are all joined on a circle; the dies of a package in
 * one frame; switches as bars and boxes. Links are coloured by use, in an order from light to dark
 * that the colour-blind and a grey printer keep, and drawn wider the busier they are; cubes are
 * blue by the time at which they were at work. Without use the colours tell kinds. A legend says
 * all of it. Of many SIPs the cubes are left out, and of more than 1,024 runs of SIPs are one box.
 *
 * For a page's script:
 *   <svg id="PREFIXpicture" class="cw-picture" viewBox=..>
 *   <g id="PREFIXsip-3" class="sip" data-sip="3">                 a box; "0-15": of several SIPs
 *   <path id="PREFIXlink-0-1" class="l u3" data-link="0&gt;1" data-busy="12.5">   a directed link
 *   <g id="PREFIXswitch-x0" class="switch" data-switch="x0">
 * Each has a <title> with its numbers. data-busy is in percent, and absent without use. Ids stand
 * once in a picture. Styles are those of .cw-picture alone.
 */
#ifndef BENCH_DRAW_PICTURE_SVG_H
#define BENCH_DRAW_PICTURE_SVG_H

#include <stdio.h>

#include "bench/draw/picture.h"

/* prefix: of the ids, for pages with several pictures; "" for none. CW_OK, or out of memory; a
 * failed write is known to the stream. */
int picture_svg(FILE *out, const struct picture *picture, const char *prefix,
                struct cw_error *error);

#endif
