/*
 * io_die.h: the LPs around the cubes: a SIP's IO die, the host.
 */
#ifndef LP_IO_DIE_H
#define LP_IO_DIE_H

#include "lp/model.h"

extern const struct lp_ops lp_host_ops, lp_io_die_ops;

/* That there is a link on the way; and that the tail of a transfer that began before it fails has
 * left it, at left_ps. Otherwise the run ends with IpcqLinkDown (HARDWARE.md, "Faults"). */
void lp_check_way(struct cw_ctx *ctx, const struct lp_model *m, const struct lp_transfer *transfer,
                  const struct hw_hop *hop, uint32_t stop, uint32_t outlet);
void lp_check_left(struct cw_ctx *ctx, const struct lp_model *m, const struct lp_transfer *transfer,
                   uint32_t stop, uint32_t outlet, int64_t left_ps);

#endif
