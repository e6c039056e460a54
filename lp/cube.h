/*
 * cube.h: the LP of a cube.
 */
#ifndef LP_CUBE_H
#define LP_CUBE_H

#include "lp/model.h"

extern const struct lp_ops lp_cube_ops;

#endif
