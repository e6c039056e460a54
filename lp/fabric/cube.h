/*
 * cube.h: the LP of a cube, and the messages that its PEs send to the host.
 */
#ifndef LP_CUBE_H
#define LP_CUBE_H

#include "lp/lp_kinds.h"
#include "lp/lp_run.h"

extern const struct lp_ops lp_cube_ops;

/* A message from a PE to the host, issued now by its pe_cpu. */
void lp_send_to_host(struct lp_run *run, uint32_t pe, enum lp_transfer_kind kind, uint32_t launch);

#endif
