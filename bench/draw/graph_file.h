/*
 * graph_file.h: the machine as a graph file (hw/HARDWARE.md, "Graphs"), which gives the same
 * machine again: SIPs, switches, links with their ports and names, dimensions and routes.
 */
#ifndef BENCH_DRAW_GRAPH_FILE_H
#define BENCH_DRAW_GRAPH_FILE_H

#include <stdio.h>

#include "core/cw.h"
#include "hw/hw_config.h"

/* Without failed parts, which are a section of their own. Links without a class are
 * `links.sip_link`. Errors of writing stay in the stream. */
int graph_file_write(FILE *out, const struct hw_config *hw, struct cw_error *error);

#endif
