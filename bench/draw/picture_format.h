/*
 * picture_format.h: the files that a picture can be written as. Each is an option of `run` and
 * `topo`: --svg FILE, --dot FILE, --gexf FILE.
 */
#ifndef BENCH_DRAW_PICTURE_FORMAT_H
#define BENCH_DRAW_PICTURE_FORMAT_H

#include <stdio.h>

#include "bench/draw/graphviz.h"

enum picture_format { PICTURE_SVG, PICTURE_DOT, PICTURE_GEXF, PICTURE_FORMATS };

/* note: as picture_svg(). CW_OK, or out of memory; errors of writing stay in the stream. */
int picture_write(FILE *out, const struct picture *picture, enum picture_format format,
                  char note[GRAPHVIZ_NOTE_BYTES], struct cw_error *error);

#endif
