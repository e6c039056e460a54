/*
 * topo_svg.h: a drawing of the machine: SIPs as their topology places them, each with its cubes,
 * and the links between SIPs.
 */
#ifndef BENCH_TOPO_SVG_H
#define BENCH_TOPO_SVG_H

#include <stdio.h>

#include "hw/structure.h"

void topo_svg(FILE *out, const struct hw_config *hw);

#endif
