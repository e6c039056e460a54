/*
 * topo_svg.h: a drawing of the machine: SIPs as their topology joins them, with their switches,
 * cubes and PEs, the root cube, and a legend.
 */
#ifndef BENCH_TOPO_SVG_H
#define BENCH_TOPO_SVG_H

#include <stdio.h>

#include "hw/structure.h"

/* root: the cube of each SIP in which reductions meet. */
void topo_svg(FILE *out, const struct hw_config *hw, uint32_t root);

#endif
