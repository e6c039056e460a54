/*
 * graphviz.h: where Graphviz puts the boxes and switches of a picture. One of its programs is run,
 * by kind and size of the machine:
 *   dot    up to 128 SIPs and 400 nodes in layers: SIPs, switches above them, and so on
 *   circo  up to 16 SIPs without switches: a circle
 *   neato  others of fewer than 500 nodes
 *   sfdp   the rest
 * Nodes have fixed sizes and no labels, so places do not depend on fonts; nodes and edges are given
 * in the order of their numbers, so they are the same each time.
 *
 * No state; a call lasts no longer than its limit.
 */
#ifndef BENCH_DRAW_GRAPHVIZ_H
#define BENCH_DRAW_GRAPHVIZ_H

#include "bench/draw/picture.h"

struct picture_point {
    double x, y; /* px, y downwards */
};
struct graphviz_sizes {
    double box_w, box_h, switch_w, switch_h; /* px */
};

enum { GRAPHVIZ_NOTE_BYTES = 120 };

/*
 * The centres of all boxes, then of all switches: a list on the heap. *in_layers: whether they are
 * dot's. NULL, with `note` filled: why
 * there is none, as a sentence without its full stop; out of memory is among the reasons. A machine
 * without links has nothing to place: NULL, and an empty note.
 */
struct picture_point *graphviz_places(const struct picture *picture,
                                      const struct graphviz_sizes *sizes, int limit_ms,
                                      bool *in_layers, char note[GRAPHVIZ_NOTE_BYTES]);

#endif
