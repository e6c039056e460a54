/*
 * picture_graph.h: the machine of a picture as a graph for other programs: Graphviz' language, and
 * GEXF 1.3 (Gephi, NetworkX). Nodes are all SIPs and switches; each directed link between them is
 * an edge with its kind, bandwidth and latency and, where the picture has use, its load. Links
 * inside SIPs are left out. bench/FORMATS.md, "Graphs", lists the attributes.
 */
#ifndef BENCH_DRAW_PICTURE_GRAPH_H
#define BENCH_DRAW_PICTURE_GRAPH_H

#include <stdio.h>

#include "bench/draw/picture.h"

/* Errors of writing stay in the stream. */
void picture_dot(FILE *out, const struct picture *picture);
void picture_gexf(FILE *out, const struct picture *picture);

#endif
