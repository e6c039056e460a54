/*
 * picture_format.c: writes a picture in the format that was asked for.
 */
#include "bench/draw/picture_format.h"

#include "bench/draw/picture_graph.h"
#include "bench/draw/picture_svg.h"

int picture_write(FILE *out, const struct picture *picture, enum picture_format format,
                  char note[GRAPHVIZ_NOTE_BYTES], struct cw_error *error)
{
    note[0] = '\0';
    if (format == PICTURE_SVG)
        return picture_svg(out, picture, "", note, error);
    if (format == PICTURE_DOT)
        picture_dot(out, picture);
    else
        picture_gexf(out, picture);
    return CW_OK;
}
