/*
 * birs_inter.h: the kernel of birs_inter.c, which has most streams of the reduce-scatters:
 * auto.c reserves contexts for it.
 */
#ifndef COLLECTIVES_BIRS_INTER_H
#define COLLECTIVES_BIRS_INTER_H

#include "lp/kernel/tl.h"

extern const struct tl_kernel birs_inter_kernel;

#endif
