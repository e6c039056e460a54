/*
 * picture_svg.h: a picture as SVG, as a file of its own or inside an HTML page.
 *
 * SIPs of a product are placed dimension by dimension, to the right and downwards, the dies of a
 * package in one frame, switches as bars; other machines by Graphviz. Links get darker and wider
 * the busier they are, in colours that work for the colour-blind and in grey; cubes get a darker
 * blue the longer they worked. Without use, colours show the kinds of links. A legend explains
 * this. With many SIPs, cubes are left out; with more than 1,024, runs of SIPs share a box, and so
 * do switches outside a product.
 *
 * For a page's script:
 *   <svg id="PREFIXpicture" class="cw-picture" viewBox=..>
 *   <g id="PREFIXsip-3" class="sip" data-sip="3">                 a box; "0-15": of several SIPs
 *   <path id="PREFIXlink-0-1" class="l u3" data-link="0&gt;1" data-busy="12.5">   a directed link
 *   <g id="PREFIXswitch-x0" class="switch" data-switch="x0">
 * Each has a <title> with its numbers. data-busy is in percent, and absent without use. Ids are
 * unique within a picture. Styles apply to .cw-picture only.
 */
#ifndef BENCH_DRAW_PICTURE_SVG_H
#define BENCH_DRAW_PICTURE_SVG_H

#include <stdio.h>

#include "bench/draw/graphviz.h"
#include "bench/draw/picture.h"

/* prefix: of the ids, for pages with several pictures; "" for none. note: why Graphviz has not
 * placed the boxes, which the drawing says, too; "": it has, or need not. CW_OK, or out of memory;
 * write errors stay in the stream. */
int picture_svg(FILE *out, const struct picture *picture, const char *prefix,
                char note[GRAPHVIZ_NOTE_BYTES], struct cw_error *error);

#endif
